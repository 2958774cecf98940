//! Confidence: how far a statement may be believed, from what the model thought and what the text proves.

/// Below this a searchable statement waits for a person: it is then more likely wrong or incomplete than not.
pub const REVIEW_BELOW: f32 = 0.5;

/// From the raw value to the share of statements with such a value that a person would have written as well: knots of a
/// rising, piecewise linear curve, fitted to 233 statements of the default model on hand-written decompositions in both
/// languages. `mingti eval extract` prints the reliability table that it was read from.
const CURVE: &[(f32, f32)] =
    &[(0.0, 0.0), (0.5, 0.15), (0.8, 0.30), (0.85, 0.70), (0.90, 0.78), (0.95, 0.87), (0.98, 0.95), (1.0, 0.97)];

/// The reason of a statement that waits for a person because of its confidence alone.
pub(crate) const LOW_CONFIDENCE: &str = "low-confidence";

/// Factor for each gate that could not prove the statement wrong but would like a person to look.
const DOUBT: f32 = 0.5;

/// What confidence is made of. All shares lie in [0, 1].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signals {
    /// Geometric mean of the token probabilities.
    pub(crate) probability: f32,
    /// Share of the statement's content that stands in passage, headings or title.
    pub(crate) support: f32,
    /// Share of the aligned clause's words that the statement carries.
    pub(crate) carried: f32,
    /// Number of gates that asked for review.
    pub(crate) doubts: usize,
}

/// `p^½ · (0.4·support + 0.6·carried)^½ · 0.5^doubts` on the calibration curve, in [0, 1] and never falling in probability,
/// support and carried. The square root keeps their geometric mean: one weak signal lowers the value, both weak ones sink it.
/// A share that is no number counts as 0.
pub(crate) fn confidence(signals: Signals) -> f32 {
    let share = |x: f32| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) };
    let alignment = 0.4 * share(signals.support) + 0.6 * share(signals.carried);
    let doubts = i32::try_from(signals.doubts.min(16)).unwrap_or(16);
    calibrated(share((share(signals.probability) * alignment).sqrt() * DOUBT.powi(doubts)))
}

/// The value of [`CURVE`] at `raw`.
fn calibrated(raw: f32) -> f32 {
    let above = CURVE.iter().position(|(x, _)| *x >= raw).unwrap_or(CURVE.len() - 1).max(1);
    let ((x0, y0), (x1, y1)) = (CURVE[above - 1], CURVE[above]);
    y0 + (y1 - y0) * ((raw - x0) / (x1 - x0)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(probability: f32, support: f32, carried: f32, doubts: usize) -> f32 {
        confidence(Signals { probability, support, carried, doubts })
    }

    #[test]
    fn confidence_never_falls_when_a_signal_rises() {
        let steps: Vec<f32> = (0..=10).map(|i| i as f32 / 10.0).collect();
        for &a in &steps {
            for &b in &steps {
                for pair in steps.windows(2) {
                    assert!(at(pair[0], a, b, 0) <= at(pair[1], a, b, 0));
                    assert!(at(a, pair[0], b, 0) <= at(a, pair[1], b, 0));
                    assert!(at(a, b, pair[0], 0) <= at(a, b, pair[1], 0));
                }
                assert!(at(a, b, 1.0, 1) <= at(a, b, 1.0, 0));
            }
        }
    }

    #[test]
    fn confidence_stays_in_range_for_any_input() {
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 2.0] {
            assert!((0.0..=1.0).contains(&at(x, x, x, usize::MAX)));
        }
        assert_eq!(at(1.0, 1.0, 1.0, 0), CURVE[CURVE.len() - 1].1);
        assert!(at(1.0, 1.0, 1.0, 1) <= REVIEW_BELOW);
    }

    #[test]
    fn the_curve_rises() {
        assert!(CURVE.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
        for (x, y) in CURVE {
            assert!((calibrated(*x) - y).abs() < 1e-6);
        }
    }
}

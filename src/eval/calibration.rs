//! How far the confidence of propositions may be trusted, and what a review threshold would do.

use serde::Serialize;

use super::extraction::round;

/// Lower bounds of the bins; narrow where confidences crowd. A bin reaches to the next bound, the last one holds 1 too.
const BOUNDS: [f64; 10] = [0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975];

/// Thresholds that are tried: multiples of this.
const STEP: f64 = 0.025;

/// A searchable proposition: what was believed, and whether a gold statement says it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub(super) confidence: f64,
    pub(super) matched: bool,
}

/// Propositions whose confidence lies in a stretch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bin {
    /// Lowest confidence.
    pub from: f64,
    /// Where the next bin begins.
    pub to: f64,
    /// Propositions.
    pub count: usize,
    /// Share of them that match a gold statement; 0 in an empty bin.
    pub matched: f64,
    /// Their mean confidence; 0 in an empty bin.
    pub confidence: f64,
}

/// What happens if propositions below a confidence wait for review.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Threshold {
    /// The threshold.
    pub below: f64,
    /// Propositions that would wait.
    pub review: usize,
    /// Of the propositions without a gold statement, the share that would wait.
    pub wrong_held: f64,
    /// Of the propositions with a gold statement, the share that would wait.
    pub right_held: f64,
    /// Share with a gold statement among those that would not wait.
    pub precision: f64,
}

/// Reliability of the confidence of searchable propositions.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Calibration {
    /// Bins that hold propositions, by rising confidence.
    pub reliability: Vec<Bin>,
    /// Mean distance between a bin's confidence and its share of matches, weighted by count.
    pub calibration_error: f64,
    /// Thresholds from 0 to 1.
    pub thresholds: Vec<Threshold>,
}

impl Calibration {
    pub(super) fn of(judged: &[Judged]) -> Self {
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        // What is no number, or lies outside [0, 1] in a file of results, counts at the nearer end.
        let sane = |x: f64| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) };
        let judged: Vec<Judged> = judged.iter().map(|j| Judged { confidence: sane(j.confidence), ..*j }).collect();
        let (mut reliability, mut distance) = (Vec::new(), 0.0);
        for (n, from) in BOUNDS.iter().enumerate() {
            let to = BOUNDS.get(n + 1).copied().unwrap_or(f64::INFINITY);
            let inside: Vec<&Judged> = judged.iter().filter(|j| *from <= j.confidence && j.confidence < to).collect();
            if inside.is_empty() {
                continue;
            }
            let matched = share(inside.iter().filter(|j| j.matched).count(), inside.len());
            let sum: f64 = inside.iter().map(|j| j.confidence).sum();
            let confidence = sum / inside.len() as f64;
            distance += (confidence - matched).abs() * inside.len() as f64;
            reliability.push(Bin {
                from: *from,
                to: to.min(1.0),
                count: inside.len(),
                matched: round(matched),
                confidence: round(confidence),
            });
        }
        let held =
            |below: f64, matched: bool| judged.iter().filter(|j| j.matched == matched && j.confidence < below).count();
        let right = judged.iter().filter(|j| j.matched).count();
        let wrong = judged.len() - right;
        let threshold = |below: f64| {
            let (wrong_held, right_held) = (held(below, false), held(below, true));
            let review = wrong_held + right_held;
            Threshold {
                below: round(below),
                review,
                wrong_held: round(share(wrong_held, wrong)),
                right_held: round(share(right_held, right)),
                precision: round(share(right - right_held, judged.len() - review)),
            }
        };
        let steps = (1.0 / STEP).round() as usize;
        Self {
            reliability,
            calibration_error: round(distance / judged.len().max(1) as f64),
            thresholds: (0..=steps).map(|n| threshold(n as f64 * STEP)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_every_proposition_once_and_thresholds_split_them() {
        let judged: Vec<Judged> =
            [(0.2, false), (0.5, false), (0.92, true), (1.0, true), (f64::NAN, false), (7.0, true)]
                .map(|(confidence, matched)| Judged { confidence, matched })
                .to_vec();
        let found = Calibration::of(&judged);
        assert_eq!(found.reliability.iter().map(|b| b.count).sum::<usize>(), judged.len());
        let top = &found.reliability[found.reliability.len() - 1];
        assert_eq!((top.from, top.to, top.count, top.matched, top.confidence), (0.975, 1.0, 2, 1.0, 1.0));
        let at = |below: f64| found.thresholds.iter().find(|t| (t.below - below).abs() < 1e-9).cloned();
        let half = at(0.55).unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!((half.review, half.wrong_held, half.right_held, half.precision), (3, 1.0, 0.0, 1.0));
        assert!(found.thresholds.windows(2).all(|w| w[0].review <= w[1].review));
    }

    #[test]
    fn perfect_confidence_has_no_error_and_none_is_empty() {
        let judged = [Judged { confidence: 1.0, matched: true }, Judged { confidence: 0.0, matched: false }];
        assert_eq!(Calibration::of(&judged).calibration_error, 0.0);
        assert_eq!(Calibration::of(&[]).reliability, []);
    }
}

//! Its own: a statement says its own sentence again, not a neighbour.

use super::{Candidate, Finding};
use crate::proposition::evidence::coverage;
use crate::proposition::source::{SentenceView, Source};

/// How much more of a neighbour's clause than of any own clause a statement may carry.
const MARGIN: f32 = 0.25;
/// Fewest terms of a clause that can be restated; shorter ones are names and circumstances.
const MIN_TERMS: usize = 4;
/// Smallest share of the statement that comes from its own sentence.
const MIN_OWN: f32 = 0.12;

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let own_share = share(candidate, candidate.own, source);
    if own_share < MIN_OWN {
        return Some(Finding::reject("not-in-its-sentence", format!("{:.0} % of its words", own_share * 100.0)));
    }
    let own = best_clause(candidate, candidate.own, source);
    let (mut worst, mut place) = (own + MARGIN, None);
    for (i, other) in source.sentences.iter().enumerate() {
        if i == candidate.index || other.set == candidate.own.set {
            continue;
        }
        let theirs = best_clause(candidate, other, source);
        if theirs > worst && share(candidate, other, source) > own_share {
            (worst, place) = (theirs, Some(other.span));
        }
    }
    place.map(|span| Finding::reject("neighbour", format!("fits characters {}..{} better", span.start, span.end)))
}

/// Weighted share of the statement's terms that stand in `sentence`.
fn share(candidate: &Candidate<'_>, sentence: &SentenceView, source: &Source) -> f32 {
    coverage(candidate.terms.iter(), &sentence.set, source)
}

/// Largest weighted share of a clause of `sentence` that the statement carries.
fn best_clause(candidate: &Candidate<'_>, sentence: &SentenceView, source: &Source) -> f32 {
    let mut best: f32 = 0.0;
    let mut any = false;
    for clause in &sentence.clauses {
        if sentence.terms_in(clause).count() >= MIN_TERMS {
            any = true;
            best = best.max(coverage(sentence.terms_in(clause), &candidate.set, source));
        }
    }
    if any { best } else { coverage(sentence.terms.iter(), &candidate.set, source) }
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::rejections;

    const ZH: &[&str] = &["油泵由变频器驱动。", "冷却风扇由单相电机驱动。", "冷却风扇损坏时，控制柜温度会迅速升高。"];

    #[test]
    fn own_facts_pass_and_a_neighbours_fact_is_rejected() {
        assert!(rejections("", ZH, 2, "冷却风扇损坏时，控制柜温度会迅速升高。").is_empty());
        assert!(rejections("", ZH, 1, "冷却风扇由单相电机驱动。").is_empty());
        assert!(rejections("", ZH, 2, "冷却风扇由单相电机驱动。").contains(&"neighbour".to_owned()));
        let en = &["The pump is driven by an inverter.", "The fan has a motor of its own and runs all day."];
        assert!(
            rejections("", en, 1, "The pump is driven by an inverter.")
                .iter()
                .any(|g| g.contains("neighbour") || g.contains("sentence"))
        );
    }
}

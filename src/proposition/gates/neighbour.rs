//! Its own: a statement says its own sentence again, not a neighbour.

use super::{Candidate, Finding};
use crate::proposition::evidence::coverage;
use crate::proposition::source::{SentenceView, Source};

/// How much more of what only a neighbour says than of what only its own sentence says a statement may carry.
const MARGIN: f32 = 0.3;
/// Share of a neighbour's clause that counts as saying it again.
const RESTATED: f32 = 0.6;
/// Fewest telling terms of a neighbour's clause; shorter ones are names and circumstances.
const MIN_TERMS: usize = 3;
/// Fewest telling terms of an own clause.
const MIN_OWN_TERMS: usize = 2;
/// Smallest share of the statement that comes from its own sentence.
const MIN_OWN: f32 = 0.12;

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let own_share = coverage(candidate.terms.iter(), &candidate.own.set, source);
    if own_share < MIN_OWN {
        return Some(Finding::reject("not-in-its-sentence", format!("{:.0} % of its words", own_share * 100.0)));
    }
    // A sentence with nothing of its own, such as one that stands in the passage twice, cannot be told from another.
    let own = telling(candidate, candidate.own, source, MIN_OWN_TERMS)
        .or_else(|| telling(candidate, candidate.own, source, 1))?;
    let (mut worst, mut place) = ((own + MARGIN).max(RESTATED), None);
    for (i, other) in source.sentences.iter().enumerate() {
        // What is announced is said with its lead-in.
        let above = &source.frame.places[candidate.index].above;
        if i == candidate.index
            || candidate.set.is_disjoint(&other.set)
            || above.iter().any(|a| other.span.contains(a.span))
            || candidate.restored.iter().any(|r| r.intersect(other.span).is_some())
        {
            continue;
        }
        if is_whole(candidate, other) {
            return Some(Finding::reject(
                "neighbour",
                format!("says characters {}..{} too", other.span.start, other.span.end),
            ));
        }
        let theirs = telling(candidate, other, source, MIN_TERMS).unwrap_or(0.0);
        if theirs >= worst {
            (worst, place) = (theirs, Some(other.span));
        }
    }
    place.map(|span| Finding::reject("neighbour", format!("fits characters {}..{} better", span.start, span.end)))
}

/// True when a statement says all clauses of another sentence, two at least: then it tells that sentence's fact beside its own.
/// One clause may come along as a restored condition or name.
fn is_whole(candidate: &Candidate<'_>, other: &SentenceView) -> bool {
    /// Share of a clause that counts as said.
    const SAID: f32 = 0.7;
    let own = &candidate.own.set;
    let (mut clauses, mut said) = (0, 0);
    for clause in &other.clauses {
        // What its own sentence says as well proves nothing.
        let only: Vec<_> = other.terms_in(clause).filter(|t| !own.contains(&t.key)).collect();
        if only.len() >= MIN_TERMS {
            clauses += 1;
            let held = only.iter().filter(|t| candidate.set.contains(&t.key)).count();
            said += usize::from(held as f32 >= SAID * only.len() as f32);
        }
    }
    clauses >= 2 && said == clauses
}

/// Largest share that the statement carries of the terms of a clause that stand in no other sentence, over the clauses with
/// at least `min` of them. `None` if there is no such clause.
fn telling(candidate: &Candidate<'_>, sentence: &SentenceView, source: &Source, min: usize) -> Option<f32> {
    let mut best = None;
    for clause in &sentence.clauses {
        let only: Vec<_> = sentence.terms_in(clause).filter(|t| source.weight(&t.key) >= 1.0).collect();
        if only.len() >= min {
            let carried = only.iter().filter(|t| candidate.set.contains(&t.key)).count() as f32 / only.len() as f32;
            best = Some(best.map_or(carried, |b: f32| b.max(carried)));
        }
    }
    best
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

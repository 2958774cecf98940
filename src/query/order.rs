//! The order of candidates: by score, and where scores are equal by place, whatever the rows of the store are.

use std::collections::HashMap;

use super::searcher::Candidate;
use crate::error::Result;
use crate::store::View;

/// The `most` candidates with the highest scores, best first; equal ones in the order of document path and place, whatever
/// their rows are.
pub(super) fn best(view: &View<'_>, mut candidates: Vec<Candidate>, most: usize) -> Result<Vec<Candidate>> {
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    let Some(last) = candidates.get(most.saturating_sub(1)).map(|candidate| candidate.score) else {
        return in_order(view, candidates);
    };
    candidates.truncate(candidates.partition_point(|candidate| candidate.score >= last));
    let mut candidates = in_order(view, candidates)?;
    candidates.truncate(most);
    Ok(candidates)
}

/// Brings runs of equal scores in the order of document path and place.
fn in_order(view: &View<'_>, mut candidates: Vec<Candidate>) -> Result<Vec<Candidate>> {
    for run in candidates.chunk_by_mut(|a, b| a.score == b.score).filter(|run| run.len() > 1) {
        let mut places = HashMap::new();
        for candidate in run.iter() {
            let section = view.section(candidate.section)?;
            places.insert(candidate.section, (view.document(section.document)?.path, section.ordinal));
        }
        run.sort_by(|a, b| places[&a.section].cmp(&places[&b.section]));
    }
    Ok(candidates)
}

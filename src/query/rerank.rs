//! A second look at the best sections by a model that reads question and passage together.
//!
//! Vectors and terms judge a passage without knowing the question's words in it; a cross-encoder (Nogueira and Cho, 2019) reads both,
//! at a cost that only few passages are worth. It decides about their order alone: what was not found is not found by it.

use super::searcher::Candidate;
use crate::embedder::Classifier;
use crate::error::{Error, Kind, Result};
use crate::store::View;

/// Sections that are read again.
pub(super) const RERANKED: usize = 20;

/// What tells how well passages answer a question.
pub trait Reranker {
    /// A number in [0, 1] for each passage.
    ///
    /// # Errors
    /// When the model fails.
    fn relevance(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>>;
}

impl Reranker for Classifier {
    fn relevance(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>> {
        Classifier::relevance(self, question, passages)
    }
}

/// `candidates` by how well `reranker` finds that their sections answer `question`, best first; equal ones keep their order.
pub(super) fn rerank(
    view: &View<'_>,
    reranker: &dyn Reranker,
    question: &str,
    mut candidates: Vec<Candidate>,
) -> Result<Vec<Candidate>> {
    let mut passages = Vec::with_capacity(candidates.len());
    for candidate in &candidates {
        let section = view.section(candidate.section)?;
        let title = view.document(section.document)?.title;
        let lead = [title].into_iter().chain(section.heading_path).collect::<Vec<_>>().join(" ");
        passages.push(format!("{lead}\n{}", section.text.trim()));
    }
    let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
    let scores = reranker.relevance(question, &texts)?;
    if scores.len() != candidates.len() || scores.iter().any(|score| !score.is_finite()) {
        return Err(Error::new(Kind::Model, "the reranker gave no usable scores")
            .expected(format!("{} finite numbers", candidates.len()))
            .found(format!("{} numbers", scores.len())));
    }
    for (candidate, score) in candidates.iter_mut().zip(scores) {
        candidate.relevance = Some(score);
        candidate.score = score;
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(candidates)
}

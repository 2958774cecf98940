//! Boundaries from a model that reads sequences of sentences, through windows that slide over a document.
//!
//! [`SequenceSplitter`] is the sequence model of Zhang et al. 2021, *Sequence Model with Self-Adaptive Sliding Window for
//! Efficient Spoken Document Segmentation*: one input holds as many sentences as fit, and the model says at the end mark
//! of each whether a boundary follows. [`HierarchicalSplitter`] is for models that read vectors of sentences (the
//! hierarchical BERT of Lukasik et al. 2020): there a window is bounded by a number of sentences.
//!
//! How a window moves on ([`Advance`]) decides which sentences are read twice: after the last boundary, so that what
//! lies before it no longer matters, or at the sentence that did not fit, as the model's released program does.

use std::ops::Range;

use super::boundary::{BoundaryScorer, Window};
use super::tiling::check_scores;
use super::{ModelSplitter, tiling};
use crate::error::Result;

/// Where the next window starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// After the last boundary found in the window, looking back at most this many sentences from its end; without one,
    /// at the last sentence of the window. This is the self-adaptive window of the paper.
    LastBoundary(usize),
    /// At the first sentence that did not fit whole. The model sees its beginning as context, and a sentence that is too
    /// long for a window of its own ends a section. This is what the released pipeline of ModelScope does.
    Overflow,
}

impl Default for Advance {
    fn default() -> Self {
        Self::LastBoundary(usize::MAX)
    }
}

/// Ends a section where a sequence model finds a boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequenceSplitter {
    /// A section ends where the probability of a boundary exceeds this.
    pub threshold: f32,
    /// How the window moves.
    pub advance: Advance,
}

impl Default for SequenceSplitter {
    fn default() -> Self {
        Self { threshold: 0.5, advance: Advance::default() }
    }
}

impl<S: BoundaryScorer + ?Sized> ModelSplitter<S> for SequenceSplitter {
    fn breaks(&self, sentences: &[&str], scorer: &S) -> Result<Vec<usize>> {
        let tokens = sentences.iter().map(|sentence| scorer.tokens(sentence)).collect::<Result<Vec<_>>>()?;
        // `[CLS]`, one token and an end mark.
        let max = scorer.max_tokens().max(3);
        let fill = |start: usize| filled(&tokens, start, max);
        let score = |range: Range<usize>, rest: Option<usize>| -> Result<Vec<f32>> {
            // A sentence that fits no window stands in it cut short.
            let sentences: Vec<&[u32]> = tokens[range.clone()].iter().map(|t| &t[..t.len().min(max - 2)]).collect();
            let used = 1 + sentences.iter().map(|sentence| sentence.len() + 1).sum::<usize>();
            let rest = rest.and_then(|index| tokens.get(index)).map_or(&[][..], Vec::as_slice);
            let rest = &rest[..rest.len().min(max.saturating_sub(used))];
            let scores = scorer.window(&Window { sentences, rest })?;
            check_scores(&scores, range.len())?;
            Ok(scores)
        };
        match self.advance {
            Advance::LastBoundary(back) => {
                adaptive(tokens.len(), self.threshold, back, |start| fill(start).end, |range| score(range, None))
            }
            Advance::Overflow => overflowing(tokens.len(), self.threshold, fill, score),
        }
    }
}

/// A window that was filled from a sentence on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Filled {
    /// One past the last sentence that fits; at least one sentence is taken to fit.
    end: usize,
    /// True when not even the first sentence fits.
    cut: bool,
    /// True when no token is left free.
    exact: bool,
}

fn filled(tokens: &[Vec<u32>], start: usize, max: usize) -> Filled {
    let mut used = 1;
    let mut end = start;
    while let Some(sentence) = tokens.get(end) {
        let with = used + sentence.len() + 1;
        if with > max {
            break;
        }
        used = with;
        end += 1;
    }
    Filled { end: end.max(start + 1), cut: end == start, exact: used == max }
}

/// The self-adaptive window: `end_of` says where a window that starts at a sentence ends, `score` gives the probabilities
/// of its sentences. Reads a sentence as often as boundaries make the window start before it; every window starts
/// further on than the one before.
fn adaptive(
    count: usize,
    threshold: f32,
    back: usize,
    end_of: impl Fn(usize) -> usize,
    mut score: impl FnMut(Range<usize>) -> Result<Vec<f32>>,
) -> Result<Vec<usize>> {
    let mut breaks = Vec::new();
    let mut start = 0;
    while start < count {
        let end = end_of(start).clamp(start + 1, count);
        let scores = score(start..end)?;
        let next = if end == count {
            count
        } else {
            let oldest = start.max(end.saturating_sub(back));
            let boundary = (oldest..end).rev().find(|&index| scores[index - start] > threshold);
            boundary.map_or((end - 1).max(start + 1), |index| index + 1)
        };
        breaks.extend((start..next).filter(|&index| scores[index - start] > threshold && index + 1 < count));
        start = next;
    }
    Ok(breaks)
}

/// The window of the released program. A window that is exactly full counts as overfull: its last sentence is read
/// again at the start of the next one.
fn overflowing(
    count: usize,
    threshold: f32,
    fill: impl Fn(usize) -> Filled,
    mut score: impl FnMut(Range<usize>, Option<usize>) -> Result<Vec<f32>>,
) -> Result<Vec<usize>> {
    let mut breaks = Vec::new();
    let mut start = 0;
    while start < count {
        let window = fill(start);
        let end = window.end;
        let last = end == count || (end + 1 == count && !window.exact && !window.cut);
        let alone = !last && (window.cut || (window.exact && end == start + 1));
        if alone {
            // Whatever the model says of a sentence that fills a window: a section ends with it.
            breaks.push(start);
            start += 1;
            continue;
        }
        let scores = score(start..end, (!window.exact).then_some(end))?;
        let next = if last || !window.exact { end } else { end - 1 };
        breaks.extend((start..next).filter(|&index| scores[index - start] > threshold && index + 1 < count));
        start = if last { count } else { next };
    }
    Ok(breaks)
}

/// A model of two levels: the first makes a vector of each sentence, the second reads the vectors.
pub trait HierarchicalScorer {
    /// One vector for each of `sentences`.
    ///
    /// # Errors
    /// The model fails.
    fn encode(&self, sentences: &[&str]) -> Result<Vec<Vec<f32>>>;

    /// Most sentences that the second level reads at once.
    fn max_sentences(&self) -> usize;

    /// The probability of a boundary after each sentence, from their vectors.
    ///
    /// # Errors
    /// The model fails.
    fn score(&self, vectors: &[Vec<f32>]) -> Result<Vec<f32>>;
}

/// Ends a section where a model of two levels finds a boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HierarchicalSplitter {
    /// A section ends where the probability of a boundary exceeds this.
    pub threshold: f32,
    /// How many sentences from its end a window looks back for a boundary after which the next one starts.
    pub back: usize,
}

impl Default for HierarchicalSplitter {
    fn default() -> Self {
        Self { threshold: 0.5, back: usize::MAX }
    }
}

impl<S: HierarchicalScorer + ?Sized> ModelSplitter<S> for HierarchicalSplitter {
    fn breaks(&self, sentences: &[&str], scorer: &S) -> Result<Vec<usize>> {
        let vectors = scorer.encode(sentences)?;
        tiling::check_count(vectors.len(), sentences.len(), "vectors")?;
        let most = scorer.max_sentences();
        adaptive(
            vectors.len(),
            self.threshold,
            self.back,
            |start| start.saturating_add(most),
            |range| {
                let scores = scorer.score(&vectors[range.clone()])?;
                check_scores(&scores, range.len())?;
                Ok(scores)
            },
        )
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;

//! Boundaries where the meaning changes most: neighbouring sentences whose embeddings lie furthest apart.
//!
//! Each sentence is embedded together with `buffer` sentences on either side; where the cosine distance between two
//! neighbours exceeds a threshold that is taken from all distances of the document, a section ends. The threshold is
//! that of LlamaIndex's `SemanticSplitterNodeParser` (a percentile) or one of the kinds of LangChain's `SemanticChunker`.

use super::ModelSplitter;
use super::tiling::check_count;
use crate::error::{Error, Kind, Result};

/// Texts as vectors. Implemented by what holds a model.
pub trait TextEmbedder {
    /// One vector for each text, all of one length.
    ///
    /// # Errors
    /// The model fails.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>>;
}

/// From which distance on a boundary is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Breakpoint {
    /// Distances above this percentile of all distances, with linear interpolation.
    Percentile(f64),
    /// Distances more than this many standard deviations above the mean.
    StandardDeviation(f64),
    /// Distances more than this many interquartile ranges above the mean.
    Interquartile(f64),
    /// Places where the gradient of the distances is above this percentile of all gradients.
    Gradient(f64),
    /// The percentile that gives about this many sections (`number_of_chunks`).
    Sections(usize),
}

impl Breakpoint {
    /// The default of LlamaIndex and of LangChain.
    pub const PERCENTILE: Self = Self::Percentile(95.0);
    /// LangChain's default for this kind.
    pub const STANDARD_DEVIATION: Self = Self::StandardDeviation(3.0);
    /// LangChain's default for this kind.
    pub const INTERQUARTILE: Self = Self::Interquartile(1.5);
    /// LangChain's default for this kind.
    pub const GRADIENT: Self = Self::Gradient(95.0);

    /// The indices of `distances` at which a section ends: at `i` it ends after sentence `i`.
    pub fn breaks(&self, distances: &[f64]) -> Vec<usize> {
        if distances.is_empty() {
            return Vec::new();
        }
        match *self {
            Self::Percentile(percent) => above(distances, percentile(distances, percent)),
            Self::StandardDeviation(amount) => {
                let mean = mean(distances);
                let squares: f64 = distances.iter().map(|distance| (distance - mean).powi(2)).sum();
                above(distances, mean + amount * (squares / distances.len() as f64).sqrt())
            }
            Self::Interquartile(amount) => {
                let range = percentile(distances, 75.0) - percentile(distances, 25.0);
                above(distances, mean(distances) + amount * range)
            }
            Self::Gradient(percent) => {
                let gradient = gradient(distances);
                if gradient.is_empty() { Vec::new() } else { above(&gradient, percentile(&gradient, percent)) }
            }
            Self::Sections(count) => above(distances, percentile(distances, percent_for(count, distances.len()))),
        }
    }
}

/// Splits where neighbouring sentences differ most; see the module. The default is LlamaIndex's.
#[derive(Debug, Clone, PartialEq)]
pub struct SemanticSplitter {
    /// Sentences on either side that are embedded together with each sentence (`buffer_size`).
    pub buffer: usize,
    /// Where a section ends.
    pub breakpoint: Breakpoint,
    /// What is put between sentences that are embedded together: nothing for sentences that carry their white space, as
    /// those of LlamaIndex and of [`sentence_spans`](super::sentence_spans) do; a space for LangChain's.
    pub joint: String,
    /// Fewest code points of a section, its sentences joined (`min_chunk_size`); the last one may be shorter.
    pub min: usize,
}

impl Default for SemanticSplitter {
    fn default() -> Self {
        Self { buffer: 1, breakpoint: Breakpoint::PERCENTILE, joint: String::new(), min: 0 }
    }
}

impl SemanticSplitter {
    /// For each sentence the text that is embedded for it.
    fn combined(&self, sentences: &[&str]) -> Vec<String> {
        let last = sentences.len();
        (0..last)
            .map(|i| {
                let from = i.saturating_sub(self.buffer);
                let to = i.saturating_add(self.buffer).saturating_add(1).min(last);
                sentences[from..to].join(&self.joint)
            })
            .collect()
    }

    /// Drops the breaks that would end a section shorter than `min`.
    fn long_enough(&self, sentences: &[&str], breaks: Vec<usize>) -> Vec<usize> {
        let joint = self.joint.chars().count();
        let mut from = 0;
        breaks
            .into_iter()
            .filter(|&end| {
                let group = &sentences[from..=end];
                let chars: usize = group.iter().map(|sentence| sentence.chars().count()).sum();
                let keep = chars + joint * (group.len() - 1) >= self.min;
                if keep {
                    from = end + 1;
                }
                keep
            })
            .collect()
    }
}

impl<E: TextEmbedder + ?Sized> ModelSplitter<E> for SemanticSplitter {
    fn breaks(&self, sentences: &[&str], embedder: &E) -> Result<Vec<usize>> {
        if sentences.len() < 2 {
            return Ok(Vec::new());
        }
        let vectors = embedder.embed(&self.combined(sentences))?;
        check_vectors(&vectors, sentences.len())?;
        let distances: Vec<f64> = vectors.windows(2).map(|pair| cosine_distance(&pair[0], &pair[1])).collect();
        let breaks = self.breakpoint.breaks(&distances);
        Ok(if self.min > 0 { self.long_enough(sentences, breaks) } else { breaks })
    }
}

fn check_vectors(vectors: &[Vec<f32>], expected: usize) -> Result<()> {
    check_count(vectors.len(), expected, "vectors")?;
    let width = vectors.first().map_or(0, Vec::len);
    match vectors.iter().find(|vector| vector.len() != width || vector.iter().any(|x| !x.is_finite())) {
        Some(vector) => Err(Error::new(Kind::Model, "the embedder gave a vector that cannot be compared")
            .expected(format!("{width} finite numbers"))
            .found(format!("{} numbers, some of them perhaps not finite", vector.len()))),
        None => Ok(()),
    }
}

/// One minus the cosine; a vector of zeros is unlike all.
fn cosine_distance(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum() };
    let norms = dot(a, a).sqrt() * dot(b, b).sqrt();
    if norms > 0.0 { 1.0 - dot(a, b) / norms } else { 1.0 }
}

fn above(values: &[f64], threshold: f64) -> Vec<usize> {
    values.iter().enumerate().filter(|(_, value)| **value > threshold).map(|(index, _)| index).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// NumPy's `percentile` with linear interpolation, `values` not empty.
fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len() - 1;
    let at = last as f64 * (percent.clamp(0.0, 100.0) / 100.0);
    let low = (at.floor() as usize).min(last);
    let (a, b) = (sorted[low], sorted[(low + 1).min(last)]);
    let share = at - low as f64;
    // From the nearer end, so that both ends come out exactly.
    if share < 0.5 { a + (b - a) * share } else { b - (b - a) * (1.0 - share) }
}

/// NumPy's `gradient` for places one apart; empty for fewer than two values.
fn gradient(values: &[f64]) -> Vec<f64> {
    let last = values.len() - 1;
    if last == 0 {
        return Vec::new();
    }
    let slope = |i: usize| match i {
        0 => values[1] - values[0],
        i if i == last => values[last] - values[last - 1],
        i => (values[i + 1] - values[i - 1]) / 2.0,
    };
    (0..=last).map(slope).collect()
}

/// The percentile that leaves about `count` sections: 100 for one, 0 for as many as there are distances.
fn percent_for(count: usize, distances: usize) -> f64 {
    let most = distances as f64;
    let wanted = (count as f64).min(most).max(1.0);
    if distances == 1 { 100.0 } else { (100.0 / (1.0 - most) * (wanted - most)).clamp(0.0, 100.0) }
}

#[cfg(test)]
#[path = "semantic_tests.rs"]
mod tests;

//! From a section to raw propositions: prompt, constrained decoding, decoder model, key-value cache, scheduler.
//!
//! Extraction goes sentence by sentence over shared prefixes. The prompt is a tree: instructions and worked examples once
//! a run, title, headings and text once a section, then one short branch per sentence. All branches decode together, so
//! the weights are read once for many of them, and every statement is tied to its sentence by construction.

mod cache;
mod decoder;
#[cfg(test)]
mod decoder_tests;
mod json_array;
mod llama;
mod prompt;
mod scheduler;
mod trace;
mod vocabulary;

pub use llama::{Limits, LlamaExtractor};
pub use trace::Trace;

use crate::error::Result;
use crate::proposition::{Passage, SentenceYield};

/// Writes raw propositions for the sentences of passages.
pub trait Extractor {
    /// Everything that shapes the output apart from the passage: model checksum, prompt version, limits. Part of the key
    /// of the extraction cache.
    fn fingerprint(&self) -> String;

    /// Raw propositions of each passage, one entry a sentence; `None` for a sentence that is kept verbatim without
    /// asking the model. `stop` is asked between steps; when it says true the call ends with an error for which
    /// [`Error::is_interrupted`](crate::Error::is_interrupted) holds.
    fn extract(&mut self, passages: &[Passage<'_>], stop: &dyn Fn() -> bool)
    -> Result<Vec<Vec<Option<SentenceYield>>>>;
}

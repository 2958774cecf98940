//! From a section to raw propositions: prompt, constrained decoding, decoder model, key-value cache, scheduler.
//!
//! Extraction goes sentence by sentence over shared prefixes. The prompt is a tree: instructions and worked examples once
//! a run, title, headings and text once a section, then one short branch per sentence. All branches decode together, so
//! the weights are read once for many of them, and every statement is tied to its sentence by construction.

mod cache;
mod decoder;
#[cfg(test)]
mod decoder_tests;
mod engine;
mod json_array;
mod llama;
mod memory;
mod prompt;
mod scheduler;
mod snapshot;
mod tensor_decoder;
mod trace;
mod vocabulary;
mod weights;

pub(crate) use llama::is_asked;
pub use llama::{Limits, LlamaExtractor, Pace};
pub use trace::Trace;

use crate::error::Result;
use crate::proposition::{Passage, SentenceYield};

/// How often the beginning that all prompts share was there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromptReuse {
    /// Sections that found it in memory.
    pub in_memory: u64,
    /// Starts that found it on disk.
    pub on_disk: u64,
    /// Tokens of both.
    pub tokens: u64,
}

/// Writes raw propositions for the sentences of passages.
pub trait Extractor {
    /// Everything that shapes the output apart from the passage: model checksum, prompt version, limits. Part of the key
    /// of the extraction cache.
    fn fingerprint(&self) -> String;

    /// Tokens that the model has computed since it was loaded: of prompts, each shared part once, and of outputs. 0 for
    /// one that does not count.
    fn tokens(&self) -> u64 {
        0
    }

    /// What of its prompts it did not have to compute since it was loaded.
    fn reuse(&self) -> PromptReuse {
        PromptReuse::default()
    }

    /// Asks about the sentences of `passages`, except those that a passage keeps, and calls `done` with the index of each passage as soon as all its sentences
    /// are answered, in no particular order: one entry a sentence, `None` for one that is kept verbatim without asking the
    /// model. What is written for a passage does not depend on the others.
    ///
    /// `stop` is asked between steps; when it says true the call ends with an error for which
    /// [`Error::is_interrupted`](crate::Error::is_interrupted) holds. An error of `done` ends the call with that error.
    fn extract_each(
        &mut self,
        passages: &[Passage<'_>],
        done: &mut dyn FnMut(usize, Vec<Option<SentenceYield>>) -> Result<()>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()>;

    /// [`Self::extract_each`], collected.
    fn extract(
        &mut self,
        passages: &[Passage<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Vec<Option<SentenceYield>>>> {
        let mut all = vec![Vec::new(); passages.len()];
        let mut done = |index: usize, yields| {
            all[index] = yields;
            Ok(())
        };
        self.extract_each(passages, &mut done, stop)?;
        Ok(all)
    }
}

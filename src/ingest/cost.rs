//! What the language model was asked, and what it was spared.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::store::{View, Writer};

/// Where an index keeps the sums of its runs.
const META: &str = "model_use";

/// Sentences by how they were answered. Sentences that no model is ever asked about (headings, table rows, code) are in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModelUse {
    /// Tokens that the model computed: of prompts, each shared part once, and of outputs.
    pub tokens: u64,
    /// Sentences that it was asked about.
    pub asked_sentences: u64,
    /// Their code points.
    pub asked_chars: u64,
    /// Sentences kept verbatim in cheap mode.
    pub kept_sentences: u64,
    /// Their code points.
    pub kept_chars: u64,
    /// Sentences whose answer was in the extraction cache.
    pub cached_sentences: u64,
    /// Their code points.
    pub cached_chars: u64,
    /// Sections for which the beginning of the prompt was in memory.
    #[serde(default)]
    pub prefixes_in_memory: u64,
    /// Runs that read the beginning of the prompt from disk.
    #[serde(default)]
    pub prefixes_on_disk: u64,
    /// Tokens of both that were not computed again.
    #[serde(default)]
    pub prefix_tokens: u64,
}

impl ModelUse {
    /// Tokens that cheap mode and the cache saved: an estimate from the tokens that each asked character cost. `None` while
    /// nothing was asked, or by a model that does not count.
    pub fn tokens_avoided(&self) -> Option<u64> {
        let spared = u128::from(self.kept_chars) + u128::from(self.cached_chars);
        let estimate = spared.checked_mul(u128::from(self.tokens))?.checked_div(u128::from(self.asked_chars))?;
        if self.tokens == 0 { None } else { u64::try_from(estimate).ok() }
    }

    /// The sums of all runs on an index.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn of_index(view: &View<'_>) -> Result<Self> {
        Ok(view.meta(META)?.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
    }

    pub(super) fn keep(&self, writer: &mut Writer) -> Result<()> {
        let json = serde_json::to_string(self)
            .map_err(|error| Error::new(Kind::Internal, "cannot keep what the model was asked").because(error))?;
        writer.set_meta(META, &json)
    }
}

impl std::ops::AddAssign for ModelUse {
    fn add_assign(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.asked_sentences = self.asked_sentences.saturating_add(other.asked_sentences);
        self.asked_chars = self.asked_chars.saturating_add(other.asked_chars);
        self.kept_sentences = self.kept_sentences.saturating_add(other.kept_sentences);
        self.kept_chars = self.kept_chars.saturating_add(other.kept_chars);
        self.cached_sentences = self.cached_sentences.saturating_add(other.cached_sentences);
        self.cached_chars = self.cached_chars.saturating_add(other.cached_chars);
        self.prefixes_in_memory = self.prefixes_in_memory.saturating_add(other.prefixes_in_memory);
        self.prefixes_on_disk = self.prefixes_on_disk.saturating_add(other.prefixes_on_disk);
        self.prefix_tokens = self.prefix_tokens.saturating_add(other.prefix_tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_estimated_from_what_was_asked() {
        let asked = ModelUse { tokens: 300, asked_chars: 100, kept_chars: 40, cached_chars: 10, ..ModelUse::default() };
        assert_eq!(asked.tokens_avoided(), Some(150));
        assert_eq!(ModelUse { asked_chars: 0, ..asked }.tokens_avoided(), None);
        assert_eq!(ModelUse { tokens: 0, ..asked }.tokens_avoided(), None);
        assert_eq!(ModelUse { kept_chars: u64::MAX, tokens: u64::MAX, ..asked }.tokens_avoided(), None);
    }
}

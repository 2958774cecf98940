//! The account of a passage's sentences: what became of each.

use serde::{Deserialize, Serialize};

use crate::proposition::Sentence;

/// How a sentence is searched, or why it needs no unit of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Statements carry it whole.
    Propositions {
        /// How many passed the gates.
        count: usize,
    },
    /// It is kept verbatim, beside statements that carry part of it if there are any.
    Fallback {
        /// Why, for the person.
        reason: String,
    },
    /// A heading, searched as part of the heading path of every unit of its section.
    Heading,
    /// A table row: a statement of its cells under their headers, or verbatim.
    TableRow,
    /// No unit at all.
    Skipped {
        /// Why, for the person.
        reason: String,
    },
}

/// A sentence and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceOutcome {
    /// The sentence; its span counts code points of the passage.
    pub sentence: Sentence,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

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
    /// Statements that rules made from the sentence carry it, beside those of the model if there are any.
    Repaired {
        /// How many passed the gates.
        count: usize,
        /// What was done: `citation`, `name`, `topic`, `pointer`, `split`.
        rules: Vec<String>,
        /// Why the model's statements did not carry it.
        reason: String,
    },
    /// It is kept verbatim, beside statements that carry part of it if there are any.
    Fallback {
        /// Why, for the person; what is particular to the sentence after a colon.
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

impl Outcome {
    /// The reason, where there is one.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Fallback { reason } | Self::Skipped { reason } | Self::Repaired { reason, .. } => Some(reason),
            Self::Propositions { .. } | Self::Heading | Self::TableRow => None,
        }
    }

    /// The reason without what is particular to the sentence: that stands after a colon.
    pub fn reason_in_general(&self) -> Option<&str> {
        self.reason().map(|reason| reason.split_once(": ").map_or(reason, |(general, _)| general))
    }
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

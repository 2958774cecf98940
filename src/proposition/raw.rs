//! What an extractor hands over, before any gate has spoken.

use serde::{Deserialize, Serialize};

use crate::document::{Date, Span};
use crate::proposition::SentenceKind;

/// A statement as the model wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawProposition {
    /// The text of the statement.
    pub statement: String,
    /// Geometric mean of the probabilities of its tokens, in [0, 1].
    pub probability: f32,
}

/// Everything the model wrote for one sentence.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SentenceYield {
    /// Complete statements, in the order written.
    pub propositions: Vec<RawProposition>,
    /// True when a limit ended the output; what was complete is kept.
    pub truncated: bool,
}

/// A sentence of a passage, as the segmenter found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Code points of the passage, without surrounding white space or list markers' line ends.
    pub span: Span,
    /// What it is; only prose goes to the model.
    pub kind: SentenceKind,
}

/// A section (or a passage given on its own) with the context that makes it readable.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// Title of the document.
    pub title: &'a str,
    /// Headings above, outermost first.
    pub heading_path: &'a [String],
    /// The passage; sentence spans count its code points.
    pub text: &'a str,
    /// The sentences of `text`, in order.
    pub sentences: &'a [Sentence],
    /// Date of the document: what `last year` is counted from.
    pub date: Option<Date>,
    /// Full names of the document that the passage speaks of in a shorter form.
    pub names: &'a [String],
    /// The text of the document right in front of `text`, where the passage opens with a back reference; else empty.
    pub before: &'a str,
    /// Header and rule line of the table that `text` opens in the middle of; else empty.
    pub table: &'a str,
    /// By sentence: true for one that is kept as it stands without asking the model. Empty: none is.
    pub kept: &'a [bool],
}

impl<'a> Passage<'a> {
    /// A passage without a date, names or text in front of it, of which the model is asked about every sentence.
    pub fn new(title: &'a str, heading_path: &'a [String], text: &'a str, sentences: &'a [Sentence]) -> Self {
        Self { title, heading_path, text, sentences, date: None, names: &[], before: "", table: "", kept: &[] }
    }

    /// True for a sentence that is kept as it stands without asking the model.
    pub fn keeps(&self, sentence: usize) -> bool {
        self.kept.get(sentence).copied().unwrap_or(false)
    }
}

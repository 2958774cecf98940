//! From a [`Document`] to sections that tile it.

pub(crate) mod blocks;
mod classify;
mod fixed;
mod heading;
mod numbering;
mod outline;
mod pack;
mod sentence;

pub use fixed::FixedSplitter;
pub use heading::HeadingSplitter;

use crate::document::{Document, Span};

/// A stretch of a document under one heading. The sections of a document tile it: concatenated they give its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Code points of the document, including headings, blank lines and line endings.
    pub span: Span,
    /// Titles of the enclosing headings, outermost first, without numbering removed and without the document title.
    pub heading_path: Vec<String>,
}

/// A way to cut a document into sections.
pub trait Splitter {
    /// The sections of `document`, in order. They tile its text: the first starts at 0, each starts where the one before
    /// ends, the last ends at the end, and none is empty. An empty document has none.
    fn split(&self, document: &Document) -> Vec<Section>;
}

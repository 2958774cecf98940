//! From a [`Document`](crate::document::Document) to sections that tile it.

use crate::document::Span;

/// A stretch of a document under one heading. The sections of a document tile it: concatenated they give its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Code points of the document, including headings, blank lines and line endings.
    pub span: Span,
    /// Titles of the enclosing headings, outermost first, without numbering removed and without the document title.
    pub heading_path: Vec<String>,
}

//! From the bytes of a file to a [`Document`]: decoded text, title and metadata.

mod text;

pub use text::{Span, Text};

use std::path::PathBuf;

/// How the text of a document is marked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Markdown (CommonMark headings, tables and lists).
    Markdown,
    /// Plain text; headings are recognised by their numbering.
    PlainText,
}

/// A decoded document.
#[derive(Debug, Clone)]
pub struct Document {
    /// Path relative to the folder that was named, with `/`; the identity of the document in an index.
    pub path: String,
    /// Where the bytes were read from; empty for a document that was never a file.
    pub source: PathBuf,
    /// The decoded text, byte-order mark removed, line endings kept.
    pub text: Text,
    /// Title from front matter, the first heading or the file name.
    pub title: String,
    /// Markup of `text`.
    pub format: Format,
    /// Name of the encoding that the bytes were in, such as `UTF-8` or `GB18030`.
    pub encoding: &'static str,
}

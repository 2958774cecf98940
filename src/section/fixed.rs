//! Windows of a fixed number of characters: the baseline that knows nothing of the text.

use super::{Section, Splitter};
use crate::document::{Document, Span};

/// Cuts a document every `size` characters, whatever stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedSplitter {
    /// Code points in a window; zero is taken as one.
    pub size: usize,
}

impl Default for FixedSplitter {
    fn default() -> Self {
        Self { size: 500 }
    }
}

impl Splitter for FixedSplitter {
    fn split(&self, document: &Document) -> Vec<Section> {
        let text = &document.text;
        let mut sections = Vec::new();
        let mut start = 0;
        while start < text.chars() {
            let mut end = (start + self.size.max(1)).min(text.chars());
            // `\r\n` is one line ending.
            if text.slice(Span::new(end - 1, end + 1)) == "\r\n" {
                end += 1;
            }
            sections.push(Section { span: Span::new(start, end), heading_path: Vec::new() });
            start = end;
        }
        sections
    }
}

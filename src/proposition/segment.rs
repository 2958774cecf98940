//! The sentences of a passage, as ranges.

use crate::document::{Format, Span};
use crate::proposition::{Sentence, SentenceKind};
use crate::section::blocks::{self, Block};

/// The sentences of `text`, in order and disjoint, in code points of `text`.
///
/// Every character that is no white space lies in exactly one sentence; spans carry no white space at their ends. List
/// markers, quotes and closing brackets belong to their sentence. A sentence of more than 600 characters is cut at clauses,
/// code at lines. Linear in the length of `text`, which may be any fragment of a document.
pub fn sentences(text: &str, format: Format) -> Vec<Sentence> {
    let (mut byte, mut chars) = (0, 0);
    let mut count = |to: usize| {
        chars += text[byte..to].chars().count();
        byte = to;
        chars
    };
    blocks::pieces(text, format)
        .into_iter()
        .map(|piece| {
            let span = Span::new(count(piece.start), count(piece.end));
            let kind = match piece.block {
                Block::Prose => SentenceKind::Prose,
                Block::Item => SentenceKind::ListItem,
                Block::Row => SentenceKind::TableRow,
                Block::Heading => SentenceKind::Heading,
                Block::Verbatim => SentenceKind::Verbatim,
            };
            Sentence { span, kind }
        })
        .collect()
}

//! Contents lists: lines that only say where something stands.
//!
//! An entry repeats the heading it leads to, so a question for that heading fits it better than the section that answers.
//! The entries of a list are therefore one unit, embedded without the title of its document: all of it can still be found, and
//! none of it stands for what it names.

use std::collections::HashMap;
use std::ops::Range;

use crate::proposition::{Passage, SentenceKind};
use crate::section::is_contents_entry;

/// Fewer entries in a row are single links, not a contents list.
const LEAST: usize = 3;

/// Runs of contents entries among the sentences of a passage, by their first sentence.
pub(super) fn lists(passage: &Passage<'_>, chars: &[char]) -> HashMap<usize, Range<usize>> {
    let is_entry = |at: usize| {
        passage.sentences.get(at).is_some_and(|sentence| {
            let end = sentence.span.end.min(chars.len());
            let line: String = chars[sentence.span.start.min(end)..end].iter().collect();
            sentence.kind != SentenceKind::Heading && is_contents_entry(&line)
        })
    };
    let mut out = HashMap::new();
    let mut at = 0;
    while at < passage.sentences.len() {
        let first = at;
        while is_entry(at) {
            at += 1;
        }
        if at - first >= LEAST {
            out.insert(first, first..at);
        }
        at = at.max(first + 1);
    }
    out
}

/// True for the statement of such a unit.
pub fn is_contents_list(statement: &str) -> bool {
    let lines = || statement.lines().filter(|line| !line.trim().is_empty());
    lines().count() >= LEAST && lines().all(is_contents_entry)
}

//! Pieces along a list of separators, from the coarsest to the finest: LangChain's `RecursiveCharacterTextSplitter`.
//!
//! The text is cut at the first separator that occurs in it; parts that are short enough are put together again up to the
//! wanted length, parts that are too long are cut at the separators further down the list. [`RecursiveSplitter::pieces`]
//! computes the very pieces of langchain-text-splitters 1.x with `strip_whitespace` on, as ranges. Those overlap, and
//! white space between them belongs to none; [`Splitter::split`] gives sections that tile the document: the pieces
//! without overlap, each with the white space after it.

use std::collections::VecDeque;
use std::ops::Range;

use super::{Section, Splitter, tiling};
use crate::document::{Document, Span, Text};

/// LangChain's separators: paragraphs, lines, words, characters.
pub const SEPARATORS: [&str; 4] = ["\n\n", "\n", " ", ""];

/// Separators for Chinese and mixed text: paragraphs, lines, sentences, clauses, items of an enumeration, words,
/// characters. The marks of Chinese stand before those of Western text at each rank, because these also occur inside
/// numbers and names. They end what stands before them, so use them with [`Keep::End`].
pub const CJK_SEPARATORS: [&str; 15] =
    ["\n\n", "\n", "。", "！", "？", "；", ". ", "! ", "? ", "; ", "，", ", ", "、", " ", ""];

/// What becomes of the separators (`keep_separator`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// A separator begins the part after it (`True`, `"start"`).
    #[default]
    Start,
    /// A separator ends the part before it (`"end"`).
    End,
    /// A separator at the end of a piece is left out (`False`). Where separators follow each other inside a piece,
    /// LangChain repeats one of them; a range holds all.
    Neither,
}

/// Cuts at separators, the coarse ones first; see the module for the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecursiveSplitter {
    /// Greatest length of a piece (`chunk_size`); zero is taken as one.
    pub size: usize,
    /// Greatest length that a piece repeats of the one before it (`chunk_overlap`); at most `size`.
    pub overlap: usize,
    /// Separators, the coarsest first; the empty one stands for every place between two characters. None at all means
    /// [`SEPARATORS`].
    pub separators: Vec<String>,
    /// Where the separators go.
    pub keep: Keep,
}

impl Default for RecursiveSplitter {
    /// LangChain's defaults.
    fn default() -> Self {
        Self { size: 4000, overlap: 200, separators: SEPARATORS.map(str::to_owned).to_vec(), keep: Keep::Start }
    }
}

impl Splitter for RecursiveSplitter {
    fn split(&self, document: &Document) -> Vec<Section> {
        self.split_by(document, &characters)
    }
}

impl RecursiveSplitter {
    /// A splitter for Chinese and mixed text: [`CJK_SEPARATORS`], each at the end of its part.
    pub fn cjk(size: usize, overlap: usize) -> Self {
        Self { size, overlap, separators: CJK_SEPARATORS.map(str::to_owned).to_vec(), keep: Keep::End }
    }

    /// LangChain's pieces of `text`, in order, with their overlap. Linear in the length of the text.
    pub fn pieces(&self, text: &Text) -> Vec<Span> {
        self.pieces_by(text, &characters)
    }

    /// As [`RecursiveSplitter::pieces`], with `size` and `overlap` in units of `length` (`length_function`).
    pub fn pieces_by(&self, text: &Text, length: &dyn Fn(&str) -> usize) -> Vec<Span> {
        let fallback;
        let separators: &[String] = if self.separators.is_empty() {
            fallback = SEPARATORS.map(str::to_owned);
            &fallback
        } else {
            &self.separators
        };
        let size = self.size.max(1);
        let mut cutter = Cutter {
            text: text.as_str(),
            size,
            overlap: self.overlap.min(size),
            keep: self.keep,
            length,
            pieces: Vec::new(),
        };
        cutter.cut(0..text.as_str().len(), separators);
        cutter.pieces.into_iter().map(|piece| text.span_of(piece)).collect()
    }

    /// As [`Splitter::split`], with `size` in units of `length`.
    pub fn split_by(&self, document: &Document, length: &dyn Fn(&str) -> usize) -> Vec<Section> {
        let pieces = Self { overlap: 0, ..self.clone() }.pieces_by(&document.text, length);
        // White space before the first piece has no neighbour but that.
        tiling::at_starts(document, pieces.into_iter().skip(1).map(|piece| piece.start))
    }
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// One run of the algorithm over a text. All offsets are bytes.
struct Cutter<'a> {
    text: &'a str,
    size: usize,
    overlap: usize,
    keep: Keep,
    length: &'a dyn Fn(&str) -> usize,
    pieces: Vec<Range<usize>>,
}

impl Cutter<'_> {
    /// Cuts `range` at the first of `separators` that occurs in it. Recursion is as deep as the list is long.
    fn cut(&mut self, range: Range<usize>, separators: &[String]) {
        let Some(part) = self.text.get(range.clone()) else { return };
        let found = separators.iter().position(|separator| part.contains(separator.as_str()));
        let (separator, finer) = match found {
            Some(at) if separators[at].is_empty() => ("", &[][..]),
            Some(at) => (separators[at].as_str(), &separators[at + 1..]),
            None => (separators.last().map_or("", String::as_str), &[][..]),
        };
        let between = if self.keep == Keep::Neither { (self.length)(separator) } else { 0 };
        let mut merge = Merge { parts: VecDeque::new(), total: 0, between };
        each_part(part, separator, self.keep, |inner| {
            let inner = range.start + inner.start..range.start + inner.end;
            let length = (self.length)(&self.text[inner.clone()]);
            if length < self.size {
                self.add(&mut merge, inner, length);
                return;
            }
            self.emit(&merge);
            merge.clear();
            if finer.is_empty() {
                self.pieces.push(inner);
            } else {
                self.cut(inner, finer);
            }
        });
        self.emit(&merge);
    }

    /// Puts a part behind those gathered; if they grow too long by that, they are a piece, and of them only the overlap
    /// is kept.
    fn add(&mut self, merge: &mut Merge, part: Range<usize>, length: usize) {
        if merge.with(length) > self.size {
            self.emit(merge);
            while merge.total > self.overlap || (merge.with(length) > self.size && merge.total > 0) {
                if !merge.drop_first() {
                    break;
                }
            }
        }
        merge.total = merge.with(length);
        merge.parts.push_back((part, length));
    }

    /// The gathered parts as a piece, without white space around them.
    fn emit(&mut self, merge: &Merge) {
        let (Some((first, _)), Some((last, _))) = (merge.parts.front(), merge.parts.back()) else { return };
        let Some(whole) = self.text.get(first.start..last.end) else { return };
        let left = whole.trim_start_matches(is_space);
        let piece = left.trim_end_matches(is_space);
        if !piece.is_empty() {
            let start = first.start + whole.len() - left.len();
            self.pieces.push(start..start + piece.len());
        }
    }
}

/// Neighbouring parts that are put together.
struct Merge {
    parts: VecDeque<(Range<usize>, usize)>,
    /// Length of the parts with the separators between them.
    total: usize,
    /// Length that a separator adds between two parts.
    between: usize,
}

impl Merge {
    /// Length with one more part.
    fn with(&self, length: usize) -> usize {
        self.total + length + if self.parts.is_empty() { 0 } else { self.between }
    }

    fn drop_first(&mut self) -> bool {
        let several = self.parts.len() > 1;
        let Some((_, length)) = self.parts.pop_front() else { return false };
        self.total = self.total.saturating_sub(length + if several { self.between } else { 0 });
        true
    }

    fn clear(&mut self) {
        self.parts.clear();
        self.total = 0;
    }
}

/// Calls `emit` with each part of `text` between occurrences of `separator` that is not empty.
fn each_part(text: &str, separator: &str, keep: Keep, mut emit: impl FnMut(Range<usize>)) {
    if separator.is_empty() {
        text.char_indices().for_each(|(at, c)| emit(at..at + c.len_utf8()));
        return;
    }
    let mut start = 0;
    for (at, _) in text.match_indices(separator) {
        let behind = at + separator.len();
        let (end, next) = match keep {
            Keep::Start => (at, at),
            Keep::End => (behind, behind),
            Keep::Neither => (at, behind),
        };
        if end > start {
            emit(start..end);
        }
        start = next;
    }
    if start < text.len() {
        emit(start..text.len());
    }
}

/// What Python's `str.strip` takes off: Unicode white space and the information separators of ASCII.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

#[cfg(test)]
#[path = "recursive_tests.rs"]
mod tests;

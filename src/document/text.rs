//! Text addressed in Unicode code points.
//!
//! Every range that mingti stores or prints counts code points of the decoded document, because that is what scripts in
//! any language can slice by. Rust strings are addressed in bytes, so [`Text`] keeps a byte offset for every
//! [`STRIDE`]-th code point and converts in time proportional to the stride, whatever the length of the text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Code points between two entries of the offset table.
const STRIDE: usize = 64;

/// A half-open range of code points. Serialised as `[start, end]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(from = "[usize; 2]", into = "[usize; 2]")]
pub struct Span {
    /// First code point.
    pub start: usize,
    /// One past the last code point.
    pub end: usize,
}

impl Span {
    /// The range `start..end`. An inverted range is taken as empty at `start`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Number of code points.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// True when nothing lies inside.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// True when `other` lies inside.
    pub fn contains(&self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The common part, if it is not empty.
    pub fn intersect(&self, other: Span) -> Option<Span> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        (start < end).then_some(Span { start, end })
    }

    /// The same range moved right by `by`.
    pub fn shifted(&self, by: usize) -> Span {
        Span { start: self.start + by, end: self.end + by }
    }
}

impl From<[usize; 2]> for Span {
    fn from([start, end]: [usize; 2]) -> Self {
        Self::new(start, end)
    }
}

impl From<Span> for [usize; 2] {
    fn from(span: Span) -> Self {
        [span.start, span.end]
    }
}

/// A string with fast conversion between code points and bytes.
#[derive(Debug, Clone, Default)]
pub struct Text {
    string: String,
    /// Byte offset of code point `i * STRIDE`.
    table: Vec<usize>,
    chars: usize,
}

impl Text {
    /// Indexes `string`; linear in its length.
    pub fn new(string: String) -> Self {
        let mut table = Vec::with_capacity(string.len() / STRIDE + 1);
        let mut chars = 0;
        for (byte, _) in string.char_indices() {
            if chars % STRIDE == 0 {
                table.push(byte);
            }
            chars += 1;
        }
        Self { string, table, chars }
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.string
    }

    /// Length in code points.
    pub fn chars(&self) -> usize {
        self.chars
    }

    /// Byte offset of code point `at`; the byte length for anything at or past the end.
    pub fn byte_of(&self, at: usize) -> usize {
        if at >= self.chars {
            return self.string.len();
        }
        let base = self.table[at / STRIDE];
        let skip = at % STRIDE;
        match self.string[base..].char_indices().nth(skip) {
            Some((offset, _)) => base + offset,
            None => self.string.len(),
        }
    }

    /// Code point that starts at, or contains, byte `byte`.
    pub fn char_of(&self, byte: usize) -> usize {
        if byte >= self.string.len() {
            return self.chars;
        }
        let slot = self.table.partition_point(|&b| b <= byte) - 1;
        let base = self.table[slot];
        let inside = self.string[base..].char_indices().take_while(|(offset, _)| base + offset <= byte).count();
        slot * STRIDE + inside - 1
    }

    /// The characters of `span`, cut at the end of the text.
    pub fn slice(&self, span: Span) -> &str {
        &self.string[self.byte_of(span.start)..self.byte_of(span.end.max(span.start))]
    }

    /// Converts a byte range (on character boundaries) to code points.
    pub fn span_of(&self, bytes: Range<usize>) -> Span {
        Span::new(self.char_of(bytes.start), self.char_of(bytes.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_code_points_convert_both_ways_everywhere() {
        let mut string = String::new();
        for i in 0..500 {
            string.push_str(["a", "é", "命", "𝄞", "\r\n"][i % 5]);
        }
        let text = Text::new(string.clone());
        assert_eq!(text.chars(), string.chars().count());
        for (i, (byte, _)) in string.char_indices().enumerate() {
            assert_eq!(text.byte_of(i), byte);
            assert_eq!(text.char_of(byte), i);
        }
        assert_eq!(text.byte_of(text.chars()), string.len());
        assert_eq!(text.char_of(string.len()), text.chars());
        let expected: String = string.chars().skip(63).take(130).collect();
        assert_eq!(text.slice(Span::new(63, 193)), expected);
    }

    #[test]
    fn empty_text_has_no_characters() {
        let text = Text::new(String::new());
        assert_eq!((text.chars(), text.byte_of(0), text.char_of(0), text.slice(Span::new(0, 5))), (0, 0, 0, ""));
    }
}

//! Windows of a fixed length: the baseline that knows nothing of the text.
//!
//! Lengths are code points, or whatever a length function counts, such as the tokens of a model. Windows that overlap do
//! not tile a document: [`FixedSplitter::pieces`] gives the windows, [`Splitter::split`] the sections, which are the
//! windows without overlap.

use super::{Section, Splitter, tiling};
use crate::document::{Document, Span, Text};

/// Cuts a document every `size` characters, whatever stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedSplitter {
    /// Code points in a window; zero is taken as one.
    pub size: usize,
    /// Code points that a window of [`FixedSplitter::pieces`] has in common with the one before it; less than `size`.
    pub overlap: usize,
}

impl Default for FixedSplitter {
    fn default() -> Self {
        Self { size: 500, overlap: 0 }
    }
}

impl Splitter for FixedSplitter {
    fn split(&self, document: &Document) -> Vec<Section> {
        let windows = Self { overlap: 0, ..*self }.pieces(&document.text);
        tiling::at_starts(document, windows.into_iter().map(|window| window.start))
    }
}

impl FixedSplitter {
    /// The windows over `text` with their overlap, in order; together they cover it.
    pub fn pieces(&self, text: &Text) -> Vec<Span> {
        let size = self.size.max(1);
        windows(text, |start| start.saturating_add(size), |_, end| end - self.overlap.min(size - 1))
    }

    /// As [`FixedSplitter::pieces`], with `size` and `overlap` in units of `length`, such as tokens. A window is the
    /// longest that is not longer than `size`, but never less than one character. `length` should not fall where the text
    /// grows; it is called a few dozen times for each window, on texts about as long as the window.
    pub fn pieces_by(&self, text: &Text, length: &dyn Fn(&str) -> usize) -> Vec<Span> {
        let size = self.size.max(1);
        let fits = |span: Span, limit: usize| length(text.slice(span)) <= limit;
        windows(
            text,
            |start| start + furthest(size, text.chars() - start, |chars| fits(Span::new(start, start + chars), size)),
            |start, end| match self.overlap.min(size - 1) {
                0 => end,
                overlap => {
                    let most = end - start - 1;
                    let inside = |chars: usize| fits(Span::new(end - chars, end), overlap);
                    end - if most > 0 && inside(1) { furthest(overlap, most, inside) } else { 0 }
                }
            },
        )
    }

    /// As [`Splitter::split`], with `size` in units of `length`.
    pub fn split_by(&self, document: &Document, length: &dyn Fn(&str) -> usize) -> Vec<Section> {
        let windows = Self { overlap: 0, ..*self }.pieces_by(&document.text, length);
        tiling::at_starts(document, windows.into_iter().map(|window| window.start))
    }
}

/// Windows over `text`: `end` says where one that starts at a place ends, `next` where the one after it starts.
fn windows(text: &Text, end: impl Fn(usize) -> usize, next: impl Fn(usize, usize) -> usize) -> Vec<Span> {
    // `\r\n` is one line ending.
    let whole = |at: usize| at + usize::from(at > 0 && text.slice(Span::new(at - 1, at + 1)) == "\r\n");
    let total = text.chars();
    let mut windows = Vec::new();
    let mut start = 0;
    while start < total {
        let stop = whole(end(start).min(total));
        windows.push(Span::new(start, stop));
        start = if stop == total { total } else { whole(next(start, stop).max(start + 1)) };
    }
    windows
}

/// The largest number from 1 to `most` for which `fits` holds, where it holds up to some number; 1 if for none. Looks
/// near `guess` first.
fn furthest(guess: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (1, most.max(1) + 1);
    let mut step = guess.max(1);
    while step < high && high == most.max(1) + 1 {
        if fits(step) {
            low = step;
            step *= 2;
        } else {
            high = step;
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Format;

    fn pieces(text: &str, size: usize, overlap: usize) -> Vec<String> {
        let text = Text::new(text.to_owned());
        let windows = FixedSplitter { size, overlap }.pieces(&text);
        windows.into_iter().map(|window| text.slice(window).to_owned()).collect()
    }

    #[test]
    fn windows_share_the_overlap_and_the_last_one_ends_with_the_text() {
        assert_eq!(pieces("abcdefgh", 4, 0), ["abcd", "efgh"]);
        assert_eq!(pieces("主轴报警温度为", 4, 2), ["主轴报警", "报警温度", "温度为"]);
        assert_eq!(pieces("abc", 10, 3), ["abc"]);
        assert_eq!(pieces("abcd", 2, 9), ["ab", "bc", "cd"]);
        assert_eq!(pieces("abc", 0, 0), ["a", "b", "c"]);
        assert!(pieces("", 4, 2).is_empty());
    }

    #[test]
    fn no_window_begins_or_ends_inside_a_line_ending() {
        assert_eq!(pieces("ab\r\ncd\r\n", 3, 0), ["ab\r\n", "cd\r\n"]);
        assert_eq!(pieces("ab\r\ncdef", 5, 2), ["ab\r\nc", "cdef"]);
        assert_eq!(pieces("\r\n\r\n\r\n", 1, 0), ["\r\n", "\r\n", "\r\n"]);
    }

    #[test]
    fn token_windows_are_the_longest_that_fit() {
        let words = |text: &str| text.split_whitespace().count();
        let text = Text::new("one two three four five six seven".to_owned());
        let splitter = FixedSplitter { size: 3, overlap: 1 };
        let windows: Vec<&str> =
            splitter.pieces_by(&text, &words).into_iter().map(|window| text.slice(window).trim()).collect();
        assert_eq!(windows, ["one two three", "three four five", "five six seven"]);

        let document = Document::from_text("a.md", "one two three four five".to_owned(), Format::Markdown);
        let sections: Vec<&str> =
            splitter.split_by(&document, &words).into_iter().map(|section| document.text.slice(section.span)).collect();
        assert_eq!(sections, ["one two three ", "four five"]);
    }

    #[test]
    fn counting_characters_through_a_length_function_gives_the_same_windows() {
        let text = Text::new("设备停机。\r\nThe pump stops. ".repeat(40));
        let chars = |text: &str| text.chars().count();
        for (size, overlap) in [(1, 0), (7, 3), (50, 0), (50, 49), (2000, 10)] {
            let splitter = FixedSplitter { size, overlap };
            let (by_length, by_chars) = (splitter.pieces_by(&text, &chars), splitter.pieces(&text));
            assert_eq!(by_length, by_chars, "{size} {overlap}");
        }
    }

    #[test]
    fn a_character_longer_than_a_window_is_a_window_of_its_own() {
        let bytes = |text: &str| text.len();
        let text = Text::new("a命b".to_owned());
        let windows = FixedSplitter { size: 2, overlap: 1 }.pieces_by(&text, &bytes);
        assert_eq!(windows.iter().map(|&window| text.slice(window)).collect::<Vec<_>>(), ["a", "命", "b"]);
    }
}

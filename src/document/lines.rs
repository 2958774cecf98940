//! Lines of a text with `\n`, `\r\n` and lone `\r` as line endings, as byte ranges.

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    /// First byte.
    pub(crate) start: usize,
    /// One past the last byte, line ending excluded.
    pub(crate) end: usize,
    /// First byte of the next line.
    pub(crate) next: usize,
}

/// The lines of `text`; they tile it. A text that ends in a line ending has no empty line after it.
pub(crate) fn text_lines(text: &str) -> impl Iterator<Item = Line> + '_ {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let end = bytes[start..].iter().position(|&b| b == b'\n' || b == b'\r').map_or(bytes.len(), |i| start + i);
        let next = match (bytes.get(end), bytes.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => end + 2,
            (Some(_), _) => end + 1,
            (None, _) => end,
        };
        let line = Line { start, end, next };
        start = next;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tile_the_text() {
        let text = "a\r\n\r\nb\rc\n\n\rd";
        let lines: Vec<Line> = text_lines(text).collect();
        let contents: Vec<&str> = lines.iter().map(|l| &text[l.start..l.end]).collect();
        assert_eq!(contents, ["a", "", "b", "c", "", "", "d"]);
        assert!(lines.windows(2).all(|w| w[0].next == w[1].start));
        assert_eq!(lines.last().map(|l| l.next), Some(text.len()));
    }
}

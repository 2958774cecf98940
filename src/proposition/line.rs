//! Lines that need no unit of their own, and the marks in front of those that do.

use crate::document::markup::is_only_tags;
use crate::proposition::lexis::is_content;

/// Why a sentence is kept with its neighbours as one unit.
pub(super) const CONTENTS: &str = "an entry of a contents list";

/// Why a label has no unit of its own.
pub(super) const LABEL: &str = "a label";

/// Why a line needs no unit: it holds no words, or only tags, or is a page number between dashes.
pub(super) fn says_nothing(text: &str) -> Option<&'static str> {
    if !text.chars().any(is_content) {
        return Some("no words");
    }
    if text.trim_start().starts_with('<') && is_only_tags(text) {
        return Some("tags without words");
    }
    let dash = |c: char| matches!(c, '-' | '–' | '—');
    let inner = text.trim().strip_prefix(dash).and_then(|t| t.strip_suffix(dash)).map(str::trim);
    let number = inner.is_some_and(|t| (1..=4).contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit()));
    number.then_some("a page number")
}

/// `**反应**：` or `Cause:`: a few words that only announce what follows.
pub(super) fn is_label(text: &str) -> bool {
    /// Most content characters of a label.
    const MAX: usize = 12;
    let text = text.trim();
    let announces =
        text.ends_with([':', '：']) || (text.ends_with("**") && text.trim_start_matches(['-', ' ']).starts_with("**"));
    announces && text.chars().filter(|&c| is_content(c)).count() <= MAX && !text.chars().any(|c| c.is_numeric())
}

/// Length of the Markdown marks in front of a line: bullets, quotes, heading marks; numbering is text and stays.
pub(super) fn marker_len(text: &str) -> usize {
    let chars: Vec<char> = text.chars().collect();
    let mut i = 0;
    loop {
        match (chars.get(i), chars.get(i + 1)) {
            (Some(c), _) if c.is_whitespace() => i += 1,
            (Some('-' | '*' | '+' | '>' | '•'), Some(next)) if next.is_whitespace() => i += 2,
            (Some('#'), Some(next)) if *next == '#' || next.is_whitespace() => i += 1,
            _ => break,
        }
    }
    if i >= chars.len() { 0 } else { i }
}

//! Lines that need no unit of their own, and the marks in front of those that do.

use crate::document::markup::is_only_tags;
use crate::proposition::gates::{Force, modals};
use crate::proposition::lexis::{Folded, is_content};

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
    let is_short = text.chars().filter(|&c| is_content(c)).count() <= MAX && !text.chars().any(char::is_numeric);
    announces && is_short && !warns(text)
}

/// Whether a few words say what must be or must not be done, or name a danger: `**严禁触摸**`, `**HOT SURFACE**`. A signal word
/// alone announces a warning and is none.
fn warns(text: &str) -> bool {
    const DANGERS: &[&str] =
        &["高压", "高温", "有电", "带电", "触电", "烫", "毒", "爆炸", "hot ", "voltage", "poison", "explosi"];
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let folded = Folded::new(&bare);
    let binds = |chinese: bool| {
        let strong = |force: Force, word: &str| force == Force::Forbid || force == Force::Demand && word.len() > 3;
        modals(&folded, chinese).iter().any(|modal| strong(modal.force, modal.word))
    };
    let announces = text.ends_with([':', '：']);
    (!announces && DANGERS.iter().any(|word| bare.contains(word))) || binds(true) || binds(false)
}

/// `text` without comments of HTML; those that are not closed stay.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { break };
        out.push_str(before);
        rest = after;
    }
    out + rest
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_words_that_warn_are_no_label() {
        for label in ["**原因**：", "Cause:", "**警告**", "Warning:", "**可能原因**：", "**高温报警**：", "应对措施："]
        {
            assert!(is_label(label), "{label}");
        }
        let warnings = [
            "**严禁带电作业**",
            "- **Do not open**",
            "- **HOT SURFACE**",
            "**注意：严禁触摸**",
            "严禁触摸：",
            "**必须接地**",
        ];
        for warning in warnings {
            assert!(!is_label(warning), "{warning}");
        }
    }
}

//! Codes, model names and Latin names: every one in a statement stands in the passage, its headings or the title.

use super::{Candidate, Finding};
use crate::proposition::lexis::{Folded, TokenKind, is_wordlike};
use crate::proposition::source::Source;

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Vec<Finding> {
    let mut out: Vec<Finding> = Vec::new();
    for (i, token) in candidate.tokens.iter().enumerate() {
        let named = match token.kind {
            TokenKind::Code => true,
            // In a Chinese statement every Latin word is a name; in an English one those that look like names.
            TokenKind::Word => candidate.chinese || looks_like_a_name(candidate, token.start, token.end, i == 0),
            _ => false,
        };
        let needle = &candidate.folded.chars[token.start..token.end];
        if named && !known(&source.body, needle) && !known(&source.heads, needle) {
            let gate = if token.kind == TokenKind::Code { "code-not-in-source" } else { "name-not-in-source" };
            out.push(Finding::reject(gate, original(candidate, token.start, token.end)));
        }
    }
    out
}

/// As a whole word; letters may also follow a number directly, as the unit in `0.35MPa` does.
fn known(text: &Folded, needle: &[char]) -> bool {
    text.contains_word(needle)
        || (needle.iter().all(|c| c.is_alphabetic())
            && text.chars.windows(needle.len() + 1).enumerate().any(|(i, window)| {
                window[0].is_ascii_digit()
                    && window[1..] == *needle
                    && text.chars.get(i + needle.len() + 1).is_none_or(|&c| !is_wordlike(c))
            }))
}

fn original(candidate: &Candidate<'_>, start: usize, end: usize) -> String {
    let span = candidate.folded.span(start, end);
    candidate.original[span.start..span.end].iter().collect()
}

/// A capital at the start of a later word, or two capitals anywhere, or a capital inside.
fn looks_like_a_name(candidate: &Candidate<'_>, start: usize, end: usize, first: bool) -> bool {
    let word = original(candidate, start, end);
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    let leading = word.chars().next().is_some_and(char::is_uppercase);
    capitals >= 2 || (leading && !first) || (capitals == 1 && !leading)
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::rejections;

    const ZH: &[&str] = &["BX-9000 主轴控制器报 ERR-9801 时，应检查 CAN 总线。", "随后在 Toolbox 中清除报警。"];
    const EN: &[&str] = &["The BX-9000 reports ERR-9801 if the CANopen link is lost.", "Restart the Toolbox software."];

    #[test]
    fn names_of_the_source_pass_in_any_case_and_width() {
        assert!(rejections("", ZH, 0, "ＢＸ－９０００ 主轴控制器报 err-9801 时，应检查 can 总线。").is_empty());
        assert!(rejections("", EN, 0, "The BX-9000 reports ERR-9801 if the CANopen link is lost.").is_empty());
        assert!(rejections("HX-40 manual", EN, 1, "Restart the Toolbox software of the HX-40.").is_empty());
    }

    #[test]
    fn invented_codes_and_names_are_rejected() {
        assert_eq!(
            rejections("", ZH, 0, "BX-9000 主轴控制器报 ERR-9802 时，应检查 CAN 总线。"),
            ["code-not-in-source"]
        );
        assert_eq!(
            rejections("", ZH, 0, "BX-9000 主轴控制器报 ERR-9801 时，应检查 Profinet 总线。"),
            ["name-not-in-source"]
        );
        assert_eq!(
            rejections("", EN, 0, "The BX-9000 reports ERR-9801 if the Siemens CANopen link is lost."),
            ["name-not-in-source"]
        );
        assert_eq!(rejections("", ZH, 0, "BX-900 主轴控制器报 ERR-9801 时，应检查 CAN 总线。"), ["code-not-in-source"]);
    }
}

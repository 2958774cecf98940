//! Form: length, language, debris of the output format, leaked instructions, loops.

use std::collections::HashMap;

use super::{Candidate, Finding};
use crate::proposition::lexis::{Term, TokenKind, is_content, is_ideograph};
use crate::proposition::source::Source;

/// Fewest ideographs of a Chinese statement (Latin words count as two).
const MIN_CHARS: usize = 5;
/// Fewest words of an English statement.
const MIN_WORDS: usize = 3;
/// Content characters that restored names may add to sentence and headings.
const ROOM_CHARS: usize = 80;
/// Words that restored names may add.
const ROOM_WORDS: usize = 30;

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Vec<Finding> {
    let mut out = Vec::new();
    out.extend(debris(candidate, source));
    out.extend(language(candidate, source));
    out.extend(length(candidate, source));
    out.extend(repetition(candidate));
    out.extend(announcement(candidate));
    out
}

fn size(chars: &[char], chinese: bool) -> usize {
    if chinese {
        let han = chars.iter().filter(|&&c| is_ideograph(c)).count();
        let rest: String = chars.iter().map(|&c| if is_content(c) && !is_ideograph(c) { c } else { ' ' }).collect();
        han + 2 * rest.split_whitespace().count()
    } else {
        let text: String = chars.iter().map(|&c| if is_content(c) { c } else { ' ' }).collect();
        text.split_whitespace().count()
    }
}

fn length(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let zh = candidate.chinese;
    let len = size(&candidate.folded.chars, zh);
    let (min, room) = if zh { (MIN_CHARS, ROOM_CHARS) } else { (MIN_WORDS, ROOM_WORDS) };
    if len < min {
        return Some(Finding::reject("too-short", candidate.statement));
    }
    let max = size(&candidate.own.folded.chars, zh) + size(&source.heads.chars, zh) + room;
    (len > max).then(|| Finding::reject("too-long", format!("{len} > {max}")))
}

/// A Chinese sentence gives Chinese statements (Latin names may stand inside), an English one English statements.
fn language(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let words = candidate.tokens.iter().filter(|t| t.kind == TokenKind::Word).count();
    if candidate.own.chinese && !candidate.chinese && words >= 3 {
        return Some(Finding::reject("language", "not Chinese"));
    }
    if !candidate.own.chinese && candidate.chinese {
        let foreign =
            candidate.folded.chars.iter().filter(|c| is_ideograph(**c) && !source.letters.contains(c)).count();
        let han = candidate.folded.chars.iter().filter(|c| is_ideograph(**c)).count();
        if foreign > 0 || 2 * han > candidate.folded.len() {
            return Some(Finding::reject("language", "Chinese for a sentence that is not"));
        }
    }
    None
}

/// Words by which a prompt or a chatty answer gives itself away, unless the source uses them too.
const LEAKS: &[&str] = &[
    "json",
    "原子命题",
    "原子命題",
    "陈述句",
    "命题",
    "原文",
    "输入句子",
    "根据上下文",
    "作为一个",
    "我无法",
    "以下是",
    "<|im_",
    "assistant:",
    "proposition",
    "self-contained",
    "output:",
    "sentence:",
    "as an ai",
    "i cannot",
    "here is",
    "here are",
    "the sentence states",
    "该句",
    "这句话",
    "句子",
];

fn debris(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let s = candidate.statement;
    if let Some(c) = s.chars().find(|c| (c.is_control() && !c.is_whitespace()) || *c == '\u{fffd}') {
        return Some(Finding::reject("debris", format!("U+{:04X}", u32::from(c))));
    }
    for mark in ["[\"", "\"]", "\",", "\\n", "\\\"", "\\u", "{\"", "\"}", "```", "</", "<|", "**"] {
        if s.contains(mark) && !source.body.contains(&mark.chars().collect::<Vec<_>>()) {
            return Some(Finding::reject("debris", mark));
        }
    }
    for leak in LEAKS {
        let needle: Vec<char> = leak.chars().collect();
        if candidate.folded.contains(&needle) && !source.body.contains(&needle) && !source.heads.contains(&needle) {
            return Some(Finding::reject("instruction-leak", *leak));
        }
    }
    None
}

/// What only announces, such as `当控制器处于活动状态时：`, states nothing.
fn announcement(candidate: &Candidate<'_>) -> Option<Finding> {
    candidate.statement.trim_end().ends_with([':', '：']).then(|| Finding::reject("announcement", candidate.statement))
}

/// A loop: most of the statement is made of the same few terms in a row again and again, more than the sentence is.
fn repetition(candidate: &Candidate<'_>) -> Option<Finding> {
    /// Share of the statement that a loop fills.
    const FILLED: f32 = 0.6;
    let looped = |terms: &[Term]| {
        let mut seen: HashMap<Vec<&str>, usize> = HashMap::new();
        for window in terms.windows(4) {
            *seen.entry(window.iter().map(|t| t.key.as_str()).collect()).or_insert(0) += 1;
        }
        let often: usize = seen.values().filter(|&&n| n >= 4).sum();
        often as f32 / terms.len().max(1) as f32
    };
    let (here, there) = (looped(&candidate.terms), looped(&candidate.own.terms));
    (here >= FILLED && here > there).then(|| Finding::reject("repetition", format!("{:.0} % of it", here * 100.0)))
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::rejections;

    const ZH: &[&str] = &["油泵停止后，应在30秒内关闭进油阀。", "关闭进油阀后方可打开过滤器。"];
    const EN: &[&str] = &["Close the inlet valve within 30 seconds after the pump stops.", "Then open the filter."];

    #[test]
    fn fragments_are_too_short() {
        assert_eq!(rejections("", ZH, 0, "关闭阀"), ["too-short"]);
        assert_eq!(rejections("", EN, 0, "Close valve"), ["too-short"]);
    }

    #[test]
    fn what_only_announces_states_nothing() {
        assert_eq!(rejections("", ZH, 0, "油泵停止后，应在30秒内："), ["announcement"]);
    }

    #[test]
    fn statements_far_longer_than_their_sentence_are_rejected() {
        let long = "油泵停止后应关闭进油阀，".repeat(12);
        assert!(rejections("", ZH, 0, &long).contains(&"too-long".to_owned()));
        let long = "after the pump stops close the inlet valve ".repeat(9);
        assert!(rejections("", EN, 0, &long).contains(&"too-long".to_owned()));
    }

    #[test]
    fn the_other_language_is_rejected() {
        assert_eq!(rejections("", ZH, 0, "The inlet valve should be closed after the pump stops."), ["language"]);
        assert_eq!(rejections("", EN, 0, "油泵停止后应关闭进油阀。"), ["language"]);
    }

    #[test]
    fn debris_and_leaks_are_rejected() {
        assert_eq!(rejections("", ZH, 0, "油泵停止后，应关闭进油阀\",\"其"), ["debris"]);
        assert_eq!(rejections("", ZH, 0, "以下是命题：油泵停止后应关闭进油阀。"), ["instruction-leak"]);
        assert_eq!(rejections("", EN, 0, "Here is the JSON: close the inlet valve."), ["instruction-leak"]);
    }

    #[test]
    fn loops_are_rejected() {
        let looped = "关闭进油阀关闭进油阀关闭进油阀关闭进油阀关闭进油阀";
        assert_eq!(rejections("", ZH, 0, looped), ["repetition"]);
    }
}

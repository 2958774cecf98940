//! Where a piece that is too long to be read or rewritten at once is cut.

use super::sentence::is_cjk;

/// Longest piece in characters.
pub(crate) const LONGEST: usize = 600;
/// Columns (ideographs count two) above which a sentence is cut at a place where both sides state something.
const LONG: usize = 400;
/// Fewest columns on each side of such a cut.
const SIDE: usize = 60;
/// A piece is not cut before this many characters.
const SHORTEST: usize = 200;

/// What a piece holds, as far as its cuts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// Sentences: cut at clauses.
    Prose,
    /// A row or another single line.
    Line,
    /// Code: cut at lines.
    Lines,
}

/// Where to cut `text` if it is too long, in bytes, and whether that is a decent place.
pub(super) fn cut(text: &str, body: Body) -> Option<(usize, bool)> {
    if body == Body::Prose
        && text.len() > LONG
        && let Some(at) = between_statements(text)
    {
        return Some((at, true));
    }
    if text.len() <= LONGEST {
        return None;
    }
    let by_line = body == Body::Lines;
    let (mut clause, mut comma, mut space, mut hard) = (None, None, None, None);
    for (count, (at, c)) in text.char_indices().enumerate() {
        if count == LONGEST {
            hard = Some(at);
            break;
        }
        let after = at + c.len_utf8();
        if count < SHORTEST {
            continue;
        }
        match c {
            '\n' | '\r' if by_line => clause = Some(after),
            '；' | ';' | '：' if !by_line => clause = Some(after),
            '，' | '、' if !by_line => comma = Some(after),
            ',' if !by_line && !text[after..].starts_with(|c: char| c.is_ascii_digit()) => comma = Some(after),
            c if c.is_whitespace() => space = Some(after),
            _ => {}
        }
    }
    let hard = hard?;
    let at = clause.or(comma).or(space);
    Some((at.unwrap_or(hard), at.is_some()))
}

fn wide(c: char) -> usize {
    if is_cjk(c) { 2 } else { 1 }
}

/// The last place within [`LONG`] columns, else the first behind, where one statement ends and another begins: after a
/// semicolon, or before a word that only joins statements. Never where the left side holds a condition that may rule the
/// right side too.
fn between_statements(text: &str) -> Option<usize> {
    // No piece is longer than this, whatever follows.
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    let total: usize = text[..end].chars().map(wide).sum();
    if total <= LONG {
        return None;
    }
    let condition = condition_end(&text[..end]);
    let (mut best, mut width, mut depth) = (None, 0, 0i32);
    for (at, c) in text[..end].char_indices() {
        width += wide(c);
        let after = at + c.len_utf8();
        match c {
            '(' | '（' | '[' | '“' | '「' | '《' => depth += 1,
            ')' | '）' | ']' | '”' | '」' | '》' => depth -= 1,
            _ => {}
        }
        let far_enough = width >= SIDE && total - width >= SIDE;
        if depth <= 0 && matches!(c, ';' | '；' | '，') && far_enough && parts(c, condition < at, &text[after..]) {
            best = Some(after);
            if width >= LONG {
                break;
            }
        } else if width >= LONG && best.is_some() {
            break;
        }
    }
    best
}

/// Whether a mark in front of `right` parts two statements; `ruled`: a condition stands before it.
fn parts(mark: char, ruled: bool, right: &str) -> bool {
    /// Words that join statements and rule nothing.
    const JOINING: &[&str] = &[
        "此外", "另外", "同时", "同時", "而且", "并且", "並且", "然后", "然後", "随后", "隨後", "接着", "接著", "最后",
    ];
    /// Words that join parts of one statement.
    const WITHIN: &[&str] = &["and ", "or ", "nor ", "but ", "as ", "except ", "with "];
    let right = right.trim_start();
    let joins = match mark {
        '，' => JOINING.iter().any(|w| right.starts_with(w)),
        ';' => !WITHIN.iter().any(|w| right.starts_with(w)),
        _ => true,
    };
    let head = right.char_indices().nth(12).map_or(right, |(at, _)| &right[..at]);
    joins && (!ruled || condition_end(head) <= head.len())
}

/// Where the first word ends that makes what follows depend on it; [`usize::MAX`] where none does.
fn condition_end(text: &str) -> usize {
    const CHINESE: &[&str] = &[
        "若", "如", "当", "當", "除", "只有", "只要", "一旦", "凡", "无论", "無論", "不论", "时，", "時，", "的，",
        "前，", "后，",
    ];
    const ENGLISH: &[&str] = &[
        "if",
        "when",
        "where",
        "unless",
        "provided",
        "once",
        "until",
        "while",
        "before",
        "after",
        "whether",
        "following",
    ];
    let chinese = CHINESE.iter().filter_map(|w| text.find(w).map(|at| at + w.len()));
    let mut at = 0;
    let english = text.split_inclusive(|c: char| !c.is_ascii_alphabetic()).find_map(|word| {
        at += word.len();
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
        ENGLISH.iter().any(|w| w.eq_ignore_ascii_case(bare)).then_some(at)
    });
    chinese.chain(english).min().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let (mut rest, mut out) = (text, Vec::new());
        while let Some((at, _)) = cut(rest, Body::Prose) {
            out.push(&rest[..at]);
            rest = &rest[at..];
        }
        out.push(rest);
        out
    }

    #[test]
    fn a_long_sentence_is_cut_between_statements() {
        let zh = format!("{}，同时{}。", "主轴由两个轴承支承".repeat(12), "冷却泵由独立的电源供电".repeat(12));
        assert_eq!(pieces(&zh).len(), 2);
        assert!(pieces(&zh)[1].starts_with("同时"));
        let en = format!("the pump {}; the fan {}.", "feeds the upper bearing ".repeat(10), "cools it ".repeat(20));
        assert_eq!(pieces(&en).len(), 2);
        assert!(pieces(&en)[1].trim().starts_with("the fan"));
    }

    #[test]
    fn a_condition_is_not_cut_from_what_it_rules() {
        let zh = format!("如果{}，同时{}。", "主轴温度过高".repeat(12), "冷却泵仍然运行并且报警".repeat(12));
        assert_eq!(pieces(&zh).len(), 1);
        let en = format!("If the pump {}; the fan {}.", "feeds the upper bearing ".repeat(10), "must stop ".repeat(20));
        assert_eq!(pieces(&en).len(), 1);
    }

    #[test]
    fn short_sentences_are_left_whole_and_endless_ones_are_not() {
        assert_eq!(pieces("主轴停止；冷却泵运行，同时报警。").len(), 1);
        for unit in ["a", "设备，", "设", "word ", "停机；"] {
            let text = unit.repeat(3000);
            let pieces = pieces(&text);
            assert!(pieces.iter().all(|p| p.chars().count() <= LONGEST), "{unit}");
            assert_eq!(pieces.concat(), text);
        }
    }
}

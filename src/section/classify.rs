//! What a single line is: the start of an item, a fence, a rule, a row of a table, links, a field.

use super::blocks::{Block, Cut};
use super::numbering::{Scheme, label};
use super::sentence::is_cjk;
use crate::document::markup::describes;

/// Whether a line starts a list item or a numbered paragraph, and how good a cut that makes. `blank`: an empty line stands
/// before it; `listed`: a numbered item does.
pub(super) fn starter(bare: &str, indent: usize, blank: bool, listed: bool) -> Option<(Block, Cut)> {
    let label = label(bare)?;
    let outer = if indent >= 2 { Cut::Nested } else { Cut::Item };
    Some(match label.scheme {
        Scheme::Item if label.bullet || indent > 0 => (Block::Item, outer),
        Scheme::Item
            if bare.starts_with(|c: char| c.is_ascii_digit()) && !bare.contains(") ") && !bare.contains("）") =>
        {
            (Block::Item, Cut::Entry)
        }
        Scheme::Item => (Block::Item, outer),
        Scheme::Parenthesised => (Block::Item, outer),
        Scheme::Decimal => {
            let markdown_item = label.number.parts().len() == 1;
            if !label.separated {
                return None;
            }
            // A bare number before a space may be wrapped text; it needs a blank line before it or a dot behind it.
            let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
            let dotted = bare[digits..].starts_with(['.', '、', '．']) || bare[digits..].starts_with('\t');
            // So may a number before a small letter, unless it opens a list or goes on with one.
            let opens = blank || listed || label.number.parts() == [1];
            if label.rest.starts_with(char::is_lowercase) && !(markdown_item && dotted && opens) {
                return None;
            }
            if markdown_item && !dotted && !blank {
                return None;
            }
            (Block::Item, if markdown_item && dotted { outer } else { Cut::Entry })
        }
        _ if label.separated || blank => (Block::Prose, Cut::Entry),
        _ => return None,
    })
}

/// Whether a list item states something: it ends like a sentence or is long enough to hold a clause.
pub(super) fn is_sentence(text: &str) -> bool {
    let text = [" and", " or"].into_iter().find_map(|word| text.strip_suffix(word)).unwrap_or(text);
    let text = text.trim_end_matches(['*', '_', '"', '”', '）', ')', '`']);
    if text.ends_with(['。', '；', '！', '？', '.', ';', '!', '?']) {
        return label(text).is_none_or(|l| !l.rest.is_empty());
    }
    let cjk = text.chars().filter(|&c| is_cjk(c)).count();
    let words = text.split_whitespace().filter(|w| w.starts_with(|c: char| c.is_ascii_alphabetic())).count();
    cjk >= 15 || (cjk >= 10 && text.contains('，')) || words >= 8
}

pub(super) fn is_atx(content: &str) -> bool {
    let indent = content.len() - content.trim_start_matches(' ').len();
    let rest = content.trim_start_matches(' ');
    let level = rest.bytes().take_while(|&b| b == b'#').count();
    indent < 4 && (1..=6).contains(&level) && rest[level..].chars().next().is_none_or(char::is_whitespace)
}

pub(super) fn is_setext(content: &str) -> bool {
    let bare = content.trim();
    !bare.is_empty()
        && (bare.bytes().all(|b| b == b'=') || bare.bytes().all(|b| b == b'-'))
        && !content.starts_with("    ")
}

pub(super) fn is_rule(bare: &str) -> bool {
    bare.len() >= 3
        && bare.chars().all(|c| matches!(c, '-' | '*' | '_' | '=' | '+' | ' ' | '|' | ':'))
        && !bare.starts_with("+ ")
}

/// `|---|:-:|`
pub(crate) fn is_table_rule(bare: &str) -> bool {
    let bare = bare.trim_start_matches(['>', ' ', '\t']);
    bare.contains('-') && bare.contains('|') && bare.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t' | '\r'))
}

/// Whether `text` begins with rows of a table without bars at its ends: two lines with as many bars. Its header may stand
/// in front of the text.
pub(super) fn opens_in_table(text: &str) -> bool {
    let bars = |line: &str| {
        let (mut bars, mut escaped, mut code) = (0, false, false);
        for c in line.chars() {
            match c {
                '|' if !escaped && !code => bars += 1,
                '`' => code = !code,
                _ => {}
            }
            escaped = c == '\\' && !escaped;
        }
        bars
    };
    let mut lines = text.lines().map(str::trim);
    match (lines.next(), lines.next()) {
        (Some(first), Some(second)) => bars(first) > 0 && bars(first) == bars(second) && !is_table_rule(second),
        _ => false,
    }
}

/// A line that is nothing but links and images, after a list marker.
pub(super) fn is_links_only(bare: &str) -> bool {
    let mut rest = bare.trim_start_matches(['-', '*', '+', ' ', '\t']);
    let mut seen = false;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '|', '·', ',', '，', '、', '!', '<', '>']);
        if rest.is_empty() {
            return seen;
        }
        if rest.starts_with("http://") || rest.starts_with("https://") {
            rest = rest.trim_start_matches(|c: char| !c.is_whitespace() && c != '>' && !is_cjk(c));
            seen = true;
            continue;
        }
        if !rest.starts_with('[') {
            return false;
        }
        let Some(text) = balanced(rest, b'[', b']') else { return false };
        rest = &rest[text..];
        let close = match rest.as_bytes().first() {
            Some(b'(') => balanced(rest, b'(', b')'),
            Some(b'[') => balanced(rest, b'[', b']'),
            _ => None,
        };
        let Some(target) = close else { return false };
        rest = &rest[target..];
        seen = true;
    }
}

/// Whether one of the pictures of a line of links is described: what it shows can be read and searched.
pub(super) fn shows_what(bare: &str) -> bool {
    bare.match_indices("![").any(|(at, _)| {
        let Some((alt, target)) = bare[at + 2..].split_once("](") else { return false };
        let target = target.split(')').next().unwrap_or_default();
        describes(alt, target) && shows_something(alt, bare[..at].ends_with('['))
    })
}

/// Whether a description is worth reading. The picture in a link may be a badge: then only Chinese is.
pub(super) fn shows_something(alt: &str, linked: bool) -> bool {
    !linked || alt.contains(is_cjk)
}

/// A line that ends in the middle of a clause goes on in the next.
pub(super) fn goes_on(line: &str) -> bool {
    line.trim_end().ends_with(['，', ',', '、', '(', '（'])
}

/// Length of the bracketed group at the start.
fn balanced(text: &str, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if escaped {
            escaped = false;
        } else if byte == b'\\' {
            escaped = true;
        } else if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

/// `[id]: target`
pub(super) fn is_definition(bare: &str) -> bool {
    bare.starts_with('[')
        && !bare.starts_with("[^")
        && bare
            .find("]:")
            .is_some_and(|at| !bare[..at].contains('\n') && bare[at + 2..].split_whitespace().count() <= 2)
}

/// Tags with next to no text between them.
pub(super) fn is_empty_html(bare: &str) -> bool {
    if !bare.starts_with('<') || !bare[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
        return false;
    }
    let (mut inside, mut letters) = (false, 0);
    for c in bare.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside && c.is_alphanumeric() => letters += 1,
            _ => {}
        }
    }
    letters == 0
}

/// `现象：电机不转`, `**Cause**: worn belt`: a short name, a colon, a value.
pub(super) fn is_field(line: &str) -> bool {
    let Some(at) = line.char_indices().take(24).find(|(_, c)| matches!(c, '：' | ':')).map(|(at, _)| at) else {
        return false;
    };
    let name = line[..at].trim_matches(['*', '_', ' ', '#']);
    let value = line[at..].trim_start_matches(['：', ':', '*', '_']);
    let spaced = line[at..].starts_with('：') || value.starts_with(char::is_whitespace) || value.is_empty();
    spaced
        && !name.is_empty()
        && !name.contains(['。', '，', ',', '.', '“', '"'])
        && name.split_whitespace().count() <= 3
}

pub(super) fn columns(content: &str) -> usize {
    content.trim().chars().map(|c| if is_cjk(c) { 2 } else { 1 }).sum()
}

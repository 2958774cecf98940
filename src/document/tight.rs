//! Headings whose marks no space follows: `##安装`.
//!
//! CommonMark asks for a space behind the marks, many who write Chinese leave it out. Such a line is a heading where nothing
//! speaks against it: a lone `#` also opens a shell comment and a hashtag, so it counts only in a text that writes its headings
//! that way.

use super::markup::is_ideograph;
use super::{Line, front_matter, text_lines};

/// Columns (wide characters count two) of the longest heading.
const COLUMNS: usize = 80;

/// A line that could be one.
struct Candidate {
    start: usize,
    level: usize,
    /// It follows an empty line, a heading, or nothing.
    apart: bool,
    /// No other candidate with one mark stands next to it.
    alone: bool,
}

/// Starts of the lines of `text` that are headings without a space behind their marks, ascending. Linear in its length.
pub(crate) fn tight_headings(text: &str) -> Vec<usize> {
    let start = front_matter(text).map_or(0, |range| range.end);
    let mut found: Vec<Candidate> = Vec::new();
    let mut spaced = 0;
    let mut first = None;
    let mut open: Option<&str> = None;
    // What the line before was: empty or a heading, and whether it was a candidate with one mark.
    let (mut apart, mut neighbour) = (true, false);
    for line in text_lines(&text[start..]) {
        let line = Line { start: line.start + start, end: line.end + start, next: line.next + start };
        let content = &text[line.start..line.end];
        let bare = content.trim();
        if let Some(marks) = open {
            if bare.starts_with(marks) && bare.trim_start_matches(&marks[..1]).is_empty() {
                open = None;
            }
            continue;
        }
        open = fence(bare);
        if !bare.is_empty() {
            first.get_or_insert(line.start);
        }
        let level = level(content);
        let is_candidate = level.is_some();
        if let Some(level) = level {
            if level == 1
                && neighbour
                && let Some(before) = found.last_mut()
            {
                before.alone = false;
            }
            found.push(Candidate { start: line.start, level, apart, alone: !(level == 1 && neighbour) });
        }
        let is_spaced = is_spaced(content);
        spaced += usize::from(is_spaced);
        neighbour = level == Some(1);
        apart = bare.is_empty() || is_spaced || is_candidate;
    }
    let common = spaced == 0 || found.len() > spaced;
    let counts = |c: &Candidate| c.level > 1 || (c.apart && c.alone && (common || Some(c.start) == first));
    found.into_iter().filter(counts).map(|candidate| candidate.start).collect()
}

/// The words of such a heading.
pub(crate) fn tight_title(line: &str) -> &str {
    line.trim().trim_matches('#').trim()
}

/// The marks of a line that has the form of such a heading.
fn level(content: &str) -> Option<usize> {
    let bare = content.trim_start_matches(' ');
    let words = bare.trim_start_matches('#');
    let level = bare.len() - words.len();
    if content.len() - bare.len() > 3 || !(1..=6).contains(&level) {
        return None;
    }
    let opens = |c: char| is_ideograph(c) || matches!(c, '（' | '《' | '【' | '「' | '“');
    let words = words.trim_end();
    let title = if level > 1 { words.trim_end_matches('#') } else { words };
    let columns: usize = title.chars().take(COLUMNS + 1).map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    // A hashtag is followed by the next one or closed by its mark, a comment holds what it explains.
    let other = if level > 1 { &['#'][..] } else { &['#', '=', '`', '{', '}', '$', '\\', '<', '>', '：', ':'] };
    let ended = ['。', '；', '，', '、', '！', '？', '…', '.', ';', ',', '!', '?'];
    (title.starts_with(opens) && columns <= COLUMNS && !title.contains(other) && !title.ends_with(ended))
        .then_some(level)
}

/// `## Scope`
fn is_spaced(content: &str) -> bool {
    let bare = content.trim_start_matches(' ');
    let words = bare.trim_start_matches('#');
    content.len() - bare.len() <= 3
        && (1..=6).contains(&(bare.len() - words.len()))
        && words.starts_with([' ', '\t'])
        && !words.trim().is_empty()
}

/// The marks of a fence that opens a block of code, behind the marks of the list items that it begins.
pub(crate) fn fence(bare: &str) -> Option<&str> {
    let mut bare = bare;
    loop {
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let marks =
            if digits > 0 { bare[digits..].strip_prefix(['.', ')']) } else { bare.strip_prefix(['-', '*', '+']) };
        match marks.filter(|rest| rest.starts_with([' ', '\t'])) {
            Some(rest) => bare = rest.trim_start(),
            None => break,
        }
    }
    let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = bare.len() - bare.trim_start_matches(mark).len();
    (run >= 3 && !(mark == '`' && bare[run..].contains('`'))).then(|| &bare[..run])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<&str> {
        let line = |start: usize| text[start..].lines().next().unwrap_or_default();
        tight_headings(text).into_iter().map(|start| tight_title(line(start))).collect()
    }

    #[test]
    fn marks_without_a_space_are_headings_in_a_text_that_writes_them_so() {
        let text =
            "#操作手册\n##第一章 总则\n正文。\n###1.1 不是\n##（一）接线##\n正文。\n\n#附录\n\n```\n##代码\n```\n";
        assert_eq!(titles(text), ["操作手册", "第一章 总则", "（一）接线", "附录"]);
        assert_eq!(titles("#手册\n\n## 一、概述\n\n文。\n\n## 二、安装\n\n##三、维护\n"), ["手册", "三、维护"]);
        assert_eq!(titles("1. ```\n   ##代码\n   ```\n\n##概述\n"), ["概述"]);
        assert_eq!(titles("---\ntitle: x\n#注释\n---\n#概述\r\n"), ["概述"]);
    }

    #[test]
    fn comments_hashtags_and_sentences_are_none() {
        for text in [
            "# 手册\n\n文。\n\n#液压\n",
            "#维修 #液压\n",
            "#话题#\n",
            "#打开电源\n#检查接线\nsudo make\n",
            "正文\n#液压\n",
            "#define X\n#1 机组\n####### 七\n",
            "#速度：50\n",
            "##先断电，后验电。\n",
            "    ##代码\n",
            "\\##概述\n",
        ] {
            assert!(titles(text).is_empty(), "{text}");
        }
    }
}

//! The headings of a Markdown document, by pulldown-cmark, with exact byte ranges.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A heading outside lists, quotes and code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Bytes from the start of its first line to the start of the line after it.
    pub(crate) range: Range<usize>,
    /// 1 to 6.
    pub(crate) level: u8,
    /// Its text without markup, white space collapsed.
    pub(crate) title: String,
}

/// Longer "headings" are paragraphs that happen to stand over a rule.
const LONGEST: usize = 2000;

/// All top-level headings (ATX and setext) of `text`, in order. Linear in its length.
pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let start = front_matter(text).map_or(0, |range| range.end);
    let body = skeleton(&text[start..]);
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    let mut found = Vec::new();
    let mut depth = 0usize;
    for (event, range) in Parser::new_ext(&body, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let range = start + line_start(&body, range.start)..start + line_end(&body, range.end);
                if range.len() <= LONGEST {
                    let title = title(&text[range.clone()]);
                    found.push(Heading { range, level: level as u8, title });
                }
            }
            Event::Start(Tag::BlockQuote(_) | Tag::Item | Tag::FootnoteDefinition(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::Item | TagEnd::FootnoteDefinition) => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    found
}

/// The text of the heading in `lines`.
fn title(lines: &str) -> String {
    let lines = lines.replace("\r\n", "\n").replace('\r', "\n");
    let mut title = String::new();
    for event in Parser::new_ext(&lines, Options::ENABLE_STRIKETHROUGH | Options::ENABLE_HEADING_ATTRIBUTES) {
        match event {
            Event::Text(piece) | Event::Code(piece) => title.push_str(&piece),
            Event::SoftBreak | Event::HardBreak => title.push(' '),
            _ => {}
        }
    }
    collapse(&title)
}

/// `text` with the same length and the same blocks, but without what only matters inside a paragraph.
///
/// Only headings are looked for, and brackets and emphasis cost the parser much time and memory on hostile input. A lone
/// `\r` becomes `\n`, because the parser does not take it for a line ending everywhere.
fn skeleton(text: &str) -> String {
    /// Marks of blocks stand within this many bytes of the start of a line.
    const LEAD: usize = 16;
    let mut bytes = text.as_bytes().to_vec();
    for line in super::text_lines(text) {
        let content = &mut bytes[line.start..line.end];
        let is_mark = |b: u8| matches!(b, b'*' | b'_' | b'`');
        let is_rule = content.iter().all(|&b| is_mark(b) || b == b' ' || b == b'\t');
        let is_fence = content.windows(3).take(LEAD).any(|w| w == b"```");
        for (at, byte) in content.iter_mut().enumerate() {
            let inline = is_mark(*byte) && at >= LEAD && !is_rule && !is_fence;
            if inline || matches!(*byte, b'[' | b']') {
                *byte = b'a';
            }
        }
        if line.next - line.end == 1 {
            bytes[line.end] = b'\n';
        }
    }
    // Only ASCII bytes were exchanged for ASCII bytes.
    String::from_utf8(bytes).unwrap_or_default()
}

/// The bytes of YAML front matter at the start of `text`, including its closing line. It needs a `key:` line, because a
/// document may as well start with a thematic break.
pub(crate) fn front_matter(text: &str) -> Option<Range<usize>> {
    const LINES: usize = 200;
    let mut lines = crate::document::text_lines(text);
    let first = lines.next()?;
    if text[first.start..first.end].trim_end() != "---" {
        return None;
    }
    let mut has_key = false;
    for line in lines.take(LINES) {
        let content = &text[line.start..line.end];
        if matches!(content.trim_end(), "---" | "...") {
            return has_key.then_some(0..line.next);
        }
        let key = content.split(':').next().unwrap_or_default();
        if !has_key && !content.trim().is_empty() && !content.trim_start().starts_with('#') {
            let is_key = content.contains(':') && !key.trim().is_empty() && !key.trim().contains(char::is_whitespace);
            if !is_key {
                return None;
            }
            has_key = true;
        }
    }
    None
}

/// White space of any kind becomes one space; none at the ends.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |i| i + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    if at > 0 && text.as_bytes()[at - 1] == b'\n' {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |i| at + i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<(u8, String)> {
        headings(text).into_iter().map(|h| (h.level, h.title)).collect()
    }

    #[test]
    fn headings_are_the_same_for_every_line_ending() {
        let unix = "前言\n\n# 第一章  *总* 则\n正文 # 不是\n\n操作\n====\n\n```\n# 代码\n```\n<!--\n# 注释\n-->\n\n## `G1` 指令 {#g1}\n- # 列表\n";
        let expected = vec![(1, "第一章 总 则".to_string()), (1, "操作".to_string()), (2, "G1 指令".to_string())];
        for ending in ["\n", "\r\n", "\r"] {
            let text = unix.replace('\n', ending);
            assert_eq!(titles(&text), expected, "{ending:?}");
            for heading in headings(&text) {
                let lines = &text[heading.range];
                assert!(lines.starts_with('#') || lines.starts_with("操作"), "{lines:?}");
                assert!(lines.ends_with(ending), "{lines:?}");
            }
        }
    }

    #[test]
    fn front_matter_holds_no_heading_and_needs_a_key() {
        assert_eq!(titles("---\ntitle: x\n# comment\n---\n# A\n"), vec![(1, "A".to_string())]);
        assert_eq!(front_matter("---\r\ntitle: x\r\n---\r\ntext"), Some(0..20));
        assert_eq!(front_matter("---\n\n正文没有键\n\n---\n"), None);
        assert_eq!(front_matter("---\ntitle: never closed\n"), None);
    }
}

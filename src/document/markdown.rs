//! The headings of a Markdown document, by pulldown-cmark, with exact byte ranges.
//!
//! Two kinds are added that CommonMark does not know: `<h2>…</h2>` in a block of HTML, and `##安装` without a space.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::tight::{tight_headings, tight_title};
use super::{front_matter, markup};

/// A heading outside lists, quotes and code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Bytes from the start of its first line to the start of the line after it; less where a heading in HTML shares its
    /// lines with other text.
    pub(crate) range: Range<usize>,
    /// 1 to 6.
    pub(crate) level: u8,
    /// Its text without markup, white space collapsed.
    pub(crate) title: String,
}

/// Longer "headings" are paragraphs that happen to stand over a rule.
const LONGEST: usize = 2000;

/// All top-level headings (ATX, setext, HTML) of `text`, in order. Linear in its length.
pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let start = front_matter(text).map_or(0, |range| range.end);
    let tight = tight_headings(text);
    let body = skeleton(text, start, &tight);
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    let mut found = Vec::new();
    let mut depth = 0usize;
    for (event, range) in Parser::new_ext(&body, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let range = start + line_start(&body, range.start)..start + line_end(&body, range.end);
                if range.len() <= LONGEST {
                    let lines = &text[range.clone()];
                    let title = match tight.binary_search(&range.start) {
                        Ok(_) => title(&format!("# {}", tight_title(lines))),
                        Err(_) => title(lines),
                    };
                    found.push(Heading { range, level: level as u8, title });
                }
            }
            Event::Start(Tag::HtmlBlock) if depth == 0 && is_markup(&body[range.clone()]) => {
                let block = start + range.start..start + range.end;
                let headings = markup::headings(text, block).into_iter();
                found.extend(headings.map(|h| Heading { range: h.range, level: h.level, title: h.title }));
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

/// Whether a block of HTML holds text, other than a comment, a script or preformatted text.
fn is_markup(block: &str) -> bool {
    let head: String = block.trim_start().chars().take(9).collect::<String>().to_ascii_lowercase();
    !["<!", "<?", "<pre", "<script", "<style", "<textarea"].iter().any(|open| head.starts_with(open))
}

/// The text of the heading in `lines`.
pub(super) fn title(lines: &str) -> String {
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

/// `text[start..]` with the same length and the same blocks, but without what only matters inside a paragraph; the lines
/// that begin at `tight` become headings.
///
/// Only headings are looked for, and brackets, emphasis and the cells of long tables cost the parser much time and memory. A
/// lone `\r` becomes `\n`, because the parser does not take it for a line ending everywhere.
fn skeleton(text: &str, start: usize, tight: &[usize]) -> String {
    /// Marks of blocks stand within this many bytes of the start of a line.
    const LEAD: usize = 16;
    let text = &text[start..];
    let mut tight = tight.iter().map(|line| line - start).peekable();
    let mut bytes = text.as_bytes().to_vec();
    let mut rows = 0;
    for line in super::text_lines(text) {
        let content = &mut bytes[line.start..line.end];
        // The first two rows make a table; what stands in the others is no matter.
        let is_row =
            content.iter().take_while(|b| **b == b' ').count() < 4 && content.trim_ascii_start().starts_with(b"|");
        rows = if is_row { rows + 1 } else { 0 };
        if rows > 2 {
            content.fill(b' ');
        }
        if tight.next_if_eq(&line.start).is_some() {
            // The space takes the first byte of the first character, letters the others.
            let mut bytes = content.iter_mut().skip_while(|b| b.is_ascii());
            bytes.by_ref().take(1).for_each(|b| *b = b' ');
            bytes.for_each(|b| *b = b'a');
        }
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
    fn rows_of_tables_are_no_headings_and_hide_none() {
        for table in ["| a | b |\n|---|---|\n| # c | d |\n| e | f |\n| g | h |\n", "| a |\n| b |\n| c |\n| d |\n"] {
            for rest in ["---\n", "===\n", "\n"] {
                let text = format!("# A\n\n{table}{rest}## B\n\nC\n---\n");
                let expected = [(1, "A".to_string()), (2, "B".to_string()), (2, "C".to_string())];
                assert_eq!(titles(&text), expected, "{text}");
                assert_eq!(titles(&text.replace('\n', "\r\n")), expected, "{text}");
            }
        }
    }

    #[test]
    fn front_matter_holds_no_heading() {
        assert_eq!(titles("---\ntitle: x\n# comment\n---\n# A\n"), vec![(1, "A".to_string())]);
        assert_eq!(titles("+++\ntitle = \"x\"\n# comment\n+++\n# A\n"), vec![(1, "A".to_string())]);
    }

    #[test]
    fn headings_in_html_count_outside_code_and_lists() {
        let text = "<div align=\"center\">\n  <h1>泵<br>手册</h1>\n</div>\n\n正文\n<h2 id=\"a\">1. <b>安装</b></h2>\n说明 <h2>不是</h2>\n\n- 项\n  <h2>不是</h2>\n\n段\n\n    <h2>code</h2>\n\n```\n<h2>code</h2>\n```\n\n<!--\n<h2>不是</h2>\n-->\n";
        for ending in ["\n", "\r\n", "\r"] {
            let text = text.replace('\n', ending);
            assert_eq!(titles(&text), [(1, "泵 手册".to_string()), (2, "1. 安装".to_string())], "{ending:?}");
            let first = &headings(&text)[0];
            assert!(text[first.range.clone()].starts_with("  <h1>") && text[first.range.clone()].ends_with(ending));
        }
    }

    #[test]
    fn headings_without_a_space_have_exact_ranges() {
        let text = "前言\n##第一章 *总则*\n正文。\n- ##不是\n\n### （一）`G1` 𠮷##\n\n##（二）𠮷##\r正文\n";
        let found = headings(text);
        let said: Vec<(u8, &str)> = found.iter().map(|h| (h.level, h.title.as_str())).collect();
        assert_eq!(said, [(2, "第一章 总则"), (3, "（一）G1 𠮷##"), (2, "（二）𠮷")]);
        assert_eq!(&text[found[2].range.clone()], "##（二）𠮷##\r");
    }
}

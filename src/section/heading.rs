//! Sections along the heading skeleton of a document.
//!
//! 1. Each heading with the text up to the next heading is a node; a heading without text joins the node after it.
//! 2. Headings whose title recurs throughout the document (原因, 应用案例, Remedy) are facets of the entry above them: facets stay
//!    with their entry as long as the whole fits. All other headings start a section of their own, however short.
//! 3. What is longer than `max` is cut at articles, paragraphs or sentences into parts of `min` to `max` characters.

use std::collections::HashMap;

use super::{Section, Splitter, outline, pack};
use crate::document::markup::is_only_tags;
use crate::document::{Document, Format, Span, front_matter, join, leading_title, markdown};

/// A title that occurs at least this often names a facet.
const RECURS: usize = 3;

/// Splits along headings into sections of `min` to `max` characters; see the module for the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadingSplitter {
    /// Parts of a long section are not shorter than this many code points where its sentences allow.
    pub min: usize,
    /// Sections longer than this many code points are cut; a single sentence may exceed it.
    pub max: usize,
}

impl Default for HeadingSplitter {
    fn default() -> Self {
        Self { min: 800, max: 1500 }
    }
}

impl Splitter for HeadingSplitter {
    fn split(&self, document: &Document) -> Vec<Section> {
        let text = document.text.as_str();
        let nodes = facets(nodes(document));
        let mut sections = Vec::new();
        let mut from = 0;
        let mut chars = 0;
        for group in self.group(text, nodes) {
            let part = &text[from..group.end];
            let mut cut_at = vec![];
            // Bytes bound characters from above, so short parts need no counting.
            if part.len() > self.max {
                cut_at = pack::cuts(part, document.format, self.min, self.max);
            }
            cut_at.push(part.len());
            let mut start = 0;
            for cut in cut_at {
                let length = part[start..cut].chars().count();
                if length > 0 {
                    sections.push(Section { span: Span::new(chars, chars + length), heading_path: group.path.clone() });
                }
                (start, chars) = (cut, chars + length);
            }
            from = group.end;
        }
        sections
    }
}

/// A heading with its text, or text without a heading.
#[derive(Debug)]
struct Node {
    end: usize,
    level: u8,
    path: Vec<String>,
    has_body: bool,
    titled: bool,
    facet: bool,
}

/// Nodes that make one section (before long ones are cut).
struct Group {
    end: usize,
    path: Vec<String>,
}

impl HeadingSplitter {
    /// Joins headings without text to the next node, and facets to their entry while all of it fits.
    fn group(&self, text: &str, nodes: Vec<Node>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut from = 0;
        // Length of the last group, and whether facets may still join it.
        let mut length = 0;
        let mut pending_facet: Option<bool> = None;
        let last = nodes.len().saturating_sub(1);
        for (index, node) in nodes.into_iter().enumerate() {
            let facet = *pending_facet.get_or_insert(node.facet);
            if !node.has_body && index < last {
                continue;
            }
            pending_facet = None;
            let own = text[from..node.end].chars().count();
            let joins = facet && length > 0 && length + own <= self.max;
            match groups.last_mut() {
                Some(group) if joins => {
                    let common = group.path.iter().zip(&node.path).take_while(|(a, b)| a == b).count();
                    group.path.truncate(common);
                    group.end = node.end;
                    length += own;
                }
                _ => {
                    groups.push(Group { end: node.end, path: node.path });
                    length = own;
                }
            }
            from = groups.last().map_or(0, |group| group.end);
        }
        groups
    }
}

/// The nodes of the document; together they tile it.
fn nodes(document: &Document) -> Vec<Node> {
    let text = document.text.as_str();
    let (marks, titles) = match document.format {
        Format::PlainText => (outline::plain(text), 0),
        Format::Markdown => {
            let headings = markdown::headings(text);
            let titles =
                Some(leading_title(text, &headings)).filter(|&n| n > 0 && join(&headings[..n]) == document.title);
            let marks = headings.into_iter().map(|h| outline::Mark {
                start: h.range.start,
                body: h.range.end,
                level: h.level,
                title: Some(h.title),
            });
            (marks.collect(), titles.unwrap_or(0))
        }
    };
    let mut nodes = Vec::with_capacity(marks.len() + 1);
    let first = marks.first().map_or(text.len(), |mark| mark.start);
    let matter = match document.format {
        Format::Markdown => front_matter(text).map_or(0, |range| range.end),
        Format::PlainText => 0,
    };
    if first > 0 {
        let has_body = !is_only_tags(&text[matter.min(first)..first]);
        nodes.push(Node { end: first, level: 0, path: Vec::new(), has_body, titled: false, facet: false });
    }
    let mut open: Vec<(u8, String)> = Vec::new();
    for (index, mark) in marks.iter().enumerate() {
        let end = marks.get(index + 1).map_or(text.len(), |next| next.start);
        open.retain(|(level, _)| *level < mark.level);
        if let Some(title) = &mark.title
            && index >= titles
            && !title.is_empty()
            && *title != document.title
        {
            open.push((mark.level, title.clone()));
        }
        nodes.push(Node {
            end,
            level: mark.level,
            path: open.iter().map(|(_, title)| title.clone()).collect(),
            has_body: !is_only_tags(&text[mark.body..end]),
            titled: mark.title.is_some(),
            facet: false,
        });
    }
    nodes
}

/// Marks the nodes that are facets of an entry above them: their title, without its number, recurs in the document, or
/// they lie below such a node.
fn facets(mut nodes: Vec<Node>) -> Vec<Node> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let named = |node: &Node| node.titled.then(|| node.path.last().map(|title| key(title))).flatten();
    for name in nodes.iter().filter_map(named) {
        *counts.entry(name).or_default() += 1;
    }
    let names: Vec<Option<String>> = nodes.iter().map(named).collect();
    // Levels of the entry and of the outermost facet that are open.
    let (mut entry, mut facet): (Option<u8>, Option<u8>) = (None, None);
    for (node, name) in nodes.iter_mut().zip(names) {
        if facet.is_some_and(|level| node.level <= level) {
            facet = None;
        }
        let recurs = name.is_some_and(|name| counts.get(&name).is_some_and(|&count| count >= RECURS));
        if facet.is_some() {
            node.facet = true;
        } else if recurs && node.titled && entry.is_some_and(|level| node.level > level) {
            node.facet = true;
            facet = Some(node.level);
        } else {
            entry = node.titled.then_some(node.level);
        }
    }
    nodes
}

/// A title without numbering, punctuation and case, for counting. Empty titles never recur.
fn key(title: &str) -> String {
    let name: String = title.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    if name.is_empty() { title.to_string() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, format: Format) -> Vec<(String, String)> {
        let document = Document::from_text("doc.md", text.to_string(), format);
        HeadingSplitter::default()
            .split(&document)
            .into_iter()
            .map(|s| (s.heading_path.join(" > "), document.text.slice(s.span).to_string()))
            .collect()
    }

    fn paths(text: &str, format: Format) -> Vec<String> {
        split(text, format).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn entries_stay_apart_however_short_and_empty_headings_join_the_next() {
        let text = "# 报警手册\n\n## 第三章 报警\n\n### 5001：过热\n\n停机。\n\n### 5002：过流\n\n断电。\n";
        assert_eq!(paths(text, Format::Markdown), ["第三章 报警 > 5001：过热", "第三章 报警 > 5002：过流"]);
        assert!(split(text, Format::Markdown)[0].1.starts_with("# 报警手册"));
    }

    #[test]
    fn facets_stay_with_their_entry_while_they_fit() {
        let entry =
            |n: usize, cause: &str| format!("# {n}：超限\n\n说明。\n\n## 原因\n\n{cause}\n\n## 处理\n\n复位。\n\n");
        let long = "编码器电缆断线。".repeat(220);
        let text = entry(1, "过载。") + &entry(2, "断线。") + &entry(3, &long);
        let found = split(&text, Format::Markdown);
        assert_eq!(found[0].0, "1：超限");
        assert!(found[0].1.contains("过载。") && found[0].1.contains("复位。"));
        assert_eq!(found[1].0, "2：超限");
        assert_eq!(found[2].0, "3：超限");
        assert!(found[3..].iter().any(|(path, _)| path == "3：超限 > 原因"));
    }

    #[test]
    fn statutes_are_cut_between_articles() {
        let mut text = String::from("# 条例\n\n## 第一章 总则\n\n");
        for article in 1..40 {
            text += &format!(
                "第{article}条 {}\n\n（一）{}；\n\n",
                "单位应当落实责任制。".repeat(6),
                "未落实的处以罚款".repeat(3)
            );
        }
        let found = split(&text, Format::Markdown);
        assert!(found.len() > 2);
        for (path, part) in &found[1..] {
            assert_eq!(path, "第一章 总则");
            assert!(part.starts_with('第') && part.chars().count() <= 1500, "{part}");
        }
        assert!(found[..found.len() - 1].iter().all(|(_, part)| part.chars().count() >= 700));
    }

    #[test]
    fn text_before_the_first_heading_is_a_section_of_its_own() {
        assert_eq!(paths("前言。\n\n# 甲\n\n文。\n\n# 乙\n\n文。\n", Format::Markdown), ["", "甲", "乙"]);
        assert_eq!(paths("\n\n# 甲\n\n文。\n\n# 乙\n\n文。\n", Format::Markdown), ["甲", "乙"]);
        assert_eq!(paths("---\ntitle: 手册\n---\n\n# 甲\n\n文。\n", Format::Markdown), ["甲"]);
        assert_eq!(paths("# 甲\n## 乙\n### 丙\n", Format::Markdown), ["乙 > 丙"]);
        assert!(paths("", Format::Markdown).is_empty());
        assert_eq!(paths("  \n", Format::PlainText), [""]);
    }

    #[test]
    fn headings_in_html_and_without_a_space_start_sections() {
        let text = "<div align=\"center\">\n\n<h1>泵</h1>\n</div>\n\n<h2>安装</h2>\n文。\n\n##维护\n文。\n";
        assert_eq!(paths(text, Format::Markdown), ["安装", "维护"]);
        let found = split("前言<br>。\n\n<h2>甲</h2>乙<h2>丙</h2>\n", Format::Markdown);
        assert_eq!(found[1], ("甲".to_owned(), "<h2>甲</h2>乙<h2>丙</h2>\n".to_owned()));
    }

    #[test]
    fn plain_text_closes_a_titled_rule_at_the_next_rule() {
        let rule = "The fee must be paid in full within twenty days of the date on which it becomes due, in cash.";
        let text = format!(
            "1.\tFEES\r\n1.1\tGeneral\r\n1.1.1\tTiming\r\n{rule}\r\n1.1.2\t{rule}\r\n1.1.3\t{rule}\r\n1.2\tRelief\r\n{rule}\r\n"
        );
        assert_eq!(
            paths(&text, Format::PlainText),
            ["1. FEES > 1.1 General > 1.1.1 Timing", "1. FEES > 1.1 General", "1. FEES > 1.2 Relief"]
        );
    }
}

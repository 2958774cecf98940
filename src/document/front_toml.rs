//! Front matter in TOML, as static site generators write it. What is no TOML is passed over: one wrong line must not cost
//! the title.

use super::collapse;
use super::front::Entry;

/// Bytes of a value that goes over lines; a longer one is not read on.
const LONGEST: usize = 16 * 1024;

/// `key = value` or the head of a table.
pub(super) fn is_entry(line: &str) -> bool {
    let line = line.trim();
    (line.starts_with('[') && line.ends_with(']')) || key_value(line).is_some()
}

fn key_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let quoted = key.len() > 1 && ['"', '\''].iter().any(|&q| key.starts_with(q) && key.ends_with(q));
    (!key.is_empty() && (quoted || !key.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))))
        .then_some((key, value.trim()))
}

/// The entries outside tables, in order; the items of an array become one value. Tables and dotted keys are left out.
pub(super) fn entries(lines: &[&str]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at).map(|line| line.trim()) {
        if line.starts_with('[') {
            break;
        }
        at += 1;
        let Some((key, value)) = key_value(line).filter(|_| !line.starts_with('#')) else { continue };
        let mut value = value.to_owned();
        // A text or an array goes on until it is closed.
        let mut read = Value::read(&value);
        while let (None, Some(next)) = (&read, lines.get(at).filter(|_| value.len() < LONGEST)) {
            value.push('\n');
            value.push_str(next);
            at += 1;
            read = Value::read(&value);
        }
        if !key.contains('.') {
            let value = read.map(|read| read.text).unwrap_or_default();
            entries.push(Entry { key: key.trim_matches(['"', '\'']).to_owned(), value, plain: None });
        }
    }
    entries
}

/// A value that was read, and how many bytes it took.
struct Value {
    text: String,
    length: usize,
}

impl Value {
    /// `None` where the value is not closed.
    fn read(source: &str) -> Option<Self> {
        /// Deepest array in an array.
        const DEEPEST: usize = 8;
        Self::nested(source, DEEPEST)
    }

    fn nested(source: &str, depth: usize) -> Option<Self> {
        for (mark, escapes) in [("\"\"\"", true), ("'''", false), ("\"", true), ("'", false)] {
            if let Some(inside) = source.strip_prefix(mark) {
                let Some(end) = close(inside, mark, escapes) else {
                    // Only texts between three quotes may hold a line end.
                    let end = inside.find('\n').unwrap_or(inside.len());
                    let open = || Self { text: collapse(&inside[..end]), length: end + mark.len() };
                    return (mark.len() == 1).then(open);
                };
                let text = if escapes { unescape(&inside[..end]) } else { inside[..end].to_owned() };
                return Some(Self { text: collapse(&text), length: end + 2 * mark.len() });
            }
        }
        if source.starts_with('[') && depth > 0 {
            return Self::array(source, depth);
        }
        let end = source.find(['#', ',', ']', '\n']).unwrap_or(source.len());
        let text = if source.starts_with('{') { String::new() } else { collapse(&source[..end]) };
        Some(Self { text, length: end })
    }

    fn array(source: &str, depth: usize) -> Option<Self> {
        let mut items: Vec<String> = Vec::new();
        let mut at = 1;
        loop {
            let rest = source.get(at..)?;
            at += rest.len() - rest.trim_start().len();
            match source.as_bytes().get(at)? {
                b']' => return Some(Self { text: items.join(", "), length: at + 1 }),
                b',' => at += 1,
                b'#' => at += source[at..].find('\n')?,
                _ => {
                    let item = Self::nested(&source[at..], depth - 1)?;
                    at += item.length.max(1);
                    items.extend(Some(item.text).filter(|text| !text.is_empty()));
                }
            }
        }
    }
}

/// Where the text in front of the closing `mark` ends.
fn close(inside: &str, mark: &str, escapes: bool) -> Option<usize> {
    let mut at = 0;
    while at < inside.len() {
        if mark.len() == 1 && inside.as_bytes()[at] == b'\n' {
            return None;
        } else if escapes && inside.as_bytes()[at] == b'\\' {
            at += 2;
        } else if inside.as_bytes()[at..].starts_with(mark.as_bytes()) {
            return Some(at);
        } else {
            at += 1;
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n' | 't' | 'r' | 'f' | 'b' | '\n') => out.push(' '),
            Some(width @ ('u' | 'U')) => {
                let digits: String = chars.clone().take(if width == 'u' { 4 } else { 8 }).collect();
                match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
                    Some(c) => {
                        out.push(c);
                        chars.by_ref().take(digits.len()).for_each(drop);
                    }
                    None => out.push(width),
                }
            }
            other => out.extend(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Document, Format};

    fn read(text: &str) -> Vec<(String, String)> {
        let lines: Vec<&str> = text.lines().collect();
        entries(&lines).into_iter().map(|entry| (entry.key, entry.value)).collect()
    }

    #[test]
    fn texts_arrays_and_dates_are_read() {
        let text = "# 注\ntitle = \"泵 \\\"XH\\\" \\u624b册\"\ndate = 2021-06-10T08:00:00Z # by hand\npath = 'a\\b'\ntags = [\n  \"a, b\", # first\n  'c]',\n  [1, 2],\n]\nintro = \"\"\"\n断电。\n验电 \"\"。\"\"\"\na.b = 1\n\"发布 日期\" = \"2020\"\ndraft = false\nrest = { x = 1 }\n[extra]\nkey = 1\n";
        let expected = [
            ("title", "泵 \"XH\" 手册"),
            ("date", "2021-06-10T08:00:00Z"),
            ("path", "a\\b"),
            ("tags", "a, b, c], 1, 2"),
            ("intro", "断电。 验电 \"\"。"),
            ("发布 日期", "2020"),
            ("draft", "false"),
            ("rest", ""),
        ];
        assert_eq!(read(text), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_is_no_toml_costs_no_other_entry() {
        let found = read("title: x\nno entry\n= y\ntitle = \"手册\"\nopen = \"[a\nb = [1,\n\\");
        assert_eq!(found.first().map(|(_, value)| value.as_str()), Some("手册"));
        read(&format!("a = {}", "[".repeat(10_000)));
        read("a = \"\\u\\");
    }

    #[test]
    fn title_and_date_of_the_document_come_from_it() {
        let text = "+++\r\ntitle = \"液压冲床\"\r\nlastmod = 2024-05-01\r\n+++\r\n\r\n# 概述\r\n\r\n正文。\r\n";
        let document = Document::from_text("a.md", text.to_owned(), Format::Markdown);
        assert_eq!(document.title, "液压冲床");
        assert_eq!(document.date.map(|date| date.to_string()).as_deref(), Some("2024-05-01"));
    }
}

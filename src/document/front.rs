//! Front matter: entries about a document at the start of its text, in YAML between `---` or in TOML between `+++`.

use std::ops::Range;

use super::notation::one_line;
use super::{Format, collapse, front_toml, text_lines};

/// Most lines of front matter.
const LINES: usize = 200;

/// The bytes of front matter at the start of `text`, including its closing line. It needs an entry, because a document may
/// as well start with a thematic break.
pub(crate) fn front_matter(text: &str) -> Option<Range<usize>> {
    let mut lines = text_lines(text);
    let first = lines.next()?;
    let toml = match text[first.start..first.end].trim_end() {
        "---" => false,
        "+++" => true,
        _ => return None,
    };
    let mut has_key = false;
    for line in lines.take(LINES) {
        let content = &text[line.start..line.end];
        let closes = if toml { content.trim_end() == "+++" } else { matches!(content.trim_end(), "---" | "...") };
        if closes {
            return has_key.then_some(0..line.next);
        }
        if !has_key && !content.trim().is_empty() && !content.trim_start().starts_with('#') {
            if !(if toml { front_toml::is_entry(content) } else { is_entry(content) }) {
                return None;
            }
            has_key = true;
        }
    }
    None
}

/// `key: value`
fn is_entry(line: &str) -> bool {
    let key = line.split(':').next().unwrap_or_default().trim();
    line.contains(':') && !key.is_empty() && !key.contains(char::is_whitespace)
}

/// The `key: value` entries of front matter in order, keys in lower case with `_` between words, values on one line without
/// quotes. The items of a list become one value with `, ` between them. Nested keys are left out.
pub(super) fn entries(text: &str, format: Format) -> Vec<(String, String)> {
    let found = raw(text, format).into_iter().flatten();
    found.map(|entry| (key_of(&entry.key), entry.value)).collect()
}

/// The title that front matter gives.
pub(super) fn title(text: &str) -> Option<String> {
    let entries = raw(text, Format::Markdown)?;
    let title = entries.into_iter().find(|entry| key_of(&entry.key) == "title")?;
    // What follows a `#` is a comment by the letter of YAML, but hardly in a title.
    Some(title.plain.unwrap_or(title.value)).filter(|title| !title.is_empty())
}

/// An entry as it is written.
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: String,
    /// The whole of a value without quotes.
    pub(super) plain: Option<String>,
}

fn raw(text: &str, format: Format) -> Option<Vec<Entry>> {
    if format != Format::Markdown {
        return None;
    }
    let matter = &text[front_matter(text)?];
    let lines: Vec<&str> = text_lines(matter).map(|line| &matter[line.start..line.end]).collect();
    let inner = lines.get(1..lines.len().saturating_sub(1)).unwrap_or_default();
    Some(if lines.first().is_some_and(|first| first.starts_with('+')) {
        front_toml::entries(inner)
    } else {
        yaml(inner)
    })
}

fn yaml(lines: &[&str]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some((key, value)) = line.split_once([':', '：']) else { continue };
        if key.is_empty() || key.starts_with([' ', '\t', '#', '-']) {
            continue;
        }
        // What is indented, and a list even where it is not, belongs to the key above.
        let aside = |line: &&str| line.trim().is_empty() || line.starts_with('#');
        let belongs = |line: &&&str| aside(line) || line.starts_with([' ', '\t']) || line.starts_with("- ");
        let more = lines[at..].iter().take_while(belongs).count();
        let block: Vec<&str> =
            lines[at..at + more].iter().copied().filter(|line| !aside(line)).map(str::trim).collect();
        at += more;
        let plain = collapse(value);
        let is_plain = block.is_empty() && !value.trim_start().starts_with(['"', '\'', '[', '|', '>']);
        entries.push(Entry { key: key.to_owned(), value: value_of(value, &block), plain: is_plain.then_some(plain) });
    }
    entries
}

/// A value that begins behind its key and may go on in the lines below.
fn value_of(first: &str, block: &[&str]) -> String {
    let first = first.trim();
    if let Some(mark) = block_scalar(first) {
        // Folded lines are one paragraph; literal ones stay apart.
        return if mark == '>' { one_line(&block.join("\n")) } else { collapse(&block.join(" ")) };
    }
    let lines = || block.iter().copied().filter(|line| !line.starts_with('#'));
    let items: Vec<String> = lines().filter_map(|line| line.strip_prefix("- ")).map(scalar).collect();
    let goes_on = !without_comment(first).is_empty() && items.is_empty();
    let value = if goes_on {
        scalar(&std::iter::once(first).chain(lines()).collect::<Vec<_>>().join("\n"))
    } else {
        scalar(first)
    };
    std::iter::once(value).chain(items).filter(|value| !value.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `|`, `>-`, `|2 # note`: the text stands in the lines below.
fn block_scalar(value: &str) -> Option<char> {
    let mark = value.chars().next().filter(|c| matches!(c, '|' | '>'))?;
    let rest = without_comment(&value[1..]);
    rest.chars().all(|c| matches!(c, '+' | '-' | '0'..='9')).then_some(mark)
}

fn without_comment(value: &str) -> &str {
    let value = if value.starts_with('#') { "" } else { value };
    value.split(" #").next().unwrap_or_default().trim()
}

/// A key as it is compared: `Last-Updated` and `last updated` are the same.
pub(crate) fn key_of(key: &str) -> String {
    let key = collapse(key.trim().trim_matches(['"', '\''])).to_lowercase();
    key.replace([' ', '-'], "_")
}

/// A value without quotes, brackets of a list and comment, on one line.
fn scalar(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inside) = value.strip_prefix(quote)
            && let Some(end) = inside.rfind(quote)
        {
            return one_line(&inside[..end]);
        }
    }
    let value = without_comment(value);
    match value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        Some(list) => list.split(',').map(scalar).filter(|item| !item.is_empty()).collect::<Vec<_>>().join(", "),
        None => one_line(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        entries(text, Format::Markdown)
    }

    fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
        expected.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec()
    }

    #[test]
    fn entries_are_plain_keys_and_values() {
        let text = "---\r\ntitle: \"泵: 手册\"\r\n# remark: no\r\nLast Updated: 2021-06-10 # by hand\r\n类型：手册\r\ntags: [a, 'b c']\r\nmodels:\r\n  - XH-500\r\n- XH-600\r\nnested:\r\n  key: left out\r\nnote: |\r\n---\r\nbody: no\r\n";
        let expected = pairs([
            ("title", "泵: 手册"),
            ("last_updated", "2021-06-10"),
            ("类型", "手册"),
            ("tags", "a, b c"),
            ("models", "XH-500, XH-600"),
            ("nested", ""),
            ("note", ""),
        ]);
        assert_eq!(read(text), expected);
        assert!(entries(text, Format::PlainText).is_empty() && read("# x\n").is_empty());
    }

    #[test]
    fn values_go_on_in_the_lines_below() {
        let text = "---\ntitle: >-\n  液压\n  冲床\n\n  XH-500 manual\nsummary: |2\n  断电。\n  key: 验电\nlong: first\n  second # rest\nlist: [a,\n  b]\nquoted: \"c\n  d\"\n---\n";
        let expected = pairs([
            ("title", "液压冲床 XH-500 manual"),
            ("summary", "断电。 key: 验电"),
            ("long", "first second"),
            ("list", "a, b"),
            ("quoted", "c d"),
        ]);
        assert_eq!(read(text), expected);
        assert_eq!(title(text).as_deref(), Some("液压冲床 XH-500 manual"));
        assert_eq!(title("---\ntitle: 故障 #5001\n---\n").as_deref(), Some("故障 #5001"));
        assert_eq!(title("---\ntitle:\nb: c\n---\n"), None);
    }

    #[test]
    fn front_matter_needs_an_entry_and_an_end() {
        assert_eq!(front_matter("---\r\ntitle: x\r\n---\r\ntext"), Some(0..20));
        assert_eq!(front_matter("+++\ntitle = \"x\"\n+++\ntext"), Some(0..20));
        assert_eq!(front_matter("+++\n# c\n[extra]\na = 1\n+++"), Some(0..25));
        for text in
            ["---\n\n正文没有键\n\n---\n", "---\ntitle: never closed\n", "+++\ntitle: x\n+++\n", "+++\n\na = 1\n---\n"]
        {
            assert_eq!(front_matter(text), None, "{text}");
        }
    }
}

//! The entries of front matter.

use super::{Format, collapse, front_matter, text_lines};

/// The `key: value` lines of YAML front matter in order, keys in lower case with `_` between words, values without
/// quotes. The items of a list become one value with `, ` between them. Nested keys and blocks of text are left out.
pub(super) fn entries(text: &str, format: Format) -> Vec<(String, String)> {
    let range = match format {
        Format::Markdown => front_matter(text),
        Format::PlainText => None,
    };
    let Some(yaml) = range.map(|range| &text[range]) else { return Vec::new() };
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in text_lines(yaml).skip(1) {
        let line = &yaml[line.start..line.end];
        if matches!(line.trim_end(), "---" | "...") {
            break;
        }
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            if let Some((_, value)) = entries.last_mut() {
                if !value.is_empty() {
                    value.push_str(", ");
                }
                value.push_str(&scalar(item));
            }
            continue;
        }
        let Some((key, value)) = line.split_once(':').or_else(|| line.split_once('：')) else { continue };
        if key.is_empty() || key.starts_with([' ', '\t', '#']) {
            continue;
        }
        entries.push((key_of(key), scalar(value)));
    }
    entries
}

/// A key as it is compared: `Last-Updated` and `last updated` are the same.
pub(crate) fn key_of(key: &str) -> String {
    let key = collapse(key.trim().trim_matches(['"', '\''])).to_lowercase();
    key.replace([' ', '-'], "_")
}

/// A value without quotes, brackets of a list and comment.
fn scalar(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inside) = value.strip_prefix(quote)
            && let Some(end) = inside.rfind(quote)
        {
            return collapse(&inside[..end]);
        }
    }
    let value = value.split(" #").next().unwrap_or_default().trim();
    if matches!(value, "|" | ">" | "|-" | ">-") {
        return String::new();
    }
    match value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        Some(list) => list.split(',').map(scalar).collect::<Vec<_>>().join(", "),
        None => collapse(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_plain_keys_and_values() {
        let text = "---\r\ntitle: \"泵: 手册\"\r\n# remark: no\r\nLast Updated: 2021-06-10 # by hand\r\n类型：手册\r\ntags: [a, 'b c']\r\nmodels:\r\n  - XH-500\r\n  - XH-600\r\nnested:\r\n  key: left out\r\nnote: |\r\n---\r\nbody: no\r\n";
        let expected = [
            ("title", "泵: 手册"),
            ("last_updated", "2021-06-10"),
            ("类型", "手册"),
            ("tags", "a, b c"),
            ("models", "XH-500, XH-600"),
            ("nested", ""),
            ("note", ""),
        ];
        let found = entries(text, Format::Markdown);
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert!(entries(text, Format::PlainText).is_empty() && entries("# x\n", Format::Markdown).is_empty());
    }
}

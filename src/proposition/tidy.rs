//! Statements as they are kept: white space and list marks of the output format taken off, and references of a document to
//! itself (本法, 本条例) replaced by its title, which is certain without a model.

use crate::proposition::lexis::is_ideograph;

/// Names by which a Chinese legal or technical text calls itself.
const SELF: &[&str] = &[
    "法典", "法", "条例", "條例", "规定", "規定", "办法", "辦法", "细则", "規則", "规则", "标准", "標準", "规范",
    "規範", "手册", "手冊",
];

/// Cleans a written statement.
pub(crate) fn tidy(statement: &str, title: &str) -> String {
    let flat = squeeze(statement);
    let mut s = flat.as_str();
    for mark in ["- ", "* ", "• ", "· "] {
        s = s.strip_prefix(mark).unwrap_or(s);
    }
    name_itself(s.trim(), title)
}

/// White space runs become one space, or nothing between ideographs when they hold a line break (a wrapped line).
pub(crate) fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = String::new();
    for c in text.chars() {
        if c.is_whitespace() {
            gap.push(c);
            continue;
        }
        if !gap.is_empty() {
            let wrapped = gap.contains(['\n', '\r']) && out.chars().last().is_some_and(is_ideograph) && is_ideograph(c);
            if !out.is_empty() && !wrapped {
                out.push(' ');
            }
            gap.clear();
        }
        out.push(c);
    }
    out
}

/// Replaces `本法` by `《title》` when the title ends in that word: then the document means itself.
fn name_itself(statement: &str, title: &str) -> String {
    let title = title.trim();
    let Some(kind) = SELF.iter().filter(|k| title.ends_with(**k)).max_by_key(|k| k.len()) else {
        return statement.to_owned();
    };
    if title.contains(['《', '》', '\n']) && title.starts_with('《') {
        return statement.to_owned();
    }
    // A code calls itself 本法 as well.
    let own: &[&str] = if *kind == "法典" { &["本法典", "本法"] } else { &[kind] };
    let mut out = statement.to_owned();
    for name in own {
        let call = if name.starts_with('本') { (*name).to_owned() } else { format!("本{name}") };
        if *name == "本法" || call == "本法" {
            out = replace_unless(
                &out,
                "本法",
                title,
                &["本法院", "本法人", "本法庭", "基本法", "日本法", "成本法", "样本法"],
            );
        } else {
            out = replace_unless(&out, &call, title, &[]);
        }
    }
    out
}

/// Replaces every `word` by `《title》` except where it is part of one of `longer`.
fn replace_unless(text: &str, word: &str, title: &str, longer: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let inside = longer.iter().any(|l| {
            l.find(word).is_some_and(|offset| {
                at >= offset && rest.is_char_boundary(at - offset) && rest[at - offset..].starts_with(l)
            })
        });
        out.push_str(&rest[..at]);
        if inside {
            out.push_str(word);
        } else {
            out.push('《');
            out.push_str(title);
            out.push('》');
        }
        rest = &rest[at + word.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_means_itself_is_named() {
        assert_eq!(tidy("依照本法第五条处理。", "压力设备安全法"), "依照《压力设备安全法》第五条处理。");
        assert_eq!(tidy("符合本条例规定的费用", "起重设备条例"), "符合《起重设备条例》规定的费用");
        assert_eq!(tidy("依照本法第五条处理。", "起重设备手册"), "依照本法第五条处理。");
        assert_eq!(tidy("本法院受理", "压力设备安全法"), "本法院受理");
    }

    #[test]
    fn wrapped_lines_are_joined_as_the_script_asks() {
        assert_eq!(tidy("  - 关闭\n 阀门 ", ""), "关闭阀门");
        assert_eq!(tidy("close\n the  valve", ""), "close the valve");
    }
}

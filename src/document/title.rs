//! The title of a document.

use super::markdown::{self, Heading, collapse};
use super::{Format, front, text_lines};

/// Bytes at the start of a document in which the title is looked for.
const HEAD: usize = 256 * 1024;
/// A line longer than this many columns is no title.
const COLUMNS: usize = 100;

/// The title that the text itself gives: front matter, then level-1 headings, then (in plain text) a first line that
/// stands alone.
pub(super) fn find(text: &str, format: Format) -> Option<String> {
    match format {
        Format::Markdown => {
            if let Some(title) = front::title(text) {
                return Some(title);
            }
            let headings = markdown::headings(text);
            match leading_title(text, &headings) {
                0 => None,
                count => Some(join(&headings[..count])),
            }
        }
        Format::PlainText => first_line(text),
    }
}

/// The name of a file without folders and extension.
pub(super) fn stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match file.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !extension.contains(' ') => stem.to_string(),
        _ => file.to_string(),
    }
}

/// How many of the first headings make up the document's title.
///
/// One level-1 heading that is the only one is the title; so are several level-1 headings that follow each other without
/// text in between (a code and its book). Where further level-1 headings follow, they are the chapters or entries of the
/// document: then only a first one without text of its own is a title, and a first one with text is just the first entry.
pub(crate) fn leading_title(text: &str, headings: &[Heading]) -> usize {
    if headings.first().is_none_or(|h| h.level != 1 || h.title.is_empty()) {
        return 0;
    }
    let is_bare = |i: usize| {
        headings.get(i + 1).is_some_and(|next| text[headings[i].range.end..next.range.start].trim().is_empty())
    };
    let mut run = 1;
    while run < headings.len() && headings[run].level == 1 && is_bare(run - 1) {
        run += 1;
    }
    if !headings[run..].iter().any(|h| h.level == 1) {
        let columns: usize = headings[..run].iter().map(|h| width(&h.title)).sum();
        return if run <= 3 && columns <= COLUMNS { run } else { 1 };
    }
    usize::from(run > 1)
}

/// The first headings as one line.
pub(crate) fn join(headings: &[Heading]) -> String {
    headings.iter().map(|h| h.title.as_str()).collect::<Vec<_>>().join(" ")
}

/// A first line that is short, ends without sentence punctuation and stands apart from what follows.
fn first_line(text: &str) -> Option<String> {
    let mut lines = text_lines(head(text)).skip_while(|line| text[line.start..line.end].trim().is_empty());
    let line = lines.next()?;
    let raw = &text[line.start..line.end];
    let title = collapse(raw);
    let stands_alone = match lines.next() {
        None => false,
        Some(next) => {
            let follower = &text[next.start..next.end];
            let indented = raw.starts_with("   ") || raw.starts_with('\u{3000}') || raw.starts_with("\t\t");
            follower.trim().is_empty() || follower.trim_start().starts_with('第') || indented
        }
    };
    let ends_like_a_sentence = title.ends_with(['。', '；', '，', '：', '！', '.', ';', ',', ':', '、']);
    let words = title.chars().filter(|c| c.is_alphabetic()).count();
    (stands_alone && !ends_like_a_sentence && words >= 2 && width(&title) <= COLUMNS && !title.contains('\u{3002}'))
        .then_some(title)
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(HEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn width(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(text: &str) -> Option<String> {
        find(text, Format::Markdown)
    }

    #[test]
    fn front_matter_comes_before_headings() {
        assert_eq!(markdown("---\ntitle: \"泵 手册\"\n---\n# 其他\n").as_deref(), Some("泵 手册"));
        assert_eq!(markdown("---\ndate: 1\n---\n# 其他\n正文\n").as_deref(), Some("其他"));
    }

    #[test]
    fn consecutive_first_headings_are_one_title() {
        assert_eq!(
            markdown("# 中华人民共和国民法典\n\n# 人格权编\n\n日期\n\n## 第一章\n").as_deref(),
            Some("中华人民共和国民法典 人格权编")
        );
    }

    #[test]
    fn entries_on_level_one_are_not_the_title() {
        assert_eq!(markdown("# 5001：超限\n\n说明\n\n# 5002：过流\n\n说明\n"), None);
        assert_eq!(markdown("# Guide\n\n# Setup\n\ntext\n\n# Use\n\ntext\n").as_deref(), Some("Guide"));
        assert_eq!(markdown("## 只有二级\n"), None);
    }

    #[test]
    fn plain_text_needs_a_line_that_stands_alone() {
        let plain = |text| find(text, Format::PlainText);
        assert_eq!(plain("\r\n  BX-9000 操作手册\r\n\r\n1 范围\r\n").as_deref(), Some("BX-9000 操作手册"));
        assert_eq!(plain("设备应在断电后检修。\n\n正文"), None);
        assert_eq!(plain("a line\nof a paragraph that goes on"), None);
        assert_eq!(stem("zh/手册 v1.2.md"), "手册 v1.2");
        assert_eq!(stem(".hidden"), ".hidden");
    }
}

//! What a PDF file says about itself: its outline (ISO 32000-1, 12.3.3), page labels (12.4.2), title and dates (14.3).

use std::collections::{HashMap, HashSet};

use hayro_syntax::Pdf;
use hayro_syntax::object::{Array, DateTime, Dict, Name, ObjRef, Object, ObjectIdentifier, Stream};

use super::source::{text_of, text_string, unpack};
use crate::document::{Budget, DEEPEST};
use crate::error::Result;

/// Entries of an outline that are read.
const MOST: usize = 20_000;

/// A bookmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) title: String,
    /// 0 outermost.
    pub(super) depth: u8,
    /// Index of the page that it leads to, where it says so itself.
    pub(super) page: Option<usize>,
}

pub(super) fn catalog(pdf: &Pdf) -> Dict<'_> {
    pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default()
}

/// The bookmarks, from the first to the last.
pub(super) fn outline(pdf: &Pdf) -> Vec<Entry> {
    let pages: HashMap<ObjectIdentifier, usize> =
        pdf.pages().iter().enumerate().filter_map(|(n, page)| Some((page.raw().obj_id()?, n))).collect();
    let mut out = Vec::new();
    let mut seen = HashSet::new();
    let Some(root) = catalog(pdf).get::<Dict<'_>>("Outlines") else { return out };
    // Siblings still to come, for each depth.
    let mut open: Vec<Option<ObjRef>> = vec![root.get_ref("First")];
    while let Some(next) = open.last_mut() {
        let Some(id) = next.take().map(ObjectIdentifier::from).filter(|id| out.len() < MOST && seen.insert(*id)) else {
            open.pop();
            continue;
        };
        let Some(item) = pdf.xref().get::<Dict<'_>>(id) else { continue };
        *next = item.get_ref("Next");
        let depth = u8::try_from(open.len() - 1).unwrap_or(u8::MAX);
        if let Some(title) = text_of(&item, "Title") {
            out.push(Entry { title, depth, page: page_of(&item, &pages) });
        }
        if open.len() < DEEPEST {
            open.push(item.get_ref("First"));
        }
    }
    out
}

fn page_of(item: &Dict<'_>, pages: &HashMap<ObjectIdentifier, usize>) -> Option<usize> {
    let target = item.get::<Array<'_>>("Dest").or_else(|| item.get::<Dict<'_>>("A")?.get::<Array<'_>>("D"))?;
    let first = target.raw_iter().next()?.as_obj_ref()?;
    pages.get(&ObjectIdentifier::from(first)).copied()
}

/// The label of every page: its number where the file names none.
pub(super) fn labels(pdf: &Pdf) -> Vec<String> {
    let count = pdf.pages().len();
    let mut ranges: Vec<(usize, Style)> = Vec::new();
    if let Some(tree) = catalog(pdf).get::<Dict<'_>>("PageLabels") {
        number_tree(&tree, 0, &mut ranges);
    }
    ranges.sort_by_key(|(first, _)| *first);
    (0..count)
        .map(|page| {
            let after = ranges.partition_point(|(first, _)| *first <= page);
            let label =
                after.checked_sub(1).and_then(|at| ranges.get(at)).map(|(first, style)| style.label(page - first));
            label.filter(|label| !label.is_empty()).unwrap_or_else(|| (page + 1).to_string())
        })
        .collect()
}

struct Style {
    prefix: String,
    kind: u8,
    start: u64,
}

impl Style {
    fn label(&self, offset: usize) -> String {
        let number = self.start.saturating_add(offset as u64);
        let number = match self.kind {
            b'D' => number.to_string(),
            b'r' => roman(number).to_lowercase(),
            b'R' => roman(number),
            b'a' => letters(number).to_lowercase(),
            b'A' => letters(number),
            _ => String::new(),
        };
        format!("{}{number}", self.prefix)
    }
}

fn number_tree(node: &Dict<'_>, depth: usize, out: &mut Vec<(usize, Style)>) {
    if depth > 16 || out.len() > MOST {
        return;
    }
    let mut key = None;
    for entry in node.get::<Array<'_>>("Nums").unwrap_or_default().iter::<Object<'_>>() {
        match (entry, key.take()) {
            (Object::Number(number), _) => key = usize::try_from(number.as_i64()).ok(),
            (Object::Dict(style), Some(first)) => {
                let kind = style.get::<Name<'_>>("S").and_then(|name| name.first().copied()).unwrap_or(0);
                let start = style.get::<i64>("St").and_then(|start| u64::try_from(start).ok()).unwrap_or(1);
                let prefix = text_of(&style, "P").unwrap_or_default();
                out.push((first, Style { prefix, kind, start }));
            }
            _ => {}
        }
    }
    for kid in node.get::<Array<'_>>("Kids").unwrap_or_default().iter::<Dict<'_>>().take(1000) {
        number_tree(&kid, depth + 1, out);
    }
}

fn roman(mut number: u64) -> String {
    if number > 4999 {
        return number.to_string();
    }
    let mut out = String::new();
    for (value, sign) in [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ] {
        while number >= value {
            out.push_str(sign);
            number -= value;
        }
    }
    out
}

/// A to Z, then AA to ZZ.
fn letters(number: u64) -> String {
    let Some(n) = number.checked_sub(1) else { return String::new() };
    let letter = char::from(b'A' + (n % 26) as u8);
    std::iter::repeat_n(letter, (n / 26 + 1).min(20) as usize).collect()
}

/// The title that an author gave, from `/Info` or else the XMP packet.
///
/// # Errors
/// The budget is used up.
pub(super) fn title(pdf: &Pdf, budget: &mut Budget) -> Result<Option<String>> {
    let info = pdf.metadata().title.as_deref().map(text_string).filter(|title| is_title(title));
    if info.is_some() {
        return Ok(info);
    }
    let Some(stream) = catalog(pdf).get::<Stream<'_>>("Metadata") else { return Ok(None) };
    let packet = unpack(&stream, budget)?.data;
    let packet = String::from_utf8_lossy(&packet);
    Ok(xmp_title(&packet).filter(|title| is_title(title)))
}

/// The content of `dc:title`, which holds one alternative per language.
fn xmp_title(packet: &str) -> Option<String> {
    let inner = packet.split_once("<dc:title")?.1.split_once("</dc:title>")?.0;
    let item = inner.split_once("<rdf:li")?.1.split_once('>')?.1.split_once('<')?.0;
    let mut text = item.to_string();
    for (mark, c) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
        text = text.replace(mark, c);
    }
    Some(text)
}

/// False for what programs put there by themselves: file names, `Microsoft Word - x.doc`, `untitled`.
fn is_title(title: &str) -> bool {
    let title = title.trim();
    let lower = title.to_lowercase();
    let has_extension = lower.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (2..=5).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
            && extension.chars().any(|c| c.is_ascii_alphabetic())
            && !stem.ends_with(' ')
    });
    let is_default = ["untitled", "document", "(anonymous)", "无标题", "未命名", "title", "slide 1", "幻灯片 1", "none"]
            .iter()
            .any(|name| lower == *name)
            || ["microsoft word", "microsoft powerpoint", "microsoft excel", "untitled", "文档", "新建"]
                .iter()
                .any(|start| lower.starts_with(start))
        // What a template asks for.
        || ["（填写", "(填写", "填写", "请输入", "标准名称", "点击此处", "单击此处", "[", "<"]
            .iter()
            .any(|start| lower.starts_with(start));
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 2 && !has_extension && !is_default && !title.contains(['\\', '\u{fffd}']) && title.chars().count() <= 200
}

/// Author and date as entries of the document.
pub(super) fn metadata(pdf: &Pdf) -> Vec<(&'static str, String)> {
    let info = pdf.metadata();
    let mut out = Vec::new();
    if let Some(date) = info.modification_date.or(info.creation_date).and_then(|date| day(&date)) {
        out.push(("date", date));
    }
    if let Some(author) = info.author.as_deref().map(text_string).filter(|author| is_author(author)) {
        out.push(("author", author));
    }
    out
}

/// False for what programs write when nobody told them a name.
fn is_author(name: &str) -> bool {
    let name = name.trim().trim_matches(['(', ')']).to_lowercase();
    !name.is_empty()
        && !["anonymous", "unspecified", "unknown", "user", "administrator", "admin"].contains(&name.as_str())
}

fn day(date: &DateTime) -> Option<String> {
    let date = crate::document::Date::new(i32::from(date.year), Some(date.month), Some(date.day))?;
    (date.year >= 1980).then(|| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_programs_are_none() {
        for title in ["Microsoft Word - x.doc", "manual_v2.indd", "untitled", "无标题", "C:\\a\\b", "-", "12"] {
            assert!(!is_title(title), "{title}");
        }
        for title in ["操作手册", "ACOPOS D1 Err18报警说明_20241220", "Guide to Rev. 2", "Standards v1.2"] {
            assert!(is_title(title), "{title}");
        }
    }

    #[test]
    fn page_labels_are_written_in_their_style() {
        let style = |kind, start| Style { prefix: "A-".into(), kind, start };
        assert_eq!(style(b'r', 4).label(0), "A-iv");
        assert_eq!(style(b'R', 1989).label(0), "A-MCMLXXXIX");
        assert_eq!(style(b'a', 27).label(0), "A-aa");
        assert_eq!(style(b'D', 1).label(6), "A-7");
    }

    #[test]
    fn the_title_of_an_xmp_packet_is_found() {
        let packet = "<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">A &amp; B</rdf:li></rdf:Alt></dc:title>";
        assert_eq!(xmp_title(packet).as_deref(), Some("A & B"));
    }
}

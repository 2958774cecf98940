//! Styles with all that they take from the styles they are based on (ISO/IEC 29500-1, 17.7).

use std::collections::HashMap;

use crate::document::xml::{Element, Space, is_on};

/// Styles that may be based on each other; real files have a handful, and a ring ends here.
const CHAIN: usize = 64;

/// One style as the file has it.
#[derive(Debug, Clone, Default)]
struct Style {
    /// In lower case.
    name: String,
    based_on: Option<String>,
    outline: Option<u8>,
    num: Option<String>,
    level: Option<usize>,
    hidden: Option<bool>,
    bold: Option<bool>,
}

/// What a paragraph or run gets from its style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Resolved {
    /// 0 to 8 for a heading.
    pub(super) outline: Option<u8>,
    /// Id of the numbering.
    pub(super) num: Option<String>,
    /// Level that the style itself names.
    pub(super) level: Option<usize>,
    pub(super) hidden: bool,
    pub(super) bold: bool,
    /// A line of a table of contents, of figures or of an index.
    pub(super) contents: bool,
    /// The title of the document.
    pub(super) title: bool,
    /// The style and those it is based on, nearest first.
    pub(super) chain: Vec<String>,
}

/// The styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    default: Option<String>,
    resolved: HashMap<String, Resolved>,
}

impl Styles {
    /// Reads `w:styles`.
    pub(super) fn read(root: Element<'_>) -> Self {
        let mut styles = Self::default();
        for element in root.all(Space::Word, "style") {
            let Some(id) = element.attribute(Space::Word, "styleId") else { continue };
            let is_default = element.attribute(Space::Word, "default").is_some_and(|v| is_on(Some(v)));
            if is_default && element.attribute(Space::Word, "type") == Some("paragraph") {
                styles.default = Some(id.to_string());
            }
            styles.styles.insert(id.to_string(), Style::read(element));
        }
        styles
    }

    /// What the style `id` gives; that of the default paragraph style for `None`.
    pub(super) fn get(&mut self, id: Option<&str>) -> Resolved {
        let Some(id) = id.filter(|id| self.styles.contains_key(*id)).or(self.default.as_deref()) else {
            return Resolved::default();
        };
        if let Some(resolved) = self.resolved.get(id) {
            return resolved.clone();
        }
        let resolved = self.resolve(id);
        self.resolved.insert(id.to_string(), resolved.clone());
        resolved
    }

    /// What a character style says about a run: hidden, bold.
    pub(super) fn character(&mut self, id: &str) -> (Option<bool>, Option<bool>) {
        let mut next = self.styles.get(id);
        let (mut hidden, mut bold) = (None, None);
        for _ in 0..CHAIN {
            let Some(style) = next else { break };
            hidden = hidden.or(style.hidden);
            bold = bold.or(style.bold);
            next = style.based_on.as_ref().and_then(|id| self.styles.get(id));
        }
        (hidden, bold)
    }

    fn resolve(&self, id: &str) -> Resolved {
        let mut out = Resolved::default();
        let (mut hidden, mut bold, mut named, mut outline) = (None, None, None, None);
        let mut next = Some(id);
        while let Some((id, style)) = next.and_then(|id| Some((id, self.styles.get(id)?))) {
            out.chain.push(id.to_string());
            outline = outline.or(style.outline);
            named = named.or_else(|| heading_level(&style.name));
            out.num = out.num.or_else(|| style.num.clone());
            out.level = out.level.or(style.level);
            hidden = hidden.or(style.hidden);
            bold = bold.or(style.bold);
            out.contents |= is_contents(&style.name);
            out.title |= matches!(style.name.as_str(), "title" | "标题" | "標題" | "文档标题");
            if out.chain.len() >= CHAIN {
                break;
            }
            next = style.based_on.as_deref();
        }
        out.outline = outline.or(named).filter(|&level| level < 9 && !out.contents);
        out.title &= out.outline.is_none_or(|level| level == 0);
        (out.hidden, out.bold) = (hidden.unwrap_or(false), bold.unwrap_or(false));
        out
    }
}

impl Style {
    fn read(element: Element<'_>) -> Self {
        let value = |e: Element<'_>, name: &str| {
            e.child(Space::Word, name).and_then(|e| Some(e.attribute(Space::Word, "val")?.to_string()))
        };
        let paragraph = element.child(Space::Word, "pPr");
        let run = element.child(Space::Word, "rPr");
        let numbering = paragraph.and_then(|p| p.child(Space::Word, "numPr"));
        Self {
            name: value(element, "name").unwrap_or_default().trim().to_lowercase(),
            based_on: value(element, "basedOn"),
            outline: paragraph.and_then(|p| value(p, "outlineLvl")?.parse().ok()),
            num: numbering.and_then(|n| value(n, "numId")),
            level: numbering.and_then(|n| value(n, "ilvl")?.parse().ok()),
            hidden: run.and_then(|run| toggle(run, "vanish")),
            bold: run.and_then(|run| toggle(run, "b")),
        }
    }
}

/// The value of an on/off property; `None` where it is not there.
pub(super) fn toggle(properties: Element<'_>, name: &str) -> Option<bool> {
    properties.child(Space::Word, name).map(|e| is_on(e.attribute(Space::Word, "val")))
}

/// The level, from 0, that the name of a heading style gives in the languages that programs write it in.
fn heading_level(name: &str) -> Option<u8> {
    const WORDS: &[&str] = &[
        "heading",
        "标题",
        "標題",
        "überschrift",
        "titre",
        "título",
        "titolo",
        "заголовок",
        "見出し",
        "제목",
        "kop",
        "rubrik",
        "nagłówek",
        "outline",
    ];
    let rest = WORDS.iter().find_map(|word| name.strip_prefix(word))?.trim();
    let level: u8 = rest.parse().ok()?;
    (1..=9).contains(&level).then(|| level - 1)
}

/// Whether the style is for entries of a list of contents. Those for its title are none: templates of standards use the same one
/// for the title above the text (`目次、标准名称标题`).
fn is_contents(name: &str) -> bool {
    if ["标题", "標題", "heading"].iter().any(|word| name.contains(word)) {
        return false;
    }
    const WORDS: &[&str] = &["toc ", "目录", "目錄", "table of figures", "table of authorities", "index ", "目次"];
    name == "toc" || WORDS.iter().any(|word| name.starts_with(word))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::budget::Budget;
    use crate::document::xml::Tree;

    #[test]
    fn styles_inherit_and_rings_end() {
        let xml = "<w:styles xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'>\
            <w:style w:type='paragraph' w:styleId='1'><w:name w:val='标题 2'/></w:style>\
            <w:style w:type='paragraph' w:styleId='own'><w:name w:val='条'/><w:basedOn w:val='1'/><w:pPr><w:numPr>\
            <w:ilvl w:val='2'/></w:numPr></w:pPr></w:style>\
            <w:style w:type='paragraph' w:styleId='body'><w:name w:val='正文条'/><w:basedOn w:val='own'/><w:pPr>\
            <w:outlineLvl w:val='9'/></w:pPr></w:style>\
            <w:style w:type='paragraph' w:styleId='name'><w:name w:val='目次、标准名称标题'/><w:pPr>\
            <w:outlineLvl w:val='0'/></w:pPr></w:style>\
            <w:style w:type='paragraph' w:styleId='entry'><w:name w:val='目次、索引正文'/></w:style>\
            <w:style w:type='paragraph' w:styleId='a'><w:name w:val='toc 1'/><w:basedOn w:val='b'/></w:style>\
            <w:style w:type='paragraph' w:styleId='b'><w:basedOn w:val='a'/><w:rPr><w:vanish/></w:rPr></w:style></w:styles>";
        let tree = Tree::parse(xml, "styles", &mut Budget::default()).unwrap();
        let mut styles = Styles::read(tree.root());
        let own = styles.get(Some("own"));
        assert_eq!((own.outline, own.level, own.chain), (Some(1), Some(2), vec!["own".to_string(), "1".to_string()]));
        assert_eq!(styles.get(Some("body")).outline, None);
        assert_eq!((styles.get(Some("name")).outline, styles.get(Some("name")).contents), (Some(0), false));
        assert!(styles.get(Some("entry")).contents);
        let ring = styles.get(Some("a"));
        assert!(ring.contents && ring.hidden);
        assert_eq!(styles.get(Some("none")), Resolved::default());
    }
}

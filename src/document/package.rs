//! Office packages: a ZIP archive whose parts point to each other (Open Packaging Conventions, ISO/IEC 29500-2).
//!
//! Nothing is ever written to disk and names are only looked up, so absolute, doubled or climbing names do no harm. What is
//! unpacked comes off the budget as it is unpacked, whatever the archive says about its size.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::budget::Budget;
use super::xml::{self, Space, Tree};
use crate::error::{Error, Kind, Result};

/// An opened archive.
pub(crate) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Folded name to entry. Of two entries with the same name the first counts.
    index: HashMap<String, usize>,
    /// How often each entry was unpacked.
    reads: HashMap<usize, usize>,
}

/// One pointer from a part to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation {
    pub(crate) id: String,
    /// Last word of its type, such as `styles`; the same in transitional and strict files.
    pub(crate) kind: String,
    /// Name of the part, or an address when `external`.
    pub(crate) target: String,
    pub(crate) external: bool,
}

/// The pointers of one part.
#[derive(Debug, Clone, Default)]
pub(crate) struct Relations(pub(crate) Vec<Relation>);

impl Relations {
    /// The target with this id, if it is a part.
    pub(crate) fn by_id(&self, id: &str) -> Option<&Relation> {
        self.0.iter().find(|relation| relation.id == id && !relation.external)
    }

    /// The first target of this kind.
    pub(crate) fn by_kind(&self, kind: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|relation| relation.kind == kind && !relation.external)
            .map(|relation| relation.target.as_str())
    }
}

impl<'a> Package<'a> {
    /// # Errors
    /// The bytes are not a whole ZIP archive.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| {
            Error::new(Kind::Format, "the file is damaged or cut off")
                .expected("a whole ZIP archive, as .docx, .xlsx and .pptx files are")
                .because(e)
                .hint("open it in its program and save it again, or fetch it again")
        })?;
        let mut index = HashMap::new();
        for at in 0..archive.len() {
            if let Some(Ok(name)) = archive.name_for_index(at) {
                index.entry(normal(&name)).or_insert(at);
            }
        }
        Ok(Self { archive, index, reads: HashMap::new() })
    }

    /// True when there is a part of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.index.contains_key(&normal(name))
    }

    /// The bytes of a part; `None` if there is none of this name.
    ///
    /// # Errors
    /// The part is damaged, encrypted, packed by an unknown method, larger than the budget, or asked for too often: a file
    /// of a few kilobytes can show one chart a million times.
    pub(crate) fn part(&mut self, name: &str, budget: &mut Budget) -> Result<Option<Vec<u8>>> {
        const PIECE: u64 = 256 * 1024;
        /// Programs write a part for every place where it is shown.
        const MOST: usize = 16;
        let Some(&at) = self.index.get(&normal(name)) else { return Ok(None) };
        let reads = self.reads.entry(at).or_default();
        *reads += 1;
        if *reads > MOST {
            return Err(Error::new(Kind::Format, "a part of the file is used too often")
                .place(name)
                .expected(format!("at most {MOST} times")));
        }
        let mut entry = self.archive.by_index(at).map_err(|e| unreadable(name, e))?;
        let mut bytes = Vec::new();
        loop {
            let before = bytes.len();
            entry.by_ref().take(PIECE).read_to_end(&mut bytes).map_err(|e| unreadable(name, ZipError::Io(e)))?;
            if bytes.len() == before {
                return Ok(Some(bytes));
            }
            budget.spend((bytes.len() - before) as u64)?;
        }
    }

    /// The XML of a part in memory; `None` if there is none of this name.
    ///
    /// # Errors
    /// As for [`Package::part`] and [`Tree::parse`].
    pub(crate) fn tree(&mut self, name: &str, budget: &mut Budget) -> Result<Option<Tree>> {
        let Some(bytes) = self.part(name, budget)? else { return Ok(None) };
        Tree::parse(&xml::decode(&bytes, name)?, name, budget).map(Some)
    }

    /// The pointers of `part`; of the package itself for `""`.
    ///
    /// # Errors
    /// As for [`Package::tree`].
    pub(crate) fn relations(&mut self, part: &str, budget: &mut Budget) -> Result<Relations> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = if folder.is_empty() { format!("_rels/{file}.rels") } else { format!("{folder}/_rels/{file}.rels") };
        let Some(tree) = self.tree(&name, budget)? else { return Ok(Relations::default()) };
        let mut relations = Vec::new();
        for element in tree.root().all(Space::PackageRelationships, "Relationship") {
            let get = |name| element.attribute(Space::None, name).unwrap_or_default();
            let external = get("TargetMode").eq_ignore_ascii_case("external");
            let target = if external { get("Target").to_string() } else { resolve(folder, get("Target")) };
            let kind = get("Type").rsplit('/').next().unwrap_or_default().to_string();
            relations.push(Relation { id: get("Id").to_string(), kind, target, external });
        }
        Ok(Relations(relations))
    }

    /// The part that the package is about; `usual` where the pointer to it is missing.
    ///
    /// # Errors
    /// There is no such part.
    pub(crate) fn main(&mut self, usual: &str, budget: &mut Budget) -> Result<String> {
        let relations = self.relations("", budget)?;
        let named = relations.by_kind("officeDocument").filter(|name| self.has(name)).map(str::to_string);
        match named {
            Some(name) => Ok(name),
            None if self.has(usual) => Ok(usual.to_string()),
            None => Err(Error::new(Kind::Format, "the archive is not an office document")
                .expected(format!("a part `{usual}` or a pointer to the main part"))
                .found("neither")),
        }
    }

    /// The title and the date of the last change (`YYYY-MM-DD`) that the package says about itself.
    pub(crate) fn properties(&mut self, budget: &mut Budget) -> Properties {
        let mut properties = Properties::default();
        let name = self.relations("", budget).ok().and_then(|r| r.by_kind("core-properties").map(str::to_string));
        // Properties are a by-work: a document without them, or with broken ones, is read all the same.
        let Ok(Some(tree)) = self.tree(name.as_deref().unwrap_or("docProps/core.xml"), budget) else {
            return properties;
        };
        for element in tree.root().children() {
            let text = element.text().trim().to_string();
            match (element.space(), element.name()) {
                (Space::DublinCore, "title") => properties.title = real_title(&text).map(str::to_string),
                (Space::Terms, "modified") => properties.modified = day(&text),
                _ => {}
            }
        }
        properties
    }
}

/// What a package says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Properties {
    pub(crate) title: Option<String>,
    pub(crate) modified: Option<String>,
}

/// The day of an ISO 8601 time.
fn day(text: &str) -> Option<String> {
    let day = text.get(..10)?;
    day.parse::<super::Date>().ok().filter(|date| date.year > 1980).map(|date| date.to_string())
}

/// `title` unless programs wrote it: names of files and of new documents, single letters.
pub(crate) fn real_title(title: &str) -> Option<&str> {
    const EMPTY: &[&str] = &[
        "untitled",
        "无标题",
        "無標題",
        "标题",
        "title",
        "powerpoint 演示文稿",
        "powerpoint presentation",
        "演示文稿",
        "presentation",
        "幻灯片",
        "slide",
        "文档",
        "document",
        "工作簿",
        "book",
        "sheet",
        "新建",
        "new",
    ];
    const FILES: &[&str] = &[".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".wps", ".dot", ".tmp", ".rtf", ".txt"];
    let title = title.trim();
    let lower = title.to_lowercase();
    let bare = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_whitespace());
    let is_file =
        FILES.iter().any(|end| lower.ends_with(end)) || lower.starts_with("microsoft ") || lower.contains(":\\");
    let words = title.chars().filter(|c| c.is_alphanumeric()).count();
    (words >= 2 && !is_file && !EMPTY.contains(&bare)).then_some(title)
}

/// True when the start of `text` has the words of `title`, white space aside. Templates and copies leave titles of other
/// documents behind; a title that the text does not say is not believed.
pub(crate) fn says(text: &str, title: &str) -> bool {
    const START: usize = 5000;
    let words = |text: &str| text.chars().take(START).filter(|c| c.is_alphanumeric()).collect::<String>();
    let title = words(title);
    !title.is_empty() && words(text).contains(&title)
}

fn unreadable(name: &str, error: ZipError) -> Error {
    let encrypted = matches!(&error, ZipError::UnsupportedArchive(text) if *text == ZipError::PASSWORD_REQUIRED)
        || matches!(error, ZipError::InvalidPassword);
    let base = Error::new(Kind::Format, "cannot unpack a part of the file").place(name);
    if encrypted {
        return base.found("a part behind a password").hint("save the file without a password and index it again");
    }
    base.because(error).hint("the file is damaged; open it in its program and save it again")
}

/// A name as it is looked up: no leading `/`, no `.` or `..`, letters in lower case.
fn normal(name: &str) -> String {
    resolve("", name).to_ascii_lowercase()
}

/// The part that `target` means, seen from `folder`.
fn resolve(folder: &str, target: &str) -> String {
    let target = percent_decoded(target.split('#').next().unwrap_or_default()).replace('\\', "/");
    let base = if target.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_string())
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write;

    use super::*;

    /// A package of these parts.
    pub(crate) fn zipped(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in parts {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn parts_are_found_whatever_their_names() {
        let rels = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>\
                    <Relationship Id='a' Type='http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument' Target='/Odd/%E4%B8%80.xml'/>\
                    <Relationship Id='b' Type='x/hyperlink' Target='http://a/b' TargetMode='External'/></Relationships>";
        let bytes = zipped(&[("_rels/.rels", rels), ("\\odd\\一.XML", "<a/>"), ("../../etc/x", "up")]);
        let mut package = Package::open(&bytes).unwrap();
        let budget = &mut Budget::default();
        assert_eq!(package.main("word/document.xml", budget).unwrap(), "Odd/一.xml");
        assert!(package.tree("Odd/一.xml", budget).unwrap().is_some());
        assert_eq!(package.part("etc/x", budget).unwrap().unwrap(), b"up");
        assert_eq!(package.part("none", budget).unwrap(), None);
        assert!(package.relations("", budget).unwrap().by_id("b").is_none());
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_unpacked_whole() {
        let bytes = zipped(&[("a", &"0".repeat(4 << 20))]);
        let mut package = Package::open(&bytes).unwrap();
        let mut budget = Budget::new(std::time::Duration::from_secs(9), 1 << 20);
        assert!(package.part("a", &mut budget).unwrap_err().to_string().contains("unpacks to too much"));
        assert!(Package::open(bytes.get(..bytes.len() - 30).unwrap()).is_err());
    }

    #[test]
    fn a_part_is_not_unpacked_without_end() {
        let bytes = zipped(&[("a", "b")]);
        let mut package = Package::open(&bytes).unwrap();
        let budget = &mut Budget::default();
        let read = (0..100).take_while(|_| package.part("a", budget).is_ok()).count();
        assert_eq!(read, 16);
        assert!(package.part("a", budget).unwrap_err().to_string().contains("too often"));
    }

    #[test]
    fn titles_that_programs_write_are_none() {
        for title in
            ["", "k", "文档1", "Microsoft Word - a.doc", "手册.docx", "PowerPoint 演示文稿", "Untitled", "C:\\a b"]
        {
            assert_eq!(real_title(title), None, "{title}");
        }
        assert_eq!(real_title(" 安全手册 "), Some("安全手册"));
        assert_eq!(day("2023-03-27T07:23:02Z").as_deref(), Some("2023-03-27"));
    }
}

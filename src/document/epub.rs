//! Reads EPUB publications (EPUB 3.3, and 2.0.1): the pages of the spine in order, through the HTML reader.
//!
//! A publication is a ZIP archive. `META-INF/container.xml` names the package document, whose manifest lists the files and
//! whose spine their order. The XML of both is small and flat, and is read with the HTML tokenizer, which is as tolerant as
//! reading systems are. Spine items are no pages, so there are none.

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read};

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use zip::ZipArchive;

use super::budget::Budget;
use super::decode;
use super::html;
use super::notation::{Extracted, Skipped};
use crate::error::{Error, Kind, Result};

/// Files of the package and items of the spine that are read at most.
const ITEMS: usize = 20_000;

/// Reads a publication.
///
/// # Errors
/// The file is no archive, has no package document or no spine, or costs more than the budget. A chapter that cannot be
/// read is no error but named in [`Extracted::skipped`].
pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Extracted> {
    let mut package = open(bytes)?;
    let container = text_of(&mut package, "META-INF/container.xml", budget)?;
    let roots = elements(&container);
    let root = roots.iter().find(|element| element.name == "rootfile").and_then(|element| element.get("full-path"));
    let Some(root) = root.map(str::to_string) else {
        return Err(Error::new(Kind::Format, "not an EPUB publication")
            .expected("a `rootfile` in META-INF/container.xml")
            .found("none"));
    };
    let opf = elements(&text_of(&mut package, &root, budget)?);
    let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut out = metadata(&opf);
    let encrypted = encrypted(&mut package, budget);
    let manifest: HashMap<&str, &Element> = opf
        .iter()
        .filter(|element| element.name == "item")
        .take(ITEMS)
        .filter_map(|element| Some((element.get("id")?, element)))
        .collect();
    let spine: Vec<&Element> = opf.iter().filter(|element| element.name == "itemref").take(ITEMS).collect();
    if spine.is_empty() {
        return Err(Error::new(Kind::Format, "the publication has no order of reading")
            .expected("`itemref` elements in the spine of the package document")
            .found("none"));
    }
    let mut seen = HashSet::new();
    for reference in spine {
        let id = reference.get("idref").unwrap_or_default();
        let Some(item) = manifest.get(id) else {
            out.skipped.push(Skipped { place: format!("spine item {id}"), reason: "not in the manifest".to_string() });
            continue;
        };
        let path = resolve(folder, item.get("href").unwrap_or_default());
        if !seen.insert(path.clone()) {
            continue;
        }
        // The table of contents repeats the headings.
        if item.get("properties").is_some_and(|all| all.split_whitespace().any(|one| one == "nav")) {
            out.skipped.push(Skipped { place: path, reason: "the table of contents".to_string() });
            continue;
        }
        if encrypted.contains(&path) {
            out.skipped.push(Skipped { place: path, reason: "encrypted".to_string() });
            continue;
        }
        let kind = item.get("media-type").unwrap_or_default();
        if !kind.is_empty() && !kind.contains("html") && !kind.contains("xml") {
            out.skipped.push(Skipped { place: path, reason: format!("of the type {kind}") });
            continue;
        }
        chapter(&mut package, &path, &mut out, budget)?;
    }
    Ok(out)
}

/// Reads one page of the spine and adds its text.
fn chapter(package: &mut Package<'_>, path: &str, out: &mut Extracted, budget: &mut Budget) -> Result<()> {
    let page = match unpack(package, path, budget)? {
        Ok(bytes) => html::read(&bytes, None, budget),
        Err(reason) => {
            out.skipped.push(Skipped { place: path.to_string(), reason });
            return Ok(());
        }
    };
    match page {
        Ok(page) => {
            if !out.text.is_empty() && !page.text.is_empty() {
                out.text.push('\n');
            }
            out.text.push_str(&page.text);
            let within = |part: Skipped| Skipped { place: format!("{path}, {}", part.place), reason: part.reason };
            out.skipped.extend(page.skipped.into_iter().map(within));
        }
        Err(error) => {
            // A chapter may be broken, but a budget that is used up is so for all.
            budget.check()?;
            budget.spend(0)?;
            out.skipped.push(Skipped { place: path.to_string(), reason: error.to_string() });
        }
    }
    Ok(())
}

/// An element of a small XML file: its name without prefix, its attributes, and the text up to the next tag.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Element {
    fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// The start tags of `xml` in order.
fn elements(xml: &str) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    let mut is_open = false;
    let local = |name: &[u8]| {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        name.rsplit(':').next().unwrap_or_default().to_string()
    };
    let callback = |event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                found.push(Element { name: local(name), ..Element::default() });
                is_open = true;
            }
            CallbackEvent::AttributeName { name } if is_open => {
                if let Some(element) = found.last_mut() {
                    element.attributes.push((local(name), String::new()));
                }
            }
            CallbackEvent::AttributeValue { value } if is_open => {
                if let Some((_, last)) = found.last_mut().and_then(|element| element.attributes.last_mut()) {
                    last.push_str(&String::from_utf8_lossy(value));
                }
            }
            CallbackEvent::EndTag { .. } => is_open = false,
            CallbackEvent::String { value } if is_open => {
                if let Some(element) = found.last_mut() {
                    element.text.push_str(&String::from_utf8_lossy(value));
                }
            }
            _ => {}
        }
        None
    };
    Tokenizer::new_with_emitter(xml, CallbackEmitter::new(callback)).for_each(drop);
    found
}

/// Title, authors and dates of the package document.
fn metadata(opf: &[Element]) -> Extracted {
    let mut out = Extracted::default();
    let mut add = |key: &str, value: &str| {
        let value = super::collapse(value);
        if !value.is_empty() && out.metadata.iter().all(|(known, _)| known != key) {
            out.metadata.push((key.to_string(), value));
        }
    };
    for element in opf {
        match element.name.as_str() {
            "title" if out.title.is_none() => {
                out.title = Some(super::collapse(&element.text)).filter(|title| !title.is_empty());
            }
            _ => {}
        }
    }
    for element in opf {
        match (element.name.as_str(), element.get("property").unwrap_or_default()) {
            ("meta", "dcterms:modified") => add("last_modified", &element.text),
            ("creator", _) => add("author", &element.text),
            ("publisher", _) => add("publisher", &element.text),
            ("date", _) => match element.get("event") {
                Some("modification") => add("last_modified", &element.text),
                _ => add("date", &element.text),
            },
            _ => {}
        }
    }
    out
}

/// The files that `META-INF/encryption.xml` lists. Obfuscated fonts are among them, but they are never asked for.
fn encrypted(package: &mut Package<'_>, budget: &mut Budget) -> HashSet<String> {
    let Ok(xml) = text_of(package, "META-INF/encryption.xml", budget) else { return HashSet::new() };
    let references = elements(&xml).into_iter().filter(|element| element.name == "cipherreference");
    references.filter_map(|element| Some(resolve("", element.get("uri")?))).collect()
}

/// The path in the archive that `reference` means in a file of `folder`: percent signs decoded, `..` followed.
fn resolve(folder: &str, reference: &str) -> String {
    let reference = reference.split(['#', '?']).next().unwrap_or_default();
    let mut bytes = Vec::with_capacity(reference.len());
    let mut rest = reference.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match hex.filter(|_| *first == b'%') {
            Some(byte) => (bytes.push(byte), rest = &after[2..]).0,
            None => (bytes.push(*first), rest = after).0,
        }
    }
    let reference = String::from_utf8_lossy(&bytes).into_owned();
    let base = if reference.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(reference.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The text of an XML file that has to be there.
fn text_of(package: &mut Package<'_>, path: &str, budget: &mut Budget) -> Result<String> {
    let bytes = unpack(package, path, budget)?.map_err(|reason| {
        Error::new(Kind::Format, "not an EPUB publication").expected(format!("the file {path} in it")).found(reason)
    })?;
    decode::decode(bytes).map(|decoded| decoded.text).map_err(|error| error.place(path))
}

/// An archive; the only two functions that know of ZIP follow.
type Package<'a> = ZipArchive<Cursor<&'a [u8]>>;

fn open(bytes: &[u8]) -> Result<Package<'_>> {
    ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| Error::new(Kind::Format, "not an EPUB publication").expected("a ZIP archive").because(error))
}

/// The bytes of a file, or why they cannot be had. What is unpacked is paid for while it grows, because the size that the
/// archive states may be a lie.
fn unpack(package: &mut Package<'_>, path: &str, budget: &mut Budget) -> Result<Result<Vec<u8>, String>> {
    const STEP: u64 = 256 * 1024;
    let mut file = match package.by_name(path) {
        Ok(file) => file,
        Err(zip::result::ZipError::FileNotFound) => return Ok(Err("not in the archive".to_string())),
        Err(error) => return Ok(Err(error.to_string())),
    };
    let mut bytes = Vec::new();
    loop {
        match file.by_ref().take(STEP).read_to_end(&mut bytes) {
            Ok(read) => {
                budget.spend(read as u64)?;
                if (read as u64) < STEP {
                    return Ok(Ok(bytes));
                }
            }
            Err(error) => return Ok(Err(format!("damaged: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    const CONTAINER: &str =
        "<?xml version='1.0'?><container><rootfiles><rootfile full-path='OEBPS/a.opf'/></rootfiles></container>";
    const PACKAGE: &str = "<?xml version='1.0'?><package><metadata xmlns:dc='x'><dc:title>水泵 手册</dc:title>\
        <dc:creator>张三</dc:creator><dc:date>2024-05-01</dc:date></metadata><manifest>\
        <item id='b' href='text/b%20c.xhtml' media-type='application/xhtml+xml'/>\
        <item id='a' href='../a.xhtml' media-type='application/xhtml+xml'/>\
        <item id='n' href='nav.xhtml' properties='nav' media-type='application/xhtml+xml'/>\
        <item id='e' href='e.xhtml' media-type='application/xhtml+xml'/>\
        <item id='i' href='i.png' media-type='image/png'/></manifest>\
        <spine><itemref idref='n'/><itemref idref='a'/><itemref idref='b'/><itemref idref='e'/><itemref idref='i'/>\
        <itemref idref='gone'/></spine></package>";

    fn packed(files: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn the_spine_is_read_in_order_and_omissions_are_named() {
        let bytes = packed(&[
            ("META-INF/container.xml", CONTAINER),
            ("META-INF/encryption.xml", "<encryption><enc:CipherReference URI='OEBPS/e.xhtml'/></encryption>"),
            ("OEBPS/a.opf", PACKAGE),
            (
                "a.xhtml",
                "<?xml version='1.0'?><html><head><title/></head><body><h1>一</h1><a id='x'/><p>甲</p></body></html>",
            ),
            ("OEBPS/text/b c.xhtml", "<html><body><h1>二</h1><p>乙</p></body></html>"),
            ("OEBPS/e.xhtml", "?"),
        ]);
        let out = read(&bytes, &mut Budget::default()).unwrap();
        assert_eq!(out.text, "# 一\n\n甲\n\n# 二\n\n乙\n");
        assert_eq!(out.title.as_deref(), Some("水泵 手册"));
        let expected = [("author", "张三"), ("date", "2024-05-01")];
        assert_eq!(out.metadata, expected.map(|(key, value)| (key.to_string(), value.to_string())));
        let reasons: Vec<&str> = out.skipped.iter().map(|part| part.reason.as_str()).collect();
        assert_eq!(reasons, ["the table of contents", "encrypted", "of the type image/png", "not in the manifest"]);
    }

    #[test]
    fn what_is_no_publication_is_an_error() {
        let message = |bytes: &[u8]| read(bytes, &mut Budget::default()).unwrap_err().to_string();
        assert!(message(b"PK no").contains("ZIP"));
        assert!(message(&packed(&[("x", "y")])).contains("container.xml"));
        let empty = packed(&[("META-INF/container.xml", CONTAINER), ("OEBPS/a.opf", "<package/>")]);
        assert!(message(&empty).contains("order of reading"));
    }

    #[test]
    fn an_archive_that_unpacks_to_too_much_is_an_error() {
        let long = " ".repeat(8 << 20);
        let bytes = packed(&[("META-INF/container.xml", &long)]);
        let mut budget = Budget::new(std::time::Duration::from_secs(60), 1 << 20);
        assert!(read(&bytes, &mut budget).unwrap_err().to_string().contains("too much data"));
    }
}

//! XML as the parts of office packages use it: namespaces resolved, depth and memory bounded, no document types.
//!
//! [`Events`] reads a part from front to back; [`Tree`] keeps one in memory, with the alternatives of markup compatibility
//! (ISO/IEC 29500-3) settled already. Names are compared by namespace, never by prefix, and the transitional and the strict
//! variant of a namespace are the same [`Space`].

mod tree;

use std::borrow::Cow;

use quick_xml::NsReader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event as Raw};
use quick_xml::name::{Namespace, ResolveResult};

pub(crate) use tree::{Element, Tree};

use super::budget::{Budget, DEEPEST};
use crate::error::{Error, Kind, Result};

/// A namespace that a reader asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// No namespace, as most attributes.
    None,
    /// WordprocessingML.
    Word,
    /// Office math markup.
    Math,
    /// DrawingML main.
    Drawing,
    /// Charts.
    Chart,
    /// SmartArt.
    Diagram,
    /// SpreadsheetML.
    Sheet,
    /// PresentationML.
    Presentation,
    /// `r:id` attributes.
    Relationships,
    /// Relationship parts.
    PackageRelationships,
    /// Markup compatibility.
    Compatibility,
    /// Dublin Core elements.
    DublinCore,
    /// Dublin Core terms.
    Terms,
    /// Vector markup of old drawings.
    Vml,
    /// Office extensions of vector markup.
    Office,
    /// `xml:space` and the like.
    Xml,
    /// OpenDocument office.
    OdfOffice,
    /// OpenDocument table.
    OdfTable,
    /// OpenDocument text.
    OdfText,
    /// Any other.
    Other,
}

fn space_of(uri: &str) -> Space {
    if let Some(name) = uri.strip_prefix("urn:oasis:names:tc:opendocument:xmlns:") {
        return match name {
            "office:1.0" => Space::OdfOffice,
            "table:1.0" => Space::OdfTable,
            "text:1.0" => Space::OdfText,
            _ => Space::Other,
        };
    }
    let strict = "http://purl.oclc.org/ooxml/";
    let transitional = "http://schemas.openxmlformats.org/";
    let name = uri.strip_prefix(strict).or_else(|| uri.strip_prefix(transitional));
    match name {
        Some("wordprocessingml/main" | "wordprocessingml/2006/main") => Space::Word,
        Some("officeDocument/math" | "officeDocument/2006/math") => Space::Math,
        Some("drawingml/main" | "drawingml/2006/main") => Space::Drawing,
        Some("drawingml/chart" | "drawingml/2006/chart") => Space::Chart,
        Some("drawingml/diagram" | "drawingml/2006/diagram") => Space::Diagram,
        Some("spreadsheetml/main" | "spreadsheetml/2006/main") => Space::Sheet,
        Some("presentationml/main" | "presentationml/2006/main") => Space::Presentation,
        Some("officeDocument/relationships" | "officeDocument/2006/relationships") => Space::Relationships,
        Some("package/2006/relationships") => Space::PackageRelationships,
        Some("markup-compatibility/2006") => Space::Compatibility,
        _ => match uri {
            "" => Space::None,
            "http://purl.org/dc/elements/1.1/" => Space::DublinCore,
            "http://purl.org/dc/terms/" => Space::Terms,
            "urn:schemas-microsoft-com:vml" => Space::Vml,
            "urn:schemas-microsoft-com:office:office" => Space::Office,
            "http://www.w3.org/XML/1998/namespace" => Space::Xml,
            _ => Space::Other,
        },
    }
}

/// The characters of a part: UTF-8, UTF-16 by its mark, or what the declaration names.
///
/// # Errors
/// The bytes are not text in that encoding.
pub(crate) fn decode<'a>(bytes: &'a [u8], place: &str) -> Result<Cow<'a, str>> {
    let damaged = || Error::new(Kind::Format, "the XML is not in the encoding it says").place(place);
    let head = bytes.get(..bytes.len().min(120)).unwrap_or_default();
    let by_mark = encoding_rs::Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let declared = || {
        let head = String::from_utf8_lossy(head);
        let value = head.split_once("encoding=")?.1;
        let quote = value.chars().next()?;
        encoding_rs::Encoding::for_label(value.get(1..)?.split(quote).next()?.as_bytes())
    };
    let encoding = by_mark.or_else(declared).unwrap_or(encoding_rs::UTF_8);
    let (text, _, wrong) = encoding.decode(bytes);
    if wrong { Err(damaged()) } else { Ok(text) }
}

/// What [`Events`] comes upon.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// An element begins.
    Start(Tag<'a>),
    /// Characters, references resolved. Running text may come in several pieces.
    Text(Cow<'a, str>),
    /// The innermost element ends.
    End,
}

/// The start of an element.
#[derive(Debug)]
pub(crate) struct Tag<'a> {
    pub(crate) space: Space,
    start: BytesStart<'a>,
}

impl Tag<'_> {
    /// Name without prefix.
    pub(crate) fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// The value of an attribute, by its name without prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.start.attributes();
        let found = attributes.with_checks(false).flatten().find(|a| a.key.local_name().into_inner() == name)?;
        Some(value(&found))
    }
}

fn value(attribute: &quick_xml::events::attributes::Attribute<'_>) -> String {
    // A broken reference in an attribute leaves the value as it stands.
    attribute.normalized_value(XmlVersion::Implicit1_0).map_or_else(|_| attribute.value.to_string(), Cow::into_owned)
}

/// The events of one part in order.
pub(crate) struct Events<'a> {
    reader: NsReader<&'a [u8]>,
    place: String,
    depth: usize,
    count: u32,
}

impl<'a> Events<'a> {
    /// `place` names the part in errors.
    pub(crate) fn new(text: &'a str, place: &str) -> Self {
        let mut reader = NsReader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_comments = false;
        Self { reader, place: place.to_string(), depth: 0, count: 0 }
    }

    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// The XML is not well formed, lies too deep, declares a document type, or the time is up.
    pub(crate) fn next(&mut self, budget: &Budget) -> Result<Option<Event<'a>>> {
        loop {
            self.count = self.count.wrapping_add(1);
            if self.count.is_multiple_of(4096) {
                budget.check()?;
            }
            let raw = self.reader.read_event().map_err(|e| self.damaged().because(e))?;
            match raw {
                Raw::Start(start) => {
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        return Err(self
                            .damaged()
                            .expected(format!("at most {DEEPEST} elements inside each other"))
                            .found("more"));
                    }
                    let space = match self.reader.resolver().resolve_element(start.name()).0 {
                        ResolveResult::Bound(Namespace(uri)) => space_of(uri),
                        ResolveResult::Unbound => Space::None,
                        ResolveResult::Unknown(_) => Space::Other,
                    };
                    return Ok(Some(Event::Start(Tag { space, start })));
                }
                Raw::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Some(Event::End));
                }
                Raw::Text(text) => return Ok(Some(Event::Text(text.xml10_content()))),
                Raw::CData(text) => return Ok(Some(Event::Text(text.xml10_content()))),
                Raw::GeneralRef(reference) => return self.reference(&reference).map(Some),
                Raw::DocType(_) => {
                    return Err(Error::new(
                        Kind::Format,
                        "the XML declares a document type, which office files never do",
                    )
                    .place(self.place.clone()));
                }
                Raw::Eof if self.depth > 0 => return Err(self.damaged().found("an end in the middle of an element")),
                Raw::Eof => return Ok(None),
                Raw::Empty(_) | Raw::Comment(_) | Raw::Decl(_) | Raw::PI(_) => {}
            }
        }
    }

    fn reference(&self, reference: &quick_xml::events::BytesRef<'_>) -> Result<Event<'a>> {
        let resolved = match reference.resolve_char_ref() {
            Ok(Some(c)) => Some(Cow::Owned(c.to_string())),
            Ok(None) => match &**reference {
                "amp" => Some(Cow::Borrowed("&")),
                "lt" => Some(Cow::Borrowed("<")),
                "gt" => Some(Cow::Borrowed(">")),
                "quot" => Some(Cow::Borrowed("\"")),
                "apos" => Some(Cow::Borrowed("'")),
                _ => None,
            },
            Err(_) => None,
        };
        resolved
            .map(Event::Text)
            .ok_or_else(|| self.damaged().found(format!("the unknown reference `&{};`", &**reference)))
    }

    fn damaged(&self) -> Error {
        Error::new(Kind::Format, "the XML is damaged").place(self.place.clone())
    }
}

/// Whether an on/off element or attribute value is on; an absent value is.
pub(crate) fn is_on(value: Option<&str>) -> bool {
    !matches!(value, Some("0" | "false" | "off" | "none"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn other_encodings_are_read() {
        let utf16: Vec<u8> = "\u{feff}<a>一</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&utf16, "x").unwrap(), "<a>一</a>");
        let gb = [b"<?xml version='1.0' encoding='gb2312'?><a>".as_slice(), &[0xd2, 0xbb], b"</a>"].concat();
        assert!(decode(&gb, "x").unwrap().ends_with("<a>一</a>"));
        assert!(decode(b"<a>\xff</a>", "x").is_err());
    }
}

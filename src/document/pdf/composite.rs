//! Composite fonts: codes of one to four bytes, mapped to CIDs by a CMap (ISO 32000-1, 9.7).
//!
//! Chinese and Japanese files often have no `ToUnicode`: then the characters come from the code itself (the Unicode and
//! byte encodings), from Adobe's maps of CIDs to Unicode, or from the embedded font program.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, SHIFT_JIS};
use hayro_cmap::{CMap, CMapName, CidFamily, WritingMode, load_embedded};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as PdfString};

use super::characters::usual;
use super::font::{ToUnicode, bf_text, is_bold_descriptor, is_private, is_real_text, name_text};
use super::program::Program;
use super::source::unpack;
use crate::document::Budget;
use crate::error::Result;

/// One code of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Code {
    value: u32,
    pub(super) length: usize,
}

/// Text and advance.
type Character = (Option<Rc<str>>, f64);

/// A Type 0 font with its one descendant.
pub(super) struct Composite {
    encoding: CMap,
    encoding_name: String,
    to_unicode: ToUnicode,
    /// Adobe's map from CIDs to Unicode, for the collection of the font.
    collection: Option<CMap>,
    program: Program,
    /// Glyphs by CID; `None` is the identity.
    glyphs: Option<Vec<u8>>,
    widths: Widths,
    is_bold: bool,
    /// What was looked up before.
    known: RefCell<HashMap<Code, Character>>,
}

impl Composite {
    pub(super) fn load(dict: &Dict<'_>, to_unicode: ToUnicode, budget: &mut Budget) -> Result<Self> {
        let descendant = dict
            .get::<Array<'_>>("DescendantFonts")
            .and_then(|fonts| fonts.iter::<Dict<'_>>().next())
            .unwrap_or_default();
        let descriptor = descendant.get::<Dict<'_>>("FontDescriptor").unwrap_or_default();
        let (encoding, encoding_name) = load_encoding(dict, budget)?;
        let collection = collection_of(&descendant, &encoding)
            .and_then(|family| family.ucs2_cmap())
            .and_then(|name| CMap::parse(load_embedded(name)?, load_embedded));
        let glyphs = match descendant.get::<Stream<'_>>("CIDToGIDMap") {
            Some(stream) => Some(unpack(&stream, budget)?.data),
            None => None,
        };
        Ok(Self {
            encoding,
            encoding_name,
            to_unicode,
            collection,
            program: Program::load(&descriptor, budget)?,
            glyphs,
            widths: Widths::load(&descendant, budget)?,
            is_bold: is_bold_descriptor(&descriptor),
            known: RefCell::default(),
        })
    }

    pub(super) fn is_bold(&self) -> bool {
        self.is_bold
    }

    pub(super) fn is_vertical(&self) -> bool {
        self.encoding.metadata().writing_mode == Some(WritingMode::Vertical)
    }

    /// The first code of `bytes`, which are not empty.
    pub(super) fn next(&self, bytes: &[u8]) -> Code {
        let mut value = 0;
        for (at, &byte) in bytes.iter().take(4).enumerate() {
            value = value << 8 | u32::from(byte);
            let length = at + 1;
            if self.encoding.lookup_cid_code(value, length as u8).is_some() {
                return Code { value, length };
            }
        }
        // No code that the map knows: one of the length that is usual in its encoding, so that the next can be found.
        let first = bytes.first().copied().unwrap_or(0);
        let is_one = first < 0x80 && byte_encoding(&self.encoding_name).is_some();
        let length = if is_one { 1 } else { bytes.len().min(2) };
        let value = bytes.iter().take(length).fold(0, |value, &byte| value << 8 | u32::from(byte));
        Code { value, length }
    }

    /// The text and the advance of a code.
    pub(super) fn character(&self, code: Code) -> Character {
        if let Some(known) = self.known.borrow().get(&code) {
            return known.clone();
        }
        let cid = self.encoding.lookup_cid_code(code.value, code.length as u8).unwrap_or(0);
        let width = if self.is_vertical() { 1.0 } else { self.widths.of(cid) / 1000.0 };
        let found = (self.text(code, cid).map(Rc::from), width);
        self.known.borrow_mut().insert(code, found.clone());
        found
    }

    fn text(&self, code: Code, cid: u32) -> Option<String> {
        let from_collection = || self.collection.as_ref()?.lookup_bf_string(cid).map(bf_text);
        let from_program = || self.program.text_of_glyph(self.glyph(cid)?);
        self.to_unicode
            .lookup(code.value)
            .or_else(|| unicode_code(&self.encoding_name, code))
            .or_else(|| from_collection().filter(|text| is_real_text(text)))
            .or_else(|| byte_code(&self.encoding_name, code))
            .or_else(from_program)
            .or_else(|| self.private(code, cid))
            .map(usual)
    }

    /// Signs of symbol fonts that even `ToUnicode` maps to the private use area only.
    fn private(&self, code: Code, cid: u32) -> Option<String> {
        let ToUnicode::Map(map) = &self.to_unicode else { return None };
        let text = bf_text(map.lookup_bf_string(code.value).or_else(|| map.lookup_bf_string(cid))?);
        let mut characters = text.chars();
        let (c, None) = (characters.next()?, characters.next()) else { return None };
        is_private(c).then(|| super::encodings::symbol_of_private_use(c))?.map(String::from)
    }

    fn glyph(&self, cid: u32) -> Option<u32> {
        match &self.glyphs {
            Some(map) => {
                let at = usize::try_from(cid).ok()?.checked_mul(2)?;
                let pair = map.get(at..at + 2)?;
                Some(u32::from(*pair.first()?) << 8 | u32::from(*pair.last()?))
            }
            None => Some(self.program.glyph_of_cid(cid)),
        }
    }
}

fn load_encoding(dict: &Dict<'_>, budget: &mut Budget) -> Result<(CMap, String)> {
    if let Some(stream) = dict.get::<Stream<'_>>("Encoding") {
        let name = stream.dict().get::<Name<'_>>("CMapName").map(|name| name_text(&name)).unwrap_or_default();
        let data = unpack(&stream, budget)?.data;
        let map = CMap::parse(&data, load_embedded).unwrap_or_else(CMap::identity_h);
        return Ok((map, name));
    }
    let name = dict.get::<Name<'_>>("Encoding");
    let name = name.as_deref().unwrap_or(b"Identity-H");
    let map = match CMapName::from_bytes(name) {
        CMapName::IdentityH => Some(CMap::identity_h()),
        CMapName::IdentityV => Some(CMap::identity_v()),
        known => load_embedded(known).and_then(|data| CMap::parse(data, load_embedded)),
    };
    Ok((map.unwrap_or_else(CMap::identity_h), name_text(name)))
}

/// The character collection: of the descendant, else of the CMap.
fn collection_of(descendant: &Dict<'_>, encoding: &CMap) -> Option<CidFamily> {
    let info = descendant.get::<Dict<'_>>("CIDSystemInfo").unwrap_or_default();
    let string = |key: &str| info.get::<PdfString<'_>>(key).map(|s| s.as_bytes().to_vec()).unwrap_or_default();
    let family = CidFamily::from_registry_ordering(&string("Registry"), &string("Ordering"));
    if family.ucs2_cmap().is_some() {
        return Some(family);
    }
    Some(encoding.metadata().character_collection.as_ref()?.family.clone())
}

/// `UniGB-UCS2-H` and its like: the code is UTF-16.
fn unicode_code(encoding: &str, code: Code) -> Option<String> {
    if !encoding.starts_with("Uni") {
        return None;
    }
    let units = match code.length {
        2 => vec![u16::try_from(code.value).ok()?],
        4 => vec![(code.value >> 16) as u16, (code.value & 0xffff) as u16],
        _ => return None,
    };
    String::from_utf16(&units).ok().filter(|text| is_real_text(text))
}

/// `GBK-EUC-H` and its like: the code is a character of a byte encoding.
fn byte_code(encoding: &str, code: Code) -> Option<String> {
    let bytes = code.value.to_be_bytes();
    let bytes = bytes.get(4usize.checked_sub(code.length)?..)?;
    let text = byte_encoding(encoding)?.decode_without_bom_handling_and_without_replacement(bytes)?;
    is_real_text(&text).then(|| text.into_owned())
}

fn byte_encoding(name: &str) -> Option<&'static Encoding> {
    if name.starts_with("GB") {
        Some(GB18030)
    } else if name.contains("RKSJ") {
        Some(SHIFT_JIS)
    } else if name.contains("B5") {
        Some(BIG5)
    } else if name.starts_with("KSC") {
        Some(EUC_KR)
    } else if name.starts_with("EUC-") {
        Some(EUC_JP)
    } else {
        None
    }
}

/// The `W` entry: advances by CID in thousandths.
struct Widths {
    default: f64,
    single: HashMap<u32, f64>,
    /// First CID, last CID, width.
    ranges: Vec<(u32, u32, f64)>,
}

impl Widths {
    fn load(descendant: &Dict<'_>, budget: &mut Budget) -> Result<Self> {
        let default = descendant.get::<f64>("DW").unwrap_or(1000.0);
        let mut widths = Self { default, single: HashMap::new(), ranges: Vec::new() };
        let mut pending: Vec<f64> = Vec::new();
        for entry in descendant.get::<Array<'_>>("W").unwrap_or_default().iter::<Object<'_>>() {
            match entry {
                Object::Array(list) => {
                    let Some(first) = pending.pop() else { continue };
                    pending.clear();
                    for (at, width) in list.iter::<f64>().enumerate() {
                        widths.single.insert((first as u32).saturating_add(at as u32), width);
                    }
                    budget.check()?;
                }
                Object::Number(number) => {
                    pending.push(number.as_f64());
                    if let [first, last, width] = pending[..] {
                        widths.ranges.push((first as u32, last as u32, width));
                        pending.clear();
                    }
                }
                _ => {}
            }
        }
        widths.ranges.sort_by_key(|&(first, ..)| first);
        Ok(widths)
    }

    fn of(&self, cid: u32) -> f64 {
        if let Some(&width) = self.single.get(&cid) {
            return width;
        }
        let after = self.ranges.partition_point(|&(first, ..)| first <= cid);
        match after.checked_sub(1).and_then(|at| self.ranges.get(at)) {
            Some(&(_, last, width)) if cid <= last => width,
            _ => self.default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_unicode_and_byte_encodings_are_characters_themselves() {
        let code = |value, length| Code { value, length };
        assert_eq!(unicode_code("UniGB-UCS2-H", code(0x4e2d, 2)).as_deref(), Some("中"));
        assert_eq!(unicode_code("UniGB-UTF16-H", code(0xd840_dc0b, 4)).as_deref(), Some("𠀋"));
        assert_eq!(unicode_code("GBK-EUC-H", code(0x4e2d, 2)), None);
        assert_eq!(byte_code("GBK-EUC-H", code(0xd6d0, 2)).as_deref(), Some("中"));
        assert_eq!(byte_code("GBK2K-H", code(0x41, 1)).as_deref(), Some("A"));
        assert_eq!(byte_code("ETen-B5-H", code(0xa4a4, 2)).as_deref(), Some("中"));
        assert_eq!(byte_code("Identity-H", code(0x41, 1)), None);
    }
}

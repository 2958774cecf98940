//! Fonts: from the bytes of a text operator to characters and how far they advance (ISO 32000-1, 9.5 to 9.10).

use std::rc::Rc;

use hayro_cmap::{BfString, CMap, CMapName, load_embedded};
use hayro_syntax::object::{Dict, Name, Stream};

use super::composite::Composite;
use super::simple::Simple;
use super::source::unpack;
use crate::document::Budget;
use crate::error::Result;

/// A font of one resource dictionary, ready to decode strings.
pub(super) struct Font {
    kind: Kind,
    /// The name without the tag of a subset.
    pub(super) name: String,
    /// Drawn in bold, by its descriptor or its name.
    pub(super) is_bold: bool,
    /// Text runs from top to bottom.
    pub(super) is_vertical: bool,
    /// What glyph space is scaled by, other than the usual 1/1000: Type 3 fonts have a matrix of their own.
    pub(super) scale: f64,
}

enum Kind {
    Simple(Box<Simple>),
    Composite(Box<Composite>),
}

/// One character code of a string.
pub(super) struct Shown {
    /// Its characters; `None` where the font does not tell.
    pub(super) text: Option<Rc<str>>,
    /// Advance in text space units, for a font size of 1.
    pub(super) width: f64,
    /// The single byte 32, which word spacing applies to.
    pub(super) is_space_code: bool,
}

impl Font {
    /// Reads a font dictionary.
    ///
    /// # Errors
    /// The budget is used up. Damage in the font only loses characters.
    pub(super) fn load(dict: &Dict<'_>, budget: &mut Budget) -> Result<Self> {
        let subtype = dict.get::<Name<'_>>("Subtype");
        let subtype = subtype.as_deref().unwrap_or_default();
        let to_unicode = ToUnicode::load(dict, budget)?;
        let full_name = dict.get::<Name<'_>>("BaseFont").map(|name| name_text(&name)).unwrap_or_default();
        let name = without_subset_tag(&full_name).to_string();
        if subtype == b"Type0" {
            let composite = Composite::load(dict, to_unicode, budget)?;
            let is_bold = composite.is_bold() || is_bold_name(&name);
            let is_vertical = composite.is_vertical();
            return Ok(Self { kind: Kind::Composite(Box::new(composite)), name, is_bold, is_vertical, scale: 1.0 });
        }
        let descriptor = dict.get::<Dict<'_>>("FontDescriptor").unwrap_or_default();
        let is_bold = is_bold_descriptor(&descriptor) || is_bold_name(&name);
        let scale = match dict.get::<[f32; 6]>("FontMatrix") {
            Some([_, _, _, height, ..]) if subtype == b"Type3" => type3_scale(dict, f64::from(height)),
            _ => 1.0,
        };
        let simple = Simple::load(dict, &descriptor, &name, to_unicode, budget)?;
        Ok(Self { kind: Kind::Simple(Box::new(simple)), name, is_bold, is_vertical: false, scale })
    }

    /// Calls `each` for every character code of `bytes`.
    pub(super) fn decode(&self, bytes: &[u8], mut each: impl FnMut(Shown)) {
        match &self.kind {
            Kind::Simple(simple) => {
                for &byte in bytes {
                    let (text, width) = simple.character(byte);
                    each(Shown { text, width, is_space_code: byte == 32 });
                }
            }
            Kind::Composite(composite) => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let code = composite.next(rest);
                    let is_space_code = code.length == 1 && rest.first() == Some(&32);
                    let (text, width) = composite.character(code);
                    each(Shown { text, width, is_space_code });
                    rest = rest.get(code.length.max(1)..).unwrap_or_default();
                }
            }
        }
    }
}

/// How high the glyphs of a Type 3 font stand at size 1: its box where it has one, else a thousand units.
fn type3_scale(dict: &Dict<'_>, unit: f64) -> f64 {
    let height = match dict.get::<[f32; 4]>("FontBBox") {
        Some([_, bottom, _, top]) if top > bottom => f64::from(top - bottom),
        _ => 1000.0,
    };
    let scale = (unit * height).abs();
    if scale.is_finite() && (0.05..=20.0).contains(&scale) { scale } else { 1.0 }
}

/// The `ToUnicode` entry of a font.
pub(super) enum ToUnicode {
    /// There is none.
    None,
    /// Codes are UTF-16 already.
    Identity,
    /// A map from codes to text.
    Map(Box<CMap>),
}

impl ToUnicode {
    fn load(dict: &Dict<'_>, budget: &mut Budget) -> Result<Self> {
        if let Some(stream) = dict.get::<Stream<'_>>("ToUnicode") {
            let map = CMap::parse(&unpack(&stream, budget)?.data, load_embedded);
            return Ok(map.map_or(Self::None, |map| Self::Map(Box::new(map))));
        }
        let name = dict.get::<Name<'_>>("ToUnicode");
        let is_identity =
            name.is_some_and(|name| matches!(CMapName::from_bytes(&name), CMapName::IdentityH | CMapName::IdentityV));
        Ok(if is_identity { Self::Identity } else { Self::None })
    }

    /// The text of a code; `None` where the map has none, or only a placeholder.
    pub(super) fn lookup(&self, code: u32) -> Option<String> {
        let text = match self {
            Self::None => return None,
            Self::Identity => char::from_u32(code)?.to_string(),
            Self::Map(map) => bf_text(map.lookup_bf_string(code)?),
        };
        is_real_text(&text).then_some(text)
    }
}

pub(super) fn bf_text(found: BfString) -> String {
    match found {
        BfString::Char(c) => c.to_string(),
        BfString::String(text) => text,
    }
}

/// False for what stands in a map where there is no character: nothing, NUL, the replacement character, private use.
pub(super) fn is_real_text(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c != '\0' && c != '\u{fffd}' && !is_private(c))
}

pub(super) fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

pub(super) fn name_text(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) => text.to_string(),
        Err(_) => super::source::text_string(name),
    }
}

/// `ABCDEF+Name` names a subset of `Name`.
fn without_subset_tag(name: &str) -> &str {
    match name.split_once('+') {
        Some((tag, rest)) if tag.len() == 6 && tag.bytes().all(|b| b.is_ascii_uppercase()) => rest,
        _ => name,
    }
}

pub(super) fn is_bold_descriptor(descriptor: &Dict<'_>) -> bool {
    /// Bit 19: the font is to be drawn bold.
    const FORCE_BOLD: i32 = 1 << 18;
    descriptor.get::<f32>("FontWeight").is_some_and(|weight| weight >= 600.0)
        || descriptor.get::<i32>("Flags").is_some_and(|flags| flags & FORCE_BOLD != 0)
}

/// Bold by the name: Latin weights, and the sans-serif faces that Chinese documents set their headings in.
fn is_bold_name(name: &str) -> bool {
    let name = name.to_lowercase();
    ["bold", "black", "heavy", "demi", "simhei", "黑体", "heiti", "nimbusromno9l-medi", "cmbx", "-medium"]
        .iter()
        .any(|weight| name.contains(weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subset_tags_and_weights_are_told_from_names() {
        assert_eq!(without_subset_tag("ABCDEF+SimSun"), "SimSun");
        assert_eq!(without_subset_tag("A+B"), "A+B");
        assert!(is_bold_name("Arial-BoldMT") && is_bold_name("SimHei") && !is_bold_name("ArialMT"));
    }

    #[test]
    fn placeholders_are_no_text() {
        assert!(!is_real_text("\0") && !is_real_text("\u{f0b7}") && !is_real_text("") && is_real_text("ffi"));
    }
}

//! Simple fonts: one byte a character (ISO 32000-1, 9.6). What a byte means is asked of `ToUnicode`, the encoding with its
//! `Differences` and the Adobe Glyph List, and the embedded font program, in this order.

use std::rc::Rc;

use hayro_syntax::object::{Array, Dict, Name, Object};
use read_fonts::ps::agl;

use super::characters::usual;
use super::encodings::{Base, standard_width, symbol_of_private_use};
use super::font::{ToUnicode, is_real_text};
use super::program::Program;
use crate::document::Budget;
use crate::error::Result;

/// What each byte shows.
pub(super) struct Simple {
    texts: Vec<Option<Rc<str>>>,
    widths: Vec<f64>,
}

impl Simple {
    pub(super) fn load(
        dict: &Dict<'_>,
        descriptor: &Dict<'_>,
        name: &str,
        to_unicode: ToUnicode,
        budget: &mut Budget,
    ) -> Result<Self> {
        let encoding = Encoding::load(dict, name);
        let mut texts: Vec<Option<Rc<str>>> = Vec::with_capacity(256);
        let mut program = None;
        for code in 0..=255u8 {
            let mut text = to_unicode.lookup(u32::from(code));
            if text.is_none() {
                text = encoding.text(code);
            }
            if text.is_none() {
                let program = match &mut program {
                    Some(program) => program,
                    slot => slot.insert(Program::load(descriptor, budget)?),
                };
                text = encoding.name(code).and_then(|name| program.text_of_name(name));
                if text.is_none() {
                    text = program.text_of_code(code);
                }
            }
            if text.is_none() && program.as_ref().is_none_or(Program::is_missing) {
                text = encoding.implicit(code);
            }
            texts.push(text.map(usual).map(Rc::from));
        }
        Ok(Self { widths: widths(dict, descriptor, name, &texts), texts })
    }

    /// The text of a byte and its advance.
    pub(super) fn character(&self, byte: u8) -> (Option<Rc<str>>, f64) {
        let at = usize::from(byte);
        (self.texts.get(at).cloned().flatten(), self.widths.get(at).copied().unwrap_or(0.5))
    }
}

/// The `Encoding` entry.
struct Encoding {
    /// Named by the font, or known from its name.
    base: Option<Base>,
    differences: Vec<Option<String>>,
}

impl Encoding {
    fn load(dict: &Dict<'_>, name: &str) -> Self {
        let mut differences = vec![None; 256];
        let mut base = None;
        match dict.get::<Object<'_>>("Encoding") {
            Some(Object::Name(name)) => base = Base::named(&name),
            Some(Object::Dict(encoding)) => {
                base = encoding.get::<Name<'_>>("BaseEncoding").and_then(|name| Base::named(&name));
                let mut code = 0usize;
                for entry in encoding.get::<Array<'_>>("Differences").unwrap_or_default().iter::<Object<'_>>() {
                    match entry {
                        Object::Number(number) => code = usize::try_from(number.as_i64()).unwrap_or(256),
                        Object::Name(name) => {
                            if let Some(slot) = differences.get_mut(code) {
                                *slot = Some(super::font::name_text(&name));
                            }
                            code = code.saturating_add(1);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Self { base: base.or_else(|| Base::of_font(name)), differences }
    }

    fn name(&self, code: u8) -> Option<&str> {
        self.differences.get(usize::from(code))?.as_deref()
    }

    fn text(&self, code: u8) -> Option<String> {
        match self.name(code) {
            Some(name) => text_of_glyph_name(name),
            None => self.base?.text(code),
        }
    }

    /// For a font that names no encoding and embeds no program: the standard encoding.
    fn implicit(&self, code: u8) -> Option<String> {
        (self.name(code).is_none() && self.base.is_none()).then(|| Base::Standard.text(code)).flatten()
    }
}

/// The characters that a glyph name stands for by the Adobe Glyph List.
pub(super) fn text_of_glyph_name(name: &str) -> Option<String> {
    if let Some((_, text)) = TEX_NAMES.iter().find(|(known, _)| *known == name) {
        return Some((*text).to_string());
    }
    let text: String = agl::name_to_chars(name).map(|c| symbol_of_private_use(c).unwrap_or(c)).collect();
    is_real_text(&text).then_some(text)
}

/// Names in the fonts of TeX that the Adobe Glyph List lacks.
const TEX_NAMES: [(&str, &str); 18] = [
    ("circlecopyrt", "◯"),
    ("visiblespace", "␣"),
    ("mapsto", "↦"),
    ("precedes", "≺"),
    ("follows", "≻"),
    ("lscript", "ℓ"),
    ("triangleinv", "▽"),
    ("bar", "|"),
    ("openbullet", "◦"),
    ("asteriskmath", "∗"),
    ("periodcentered", "·"),
    ("radicalbig", "√"),
    ("summationdisplay", "∑"),
    ("summationtext", "∑"),
    ("integraldisplay", "∫"),
    ("integraltext", "∫"),
    ("productdisplay", "∏"),
    ("producttext", "∏"),
];

fn widths(dict: &Dict<'_>, descriptor: &Dict<'_>, name: &str, texts: &[Option<Rc<str>>]) -> Vec<f64> {
    // A Type 3 font counts its widths in its own glyph space.
    let unit = dict.get::<[f32; 6]>("FontMatrix").map_or(0.001, |matrix| f64::from(matrix[0]).abs());
    let missing = descriptor.get::<f64>("MissingWidth").unwrap_or(0.0);
    let first = dict.get::<i64>("FirstChar").and_then(|first| usize::try_from(first).ok()).unwrap_or(0);
    let given: Option<Vec<f64>> = dict.get::<Array<'_>>("Widths").map(|array| array.iter::<f64>().take(256).collect());
    (0..256usize)
        .map(|code| match &given {
            Some(given) => {
                let width = code.checked_sub(first).and_then(|at| given.get(at)).copied().unwrap_or(missing);
                width * unit
            }
            None => standard_width(name, texts.get(code).and_then(|text| text.as_deref()).unwrap_or("")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyph_names_are_read_by_the_adobe_glyph_list() {
        assert_eq!(text_of_glyph_name("Aacute").as_deref(), Some("Á"));
        assert_eq!(text_of_glyph_name("f_f_i").as_deref(), Some("ffi"));
        assert_eq!(text_of_glyph_name("uni4E2D").as_deref(), Some("中"));
        assert_eq!(text_of_glyph_name("a.sc").as_deref(), Some("a"));
        assert_eq!(text_of_glyph_name("g17"), None);
    }
}

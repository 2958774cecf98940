//! Embedded font programs, asked for the characters behind their glyphs when the PDF does not tell (ISO 32000-1, 9.9).

use std::collections::HashMap;

use hayro_syntax::object::{Dict, Stream};
use read_fonts::ps::cff::CffFontRef;
use read_fonts::ps::type1::Type1Font;
use read_fonts::tables::cmap::{CmapIterLimits, CmapSubtable, PlatformId};
use read_fonts::types::{GlyphId, GlyphId16};
use read_fonts::{FontRef, TableProvider};

use super::encodings::symbol_of_private_use;
use super::font::is_private;
use super::simple::text_of_glyph_name;
use super::source::unpack;
use crate::document::Budget;
use crate::error::Result;

/// What a font program tells about its characters.
#[derive(Default)]
pub(super) struct Program {
    is_missing: bool,
    /// Characters by glyph, from the `cmap` table read backwards and from glyph names.
    texts: HashMap<u32, String>,
    /// Glyphs by character code, from the program's own encoding.
    codes: HashMap<u8, u32>,
    /// Glyphs by name.
    names: HashMap<String, u32>,
    /// Glyph by CID, for a CID-keyed program in Compact Font Format.
    cids: HashMap<u32, u32>,
}

impl Program {
    /// Reads the font file of a descriptor. Damage leaves it empty.
    ///
    /// # Errors
    /// The budget is used up.
    pub(super) fn load(descriptor: &Dict<'_>, budget: &mut Budget) -> Result<Self> {
        for key in ["FontFile2", "FontFile3", "FontFile"] {
            let Some(stream) = descriptor.get::<Stream<'_>>(key) else { continue };
            let data = unpack(&stream, budget)?.data;
            let mut program = Self::default();
            // The key does not always tell the truth about the format.
            if program.read_sfnt(&data).is_none() && program.read_cff(&data).is_none() {
                program.read_type1(&data);
            }
            return Ok(program);
        }
        Ok(Self { is_missing: true, ..Self::default() })
    }

    /// True when no font file is embedded.
    pub(super) fn is_missing(&self) -> bool {
        self.is_missing
    }

    pub(super) fn text_of_glyph(&self, glyph: u32) -> Option<String> {
        self.texts.get(&glyph).cloned()
    }

    pub(super) fn text_of_code(&self, code: u8) -> Option<String> {
        self.text_of_glyph(*self.codes.get(&code)?)
    }

    /// For names that stand for nothing by themselves, such as `g17`.
    pub(super) fn text_of_name(&self, name: &str) -> Option<String> {
        self.text_of_glyph(*self.names.get(name)?)
    }

    /// The glyph of a CID in a CID-keyed program; the CID itself elsewhere.
    pub(super) fn glyph_of_cid(&self, cid: u32) -> u32 {
        if self.cids.is_empty() { cid } else { self.cids.get(&cid).copied().unwrap_or(0) }
    }

    fn read_sfnt(&mut self, data: &[u8]) -> Option<()> {
        let font = FontRef::new(data).ok()?;
        let glyphs = font.maxp().map_or(u32::from(u16::MAX), |maxp| u32::from(maxp.num_glyphs()));
        let limits = CmapIterLimits { max_char: 0x10_ffff, glyph_count: glyphs };
        if let Ok(cmap) = font.cmap() {
            for record in cmap.encoding_records().iter().take(32) {
                let Ok(table) = record.subtable(cmap.offset_data()) else { continue };
                match (record.platform_id(), record.encoding_id()) {
                    (PlatformId::Unicode, _) | (PlatformId::Windows, 1 | 10) => self.read_unicode(&table, limits),
                    (PlatformId::Windows, 0) => self.read_codes(&table, limits, true),
                    (PlatformId::Macintosh, 0) => self.read_codes(&table, limits, false),
                    _ => {}
                }
            }
        }
        if let Ok(post) = font.post() {
            for glyph in 0..u16::try_from(glyphs).unwrap_or(u16::MAX) {
                let Some(name) = post.glyph_name(GlyphId16::new(glyph)) else { continue };
                self.name_glyph(u32::from(glyph), name);
            }
        }
        if let Ok(cff) = font.cff() {
            self.read_cff(cff.offset_data().as_bytes());
        }
        Some(())
    }

    fn read_unicode(&mut self, table: &CmapSubtable<'_>, limits: CmapIterLimits) {
        for (character, glyph) in table.iter_with_limits(limits) {
            let Some(c) = char::from_u32(character) else { continue };
            let known = if is_private(c) { symbol_of_private_use(c) } else { Some(c) };
            let Some(c) = known else { continue };
            let glyph = glyph.to_u32();
            // Several characters may share a glyph: the plain one says more than its compatibility forms.
            let is_compatibility = |c: char| matches!(c, '\u{a0}' | '\u{ad}' | '\u{2e80}'..='\u{2fdf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..);
            match self.texts.get(&glyph).and_then(|text| text.chars().next()) {
                Some(known) if !is_compatibility(known) || is_compatibility(c) => {}
                _ => {
                    self.texts.insert(glyph, c.to_string());
                }
            }
        }
    }

    /// A table of the font's own codes; a symbol font keeps them at U+F000 or, seldom, from 0.
    fn read_codes(&mut self, table: &CmapSubtable<'_>, limits: CmapIterLimits, is_symbol: bool) {
        for (code, glyph) in table.iter_with_limits(limits) {
            let code = if is_symbol && code >= 0xf000 { code - 0xf000 } else { code };
            if let Ok(code) = u8::try_from(code) {
                if is_symbol {
                    self.codes.insert(code, glyph.to_u32());
                } else {
                    self.codes.entry(code).or_insert(glyph.to_u32());
                }
            }
        }
    }

    fn name_glyph(&mut self, glyph: u32, name: &str) {
        if name == ".notdef" {
            return;
        }
        if let Some(text) = text_of_glyph_name(name) {
            self.texts.entry(glyph).or_insert(text);
        }
        self.names.entry(name.to_string()).or_insert(glyph);
    }

    fn read_cff(&mut self, data: &[u8]) -> Option<()> {
        let font = CffFontRef::new_cff(data, 0, None).ok()?;
        let charset = font.charset()?;
        for glyph in 0..font.num_glyphs().min(u32::from(u16::MAX)) {
            let Some(sid) = charset.string_id(GlyphId::new(glyph)) else { continue };
            if font.is_cid() {
                self.cids.insert(u32::from(sid.to_u16()), glyph);
            } else if let Some(Ok(name)) = font.string(sid).map(std::str::from_utf8) {
                self.name_glyph(glyph, name);
            }
        }
        if let Some(encoding) = font.encoding() {
            for code in 0..=255 {
                if let Some(glyph) = encoding.map(code) {
                    self.codes.entry(code).or_insert(glyph.to_u32());
                }
            }
        }
        Some(())
    }

    fn read_type1(&mut self, data: &[u8]) -> Option<()> {
        let font = Type1Font::new(data).ok()?;
        for (glyph, name) in font.glyph_names() {
            self.name_glyph(glyph.to_u32(), name);
        }
        let encoding = font.encoding()?;
        for code in 0..=255 {
            if let Some(glyph) = encoding.map(code) {
                self.codes.entry(code).or_insert(glyph.to_u32());
            }
        }
        Some(())
    }
}

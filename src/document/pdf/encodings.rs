//! Tables that fonts refer to without carrying them: base encodings (ISO 32000-1, annex D) and the widths of the standard
//! 14 fonts.

use encoding_rs::{MACINTOSH, WINDOWS_1252};
use read_fonts::ps::PredefinedEncoding;

use super::simple::text_of_glyph_name;

/// An encoding that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Standard,
    Expert,
    WinAnsi,
    MacRoman,
    Symbol,
    ZapfDingbats,
    Wingdings,
}

/// Codes 32 to 126 and 160 to 254 of the Symbol font; a space where it has none, or only a piece of a large bracket.
const SYMBOL: [&str; 2] = [
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…  ↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑           〉∫⌠ ⌡         ",
];

impl Base {
    /// The value of an `Encoding` or `BaseEncoding` entry.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"WinAnsiEncoding" => Some(Self::WinAnsi),
            b"MacRomanEncoding" => Some(Self::MacRoman),
            b"StandardEncoding" => Some(Self::Standard),
            b"MacExpertEncoding" => Some(Self::Expert),
            _ => None,
        }
    }

    /// Fonts that have an encoding of their own whatever their dictionary says.
    pub(super) fn of_font(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        if name.starts_with("symbol") {
            Some(Self::Symbol)
        } else if name.contains("zapfdingbats") || name == "dingbats" {
            Some(Self::ZapfDingbats)
        } else if name.starts_with("wingdings") && !name.starts_with("wingdings2") && !name.starts_with("wingdings3") {
            Some(Self::Wingdings)
        } else {
            None
        }
    }

    /// The characters of a code.
    pub(super) fn text(self, code: u8) -> Option<String> {
        let c = match self {
            Self::Standard => return text_of_glyph_name(PredefinedEncoding::Standard.name(code)),
            Self::Expert => return text_of_glyph_name(PredefinedEncoding::Expert.name(code)),
            Self::WinAnsi => match code {
                // ISO 32000-1, annex D.2, note 5 and 6: soft hyphen and no-break space are drawn as hyphen and space.
                0xad => '-',
                0xa0 => ' ',
                _ => decoded(WINDOWS_1252, code)?,
            },
            Self::MacRoman => match code {
                0xca => ' ',
                0xdb => '¤',
                _ => decoded(MACINTOSH, code)?,
            },
            Self::Symbol => symbol(code)?,
            Self::ZapfDingbats => dingbat(code)?,
            Self::Wingdings => wingding(code)?,
        };
        Some(c.to_string())
    }
}

fn decoded(encoding: &'static encoding_rs::Encoding, code: u8) -> Option<char> {
    let bytes = [code];
    let text = encoding.decode_without_bom_handling(&bytes).0;
    text.chars().next().filter(|c| !c.is_control())
}

fn symbol(code: u8) -> Option<char> {
    let (row, at) = match code {
        32..=126 => (0, code - 32),
        160..=254 => (1, code - 160),
        _ => return None,
    };
    SYMBOL[row].chars().nth(usize::from(at)).filter(|&c| c != ' ' || code == 32)
}

/// Most codes follow the order of the Unicode block, which leaves out those that were in Unicode before.
fn dingbat(code: u8) -> Option<char> {
    let c = match code {
        0x20 => ' ',
        0x25 => '☎',
        0x2a => '☛',
        0x2b => '☞',
        0x48 => '★',
        0x6c => '●',
        0x6e => '■',
        0x73 => '▲',
        0x74 => '▼',
        0x75 => '◆',
        0x77 => '◗',
        0xa8 => '♣',
        0xa9 => '♦',
        0xaa => '♥',
        0xab => '♠',
        0xac..=0xb5 => char::from_u32(0x2460 + u32::from(code - 0xac))?,
        0xd5 => '→',
        0xd6 => '↔',
        0xd7 => '↕',
        0x21..=0x7e => char::from_u32(0x2701 + u32::from(code - 0x21))?,
        0xa1..=0xef | 0xf1..=0xfe => char::from_u32(0x2761 + u32::from(code - 0xa1))?,
        _ => return None,
    };
    Some(c)
}

/// The signs of Wingdings that documents use: bullets, boxes, ticks, arrows.
fn wingding(code: u8) -> Option<char> {
    let c = match code {
        0x20 => ' ',
        0x6c => '●',
        0x6d => '❍',
        0x6e => '■',
        0x6f | 0x71 | 0x72 => '□',
        0x70 => '◻',
        0x73 => '⬧',
        0x74 => '⧫',
        0x75 => '◆',
        0x76 => '❖',
        0x77 => '⬥',
        0x80 => '⓪',
        0x81..=0x8a => char::from_u32(0x2460 + u32::from(code - 0x81))?,
        0x8b => '⓿',
        0x8c..=0x95 => char::from_u32(0x2776 + u32::from(code - 0x8c))?,
        0x9e => '·',
        0x9f => '•',
        0xa1 => '○',
        0xa7 => '▪',
        0xa8 => '◻',
        0xaa => '✦',
        0xab => '★',
        0xb2 => '⟡',
        0xd8 => '➢',
        0xdc => '➲',
        0xdf => '←',
        0xe0 => '→',
        0xe1 => '↑',
        0xe2 => '↓',
        0xe8 => '➔',
        0xf0 => '⇨',
        0xfb => '✗',
        0xfc => '✓',
        0xfd => '☒',
        0xfe => '☑',
        0x46 => '☞',
        0x4c => '☹',
        0x4a => '☺',
        0x28 => '☎',
        0x2a => '✉',
        0x36 => '⌛',
        _ => return None,
    };
    Some(c)
}

/// Symbol fonts in office documents keep their codes at U+F000; what the code means depends on the font, but these mean
/// the same in all that are in use.
pub(super) fn symbol_of_private_use(c: char) -> Option<char> {
    let code = u32::from(c).checked_sub(0xf000).and_then(|code| u8::try_from(code).ok())?;
    match code {
        0xb7 => Some('•'),
        _ => wingding(code).or_else(|| symbol(code)),
    }
}

/// Characters 32 to 126 of Helvetica and Times, in thousandths.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
    722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500,
    444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480,
    200, 480, 541,
];

/// The advance of a character in a font that gives no widths: one of the standard 14, or an unknown font.
pub(super) fn standard_width(font: &str, text: &str) -> f64 {
    let font = font.to_lowercase();
    if font.contains("courier") || font.contains("mono") {
        return 0.6;
    }
    let Some(c) = text.chars().next() else { return 0.0 };
    if crate::document::notation::is_wide(c) {
        return 1.0;
    }
    let table = if font.contains("times") || font.contains("roman") { &TIMES } else { &HELVETICA };
    let width = u32::from(c).checked_sub(32).and_then(|at| table.get(at as usize)).copied().unwrap_or(556);
    // The bold faces are wider by about this much, in their small letters.
    let bold = if font.contains("bold") && c.is_lowercase() { 1.07 } else { 1.0 };
    f64::from(width) / 1000.0 * bold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_and_dingbat_codes_have_their_characters() {
        let text = |base: Base, code| base.text(code).unwrap_or_default();
        assert_eq!(SYMBOL.map(|row| row.chars().count()), [95, 95]);
        assert_eq!((text(Base::Symbol, 0x61), text(Base::Symbol, 0xb0)), ("α".into(), "°".into()));
        assert_eq!((text(Base::Symbol, 0xa3), text(Base::Symbol, 0xb1)), ("≤".into(), "±".into()));
        assert_eq!((text(Base::Symbol, 0xd7), text(Base::Symbol, 0xe5)), ("⋅".into(), "∑".into()));
        assert_eq!((text(Base::Symbol, 0xf2), text(Base::Symbol, 0x57)), ("∫".into(), "Ω".into()));
        assert_eq!((text(Base::ZapfDingbats, 0x33), text(Base::ZapfDingbats, 0xb6)), ("✓".into(), "❶".into()));
        assert_eq!(symbol_of_private_use('\u{f0b7}'), Some('•'));
    }

    #[test]
    fn latin_encodings_differ_where_they_should() {
        assert_eq!(Base::WinAnsi.text(0x95).as_deref(), Some("•"));
        assert_eq!(Base::MacRoman.text(0xa5).as_deref(), Some("•"));
        assert_eq!(Base::Standard.text(0xae).as_deref(), Some("ﬁ"));
        assert_eq!(Base::Standard.text(0x27).as_deref(), Some("’"));
        assert_eq!(Base::WinAnsi.text(0x81), None);
    }
}

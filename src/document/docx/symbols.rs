//! Characters of the symbol fonts.
//!
//! Word keeps the characters of fonts with an encoding of their own in the private use area, U+F020 to U+F0FF. What can be
//! said in Unicode is: all of Symbol (Adobe's Symbol encoding), and the boxes, marks and arrows of Wingdings that forms and
//! checklists use.

/// Symbol, from 0x20 and from 0xA0. `\0` where there is none.
const SYMBOL_LOW: &str =
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\0αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
const SYMBOL_HIGH: &str =
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…\0\0↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑\0\0\0\0\0\0\0\0\0\0\0〉∫⌠\0⌡";

const WINGDINGS: &[(u32, char)] = &[
    (0x6c, '●'),
    (0x6e, '■'),
    (0x6f, '□'),
    (0x71, '❑'),
    (0x72, '❒'),
    (0x74, '◆'),
    (0x75, '◆'),
    (0x76, '❖'),
    (0xa1, '○'),
    (0xa2, '○'),
    (0xa4, '◉'),
    (0xa5, '◎'),
    (0xa7, '▪'),
    (0xa8, '□'),
    (0xd8, '➢'),
    (0xdf, '←'),
    (0xe0, '→'),
    (0xe1, '↑'),
    (0xe2, '↓'),
    (0xe8, '→'),
    (0xef, '⇦'),
    (0xf0, '⇨'),
    (0xfb, '✗'),
    (0xfc, '✓'),
    (0xfd, '☒'),
    (0xfe, '☑'),
    (0x4a, '☺'),
    (0x46, '☞'),
    (0x80, '⓪'),
    (0x8c, '❶'),
    (0x8d, '❷'),
    (0x8e, '❸'),
    (0x8f, '❹'),
    (0x90, '❺'),
    (0x81, '①'),
    (0x82, '②'),
    (0x83, '③'),
    (0x84, '④'),
    (0x85, '⑤'),
    (0x86, '⑥'),
    (0x87, '⑦'),
    (0x88, '⑧'),
    (0x89, '⑨'),
    (0x8a, '⑩'),
];

const WINGDINGS_2: &[(u32, char)] = &[
    (0x4f, '✗'),
    (0x50, '✓'),
    (0x51, '☒'),
    (0x52, '☑'),
    (0x53, '☒'),
    (0x54, '☒'),
    (0x2a, '☐'),
    (0x30, '☐'),
    (0xa3, '□'),
    (0x97, '●'),
    (0x98, '●'),
    (0x99, '◯'),
];

/// `c` of the font `font` in Unicode; itself where that is not known.
pub(crate) fn unicode(c: char, font: &str) -> char {
    let code = match u32::from(c) {
        code @ 0xf020..=0xf0ff => code - 0xf000,
        _ => return c,
    };
    let listed = |list: &[(u32, char)]| list.iter().find(|(at, _)| *at == code).map(|(_, c)| *c);
    let font = font.to_ascii_lowercase();
    let found = if font.contains("wingdings 2") {
        listed(WINGDINGS_2)
    } else if font.contains("wingdings") && !font.contains("wingdings 3") {
        listed(WINGDINGS)
    } else if font == "symbol" {
        let (set, first) = if code < 0xa0 { (SYMBOL_LOW, 0x20) } else { (SYMBOL_HIGH, 0xa0) };
        set.chars().nth((code - first) as usize).filter(|c| *c != '\0')
    } else {
        None
    };
    found.unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_become_unicode_and_text_stays() {
        for (code, font, expected) in [
            ('\u{f06d}', "Symbol", 'μ'),
            ('\u{f057}', "Symbol", 'Ω'),
            ('\u{f0b0}', "Symbol", '°'),
            ('\u{f0b1}', "Symbol", '±'),
            ('\u{f0a3}', "Symbol", '≤'),
            ('\u{f0b3}', "Symbol", '≥'),
            ('\u{f0b4}', "Symbol", '×'),
            ('\u{f0d6}', "Symbol", '√'),
            ('\u{f0e5}', "Symbol", '∑'),
            ('\u{f0f2}', "Symbol", '∫'),
            ('\u{f0fe}', "Wingdings", '☑'),
            ('\u{f052}', "Wingdings 2", '☑'),
            ('\u{f0ff}', "Wingdings", '\u{f0ff}'),
            ('μ', "Symbol", 'μ'),
        ] {
            assert_eq!(unicode(code, font), expected, "{:x} {font}", u32::from(code));
        }
    }
}

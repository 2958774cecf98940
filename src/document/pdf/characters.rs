//! Characters that a PDF spells in another way than text does: ligatures, Chinese characters as radicals, the ohm sign.
//!
//! Fonts share one glyph between a character and the radical that looks like it, and the programs that write PDFs often
//! name the radical. Nobody would find `⽂⽤` by typing `文用`.

use unicode_normalization::UnicodeNormalization;

/// Radicals of U+2E80 that have no compatibility mapping in Unicode, each before the character that it stands for.
const RADICALS: &str = "⺁厂⺄乙⺇几⺌小⺍小⺎兀⺏尢⺕彐⺛旡⺝月⺟母⺠民⺩王⺪疋⺬示⺮竹⺯糸⺰纟⺱罒⺲罒⺳网⺶羊⺷羊⺸羊⺹老⺻聿⺼肉⺽臼⺾艹⺿艹\
⻀艹⻁虎⻂衤⻃西⻄西⻅见⻆角⻇角⻈讠⻉贝⻊足⻋车⻌辶⻍辶⻎辶⻏阝⻐钅⻑长⻒镸⻓长⻔门⻕阜⻖阝⻗雨⻘青⻙韦⻚页⻛风⻜飞⻝食\
⻞食⻟飠⻠饣⻡首⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱龟⻲亀⻳龟";

/// `text` in the usual spelling. Everything but ligatures, radicals, compatibility ideographs and
/// the signs that equal a letter stays as it is.
pub(super) fn usual(text: String) -> String {
    if !text.chars().any(is_unusual) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{a0}' => out.push(' '),
            '\u{2e80}'..='\u{2eff}' => out.push(unfolded(c)),
            _ if is_unusual(c) => out.extend(std::iter::once(c).nfkc()),
            _ => out.push(c),
        }
    }
    out
}

fn is_unusual(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{2126}' | '\u{212a}' | '\u{212b}' | '\u{2e80}'..='\u{2fd5}' | '\u{f900}'..='\u{faff}' | '\u{fb00}'..='\u{fb06}' | '\u{2f800}'..='\u{2fa1f}'
    )
}

fn unfolded(radical: char) -> char {
    let mut pairs = RADICALS.chars();
    while let (Some(from), Some(to)) = (pairs.next(), pairs.next()) {
        if from == radical {
            return to;
        }
    }
    std::iter::once(radical).nfkc().next().unwrap_or(radical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radicals_and_ligatures_become_what_people_type() {
        assert_eq!(usual("使⽤⽂件，⻓度".into()), "使用文件，长度");
        assert_eq!(usual("oﬃce".into()), "office");
        assert_eq!(usual("10 m² ℃ ①".into()), "10 m² ℃ ①");
        assert_eq!(RADICALS.chars().count() % 2, 0);
        assert!(RADICALS.chars().step_by(2).all(|c| ('\u{2e80}'..='\u{2eff}').contains(&c)));
    }
}

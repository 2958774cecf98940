//! The full names of a document, and which of them a section needs to be told.
//!
//! A manual names its machine in the title and calls it 冲床 or `the press` from then on; a rulebook defines `(the
//! "Regulator")` once. A section that uses the short form alone cannot be read alone. Names are taken only where the
//! document writes them whole, and only by patterns that are hard to mistake: a wrong name would be believed.

use crate::proposition::lexis::{identity, is_chinese, is_ideograph};

/// Names that one section is given at most.
const MOST: usize = 5;
/// Names of a document that are looked at; a catalogue of hundreds of machines has no short forms anyway.
const KNOWN: usize = 100;

/// What a name stands for, and so how it is shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Short {
    /// `XH-500 液压冲床`: the code, the noun, the end of the noun, or just 该设备.
    Equipment { code: String, noun: String },
    /// `华东精工有限公司`: 该公司.
    Organisation,
    /// The short form that the document defines.
    Defined(String),
}

/// A name that the document writes in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FullName {
    /// As written.
    pub(crate) full: String,
    short: Short,
}

/// The full names in `title` and `text` of a document, in the order in which they come. Linear in the text.
pub(crate) fn full_names(title: &str, text: &str) -> Vec<FullName> {
    let mut names: Vec<FullName> = Vec::new();
    for part in std::iter::once(title).chain(text.lines()) {
        let chars: Vec<char> = part.chars().collect();
        let mut at = 0;
        while at < chars.len() {
            let found = equipment(&chars, at).or_else(|| organisation(&chars, at)).or_else(|| defined(&chars, at));
            at = found.as_ref().map_or(at + 1, |(_, end)| *end);
            if let Some((name, _)) = found
                && !names.iter().any(|known| is_same(known, &name))
            {
                names.push(name);
                if names.len() == KNOWN {
                    return names;
                }
            }
        }
    }
    names
}

fn is_same(a: &FullName, b: &FullName) -> bool {
    match (&a.short, &b.short) {
        // A code is one machine, whatever its parts are called.
        (Short::Equipment { code: a, .. }, Short::Equipment { code: b, .. }) => a == b,
        _ => a.full == b.full,
    }
}

/// Those of `names` of which `text` uses a shorter form while neither it nor title and headings hold the name itself.
pub(crate) fn names_for(names: &[FullName], title: &str, heading_path: &[String], text: &str) -> Vec<String> {
    if names.is_empty() {
        return Vec::new();
    }
    let mut whole = identity(title);
    for part in heading_path.iter().map(String::as_str).chain([text]) {
        whole.push('\n');
        whole.push_str(&identity(part));
    }
    let lower = text.to_lowercase();
    let uses = |name: &&FullName| !whole.contains(&identity(&name.full)) && is_shortened(name, names, &lower);
    names.iter().filter(uses).take(MOST).map(|name| name.full.clone()).collect()
}

/// True where `text`, in lower case, holds a shorter form of `name` that means no other name of the document.
fn is_shortened(name: &FullName, names: &[FullName], text: &str) -> bool {
    let kind = |other: &FullName| std::mem::discriminant(&other.short) == std::mem::discriminant(&name.short);
    let is_only = names.iter().filter(|other| kind(other)).count() == 1;
    let generic = |words: &[&str]| is_only && words.iter().any(|word| has_word(text, word));
    match &name.short {
        Short::Defined(short) => has_word(text, &short.to_lowercase()),
        Short::Organisation => generic(&["本公司", "该公司", "我公司", "the company"]),
        Short::Equipment { code, noun } => {
            let others = |tail: &str| {
                names
                    .iter()
                    .any(|o| o != name && matches!(&o.short, Short::Equipment { noun, .. } if noun.ends_with(tail)))
            };
            let tail: String = match is_chinese(noun) {
                true => noun.chars().skip(noun.chars().count().saturating_sub(2)).collect(),
                false => noun.rsplit(' ').next().unwrap_or(noun).to_owned(),
            };
            has_word(text, &code.to_lowercase())
                || (!others(&tail) && has_word(text, &article(&tail)))
                || generic(&["该设备", "本设备", "该机", "本机", "整机", "该机器", "该装置", "设备", "机器"])
                || generic(&["the machine", "the device", "the equipment", "the unit", "this machine", "this device"])
        }
    }
}

/// An English noun means the thing named only with its article.
fn article(noun: &str) -> String {
    if is_chinese(noun) { noun.to_owned() } else { format!("the {}", noun.to_lowercase()) }
}

/// `word` in `text`, not inside a longer Latin word or code.
fn has_word(text: &str, word: &str) -> bool {
    let glued = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-');
    let latin = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let joined = latin(word.chars().next()) && glued(before) || latin(word.chars().next_back()) && glued(after);
        !joined
    })
}

/// Codes of alarms and standards: what stands behind them is no machine.
const NO_MODEL: &[&str] = &[
    "err", "alm", "al", "alarm", "error", "fault", "no", "rs", "iso", "iec", "gb", "en", "din", "ip", "usb", "f", "e",
    "a",
];
/// Last characters of the names of machines, longest first where one begins another.
const MACHINES_ZH: &[&str] = &[
    "机器人",
    "生产线",
    "机床",
    "机组",
    "机器",
    "控制器",
    "驱动器",
    "变频器",
    "传感器",
    "装置",
    "设备",
    "系统",
    "模块",
    "单元",
    "主轴",
    "机",
    "泵",
    "阀",
    "床",
    "炉",
    "仪",
    "柜",
    "塔",
    "罐",
    "车",
];
const MACHINES_EN: &[&str] = &[
    "press",
    "pump",
    "compressor",
    "machine",
    "lathe",
    "mill",
    "robot",
    "controller",
    "drive",
    "valve",
    "motor",
    "furnace",
    "crane",
    "truck",
    "forklift",
    "generator",
    "unit",
    "system",
    "printer",
    "spindle",
    "center",
    "centre",
    "conveyor",
    "cooler",
    "boiler",
    "inverter",
    "module",
    "sensor",
    "cutter",
    "grinder",
    "saw",
    "welder",
    "chiller",
    "dryer",
    "mixer",
    "phone",
];

/// A model code and the noun behind it: `XH-500 液压冲床`, `KL-200 air compressor`.
fn equipment(chars: &[char], at: usize) -> Option<(FullName, usize)> {
    let is_code = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !chars[at].is_ascii_alphabetic() || at.checked_sub(1).is_some_and(|k| is_code(chars[k]) || chars[k] == '_') {
        return None;
    }
    let len = chars[at..].iter().take_while(|&&c| is_code(c)).count();
    let code: String = chars[at..at + len].iter().collect();
    let prefix: String = code.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
    let mixed = code.contains(|c: char| c.is_ascii_digit()) && !code.ends_with('-') && len >= 3;
    if !mixed || NO_MODEL.contains(&prefix.as_str()) {
        return None;
    }
    let gap = chars[at + len..].iter().take_while(|c| **c == ' ').count();
    let from = at + len + gap;
    let noun = chars.get(from).copied().and_then(|c| {
        if is_ideograph(c) { chinese_noun(&chars[from..]) } else { (gap == 1).then(|| english_noun(&chars[from..]))? }
    })?;
    let end = from + noun.chars().count();
    let full = chars[at..end].iter().collect();
    Some((FullName { full, short: Short::Equipment { code, noun } }, end))
}

/// The shortest run that ends like the name of a machine, so that its parts do not count: 液压机, not 液压机控制器.
fn chinese_noun(chars: &[char]) -> Option<String> {
    const LONGEST: usize = 10;
    const FUNCTION: &str = "的在应应由为是采不必可每需须有和与及将已未时后前";
    let run: String = chars.iter().take(LONGEST).take_while(|c| is_ideograph(**c) && !FUNCTION.contains(**c)).collect();
    // 机械冲床 begins like the name of a machine without being one yet.
    run.char_indices().skip(1).find_map(|(byte, _)| {
        let ending = MACHINES_ZH.iter().find(|end| run[byte..].starts_with(*end))?;
        Some(run[..byte + ending.len()].to_owned())
    })
}

fn english_noun(chars: &[char]) -> Option<String> {
    const WORDS: usize = 4;
    let text: String =
        chars.iter().take(80).take_while(|c| c.is_ascii_alphabetic() || matches!(c, ' ' | '-')).collect();
    let mut end = 0;
    for word in text.split(' ').take(WORDS) {
        if word.is_empty() {
            return None;
        }
        end += word.len();
        if MACHINES_EN.contains(&word.to_lowercase().as_str()) {
            return Some(text[..end].to_owned());
        }
        end += 1;
    }
    None
}

/// `华东精工机械有限公司`, `Northern Machine Works Ltd`.
fn organisation(chars: &[char], at: usize) -> Option<(FullName, usize)> {
    const LENGTH: std::ops::RangeInclusive<usize> = 6..=30;
    let before = at.checked_sub(1).map(|k| chars[k]);
    let name = |end: usize| {
        let full: String = chars[at..end].iter().collect();
        Some((FullName { full, short: Short::Organisation }, end))
    };
    if is_ideograph(chars[at]) {
        // The start of a name is sure only after a mark or a blank.
        if before.is_some_and(char::is_alphanumeric) {
            return None;
        }
        let run: String = chars[at..].iter().take(*LENGTH.end()).take_while(|c| is_ideograph(**c)).collect();
        let end = run.find("有限公司").or_else(|| run.find("集团公司"))?;
        let len = run[..end].chars().count() + 4;
        let plain =
            !run.starts_with(['由', '在', '与', '和', '向', '经', '及', '为', '是', '对', '按', '请', '该', '本']);
        return (plain && LENGTH.contains(&len)).then(|| name(at + len))?;
    }
    if !chars[at].is_ascii_uppercase()
        || before.is_some_and(|c| c.is_alphanumeric() || c == ' ' && at > 1 && is_upper_word(&chars[..at - 1]))
    {
        return None;
    }
    let (mut end, mut words) = (at, 0);
    while let Some(word) = capitalised(&chars[end..]) {
        words += 1;
        end += word.chars().count();
        let last = matches!(word.as_str(), "Ltd" | "Limited" | "GmbH" | "Inc" | "Corp" | "Corporation" | "AG" | "LLC");
        if last && words >= 2 {
            return name(end);
        }
        end += chars.get(end..)?.iter().take_while(|c| **c == ' ').count();
        if words > 6 {
            break;
        }
    }
    None
}

/// True where the text ends in a capitalised word, with which a name would have begun.
fn is_upper_word(chars: &[char]) -> bool {
    let len = chars.iter().rev().take_while(|c| c.is_ascii_alphabetic()).count();
    len > 0 && chars[chars.len() - len].is_ascii_uppercase()
}

fn capitalised(chars: &[char]) -> Option<String> {
    let word: String = chars.iter().take_while(|c| c.is_ascii_alphabetic() || **c == '&').collect();
    word.starts_with(|c: char| c.is_ascii_uppercase() || c == '&').then_some(word)
}

/// `国家市场监督管理总局（以下简称“市场监管总局”）`, `the Office of Gas Markets (the "Regulator")`: the bracket at `at` defines.
fn defined(chars: &[char], at: usize) -> Option<(FullName, usize)> {
    if !matches!(chars[at], '(' | '（') {
        return None;
    }
    let len = chars[at..].iter().take(60).position(|c| matches!(c, ')' | '）'))?;
    let inside: String = chars[at + 1..at + len].iter().collect();
    let (short, full) = match inside.split_once("简称") {
        Some((lead, short)) if lead.chars().count() <= 4 => (bare(short), chinese_before(&chars[..at])?),
        _ => (quoted(&inside)?, english_before(&chars[..at])?),
    };
    let longer = short.chars().count() >= 2 && full.chars().count() > short.chars().count();
    longer.then(|| (FullName { full, short: Short::Defined(short) }, at + len + 1))
}

fn bare(short: &str) -> String {
    short.trim_matches(|c: char| !c.is_alphanumeric() && c != '（').to_owned()
}

/// What stands in quotes in `the "Regulator"` or `hereinafter “X”`; nothing where more is said.
fn quoted(inside: &str) -> Option<String> {
    let (lead, rest) = inside.split_once(['"', '“'])?;
    let (short, tail) = rest.split_once(['"', '”'])?;
    let lead = lead.trim().to_lowercase();
    let announces =
        lead.is_empty() || lead == "the" || lead.starts_with("hereinafter") || lead.starts_with("hereafter");
    (announces && tail.trim().is_empty() && short.starts_with(|c: char| c.is_ascii_uppercase()))
        .then(|| short.trim().to_owned())
}

/// The noun in front of a bracket: back to a mark, a blank or a word that opens a phrase.
fn chinese_before(chars: &[char]) -> Option<String> {
    const LENGTH: std::ops::RangeInclusive<usize> = 3..=30;
    let len = chars.iter().rev().take_while(|c| c.is_alphanumeric() || matches!(c, '《' | '》' | '-')).count();
    let run: String = chars[chars.len() - len..].iter().collect();
    let mut name = run.trim_start_matches(['《']).trim_end_matches('》');
    for opener in ["根据", "依据", "按照", "使用", "采用", "由", "在", "向", "经", "对", "与", "和", "按"]
    {
        name = name.strip_prefix(opener).unwrap_or(name);
    }
    // A clause with 的 describes; it names nothing.
    (LENGTH.contains(&name.chars().count()) && !name.contains('的')).then(|| name.to_owned())
}

/// The capitalised words in front of a bracket, with `of`, `and`, `for`, `the` between them.
fn english_before(chars: &[char]) -> Option<String> {
    let text: String = chars[chars.len().saturating_sub(160)..].iter().collect();
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
    let links = |word: &str| matches!(word, "of" | "and" | "for" | "the" | "&" | "to" | "in");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut from = words.len();
    while from > 0 && (is_name(words[from - 1]) || links(words[from - 1])) {
        // A mark ends the phrase before.
        if from < words.len() && words[from - 1].ends_with([',', '.', ';', ':', ')']) {
            break;
        }
        from -= 1;
    }
    let phrase = &words[from..];
    let skip = phrase.iter().take_while(|word| links(word) || matches!(**word, "The" | "A" | "An" | "Each")).count();
    let phrase = &phrase[skip..];
    (phrase.len() >= 2 && is_name(phrase[phrase.len() - 1])).then(|| phrase.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(title: &str, text: &str) -> Vec<String> {
        full_names(title, text).into_iter().map(|name| name.full).collect()
    }

    fn told(title: &str, document: &str, section: &str) -> Vec<String> {
        names_for(&full_names(title, document), title, &[], section)
    }

    #[test]
    fn names_are_taken_where_they_are_written_whole() {
        for (text, expected) in [
            ("XH-500 液压冲床采用强制润滑。XH-500 液压冲床控制器断电。", vec!["XH-500 液压冲床"]),
            ("BX-9000数控机床的主轴", vec!["BX-9000数控机床"]),
            ("The KL-200 air compressor is lubricated.", vec!["KL-200 air compressor"]),
            ("本手册由华东精工机械有限公司编制。 华东精工机械有限公司：", vec!["华东精工机械有限公司"]),
            ("Made by Northern Machine Works Ltd in 2020.", vec!["Northern Machine Works Ltd"]),
            ("国家市场监督管理总局（以下简称“市场监管总局”）负责。", vec!["国家市场监督管理总局"]),
            (
                "A licence by the Office of Gas and Electricity Markets (the \"Regulator\") is needed.",
                vec!["Office of Gas and Electricity Markets"],
            ),
        ] {
            assert_eq!(names("", text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_name_is_none() {
        for text in [
            "控制器发出 ERR-9801 控制器离线。",
            "RS-485 模块",
            "单位（以下统称生产经营单位）",
            "从事生产的单位（以下简称单位）",
            "Restart (see \"Start\").",
            "the pump (the \"P\") stops",
            "由有限公司编制",
            "KL-200 is lubricated under pressure",
        ] {
            assert!(names("", text).is_empty(), "{text}: {:?}", names("", text));
        }
    }

    #[test]
    fn a_section_is_told_the_name_that_it_shortens() {
        let document = "XH-500 液压冲床采用强制润滑。\n\n冲床每月润滑。";
        assert_eq!(told("手册", document, "冲床每月润滑。"), ["XH-500 液压冲床"]);
        assert_eq!(told("手册", document, "该设备每月润滑。"), ["XH-500 液压冲床"]);
        assert_eq!(told("手册", document, "XH-500 每月润滑。"), ["XH-500 液压冲床"]);
        assert!(told("手册", document, "滤芯每月更换一次。").is_empty());
        assert!(told("手册", document, "XH-500液压冲床每月润滑，冲床断电。").is_empty());
        assert!(told("XH-500 液压冲床手册", document, "冲床每月润滑。").is_empty());
        let rules = "The Office of Gas Markets (the \"Regulator\") issues licences.";
        assert_eq!(told("Rules", rules, "The Regulator may refuse."), ["Office of Gas Markets"]);
        assert!(told("Rules", rules, "Regulators may refuse.").is_empty());
        let english = "The KL-200 air compressor is lubricated.";
        assert_eq!(told("Manual", english, "Stop the compressor first."), ["KL-200 air compressor"]);
    }

    #[test]
    fn a_short_form_that_could_mean_two_names_tells_none() {
        let document = "XH-500 液压冲床和 XH-600 机械冲床。";
        assert!(told("手册", document, "冲床每月润滑，设备断电。").is_empty());
        assert_eq!(told("手册", document, "XH-600 每月润滑。"), ["XH-600 机械冲床"]);
    }
}

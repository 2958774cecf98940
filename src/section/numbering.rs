//! Labels at the start of a line: 第三章, 一、, （二）, 1.2.3, Chapter 4, (a), ①, bullets.

/// A kind of numbering. The order is the nesting order of documents that mix them: a part holds chapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Scheme {
    /// 第一编, 第二部分, Part I.
    Part,
    /// 第一章, 附录A, Chapter 1, Annex B.
    Chapter,
    /// 附录 and its like; ranks with chapters but counts on its own.
    Appendix,
    /// 第一节, Section 1.
    Section,
    /// 第一条, Article 1.
    Article,
    /// 一、
    Enumerated,
    /// （一）
    Parenthesised,
    /// 1, 1.2, A.1.2: the depth is the number of components.
    Decimal,
    /// (a), 1), ①, `1.1.(2)`, bullets: starts an item, never a heading.
    Item,
}

impl Scheme {
    /// Nesting level of a label of this scheme with `depth` components; smaller is further out.
    pub(crate) fn level(self, depth: usize) -> u8 {
        match self {
            Self::Part => 1,
            Self::Chapter | Self::Appendix => 2,
            Self::Section => 3,
            Self::Article => 4,
            Self::Enumerated => 5,
            Self::Parenthesised => 6,
            Self::Decimal => 6 + depth.clamp(1, 100) as u8,
            Self::Item => 120,
        }
    }
}

/// Components of a number, such as 1, 2, 3 of `1.2.3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Number {
    parts: [u32; Number::MAX],
    len: u8,
}

impl Number {
    const MAX: usize = 8;

    /// A number of one component.
    pub(crate) fn one(value: u32) -> Self {
        let mut number = Self::default();
        number.push(value);
        number
    }

    fn push(&mut self, value: u32) -> bool {
        let len = usize::from(self.len);
        if len == Self::MAX {
            return false;
        }
        self.parts[len] = value;
        self.len += 1;
        true
    }

    /// The components.
    pub(crate) fn parts(&self) -> &[u32] {
        &self.parts[..usize::from(self.len)]
    }
}

/// A label and what follows it on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label<'a> {
    /// Its kind.
    pub(crate) scheme: Scheme,
    /// Its value.
    pub(crate) number: Number,
    /// The rest of the line, trimmed.
    pub(crate) rest: &'a str,
    /// True when white space or punctuation stands between label and rest, or nothing follows.
    pub(crate) separated: bool,
    /// True for a mark that cannot be a number (a bullet).
    pub(crate) bullet: bool,
}

/// Value of component letters (`A.1`): above any real chapter number, so that annexes follow chapters.
const LETTER: u32 = 1000;

/// Reads the label at the start of `line`, if there is one.
pub(crate) fn label(line: &str) -> Option<Label<'_>> {
    let line = line.trim();
    let first = line.chars().next()?;
    match first {
        '第' => ordinal(line),
        '附' => annex(line),
        '（' | '(' => parenthesised(line),
        '0'..='9' => decimal(line),
        '①'..='⑳' | '•' | '·' | '●' | '○' | '◆' | '◇' | '■' | '□' | '▪' | '➢' | '※' => {
            Some(item(&line[first.len_utf8()..], true, first > '⑳' || first == '·'))
        }
        '-' | '*' | '+' | '–' | '—' => {
            let rest = &line[first.len_utf8()..];
            rest.starts_with(char::is_whitespace).then(|| item(rest, true, true))
        }
        '零' | '〇' | '一'..='龥' => enumerated(line),
        'A'..='Z' | 'a'..='z' => lettered(line),
        _ => None,
    }
}

fn make(scheme: Scheme, number: Number, rest: &str, separated: bool) -> Label<'_> {
    let separated = separated || rest.is_empty() || rest.starts_with(char::is_whitespace);
    Label { scheme, number, rest: rest.trim(), separated, bullet: false }
}

fn item(rest: &str, separated: bool, bullet: bool) -> Label<'_> {
    Label { bullet, ..make(Scheme::Item, Number::default(), rest, separated) }
}

/// 第三章, 第 12 条, 第一百三十三条之一.
fn ordinal(line: &str) -> Option<Label<'_>> {
    let (value, rest) = numeral(line.strip_prefix('第')?.trim_start())?;
    let rest = rest.trim_start();
    let (scheme, rest) = [
        ("部分", Scheme::Part),
        ("编", Scheme::Part),
        ("編", Scheme::Part),
        ("卷", Scheme::Part),
        ("篇", Scheme::Part),
        ("章", Scheme::Chapter),
        ("节", Scheme::Section),
        ("節", Scheme::Section),
        ("条", Scheme::Article),
        ("條", Scheme::Article),
    ]
    .into_iter()
    .find_map(|(unit, scheme)| Some((scheme, rest.strip_prefix(unit)?)))?;
    let rest = match rest.strip_prefix('之').and_then(numeral) {
        Some((_, after)) if scheme == Scheme::Article => after,
        _ => rest,
    };
    Some(make(scheme, Number::one(value), rest, false))
}

/// 附录A, 附件 1.
fn annex(line: &str) -> Option<Label<'_>> {
    let rest = ["附录", "附錄", "附件", "附表"].into_iter().find_map(|word| line.strip_prefix(word))?;
    let rest = rest.trim_start();
    let (value, rest) = match rest.chars().next() {
        Some(c @ 'A'..='Z') => (c as u32 - 'A' as u32 + 1, &rest[1..]),
        _ => numeral(rest)?,
    };
    let separated = rest.starts_with(['：', ':', '（', '(']);
    // `附录A.1的规定` is a reference, `附录A` a heading.
    (!rest.starts_with('.'))
        .then(|| make(Scheme::Appendix, Number::one(value), rest.trim_start_matches(['：', ':']), separated))
}

/// 一、 and 十二．
fn enumerated(line: &str) -> Option<Label<'_>> {
    let (value, rest) = chinese_numeral(line)?;
    let rest = rest.strip_prefix(['、', '．', '.'])?;
    Some(make(Scheme::Enumerated, Number::one(value), rest, true))
}

/// （一）, (3), (a), (iv).
fn parenthesised(line: &str) -> Option<Label<'_>> {
    let inner = line.strip_prefix(['（', '('])?;
    let close = inner.char_indices().take(8).find(|(_, c)| matches!(c, '）' | ')'))?.0;
    let rest = &inner[close..];
    let rest = &rest[rest.chars().next()?.len_utf8()..];
    let inner = inner[..close].trim();
    if let Some((value, "")) = chinese_numeral(inner) {
        return Some(make(Scheme::Parenthesised, Number::one(value), rest, true));
    }
    is_counter(inner).then(|| item(rest, true, false))
}

/// A short counter: up to three digits, one letter or a small roman numeral.
fn is_counter(text: &str) -> bool {
    let digits = !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit());
    let letter = text.len() == 1 && text.as_bytes()[0].is_ascii_alphabetic();
    let roman = text.len() <= 5 && !text.is_empty() && text.bytes().all(|b| matches!(b, b'i' | b'v' | b'x'));
    digits || letter || roman
}

/// 1, 1., 1、, 1), 1.2.3, 1.1.(2), 1.2.Guidance.1.
fn decimal(line: &str) -> Option<Label<'_>> {
    let mut number = Number::default();
    let mut rest = components(line, &mut number)?;
    if let Some(after) = rest.strip_prefix([')', '）']) {
        return (number.parts().len() == 1).then(|| item(after, true, false));
    }
    if number.parts().len() == 1
        && let Some(after) = rest.strip_prefix(['、', '．'])
    {
        return Some(make(Scheme::Decimal, number, after, true));
    }
    // Rule books hang paragraphs and notes on a number: `1.1.(2)<TAB>`, `1.2.Guidance.1.<TAB>`.
    let token = rest.split(char::is_whitespace).next().unwrap_or_default();
    if token.len() > 1 && token.starts_with(['.', '(']) && token.is_ascii() {
        let tail = &rest[token.len()..];
        let plain = token.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'(' | b')'));
        let named = number.parts().len() > 1 && (tail.is_empty() || tail.starts_with('\t'));
        let hung = token.contains('(') || token.ends_with('.') || named;
        if plain && hung && (tail.is_empty() || tail.starts_with(char::is_whitespace)) {
            return Some(item(tail, true, false));
        }
        return None;
    }
    let dotted = rest.strip_prefix('.');
    if let Some(after) = dotted {
        rest = after;
    }
    let separated = dotted.is_some() && !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    if rest.starts_with([',', ':', '：', '%', '％', '/', '-', '~', '～', '+', '×']) {
        return None;
    }
    Some(make(Scheme::Decimal, number, rest, separated))
}

/// Reads `12.3.4` into `number`; each component has one to three digits.
fn components<'a>(text: &'a str, number: &mut Number) -> Option<&'a str> {
    let mut rest = text;
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > 3 || !number.push(rest[..digits].parse().ok()?) {
            return None;
        }
        rest = &rest[digits..];
        match rest.strip_prefix('.') {
            Some(after) if after.starts_with(|c: char| c.is_ascii_digit()) => rest = after,
            _ => return Some(rest),
        }
    }
}

/// Chapter 3, Annex B, A.1.2, a., iv).
fn lettered(line: &str) -> Option<Label<'_>> {
    let bytes = line.as_bytes();
    if bytes[0].is_ascii_uppercase() && bytes.get(1) == Some(&b'.') && bytes.get(2).is_some_and(u8::is_ascii_digit) {
        let mut number = Number::one(LETTER + u32::from(bytes[0] - b'A'));
        let rest = components(&line[2..], &mut number)?;
        return Some(make(Scheme::Decimal, number, rest.strip_prefix('.').unwrap_or(rest), false));
    }
    let word = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let after = &line[word.len()..];
    if after.starts_with(['.', ')']) && is_counter(word) && word.bytes().all(|b| b.is_ascii_lowercase()) {
        let rest = &after[1..];
        return (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| item(rest, true, false));
    }
    let scheme = match word.to_ascii_lowercase().as_str() {
        "part" => Scheme::Part,
        "chapter" => Scheme::Chapter,
        "appendix" | "annex" => Scheme::Appendix,
        "section" => Scheme::Section,
        "article" => Scheme::Article,
        _ => return None,
    };
    if !word.starts_with(|c: char| c.is_ascii_uppercase()) || !after.starts_with([' ', '\t', '\u{a0}']) {
        return None;
    }
    let after = after.trim_start();
    let token = after.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let value = counter_value(token)?;
    let rest = &after[token.len()..];
    // `Section 3.2 applies` refers; `Section 3: Scope` and `Section 3. Scope` title.
    let rest = match rest.strip_prefix('.') {
        Some(r) if r.starts_with(|c: char| c.is_ascii_alphanumeric()) => return None,
        Some(r) => r,
        None => rest,
    };
    let punctuated = rest.trim_start().starts_with([':', '：', '-', '–', '—']);
    let rest = rest.trim_start().trim_start_matches([':', '：', '-', '–', '—']);
    Some(Label {
        separated: punctuated || rest.is_empty() || after.len() > token.len(),
        ..make(scheme, Number::one(value), rest, true)
    })
}

/// Arabic, roman or single-letter counter.
fn counter_value(token: &str) -> Option<u32> {
    if token.len() <= 3 && !token.is_empty() && token.bytes().all(|b| b.is_ascii_digit()) {
        return token.parse().ok();
    }
    if !token.is_empty() && token.len() <= 7 && token.bytes().all(|b| matches!(b, b'I' | b'V' | b'X' | b'L')) {
        let digit = |b: u8| match b {
            b'I' => 1,
            b'V' => 5,
            b'X' => 10,
            _ => 50i32,
        };
        let values: Vec<i32> = token.bytes().map(digit).collect();
        let total: i32 = (0..values.len())
            .map(|i| if values.get(i + 1).is_some_and(|&next| next > values[i]) { -values[i] } else { values[i] })
            .sum();
        return u32::try_from(total).ok();
    }
    let byte = *token.as_bytes().first()?;
    (token.len() == 1 && byte.is_ascii_uppercase()).then(|| u32::from(byte - b'A') + 1)
}

/// An arabic (ASCII or full-width) or Chinese numeral at the start, and what follows.
fn numeral(text: &str) -> Option<(u32, &str)> {
    let mut value = 0u32;
    let mut end = 0;
    for (at, c) in text.char_indices().take(6) {
        let digit = match c {
            '0'..='9' => c as u32 - '0' as u32,
            '０'..='９' => c as u32 - '０' as u32,
            _ => break,
        };
        value = value * 10 + digit;
        end = at + c.len_utf8();
    }
    if end > 0 { Some((value, &text[end..])) } else { chinese_numeral(text) }
}

/// 一 to 九千九百九十九 at the start, and what follows; also 二〇.
fn chinese_numeral(text: &str) -> Option<(u32, &str)> {
    let (mut total, mut digit, mut end) = (0u32, None, 0);
    for (at, c) in text.char_indices().take(12) {
        let value = match c {
            '零' | '〇' => 0,
            '一' => 1,
            '二' | '两' => 2,
            '三' => 3,
            '四' => 4,
            '五' => 5,
            '六' => 6,
            '七' => 7,
            '八' => 8,
            '九' => 9,
            '十' | '百' | '千' => {
                let unit = match c {
                    '十' => 10,
                    '百' => 100,
                    _ => 1000,
                };
                total = total.saturating_add(digit.take().unwrap_or(1) * unit);
                end = at + c.len_utf8();
                continue;
            }
            _ => break,
        };
        digit = Some(digit.map_or(value, |d: u32| d.saturating_mul(10).saturating_add(value)) % 1_000_000);
        end = at + c.len_utf8();
    }
    (end > 0).then(|| (total.saturating_add(digit.unwrap_or(0)), &text[end..]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(line: &str) -> (Scheme, Vec<u32>, &str, bool) {
        let label = label(line).unwrap_or_else(|| panic!("no label in {line:?}"));
        (label.scheme, label.number.parts().to_vec(), label.rest, label.separated)
    }

    #[test]
    fn labels_give_scheme_number_and_rest() {
        use Scheme::*;
        assert_eq!(read("第三章　设备 维护"), (Chapter, vec![3], "设备 维护", true));
        assert_eq!(read("第一千一百六十四条 本编"), (Article, vec![1164], "本编", true));
        assert_eq!(read("第一百三十三条之一 在道路上"), (Article, vec![133], "在道路上", true));
        assert_eq!(read("第 2 节总则"), (Section, vec![2], "总则", false));
        assert_eq!(read("附录A 规范性附录"), (Appendix, vec![1], "规范性附录", true));
        assert_eq!(read("十二、附则"), (Enumerated, vec![12], "附则", true));
        assert_eq!(read("（二十一）其他"), (Parenthesised, vec![21], "其他", true));
        assert_eq!(read("1.2.3\tTITLE"), (Decimal, vec![1, 2, 3], "TITLE", true));
        assert_eq!(read("1.\tINTRODUCTION"), (Decimal, vec![1], "INTRODUCTION", true));
        assert_eq!(read("3、 检查"), (Decimal, vec![3], "检查", true));
        assert_eq!(read("1.2概述"), (Decimal, vec![1, 2], "概述", false));
        assert_eq!(read("11.5.14.2的试验应"), (Decimal, vec![11, 5, 14, 2], "的试验应", false));
        assert_eq!(read("1.1.1.(2)\tNothing"), (Item, vec![], "Nothing", true));
        assert_eq!(read("1.2.1.Guidance.1.\tThese"), (Item, vec![], "These", true));
        assert_eq!(read("1.2.1.Guidance\t"), (Item, vec![], "", true));
        assert_eq!(read("(a)\tevery"), (Item, vec![], "every", true));
        assert_eq!(read("A.1.2 Scope"), (Decimal, vec![1000, 1, 2], "Scope", true));
        assert_eq!(read("Chapter IV: Use"), (Chapter, vec![4], "Use", true));
        assert_eq!(read("Annex B"), (Appendix, vec![2], "", true));
        assert_eq!(read("2) 关闭阀门"), (Item, vec![], "关闭阀门", true));
    }

    #[test]
    fn ordinary_words_are_no_labels() {
        for line in [
            "第三方",
            "第一次检查",
            "一般规定",
            "十分重要",
            "Part of the machine",
            "e.g. this",
            "1,000 units",
            "12:30 start",
            "5%",
            "附近",
            "A word",
            "（见图 3 的说明）",
            "2020年后",
        ] {
            let found = label(line);
            assert!(found.is_none(), "{line}: {found:?}");
        }
    }
}

//! Numbers as claims: the number, its unit and the direction of a comparison.
//!
//! `不超过 0.45MPa`, `三十万元以上` and `at least ten Business Days` are more than digits: a statement that keeps the number but
//! loses the unit's meaning or turns 以上 into 以下 is wrong. Numbers written in Chinese numerals count like digits; they are
//! never converted, because a faithful statement copies them.

use super::quantity_words::{AFTER, BEFORE, MEASURES, UNITS, WORDS};
use crate::proposition::lexis::{Folded, Token, TokenKind, is_wordlike, stem, tokens};

/// Which way a comparison points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// At least, more than, 以上, 不低于.
    Lower,
    /// At most, less than, 以下, 不超过.
    Upper,
}

/// A number with its unit and bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quantity {
    /// As written, folded.
    pub(crate) number: String,
    /// Unit or measure word, folded; `None` when none was recognised.
    pub(crate) unit: Option<String>,
    /// Direction of the comparison that stands at the number.
    pub(crate) bound: Option<Bound>,
    /// Folded characters of number and unit.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Quantity {
    /// True when `source` states this number: same number, and the same unit if this one names a unit.
    pub(crate) fn stated_by(&self, source: &Quantity) -> bool {
        self.number == source.number && (self.unit.is_none() || self.unit == source.unit)
    }
}

const NUMERALS: &str = "〇零一二三四五六七八九十百千万亿两兩萬億壹贰叁肆伍陆柒捌玖拾佰仟";

/// Every number of a folded text, in order.
pub(crate) fn quantities(folded: &Folded) -> Vec<Quantity> {
    let all = tokens(folded);
    let mut out = Vec::new();
    for (i, token) in all.iter().enumerate() {
        match token.kind {
            TokenKind::Number => out.push(arabic(folded, *token, all.get(i + 1))),
            TokenKind::Han => numerals(folded, *token, &mut out),
            TokenKind::Word if is_in(WORDS, &folded.text(token.start, token.end)) => {
                let unit = spaced_unit(folded, token.end);
                out.push(quantity(folded, token.start, token.end, unit));
            }
            _ => {}
        }
    }
    inherit_units(folded, &mut out);
    out
}

fn arabic(folded: &Folded, token: Token, next: Option<&Token>) -> Quantity {
    let unit = match next {
        Some(n) if n.kind == TokenKind::Unit && n.start == token.end => Some((folded.text(n.start, n.end), n.end)),
        _ => symbol_unit(folded, token.end)
            .or_else(|| measure(folded, token.end))
            .or_else(|| spaced_unit(folded, token.end)),
    };
    quantity(folded, token.start, token.end, unit)
}

fn quantity(folded: &Folded, start: usize, number_end: usize, unit: Option<(String, usize)>) -> Quantity {
    let end = unit.as_ref().map_or(number_end, |u| u.1);
    Quantity {
        number: folded.text(start, number_end),
        unit: unit.map(|u| stem(&u.0)),
        bound: bound(folded, start, end),
        start,
        end,
    }
}

fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|w| w == word)
}

fn skip_spaces(folded: &Folded, mut at: usize) -> usize {
    while folded.chars.get(at).is_some_and(|c| c.is_whitespace()) {
        at += 1;
    }
    at
}

fn symbol_unit(folded: &Folded, at: usize) -> Option<(String, usize)> {
    let start = skip_spaces(folded, at);
    match folded.chars.get(start)? {
        '%' | '‰' | '"' | '″' if start == at || folded.chars[start] == '%' => {
            (folded.chars[start] != '"').then(|| (folded.text(start, start + 1), start + 1))
        }
        '°' => {
            let end = start + 1 + usize::from(matches!(folded.chars.get(start + 1), Some('c' | 'f')));
            Some((folded.text(start, end), end))
        }
        _ => None,
    }
}

fn measure(folded: &Folded, at: usize) -> Option<(String, usize)> {
    let start = skip_spaces(folded, at);
    let found = MEASURES.split(' ').filter(|m| folded.has(start, m)).max_by_key(|m| m.chars().count())?;
    Some((found.to_owned(), start + found.chars().count()))
}

fn spaced_unit(folded: &Folded, at: usize) -> Option<(String, usize)> {
    let start = skip_spaces(folded, if folded.chars.get(at) == Some(&'-') { at + 1 } else { at });
    let mut end = start;
    while folded.chars.get(end).is_some_and(|&c| is_wordlike(c) || c == '/') {
        end += 1;
    }
    let word = folded.text(start, end);
    let key = stem(&word);
    if word == "business" {
        let day = skip_spaces(folded, end);
        if folded.has(day, "day") {
            let stop = day + 3 + usize::from(folded.chars.get(day + 3) == Some(&'s'));
            return Some(("business day".to_owned(), stop));
        }
        return None;
    }
    is_in(UNITS, &key).then_some((key, end))
}

/// Numbers in Chinese numerals inside a run of ideographs.
fn numerals(folded: &Folded, run: Token, out: &mut Vec<Quantity>) {
    let is_numeral = |i: usize| i < run.end && NUMERALS.contains(folded.chars[i]);
    let mut i = run.start;
    while i < run.end {
        if !is_numeral(i) {
            i += 1;
            continue;
        }
        let start = i;
        while is_numeral(i) {
            i += 1;
        }
        let mut fraction = false;
        if folded.has(i, "分之") && is_numeral(i + 2) {
            fraction = true;
            i += 2;
            while is_numeral(i) {
                i += 1;
            }
        }
        // 万 and 亿 in front of a measure word belong to the number: 三十万|元.
        let unit = measure(folded, i).filter(|_| i < run.end);
        let ordinal = start > run.start && folded.chars[start - 1] == '第';
        let counts = match (i - start, &unit) {
            _ if fraction || ordinal => true,
            (1, None) => false,
            (1, Some((m, _))) => !idiom(folded, start, m),
            (2, _) => !matches!(folded.text(start, i).as_str(), "万一" | "一一" | "千万" | "万千"),
            _ => true,
        };
        if counts {
            out.push(quantity(folded, start, i, unit));
        }
    }
}

/// One numeral with a measure word that is no quantity: 一个 as an article, 十分重要, 统一.
fn idiom(folded: &Folded, start: usize, measure: &str) -> bool {
    let article =
        folded.chars[start] == '一' && matches!(measure, "个" | "個" | "种" | "種" | "时" | "时间" | "位" | "成");
    let adverb = folded.chars[start] == '十' && measure == "分";
    let inside = start > 0 && matches!(folded.chars[start - 1], '统' | '統' | '唯' | '同' | '单' | '逐' | '专');
    article || adverb || inside
}

fn bound(folded: &Folded, start: usize, end: usize) -> Option<Bound> {
    let mut before = start;
    while before > 0 && (folded.chars[before - 1].is_whitespace() || matches!(folded.chars[before - 1], '约' | '~')) {
        before -= 1;
    }
    let whole = |at: usize, word: &str| {
        !word.starts_with(|c: char| c.is_ascii_alphabetic()) || at == 0 || !is_wordlike(folded.chars[at - 1])
    };
    let left = longest(BEFORE, |word| {
        let n = word.chars().count();
        folded.ends(before, word) && whole(before - n, word)
    });
    let after = skip_spaces(folded, end);
    let right = longest(AFTER, |word| folded.has(after, word));
    left.or(right).or_else(|| time_bound(folded, end))
}

fn longest(table: &[(Bound, &str)], fits: impl Fn(&str) -> bool) -> Option<Bound> {
    let words = table.iter().flat_map(|(bound, words)| words.split('|').map(move |word| (word, *bound)));
    words.filter(|(word, _)| fits(word)).max_by_key(|(word, _)| word.chars().count()).map(|found| found.1)
}

/// `6月30日前` and `10秒后`: an end or a start in time.
fn time_bound(folded: &Folded, end: usize) -> Option<Bound> {
    let timed = ["日", "天", "月", "年", "时", "小时", "分钟", "秒", "周", "小時", "分鐘", "時"]
        .iter()
        .any(|u| folded.ends(end, u));
    let mut at = skip_spaces(folded, end);
    if matches!(folded.chars.get(at), Some('以' | '之')) {
        at += 1;
    }
    match folded.chars.get(at) {
        Some('前') if timed => Some(Bound::Upper),
        Some('后' | '後') if timed => Some(Bound::Lower),
        _ => None,
    }
}

/// In `5-10 mm`, `5 至 10 mm` or `5, 10 and 20 mm` the unit belongs to every number.
fn inherit_units(folded: &Folded, all: &mut [Quantity]) {
    for i in (1..all.len()).rev() {
        let (left, right) = all.split_at_mut(i);
        let (Some(a), Some(b)) = (left.last_mut(), right.first()) else { continue };
        if a.unit.is_some() || b.unit.is_none() || b.start < a.end || b.start - a.end > 6 {
            continue;
        }
        let between: String = folded.text(a.end, b.start).split_whitespace().collect();
        if matches!(
            between.as_str(),
            "-" | "~" | "—" | "–" | "至" | "到" | "和" | "或" | "、" | "/" | "," | "to" | "and" | "or" | ""
        ) {
            a.unit = b.unit.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, Option<String>, Option<Bound>)> {
        quantities(&Folded::new(text)).into_iter().map(|q| (q.number, q.unit, q.bound)).collect()
    }

    fn q(number: &str, unit: &str, bound: Option<Bound>) -> (String, Option<String>, Option<Bound>) {
        (number.to_owned(), (!unit.is_empty()).then(|| unit.to_owned()), bound)
    }

    #[test]
    fn unit_and_direction_are_read_in_both_languages() {
        assert_eq!(read("油压不得低于0.45MPa"), [q("0.45", "mpa", Some(Bound::Lower))]);
        assert_eq!(
            read("处三十万元以上一百万元以下罚款"),
            [q("三十万", "元", Some(Bound::Lower)), q("一百万", "元", Some(Bound::Upper))]
        );
        assert_eq!(read("at least ten Business Days"), [q("ten", "business day", Some(Bound::Lower))]);
        assert_eq!(read("must not exceed 5 bar"), [q("5", "bar", Some(Bound::Upper))]);
        assert_eq!(read("负载率超过 80 % 时"), [q("80", "%", Some(Bound::Lower))]);
    }

    #[test]
    fn chinese_numerals_count_when_they_count_something() {
        assert_eq!(read("每二十四小时检查两次"), [q("二十四", "小时", None), q("两", "次", None)]);
        assert_eq!(read("百分之三"), [q("百分之三", "", None)]);
        assert_eq!(read("第五百一十条"), [q("五百一十", "条", None)]);
        assert!(read("一般事故统一处理，一旦发生十分危险，选择一个").is_empty());
    }

    #[test]
    fn every_number_of_a_range_has_the_unit() {
        assert_eq!(read("-10~60 °C"), [q("-10", "°c", None), q("60", "°c", None)]);
        assert_eq!(read("5 to 10 mm"), [q("5", "mm", None), q("10", "mm", None)]);
    }
}

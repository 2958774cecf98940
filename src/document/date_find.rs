//! Dates in running text, in the ways that Chinese and English documents write them.

use super::Date;

/// A date and the characters that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// First character.
    pub(super) start: usize,
    /// One past the last character.
    pub(super) end: usize,
    /// What it says.
    pub(super) date: Date,
}

/// Years that are believed; other numbers of four digits are counts and codes.
const YEARS: std::ops::RangeInclusive<i32> = 1900..=2199;

pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The dates in `text`, in order and disjoint. A year alone counts only with 年 after it; what could be read in two ways
/// (`03/04/2021`) gives no more than its year.
pub(super) fn dates(text: &[char]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let reader = Reader { text, at };
        let glued = at > 0 && (text[at - 1].is_alphanumeric() && !is_han(text[at - 1]) || text[at - 1] == '.');
        let date = match text[at] {
            c if glued && c.is_ascii_alphanumeric() => None,
            c if digit(c).is_some() => numeric(&reader).or_else(|| day_first(&reader)),
            c if c.is_ascii_alphabetic() => month_name(&reader),
            c if han_digit(c).is_some() => han(&reader),
            _ => None,
        };
        match date {
            Some((end, date)) => {
                found.push(Found { start: at, end, date });
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// The dates in a line, in order.
pub(crate) fn dates_in(line: &str) -> Vec<Date> {
    dates(&line.chars().collect::<Vec<_>>()).into_iter().map(|found| found.date).collect()
}

fn digit(c: char) -> Option<u32> {
    match c {
        '０'..='９' => Some(c as u32 - '０' as u32),
        _ => c.to_digit(10),
    }
}

fn han_digit(c: char) -> Option<u32> {
    match c {
        '〇' | '○' | '零' => Some(0),
        _ => "一二三四五六七八九".chars().position(|d| d == c).and_then(|i| u32::try_from(i + 1).ok()),
    }
}

fn is_han(c: char) -> bool {
    ('\u{3400}'..='\u{9fff}').contains(&c)
}

/// A place in a text, moved forward by what is read.
#[derive(Clone, Copy)]
struct Reader<'t> {
    text: &'t [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let c = self.peek().filter(|c| wanted(*c))?;
        self.at += 1;
        Some(c)
    }

    fn blanks(&mut self) {
        while self.take(|c| matches!(c, ' ' | '\u{a0}' | '\u{3000}')).is_some() {}
    }

    /// A run of digits of a length in `lengths`, after which no digit follows.
    fn number(&mut self, lengths: std::ops::RangeInclusive<usize>) -> Option<(i32, usize)> {
        let start = self.at;
        let mut value = 0i32;
        while let Some(d) = self.peek().and_then(digit) {
            value = value.checked_mul(10)?.checked_add(i32::try_from(d).ok()?)?;
            self.at += 1;
        }
        let len = self.at - start;
        lengths.contains(&len).then_some((value, len))
    }

    fn small(&mut self) -> Option<u8> {
        u8::try_from(self.number(1..=2)?.0).ok()
    }

    /// The word of letters here, in lower case.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.take(|c| c.is_ascii_alphabetic()) {
            word.push(c.to_ascii_lowercase());
        }
        word
    }
}

/// `2021年6月10日`, `2021-06-10`, `2021/6/10`, `2021.06`, `20210610`.
fn numeric(from: &Reader<'_>) -> Option<(usize, Date)> {
    let mut r = *from;
    let (number, len) = r.number(4..=8)?;
    if len == 8 {
        let (year, month, day) =
            (number / 10_000, u8::try_from(number / 100 % 100).ok()?, u8::try_from(number % 100).ok()?);
        return Some((r.at, Date::new(year, Some(month), Some(day)).filter(believed)?));
    }
    if len != 4 || !YEARS.contains(&number) {
        return None;
    }
    let mut after = r;
    after.blanks();
    if after.take(|c| c == '年').is_some() {
        return Some(chinese_rest(after, number, |r| r.small()));
    }
    let separator = r.take(|c| matches!(c, '-' | '/' | '.' | '－' | '．' | '／' | '‑' | '–'))?;
    let (month, digits) = r.number(1..=2)?;
    let month = u8::try_from(month).ok()?;
    let end_of_month = r.at;
    if r.take(|c| c == separator).is_some()
        && let Some(day) = r.small()
    {
        // A fourth part makes it a version or an address.
        let goes_on = r.peek() == Some(separator) && r.text.get(r.at + 1).is_some_and(|c| digit(*c).is_some());
        let date = Date::new(number, Some(month), Some(day))?;
        return (!goes_on).then_some((r.at, date));
    }
    // `DOC-2021-06` is a number of a document as likely as a month.
    let numbered = from.at > 0 && matches!(from.text[from.at - 1], '-' | '_' | '/');
    let date = Date::new(number, Some(month), None)?;
    (digits == 2 && !numbered).then_some((end_of_month, date))
}

/// What follows 年: month and day, as far as they are there.
fn chinese_rest(mut r: Reader<'_>, year: i32, small: impl Fn(&mut Reader<'_>) -> Option<u8>) -> (usize, Date) {
    let alone = Date { year, month: None, day: None };
    let mut best = (r.at, alone);
    r.blanks();
    let Some(month) = small(&mut r) else { return best };
    r.blanks();
    if r.take(|c| matches!(c, '月')).is_none() {
        return best;
    }
    let Some(date) = Date::new(year, Some(month), None) else { return best };
    best = (r.at, date);
    r.blanks();
    let Some(day) = small(&mut r) else { return best };
    r.blanks();
    if r.take(|c| matches!(c, '日' | '号' | '號')).is_none() {
        return best;
    }
    Date::new(year, Some(month), Some(day)).map_or(best, |date| (r.at, date))
}

/// `二〇二一年六月十日`.
fn han(from: &Reader<'_>) -> Option<(usize, Date)> {
    let mut r = *from;
    let mut year = 0;
    for _ in 0..4 {
        year = year * 10 + i32::try_from(han_digit(r.take(|c| han_digit(c).is_some())?)?).ok()?;
    }
    r.take(|c| c == '年')?;
    YEARS.contains(&year).then(|| chinese_rest(r, year, han_small))
}

/// 一 to 三十一.
fn han_small(r: &mut Reader<'_>) -> Option<u8> {
    let digits = |r: &mut Reader<'_>| r.take(|c| han_digit(c).is_some_and(|d| d > 0)).and_then(han_digit);
    let first = digits(r);
    let value = match r.take(|c| c == '十') {
        Some(_) => first.unwrap_or(1) * 10 + digits(r).unwrap_or(0),
        None => first?,
    };
    u8::try_from(value).ok()
}

/// `1 March 2021`, `1st of March, 2021`, `31.12.2021`, `31/12/2021`, `03/2021`.
fn day_first(from: &Reader<'_>) -> Option<(usize, Date)> {
    let mut r = *from;
    let first = r.small()?;
    if let Some(separator) = r.take(|c| matches!(c, '/' | '.')) {
        if separator == '/'
            && let Some((year, 4)) = { r }.number(4..=4)
        {
            r.number(4..=4)?;
            return Some((r.at, Date::new(year, Some(first), None).filter(believed)?));
        }
        let second = r.small()?;
        r.take(|c| c == separator)?;
        let (year, _) = r.number(4..=4)?;
        let (day, month) = match separator {
            '.' => (first, second),
            _ if first > 12 => (first, second),
            _ if second > 12 || first == second => (second, first),
            _ => return Some((r.at, Date::new(year, None, None).filter(believed)?)),
        };
        return Some((r.at, Date::new(year, Some(month), Some(day)).filter(believed)?));
    }
    if matches!(r.peek(), Some('s' | 'n' | 'r' | 't')) && !matches!(r.word().as_str(), "st" | "nd" | "rd" | "th") {
        return None;
    }
    r.take(|c| c == '-');
    r.blanks();
    let mut word = r.word();
    if word == "of" {
        r.blanks();
        word = r.word();
    }
    let month = month_number(&word)?;
    r.take(|c| c == '.');
    r.take(|c| matches!(c, '-' | ','));
    r.blanks();
    let (year, _) = r.number(4..=4)?;
    Some((r.at, Date::new(year, Some(month), Some(first)).filter(believed)?))
}

/// `March 2021`, `March 1, 2021`, `Mar. 1st 2021`.
fn month_name(from: &Reader<'_>) -> Option<(usize, Date)> {
    let mut r = *from;
    let month = month_number(&r.word())?;
    r.take(|c| c == '.');
    r.take(|c| matches!(c, '-' | ','));
    r.blanks();
    let (number, len) = r.number(1..=4)?;
    if len == 4 {
        return Some((r.at, Date::new(number, Some(month), None).filter(believed)?));
    }
    let day = u8::try_from(number).ok()?;
    if r.peek().is_some_and(|c| c.is_ascii_alphabetic()) && !matches!(r.word().as_str(), "st" | "nd" | "rd" | "th") {
        return None;
    }
    r.take(|c| c == ',');
    r.blanks();
    let (year, _) = r.number(4..=4)?;
    Some((r.at, Date::new(year, Some(month), Some(day)).filter(believed)?))
}

/// The number of a month by its English name or an abbreviation of three letters (`Sept` too).
fn month_number(word: &str) -> Option<u8> {
    let same = |name: &&str| {
        **name == *word || (word.len() == 3 && name.starts_with(word)) || (word == "sept" && **name == *"september")
    };
    MONTHS.iter().position(same).and_then(|i| u8::try_from(i + 1).ok())
}

fn believed(date: &Date) -> bool {
    YEARS.contains(&date.year)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        dates(&chars).into_iter().map(|found| found.date.to_string()).collect()
    }

    #[test]
    fn the_usual_ways_to_write_a_date_are_read() {
        for (text, date) in [
            ("2021年6月10日修订", "2021-06-10"),
            ("２０２１年 6 月 10 日", "2021-06-10"),
            ("二〇二一年六月十日", "2021-06-10"),
            ("二〇二四年十二月三十一日", "2024-12-31"),
            ("2021年6月", "2021-06"),
            ("2021年度报告", "2021"),
            ("2021年13月", "2021"),
            ("2021-06-10T08:00:00Z", "2021-06-10"),
            ("2021/6/1", "2021-06-01"),
            ("2021.06.10", "2021-06-10"),
            ("2021-06", "2021-06"),
            ("20210610", "2021-06-10"),
            ("Version of 1 March 2021", "2021-03-01"),
            ("1st of March, 2021", "2021-03-01"),
            ("1-Mar-2021", "2021-03-01"),
            ("March 1, 2021", "2021-03-01"),
            ("Sept. 2021", "2021-09"),
            ("31.12.2021", "2021-12-31"),
            ("31/12/2021", "2021-12-31"),
            ("12/31/2021", "2021-12-31"),
            ("03/04/2021", "2021"),
            ("03/2021", "2021-03"),
        ] {
            assert_eq!(found(text), [date], "{text}");
        }
    }

    #[test]
    fn numbers_that_are_no_dates_are_left_alone() {
        for text in [
            "BX-2000",
            "2021",
            "2,021 rpm",
            "12021年",
            "2021-13",
            "2021-02-30",
            "1.2021.06.10",
            "2021.06.10.3",
            "DOC-2021-06",
            "99991231",
            "may 5 bar",
            "marching 2021",
            "A20210610",
            "5000年",
            "20210610123",
            "31.12.5021",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn several_dates_come_in_order() {
        let text = "2002年6月29日通过　根据2009年8月27日《决定》修正";
        assert_eq!(found(text), ["2002-06-29", "2009-08-27"]);
    }
}

//! Number formats: what a cell shows for its value (ISO/IEC 29500-1, 18.8.30 and 18.8.31).
//!
//! The usual formats are followed to the letter: digits, thousands, per cent, powers, currencies, signs by section, dates,
//! times, durations, fractions.

use super::clock::{self, Moment};
use super::decimal::{Decimal, general};
use super::places::Digits;

/// A format, taken apart once and used for many cells.
#[derive(Debug, Clone, Default)]
pub(super) struct Format {
    sections: Vec<Section>,
}

#[derive(Debug, Clone, Default)]
struct Section {
    tokens: Vec<Token>,
    condition: Option<(Comparison, f64)>,
    is_date: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Literal(String),
    General,
    /// `0`, `#` or `?`.
    Digit(char),
    Point,
    Comma,
    Percent,
    /// Digits of the power follow; whether a plus is shown.
    Power(bool),
    Slash,
    Text,
    /// A run of `y`, `m`, `d`, `h`, `s`, `a` or `e`, and how long it is.
    Date(char, usize),
    /// `[h]` and the like: hours, minutes or seconds in all.
    Elapsed(char, usize),
    /// `AM/PM`: the two words.
    Noon(String, String),
}

impl Format {
    /// Takes a format code apart, as far as programs allow one to be long.
    pub(super) fn new(code: &str) -> Self {
        const LONGEST: usize = 512;
        let code = code.char_indices().nth(LONGEST).and_then(|(end, _)| code.get(..end)).unwrap_or(code);
        Self { sections: split(code).into_iter().take(4).map(|section| Section::new(&section)).collect() }
    }

    /// The format with a number in the list that programs know by heart, as a Chinese Excel shows them.
    pub(super) fn builtin(id: u16) -> Self {
        let code = match id {
            1 => "0",
            2 => "0.00",
            3 => "#,##0",
            4 => "#,##0.00",
            5 | 37 => "#,##0;-#,##0",
            6 | 38 => "#,##0;-#,##0",
            7 | 8 | 39 | 40 => "#,##0.00;-#,##0.00",
            9 => "0%",
            10 => "0.00%",
            11 => "0.00E+00",
            12 => "# ?/?",
            13 => "# ??/??",
            14 => "yyyy/m/d",
            15 => "d-mmm-yy",
            16 => "d-mmm",
            17 => "mmm-yy",
            18 => "h:mm AM/PM",
            19 => "h:mm:ss AM/PM",
            20 => "h:mm",
            21 => "h:mm:ss",
            22 => "yyyy/m/d h:mm",
            27 | 36 | 50 | 52 | 57 => "yyyy\"年\"m\"月\"",
            28 | 29 | 51 | 53 | 54 | 58 => "m\"月\"d\"日\"",
            30 => "m-d-yy",
            31 => "yyyy\"年\"m\"月\"d\"日\"",
            32 => "h\"时\"mm\"分\"",
            33 => "h\"时\"mm\"分\"ss\"秒\"",
            34 | 55 => "上午/下午h\"时\"mm\"分\"",
            35 | 56 => "上午/下午h\"时\"mm\"分\"ss\"秒\"",
            41 | 42 => "#,##0;-#,##0;-",
            43 | 44 => "#,##0.00;-#,##0.00;-",
            45 => "mm:ss",
            46 => "[h]:mm:ss",
            47 => "mm:ss.0",
            48 => "##0.0E+0",
            49 => "@",
            _ => "General",
        };
        Self::new(code)
    }

    /// True for a format that text has as well as numbers, because nobody chose it for figures.
    pub(super) fn is_general(&self) -> bool {
        self.sections
            .iter()
            .all(|section| section.tokens.iter().all(|token| matches!(token, Token::General | Token::Text)))
    }

    /// What a number shows. `since_1904` tells which day is the first.
    pub(super) fn number(&self, number: f64, since_1904: bool) -> String {
        if !number.is_finite() {
            return general(number);
        }
        let Some((section, shows_sign)) = self.section(number) else { return general(number) };
        if section.is_date {
            return section.date(number, since_1904).unwrap_or_else(|| general(number));
        }
        section.digits(number, shows_sign)
    }

    /// What text shows.
    pub(super) fn text(&self, text: &str) -> String {
        let of_text = |section: &&Section| section.tokens.contains(&Token::Text);
        let Some(section) = self.sections.get(3).or_else(|| self.sections.iter().find(of_text)).filter(of_text) else {
            return text.to_string();
        };
        let piece = |token: &Token| match token {
            Token::Literal(literal) => literal.clone(),
            Token::Text => text.to_string(),
            _ => String::new(),
        };
        section.tokens.iter().map(piece).collect()
    }

    /// The section for a number, and whether a minus has to be put before it.
    fn section(&self, number: f64) -> Option<(&Section, bool)> {
        let numeric: Vec<&Section> = self.sections.iter().take(3).collect();
        if numeric.iter().any(|section| section.condition.is_some()) {
            let holds = |section: &&&Section| {
                section.condition.is_none_or(|(comparison, limit)| comparison.holds(number, limit))
            };
            return numeric.iter().find(holds).map(|section| (*section, number < 0.0));
        }
        match (numeric.as_slice(), number) {
            ([only], _) => Some((only, number < 0.0)),
            ([_, negative, ..], n) if n < 0.0 => Some((negative, false)),
            ([_, _, zero], 0.0) => Some((zero, false)),
            ([positive, ..], _) => Some((positive, false)),
            ([], _) => None,
        }
    }
}

impl Comparison {
    fn holds(self, number: f64, limit: f64) -> bool {
        match self {
            Self::Less => number < limit,
            Self::LessOrEqual => number <= limit,
            Self::Greater => number > limit,
            Self::GreaterOrEqual => number >= limit,
            Self::Equal => number == limit,
            Self::NotEqual => number != limit,
        }
    }
}

/// The sections of a code; `;` in quotes, brackets and after a backslash does not end one.
fn split(code: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let (mut quoted, mut bracket, mut escaped) = (false, false, false);
    for c in code.chars() {
        let ends = c == ';' && !quoted && !bracket && !escaped;
        match c {
            _ if escaped => {}
            '"' => quoted = !quoted,
            '[' if !quoted => bracket = true,
            ']' if !quoted => bracket = false,
            _ => {}
        }
        escaped = !escaped && !quoted && matches!(c, '\\' | '_' | '*');
        if ends {
            out.push(String::new());
        } else if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out
}

impl Section {
    fn new(code: &str) -> Self {
        let mut section = Self::default();
        let mut rest = code;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            rest = match c {
                '"' => {
                    let (literal, after) = after.split_once('"').unwrap_or((after, ""));
                    section.literal(literal);
                    after
                }
                '\\' | '!' => section.escaped(after, true),
                // A gap as wide as the next character, or the next character up to the edge of the cell.
                '_' => section.escaped(after, false),
                '*' => section.escaped(after, false),
                '[' => {
                    let (inside, after) = after.split_once(']').unwrap_or((after, ""));
                    section.bracket(inside);
                    after
                }
                _ => section.plain(rest, c, after),
            };
        }
        section.is_date = section.tokens.iter().any(|token| matches!(token, Token::Date(..) | Token::Elapsed(..)));
        section.minutes();
        section
    }

    fn literal(&mut self, text: &str) {
        match self.tokens.last_mut() {
            Some(Token::Literal(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.tokens.push(Token::Literal(text.to_string())),
        }
    }

    fn escaped<'c>(&mut self, after: &'c str, shown: bool) -> &'c str {
        let Some(c) = after.chars().next() else { return "" };
        if shown {
            self.literal(c.encode_utf8(&mut [0; 4]));
        }
        after.get(c.len_utf8()..).unwrap_or_default()
    }

    /// Colours go, conditions and currencies count, `[h]` are hours in all.
    fn bracket(&mut self, inside: &str) {
        let lower = inside.to_ascii_lowercase();
        if let Some(currency) = inside.strip_prefix('$') {
            self.literal(currency.split('-').next().unwrap_or_default());
        } else if let Some(c) =
            lower.chars().next().filter(|c| matches!(c, 'h' | 'm' | 's') && lower.chars().all(|o| o == *c))
        {
            self.tokens.push(Token::Elapsed(c, lower.len()));
        } else {
            const SIGNS: &[(&str, Comparison)] = &[
                ("<=", Comparison::LessOrEqual),
                (">=", Comparison::GreaterOrEqual),
                ("<>", Comparison::NotEqual),
                ("<", Comparison::Less),
                (">", Comparison::Greater),
                ("=", Comparison::Equal),
            ];
            let condition = SIGNS.iter().find_map(|(sign, comparison)| {
                Some((*comparison, inside.strip_prefix(sign)?.trim().parse::<f64>().ok()?))
            });
            self.condition = self.condition.or(condition);
        }
    }

    fn plain<'c>(&mut self, rest: &'c str, c: char, after: &'c str) -> &'c str {
        let starts = |word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        if starts("General") {
            self.tokens.push(Token::General);
            return rest.get("General".len()..).unwrap_or_default();
        }
        for (am, pm) in [("AM", "PM"), ("A", "P"), ("上午", "下午")] {
            let word = format!("{am}/{pm}");
            if starts(&word) {
                self.tokens.push(Token::Noon(am.to_string(), pm.to_string()));
                return rest.get(word.len()..).unwrap_or_default();
            }
        }
        let lower = c.to_ascii_lowercase();
        match lower {
            '0' | '#' | '?' => self.tokens.push(Token::Digit(c)),
            '.' => self.tokens.push(Token::Point),
            ',' => self.tokens.push(Token::Comma),
            '%' => {
                self.tokens.push(Token::Percent);
            }
            '/' => self.tokens.push(Token::Slash),
            '@' => self.tokens.push(Token::Text),
            'e' if after.starts_with(['+', '-']) => {
                self.tokens.push(Token::Power(after.starts_with('+')));
                return after.get(1..).unwrap_or_default();
            }
            'y' | 'm' | 'd' | 'h' | 's' | 'a' | 'e' => {
                let count = rest.chars().take_while(|o| o.to_ascii_lowercase() == lower).count();
                self.tokens.push(Token::Date(lower, count));
                return rest.get(count..).unwrap_or_default();
            }
            _ => self.literal(c.encode_utf8(&mut [0; 4])),
        }
        after
    }

    /// An `m` after hours or before seconds means minutes; it is kept as `i`.
    fn minutes(&mut self) {
        let mut after_hours = false;
        let seconds: Vec<bool> = (0..self.tokens.len())
            .map(|at| {
                let next =
                    self.tokens.iter().skip(at + 1).find(|token| matches!(token, Token::Date(..) | Token::Elapsed(..)));
                matches!(next, Some(Token::Date('s', _) | Token::Elapsed('s', _)))
            })
            .collect();
        for (token, before_seconds) in self.tokens.iter_mut().zip(seconds) {
            match token {
                Token::Date(c, _) if *c == 'm' => {
                    if after_hours || before_seconds {
                        *c = 'i';
                    }
                    after_hours = false;
                }
                Token::Date(c, _) | Token::Elapsed(c, _) => after_hours = *c == 'h',
                _ => {}
            }
        }
    }

    fn date(&self, number: f64, since_1904: bool) -> Option<String> {
        let places = self.second_places();
        let moment = Moment::new(number, since_1904, places)?;
        let is_half_day = self.tokens.iter().any(|token| matches!(token, Token::Noon(..)));
        let mut out = String::new();
        let mut tokens = self.tokens.iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                Token::Literal(text) => out.push_str(text),
                Token::Date(c, count) => out.push_str(&moment.part(*c, *count, is_half_day)),
                Token::Elapsed(c, count) => out.push_str(&moment.elapsed(*c, *count)),
                Token::Noon(am, pm) => out.push_str(if moment.hour < 12 { am } else { pm }),
                Token::Slash => out.push('/'),
                Token::Comma => out.push(','),
                Token::Percent => out.push('%'),
                Token::Point if matches!(tokens.peek(), Some(Token::Digit(_))) => {
                    out.push_str(&moment.fraction(places));
                    while tokens.next_if(|token| matches!(token, Token::Digit(_))).is_some() {}
                }
                Token::Point => out.push('.'),
                Token::General | Token::Digit(_) | Token::Power(_) | Token::Text => {}
            }
        }
        Some(out)
    }

    /// Places of a second that the format shows.
    fn second_places(&self) -> usize {
        let from = self.tokens.iter().position(|token| *token == Token::Point).map_or(self.tokens.len(), |at| at + 1);
        self.tokens.iter().skip(from).take_while(|token| matches!(token, Token::Digit(_))).count().min(clock::PLACES)
    }

    fn digits(&self, number: f64, shows_sign: bool) -> String {
        let is_digit = |token: &Token| matches!(token, Token::Digit(_));
        let Some(first) = self.tokens.iter().position(is_digit) else { return self.without_digits(number, shows_sign) };
        if self.tokens.contains(&Token::Slash) {
            return self.fraction(number, shows_sign);
        }
        let last = self.tokens.iter().rposition(is_digit).unwrap_or(first);
        let power = self.tokens.iter().position(|token| matches!(token, Token::Power(_)));
        let point = self.tokens.iter().position(|token| *token == Token::Point);
        let end = power.unwrap_or(last + 1);
        let point_at = point.filter(|&at| at < end).unwrap_or(end);
        let count = |from: usize, to: usize| {
            self.tokens.get(from..to).map_or(0, |part| part.iter().filter(|t| is_digit(t)).count())
        };
        let places = if point_at < end { count(point_at, end) } else { 0 };
        // Commas right after the last digit before the point divide by a thousand each; between digits they group.
        let whole = self.tokens.get(first..point_at).unwrap_or_default();
        let after = self.tokens.iter().skip(last + 1).take_while(|token| **token == Token::Comma).count();
        let trailing = whole.iter().rev().take_while(|token| **token == Token::Comma).count() + after;
        let groups = whole.iter().rev().skip_while(|token| **token == Token::Comma).any(|token| *token == Token::Comma);
        let percent = self.tokens.iter().filter(|token| **token == Token::Percent).count();
        let scale = 2 * percent.min(8) as i32 - 3 * trailing.min(8) as i32;
        let mut decimal = Decimal::new(number).shifted(scale);
        let mut exponent = 0;
        if power.is_some() {
            let step = count(first, point_at).max(1) as i32;
            exponent = decimal.exponent().div_euclid(step) * step;
            if step == 1 && decimal.clone().shifted(-exponent).rounded(places).exponent() > 0 {
                exponent += 1;
            }
            decimal = decimal.shifted(-exponent);
        }
        let decimal = decimal.rounded(places);
        let minus = if shows_sign && !decimal.is_zero() { "-" } else { "" };
        let mut writer = Digits::new(&decimal, minus, groups, count(first, point_at));
        for (at, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Literal(text) => writer.out.push_str(text),
                Token::Digit(_) if power.is_some_and(|power| at > power) => {}
                Token::Digit(mark) => writer.digit(*mark),
                Token::Point if at == point_at => writer.point(),
                Token::Point => writer.out.push('.'),
                Token::Comma if at < first => writer.out.push(','),
                Token::Percent => writer.out.push('%'),
                Token::Power(plus) => {
                    let width = self.tokens.iter().skip(at + 1).filter(|token| is_digit(token)).count();
                    let sign = if exponent < 0 {
                        "-"
                    } else if *plus {
                        "+"
                    } else {
                        ""
                    };
                    writer.out.push_str(&format!("E{sign}{:0width$}", exponent.abs()));
                }
                _ => {}
            }
        }
        writer.out.trim().to_string()
    }

    /// A whole number, if the format has a place for it, and a fraction with a denominator of as many digits as there are
    /// places, or the one that the format names.
    fn fraction(&self, number: f64, shows_sign: bool) -> String {
        let slash = self.tokens.iter().position(|token| *token == Token::Slash).unwrap_or(0);
        let (before, after) = self.tokens.split_at(slash);
        let is_digit = |token: &&Token| matches!(token, Token::Digit(_));
        let over = before.iter().rev().skip_while(|token| !is_digit(token)).take_while(is_digit).count();
        let has_whole = before.iter().filter(is_digit).count() > over;
        let places = after.iter().filter(is_digit).count().clamp(1, 3) as u32;
        let named = after.iter().find_map(|token| match token {
            Token::Literal(text) => text.trim().parse::<u32>().ok().filter(|&n| (1..=1000).contains(&n)),
            _ => None,
        });
        let value = number.abs();
        if value > 1e9 {
            return general(number);
        }
        let whole = if has_whole { value.trunc() } else { 0.0 };
        let rest = value - whole;
        let error = |under: u32| ((rest * f64::from(under)).round() / f64::from(under) - rest).abs();
        let under = named.unwrap_or_else(|| {
            (1..10u32.pow(places)).fold(1, |best, under| if error(under) + 1e-12 < error(best) { under } else { best })
        });
        let over = (rest * f64::from(under)).round();
        let (whole, over) = if has_whole && over >= f64::from(under) { (whole + 1.0, 0.0) } else { (whole, over) };
        let minus = if shows_sign && (whole > 0.0 || over > 0.0) { "-" } else { "" };
        match (whole > 0.0, over > 0.0) {
            (true, true) => format!("{minus}{whole} {over}/{under}"),
            (false, true) => format!("{minus}{over}/{under}"),
            _ if has_whole || whole > 0.0 => format!("{minus}{whole}"),
            _ => format!("{minus}0/{under}"),
        }
    }

    fn without_digits(&self, number: f64, shows_sign: bool) -> String {
        let mut out = String::new();
        let number = if shows_sign { number } else { number.abs() };
        let is_words = self.tokens.iter().all(|token| matches!(token, Token::Literal(_)));
        if is_words && shows_sign && !self.tokens.is_empty() {
            out.push('-');
        }
        for token in &self.tokens {
            match token {
                Token::Literal(text) => out.push_str(text),
                Token::General | Token::Text => out.push_str(&general(number)),
                Token::Percent => out.push('%'),
                Token::Comma => out.push(','),
                Token::Point => out.push('.'),
                Token::Slash => out.push('/'),
                _ => {}
            }
        }
        out.trim().to_string()
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;

//! Folding, tokens and terms: how statements and their sources are compared.
//!
//! Comparison ignores width and case (Unicode NFKC and lower case), so that `ＥＲＲ－９８０１` and `err-9801` are the same
//! code. Every folded character remembers the code point it came from, so that what is found can be pointed at.

use std::collections::HashSet;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::document::Span;

/// A text after folding, with the way back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folded {
    /// Folded characters.
    pub(crate) chars: Vec<char>,
    /// For each folded character the code point of the original that it came from.
    origin: Vec<usize>,
}

impl Folded {
    /// Folds `text`.
    pub(crate) fn new(text: &str) -> Self {
        let mut folded = Self::default();
        let mut input = text.chars().enumerate().peekable();
        while let Some((at, c)) = input.next() {
            if matches!(c, '\n' | '\r') {
                // A wrapped line: white space around the break is one space, or nothing between ideographs. An empty line
                // keeps its neighbours apart.
                let mut breaks = usize::from(c == '\n');
                while let Some((_, next)) = input.next_if(|(_, next)| next.is_whitespace()) {
                    breaks += usize::from(next == '\n');
                }
                while folded.chars.last() == Some(&' ') {
                    folded.chars.pop();
                    folded.origin.pop();
                }
                let joins = breaks < 2
                    && folded.chars.last().copied().is_some_and(is_ideograph)
                    && input.peek().is_some_and(|(_, next)| is_ideograph(*next));
                if !joins {
                    folded.push(' ', at);
                }
            } else if c.is_ascii() {
                folded.push(c.to_ascii_lowercase(), at);
            } else if is_ideograph(c) {
                folded.push(c, at);
            } else {
                match c {
                    // The minus sign and the hyphens that look like it.
                    '\u{2212}' | '\u{2010}' | '\u{2011}' => folded.push('-', at),
                    '’' | '‘' => folded.push('\'', at),
                    _ => {
                        for n in std::iter::once(c).nfkc().flat_map(char::to_lowercase) {
                            folded.push(n, at);
                        }
                    }
                }
            }
        }
        folded
    }

    fn push(&mut self, c: char, at: usize) {
        self.chars.push(c);
        self.origin.push(at);
    }

    /// Number of folded characters.
    pub(crate) fn len(&self) -> usize {
        self.chars.len()
    }

    /// The folded characters of a range, as a string.
    pub(crate) fn text(&self, start: usize, end: usize) -> String {
        self.chars[start.min(self.len())..end.min(self.len())].iter().collect()
    }

    /// The code points of the original that `start..end` came from.
    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        if start >= end || end > self.len() {
            let at = self.origin.get(start).copied().unwrap_or_else(|| self.origin.last().map_or(0, |o| o + 1));
            return Span::new(at, at);
        }
        Span::new(self.origin[start], self.origin[end - 1] + 1)
    }

    /// First folded character that comes from code point `at` or later.
    pub(crate) fn position(&self, at: usize) -> usize {
        self.origin.partition_point(|&o| o < at)
    }

    /// True when `needle` begins at `at`.
    pub(crate) fn has(&self, at: usize, needle: &str) -> bool {
        let rest = self.chars.get(at..).unwrap_or_default();
        let mut len = 0;
        needle.chars().zip(rest).all(|(c, own)| {
            len += 1;
            c == *own
        }) && len == needle.chars().count()
    }

    /// True when `needle` ends right before `at`.
    pub(crate) fn ends(&self, at: usize, needle: &str) -> bool {
        let n = needle.chars().count();
        at >= n && self.has(at - n, needle)
    }

    /// True when `needle` (folded) stands in the text with nothing alphanumeric glued to it.
    pub(crate) fn contains_word(&self, needle: &[char]) -> bool {
        if needle.is_empty() || needle.len() > self.len() {
            return false;
        }
        self.chars.windows(needle.len()).enumerate().any(|(i, window)| {
            window == needle
                && (i == 0 || !is_wordlike(self.chars[i - 1]))
                && self.chars.get(i + needle.len()).is_none_or(|&c| !is_wordlike(c))
        })
    }

    /// True when `needle` (folded) stands anywhere in the text.
    pub(crate) fn contains(&self, needle: &[char]) -> bool {
        self.find_all(needle, 0..self.len()).next().is_some()
    }

    /// Where `needle` (folded) begins within `range`, in order; occurrences may overlap.
    pub(crate) fn find_all<'t>(&'t self, needle: &'t [char], range: Range<usize>) -> impl Iterator<Item = usize> + 't {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        let windows = self.chars[start..end].windows(needle.len().max(1)).enumerate();
        windows.filter(move |(_, w)| *w == needle).map(move |(i, _)| start + i)
    }
}

/// Han characters and kana: scripts written without spaces, compared by pairs.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}'
        | '\u{3040}'..='\u{30ff}' | '々' | '〇')
}

/// Letters and digits of scripts that are written in words, and the underscore.
pub(crate) fn is_wordlike(c: char) -> bool {
    (c.is_alphanumeric() || c == '_') && !is_ideograph(c)
}

/// True for letters, digits and ideographs.
pub(crate) fn is_content(c: char) -> bool {
    c.is_alphanumeric()
}

/// True when a text counts as Chinese: it has ideographs at all. Chinese with Latin names is Chinese.
pub(crate) fn is_chinese(text: &str) -> bool {
    text.chars().any(is_ideograph)
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A run of ideographs.
    Han,
    /// A word of letters only (hyphens and dots inside allowed).
    Word,
    /// Letters mixed with digits or underscores: a code or a model name.
    Code,
    /// Digits, with sign and decimal marks. Glued unit letters follow as a token of kind `Unit`.
    Number,
    /// Letters glued to a number, such as `MPa` in `0.45MPa`.
    Unit,
}

/// A token of a folded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

fn is_connector(c: char) -> bool {
    matches!(c, '_' | '.' | '/' | '+' | '-')
}

/// Cuts a folded text into tokens, in order; punctuation and white space belong to none.
pub(crate) fn tokens(folded: &Folded) -> Vec<Token> {
    let chars = &folded.chars;
    let at = |i: usize| chars.get(i).copied().unwrap_or(' ');
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        if is_ideograph(c) {
            let start = i;
            while is_ideograph(at(i)) {
                i += 1;
            }
            out.push(Token { kind: TokenKind::Han, start, end: i });
            continue;
        }
        let free = i == 0 || !is_wordlike(chars[i - 1]);
        let signed = free && matches!(c, '-' | '±' | '.') && number_len(chars, i + 1) > 0 && c != '.';
        let fraction = free && c == '.' && at(i + 1).is_ascii_digit();
        if !is_wordlike(c) && !signed && !fraction {
            i += 1;
            continue;
        }
        let lead = usize::from(signed || fraction);
        let digits = number_len(chars, i + lead);
        if digits > 0 {
            let end = i + lead + digits;
            let mut stop = end;
            // Letters glued to the number: a unit such as `mm` or `mm/s`. Anything longer or mixed is a code.
            while is_wordlike(at(stop)) || (at(stop) == '/' && stop > end && at(stop + 1).is_alphabetic()) {
                stop += 1;
            }
            let glued = &chars[end..stop];
            if glued.is_empty() {
                out.push(Token { kind: TokenKind::Number, start: i, end });
                i = end;
                continue;
            }
            if glued.len() <= 7 && glued.iter().all(|c| c.is_alphabetic() || *c == '/') {
                out.push(Token { kind: TokenKind::Number, start: i, end });
                out.push(Token { kind: TokenKind::Unit, start: end, end: stop });
                i = stop;
                continue;
            }
        }
        let start = i + usize::from(signed);
        i = start.max(i + 1);
        while is_wordlike(at(i)) || (is_connector(at(i)) && is_wordlike(at(i + 1))) {
            i += 1;
        }
        let code = chars[start..i].iter().any(|c| c.is_numeric() || matches!(c, '_' | '/' | '+'));
        out.push(Token { kind: if code { TokenKind::Code } else { TokenKind::Word }, start, end: i });
    }
    out
}

/// Length of `\d+([.,]\d+)*` at `i`; 0 if there is none.
fn number_len(chars: &[char], i: usize) -> usize {
    let digit = |k: usize| chars.get(k).is_some_and(char::is_ascii_digit);
    let mut k = i;
    while digit(k) {
        k += 1;
        if matches!(chars.get(k), Some('.' | ',')) && digit(k + 1) {
            k += 1;
        }
    }
    k - i
}

/// A unit of comparison: a pair of ideographs (or one that stands alone), a stemmed word, a code or a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) key: String,
    /// Folded characters.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The terms of a folded text in order, function words of English left out.
pub(crate) fn terms(folded: &Folded) -> Vec<Term> {
    let mut out = Vec::new();
    for token in tokens(folded) {
        let Token { kind, start, end } = token;
        match kind {
            TokenKind::Han if end - start == 1 => out.push(Term { key: folded.text(start, end), start, end }),
            TokenKind::Han => {
                out.extend((start..end - 1).map(|i| Term { key: folded.text(i, i + 2), start: i, end: i + 2 }));
            }
            TokenKind::Word => {
                let word = folded.text(start, end);
                if !is_function_word(&word) {
                    out.push(Term { key: stem(&word), start, end });
                }
            }
            TokenKind::Code | TokenKind::Number => out.push(Term { key: folded.text(start, end), start, end }),
            TokenKind::Unit => {}
        }
    }
    out
}

/// The keys of [`terms`] as a set.
pub(crate) fn term_set(terms: &[Term]) -> HashSet<String> {
    terms.iter().map(|t| t.key.clone()).collect()
}

/// Articles, prepositions, auxiliaries and pronouns of English: they carry no content of their own. Negations and modals
/// are not here; a gate of their own looks after them.
fn is_function_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "a", "an", "the", "of", "to", "in", "on", "at", "for", "and", "or", "is", "are", "be", "been", "being", "was",
        "were", "by", "with", "from", "as", "that", "which", "who", "whose", "it", "its", "this", "these", "those",
        "there", "has", "have", "had", "do", "does", "did", "so", "than", "then", "s", "into", "also", "such", "any",
        "their", "they", "them", "your", "you", "if", "when", "while", "but", "each", "one", "can", "will",
    ];
    WORDS.contains(&word)
}

/// A light English stemmer: plural, `-ed`, `-ing`, doubled consonant and final `e` go.
pub(crate) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    let mut s = word;
    if s.ends_with("ies") && s.len() > 4 {
        return format!("{}y", &s[..s.len() - 3]);
    }
    if s.ends_with('s') && !s.ends_with("ss") && !s.ends_with("us") && !s.ends_with("is") {
        s = &s[..s.len() - 1];
    }
    for suffix in ["ing", "ed"] {
        if s.len() > suffix.len() + 3 && s.ends_with(suffix) {
            s = &s[..s.len() - suffix.len()];
            break;
        }
    }
    let bytes = s.as_bytes();
    if bytes.len() > 3
        && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
        && !matches!(bytes[bytes.len() - 1], b's' | b'e' | b'l')
    {
        s = &s[..s.len() - 1];
    }
    s.strip_suffix('e').filter(|r| r.len() > 2).unwrap_or(s).to_owned()
}

/// Statement without punctuation, white space, width and case: equal keys are the same statement.
pub(crate) fn identity(statement: &str) -> String {
    Folded::new(statement).chars.into_iter().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '%')).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, String)> {
        let folded = Folded::new(text);
        tokens(&folded).into_iter().map(|t| (t.kind, folded.text(t.start, t.end))).collect()
    }

    #[test]
    fn width_and_case_do_not_matter_and_the_way_back_is_kept() {
        let folded = Folded::new("报警ＥＲＲ－９８０１：5℃");
        assert_eq!(folded.text(0, folded.len()), "报警err-9801:5°c");
        assert_eq!(folded.span(2, 10), Span::new(2, 10));
        assert_eq!(folded.span(folded.len() - 1, folded.len()), Span::new(12, 13));
    }

    #[test]
    fn numbers_units_codes_and_words_are_told_apart() {
        use TokenKind::{Code, Han, Number, Unit, Word};
        let expected: Vec<(TokenKind, String)> = [
            (Han, "压力低于"),
            (Number, "0.45"),
            (Unit, "mpa"),
            (Han, "时"),
            (Code, "bx-9000"),
            (Han, "报"),
            (Code, "err-9801"),
            (Han, "温度"),
            (Number, "-10"),
            (Number, "60"),
            (Word, "bl-touch"),
            (Code, "config_digital_out"),
        ]
        .map(|(k, s)| (k, s.to_owned()))
        .into();
        assert_eq!(kinds("压力低于0.45MPa时，BX-9000 报 ERR-9801，温度 -10~60，BL-Touch config_digital_out"), expected);
    }

    #[test]
    fn a_wrapped_line_is_read_as_one() {
        let folded = Folded::new("can \r\n  not 关\n闭\n\n阀");
        assert_eq!(folded.text(0, folded.len()), "can not 关闭 阀");
        assert_eq!(folded.span(9, 10), Span::new(14, 15));
    }

    #[test]
    fn a_range_is_two_numbers() {
        assert_eq!(kinds("5-10mm").iter().map(|t| t.1.as_str()).collect::<Vec<_>>(), ["5", "10", "mm"]);
    }

    #[test]
    fn english_inflection_does_not_matter() {
        for (a, b) in [("stopping", "stop"), ("located", "locates"), ("batteries", "battery"), ("closing", "closes")] {
            assert_eq!(stem(a), stem(b));
        }
    }

    #[test]
    fn statements_that_differ_in_punctuation_only_are_the_same() {
        assert_eq!(identity("请勿 拆除“防护罩”。"), identity("请勿拆除防护罩"));
        assert_ne!(identity("温度为 1.5"), identity("温度为 15"));
    }
}

//! Where sentences end, in Chinese and in English.

/// Characters that are searched for a closing bracket or back-quote before the opening one is taken for a stray.
const REACH: usize = 200;

/// Abbreviations that never end a sentence, lower case, without the last full stop.
const OPEN_ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "cf", "vs", "viz", "approx", "fig", "figs", "eq", "eqs", "sec", "ch", "chap", "art", "arts", "vol",
    "pp", "ref", "refs", "dr", "mr", "mrs", "ms", "prof", "st", "mt", "ca", "max", "min", "tel", "ext", "dept", "est",
    "rev", "para", "tab",
];
/// Abbreviations that end a sentence only before a capital letter.
const CLOSING_ABBREVIATIONS: &[&str] =
    &["etc", "inc", "ltd", "co", "corp", "al", "a.m", "p.m", "jr", "sr", "ph.d", "resp"];
/// Words that begin a sentence when they follow a single capital letter and a full stop (`class B. The …`).
const STARTERS: &[&str] = &[
    "The", "This", "These", "That", "If", "When", "In", "It", "A", "An", "For", "To", "Do", "Use", "On", "At", "There",
    "You", "See",
];

/// Calls `emit` with the byte offset just behind each sentence of `text` (closing quotes and brackets included). The end
/// of `text` is not emitted. `markdown` skips code spans and keeps emphasis whole. Linear in the length of `text`.
pub(crate) fn ends(text: &str, markdown: bool, mut emit: impl FnMut(usize)) {
    let mut scan = Scan { text, markdown, star_open: false, quote_open: false, blocked: 0 };
    let (mut at, mut token, mut sentence) = (0, 0, 0);
    let mut previous: Option<char> = None;
    let mut chinese = false;
    while let Some(c) = scan.char_at(at) {
        let next = at + c.len_utf8();
        if c.is_whitespace() {
            if sentence == at {
                sentence = next;
            }
            (at, token, previous) = (next, next, Some(c));
            continue;
        }
        if matches!(c, '(' | '（' | '[' | '`')
            && let Some(close) = scan.closing(at, c)
        {
            (at, previous) = (close, Some(')'));
            continue;
        }
        chinese |= is_cjk(c);
        let end = match c {
            '。' | '｡' | '！' | '？' | '；' => Some(scan.behind(next)),
            '…' | '⋯' => scan.ellipsis(at),
            '!' | '?' => scan.ascii_mark(at, chinese),
            ';' if chinese => scan.semicolon(at, token),
            '.' => scan.full_stop(at, token, sentence, previous),
            _ => None,
        };
        if c == '*' {
            let run = scan.run(at, '*');
            scan.star_open = !scan.star_open;
            (at, previous) = (run, Some('*'));
            if token + (run - at) == at {
                token = run;
            }
            continue;
        }
        if c == '"' {
            scan.quote_open = !scan.quote_open;
        }
        match end {
            Some(end) => {
                if end < text.len() {
                    emit(end);
                }
                (at, token, sentence, chinese) = (end, end, end, false);
                previous = None;
            }
            None => (at, previous) = (next, Some(c)),
        }
    }
}

/// Ideographs, kana and the full-width punctuation of Chinese text.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

struct Scan<'a> {
    text: &'a str,
    markdown: bool,
    /// Inside `**emphasis**`.
    star_open: bool,
    /// Inside straight quotes.
    quote_open: bool,
    /// Brackets before this offset were found to have no partner within reach.
    blocked: usize,
}

impl Scan<'_> {
    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn before(&self, at: usize) -> Option<char> {
        self.text.get(..at)?.chars().next_back()
    }

    /// End of the run of `c` that starts at `at`.
    fn run(&self, at: usize, c: char) -> usize {
        at + self.text[at..].chars().take_while(|&d| d == c).map(char::len_utf8).sum::<usize>()
    }

    /// First character at or after `at` that is no white space.
    fn next_visible(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().find(|c| !c.is_whitespace())
    }

    /// Offset behind the partner of the bracket or back-quote at `at`, if it is within reach.
    fn closing(&mut self, at: usize, open: char) -> Option<usize> {
        if at < self.blocked || (open == '`' && !self.markdown) {
            return None;
        }
        let mut depth = 0usize;
        let fence = self.run(at, open);
        let mut inner = if open == '`' { fence } else { at };
        let start = inner;
        for (steps, c) in self.text[start..].chars().enumerate() {
            if steps > REACH {
                break;
            }
            let next = inner + c.len_utf8();
            match (open, c) {
                ('`', '`') if self.before(inner) != Some('`') || inner == start => {
                    let end = self.run(inner, '`');
                    if end - inner == fence - at {
                        return Some(end);
                    }
                }
                ('[', '[') | ('(' | '（', '(' | '（') => depth += 1,
                ('[', ']') | ('(' | '（', ')' | '）') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(next);
                    }
                }
                _ => {}
            }
            inner = next;
        }
        self.blocked = inner.max(fence);
        None
    }

    /// Offset behind further marks and closing quotes, brackets and emphasis that belong to the sentence.
    fn behind(&mut self, mut at: usize) -> usize {
        while let Some(c) = self.char_at(at) {
            let after = at + c.len_utf8();
            let follows = self.char_at(after);
            let belongs = match c {
                '。' | '！' | '？' | '!' | '?' | '…' | '；' | '”' | '’' | '」' | '』' | '）' | '】' | '》' | '〉'
                | '〕' | '］' | '｝' | ')' | ']' | '}' => true,
                '"' if self.quote_open => {
                    self.quote_open = false;
                    true
                }
                '\'' | '_' => follows.is_none_or(|f| f.is_whitespace() || is_cjk(f) || matches!(f, '"' | ')' | '*')),
                '*' if self.markdown && self.star_open => {
                    self.star_open = false;
                    at = self.run(at, '*');
                    continue;
                }
                _ => false,
            };
            if !belongs {
                break;
            }
            at = after;
        }
        at
    }

    /// `……` ends a sentence only where the text stops or a space follows; before a word it is a pause.
    fn ellipsis(&mut self, at: usize) -> Option<usize> {
        let dots =
            at + self.text[at..].chars().take_while(|c| matches!(c, '…' | '⋯')).map(char::len_utf8).sum::<usize>();
        let end = self.behind(dots);
        match self.char_at(end) {
            None => Some(end),
            Some(c) if c.is_whitespace() => match self.next_visible(end) {
                Some(n) if n.is_lowercase() => None,
                _ => Some(end),
            },
            _ => (end > dots).then_some(end),
        }
    }

    fn ascii_mark(&mut self, at: usize, chinese: bool) -> Option<usize> {
        let marks = at + self.text[at..].bytes().take_while(|b| matches!(b, b'!' | b'?')).count();
        let (stars, quotes) = (self.star_open, self.quote_open);
        let end = self.behind(marks);
        match self.char_at(end) {
            None => return Some(end),
            // `Yahoo! is` and `"Why?" he asked` go on.
            Some(c) if c.is_whitespace() && self.next_visible(end).is_none_or(|n| !n.is_lowercase()) => {
                return Some(end);
            }
            Some(c) if is_cjk(c) && chinese => return Some(end),
            _ => {}
        }
        (self.star_open, self.quote_open) = (stars, quotes);
        None
    }

    /// An ASCII semicolon in Chinese text; not the end of an HTML entity.
    fn semicolon(&mut self, at: usize, token: usize) -> Option<usize> {
        let word = self.text.get(token..at).unwrap_or_default();
        let entity = word
            .rsplit_once('&')
            .is_some_and(|(_, name)| name.len() < 12 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'#'));
        if entity {
            return None;
        }
        let end = at + 1;
        match self.char_at(end) {
            None => Some(end),
            Some(c) if c.is_whitespace() || is_cjk(c) => Some(end),
            _ => None,
        }
    }

    fn full_stop(&mut self, at: usize, token: usize, sentence: usize, previous: Option<char>) -> Option<usize> {
        let dots = self.run(at, '.');
        let after_cjk = previous.is_some_and(is_cjk);
        let (stars, quotes) = (self.star_open, self.quote_open);
        let end = self.behind(dots);
        let follows = self.char_at(end);
        let ends = match follows {
            None => true,
            Some(c) if c.is_whitespace() => {
                let next = self.next_visible(end);
                if dots - at > 1 {
                    next.is_none_or(|n| !n.is_lowercase() && !n.is_ascii_punctuation())
                } else {
                    self.stops(at, token, sentence, previous, end, next)
                }
            }
            Some(c) => is_cjk(c) && after_cjk && dots - at == 1,
        };
        if !ends {
            (self.star_open, self.quote_open) = (stars, quotes);
        }
        ends.then_some(end)
    }

    /// Whether a single full stop at `at`, followed by white space and then `next`, ends the sentence.
    fn stops(
        &self,
        at: usize,
        token: usize,
        sentence: usize,
        previous: Option<char>,
        end: usize,
        next: Option<char>,
    ) -> bool {
        let Some(next) = next else { return true };
        if previous.is_none_or(char::is_whitespace) || previous.is_some_and(is_cjk) {
            return previous.is_some();
        }
        let word = self.text[token.min(at)..at].trim_start_matches(|c: char| !c.is_alphanumeric());
        let number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'(' | b')'));
        let opening = self.text[sentence.min(token)..token].trim().chars().all(|c| !c.is_alphanumeric());
        if opening && (number || word.chars().count() == 1) {
            return false;
        }
        let lower = word.to_ascii_lowercase();
        if matches!(lower.as_str(), "no" | "nos" | "art" | "item") && next.is_ascii_digit() {
            return false;
        }
        if OPEN_ABBREVIATIONS.contains(&lower.as_str()) {
            // `max.` and `min.` at the end of a sentence stand before a capital letter that starts no name.
            let unit_like = matches!(lower.as_str(), "max" | "min" | "approx" | "ref" | "est" | "tab" | "ext");
            return unit_like && next.is_uppercase() && word.chars().all(char::is_lowercase);
        }
        if CLOSING_ABBREVIATIONS.contains(&lower.as_str()) {
            return next.is_uppercase() || is_cjk(next);
        }
        let mut letters = word.chars();
        if let (Some(only), None) = (letters.next(), letters.next())
            && only.is_uppercase()
            && next.is_uppercase()
        {
            let follower = self.text[end..].split_whitespace().next().unwrap_or_default();
            return only == 'I' || STARTERS.contains(&follower);
        }
        let initials =
            word.contains('.') && word.split('.').all(|p| p.len() == 1 && p.as_bytes()[0].is_ascii_uppercase());
        if initials {
            let follower = self.text[end..].split_whitespace().next().unwrap_or_default();
            return STARTERS.contains(&follower);
        }
        !next.is_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        let mut cuts = vec![0];
        ends(text, true, |at| cuts.push(at));
        cuts.push(text.len());
        cuts.windows(2).map(|w| text[w[0]..w[1]].trim()).filter(|s| !s.is_empty()).collect()
    }

    #[test]
    fn chinese_sentences_end_with_their_marks_and_closers() {
        for (text, expected) in [
            ("主轴停止。报警灯亮！怎么办？", vec!["主轴停止。", "报警灯亮！", "怎么办？"]),
            ("他说：“先停机。”然后离开。", vec!["他说：“先停机。”", "然后离开。"]),
            ("罚款五万元；情节严重的，吊销执照。", vec!["罚款五万元；", "情节严重的，吊销执照。"]),
            (
                "关闭阀门（注意：先泄压！切勿带压）后继续。完成。",
                vec!["关闭阀门（注意：先泄压！切勿带压）后继续。", "完成。"],
            ),
            ("压力为 0.45 MPa;温度为 85 ℃;正常。", vec!["压力为 0.45 MPa;", "温度为 85 ℃;", "正常。"]),
            ("等等……然后继续。", vec!["等等……然后继续。"]),
            ("**注意。**下一句。", vec!["**注意。**", "下一句。"]),
            ("前句。**重点** 后句。", vec!["前句。", "**重点** 后句。"]),
            (
                "版本 v1.2.3 已发布。请访问 https://a.example/x?y=1;z 查看。",
                vec!["版本 v1.2.3 已发布。", "请访问 https://a.example/x?y=1;z 查看。"],
            ),
            ("真的吗？！是的。", vec!["真的吗？！", "是的。"]),
            ("温度过高.请停机.", vec!["温度过高.", "请停机."]),
        ] {
            assert_eq!(split(text), expected);
        }
    }

    #[test]
    fn english_full_stops_are_told_from_abbreviations_and_numbers() {
        for (text, expected) in [
            ("Set it to 3.5 mm. Then stop.", vec!["Set it to 3.5 mm.", "Then stop."]),
            (
                "Use a tool, e.g. a wrench. See Fig. 3 and No. 5.",
                vec!["Use a tool, e.g. a wrench.", "See Fig. 3 and No. 5."],
            ),
            ("The answer is no. Then stop.", vec!["The answer is no.", "Then stop."]),
            (
                "Dr. J. Smith of the U.S. Navy left. He returned.",
                vec!["Dr. J. Smith of the U.S. Navy left.", "He returned."],
            ),
            (
                "Bolts, nuts, etc. are included. Wires, etc. The rest is not.",
                vec!["Bolts, nuts, etc. are included.", "Wires, etc.", "The rest is not."],
            ),
            ("1. Turn it off. 2. Wait.", vec!["1. Turn it off.", "2. Wait."]),
            ("Edit printer.cfg and run v1.2.3. Done!", vec!["Edit printer.cfg and run v1.2.3.", "Done!"]),
            ("He said \"Stop.\" Then he left.", vec!["He said \"Stop.\"", "Then he left."]),
            ("Wait... then go. Wait... Then go.", vec!["Wait... then go.", "Wait...", "Then go."]),
            ("It is class B. The other is A.", vec!["It is class B.", "The other is A."]),
            (
                "Call `a.b; c! d` now. (See below. It helps.) End.",
                vec!["Call `a.b; c! d` now.", "(See below. It helps.) End."],
            ),
            ("a method . in a recent note , it", vec!["a method .", "in a recent note , it"]),
            ("Temp. rises; wait? yes", vec!["Temp. rises; wait? yes"]),
        ] {
            assert_eq!(split(text), expected);
        }
    }

    #[test]
    fn stray_brackets_do_not_swallow_the_text() {
        assert_eq!(split("(a sentence. Another one."), vec!["(a sentence.", "Another one."]);
        let many = "(".repeat(100_000) + ". End.";
        assert_eq!(split(&many).len(), 2);
    }
}

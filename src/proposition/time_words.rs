//! Which words count from the day of writing, and finding them.

use crate::proposition::lexis::is_ideograph;

/// How far a time word lies from the day of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Years(i32),
    Quarters(i32),
    Months(i32),
    Days(i32),
    /// A week or a fiscal year: the date of a document does not say which.
    Unknown,
}

/// A time word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    /// First character.
    pub(super) start: usize,
    /// One past the last character.
    pub(super) end: usize,
    /// Where a date may stand: after the word and its possessive ending.
    pub(super) after: usize,
    pub(super) step: Step,
    pub(super) chinese: bool,
    /// True for words that never count from anything else than the day of writing.
    pub(super) plain: bool,
}

/// Plain words first: those of the second table also stand in rules.
const PLAIN_ZH: &[(&str, Step)] = &[
    ("前年", Step::Years(-2)),
    ("去年", Step::Years(-1)),
    ("今年", Step::Years(0)),
    ("明年", Step::Years(1)),
    ("后年", Step::Years(2)),
    ("後年", Step::Years(2)),
    ("前天", Step::Days(-2)),
    ("昨天", Step::Days(-1)),
    ("昨日", Step::Days(-1)),
];
const OTHER_ZH: &[(&str, Step)] = &[
    ("上年", Step::Years(-1)),
    ("上一年", Step::Years(-1)),
    ("本年", Step::Years(0)),
    ("下年", Step::Years(1)),
    ("下一年", Step::Years(1)),
    ("来年", Step::Years(1)),
    ("上季度", Step::Quarters(-1)),
    ("上一季度", Step::Quarters(-1)),
    ("上个季度", Step::Quarters(-1)),
    ("本季度", Step::Quarters(0)),
    ("这个季度", Step::Quarters(0)),
    ("下季度", Step::Quarters(1)),
    ("下一季度", Step::Quarters(1)),
    ("下个季度", Step::Quarters(1)),
    ("上月", Step::Months(-1)),
    ("上个月", Step::Months(-1)),
    ("上個月", Step::Months(-1)),
    ("本月", Step::Months(0)),
    ("这个月", Step::Months(0)),
    ("這個月", Step::Months(0)),
    ("下月", Step::Months(1)),
    ("下个月", Step::Months(1)),
    ("下個月", Step::Months(1)),
    ("今天", Step::Days(0)),
    ("今日", Step::Days(0)),
    ("本日", Step::Days(0)),
    ("明天", Step::Days(1)),
    ("明日", Step::Days(1)),
    ("后天", Step::Days(2)),
    ("後天", Step::Days(2)),
    ("上周", Step::Unknown),
    ("本周", Step::Unknown),
    ("下周", Step::Unknown),
    ("上星期", Step::Unknown),
    ("本星期", Step::Unknown),
    ("下星期", Step::Unknown),
    ("上财年", Step::Unknown),
    ("本财年", Step::Unknown),
    ("下财年", Step::Unknown),
];

/// The time words of `text`, in order and disjoint. Quoted words, and words beside which the date stands already, are
/// none.
pub(super) fn words(text: &[char]) -> Vec<Word> {
    all_words(text).into_iter().filter(|word| !is_dated(&text[word.after..])).collect()
}

/// [`words`], and those beside which the date stands.
pub(super) fn all_words(text: &[char]) -> Vec<Word> {
    let mut found = Vec::new();
    let mut quoted: Option<Vec<bool>> = None;
    let mut at = 0;
    while at < text.len() {
        let Some(word) = chinese_at(text, at).or_else(|| english_at(text, at)) else {
            at += 1;
            continue;
        };
        at = word.end;
        let quoted = quoted.get_or_insert_with(|| quotes(text));
        if !quoted[word.start] {
            found.push(word);
        }
    }
    found
}

/// For each character whether it stands between quotation or title marks.
fn quotes(text: &[char]) -> Vec<bool> {
    let mut inside = vec![false; text.len()];
    let mut at = 0;
    while at < text.len() {
        let close = match text[at] {
            '“' => '”',
            '「' => '」',
            '『' => '』',
            '《' => '》',
            mark @ ('"' | '`') => mark,
            _ => {
                at += 1;
                continue;
            }
        };
        match text[at + 1..].iter().position(|&c| c == close) {
            Some(len) => {
                inside[at..at + len + 2].fill(true);
                at += len + 2;
            }
            None => at += 1,
        }
    }
    inside
}

/// True where a bracket with a year follows.
fn is_dated(after: &[char]) -> bool {
    const NEAR: usize = 24;
    let after = &after[..after.len().min(NEAR)];
    let open = after.iter().position(|c| !c.is_whitespace());
    let Some(open) = open.filter(|&at| matches!(after[at], '(' | '（')) else { return false };
    let inside: Vec<char> = after[open + 1..].iter().copied().take_while(|c| !matches!(c, ')' | '）')).collect();
    inside.windows(4).any(|w| w.iter().all(char::is_ascii_digit))
}

fn chinese_at(text: &[char], at: usize) -> Option<Word> {
    if !matches!(text[at], '前' | '去' | '今' | '明' | '后' | '後' | '昨' | '上' | '本' | '下' | '来' | '这' | '這')
    {
        return None;
    }
    let here = |word: &str| word.chars().enumerate().all(|(i, c)| text.get(at + i) == Some(&c));
    let longest = |table: &'static [(&'static str, Step)]| {
        table.iter().filter(|(word, _)| here(word)).max_by_key(|(word, _)| word.chars().count())
    };
    let (entry, plain) = match longest(PLAIN_ZH) {
        Some(entry) => (entry, true),
        None => (longest(OTHER_ZH)?, false),
    };
    let (word, step) = entry;
    let mut end = at + word.chars().count();
    if word.ends_with('年') && text.get(end) == Some(&'度') {
        end += 1;
    }
    let before = at.checked_sub(1).map(|k| text[k]);
    let after = text.get(end).copied();
    let stands = may_follow(text[at], word, before) && may_precede(word, after);
    stands.then_some(Word { start: at, end, after: end, step: *step, chinese: true, plain })
}

/// False where the first character of the word belongs to the word before: 说明｜年限, 日本｜月刊, 以上｜年度.
fn may_follow(first: char, word: &str, before: Option<char>) -> bool {
    let Some(before) = before.filter(|c| is_ideograph(*c)) else { return true };
    // 投产后｜年产量, 目前｜年产量: these two end so many words that they need a clear start.
    if matches!(first, '前' | '后' | '後') {
        return "于在从到至自和与及比较較對对於與從".contains(before);
    }
    let joined = match first {
        '去' => "除减減失过過离離拆逝扣撤省进進出回",
        '今' => "如当當至",
        '明' => "说說证證表声聲标標注註阐闡照透发發文光未不查载載简簡",
        '本' => "日样樣基版成书書文标標根资資课課原副剧劇脚账帳单單抄译譯读讀范範",
        '上' => "以晚早海船路地线線网網身马馬",
        '下' => "以底地脚天如余餘零",
        '来' => "历歷近未从從以原将將往向本",
        _ => "",
    };
    !joined.contains(before) || (first == '今' && before == '至' && word == "今年")
}

/// False where the last character of the word belongs to the word after: 去年｜龄, 本周｜期, 明日｜期.
fn may_precede(word: &str, after: Option<char>) -> bool {
    let Some(after) = after else { return true };
    let joined = match word.chars().last() {
        Some('年') => "限龄齡产產费費轻輕薪均化检檢审審级級代份纪紀、",
        Some('日') => "期志历曆常头頭",
        Some('月') => "牌刊份",
        Some('周') => "期边邊围圍长長转轉身",
        _ => "",
    };
    !joined.contains(after)
}

fn english_at(text: &[char], at: usize) -> Option<Word> {
    let starts = at == 0 || !is_word_char(text[at - 1]);
    if !starts || !matches!(text[at].to_ascii_lowercase(), 'l' | 't' | 'n' | 'y' | 'c') {
        return None;
    }
    let (first, end) = word_at(text, at);
    let span = |end: usize, step: Step, plain: bool| {
        let possessive = matches!(text.get(end), Some('\'' | '’')) && word_at(text, end + 1).0 == "s";
        let after = if possessive { end + 2 } else { end };
        Some(Word { start: at, end, after, step, chinese: false, plain })
    };
    match first.as_str() {
        "yesterday" => return span(end, Step::Days(-1), true),
        // Today's machines are those of any day.
        "today" => return span(end, Step::Days(0), false).filter(|word| word.after == word.end),
        "tomorrow" => return span(end, Step::Days(1), false),
        _ => {}
    }
    let n = match first.as_str() {
        "last" => -1,
        "this" | "current" => 0,
        "next" => 1,
        _ => return None,
    };
    // `the last year of service`, `every next month`: an order, not a time.
    let before = word_before(text, at);
    let ordered = matches!(
        before.as_str(),
        "the" | "a" | "every" | "each" | "its" | "his" | "her" | "their" | "our" | "your" | "final" | "very" | "of"
    );
    if ordered && n != 0 {
        return None;
    }
    let from = skip_blanks(text, end)?;
    let (mut unit, mut end) = word_at(text, from);
    let fiscal = matches!(unit.as_str(), "fiscal" | "financial" | "business" | "tax");
    if fiscal {
        let from = skip_blanks(text, end)?;
        (unit, end) = word_at(text, from);
    }
    let step = match unit.as_str() {
        "year" | "quarter" if fiscal => Step::Unknown,
        "year" => Step::Years(n),
        "quarter" => Step::Quarters(n),
        "month" => Step::Months(n),
        "week" => Step::Unknown,
        _ => return None,
    };
    // `this year-round service`, `last quarter of 2023`.
    let goes_on = text.get(end).is_some_and(|c| matches!(c, '-' | '_') || c.is_alphanumeric());
    let of =
        skip_blanks(text, end).is_some_and(|from| matches!(word_at(text, from).0.as_str(), "of" | "mile" | "turn"));
    if goes_on || of {
        return None;
    }
    span(end, step, n != 0 && step == Step::Years(n))
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// The word at `at` in lower case and where it ends.
fn word_at(text: &[char], at: usize) -> (String, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let len = rest.iter().take_while(|c| c.is_ascii_alphabetic()).count();
    (rest[..len].iter().map(char::to_ascii_lowercase).collect(), at + len)
}

/// The first character after one or more blanks.
fn skip_blanks(text: &[char], at: usize) -> Option<usize> {
    let blanks = text.get(at..)?.iter().take_while(|c| c.is_whitespace()).count();
    (blanks > 0).then_some(at + blanks)
}

fn word_before(text: &[char], at: usize) -> String {
    let end = text[..at].iter().rposition(|c| !c.is_whitespace()).map_or(0, |k| k + 1);
    let start = text[..end].iter().rposition(|c| !c.is_ascii_alphabetic()).map_or(0, |k| k + 1);
    text[start..end].iter().map(char::to_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        words(&chars).into_iter().map(|w| chars[w.start..w.end].iter().collect()).collect()
    }

    #[test]
    fn words_that_only_look_like_time_are_none() {
        for text in [
            "说明年限为五年。",
            "注明年、月、日。",
            "除去年费。",
            "日本月刊",
            "三年以上年度报告",
            "投产后年产量为 5 万件。",
            "目前年产量为 5 万件。",
            "样本年龄",
            "说明日期",
            "在本周期内完成。",
            "本月牌轴承",
            "请点击“今年”按钮。",
            "《去年的树》",
            "去年（2023年）更换了主轴。",
            "如今天气转冷。",
            "The last year of service ends.",
            "In the last quarter of 2023 it stopped.",
            "the next year",
            "every last month",
            "last years",
            "this year-round service",
            "Select \"last month\".",
            "last year (2023)",
            "the blast year",
            "Many of today's boards",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn time_words_are_found_where_they_stand() {
        for (text, expected) in [
            ("截至今年6月", vec!["今年"]),
            ("今年以来，比去年度多。", vec!["今年", "去年度"]),
            ("计划于后年大修", vec!["后年"]),
            ("较前年下降", vec!["前年"]),
            ("上一年度及本季度", vec!["上一年度", "本季度"]),
            ("Earlier this year and late LAST  year", vec!["this year", "LAST  year"]),
            ("in the current quarter", vec!["current quarter"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}

//! What the measures look at in a statement: its words, references that nothing inside resolves, modals, invented names.
//!
//! The definitions are those of the reference scorer, kept apart from the gates on purpose: a gate that is measured with
//! its own word lists always does well.

use std::collections::HashMap;

/// Negations and modals whose loss is counted.
const MODALS: &[&str] = &[
    "不得", "严禁", "禁止", "必须", "应当", "应", "不应", "不能", "不可", "可以", "未", "无需", "must", "shall", "not",
    "never", "may", "should", "cannot",
];

/// Words with how often each stands.
pub(super) type Words = HashMap<String, usize>;

/// Ideographs of the basic blocks.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Part of a word in the sense of regular expressions.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Decimal digits of the scripts that documents of ours use.
fn is_digit(c: char) -> bool {
    matches!(c, '0'..='9' | '０'..='９' | '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}' | '\u{966}'..='\u{96f}')
}

/// Bigrams of ideographs (a lone one counts itself) and lowercase runs of letters, digits and `_./+-`.
pub(super) fn words(statement: &str) -> Words {
    let lower = statement.to_lowercase();
    let mut out = Words::new();
    let latin = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '.' | '/' | '+' | '-');
    for run in lower.split(|c| !latin(c)).filter(|run| !run.is_empty()) {
        *out.entry(run.to_owned()).or_default() += 1;
    }
    for run in lower.split(|c| !is_ideograph(c)).filter(|run| !run.is_empty()) {
        let run: Vec<char> = run.chars().collect();
        for gram in run.windows(2.min(run.len())) {
            *out.entry(gram.iter().collect()).or_default() += 1;
        }
    }
    out
}

/// F1 of two bags of words; 0 where they share none.
pub(super) fn f1(a: &Words, b: &Words) -> f64 {
    let shared: usize = a.iter().map(|(word, n)| b.get(word).map_or(0, |m| *n.min(m))).sum();
    if shared == 0 { 0.0 } else { (2 * shared) as f64 / (a.values().sum::<usize>() + b.values().sum::<usize>()) as f64 }
}

/// The modals of `gold` that `unit` lacks.
pub(super) fn modals_lost(gold: &str, unit: &str) -> Vec<&'static str> {
    MODALS.iter().copied().filter(|modal| has_modal(modal, gold) && !has_modal(modal, unit)).collect()
}

fn has_modal(modal: &str, statement: &str) -> bool {
    if modal.is_ascii() { has_word(&statement.to_lowercase(), modal) } else { statement.contains(modal) }
}

/// Whether `word` stands in `text` with a word boundary on each side.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Numbers, codes and Latin names of `statement` that `source` (lower case) lacks. In a statement with ideographs any Latin
/// word counts, else only what looks like a name.
pub(super) fn invented(statement: &str, source: &str) -> Vec<String> {
    let chinese = statement.chars().any(is_ideograph);
    let chars: Vec<char> = statement.chars().collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        let Some(end) = token_end(&chars, at) else {
            at += 1;
            continue;
        };
        let token: String = chars[at..end].iter().collect();
        let start = std::mem::replace(&mut at, end);
        if !source.contains(&token.to_lowercase()) && (chinese || is_name(&token, start)) {
            out.push(token);
        }
    }
    out
}

/// End of the Latin word or number that starts at `at`.
fn token_end(chars: &[char], at: usize) -> Option<usize> {
    let run =
        |from: usize, inside: &dyn Fn(char) -> bool| from + chars[from..].iter().take_while(|c| inside(**c)).count();
    if chars[at].is_ascii_alphabetic() {
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '+' | '-');
        let end = run(at, &inside);
        return Some((at + 1..=end).rev().find(|end| chars[end - 1].is_ascii_alphanumeric()).unwrap_or(at + 1));
    }
    if !is_digit(chars[at]) {
        return None;
    }
    let mut end = run(at, &is_digit);
    while matches!(chars.get(end), Some('.' | ',')) && chars.get(end + 1).is_some_and(|c| is_digit(*c)) {
        end = run(end + 1, &is_digit);
    }
    Some(end)
}

/// Digits, `_` or `/`, two capitals, a capital behind a small letter, or a capital that does not open the statement.
fn is_name(token: &str, start: usize) -> bool {
    let capitals = token.chars().filter(char::is_ascii_uppercase).count();
    let camel = token.as_bytes().windows(2).any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
    token.chars().any(|c| is_digit(c) || matches!(c, '_' | '/'))
        || capitals >= 2
        || camel
        || (start > 0 && token.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// A reference that nothing inside the statement resolves: one that points outside wherever it stands, or a pronoun with
/// no noun before it. What stands in quotation marks refers to nothing.
pub(super) fn dangling(statement: &str) -> bool {
    let plain = unquoted(statement);
    let text = plain.trim();
    if !text.chars().any(is_ideograph) {
        return dangling_english(text);
    }
    if points_outside(text) {
        return true;
    }
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let Some(len) = pronoun(&chars, at) else {
            at += 1;
            continue;
        };
        let before = without_openers(&chars[..at]);
        let content = before.iter().filter(|c| is_ideograph(**c) || c.is_ascii_alphanumeric()).count();
        if content < 2 {
            return true;
        }
        if chars[at] == '该' {
            let noun = noun(&chars[at + len..]);
            let said: String = chars[..at].iter().collect();
            if !noun.is_empty() && !said.contains(&noun) && before.len() < 6 {
                return true;
            }
        }
        at += len;
    }
    false
}

/// The statement without the shortest stretches from an opening to a closing quotation mark.
fn unquoted(statement: &str) -> String {
    let chars: Vec<char> = statement.chars().collect();
    let (mut out, mut at) = (String::new(), 0);
    while at < chars.len() {
        if matches!(chars[at], '“' | '"' | '「' | '《') {
            let stop = chars[at + 1..].iter().position(|c| matches!(c, '”' | '"' | '」' | '》' | '\n'));
            if let Some(len) = stop.filter(|len| chars[at + 1 + len] != '\n') {
                at += len + 2;
                continue;
            }
        }
        out.push(chars[at]);
        at += 1;
    }
    out
}

fn dangling_english(text: &str) -> bool {
    const DEICTIC: &[&str] =
        &["it", "its", "they", "them", "their", "he", "she", "his", "her", "this", "these", "those", "such"];
    /// Words in front of the pronoun that still count as the opening.
    const OPENING: usize = 3;
    let lower = text.to_lowercase();
    let outside = ["former", "latter", "above", "said"].iter().any(|word| has_word(&lower, &format!("the {word}")))
        || ["previous", "preceding", "foregoing"].iter().any(|word| {
            ["paragraph", "rule", "section"].iter().any(|what| starts_word(&lower, &format!("the {word} {what}")))
        });
    let mut opening = lower.split(|c| !is_word(c)).filter(|word| !word.is_empty()).take(OPENING + 1);
    outside || opening.any(|word| DEICTIC.contains(&word))
}

/// Whether `phrase` stands in `text` at the start of a word.
fn starts_word(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| !text[..at].chars().next_back().is_some_and(is_word))
}

fn points_outside(text: &str) -> bool {
    const OUTSIDE: &[&str] = &["上述", "前述", "前款", "前者", "后者", "本条", "本款", "如下所示"];
    OUTSIDE.iter().any(|word| text.contains(word))
        || text.match_indices("下列").any(|(at, word)| {
            // A list that follows on the line is what the word points to.
            let line = text[at + word.len()..].split('\n').next().unwrap_or_default();
            !line.contains(['：', ':', '、', '，'])
        })
}

/// Length of the pronoun at `at`.
fn pronoun(chars: &[char], at: usize) -> Option<usize> {
    let next = chars.get(at + 1).copied().unwrap_or('\0');
    let before = at.checked_sub(1).and_then(|i| chars.get(i)).copied().unwrap_or('\0');
    let third = chars.get(at + 2).copied().unwrap_or('\0');
    match chars[at] {
        '该' => {
            (!matches!(before, '应' | '活') && !matches!((next, third), ('当' | '怎', _) | ('如', '何'))).then_some(1)
        }
        '其' => (!matches!(next, '他' | '它' | '余' | '中' | '实' | '次')).then_some(1),
        '它' | '他' | '她' => Some(1 + usize::from(next == '们')),
        '这' => matches!(next, '个' | '些' | '种' | '时' | '样' | '一').then_some(2),
        '那' => matches!(next, '个' | '些' | '种' | '时').then_some(2),
        '此' => matches!(next, '时' | '类' | '种').then_some(2),
        _ => None,
    }
}

/// `chars` without the function words it opens with; of two that fit the one named first is taken.
fn without_openers(mut chars: &[char]) -> &[char] {
    const OPENERS: &[&str] = &[
        "当", "若", "如果", "如", "在", "对", "对于", "将", "把", "由", "从", "因", "因为", "仅", "只有", "除", "为",
        "使", "请", "则", "且", "并", "同时",
    ];
    while let Some(len) = OPENERS.iter().find_map(|word| {
        let len = word.chars().count();
        (chars.len() >= len && word.chars().eq(chars[..len].iter().copied())).then_some(len)
    }) {
        chars = &chars[len..];
    }
    chars
}

/// The two ideographs or the Latin word that follow a pronoun; empty where neither does.
fn noun(chars: &[char]) -> String {
    let from = chars.iter().take_while(|c| c.is_whitespace()).count();
    let rest = &chars[from..];
    if rest.len() >= 2 && rest[..2].iter().all(|c| is_ideograph(*c)) {
        return rest[..2].iter().collect();
    }
    let inside = |c: &&char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let word: String = rest.iter().take_while(inside).collect();
    if word.len() >= 2 && word.starts_with(|c: char| c.is_ascii_alphabetic()) { word } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_bigrams_of_ideographs_and_lowercase_latin_words() {
        let found = words("ERR-9801 主轴主轴 A");
        let mut found: Vec<(&str, usize)> = found.iter().map(|(w, n)| (w.as_str(), *n)).collect();
        found.sort_unstable();
        assert_eq!(found, [("a", 1), ("err-9801", 1), ("主轴", 2), ("轴主", 1)]);
        assert_eq!(words("轴").get("轴"), Some(&1));
        assert_eq!(f1(&words("主轴停止"), &words("主轴停止")), 1.0);
        assert_eq!(f1(&words("主轴停止"), &words("主轴")), 0.5);
        assert_eq!(f1(&words(""), &words("")), 0.0);
    }

    #[test]
    fn references_that_nothing_resolves_are_found() {
        for statement in [
            "该设备每月检查一次。",
            "上述期限为五年。",
            "当它停止时断电。",
            "应当遵守下列规定。",
            "主轴的该报警应复位。",
            "此时滑块停止。",
            // The second character of 其他 is read as 他.
            "其他部件不受影响。",
            "Stop it at once.",
            "Before you start, this must be off.",
            "The pump of the latter is off.",
            "See the preceding sections.",
        ] {
            assert!(dangling(statement), "{statement}");
        }
        for statement in [
            "主轴应该停止。",
            "液压机的主油泵停止后其出口阀关闭。",
            "主轴停止后其他部件不受影响。",
            "“该设备”指液压机。",
            "下列部件：泵、阀。",
            "操作人员在启动液压泵之前检查该泵的油位。",
            "The pump stops before the fan and it cools.",
            "",
        ] {
            assert!(!dangling(statement), "{statement}");
        }
    }

    #[test]
    fn modals_are_whole_words_in_english_and_substrings_in_chinese() {
        assert_eq!(modals_lost("You must not open it.", "You Must open it, notably."), ["not"]);
        assert_eq!(modals_lost("不得应当", "不得"), ["应当", "应"]);
    }

    #[test]
    fn invented_names_and_numbers_are_found() {
        let source = "the spindle of bx-9000 stops at 75 ℃ or 3,000 rpm";
        assert_eq!(invented("BX-9000 停在 75.5 ℃", source), ["75.5"]);
        assert_eq!(invented("主轴 spindle motor", source), ["motor"]);
        assert_eq!(invented("Motor of the Pump stops at 3,000 rpm with err_1", source), ["Pump", "err_1"]);
        assert_eq!(invented("motor. x-", source), Vec::<String>::new());
    }
}

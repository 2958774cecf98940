//! Conditions: what holds only if, when or except must not be stated as if it held always.
//!
//! A clause such as `如果油温过高，` or `unless the key is turned` governs the clauses around it up to the next semicolon. A
//! statement that says a governed clause must carry the words of its condition, and one of the words that make it a condition.

use std::collections::HashSet;
use std::ops::Range;

use super::{Candidate, Finding};
use crate::proposition::evidence::points_back;
use crate::proposition::lexis::{Folded, Term, is_ideograph, is_wordlike};
use crate::proposition::source::SentenceView;

/// Share of a governed clause that counts as saying it.
const SAID: f32 = 0.6;
/// Share of a condition's words that counts as carrying it.
const CARRIED: f32 = 0.34;
/// Fewest terms of a clause that can be judged.
const MIN_TERMS: usize = 2;

/// Open a Chinese condition that no other word makes one.
const IF_ZH: &[&str] = &["如果", "假如", "倘若", "若", "当", "當", "一旦", "除非", "只有", "只要", "除", "遇有", "凡"];
/// Close one.
const WHEN_ZH: &[&str] =
    &["时", "時", "的时候", "后", "後", "之前", "以前", "前", "的话", "情况下", "情況下", "期间", "过程中", "的"];
/// Words that begin with 如, 当 or 若 and are none.
const NOT_IF: &[&str] =
    &["当前", "當前", "当地", "当事", "當事", "当中", "若干", "除湿", "除尘", "除霜", "除此", "除颤"];
/// Open an English condition.
const IF_EN: &[&str] = &[
    "if", "when", "whenever", "where", "unless", "while", "once", "after", "before", "until", "except", "provided",
    "in case",
];

/// A condition and the clauses that hold only under it.
struct Condition {
    range: Range<usize>,
    governs: Vec<Range<usize>>,
    marked: bool,
}

pub(super) fn check(candidate: &Candidate<'_>) -> Vec<Finding> {
    let own = candidate.own;
    let conditions = if own.chinese { chinese(own) } else { english(own) };
    let share = |range: &Range<usize>| {
        let terms: Vec<&Term> = own.terms_in(range).filter(|t| !points_back(&t.key)).collect();
        let held = terms.iter().filter(|t| candidate.set.contains(&t.key)).count();
        (terms.len(), held as f32 / terms.len().max(1) as f32)
    };
    let mut out = Vec::new();
    for condition in conditions {
        // An exception stands in the clause of what it is an exception from, which then is said by half.
        let everywhere = 0..own.folded.len();
        let excepts = own.folded.has(condition.range.start, "除");
        let aligned = if excepts { &everywhere } else { &candidate.alignment.range };
        if !excepts && is_asserted(candidate, &condition) {
            let text = own.folded.text(condition.range.start, condition.range.end);
            out.push(Finding::reject("condition-asserted", text.trim().trim_end_matches([',', '，'])));
            continue;
        }
        // A governed stretch may join facts; saying one of them is saying something that the condition governs.
        let says = |stretch: &Range<usize>| {
            let inside = own.clauses.iter().filter(|c| stretch.start <= c.start && c.end <= stretch.end + 1);
            inside.chain([stretch]).any(|clause| {
                let (terms, held) = share(clause);
                (terms >= MIN_TERMS && held >= SAID || is_made_of(candidate, clause))
                    && clause.start < aligned.end
                    && aligned.start < clause.end
            })
        };
        if !condition.governs.iter().any(says) {
            continue;
        }
        let (terms, held) = proper(candidate, &condition);
        let unmarked = condition.marked && !is_conditional(candidate, &condition.range);
        if terms >= MIN_TERMS && held < CARRIED || unmarked {
            let text = own.folded.text(condition.range.start, condition.range.end);
            out.push(Finding::reject("condition-dropped", text.trim().trim_end_matches([',', '，'])));
        }
    }
    out
}

/// True when a statement says a condition as if it were so: its words without a word that makes it one, and nothing of what only
/// the governed clauses say.
fn is_asserted(candidate: &Candidate<'_>, condition: &Condition) -> bool {
    /// Share of the condition's words that counts as saying it.
    const WHOLE: f32 = 0.8;
    let own = candidate.own;
    // The word that opens it is no part of what is said.
    let opener = IF_ZH.iter().filter(|w| own.folded.has(condition.range.start, w)).map(|w| w.chars().count()).max();
    let from = condition.range.start + opener.unwrap_or(0);
    let said: Vec<&Term> = own.terms_in(&condition.range).filter(|t| t.start >= from && !points_back(&t.key)).collect();
    let held = said.iter().filter(|t| candidate.set.contains(&t.key)).count();
    if said.len() < MIN_TERMS || (held as f32) < WHOLE * said.len() as f32 {
        return false;
    }
    let all = 0..own.folded.len();
    let governed = |at: usize| condition.governs.iter().any(|g| g.contains(&at));
    let elsewhere: HashSet<&str> = own.terms_in(&all).filter(|t| !governed(t.start)).map(|t| t.key.as_str()).collect();
    let mut result = condition.governs.iter().flat_map(|g| own.terms_in(g)).map(|t| t.key.as_str());
    let mut only = result.by_ref().filter(|key| !elsewhere.contains(key)).peekable();
    only.peek().is_some()
        && !only.any(|key| candidate.set.contains(key))
        && !is_conditional(candidate, &condition.range)
}

/// True when most of what a statement says are words of `clause`, though the clause may say more.
fn is_made_of(candidate: &Candidate<'_>, clause: &Range<usize>) -> bool {
    /// Fewest words.
    const FEWEST: usize = 3;
    let inside: HashSet<&str> = candidate.own.terms_in(clause).map(|t| t.key.as_str()).collect();
    let held = candidate.terms.iter().filter(|t| inside.contains(t.key.as_str())).count();
    held >= FEWEST && held as f32 >= SAID * candidate.terms.len() as f32
}

/// Stretches between commas, and whether a semicolon or full stop closes each.
fn stretches(text: &Folded) -> Vec<(Range<usize>, bool)> {
    let chars = &text.chars;
    let mut out = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (i, &c) in chars.iter().enumerate() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | '，' | ';' | '；' | '。' | ':' | '：' | '\t' if depth == 0 => {
                let number = c == ','
                    && i > 0
                    && chars[i - 1].is_ascii_digit()
                    && chars.get(i + 1).is_some_and(char::is_ascii_digit);
                if !number {
                    out.push((start..i, matches!(c, ';' | '；' | '。')));
                    start = i + 1;
                }
            }
            _ => {}
        }
    }
    out.push((start..chars.len(), true));
    out.retain(|(range, _)| chars[range.clone()].iter().any(|c| c.is_alphanumeric()));
    out
}

fn chinese(own: &SentenceView) -> Vec<Condition> {
    let text = &own.folded;
    let all = stretches(text);
    let mut out = Vec::new();
    for (i, (range, _)) in all.iter().enumerate() {
        let start = (range.start..range.end)
            .find(|&k| is_ideograph(text.chars[k]) || is_wordlike(text.chars[k]))
            .unwrap_or(range.start);
        let opens = IF_ZH.iter().any(|w| text.has(start, w)) && !NOT_IF.iter().any(|w| text.has(start, w));
        let closes = WHEN_ZH.iter().any(|w| text.ends(range.end, w)) && range.len() >= 5;
        // The last stretch of a sentence is what is said; `…时，` needs something behind it.
        let governs: Vec<Range<usize>> = following(&all, i).filter(|r| !is_condition(text, r)).collect();
        if (opens || closes) && !governs.is_empty() {
            out.push(Condition { range: range.clone(), governs, marked: opens });
        } else if let Some(end) = exception(text, range) {
            let out_of = (range.start..end).find(|&k| text.has(k, "除")).unwrap_or(range.start);
            out.push(Condition {
                range: out_of..end,
                governs: std::iter::once(end..range.end).collect(),
                marked: true,
            });
        } else if opens && text.has(start, "除非") && i > 0 {
            out.push(Condition { range: range.clone(), governs: vec![all[i - 1].0.clone()], marked: true });
        }
    }
    out
}

/// End of `除照明外` where what it is an exception from stands right behind it.
fn exception(text: &Folded, range: &Range<usize>) -> Option<usize> {
    let from = range.clone().find(|&k| text.has(k, "除") && !NOT_IF.iter().any(|w| text.has(k, w)))?;
    let end = (from + 2..range.end).find(|&k| text.has(k, "外") && !text.has(k, "外部"))? + 1;
    (range.end - end >= 2).then_some(end)
}

fn is_condition(text: &Folded, range: &Range<usize>) -> bool {
    if text.has(range.start, "除") && exception(text, range).is_some() {
        return false;
    }
    IF_ZH.iter().any(|w| text.has(range.start, w))
        || (WHEN_ZH.iter().any(|w| text.ends(range.end, w)) && range.len() >= 5)
}

/// The stretches behind `i` up to the next semicolon.
fn following(all: &[(Range<usize>, bool)], i: usize) -> impl Iterator<Item = Range<usize>> {
    let closed = all[i].1;
    let mut open = !closed;
    all[i + 1..].iter().map_while(move |(range, ends)| {
        let here = open;
        open = open && !ends;
        here.then(|| range.clone())
    })
}

fn english(own: &SentenceView) -> Vec<Condition> {
    let text = &own.folded;
    let all = stretches(text);
    let mut out = Vec::new();
    for (i, (range, _)) in all.iter().enumerate() {
        let at = |k: usize| IF_EN.iter().any(|w| text.has(k, w) && is_word(text, k, w.len()));
        let Some(start) = (range.start..range.end).find(|&k| at(k)) else { continue };
        let first = !(range.start..start).any(|k| is_wordlike(text.chars[k]));
        let condition = start..range.end;
        // `until`, `before` and `after` within a clause often say when, not whether; only a clause of their own is judged.
        let own_verb = text.text(start, range.end).split_whitespace().count() >= 4;
        if !own_verb {
            continue;
        }
        let governs: Vec<Range<usize>> =
            if first { following(&all, i).collect() } else { std::iter::once(range.start..start).collect() };
        let strong = ["if", "unless", "when", "where", "provided"].iter().any(|w| text.has(start, w));
        if !governs.is_empty() {
            out.push(Condition { range: condition, governs, marked: strong });
        }
    }
    out
}

fn is_word(text: &Folded, at: usize, len: usize) -> bool {
    (at == 0 || !is_wordlike(text.chars[at - 1])) && text.chars.get(at + len).is_none_or(|c| !is_wordlike(*c))
}

/// How many terms a condition has that what it governs has not, and the share of them that the statement carries. The words that
/// both have prove nothing.
fn proper(candidate: &Candidate<'_>, condition: &Condition) -> (usize, f32) {
    let own = candidate.own;
    let governed: HashSet<&str> =
        condition.governs.iter().flat_map(|g| own.terms_in(g)).map(|t| t.key.as_str()).collect();
    let all: Vec<&Term> = own.terms_in(&condition.range).filter(|t| !points_back(&t.key)).collect();
    let mut terms: Vec<&Term> = all.iter().copied().filter(|t| !governed.contains(t.key.as_str())).collect();
    if terms.len() < MIN_TERMS {
        terms = all;
    }
    let held = terms.iter().filter(|t| candidate.set.contains(&t.key)).count();
    (terms.len(), held as f32 / terms.len().max(1) as f32)
}

/// True when a statement has a word that makes it conditional: one that opens a condition, a clause that closes like one, or a
/// 时 or 后 right behind the last words of the condition.
fn is_conditional(candidate: &Candidate<'_>, condition: &Range<usize>) -> bool {
    let (statement, own) = (&candidate.folded, candidate.own);
    let held = |words: &[&str]| {
        (0..statement.len())
            .any(|i| words.iter().any(|w| statement.has(i, w) && (own.chinese || is_word(statement, i, w.len()))))
    };
    if !own.chinese {
        return held(IF_EN) || held(&["during", "upon", "for", "which", "that", "who", "in"]);
    }
    let closes = stretches(statement).iter().any(|(range, _)| WHEN_ZH.iter().any(|w| statement.ends(range.end, w)));
    let last: Vec<char> =
        own.folded.chars[condition.clone()].iter().rev().filter(|c| is_ideograph(**c)).take(2).copied().collect();
    let tail: String = last.into_iter().rev().collect();
    closes
        || (0..statement.len()).any(|i| opens_within(statement, i))
        || held(&["如", "直到", "直至"])
        || ["时", "時", "后", "後", "前", "的", "中"].iter().any(|w| {
            let joined: Vec<char> = format!("{tail}{w}").chars().collect();
            statement.contains(&joined)
        })
}

/// True when a word that opens a condition stands at `at`, which may be within a clause: not the 当 of 应当, the 除 of 解除.
fn opens_within(text: &Folded, at: usize) -> bool {
    const PART_OF: &[char] = &[
        '应', '應', '适', '適', '相', '不', '妥', '正', '恰', '得', '解', '删', '刪', '清', '排', '拆', '消', '免',
        '去', '扣', '开', '開', '废', '廢', '切', '移', '根', '卸', '擦', '铲',
    ];
    let whole = at.checked_sub(1).is_none_or(|k| !PART_OF.contains(&text.chars[k]));
    let none = NOT_IF.iter().chain(&["当时", "當時", "当日", "當日", "当年", "當年", "除外"]).any(|w| text.has(at, w));
    IF_ZH.iter().any(|w| text.has(at, w) && (w.chars().count() > 1 || whole)) && !none
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::rejections;

    const ZH: &[&str] = &[
        "如果油温超过限值，控制器应切断电机。",
        "除急停按钮外，所有按钮在自动方式下被锁定。",
        "未经培训擅自操作的，由班长责令停止作业。",
        "更换滤芯后，应当排出管路中的空气；排气时不得站在阀口前方。",
    ];
    const EN: &[&str] = &[
        "If the oil gets too hot, the controller switches off the motor.",
        "The guard must not be opened unless the press has come to a stop.",
    ];

    fn dropped(sentences: &[&str], index: usize, statement: &str) -> bool {
        rejections("", sentences, index, statement).contains(&"condition-dropped".to_owned())
    }

    #[test]
    fn a_statement_without_its_condition_is_rejected() {
        assert!(dropped(ZH, 0, "控制器应切断电机。"));
        assert!(dropped(ZH, 0, "油温超过限值，控制器应切断电机。"));
        assert!(dropped(ZH, 1, "所有按钮在自动方式下被锁定。"));
        assert!(dropped(ZH, 2, "由班长责令停止作业。"));
        assert!(dropped(ZH, 3, "应当排出管路中的空气。"));
        assert!(dropped(EN, 0, "The controller switches off the motor."));
        assert!(dropped(EN, 1, "The guard must not be opened."));
    }

    #[test]
    fn a_condition_is_not_told_as_a_fact() {
        const SENTENCES: &[&str] = &[
            "本法施行前按照当时有关规定，用人单位应当支付经济补偿的，按照当时有关规定执行。",
            "如果电机温度过高，则控制器发出报警。",
            "劳动者拒绝强令冒险作业的，不视为违反劳动合同。",
            "If the front guard is open, the spindle must not turn.",
        ];
        let asserted = |index: usize, statement: &str| {
            rejections("", SENTENCES, index, statement).contains(&"condition-asserted".to_owned())
        };
        assert!(asserted(0, "本法施行前按照当时有关规定，用人单位应当支付经济补偿。"));
        assert!(asserted(1, "电机温度过高。"));
        assert!(asserted(2, "劳动者拒绝强令冒险作业。"));
        assert!(asserted(3, "The front guard is open."));
        assert!(!asserted(0, "本法施行前按照当时有关规定，用人单位应当支付经济补偿的，按照当时有关规定执行。"));
        assert!(!asserted(1, "电机温度过高时，控制器发出报警。"));
        assert!(!asserted(2, "劳动者拒绝强令冒险作业的，不视为违反劳动合同。"));
        assert!(!asserted(3, "The spindle must not turn if the front guard is open."));
    }

    #[test]
    fn a_statement_with_its_condition_passes() {
        for (i, statement) in [
            (0, "油温超过限值时，控制器应切断电机。"),
            (1, "除急停按钮外，所有按钮在自动方式下被锁定。"),
            (2, "未经培训擅自操作的人员，由班长责令停止作业。"),
            (3, "更换滤芯后，应当排出管路中的空气。"),
            (3, "排气时不得站在阀口前方。"),
        ] {
            assert!(!dropped(ZH, i, statement), "{statement}");
        }
        assert!(!dropped(EN, 0, "The controller switches off the motor when the oil gets too hot."));
        assert!(!dropped(EN, 1, "The guard must not be opened unless the press has come to a stop."));
    }
}

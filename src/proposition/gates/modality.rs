//! Negation and modality: what a sentence forbids, demands, allows or denies, its statements forbid, demand, allow or deny.
//!
//! Each negation or modal word of a sentence governs the words that follow it. Where a statement carries those words, it must
//! carry the negation or modal too; where a statement has one that the source does not have there, it was invented.

use super::{Candidate, Finding};
use crate::proposition::lexis::{Folded, Term, is_wordlike};
use crate::proposition::source::Source;

/// What a word does to the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Force {
    /// 不得, must not.
    Forbid,
    /// 必须, shall.
    Demand,
    /// 可以, may.
    Allow,
    /// 未, not.
    Deny,
    /// 只, only.
    Restrict,
}

/// A negation or modal word in a folded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Modal {
    pub(crate) word: &'static str,
    pub(crate) force: Force,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

const CHINESE: &[(&str, Force)] = &[
    ("不得", Force::Forbid),
    ("严禁", Force::Forbid),
    ("嚴禁", Force::Forbid),
    ("禁止", Force::Forbid),
    ("不准", Force::Forbid),
    ("不许", Force::Forbid),
    ("不許", Force::Forbid),
    ("不允许", Force::Forbid),
    ("不应", Force::Forbid),
    ("不應", Force::Forbid),
    ("不能", Force::Forbid),
    ("不可", Force::Forbid),
    ("不可以", Force::Forbid),
    ("切勿", Force::Forbid),
    ("请勿", Force::Forbid),
    ("請勿", Force::Forbid),
    ("勿", Force::Forbid),
    ("不宜", Force::Forbid),
    ("必须", Force::Demand),
    ("必須", Force::Demand),
    ("应当", Force::Demand),
    ("應當", Force::Demand),
    ("应该", Force::Demand),
    ("應該", Force::Demand),
    ("务必", Force::Demand),
    ("務必", Force::Demand),
    ("应", Force::Demand),
    ("應", Force::Demand),
    ("须", Force::Demand),
    ("須", Force::Demand),
    ("可以", Force::Allow),
    ("允许", Force::Allow),
    ("允許", Force::Allow),
    ("未", Force::Deny),
    ("没有", Force::Deny),
    ("沒有", Force::Deny),
    ("无需", Force::Deny),
    ("無需", Force::Deny),
    ("无须", Force::Deny),
    ("不必", Force::Deny),
    ("不需", Force::Deny),
    ("不再", Force::Deny),
    ("不会", Force::Deny),
    ("不會", Force::Deny),
    ("不是", Force::Deny),
    ("不", Force::Deny),
    ("无法", Force::Deny),
    ("無法", Force::Deny),
    ("无", Force::Deny),
    ("無", Force::Deny),
    ("非", Force::Deny),
    ("只能", Force::Restrict),
    ("只有", Force::Restrict),
    ("只允许", Force::Restrict),
    ("仅", Force::Restrict),
    ("僅", Force::Restrict),
    ("只", Force::Restrict),
];

/// Words that hold one of the characters without its force.
const CHINESE_PLAIN: &[&str] = &[
    "不同",
    "不仅",
    "不僅",
    "不断",
    "不斷",
    "不论",
    "不論",
    "不管",
    "不锈",
    "不鏽",
    "不只",
    "不但",
    "不等",
    "不久",
    "响应",
    "響應",
    "反应",
    "反應",
    "相应",
    "相應",
    "对应",
    "對應",
    "供应",
    "供應",
    "适应",
    "適應",
    "感应",
    "感應",
    "效应",
    "效應",
    "应用",
    "應用",
    "应急",
    "應急",
    "应答",
    "應答",
    "应力",
    "應力",
    "应变",
    "应对",
    "未来",
    "未來",
    "无线",
    "無線",
    "无论",
    "無論",
    "无刷",
    "無刷",
    "无人",
    "非常",
    "除非",
    "只要",
    "必须品",
    "无锡",
    "南非",
    "非洲",
    "是非",
    "非金属",
    "非标",
];

const ENGLISH: &[(&str, Force)] = &[
    ("must not", Force::Forbid),
    ("shall not", Force::Forbid),
    ("should not", Force::Forbid),
    ("may not", Force::Forbid),
    ("cannot", Force::Forbid),
    ("can not", Force::Forbid),
    ("can't", Force::Forbid),
    ("mustn't", Force::Forbid),
    ("do not", Force::Forbid),
    ("don't", Force::Forbid),
    ("must", Force::Demand),
    ("shall", Force::Demand),
    ("should", Force::Demand),
    ("may", Force::Allow),
    ("never", Force::Deny),
    ("does not", Force::Deny),
    ("doesn't", Force::Deny),
    ("not", Force::Deny),
    ("no", Force::Deny),
    ("without", Force::Deny),
    ("unless", Force::Restrict),
    ("only", Force::Restrict),
    ("except", Force::Restrict),
];

/// The negation and modal words of a folded text, longest first at each place.
pub(crate) fn modals(text: &Folded, chinese: bool) -> Vec<Modal> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if chinese {
            if let Some(plain) = CHINESE_PLAIN.iter().find(|w| text.has(at, w)) {
                at += plain.chars().count();
                continue;
            }
        }
        let table = if chinese { CHINESE } else { ENGLISH };
        let found = table
            .iter()
            .filter(|(word, _)| text.has(at, word) && (chinese || is_whole_word(text, at, word)))
            .max_by_key(|(word, _)| word.chars().count());
        match found {
            Some(&(word, force)) => {
                let end = at + word.chars().count();
                out.push(Modal { word, force, start: at, end });
                at = end;
            }
            None => at += 1,
        }
    }
    out
}

fn is_whole_word(text: &Folded, at: usize, word: &str) -> bool {
    (at == 0 || !is_wordlike(text.chars[at - 1]))
        && text.chars.get(at + word.len()).is_none_or(|&c| !is_wordlike(c) && c != '\'')
}

/// How many terms after the word count as what it governs.
const SCOPE: usize = 2;

/// The terms that a modal governs: those that begin at it or right behind, up to the end of the clause.
fn governed<'t>(modal: &Modal, text: &Folded, terms: &'t [Term], chinese: bool) -> Vec<&'t Term> {
    let stop = (modal.end..text.len())
        .find(|&i| matches!(text.chars[i], ',' | '，' | '。' | ';' | '；' | ':' | '.' | '!' | '！'))
        .unwrap_or(text.len());
    let inner = terms.iter().filter(|t| t.start >= modal.end && t.end <= stop);
    if chinese {
        // Two overlapping pairs reach over the next three characters.
        inner.take_while(|t| t.start < modal.end + SCOPE + 1 || !is_han_pair(t)).take(SCOPE).collect()
    } else {
        inner.take(SCOPE).collect()
    }
}

fn is_han_pair(term: &Term) -> bool {
    term.end - term.start == 2 && !term.key.is_ascii()
}

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Vec<Finding> {
    let mut out = dropped(candidate);
    out.extend(added(candidate, source));
    out
}

/// Modals of the aligned clauses whose governed words the statement carries without them.
fn dropped(candidate: &Candidate<'_>) -> Vec<Finding> {
    let own = candidate.own;
    let here = modals(&candidate.folded, candidate.chinese);
    let range = &candidate.alignment.range;
    let mut out: Vec<Finding> = Vec::new();
    for modal in modals(&own.folded, own.chinese) {
        if modal.start < range.start || modal.end > range.end {
            continue;
        }
        if here.iter().any(|m| m.word == modal.word || equal(m.word, modal.word)) {
            continue;
        }
        let scope = governed(&modal, &own.folded, &own.terms, own.chinese);
        if scope.is_empty() || !scope.iter().any(|t| candidate.set.contains(&t.key)) {
            continue;
        }
        let same_force = here.iter().any(|m| m.force == modal.force)
            || (modal.force == Force::Forbid && here.iter().any(|m| m.force == Force::Deny));
        let finding = if modal.force == Force::Restrict || same_force {
            Finding::review("modality-changed", modal.word)
        } else {
            Finding::reject("modality-dropped", modal.word)
        };
        if !out.iter().any(|f| f.detail == finding.detail) {
            out.push(finding);
        }
    }
    out
}

/// Spellings of the same word.
fn equal(a: &str, b: &str) -> bool {
    const SAME: &[&[&str]] = &[
        &["cannot", "can not", "can't"],
        &["do not", "don't"],
        &["must not", "mustn't"],
        &["does not", "doesn't"],
        &["应当", "应", "应该"],
        &["應當", "應", "應該"],
        &["须", "必须"],
        &["請勿", "请勿", "勿", "切勿"],
    ];
    SAME.iter().any(|group| group.contains(&a) && group.contains(&b))
}

/// Modals of the statement that the source does not have there.
fn added(candidate: &Candidate<'_>, source: &Source) -> Vec<Finding> {
    let own = candidate.own;
    let there = modals(&own.folded, own.chinese);
    let mut out: Vec<Finding> = Vec::new();
    for modal in modals(&candidate.folded, candidate.chinese) {
        if there.iter().any(|m| m.word == modal.word || equal(m.word, modal.word)) {
            continue;
        }
        let scope = governed(&modal, &candidate.folded, &candidate.terms, candidate.chinese);
        let on_own_words = scope.iter().any(|t| own.set.contains(&t.key));
        let same_force = there.iter().any(|m| m.force == modal.force);
        let needle: Vec<char> = modal.word.chars().collect();
        let elsewhere = source.body.contains(&needle) || source.heads.contains(&needle);
        let denies = matches!(modal.force, Force::Forbid | Force::Deny);
        let finding = if on_own_words && !same_force && denies {
            Finding::reject("negation-added", modal.word)
        } else if on_own_words && !same_force {
            Finding::review("modality-added", modal.word)
        } else if elsewhere || same_force {
            continue;
        } else if denies {
            Finding::reject("negation-added", modal.word)
        } else {
            Finding::review("modality-added", modal.word)
        };
        if !out.iter().any(|f| f.detail == finding.detail) {
            out.push(finding);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposition::gates::testing::{gates_that_speak, rejections};

    const ZH: &[&str] =
        &["设备运行时严禁打开防护罩，停机后应当切断电源。", "操作人员可以查看日志。", "未经培训的人员不得操作压机。"];
    const EN: &[&str] =
        &["The guard must not be opened while the press runs.", "Operators may view the log.", "Switch off the power."];

    #[test]
    fn a_dropped_negation_or_modal_is_rejected() {
        assert_eq!(rejections("", ZH, 0, "设备运行时打开防护罩。"), ["modality-dropped"]);
        assert_eq!(rejections("", ZH, 2, "未经培训的人员操作压机。"), ["modality-dropped"]);
        assert_eq!(rejections("", EN, 0, "The guard is opened while the press runs."), ["modality-dropped"]);
    }

    #[test]
    fn what_another_statement_carries_is_not_missed() {
        assert!(rejections("", ZH, 0, "设备运行时严禁打开防护罩。").is_empty());
        assert!(rejections("", ZH, 0, "设备停机后应当切断电源。").is_empty());
        assert!(rejections("", EN, 0, "The guard must not be opened while the press runs.").is_empty());
    }

    #[test]
    fn an_added_negation_is_rejected_and_an_added_demand_reviewed() {
        assert!(rejections("", ZH, 1, "操作人员不可以查看日志。").contains(&"negation-added".to_owned()));
        assert!(rejections("", EN, 1, "Operators may not view the log.").contains(&"negation-added".to_owned()));
        assert_eq!(
            gates_that_speak("", EN, 2, "The operator must switch off the power.")[0],
            ("modality-added".to_owned(), Verdict::Review)
        );
    }

    use crate::proposition::gates::Verdict;

    #[test]
    fn words_that_hold_a_modal_character_have_no_force() {
        let folded = Folded::new("不同应用的响应无线信号非常不锈钢");
        assert!(modals(&folded, true).is_empty());
        assert_eq!(modals(&Folded::new("不可以重启"), true)[0].word, "不可以");
    }
}

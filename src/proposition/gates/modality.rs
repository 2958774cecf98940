//! Negation and modality: what a sentence forbids, demands, allows or denies, its statements forbid, demand, allow or deny.
//!
//! Each negation or modal word of a sentence governs the words that follow it. Where a statement carries those words, it must
//! carry the negation or modal too; where a statement has one that the source does not have there, it was invented.

use super::modal::{Force, Modal, modals, same};
use super::{Candidate, Finding};
use crate::proposition::lexis::{Folded, Term, is_content, is_ideograph};
use crate::proposition::source::Source;

/// How many terms after the word count as what it governs.
const SCOPE: usize = 3;
/// Characters that take part in no predicate: pairs that hold one say nothing of what is governed.
const LIGHT: &str = "将把被它其该这那们的了对向在由给與与和或并將這該們對給";

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Vec<Finding> {
    let mut out = Vec::new();
    let here = modals(&candidate.folded, candidate.chinese);
    dropped(candidate, &here, &mut out);
    inherited(candidate, &here, &mut out);
    excised(candidate, &source.body, &source.body_modals, &mut out);
    excised(candidate, &source.heads, &source.head_modals, &mut out);
    added(candidate, &here, source, &mut out);
    out
}

fn push(out: &mut Vec<Finding>, finding: Finding) {
    if !out.iter().any(|f| f.detail == finding.detail) {
        out.push(finding);
    }
}

/// The first content terms behind a modal, up to the end of its clause.
fn governed<'t>(modal: &Modal, text: &Folded, terms: &'t [Term]) -> Vec<&'t Term> {
    let stop = (modal.end..text.len())
        .find(|&i| matches!(text.chars[i], ',' | '，' | '。' | ';' | '；' | ':' | '.' | '!' | '！'))
        .unwrap_or(text.len());
    terms
        .iter()
        .filter(|t| t.start >= modal.end && t.end <= stop && !t.key.chars().any(|c| LIGHT.contains(c)))
        .take(SCOPE)
        .collect()
}

/// Modals of the aligned clauses whose governed words the statement carries without them.
fn dropped(candidate: &Candidate<'_>, here: &[Modal], out: &mut Vec<Finding>) {
    let own = candidate.own;
    let range = &candidate.alignment.range;
    for modal in modals(&own.folded, own.chinese) {
        // A negation counts wherever the statement says its clause again.
        let range =
            if matches!(modal.force, Force::Forbid | Force::Deny) { &candidate.alignment.evidence } else { range };
        if modal.start < range.start || modal.end > range.end || here.iter().any(|m| same(m.word, modal.word)) {
            continue;
        }
        let scope = governed(&modal, &own.folded, &own.terms);
        if !scope.iter().any(|t| candidate.set.contains(&t.key)) {
            continue;
        }
        // Another word of the same force over the same words: a change of wording, for a person to judge.
        let reworded = here.iter().any(|m| {
            (m.force == modal.force || (modal.force == Force::Forbid && m.force == Force::Deny))
                && governed(m, &candidate.folded, &candidate.terms).iter().any(|t| scope.iter().any(|s| s.key == t.key))
        });
        let finding = if modal.force == Force::Restrict || reworded {
            Finding::review("modality-changed", modal.word)
        } else {
            Finding::reject("modality-dropped", modal.word)
        };
        push(out, finding);
    }
}

/// `应当通知对方并采取措施`: the modal of an earlier clause holds for the joined one, whose statement must carry it.
fn inherited(candidate: &Candidate<'_>, here: &[Modal], out: &mut Vec<Finding>) {
    let own = candidate.own;
    let range = &candidate.alignment.range;
    let there = modals(&own.folded, own.chinese);
    let before = |at: usize| {
        let binds = |m: &&Modal| m.end <= at && matches!(m.force, Force::Forbid | Force::Demand | Force::Allow);
        let last = there.iter().rev().find(binds)?;
        let ended = own.folded.chars[last.end..at].iter().any(|c| matches!(c, '。' | ';' | '；'));
        (!ended && !here.iter().any(|m| same(m.word, last.word))).then_some(last)
    };
    for clause in own.clauses.iter().filter(|c| c.start >= range.start && c.start < range.end) {
        let joined = ["并", "並", "且", "and ", "or "].iter().any(|w| own.folded.has(clause.start, w));
        let modal_inside = there.iter().any(|m| m.start >= clause.start && m.end <= clause.end);
        let (mut total, mut carried) = (0, 0);
        for term in own.terms_in(clause) {
            total += 1;
            carried += usize::from(candidate.set.contains(&term.key));
        }
        if joined
            && !modal_inside
            && 2 * carried > total
            && let Some(modal) = before(clause.start)
        {
            push(out, Finding::reject("modality-dropped", modal.word));
        }
    }
    // An English list: `must include the date, the name, …` said of one member without `must`.
    if !own.chinese
        && here.is_empty()
        && !there.iter().any(|m| m.start >= range.start && m.end <= range.end)
        && let Some(modal) = before(range.start)
    {
        let governs = governed(modal, &own.folded, &own.terms);
        if governs.first().is_some_and(|t| candidate.set.contains(&t.key)) {
            push(out, Finding::reject("modality-dropped", modal.word));
        }
    }
}

/// A negation of any part of the source that was cut out of otherwise copied words: `之间没有积分` copied as `之间积分`.
fn excised(candidate: &Candidate<'_>, text: &Folded, there: &[Modal], out: &mut Vec<Finding>) {
    /// Characters on each side that must meet.
    const SIDE: usize = 2;
    let chinese = candidate.chinese;
    for modal in there {
        // A demand that a restored name came from need not be said again; what was denied must not turn into its opposite.
        if !matches!(modal.force, Force::Forbid | Force::Deny) || modal.word.is_ascii() == chinese {
            continue;
        }
        let (left, right) = if chinese {
            let left: Vec<char> = text.chars[modal.start.saturating_sub(SIDE)..modal.start].to_vec();
            let right: Vec<char> = text.chars[modal.end..(modal.end + SIDE).min(text.len())].to_vec();
            (left, right)
        } else {
            (word_before(text, modal.start), word_after(text, modal.end))
        };
        let whole = |side: &[char]| side.len() >= SIDE && side.iter().all(|&c| is_content(c));
        if !whole(&left) || !whole(&right) || (chinese && !left.iter().chain(&right).all(|&c| is_ideograph(c))) {
            continue;
        }
        let mut joined = left;
        if !chinese {
            joined.push(' ');
        }
        // 不是 may be cut out whole, or only its 不.
        let rest: Vec<char> = if chinese { modal.word.chars().skip(1).collect() } else { Vec::new() };
        let half: Vec<char> = joined.iter().copied().chain(rest).chain(right.iter().copied()).collect();
        joined.extend(right);
        if [joined, half].iter().any(|cut| candidate.folded.contains(cut) && !text.contains(cut)) {
            push(out, Finding::reject("modality-dropped", modal.word));
        }
    }
}

fn word_before(text: &Folded, at: usize) -> Vec<char> {
    let end = (0..at).rev().find(|&i| !text.chars[i].is_whitespace()).map_or(0, |i| i + 1);
    let start = (0..end).rev().find(|&i| !is_content(text.chars[i])).map_or(0, |i| i + 1);
    text.chars[start..end].to_vec()
}

fn word_after(text: &Folded, at: usize) -> Vec<char> {
    let start = (at..text.len()).find(|&i| !text.chars[i].is_whitespace()).unwrap_or(text.len());
    let end = (start..text.len()).find(|&i| !is_content(text.chars[i])).unwrap_or(text.len());
    text.chars[start..end].to_vec()
}

/// Modals of the statement that the source does not have there.
fn added(candidate: &Candidate<'_>, here: &[Modal], source: &Source, out: &mut Vec<Finding>) {
    let own = candidate.own;
    let there = modals(&own.folded, own.chinese);
    for modal in here {
        if there.iter().any(|m| same(m.word, modal.word)) {
            continue;
        }
        let scope = governed(modal, &candidate.folded, &candidate.terms);
        let on_own_words = scope.first().is_some_and(|t| own.set.contains(&t.key));
        let same_force = there.iter().any(|m| m.force == modal.force);
        let stated = |needle: &[char]| source.body.contains(needle) || source.heads.contains(needle);
        let word = &candidate.folded.chars[modal.start..modal.end];
        // Said of the sentence's own words it is new, wherever else the passage has it.
        if same_force || (stated(word) && !on_own_words) {
            continue;
        }
        let finding = if matches!(modal.force, Force::Forbid | Force::Deny) {
            Finding::reject("negation-added", modal.word)
        } else {
            Finding::review("modality-added", modal.word)
        };
        push(out, finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::Verdict;
    use crate::proposition::gates::testing::{gates_that_speak, rejections};

    const ZH: &[&str] = &[
        "设备运行时严禁打开防护罩，停机后应当切断电源。",
        "操作人员可以查看日志。",
        "未经培训的人员不得操作压机。",
        "请勿将它们分开，分开后需要重新校准。",
        "维修人员应当通知班长并记录停机原因。",
    ];
    const EN: &[&str] = &[
        "The guard must not be opened while the press runs.",
        "Operators may view the log.",
        "Switch off the power.",
        "The report must include the date, the name of the operator, and the reason.",
    ];

    #[test]
    fn a_dropped_negation_or_modal_is_rejected() {
        assert_eq!(rejections("", ZH, 0, "设备运行时打开防护罩。"), ["modality-dropped"]);
        assert_eq!(rejections("", ZH, 2, "未经培训的人员操作压机。"), ["modality-dropped"]);
        assert_eq!(rejections("", EN, 0, "The guard is opened while the press runs."), ["modality-dropped"]);
        let rejected = rejections("机器人和控制箱", ZH, 3, "将机器人和控制箱分开。");
        assert!(rejected.contains(&"modality-dropped".to_owned()));
    }

    #[test]
    fn a_modal_holds_for_what_is_joined_to_its_clause() {
        assert_eq!(rejections("", ZH, 4, "维修人员记录停机原因。"), ["modality-dropped"]);
        assert!(rejections("", ZH, 4, "维修人员应当记录停机原因。").is_empty());
        assert_eq!(rejections("", EN, 3, "The report includes the name of the operator."), ["modality-dropped"]);
        assert!(rejections("", EN, 3, "The report must include the name of the operator.").is_empty());
    }

    #[test]
    fn a_negation_cut_out_of_a_restored_name_is_rejected() {
        let zh = &["两轴之间没有机械联锁时显示警告。", "警告不影响运行。"];
        assert_eq!(rejections("", zh, 1, "两轴之间机械联锁警告不影响运行。"), ["modality-dropped"]);
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
        let demand = gates_that_speak("", EN, 2, "The operator must switch off the power.");
        assert!(demand.contains(&("modality-added".to_owned(), Verdict::Review)));
    }
}

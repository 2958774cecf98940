//! Numbers: every number of a statement stands in the source, with its unit and the direction of its comparison, and
//! belongs to the statement's own sentence unless it came along with a restored name.

use super::{Candidate, Finding};
use crate::document::MONTHS;
use crate::proposition::lexis::Folded;
use crate::proposition::quantity::Quantity;
use crate::proposition::source::Source;

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Vec<Finding> {
    let mut out = Vec::new();
    let known: Vec<&Quantity> = source.body_quantities.iter().chain(&source.head_quantities).collect();
    for quantity in &candidate.quantities {
        let text = candidate.folded.text(quantity.start, quantity.end);
        if let Some(finding) = stated(quantity, &known, source, &text) {
            out.push(finding);
            continue;
        }
        if let Some(finding) = direction(quantity, candidate, &known, &text) {
            out.push(finding);
            continue;
        }
        if !at_home(quantity, candidate, source) {
            out.extend(foreign(quantity, candidate, source, &text));
        }
    }
    out.extend(new_sign(candidate, source));
    out.extend(bound_dropped(candidate));
    out.extend(new_month(candidate, source));
    out
}

/// The number with its unit is in the source; a unit that stands elsewhere is for a person to judge.
fn stated(quantity: &Quantity, known: &[&Quantity], source: &Source, text: &str) -> Option<Finding> {
    if known.iter().any(|k| quantity.stated_by(k)) {
        return None;
    }
    let number = known.iter().any(|k| k.number == quantity.number);
    let unit: Vec<char> = quantity.unit.as_deref().unwrap_or("").chars().collect();
    if number && (source.body.contains(&unit) || source.heads.contains(&unit)) {
        // The number stands with another unit: then the unit was exchanged. It stands bare: the unit may be a column's.
        let bare = known.iter().any(|k| k.number == quantity.number && k.unit.is_none());
        return Some(if bare {
            Finding::review("unit-from-elsewhere", text)
        } else {
            Finding::reject("unit-not-in-source", text)
        });
    }
    Some(Finding::reject(if number { "unit-not-in-source" } else { "number-not-in-source" }, text))
}

/// 以上 must not become 以下, and must not be dropped.
fn direction(quantity: &Quantity, candidate: &Candidate<'_>, known: &[&Quantity], text: &str) -> Option<Finding> {
    let own: Vec<&Quantity> = candidate.own.quantities.iter().filter(|k| quantity.stated_by(k)).collect();
    let mut pool = own.iter().copied().chain(known.iter().copied().filter(|k| own.is_empty() && quantity.stated_by(k)));
    match pool.next() {
        None => None,
        Some(first) if first.bound == quantity.bound || pool.any(|k| k.bound == quantity.bound) => None,
        Some(first) => {
            let gate = match (quantity.bound, first.bound) {
                (None, _) => "comparison-dropped",
                (Some(_), None) => "comparison-not-in-source",
                (Some(_), Some(_)) => "comparison-reversed",
            };
            Some(Finding::reject(gate, text))
        }
    }
}

/// In the own sentence, a heading or the title.
fn at_home(quantity: &Quantity, candidate: &Candidate<'_>, source: &Source) -> bool {
    let number = |k: &Quantity| k.number == quantity.number;
    candidate.own.quantities.iter().any(number) || source.head_quantities.iter().any(number)
}

/// Neighbouring characters that must come along for a number to count as part of a restored name.
const COMPANY: usize = 4;

fn foreign(quantity: &Quantity, candidate: &Candidate<'_>, source: &Source, text: &str) -> Option<Finding> {
    // The aligned clause has a number of the same unit that the statement left out: the number was exchanged.
    let range = &candidate.alignment.range;
    let left_out = candidate.own.quantities.iter().any(|k| {
        range.start <= k.start
            && k.end <= range.end
            && k.unit == quantity.unit
            && k.unit.is_some()
            && !candidate.quantities.iter().any(|q| q.number == k.number)
    });
    if left_out {
        return Some(Finding::reject("number-exchanged", text));
    }
    let restored = came_along(quantity, &candidate.folded, source);
    (!restored).then(|| Finding::review("number-from-elsewhere", text))
}

/// True when the number stands in the source between the same neighbouring characters as in the statement.
fn came_along(quantity: &Quantity, statement: &Folded, source: &Source) -> bool {
    let body = &source.body;
    let content = |c: &char| !c.is_whitespace();
    let (left, right) = (&statement.chars[..quantity.start], &statement.chars[quantity.end..]);
    source.body_quantities.iter().filter(|k| quantity.stated_by(k)).any(|k| {
        let before =
            left.iter().rev().filter(|c| content(c)).zip(body.chars[..k.start].iter().rev().filter(|c| content(c)));
        let after = right.iter().filter(|c| content(c)).zip(body.chars[k.end..].iter().filter(|c| content(c)));
        before.take_while(|(a, b)| a == b).count() + after.take_while(|(a, b)| a == b).count() >= COMPANY
    })
}

/// An English month beside a number, where the source has no such date.
fn new_month(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let dated = |text: &Folded, month: &str| {
        (0..text.len()).any(|i| {
            let end = i + month.len();
            text.has(i, month)
                && (text.chars.get(end) == Some(&' ') && text.chars.get(end + 1).is_some_and(char::is_ascii_digit)
                    || i >= 2 && text.chars[i - 1] == ' ' && text.chars[i - 2].is_ascii_digit())
        })
    };
    let new =
        |month: &&&str| dated(&candidate.folded, month) && !dated(&source.body, month) && !dated(&source.heads, month);
    MONTHS.iter().find(new).map(|month| Finding::reject("number-not-in-source", *month))
}

/// `至少每年一次` without its 至少: bounds of what is counted in words.
fn bound_dropped(candidate: &Candidate<'_>) -> Option<Finding> {
    const BOUNDS: &[&str] = &["至少", "至多", "最多", "最少", "at least", "at most"];
    const SAME: &[&str] = &[
        "不少于",
        "不低于",
        "不超过",
        "不多于",
        "以上",
        "以内",
        "不得少于",
        "不得超过",
        "no less",
        "not less",
        "no fewer",
        "no more",
        "not more",
        "minimum",
        "maximum",
        "or more",
    ];
    let (own, said) = (&candidate.own.folded, &candidate.folded);
    let has = |words: &[&str]| (0..said.len()).any(|i| words.iter().any(|w| said.has(i, w)));
    let range = &candidate.alignment.evidence;
    let word = (range.start..range.end).find_map(|i| BOUNDS.iter().copied().find(|w| own.has(i, w)).map(|w| (i, w)))?;
    let end = word.0 + word.1.chars().count();
    let next = candidate.own.terms.iter().find(|t| t.start >= end)?;
    let dropped = next.start <= end + 1 && candidate.set.contains(&next.key) && !has(BOUNDS) && !has(SAME);
    dropped.then(|| Finding::reject("comparison-dropped", word.1))
}

/// A sign of comparison or tolerance that the source does not use at all. A minus sign is part of its number.
fn new_sign(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let held = |c: &char| source.body.chars.contains(c) || source.heads.chars.contains(c);
    let sign = candidate.folded.chars.iter().find(|c| matches!(c, '±' | '≥' | '≤') && !held(c))?;
    Some(Finding::reject("comparison-not-in-source", sign.to_string()))
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::rejections;

    const ZH: &[&str] = &[
        "当液压油温度超过65℃时，系统报警并在10秒后停机。",
        "滤芯每二十四小时检查一次，压差不得大于0.35MPa。",
        "主轴转速为3000转。",
    ];
    const EN: &[&str] = &[
        "The pressure must stay above 5 bar.",
        "Wait at least 30 seconds before opening the lid.",
        "The lid weighs 12 kg.",
    ];

    #[test]
    fn faithful_numbers_pass() {
        assert!(rejections("", ZH, 0, "当液压油温度超过65℃时，系统在10秒后停机。").is_empty());
        assert!(rejections("", ZH, 1, "滤芯每二十四小时检查一次。").is_empty());
        assert!(rejections("", ZH, 1, "滤芯压差不得大于 ０.35 MPa。").is_empty());
        assert!(rejections("", EN, 1, "Wait at least 30 seconds before opening the lid.").is_empty());
    }

    #[test]
    fn invented_numbers_and_units_are_rejected() {
        assert_eq!(rejections("", ZH, 0, "当液压油温度超过70℃时，系统报警。"), ["number-not-in-source"]);
        assert_eq!(rejections("", ZH, 0, "当液压油温度超过5℃时，系统报警。"), ["number-not-in-source"]);
        assert_eq!(rejections("", ZH, 1, "滤芯每四十八小时检查一次。"), ["number-not-in-source"]);
        assert_eq!(rejections("", ZH, 1, "滤芯压差不得大于0.35kPa。"), ["unit-not-in-source"]);
        assert_eq!(rejections("", EN, 1, "Wait at least 30 minutes before opening the lid."), ["unit-not-in-source"]);
    }

    #[test]
    fn comparisons_keep_their_direction() {
        assert!(rejections("", ZH, 0, "当液压油温度低于65℃时，系统报警。").contains(&"comparison-reversed".to_owned()));
        assert_eq!(rejections("", ZH, 0, "当液压油温度为65℃时，系统报警。"), ["comparison-dropped"]);
        assert!(
            rejections("", EN, 0, "The pressure must stay below 5 bar.").contains(&"comparison-reversed".to_owned())
        );
        assert_eq!(rejections("", EN, 2, "The lid weighs over 12 kg."), ["comparison-not-in-source"]);
    }

    #[test]
    fn a_number_taken_from_another_sentence_in_place_of_the_own_is_rejected() {
        let zh = &["加热区一的温度为180℃。", "加热区二的温度为220℃。"];
        assert!(rejections("", zh, 0, "加热区一的温度为220℃。").contains(&"number-exchanged".to_owned()));
    }
}

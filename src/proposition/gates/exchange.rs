//! Exchange: a statement that says the beginning of one clause with the end of another, the number of one thing of another, or
//! puts a name of the passage in place of the one that its sentence has.

use super::{Candidate, Finding};
use crate::proposition::evidence::points_back;
use crate::proposition::gates::refers;
use crate::proposition::lexis::{Folded, Term, TokenKind, is_content, is_ideograph, tokens};
use crate::proposition::source::Source;

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    crossed(candidate).or_else(|| number(candidate)).or_else(|| name(candidate, source))
}

/// The terms of each clause that no other clause of the sentence has, words that only join or point back left out in front.
fn telling<'a>(candidate: &'a Candidate<'_>) -> Vec<Vec<&'a Term>> {
    const JOINING: &str = "并並且而也还還又再则則就才即但其它他该該这這此同随隨然否可须須应應";
    let own = candidate.own;
    let inside: Vec<Vec<&Term>> = own.clauses.iter().map(|c| own.terms_in(c).collect()).collect();
    let elsewhere =
        |i: usize, key: &str| inside.iter().enumerate().any(|(k, terms)| k != i && terms.iter().any(|t| t.key == key));
    let light = |t: &Term| {
        t.key.chars().any(|c| JOINING.contains(c))
            || t.key.ends_with("ly")
            || t.key.chars().all(|c| c.is_ascii_digit() || c == '.')
            || points_back(&t.key)
    };
    inside
        .iter()
        .enumerate()
        .map(|(i, terms)| {
            let only = terms.iter().copied().filter(|t| !elsewhere(i, &t.key));
            only.skip_while(|t| light(t)).collect()
        })
        .collect()
}

/// The head of one clause with the tail of another that has a head of its own.
fn crossed(candidate: &Candidate<'_>) -> Option<Finding> {
    let clauses = telling(candidate);
    let carried = |t: &&Term| candidate.set.contains(&t.key);
    let ends = |terms: &[&Term]| match terms {
        [first, .., last] => Some((carried(first), carried(last))),
        _ => None,
    };
    let head = clauses.iter().position(|terms| ends(terms) == Some((true, false)))?;
    let tail = clauses.iter().position(|terms| ends(terms) == Some((false, true)))?;
    let word = |terms: &[&Term], last: bool| {
        let term = if last { terms.last() } else { terms.first() };
        term.map(|t| t.key.clone()).unwrap_or_default()
    };
    let detail = format!("{} … {}", word(&clauses[head], false), word(&clauses[tail], true));
    Some(Finding::review("crossed-clauses", detail))
}

/// The number of another clause in place of the clause's own.
fn number(candidate: &Candidate<'_>) -> Option<Finding> {
    let own = candidate.own;
    let clause_of = |at: usize| own.clauses.iter().position(|c| c.start <= at && at < c.end);
    let said = |number: &str| candidate.quantities.iter().any(|q| q.number == number);
    // What a number without a unit counts: the word behind it.
    let counted = |end: usize| own.terms.iter().find(|t| t.start >= end && t.start <= end + 1).map(|t| &t.key);
    let clauses = telling(candidate);
    for taken in own.quantities.iter().filter(|q| said(&q.number)) {
        if taken.unit.as_deref().is_some_and(|unit| matches!(unit, "年" | "月" | "日")) {
            continue;
        }
        let there = clause_of(taken.start)?;
        let words = |t: &&&Term| !t.key.starts_with(|c: char| c.is_ascii_digit());
        let silent = !clauses[there].iter().filter(words).any(|t| candidate.set.contains(&t.key));
        if !silent || clauses[there].iter().filter(words).count() == 0 {
            continue;
        }
        let exchanged = own.quantities.iter().any(|left| {
            clause_of(left.start).is_some_and(|here| {
                here != there && clauses[here].first().is_some_and(|t| candidate.set.contains(&t.key))
            }) && left.unit == taken.unit
                && (left.unit.is_some() || counted(left.end).is_some() && counted(left.end) == counted(taken.end))
                && !said(&left.number)
        });
        if exchanged {
            return Some(Finding::reject("number-exchanged", own.folded.text(taken.start, taken.end)));
        }
    }
    None
}

/// A unit of comparison by place: an ideograph, or a word.
struct Piece {
    text: String,
    start: usize,
    end: usize,
}

fn pieces(text: &Folded) -> Vec<Piece> {
    let mut out = Vec::new();
    for token in tokens(text) {
        if token.kind == TokenKind::Han {
            out.extend((token.start..token.end).map(|i| Piece { text: text.text(i, i + 1), start: i, end: i + 1 }));
        } else {
            out.push(Piece { text: text.text(token.start, token.end), start: token.start, end: token.end });
        }
    }
    out
}

/// Words for the thing as a whole, in whose place a full name may stand.
const GENERIC: &[&str] = &[
    "本机",
    "本機",
    "设备",
    "設備",
    "装置",
    "裝置",
    "机器",
    "機器",
    "产品",
    "產品",
    "仪器",
    "系统",
    "系統",
    "device",
    "machine",
    "unit",
    "product",
    "equipment",
    "system",
    "appliance",
    "instrument",
    "本",
];

/// A name that stands elsewhere in the passage between the same words between which the sentence has another.
fn name(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    /// Longest texts that are compared, and longest name, in pieces.
    const LONGEST: (usize, usize) = (200, 8);
    let place = &source.frame.places[candidate.index];
    let marks = candidate.own.folded.position(place.marks);
    let mut own = pieces(&candidate.own.folded);
    own.retain(|p| p.start >= marks);
    let said = pieces(&candidate.folded);
    // Lead-ins and what a rule put in were meant to be said.
    let restored = candidate.restored.iter().map(|span| source.slice(*span));
    let meant: Vec<Folded> =
        place.above.iter().map(|a| a.text.clone()).chain(restored).map(|text| Folded::new(&text)).collect();
    if own.len() > LONGEST.0 || said.len() > LONGEST.0 {
        return None;
    }
    for from in 0..said.len() {
        for to in from + 1..=(from + LONGEST.1).min(said.len()) {
            let put_in = candidate.folded.text(said[from].start, said[to - 1].end);
            let content = put_in.chars().filter(|c| is_content(*c)).count();
            let needle: Vec<char> = put_in.chars().collect();
            let known = candidate.own.folded.contains(&needle) || meant.iter().any(|m| m.contains(&needle));
            if content < 2 || known {
                continue;
            }
            // Two pieces in front, or the beginning, and two behind hold the place.
            let left: Vec<&str> = said[from.saturating_sub(2)..from].iter().map(|p| p.text.as_str()).collect();
            let right: Vec<&str> = said[to..(to + 2).min(said.len())].iter().map(|p| p.text.as_str()).collect();
            if right.len() < 2 || (from > 0 && left.len() < 2) {
                continue;
            }
            let Some((start, end)) = held(&own, &left, &right, from == 0, LONGEST.1) else { continue };
            let taken_out = candidate.own.folded.text(own[start].start, own[end - 1].end);
            let size = taken_out.chars().filter(|c| is_ideograph(*c)).count()
                + 2 * taken_out.chars().filter(|c| c.is_ascii_alphabetic()).count();
            let missing = own[start..end].iter().all(|p| !said.iter().any(|s| s.text == p.text));
            let plain = !refers(&taken_out) && !GENERIC.iter().any(|g| taken_out.contains(g));
            // The whole passage is searched last.
            if size >= 2 && missing && plain && elsewhere(&needle, candidate, source) {
                return Some(Finding::reject("name-exchanged", format!("{put_in} / {taken_out}")));
            }
        }
    }
    None
}

/// The pieces of the sentence between `left` and `right`; where the statement begins there, the sentence must too.
fn held(own: &[Piece], left: &[&str], right: &[&str], begins: bool, longest: usize) -> Option<(usize, usize)> {
    let fits = |at: usize, words: &[&str]| {
        words.iter().enumerate().all(|(i, w)| own.get(at + i).is_some_and(|p| p.text == *w))
    };
    let starts = if begins { 0..1 } else { left.len()..own.len() };
    for start in starts {
        if !begins && !fits(start - left.len(), left) {
            continue;
        }
        if let Some(end) = (start + 1..=(start + longest).min(own.len())).find(|&end| fits(end, right)) {
            return Some((start, end));
        }
    }
    None
}

fn elsewhere(needle: &[char], candidate: &Candidate<'_>, source: &Source) -> bool {
    let (from, to) = (source.body.position(candidate.own.span.start), source.body.position(candidate.own.span.end));
    [0..from, to..source.body.len()].into_iter().any(|part| source.body.find_all(needle, part).next().is_some())
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::gates_that_speak;

    #[test]
    fn clauses_numbers_and_names_are_not_exchanged() {
        let zh =
            &["主泵由变频器驱动，辅助泵由接触器控制。", "油箱容积为40升，其中10升为备用。", "滤芯每500小时更换一次。"];
        for (i, gate, wrong) in [
            (0, "crossed-clauses", "主泵由接触器控制。"),
            (1, "number-exchanged", "油箱容积为10升。"),
            (2, "name-exchanged", "主泵每500小时更换一次。"),
        ] {
            assert!(gates_that_speak("", zh, i, wrong).iter().any(|(g, _)| g == gate), "{wrong}");
        }
        for (i, right) in [(0, "主泵由变频器驱动。"), (0, "辅助泵由接触器控制。"), (1, "油箱的备用容积为10升。")]
        {
            assert!(gates_that_speak("", zh, i, right).is_empty(), "{right}");
        }
    }

    #[test]
    fn a_restored_subject_is_no_exchange() {
        let zh = &["XH-500 压机停机后报警。", "本机每年检验一次。", "操作人员必须切断电源，并挂上警示牌。"];
        assert!(gates_that_speak("", zh, 1, "XH-500 压机每年检验一次。").is_empty());
        assert!(gates_that_speak("", zh, 2, "操作人员必须挂上警示牌。").is_empty());
        let en = &["The drawbar is held by springs.", "It releases the tool and then stops the motor."];
        assert!(gates_that_speak("", en, 1, "The drawbar stops the motor.").is_empty());
    }
}

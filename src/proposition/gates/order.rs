//! Order: who does what to whom, and what comes first.
//!
//! A statement made of its sentence's own words can still be wrong by their order. Moving a phrase to the front turns the words
//! around, like wheels; only an exchange of what stands before and behind a verb reverses three of them. And 停机前 is not 停机后.

use std::ops::Range;

use super::{Candidate, Finding};
use crate::proposition::lexis::{Folded, is_ideograph};
use crate::proposition::source::Source;

/// Most terms that are compared.
const MOST: usize = 60;
/// Stand between two roles and decide which is which.
const PIVOTS: &str = "由被使让讓把将將比向给給";
/// Words of time behind what they relate to, those of one row in place of one another.
const TIMES: &[&[char]] = &[&['前'], &['后', '後'], &['时', '時']];

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Vec<Finding> {
    let mut out: Vec<Finding> = times(candidate, source).into_iter().collect();
    out.extend(reversed(candidate));
    out
}

/// `停机后` where the sentence says `停机前`.
fn times(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let own = related(&candidate.own.folded);
    let above: Vec<_> = source.frame.places[candidate.index].above.iter().collect();
    let known: Vec<_> = above.iter().flat_map(|a| related(&Folded::new(&a.text))).chain(own.iter().copied()).collect();
    let said = related(&candidate.folded);
    let wrong = said.iter().find(|(stem, time)| {
        !known.contains(&(*stem, *time)) && own.iter().any(|(other, meant)| other == stem && meant != time)
    })?;
    let word: String = wrong.0.iter().chain(TIMES[wrong.1].first()).collect();
    Some(Finding::reject("order", word))
}

/// Two ideographs and the time word behind them, 以 or 之 in between aside.
fn related(text: &Folded) -> Vec<([char; 2], usize)> {
    (2..text.len())
        .filter_map(|at| {
            let time = TIMES.iter().position(|row| row.contains(&text.chars[at]))?;
            let end = if at >= 3 && matches!(text.chars[at - 1], '以' | '之') { at - 1 } else { at };
            let stem = [text.chars[end - 2], text.chars[end - 1]];
            stem.iter().all(|c| is_ideograph(*c)).then_some((stem, time))
        })
        .collect()
}

/// A term or pivot that both texts have once: its places in the sentence and in the statement.
#[derive(Clone, Copy)]
struct Shared {
    own: (usize, usize),
    said: (usize, usize),
}

/// Three terms in reverse, not side by side and not members of one list, while neither text is the passive of the other.
fn reversed(candidate: &Candidate<'_>) -> Option<Finding> {
    let (own, said) = (&candidate.own.folded, &candidate.folded);
    let range = candidate.alignment.range.clone();
    if passives(own, &range) != passives(said, &(0..said.len())) {
        return None;
    }
    let mut shared = shared(candidate);
    shared.sort_by_key(|s| s.said);
    shared.truncate(MOST);
    for (i, a) in shared.iter().enumerate() {
        for (k, pivot) in shared.iter().enumerate().skip(i + 1) {
            if pivot.own.1 > a.own.0 || pivot.said.0 < a.said.1 {
                continue;
            }
            for b in &shared[k + 1..] {
                if b.own.1 > pivot.own.0 || b.said.0 < pivot.said.1 {
                    continue;
                }
                let joined = |text: &Folded, from: usize, to: usize| {
                    let gap = text.text(from, to);
                    ["、", ",", "和", "与", "與", "或", "及", " and ", " or ", "/"].iter().any(|w| gap.contains(w))
                };
                let listed = joined(own, b.own.1, pivot.own.0) || joined(own, pivot.own.1, a.own.0);
                let compound = said.text(a.said.1, pivot.said.0).trim().is_empty()
                    && said.text(pivot.said.1, b.said.0).trim().is_empty()
                    && !candidate.chinese;
                if !listed && !compound {
                    let detail = format!("{} … {}", said.text(a.said.0, a.said.1), said.text(b.said.0, b.said.1));
                    return Some(Finding::review("order", detail));
                }
            }
        }
    }
    None
}

fn passives(text: &Folded, range: &Range<usize>) -> usize {
    range
        .clone()
        .filter(|&i| text.has(i, " by ") || matches!(text.chars[i], '由' | '被') && !text.ends(i, "理"))
        .count()
}

fn shared(candidate: &Candidate<'_>) -> Vec<Shared> {
    let mut out = Vec::new();
    let range = &candidate.alignment.range;
    for term in &candidate.terms {
        let mut here = candidate.terms.iter().filter(|t| t.key == term.key);
        let mut there = candidate.own.terms_in(range).filter(|t| t.key == term.key);
        if let (Some(_), None, Some(own), None) = (here.next(), here.next(), there.next(), there.next()) {
            out.push(Shared { own: (own.start, own.end), said: (term.start, term.end) });
        }
    }
    for pivot in PIVOTS.chars() {
        let places = |text: &Folded, range: &Range<usize>| -> Vec<usize> {
            range.clone().filter(|&i| text.chars[i] == pivot).collect()
        };
        let said = places(&candidate.folded, &(0..candidate.folded.len()));
        if let ([own], [said]) = (places(&candidate.own.folded, range).as_slice(), said.as_slice()) {
            out.push(Shared { own: (*own, own + 1), said: (*said, said + 1) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::gates_that_speak;

    fn speaks(sentence: &str, statement: &str) -> bool {
        gates_that_speak("", &[sentence], 0, statement).iter().any(|(gate, _)| gate == "order")
    }

    #[test]
    fn exchanged_roles_and_times_are_rejected() {
        for (sentence, statement) in [
            ("班长应当在停机前通知维修人员。", "维修人员应当在停机前通知班长。"),
            ("主泵由变频器驱动。", "变频器由主泵驱动。"),
            ("班长应当在停机前通知维修人员。", "班长应当在停机后通知维修人员。"),
            ("The shift leader must inform the fitter.", "The fitter must inform the shift leader."),
        ] {
            assert!(speaks(sentence, statement), "{statement}");
        }
    }

    #[test]
    fn another_order_of_phrases_the_active_voice_and_lists_pass() {
        for (sentence, statement) in [
            ("班长应当在停机前通知维修人员。", "停机前，班长应当通知维修人员。"),
            ("主泵由变频器驱动。", "变频器驱动主泵。"),
            ("请检查油泵、阀门和过滤器。", "请检查过滤器、阀门和油泵。"),
            (
                "The controller stops the press if the guard opens.",
                "If the guard opens, the controller stops the press.",
            ),
            ("The press is stopped by the controller.", "The controller stops the press."),
        ] {
            assert!(!speaks(sentence, statement), "{statement}");
        }
    }
}

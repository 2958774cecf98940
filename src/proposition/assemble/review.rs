//! What a person decided about statements, applied to the units of a passage.
//!
//! Decisions are applied to what the gates left of the extractor's output, so the units of a passage follow from its text,
//! that output and the decisions alone, never from the order in which things happened. The gates stay above the person: a
//! statement that one of them refuses is not searchable, whoever wrote or accepted it. And no decision loses a sentence: where a
//! statement goes, what no other one carries is searched verbatim.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::*;
use crate::proposition::confidence::LOW_CONFIDENCE;
use crate::proposition::lexis::is_ideograph;
use crate::proposition::time::without_anchors;

/// The name under which a person's decision stands among the reasons of a unit.
pub const REVIEWED: &str = "reviewed";

/// What a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The statement is right as it stands.
    Accepted,
    /// The statement is replaced by the person's own.
    Edited,
    /// The statement is wrong and must not be found.
    Rejected,
}

/// A person's decision about one unit of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Key of the unit, see [`unit_keys`].
    pub unit: String,
    /// What was decided.
    pub verdict: Verdict,
    /// The statement that was judged or, for [`Verdict::Edited`], the one that the person wrote.
    pub statement: String,
    /// Where the statement's evidence stood: code points of the passage.
    pub place: Span,
}

/// What became of decisions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// The key of each unit; an edited unit keeps its key.
    pub keys: Vec<String>,
    /// Decisions, by their place in the list, that a gate stands against now, with what it says.
    pub refused: Vec<(usize, Vec<Reason>)>,
}

/// The keys of a passage's units: each follows from what its statement is and says, and from which of several equal ones it
/// is. No two are equal. Twelve hexadecimal digits.
pub fn unit_keys(units: &[Unit]) -> Vec<String> {
    let mut keys = Vec::with_capacity(units.len());
    for unit in units {
        let key = key(unit, &keys);
        keys.push(key);
    }
    keys
}

/// A key for `unit` that none of `taken` is.
fn key(unit: &Unit, taken: &[String]) -> String {
    let mut occurrence = 0u64;
    loop {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"mingti unit 1").update(&[unit.kind as u8]).update(&occurrence.to_le_bytes());
        let mut key = hasher.update(unit.statement.as_bytes()).finalize().to_hex().to_string();
        key.truncate(12);
        if !taken.contains(&key) {
            return key;
        }
        occurrence += 1;
    }
}

/// Judges a statement that a person wrote for the sentence at `place` of the passage, as strictly as one of the extractor.
/// The unit that comes back is [`Status::Accepted`], or [`Status::Rejected`] with the reasons of the gates that refuse it.
pub fn judge_statement(passage: &Passage<'_>, place: Span, statement: &str) -> Unit {
    judge(passage, &Source::new(passage), place, statement)
}

fn judge(passage: &Passage<'_>, source: &Source, place: Span, statement: &str) -> Unit {
    let statement = without_anchors(&tidy(statement, passage.title), passage.date);
    let Some(index) = sentence_at(passage, place) else {
        let reason = Reason { gate: "no-sentence".to_owned(), detail: "the passage has no sentence there".to_owned() };
        return Unit { reasons: vec![reason], ..rejected(&statement, place, &[]) };
    };
    if let Some(finding) = hopeless(&statement) {
        return rejected(&statement, place, &[finding]);
    }
    let candidate = Candidate::new(&statement, index, source, &HashMap::new());
    // Nothing is repaired: a person's statement is taken as it stands or refused.
    let mut unit = judge_one(candidate, 1.0, &Repaired::default(), source);
    if unit.is_searchable() {
        // What only asked for a person has been seen by one.
        unit.status = Status::Accepted;
    }
    anchor_units(std::slice::from_mut(&mut unit), passage.date);
    unit
}

/// The sentence that shares most characters with `place`, the first of several.
fn sentence_at(passage: &Passage<'_>, place: Span) -> Option<usize> {
    let shared = |sentence: &Sentence| sentence.span.intersect(place).map_or(0, |span| span.len());
    let best =
        passage.sentences.iter().map(shared).enumerate().max_by_key(|&(index, len)| (len, usize::MAX - index))?;
    (best.1 > 0).then_some(best.0)
}

/// Sets the confidence below which a statement that no gate objects to waits for a person.
pub fn set_threshold(units: &mut [Unit], below: f32) {
    for unit in units.iter_mut().filter(|unit| unit.kind == UnitKind::Proposition) {
        let doubted = unit.reasons.iter().any(|reason| reason.gate == LOW_CONFIDENCE);
        match unit.status {
            Status::Accepted if unit.confidence < below => {
                unit.status = Status::Review;
                let detail = format!("{:.2}", unit.confidence);
                unit.reasons.push(Reason { gate: LOW_CONFIDENCE.to_owned(), detail });
            }
            Status::Review if doubted && unit.confidence >= below => {
                unit.status = Status::Accepted;
                unit.reasons.retain(|reason| reason.gate != LOW_CONFIDENCE);
            }
            _ => {}
        }
    }
}

/// Applies decisions to the units of `passage`.
///
/// An accepted or edited statement that the extractor does not write any more, because another one is asked now, is put back:
/// the person vouched for it, and the text is the same.
pub fn apply_decisions(passage: &Passage<'_>, assembly: &mut Assembly, decisions: &[Decision]) -> Applied {
    let mut applied = Applied { keys: unit_keys(&assembly.units), refused: Vec::new() };
    if decisions.is_empty() {
        return applied;
    }
    let source = Source::new(passage);
    let before = carried_letters(passage, &source, &assembly.units);
    // Sentences whose statements changed, and whether one of them was rejected.
    let mut touched: BTreeMap<usize, bool> = BTreeMap::new();
    for (number, decision) in decisions.iter().enumerate() {
        let at = applied.keys.iter().position(|key| *key == decision.unit);
        let old = at.map(|at| &mut assembly.units[at]).filter(|unit| unit.kind == UnitKind::Proposition);
        match (decision.verdict, old) {
            (Verdict::Rejected, None) => {}
            (Verdict::Rejected, Some(unit)) if !unit.is_searchable() => {}
            (Verdict::Rejected, Some(unit)) => {
                unit.status = Status::Rejected;
                unit.reasons.push(reviewed("rejected".to_owned()));
                touched.extend(sentences_of(passage, unit).into_iter().map(|index| (index, true)));
            }
            (Verdict::Accepted, Some(unit)) if unit.is_searchable() => {
                unit.status = Status::Accepted;
                unit.reasons.push(reviewed("accepted".to_owned()));
            }
            (Verdict::Accepted, Some(unit)) => applied.refused.push((number, unit.reasons.clone())),
            (Verdict::Edited | Verdict::Accepted, old) => {
                let mut new = judge(passage, &source, decision.place, &decision.statement);
                if !new.is_searchable() {
                    applied.refused.push((number, new.reasons));
                    continue;
                }
                let before = old.map(|unit| unit.statement.clone());
                new.reasons.push(reviewed(match (&before, decision.verdict) {
                    (Some(before), Verdict::Edited) => format!("edited, was: {before}"),
                    (_, Verdict::Edited) => "written by a person".to_owned(),
                    (_, _) => "accepted, and not written by this extractor".to_owned(),
                }));
                let said = identity(&new.statement);
                let twin = assembly.units.iter().enumerate().position(|(twin, unit)| {
                    Some(twin) != at
                        && unit.kind == UnitKind::Proposition
                        && unit.is_searchable()
                        && identity(&unit.statement) == said
                });
                if let Some(twin) = twin {
                    // Said by another unit already: it speaks for both.
                    add_evidence(&mut assembly.units[twin], &new.evidence);
                    new.status = Status::Rejected;
                    new.reasons.push(Reason { gate: "duplicate".to_owned(), detail: new.statement.clone() });
                }
                let mut changed = sentences_of(passage, &new);
                changed.extend(at.into_iter().flat_map(|at| sentences_of(passage, &assembly.units[at])));
                for index in changed {
                    touched.entry(index).or_insert(false);
                }
                match at {
                    Some(at) => {
                        assembly.units[at] = new;
                    }
                    None => insert(passage, assembly, &mut applied.keys, new, Some(decision.unit.clone())),
                }
            }
        }
    }
    let after = carried_letters(passage, &source, &assembly.units);
    for (index, rejected) in touched {
        let lost = before[index].difference(&after[index]).cloned().collect::<Vec<_>>();
        let reason = match (rejected, lost.is_empty()) {
            (true, _) => Some("a person rejected a statement".to_owned()),
            (false, false) => Some(format!("a person's statement leaves out: {}", lost.join(" "))),
            (false, true) => None,
        };
        cover(passage, &source, index, reason, assembly, &mut applied.keys);
    }
    assembly.uncovered = uncovered(&assembly.units, &assembly.ledger);
    applied
}

fn reviewed(detail: String) -> Reason {
    Reason { gate: REVIEWED.to_owned(), detail }
}

/// The sentences that a unit speaks for.
fn sentences_of(passage: &Passage<'_>, unit: &Unit) -> Vec<usize> {
    let speaks = |sentence: &Sentence| unit.evidence.iter().any(|span| span.intersect(sentence.span).is_some());
    passage.sentences.iter().enumerate().filter(|(_, sentence)| speaks(sentence)).map(|(index, _)| index).collect()
}

/// Puts a unit after the others of its sentence.
fn insert(passage: &Passage<'_>, assembly: &mut Assembly, keys: &mut Vec<String>, unit: Unit, known: Option<String>) {
    let own = sentences_of(passage, &unit).first().copied();
    let at = assembly
        .units
        .iter()
        .rposition(|other| sentences_of(passage, other).first().copied() <= own)
        .map_or(0, |last| last + 1);
    keys.insert(at, known.unwrap_or_else(|| key(&unit, keys)));
    assembly.units.insert(at, unit);
}

/// For each sentence the words and ideographs of it that a searchable statement carries. Single ideographs, so that another
/// order of words counts as the same.
fn carried_letters(passage: &Passage<'_>, source: &Source, units: &[Unit]) -> Vec<BTreeSet<String>> {
    let letters = |set: &HashSet<String>| -> BTreeSet<String> {
        let han = |key: &String| key.chars().all(is_ideograph);
        let single = set.iter().filter(|key| han(key)).flat_map(|key| key.chars().map(String::from));
        set.iter().filter(|key| !han(key)).cloned().chain(single).collect()
    };
    let mut carried = vec![BTreeSet::new(); passage.sentences.len()];
    for unit in units.iter().filter(|unit| unit.is_searchable() && unit.kind == UnitKind::Proposition) {
        let said = letters(&term_set(&terms(&Folded::new(&unit.statement))));
        for index in sentences_of(passage, unit) {
            carried[index].extend(letters(&source.sentences[index].set).intersection(&said).cloned());
        }
    }
    carried
}

/// Sees to it that what the statements of a sentence do not carry any more is searched verbatim, for `reason` or for one found
/// here.
fn cover(
    passage: &Passage<'_>,
    source: &Source,
    index: usize,
    reason: Option<String>,
    assembly: &mut Assembly,
    keys: &mut Vec<String>,
) {
    let sentence = &passage.sentences[index];
    let Some(entry) = assembly.ledger.get(index) else { return };
    if matches!(entry.outcome, Outcome::Heading | Outcome::Skipped { .. }) {
        return;
    }
    let speaking =
        |unit: &&Unit| unit.is_searchable() && unit.evidence.iter().any(|span| span.intersect(sentence.span).is_some());
    if assembly.units.iter().filter(speaking).any(|unit| unit.kind != UnitKind::Proposition) {
        return;
    }
    let good: Vec<String> = assembly.units.iter().filter(speaking).map(|unit| unit.statement.clone()).collect();
    let carried = good.iter().flat_map(|statement| term_set(&terms(&Folded::new(statement)))).collect();
    let missing = reason.or_else(|| left_out(&source.sentences[index], &good, &carried, MIN_COVERAGE, source));
    let Some(reason) = missing else {
        if let Outcome::Propositions { count } | Outcome::Repaired { count, .. } = &mut assembly.ledger[index].outcome {
            *count = good.len();
        }
        return;
    };
    assembly.ledger[index].outcome = Outcome::Fallback { reason };
    let verbatim = assembly.units.iter().enumerate();
    let verbatim = verbatim
        .filter(|(_, unit)| unit.kind == UnitKind::Sentence)
        .map(|(at, unit)| (unit.statement.clone(), at))
        .collect();
    let before = assembly.units.len();
    let units = std::mem::take(&mut assembly.units);
    let chars = passage.text.chars().collect();
    let mut work = Work { passage, chars, rows: HashMap::new(), units, seen: HashMap::new(), verbatim };
    work.add_verbatim(sentence);
    assembly.units = work.units;
    // A sentence that stands verbatim elsewhere in the passage has gained this place instead.
    if assembly.units.len() > before
        && let Some(unit) = assembly.units.pop()
    {
        insert(passage, assembly, keys, unit, None);
    }
}

#[cfg(test)]
mod tests;

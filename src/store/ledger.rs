//! The account of every sentence, as stored with its section: entry by entry, and summed up.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rows::{DocumentRow, SectionRow, UnitRow};
use super::view::View;
use crate::document::Span;
use crate::error::{Error, Kind, Result};
use crate::proposition::{Outcome, REVIEWED, SentenceKind, SentenceOutcome, Status};

/// A sentence and what became of it. Ranges count code points of the document.
#[derive(Debug, Clone)]
pub struct LedgerEntry<'a> {
    /// Its document.
    pub document: &'a DocumentRow,
    /// Its section.
    pub section: &'a SectionRow,
    /// Place of the sentence.
    pub range: Span,
    /// What the sentence is.
    pub sentence: SentenceKind,
    /// What became of it.
    pub outcome: Outcome,
    /// Gates that refused statements written for it, in order of their names, each once; [`REVIEWED`] where a person did.
    pub gates: Vec<String>,
    /// True when no searchable unit covers it and nothing excuses that: something is wrong.
    pub uncovered: bool,
}

/// How often something is the case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeCount {
    /// What is the case: a reason without its details, or the name of a gate.
    pub reason: String,
    /// Sentences it holds for.
    pub count: usize,
}

/// The ledger summed up. `sentences` is the sum of `propositions`, `verbatim`, `table_rows`, `headings` and `skipped`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LedgerSummary {
    /// Sentences of all sections whose units are there.
    pub sentences: usize,
    /// Sentences that statements carry whole.
    pub propositions: usize,
    /// Of these, sentences for which rules made a statement.
    pub by_rule: usize,
    /// Sentences kept verbatim.
    pub verbatim: usize,
    /// Rows of tables.
    pub table_rows: usize,
    /// Headings, searched with every unit of their section.
    pub headings: usize,
    /// Sentences without a unit, for a reason.
    pub skipped: usize,
    /// Sentences of any kind that no searchable unit covers and that nothing excuses: 0 unless something is wrong.
    pub uncovered: usize,
    /// Why sentences are kept verbatim, most frequent first.
    pub verbatim_because: Vec<OutcomeCount>,
    /// Gates that refused statements of sentences kept verbatim, most frequent first; a sentence may count for several.
    pub verbatim_by_gate: Vec<OutcomeCount>,
    /// Why sentences are skipped, most frequent first.
    pub skipped_because: Vec<OutcomeCount>,
}

impl View<'_> {
    /// Calls `each` with every sentence of the sections whose units are there, in order of path and place.
    pub fn for_each_sentence(&self, mut each: impl FnMut(LedgerEntry<'_>) -> Result<()>) -> Result<()> {
        self.for_each_section(|document, section| {
            if section.ledger.is_empty() {
                return Ok(());
            }
            let entries: Vec<SentenceOutcome> = serde_json::from_str(&section.ledger).map_err(|error| {
                Error::new(Kind::Corrupt, "the ledger of a section cannot be read")
                    .place(format!("{}, characters {}..{}", document.path, section.span.start, section.span.end))
                    .because(error)
                    .hint("run `mingti index` again")
            })?;
            if entries.is_empty() {
                return Ok(());
            }
            let mut refused = self.units(section.row)?;
            refused.retain(|unit| unit.unit.status == Status::Rejected);
            for entry in entries {
                let range = entry.sentence.span.shifted(section.span.start);
                each(LedgerEntry {
                    document,
                    section,
                    range,
                    sentence: entry.sentence.kind,
                    outcome: entry.outcome,
                    gates: gates(&refused, range),
                    uncovered: section.uncovered.contains(&range),
                })?;
            }
            Ok(())
        })
    }

    /// The ledger summed up.
    pub fn ledger_summary(&self) -> Result<LedgerSummary> {
        let mut sum = LedgerSummary::default();
        let [mut verbatim, mut by_gate, mut skipped] = [(); 3].map(|()| BTreeMap::<String, usize>::new());
        self.for_each_sentence(|entry| {
            sum.sentences += 1;
            sum.uncovered += usize::from(entry.uncovered);
            let reason = entry.outcome.reason_in_general().unwrap_or_default().to_owned();
            match entry.outcome {
                Outcome::Propositions { .. } => sum.propositions += 1,
                Outcome::Repaired { .. } => {
                    sum.propositions += 1;
                    sum.by_rule += 1;
                }
                Outcome::TableRow => sum.table_rows += 1,
                Outcome::Heading => sum.headings += 1,
                Outcome::Skipped { .. } => {
                    sum.skipped += 1;
                    *skipped.entry(reason).or_default() += 1;
                }
                Outcome::Fallback { .. } => {
                    sum.verbatim += 1;
                    *verbatim.entry(reason).or_default() += 1;
                    for gate in entry.gates {
                        *by_gate.entry(gate).or_default() += 1;
                    }
                }
            }
            Ok(())
        })?;
        sum.verbatim_because = ranked(verbatim);
        sum.verbatim_by_gate = ranked(by_gate);
        sum.skipped_because = ranked(skipped);
        Ok(sum)
    }
}

/// Names of the gates, or of the person's decision, that made a unit which speaks for `range` unsearchable.
fn gates(refused: &[UnitRow], range: Span) -> Vec<String> {
    let speaking = refused.iter().filter(|unit| unit.unit.evidence.iter().any(|span| span.intersect(range).is_some()));
    let mut names: Vec<String> = Vec::new();
    for unit in speaking {
        let all = unit.unit.reasons.iter().map(|reason| reason.gate.clone());
        // What a person rejected, the gates had let through.
        match unit.unit.reasons.iter().any(|reason| reason.gate == REVIEWED) {
            true => names.push(REVIEWED.to_owned()),
            false => names.extend(all),
        }
    }
    names.sort();
    names.dedup();
    names
}

fn ranked(counts: BTreeMap<String, usize>) -> Vec<OutcomeCount> {
    let mut ranked: Vec<OutcomeCount> =
        counts.into_iter().map(|(reason, count)| OutcomeCount { reason, count }).collect();
    ranked.sort_by_key(|count| std::cmp::Reverse(count.count));
    ranked
}

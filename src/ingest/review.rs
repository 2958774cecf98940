//! What people decide about statements, brought into effect.
//!
//! A decision is kept with the index, the sections it is about are made again from what the model wrote for them before, and
//! the result is published like that of any indexing run. No language model is asked.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::options::{IndexOptions, IndexSummary, PassageEmbedder};
use super::progress::{Interrupt, Progress};
use super::{build, update};
use crate::error::{Error, Kind, Result};
use crate::proposition::{Decision, Reason, Status, UnitKind, Verdict, judge_statement};
use crate::store::{DecisionRow, Reader, SectionRow, UnitRow, Writer, section_key};

/// What a person says about units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling<'a> {
    /// Their statements are right.
    Accept,
    /// Their statements are wrong.
    Reject,
    /// This is how the statement should read.
    Edit(&'a str),
}

/// What a review did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReviewSummary {
    /// Decisions that are new or differ from what was decided before.
    pub changed: usize,
    /// Units about which the same had been decided, or that need no decision.
    pub unchanged: usize,
    /// Sections whose units were made again.
    pub sections: usize,
    /// Sections of an interrupted indexing run that wait for the model. While there are any nothing is published.
    pub waiting: usize,
    /// Texts that were embedded.
    pub embedded: usize,
    /// Searchable units in the index; 0 when nothing was published.
    pub units: usize,
    /// The generation that was published; `None` when nothing had changed or sections wait.
    pub generation: Option<u64>,
}

/// Decides about units of the index in `index`, given by their identifiers, and publishes what follows. Either all decisions are
/// kept or, after an error, none. They hold for every section with the same headings and text, also after renaming and
/// indexing again, until that text changes.
///
/// `embedder` must be the one that filled the index; another one embeds everything anew.
///
/// # Errors
/// An identifier is unknown or names verbatim text, a gate refuses a statement that shall be accepted or written, another
/// process writes to the index, or what [`index`](super::index) can meet. When the run is stopped or killed after the decisions
/// are kept, the next review or indexing run brings them into effect.
pub fn review(
    index: &Path,
    units: &[String],
    ruling: Ruling<'_>,
    embedder: &dyn PassageEmbedder,
    progress: &mut dyn FnMut(Progress),
    interrupt: &Interrupt,
) -> Result<ReviewSummary> {
    // A review makes no index.
    let unit = Reader::open(index)?.require_generation()?.unit.clone();
    if matches!(ruling, Ruling::Edit(_)) && units.len() != 1 {
        return Err(Error::new(Kind::Usage, "a statement is written for one unit")
            .expected("one identifier")
            .found(units.len().to_string()));
    }
    let mut writer = Writer::open_or_create(index)?;
    let mut done = IndexSummary::default();
    // What a review that was killed left behind comes first: its units have identifiers again.
    update::replay(&mut writer, progress, interrupt, &mut done)?;
    let mut summary = ReviewSummary::default();
    let mut decisions: Vec<(DecisionRow, SectionRow)> = Vec::new();
    for id in units.iter().collect::<BTreeSet<_>>() {
        match decide(&writer, id, ruling)? {
            Some(decision) => decisions.push(decision),
            None => summary.unchanged += 1,
        }
    }
    summary.changed = decisions.len();
    if !decisions.is_empty() {
        let (rows, sections): (Vec<DecisionRow>, Vec<SectionRow>) = decisions.into_iter().unzip();
        let about: BTreeSet<(&[String], &str)> =
            sections.iter().map(|section| (section.heading_path.as_slice(), section.text.as_str())).collect();
        writer.decide(&rows, &about.into_iter().collect::<Vec<_>>())?;
        update::replay(&mut writer, progress, interrupt, &mut done)?;
    }
    summary.sections = done.sections;
    summary.waiting = writer.view().pending()?.len();
    if summary.waiting == 0 {
        let unit = serde_json::from_value(unit.into()).unwrap_or(UnitKind::Proposition);
        let options = IndexOptions { unit, ..IndexOptions::new(index, Vec::new()) };
        build::publish(&mut writer, &options, embedder, build::Make::Update, progress, interrupt, &mut done)?;
    }
    (summary.embedded, summary.units, summary.generation) = (done.embedded, done.units, done.generation);
    Ok(summary)
}

/// The decision that a ruling makes about a unit, with the unit's section; none when it changes nothing.
fn decide(writer: &Writer, id: &str, ruling: Ruling<'_>) -> Result<Option<(DecisionRow, SectionRow)>> {
    let view = writer.view();
    let unit = view.unit_by_id(id)?.ok_or_else(|| {
        Error::new(Kind::Missing, "no unit has this identifier")
            .place(id)
            .hint("`mingti review list` and `mingti search --json` tell identifiers; they change with the text")
    })?;
    let section = view.section(unit.section)?;
    if unit.unit.kind != UnitKind::Proposition {
        return Err(Error::new(Kind::Usage, "these are the source's own words, which are not reviewed")
            .place(id)
            .hint("change the document and index it again"));
    }
    if section.recipe.is_none() {
        return Err(Error::new(Kind::Usage, "the section was indexed by an older version of mingti")
            .place(id)
            .hint("run `mingti index` on the document again first"));
    }
    let about = section_key(&section.heading_path, &section.text);
    let known = view.decisions_about(&about)?.into_iter().find(|row| row.decision.unit == unit.key);
    let Some((verdict, statement)) = verdict(writer, id, ruling, &unit, &section, known.as_ref())? else {
        return Ok(None);
    };
    let row = DecisionRow {
        section: about,
        decision: Decision {
            unit: unit.key.clone(),
            verdict,
            statement,
            place: place(&unit, &section, known.as_ref()),
        },
        original: known.map_or(unit.unit.statement, |known| known.original),
        path: view.document(section.document)?.path,
        heading_path: section.heading_path.clone(),
        made: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
    };
    Ok(Some((row, section)))
}

/// Where the unit's own sentence is, in code points of the section.
fn place(unit: &UnitRow, section: &SectionRow, known: Option<&DecisionRow>) -> crate::document::Span {
    match known {
        Some(known) => known.decision.place,
        None => {
            let first =
                unit.unit.evidence.first().and_then(|span| span.intersect(section.span)).unwrap_or(section.span);
            crate::document::Span::new(first.start - section.span.start, first.end - section.span.start)
        }
    }
}

fn verdict(
    writer: &Writer,
    id: &str,
    ruling: Ruling<'_>,
    unit: &UnitRow,
    section: &SectionRow,
    known: Option<&DecisionRow>,
) -> Result<Option<(Verdict, String)>> {
    let before = known.map(|known| known.decision.verdict);
    let own = &unit.unit;
    let in_effect = known.is_some_and(|known| known.decision.statement == own.statement);
    match ruling {
        Ruling::Accept => match before {
            Some(Verdict::Accepted) => Ok(None),
            Some(Verdict::Edited) if in_effect => Ok(None),
            Some(Verdict::Rejected) => Ok(Some((Verdict::Accepted, own.statement.clone()))),
            _ if own.status == Status::Rejected => Err(refused(
                id,
                "a gate refuses this statement, so it cannot be accepted",
                &own.reasons,
                "write a statement that says only what the source says: `mingti review edit ID --statement …`",
            )),
            _ => Ok(Some((Verdict::Accepted, own.statement.clone()))),
        },
        Ruling::Reject => {
            let gone = own.status == Status::Rejected;
            Ok((!gone).then(|| (Verdict::Rejected, own.statement.clone())))
        }
        Ruling::Edit(statement) => {
            let (_, prepared) = update::prepared(writer.view(), UnitKind::Proposition, section.clone())?;
            let judged = judge_statement(&prepared.passage(), place(unit, section, known), statement);
            if !judged.is_searchable() {
                return Err(refused(
                    id,
                    "a gate refuses the new statement",
                    &judged.reasons,
                    "say only what the section, its headings and the title say, with their numbers, names and words such as \
                     不得 or must; `mingti review show ID` shows them",
                ));
            }
            let original = known.map_or(&own.statement, |known| &known.original);
            let verdict = if judged.statement == *original { Verdict::Accepted } else { Verdict::Edited };
            let same =
                before == Some(verdict) && known.is_some_and(|known| known.decision.statement == judged.statement);
            Ok((!same).then_some((verdict, judged.statement)))
        }
    }
}

fn refused(id: &str, what: &str, reasons: &[Reason], hint: &str) -> Error {
    let reasons: Vec<String> = reasons.iter().map(|reason| format!("{}: {}", reason.gate, reason.detail)).collect();
    Error::new(Kind::Usage, what).place(id).found(reasons.join("; ")).hint(hint)
}

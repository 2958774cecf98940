//! `mingti review`: what waits for a person, and what the person decides.

use mingti::document::{PathPattern, Span};
use mingti::ingest::{self, OnDemand, ReviewSummary, Ruling};
use mingti::proposition::{Reason, Status, UnitKind, Verdict};
use mingti::store::{DecisionRow, Reader, ReviewFilter, ReviewItem, section_key};
use serde::Serialize;

use super::load::Loader;
use crate::cli::args::{ReviewCommand, Scope};
use crate::cli::failure::{Exit, Failure, Outcome};
use crate::cli::interrupt;
use crate::cli::output::{self, Out, printable};
use crate::cli::progress::Reporter;
use crate::cli::settings::Settings;

/// Runs the command.
pub(crate) fn run(settings: &Settings, command: ReviewCommand) -> Outcome {
    match command {
        ReviewCommand::List { scope, all, json } => list(settings, scope, all, json),
        ReviewCommand::Show { ids, json } => show(settings, &ids, json),
        ReviewCommand::Accept(args) => {
            decide(settings, &which(settings, args.ids, args.scope)?, Ruling::Accept, args.json)
        }
        ReviewCommand::Reject(args) => {
            decide(settings, &which(settings, args.ids, args.scope)?, Ruling::Reject, args.json)
        }
        ReviewCommand::Edit { id, statement, json } => decide(settings, &[id], Ruling::Edit(&statement), json),
    }
}

/// A statement under review. Ranges count code points of the document.
#[derive(Serialize)]
struct Item<'a> {
    id: &'a str,
    path: &'a str,
    title: &'a str,
    section: Section<'a>,
    statement: &'a str,
    unit: UnitKind,
    status: Status,
    confidence: f32,
    evidence: &'a [Span],
    evidence_text: Vec<String>,
    antecedents: &'a [Span],
    antecedent_text: Vec<String>,
    entities: &'a [String],
    reasons: &'a [Reason],
    decision: Option<Decided<'a>>,
}

#[derive(Serialize)]
struct Section<'a> {
    id: &'a str,
    heading_path: &'a [String],
    char_range: Span,
    /// Only where a single statement is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

#[derive(Serialize)]
struct Decided<'a> {
    verdict: Verdict,
    /// The statement before the first decision.
    original: &'a str,
    /// Seconds since 1970.
    made: u64,
}

/// A decision whose text has changed or gone.
#[derive(Serialize)]
struct Stale<'a> {
    stale: bool,
    path: &'a str,
    heading_path: &'a [String],
    verdict: Verdict,
    statement: &'a str,
    original: &'a str,
    made: u64,
}

impl<'a> Item<'a> {
    fn new(item: &'a ReviewItem, whole: bool) -> Self {
        let (section, unit) = (&item.section, &item.unit.unit);
        let texts = |spans: &[Span]| spans.iter().map(|span| slice(&section.text, section.span.start, *span)).collect();
        Self {
            id: &item.unit.id,
            path: &item.document.path,
            title: &item.document.title,
            section: Section {
                id: &section.id,
                heading_path: &section.heading_path,
                char_range: section.span,
                text: whole.then_some(section.text.as_str()),
            },
            statement: &unit.statement,
            unit: unit.kind,
            status: unit.status,
            confidence: unit.confidence,
            evidence: &unit.evidence,
            evidence_text: texts(&unit.evidence),
            antecedents: &unit.antecedents,
            antecedent_text: texts(&unit.antecedents),
            entities: &unit.entities,
            reasons: &unit.reasons,
            decision: item.decision.as_ref().map(|row| Decided {
                verdict: row.decision.verdict,
                original: &row.original,
                made: row.made,
            }),
        }
    }
}

/// The document's characters `span`, from a section that starts at `start`.
fn slice(text: &str, start: usize, span: Span) -> String {
    text.chars().skip(span.start.saturating_sub(start)).take(span.len()).collect()
}

fn filter(scope: Scope, decided: bool) -> Outcome<ReviewFilter> {
    let path = scope.path.as_deref().map(PathPattern::new).transpose()?;
    Ok(ReviewFilter { path, section: scope.section, decided })
}

fn list(settings: &Settings, scope: Scope, all: bool, json: bool) -> Outcome {
    let everywhere = scope.path.is_none() && scope.section.is_none();
    let filter = filter(scope, all)?;
    let reader = Reader::open(&settings.index)?;
    let view = reader.working_view();
    let mut items = Vec::new();
    view.for_each_review(&filter, |item| {
        items.push(item.clone());
        Ok(())
    })?;
    let stale = if all && everywhere { view.stale_decisions()? } else { Vec::new() };
    let mut out = Out::stdout();
    if json {
        for item in &items {
            out.json(&Item::new(item, false))?;
        }
        for row in &stale {
            out.json(&stale_line(row))?;
        }
        return Ok(Exit::Done);
    }
    let mut place = None;
    for item in &items {
        if place != Some(item.section.row) {
            out.text(&output::place(&item.document.path, &item.section.heading_path))?;
            place = Some(item.section.row);
        }
        out.text(&line(item))?;
    }
    for row in &stale {
        out.text(&output::place(&row.path, &row.heading_path))?;
        let what = printable(&row.decision.statement);
        let verdict = word(row.decision.verdict);
        out.text(&format!("   - {what}\n     {verdict}, without effect: its text has changed or gone\n"))?;
    }
    let waiting = items.iter().filter(|item| item.unit.unit.status == Status::Review).count();
    output::note(&match waiting {
        0 => "nothing waits for review".to_owned(),
        waiting => format!("{waiting} statements wait; `mingti review show ID` shows one with its source"),
    });
    Ok(Exit::Done)
}

fn stale_line(row: &DecisionRow) -> Stale<'_> {
    Stale {
        stale: true,
        path: &row.path,
        heading_path: &row.heading_path,
        verdict: row.decision.verdict,
        statement: &row.decision.statement,
        original: &row.original,
        made: row.made,
    }
}

fn line(item: &ReviewItem) -> String {
    let unit = &item.unit.unit;
    let mark = match unit.status {
        Status::Review => "?",
        Status::Accepted => "•",
        Status::Rejected => "✗",
    };
    let gates: Vec<&str> = unit.reasons.iter().map(|reason| reason.gate.as_str()).collect();
    let gates = if gates.is_empty() { String::new() } else { format!("  [{}]", gates.join(", ")) };
    let statement = printable(&unit.statement);
    format!("   {mark} {statement}  {:.2}{gates}\n     {}\n", unit.confidence, item.unit.id)
}

fn show(settings: &Settings, ids: &[String], json: bool) -> Outcome {
    let reader = Reader::open(&settings.index)?;
    let view = reader.working_view();
    let mut out = Out::stdout();
    for id in ids {
        let Some(unit) = view.unit_by_id(id)? else {
            return Err(Failure::hinted(
                format!("{id}: no unit has this identifier"),
                "`mingti review list` and `mingti search --json` tell identifiers; they change with the text",
            ));
        };
        let section = view.section(unit.section)?;
        let document = view.document(section.document)?;
        let about = view.decisions_about(&section_key(&section.heading_path, &section.text))?;
        let decision = about.into_iter().find(|row| row.decision.unit == unit.key);
        let item = ReviewItem { document, section, unit, decision };
        match json {
            true => out.json(&Item::new(&item, true))?,
            false => out.text(&page(&item))?,
        }
    }
    Ok(Exit::Done)
}

/// One statement with everything that helps to decide.
fn page(item: &ReviewItem) -> String {
    let (unit, section) = (&item.unit.unit, &item.section);
    let mut page = output::place(&item.document.path, &section.heading_path);
    let status = match unit.status {
        Status::Review => "waits for review",
        Status::Accepted => "accepted",
        Status::Rejected => "rejected, not searchable",
    };
    page += &format!("\nstatement   {}\n", printable(&unit.statement));
    page += &format!("identifier  {}\n", item.unit.id);
    page += &format!("status      {status}, confidence {:.2}\n", unit.confidence);
    for reason in &unit.reasons {
        page += &format!("reason      {}: {}\n", reason.gate, printable(&reason.detail));
    }
    if let Some(row) = &item.decision {
        page += &format!("decided     {}; was: {}\n", word(row.decision.verdict), printable(&row.original));
    }
    for span in &unit.antecedents {
        let text = slice(&section.text, section.span.start, *span);
        page += &format!("taken from  {}..{}: {}\n", span.start, span.end, printable(&text));
    }
    if !unit.entities.is_empty() {
        page += &format!("entities    {}\n", printable(&unit.entities.join(", ")));
    }
    page + "\n" + &output::highlighted(&section.text, section.span, &unit.evidence) + "\n"
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "accepted",
        Verdict::Edited => "edited",
        Verdict::Rejected => "rejected",
    }
}

/// The units that are named, or those that wait in a place.
fn which(settings: &Settings, ids: Vec<String>, scope: Scope) -> Outcome<Vec<String>> {
    if !ids.is_empty() {
        return Ok(ids);
    }
    let filter = filter(scope, false)?;
    let mut found = Vec::new();
    Reader::open(&settings.index)?.working_view().for_each_review(&filter, |item| {
        found.push(item.unit.id.clone());
        Ok(())
    })?;
    Ok(found)
}

fn decide(settings: &Settings, ids: &[String], ruling: Ruling<'_>, json: bool) -> Outcome {
    let interrupt = interrupt::install()?;
    let reader = Reader::open(&settings.index)?;
    let generation = reader.require_generation()?.clone();
    drop(reader);
    let loader = Loader::new(settings, None, None)?;
    let embedder = OnDemand::new(generation, |name: &str| loader.embedder(Some(name)));
    let mut reporter = Reporter::new(false);
    let summary =
        ingest::review(&settings.index, ids, ruling, &embedder, &mut |event| reporter.show(&event), &interrupt);
    reporter.finish();
    let summary = summary?;
    match json {
        true => Out::stdout().json(&summary)?,
        false => output::note(&sentence(&summary)),
    }
    if summary.waiting > 0 {
        output::warn(format!(
            "the decisions are kept and take effect when the {} sections of an interrupted run are done: run the same \
             `mingti index` command again",
            summary.waiting
        ));
    }
    Ok(Exit::Done)
}

/// `2 decisions, 1 section made again, 1 text embedded; generation 5`
fn sentence(summary: &ReviewSummary) -> String {
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let mut text = count(summary.changed, "decision");
    if summary.unchanged > 0 {
        text += &format!(" ({} had been made before)", summary.unchanged);
    }
    text +=
        &format!(", {} made again, {} embedded", count(summary.sections, "section"), count(summary.embedded, "text"));
    match summary.generation {
        Some(generation) => text + &format!("; generation {generation}"),
        None => text + "; nothing new to publish",
    }
}

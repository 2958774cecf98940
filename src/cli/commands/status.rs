//! `mingti status`: what the index holds, and the decoded text of a document.

use std::path::Path;

use mingti::document::Span;
use mingti::index::open_generation;
use mingti::ingest::ModelUse;
use mingti::model::ModelStore;
use mingti::proposition::{Outcome as Fate, SentenceKind, Status as UnitStatus};
use mingti::store::{Counts, GenerationRow, LedgerEntry, LedgerSummary, OutcomeCount, Reader, generation_dir};
use serde::Serialize;

use super::load::disk_cache;
use crate::cli::args::StatusArgs;
use crate::cli::failure::{Exit, Failure, Outcome};
use crate::cli::output::{self, Out, printable};
use crate::cli::progress::bytes;
use crate::cli::settings::Settings;

/// Sections without cover that are named for people; `--json` names all.
const NAMED: usize = 20;
/// Reasons that are told for people; `--json` tells all.
const REASONS: usize = 8;

#[derive(Serialize)]
struct Status<'a> {
    version: u32,
    index: String,
    /// 0 while nothing is published.
    generation: u64,
    unit: Option<&'a str>,
    embedder: Option<&'a str>,
    vectors: usize,
    /// Vectors that came since the files were built: questions look at each of them.
    vectors_added: usize,
    /// Vectors of the files that no longer belong to the index.
    vectors_dead: usize,
    dimension: usize,
    #[serde(flatten)]
    counts: Counts,
    /// Sections with text that no searchable unit covers.
    uncovered: Vec<Uncovered>,
    /// What became of the sentences.
    ledger: LedgerSummary,
    /// What people were asked and said.
    review: Review,
    /// What the language model was asked in all runs, and what it was spared.
    model: Model,
    /// Bytes on disk.
    bytes: u64,
    /// What is computed from models and kept for the next start.
    cache: Cache,
}

#[derive(Serialize)]
struct Cache {
    folder: String,
    /// Bytes that all files together may take.
    limit: u64,
    /// Bytes of packed weights, which extraction maps and processes share.
    weights: u64,
    /// Bytes of prompt prefixes.
    prefixes: u64,
    /// Their number.
    files: usize,
    /// Bytes of what the model wrote for sections, kept in the index.
    extractions: u64,
}

#[derive(Serialize)]
struct Model {
    #[serde(flatten)]
    used: ModelUse,
    /// An estimate; `null` while there is nothing to take it from.
    tokens_avoided: Option<u64>,
}

#[derive(Serialize)]
struct Uncovered {
    path: String,
    heading_path: Vec<String>,
    ranges: Vec<Span>,
    reason: &'static str,
}

#[derive(Serialize)]
struct Review {
    /// Units that wait.
    waiting: usize,
    /// Decisions kept.
    decisions: usize,
    /// Of these, decisions without effect because the text has changed or gone.
    stale: usize,
}

/// A sentence of the ledger.
#[derive(Serialize)]
struct Sentence<'a> {
    path: &'a str,
    section: &'a str,
    heading_path: &'a [String],
    range: Span,
    kind: SentenceKind,
    #[serde(flatten)]
    outcome: &'a Fate,
    gates: &'a [String],
    uncovered: bool,
}

/// Runs the command.
pub(crate) fn run(settings: &Settings, args: &StatusArgs) -> Outcome {
    let reader = Reader::open(&settings.index)?;
    if let Some(path) = &args.text {
        return text(&reader, path);
    }
    if args.ledger {
        return ledger(&reader, args.json);
    }
    let generation = reader.generation();
    let view = reader.working_view();
    let counts = view.counts()?;
    let waiting = counts.units.iter().filter(|units| units.status == UnitStatus::Review).map(|units| units.count);
    let review =
        Review { waiting: waiting.sum(), decisions: view.decisions()?.len(), stale: view.stale_decisions()?.len() };
    // Files that do not open are for `verify` to tell.
    let files = generation.and_then(|row| open_generation(&generation_dir(&settings.index, row.number)).ok());
    let (vectors_added, vectors_dead) = files.map_or((0, 0), |files| (files.vectors.added(), files.vectors.dead()));
    let status = Status {
        version: 1,
        index: settings.index.display().to_string(),
        generation: generation.map_or(0, |generation| generation.number),
        unit: generation.map(|generation| generation.unit.as_str()),
        embedder: generation.map(|generation| generation.embedder_name.as_str()),
        vectors: generation.map_or(0, |generation| generation.vectors),
        vectors_added,
        vectors_dead,
        dimension: generation.map_or(0, |generation| generation.dimension),
        counts,
        uncovered: uncovered(&reader)?,
        ledger: view.ledger_summary()?,
        review,
        model: model(ModelUse::of_index(&view)?),
        bytes: size(&settings.index),
        cache: cache(settings, view.extraction_bytes()?)?,
    };
    let mut out = Out::stdout();
    if args.json {
        out.json(&status)?
    } else {
        out.text(&page(&status, generation))?
    }
    Ok(Exit::Done)
}

fn model(used: ModelUse) -> Model {
    Model { used, tokens_avoided: used.tokens_avoided() }
}

fn cache(settings: &Settings, extractions: u64) -> Outcome<Cache> {
    let disk = disk_cache(settings, &ModelStore::open(settings.models.clone())?);
    let files = disk.files();
    let of = |ending: &str| {
        files.iter().filter(|f| f.path.extension().is_some_and(|e| e == ending)).map(|f| f.size).sum::<u64>()
    };
    let (weights, prefixes) = (of("weights"), of("prefix"));
    let folder = disk.folder.display().to_string();
    Ok(Cache { folder, limit: disk.limit, weights, prefixes, files: files.len(), extractions })
}

/// The text that every range of this document counts in.
fn text(reader: &Reader, path: &str) -> Outcome {
    // An interrupted first run has no published documents, but what it read can be looked at.
    let view = if reader.generation().is_some() { reader.view() } else { reader.working_view() };
    match view.document_by_path(path)?.filter(|document| !document.deleted) {
        Some(document) => Out::stdout().text(&view.text(document.row)?)?,
        None => {
            return Err(Failure::hinted(
                format!("{path}: not in the index"),
                "`mingti search` prints paths as the index has them",
            ));
        }
    }
    Ok(Exit::Done)
}

/// Every sentence with its fate.
fn ledger(reader: &Reader, json: bool) -> Outcome {
    let mut out = Out::stdout();
    let mut failure = None;
    let mut place = None;
    let each = |entry: LedgerEntry<'_>| {
        if failure.is_none() {
            let written =
                if json { sentence_line(&mut out, &entry) } else { sentence_text(&mut out, &entry, &mut place) };
            failure = written.err();
        }
        Ok(())
    };
    reader.working_view().for_each_sentence(each)?;
    failure.map_or(Ok(Exit::Done), Err)
}

fn sentence_line(out: &mut Out, entry: &LedgerEntry<'_>) -> Outcome<()> {
    out.json(&Sentence {
        path: &entry.document.path,
        section: &entry.section.id,
        heading_path: &entry.section.heading_path,
        range: entry.range,
        kind: entry.sentence,
        outcome: &entry.outcome,
        gates: &entry.gates,
        uncovered: entry.uncovered,
    })
}

fn sentence_text(out: &mut Out, entry: &LedgerEntry<'_>, place: &mut Option<i64>) -> Outcome<()> {
    if *place != Some(entry.section.row) {
        out.text(&output::place(&entry.document.path, &entry.section.heading_path))?;
        *place = Some(entry.section.row);
    }
    let from = entry.range.start.saturating_sub(entry.section.span.start);
    let text: String = entry.section.text.chars().skip(from).take(entry.range.len()).collect();
    let text: Vec<&str> = text.split_whitespace().collect();
    let fate = match &entry.outcome {
        Fate::Propositions { count } => format!("{count} propositions"),
        Fate::Repaired { count, rules, .. } => format!("{count} propositions by rule ({})", rules.join(", ")),
        Fate::Fallback { .. } => "verbatim".to_owned(),
        Fate::Heading => "heading".to_owned(),
        Fate::TableRow => "table row".to_owned(),
        Fate::Skipped { .. } => "skipped".to_owned(),
    };
    let reason = entry.outcome.reason().map_or(String::new(), |reason| format!(", {reason}"));
    let gates = if entry.gates.is_empty() { String::new() } else { format!(" [{}]", entry.gates.join(", ")) };
    let lost = if entry.uncovered { " UNCOVERED" } else { "" };
    let Span { start, end } = entry.range;
    out.text(&printable(&format!("   {start}..{end} {fate}{reason}{gates}{lost}: {}\n", text.join(" "))))
}

fn uncovered(reader: &Reader) -> Outcome<Vec<Uncovered>> {
    let mut found = Vec::new();
    reader.working_view().for_each_section(|document, section| {
        if !section.uncovered.is_empty() {
            found.push(Uncovered {
                path: document.path.clone(),
                heading_path: section.heading_path.clone(),
                ranges: section.uncovered.clone(),
                reason: "no searchable unit covers it",
            });
        }
        Ok(())
    })?;
    Ok(found)
}

/// Bytes of all files under `folder`. Files that a writer removes meanwhile do not count.
fn size(folder: &Path) -> u64 {
    let files = walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    files.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

fn page(status: &Status<'_>, generation: Option<&GenerationRow>) -> String {
    let counts = &status.counts;
    let mut lines = vec![format!("index      {} ({})", printable(&status.index), bytes(status.bytes))];
    lines.push(match generation {
        Some(row) => format!(
            "generation {}, unit {}, {} vectors of {} dimensions by {}",
            row.number,
            row.unit,
            row.vectors,
            row.dimension,
            printable(&row.embedder_name)
        ),
        None => "generation none yet: run the same `mingti index` command again, it continues".to_owned(),
    });
    if status.vectors_added + status.vectors_dead > 0 {
        lines.push(format!(
            "changes    {} vectors came and {} went since the files were built (`mingti compact` builds them anew)",
            status.vectors_added, status.vectors_dead
        ));
    }
    let deleted = match counts.deleted_documents {
        0 => String::new(),
        number => format!(", and {number} whose files vanished"),
    };
    lines.push(format!("documents  {} of {} characters{deleted}", counts.documents, counts.chars));
    let pending = match counts.pending_sections {
        0 => String::new(),
        number => format!(", {number} of them waiting for extraction"),
    };
    lines.push(format!("sections   {}{pending}", counts.sections));
    for unit in &counts.units {
        lines.push(format!("units      {} {} {}", unit.count, name(&unit.unit), name(&unit.status)));
    }
    lines.extend(account(&status.ledger));
    lines.push(match &status.review {
        Review { waiting, decisions: 0, .. } => format!("review     {waiting} statements wait"),
        Review { waiting, decisions, stale: 0 } => {
            format!("review     {waiting} statements wait, {decisions} decisions")
        }
        Review { waiting, decisions, stale } => format!(
            "review     {waiting} statements wait, {decisions} decisions, {stale} of them without effect: their text has \
             changed (`mingti review list --all` names them)"
        ),
    });
    if let Some(told) = model_use(&status.model.used) {
        lines.push(format!("model      {told}"));
    }
    let used = &status.model.used;
    if used.prefix_tokens > 0 {
        lines.push(format!(
            "           beginning of the prompt found {} times in memory, {} times on disk: {} tokens not computed again",
            used.prefixes_in_memory, used.prefixes_on_disk, used.prefix_tokens
        ));
    }
    let Cache { weights, prefixes, limit, .. } = status.cache;
    if status.cache.extractions > 0 {
        lines.push(format!("cache      {} of what the model wrote, in the index", bytes(status.cache.extractions)));
    }
    if weights + prefixes > 0 {
        lines.push(format!(
            "cache      {} of packed weights (mapped, shared by all processes), {} of prompt prefixes, at most {}",
            bytes(weights),
            bytes(prefixes),
            bytes(limit)
        ));
    }
    lines.push(format!("uncovered  {}", status.uncovered.len()));
    for section in status.uncovered.iter().take(NAMED) {
        let ranges: Vec<String> =
            section.ranges.iter().map(|range| format!("{}..{}", range.start, range.end)).collect();
        let trail: String = section.heading_path.iter().map(|heading| format!(" › {}", printable(heading))).collect();
        lines.push(format!(
            "           {}{trail}: characters {}: {}",
            printable(&section.path),
            ranges.join(", "),
            section.reason
        ));
    }
    if status.uncovered.len() > NAMED {
        lines.push(format!("           … {} more; `--json` names all", status.uncovered.len() - NAMED));
    }
    if counts.unpublished {
        lines.push("changes    committed but not published: run the same `mingti index` command again".to_owned());
    }
    lines.join("\n") + "\n"
}

/// The ledger for people. An index of whole sections keeps none.
fn account(ledger: &LedgerSummary) -> Vec<String> {
    if ledger.sentences == 0 {
        return Vec::new();
    }
    let listed = |counts: &[OutcomeCount]| {
        let mut parts: Vec<String> =
            counts.iter().take(REASONS).map(|c| format!("{} {}", c.count, printable(&c.reason))).collect();
        if counts.len() > REASONS {
            parts.push(format!("{} other reasons", counts.len() - REASONS));
        }
        if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
    };
    let mut lines = vec![
        format!("sentences  {}", ledger.sentences),
        format!("           {} as propositions, {} of them by rule", ledger.propositions, ledger.by_rule),
        format!("           {} verbatim{}", ledger.verbatim, listed(&ledger.verbatim_because)),
    ];
    if !ledger.verbatim_by_gate.is_empty() {
        lines.push(format!("           gates that spoke about these{}", listed(&ledger.verbatim_by_gate)));
    }
    lines.push(format!("           {} table rows, {} headings", ledger.table_rows, ledger.headings));
    lines.push(format!("           {} skipped{}", ledger.skipped, listed(&ledger.skipped_because)));
    lines
}

/// `81200 tokens for 320 sentences; 41 sentences kept as they stand …`; nothing where no model was ever asked.
pub(super) fn model_use(used: &ModelUse) -> Option<String> {
    let mut parts = Vec::new();
    if used.asked_sentences > 0 {
        parts.push(format!("{} tokens for {} sentences", used.tokens, used.asked_sentences));
    }
    for (sentences, how) in
        [(used.kept_sentences, "kept as they stand"), (used.cached_sentences, "known from the cache")]
    {
        if sentences > 0 {
            parts.push(format!("{sentences} sentences {how}"));
        }
    }
    let spared = used.kept_chars + used.cached_chars;
    if let Some(tokens) = used.tokens_avoided().filter(|_| spared > 0) {
        parts.push(format!("{spared} characters spared, about {tokens} tokens"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The word that JSON has for an enumeration's value.
fn name(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

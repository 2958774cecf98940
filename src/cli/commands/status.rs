//! `mingti status`: what the index holds, and the decoded text of a document.

use std::path::Path;

use mingti::document::Span;
use mingti::store::{Counts, GenerationRow, Reader};
use serde::Serialize;

use crate::cli::args::StatusArgs;
use crate::cli::failure::{Exit, Failure, Outcome};
use crate::cli::output::{Out, printable};
use crate::cli::progress::bytes;
use crate::cli::settings::Settings;

/// Sections without cover that are named for people; `--json` names all.
const NAMED: usize = 20;

#[derive(Serialize)]
struct Status<'a> {
    version: u32,
    index: String,
    /// 0 while nothing is published.
    generation: u64,
    unit: Option<&'a str>,
    embedder: Option<&'a str>,
    vectors: usize,
    dimension: usize,
    #[serde(flatten)]
    counts: Counts,
    /// Sections with text that no searchable unit covers.
    uncovered: Vec<Uncovered>,
    /// Bytes on disk.
    bytes: u64,
}

#[derive(Serialize)]
struct Uncovered {
    path: String,
    heading_path: Vec<String>,
    ranges: Vec<Span>,
    reason: &'static str,
}

/// Runs the command.
pub(crate) fn run(settings: &Settings, args: &StatusArgs) -> Outcome {
    let reader = Reader::open(&settings.index)?;
    if let Some(path) = &args.text {
        return text(&reader, path);
    }
    let generation = reader.generation();
    let status = Status {
        version: 1,
        index: settings.index.display().to_string(),
        generation: generation.map_or(0, |generation| generation.number),
        unit: generation.map(|generation| generation.unit.as_str()),
        embedder: generation.map(|generation| generation.embedder_name.as_str()),
        vectors: generation.map_or(0, |generation| generation.vectors),
        dimension: generation.map_or(0, |generation| generation.dimension),
        counts: reader.working_view().counts()?,
        uncovered: uncovered(&reader)?,
        bytes: size(&settings.index),
    };
    let mut out = Out::stdout();
    if args.json {
        out.json(&status)?
    } else {
        out.text(&page(&status, generation))?
    }
    Ok(Exit::Done)
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

/// The word that JSON has for an enumeration's value.
fn name(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

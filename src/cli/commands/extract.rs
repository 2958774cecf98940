//! `mingti extract`: what the extractor makes of documents or passages, without an index.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Instant;

use mingti::document::{Document, Format, ReadOptions, Span};
use mingti::extractor::{Extractor, LlamaExtractor, Trace};
use mingti::ingest::{Context, Effort, IndexOptions, Interrupt, Planner, Prepared, passage_units};
use mingti::proposition::{Assembly, EntityPlaces, Passage, SentenceYield, Unit, UnitKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::load::{Loader, NO_EXTRACTOR};
use crate::cli::args::ExtractArgs;
use crate::cli::failure::{Exit, Failure, Outcome};
use crate::cli::interrupt;
use crate::cli::output::{self, Out};
use crate::cli::progress::measured;
use crate::cli::settings::Settings;

/// Passages handed to the extractor together: it fills its batch from their sentences.
pub(super) const TOGETHER: usize = 64;

/// Something to extract from.
#[derive(Deserialize)]
pub(super) struct Source {
    pub(super) id: Value,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) heading_path: Vec<String>,
    pub(super) text: String,
    #[serde(skip, default = "markdown")]
    pub(super) format: Format,
    /// How it is treated and what it is told of the rest of its document.
    #[serde(skip, default = "alone")]
    pub(super) context: Context,
}

fn markdown() -> Format {
    Format::Markdown
}

pub(super) fn alone() -> Context {
    Context::new(UnitKind::Proposition, Effort::Full)
}

impl Source {
    fn prepared(&self) -> Prepared {
        let (title, heading_path) = (self.title.clone(), self.heading_path.clone());
        Prepared::new(title, heading_path, self.text.clone(), self.format, self.context.clone())
    }
}

/// A line of `--json`.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    id: &'a Value,
    text: &'a str,
    units: Vec<UnitLine<'a>>,
    uncovered: &'a [Span],
}

#[derive(Serialize)]
struct UnitLine<'a> {
    #[serde(flatten)]
    unit: &'a Unit,
    entity_ranges: Vec<Option<Span>>,
}

impl<'a> Line<'a> {
    pub(super) fn new(id: &'a Value, text: &'a str, units: &'a [Unit], uncovered: &'a [Span]) -> Self {
        let places = EntityPlaces::new(text, 0);
        let line = |unit: &'a Unit| UnitLine {
            entity_ranges: places.of(&unit.entities, &unit.evidence, &unit.antecedents),
            unit,
        };
        Self { id, text, units: units.iter().map(line).collect(), uncovered }
    }
}

/// Runs the command.
pub(crate) fn run(settings: &Settings, args: &ExtractArgs) -> Outcome {
    let interrupt = interrupt::install()?;
    let choice = args.extractor.as_deref().or(settings.file.index.extractor.as_deref());
    let mode = if args.cheap { Effort::Cheap } else { settings.file.index.mode.unwrap_or_default() };
    let (sources, failed) = match &args.passages {
        Some(file) => {
            let (mut sources, failed) = passages(file)?;
            for source in &mut sources {
                source.context = Context { date: args.date, ..Context::new(UnitKind::Proposition, mode) };
            }
            (sources, failed)
        }
        None => {
            let tiers = settings.file.tiers.clone();
            let options = IndexOptions { mode, date: args.date, tiers, ..IndexOptions::new("", Vec::new()) };
            documents(&args.paths, &Planner::new(&options, choice != Some(NO_EXTRACTOR))?)
        }
    };
    let loader = Loader::new(settings, args.device, args.jobs)?;
    let mut extractor = loader.extractor(choice)?;
    let mut trace = args.trace.as_deref().map(Trace::create).transpose()?;
    if let Some(extractor) = &mut extractor {
        extractor.set_trace(trace.take());
    }
    let started = Instant::now();
    let mut out = Out::stdout();
    let mut total = Totals::default();
    for sources in sources.chunks(TOGETHER) {
        together(sources, extractor.as_mut(), &interrupt, &mut |source, passage, yields| {
            let assembly = passage_units(source.context.unit, passage, yields);
            let Assembly { units, uncovered, .. } = &assembly;
            total.add(source, units);
            if args.json {
                return out.json(&Line::new(&source.id, &source.text, units, uncovered));
            }
            let id = source.id.as_str().map_or_else(|| source.id.to_string(), str::to_owned);
            out.extraction(&id, passage, &assembly)
        })?;
    }
    let seconds = started.elapsed();
    if let Some(trace) = extractor.as_mut().and_then(|extractor| extractor.set_trace(None)).or(trace) {
        trace.finish(seconds.as_secs_f64())?;
    }
    output::note(&format!(
        "{total} in {}, {:.1} s per 1,000 characters{}",
        measured(seconds),
        total.rate(seconds.as_secs_f64()),
        extractor.map_or(String::new(), |extractor| format!(", {} tokens", extractor.tokens()))
    ));
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

/// Takes a source, its passage and what the model wrote for it; nothing without a model.
pub(super) type Each<'a> = dyn FnMut(&Source, &Passage<'_>, &[Option<SentenceYield>]) -> Outcome<()> + 'a;

/// Extracts a few sources and hands each to `each`, in order.
pub(super) fn together(
    sources: &[Source],
    extractor: Option<&mut LlamaExtractor>,
    interrupt: &Interrupt,
    each: &mut Each<'_>,
) -> Outcome<()> {
    let prepared: Vec<Prepared> = sources.iter().map(Source::prepared).collect();
    let passages: Vec<Passage<'_>> = prepared.iter().map(Prepared::passage).collect();
    let mut show = |at: usize, yields: &[Option<SentenceYield>]| each(&sources[at], &passages[at], yields);
    let Some(extractor) = extractor else {
        return (0..sources.len()).try_for_each(|at| show(at, &[]));
    };
    // Passages are done in no particular order; each is shown once those before it are.
    let mut ready = BTreeMap::new();
    let mut next = 0;
    let mut failure = None;
    let failed = Cell::new(false);
    let result = extractor.extract_each(
        &passages,
        &mut |at, yields| {
            ready.insert(at, yields);
            while let Some(yields) = ready.remove(&next) {
                if failure.is_none() {
                    failure = show(next, &yields).err();
                    failed.set(failure.is_some());
                }
                next += 1;
            }
            Ok(())
        },
        &|| interrupt.is_raised() || failed.get(),
    );
    match failure {
        Some(failure) => Err(failure),
        None => Ok(result?),
    }
}

/// The lines of a passages file; one that is no passage is named, the others are kept.
fn passages(file: &Path) -> Outcome<(Vec<Source>, bool)> {
    let cannot = |error: &io::Error| Failure::file("cannot read the passages", file, error);
    let lines: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(file).map_err(|error| cannot(&error))?))
    };
    let (mut sources, mut failed) = (Vec::new(), false);
    for (number, line) in lines.split(b'\n').enumerate() {
        let line = line.map_err(|error| cannot(&error))?;
        let line = if number == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(source) => sources.push(source),
            Err(error) => {
                output::complain(format!(
                    "{}, line {}: expected {{\"id\",\"title\",\"heading_path\",\"text\"}}: {error}",
                    file.display(),
                    number + 1
                ));
                failed = true;
            }
        }
    }
    Ok((sources, failed))
}

/// The sections of documents; a file that cannot be read is named, the others are kept.
fn documents(paths: &[PathBuf], planner: &Planner) -> (Vec<Source>, bool) {
    let (files, mut failed) = files(paths);
    let mut sources = Vec::new();
    for (file, name) in files {
        let read = Document::read(&file, &name, &ReadOptions::default());
        match read.and_then(|document| sections(&document, planner)) {
            Ok(found) => sources.extend(found),
            Err(error) => {
                output::complain(error);
                failed = true;
            }
        }
    }
    (sources, failed)
}

/// The documents that `paths` name, with their names in results.
pub(super) fn files(paths: &[PathBuf]) -> (Vec<(PathBuf, String)>, bool) {
    let (mut files, mut failed) = (Vec::new(), false);
    for path in paths {
        for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
            match entry {
                Ok(entry) if !entry.file_type().is_file() => {}
                // What is named is tried, whatever its name; folders are searched for what is known.
                Ok(entry) if entry.depth() == 0 || mingti::document::supported(entry.path()) => {
                    let relative = entry.path().strip_prefix(path).unwrap_or(entry.path());
                    let name = if entry.depth() == 0 { Path::new(entry.file_name()) } else { relative };
                    let name = name.to_string_lossy().replace('\\', "/");
                    files.push((entry.into_path(), name));
                }
                Ok(_) => {}
                Err(error) => {
                    output::complain(error);
                    failed = true;
                }
            }
        }
    }
    (files, failed)
}

fn sections(document: &Document, planner: &Planner) -> mingti::Result<Vec<Source>> {
    let sections = planner.plan(document)?.sections;
    Ok(sections
        .into_iter()
        .enumerate()
        .map(|(number, (section, context))| Source {
            id: format!("{}#{number}", document.path).into(),
            title: document.title.clone(),
            text: document.text.slice(section.span).to_owned(),
            heading_path: section.heading_path,
            format: document.format,
            context,
        })
        .collect())
}

/// What an extraction came to.
#[derive(Default)]
struct Totals {
    passages: usize,
    chars: usize,
    propositions: usize,
    verbatim: usize,
    rejected: usize,
}

impl Totals {
    fn add(&mut self, source: &Source, units: &[Unit]) {
        self.passages += 1;
        self.chars += source.text.chars().count();
        for unit in units {
            match (unit.is_searchable(), unit.kind) {
                (false, _) => self.rejected += 1,
                (true, UnitKind::Proposition) => self.propositions += 1,
                (true, _) => self.verbatim += 1,
            }
        }
    }

    /// Seconds for 1,000 characters.
    fn rate(&self, seconds: f64) -> f64 {
        1000.0 * seconds / self.chars.max(1) as f64
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} sections, {} characters: {} propositions, {} sentences verbatim, {} statements refused",
            self.passages, self.chars, self.propositions, self.verbatim, self.rejected
        )
    }
}

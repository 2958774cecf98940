//! `mingti index`: adds and updates files.

use std::time::Duration;

use mingti::document::ReadOptions;
use mingti::ingest::{self, Effort, IndexOptions, IndexSummary, Planner};
use serde::Serialize;

use super::load::{Loader, unit_kind};
use super::status::model_use;
use crate::cli::args::{IndexArgs, UnitArg};
use crate::cli::failure::{Exit, Outcome};
use crate::cli::interrupt;
use crate::cli::output::{self, Out};
use crate::cli::progress::{NotIndexed, Reporter, measured, remind};
use crate::cli::settings::Settings;
use crate::cli::watch::Watch;

/// Runs the command.
pub(crate) fn run(settings: &Settings, args: IndexArgs) -> Outcome {
    let interrupt = interrupt::install()?;
    let table = &settings.file.index;
    let unit = args.unit.or(table.unit).unwrap_or(UnitArg::Proposition);
    let loader = Loader::new(settings, args.device, args.jobs)?;
    let splitting = loader.splitting(&args.split, 0, args.embedder.as_deref())?;
    let mut options = IndexOptions {
        splitting,
        unit: unit_kind(unit),
        mode: if args.cheap { Effort::Cheap } else { table.mode.unwrap_or_default() },
        date: args.date,
        tiers: settings.file.tiers.clone(),
        reading: reading(args.encoding, args.time_limit),
        ..IndexOptions::new(&settings.index, args.paths)
    };
    // The baselines do not ask the language model, so they need none.
    let mut extractor = match Planner::new(&options, true)?.may_ask() {
        true => loader.extractor(args.extractor.as_deref().or(table.extractor.as_deref()))?,
        false => None,
    };
    let embedder = loader.embedder(args.embedder.as_deref().or(table.embedder.as_deref()))?;
    if let Some(below) = args.review_below.or(settings.file.review.below) {
        options.review_below = below;
    }
    let mut index = || -> Outcome {
        let started = std::time::Instant::now();
        let mut reporter = Reporter::new(args.json).verbose(args.verbose);
        let summary = ingest::index(
            &options,
            extractor.as_mut().map(|extractor| extractor as _),
            &embedder,
            &mut |event| reporter.show(&event),
            &interrupt,
        );
        let failed = reporter.finish();
        let summary = summary?;
        if args.json {
            let tokens_avoided = summary.model.tokens_avoided();
            Out::stdout().json(&Line { kind: "summary", summary: &summary, tokens_avoided, not_indexed: &failed })?;
        } else {
            remind(&failed);
            output::note(&format!("{} in {}", sentence(&summary), measured(started.elapsed())));
        }
        Ok(if summary.failed > 0 { Exit::Failed } else { Exit::Done })
    };
    if !args.watch {
        return index();
    }
    let mut watch = Watch::new(&options.paths, &options.index);
    index()?;
    while watch.wait(&interrupt) {
        // A file that is being written, or another process that indexes, is no reason to stop watching.
        match index() {
            Err(failure) if !interrupt.is_raised() => output::complain(failure),
            result => _ = result?,
        }
    }
    Ok(Exit::Done)
}

/// How files are read.
pub(super) fn reading(encoding: Option<String>, seconds: Option<u64>) -> ReadOptions {
    let usual = ReadOptions::default();
    ReadOptions { encoding, time_limit: seconds.map_or(usual.time_limit, Duration::from_secs), ..usual }
}

/// The last line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    summary: &'a IndexSummary,
    /// An estimate; `null` while there is nothing to take it from.
    tokens_avoided: Option<u64>,
    /// Files that could not be read, each with its reason.
    not_indexed: &'a [NotIndexed],
}

/// `2 changed and 3 unchanged documents; 8 sections extracted; 310 searchable units; generation 3`
fn sentence(summary: &IndexSummary) -> String {
    let mut text = format!("{} changed and {} unchanged documents", summary.changed, summary.unchanged);
    for (number, what) in [(summary.deleted, "vanished"), (summary.failed, "failed")] {
        if number > 0 {
            text += &format!(", {number} {what}");
        }
    }
    text += &format!("; {} sections extracted", summary.sections);
    if summary.cached > 0 {
        text += &format!(" ({} from the cache)", summary.cached);
    }
    if let Some(told) = model_use(&summary.model) {
        text += &format!("; model: {told}");
    }
    text += &format!("; {} searchable units", summary.units);
    match summary.generation {
        Some(generation) => text + &format!("; generation {generation}"),
        None => text + "; nothing new to publish",
    }
}

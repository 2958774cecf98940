//! `mingti compact`: the files of the index in one piece.

use mingti::ingest::{self, IndexSummary, Interrupt, OnDemand, PassageEmbedder, Progress};
use mingti::store::Reader;

use super::load::Loader;
use crate::cli::args::CompactArgs;
use crate::cli::failure::{Exit, Outcome};
use crate::cli::interrupt;
use crate::cli::output::{self, Out};
use crate::cli::progress::Reporter;
use crate::cli::settings::Settings;

/// Runs the command.
pub(crate) fn run(settings: &Settings, args: &CompactArgs) -> Outcome {
    let summary = rebuild(settings, ingest::compact)?;
    match (args.json, summary.generation) {
        (true, _) => Out::stdout().json(&summary)?,
        (false, Some(generation)) => output::note(&format!("{} units; generation {generation}", summary.units)),
        (false, None) => output::note(&format!("{} units; nothing to compact", summary.units)),
    }
    Ok(Exit::Done)
}

/// A function of the library that builds the files of an index.
type Build =
    fn(&std::path::Path, &dyn PassageEmbedder, &mut dyn FnMut(Progress), &Interrupt) -> mingti::Result<IndexSummary>;

/// Builds the files of the index with `build`. The embedder is only loaded when a vector is missing.
pub(crate) fn rebuild(settings: &Settings, build: Build) -> Outcome<IndexSummary> {
    let interrupt = interrupt::install()?;
    let generation = Reader::open(&settings.index)?.require_generation()?.clone();
    let loader = Loader::new(settings, None, None)?;
    let embedder = OnDemand::new(generation, |name: &str| loader.embedder(Some(name)));
    let mut reporter = Reporter::new(false);
    let summary = build(&settings.index, &embedder, &mut |event| reporter.show(&event), &interrupt);
    reporter.finish();
    Ok(summary?)
}

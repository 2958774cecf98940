//! `mingti demo`: the whole way on a small built-in manual, from models to highlighted answers.

use std::fs;
use std::time::{Duration, Instant};

use mingti::ingest::{self, IndexOptions};
use mingti::query::{Mode, SearchRequest};

use super::load::Loader;
use super::models;
use crate::cli::args::DemoArgs;
use crate::cli::demo::{MANUAL, QUESTIONS};
use crate::cli::failure::{Exit, Failure, Outcome};
use crate::cli::interrupt;
use crate::cli::output::{self, Out};
use crate::cli::progress::{Reporter, bytes, measured};
use crate::cli::settings::Settings;

/// Runs the command.
pub(crate) fn run(settings: &Settings, args: &DemoArgs) -> Outcome {
    let interrupt = interrupt::install()?;
    let loader = Loader::new(settings, args.device, None)?;
    models::pull_missing(&loader.store, &interrupt)?;

    // Removed again when it goes out of scope, also after an interrupt.
    let folder = tempfile::Builder::new()
        .prefix("mingti-demo-")
        .tempdir()
        .map_err(|error| Failure::file("cannot make a temporary folder", &std::env::temp_dir(), &error))?;
    let manual = folder.path().join("manual");
    let written = fs::create_dir(&manual)
        .and_then(|()| MANUAL.iter().try_for_each(|page| fs::write(manual.join(page.name), page.text)));
    written.map_err(|error| Failure::file("cannot write the manual", &manual, &error))?;

    let started = Instant::now();
    let mut extractor = loader.extractor(None)?;
    let embedder = loader.embedder(None)?;
    let loading = started.elapsed();

    let chars: usize = MANUAL.iter().map(|page| page.text.chars().count()).sum();
    output::note(&format!("indexing the built-in manual: {} documents, {chars} characters", MANUAL.len()));
    let started = Instant::now();
    let mut reporter = Reporter::new(false);
    let index = folder.path().join("index");
    let summary = ingest::index(
        &IndexOptions::new(&index, vec![manual]),
        extractor.as_mut().map(|extractor| extractor as _),
        &embedder,
        &mut |event| reporter.show(&event),
        &interrupt,
    );
    reporter.finish();
    let summary = summary?;
    let indexing = started.elapsed();
    drop(extractor);

    let searcher = super::load::searcher(&index, embedder)?;
    let mut out = Out::stdout();
    let mut searching = Duration::ZERO;
    let mut found = 0;
    for (query, why) in QUESTIONS {
        let request = SearchRequest {
            query: query.to_owned(),
            sections: 1,
            top_k: 15,
            mode: Mode::Hybrid,
            path: None,
            entities: Vec::new(),
            all_versions: false,
        };
        let response = searcher.search(&request)?;
        searching += Duration::from_secs_f64(response.took_ms.max(0.0) / 1000.0);
        found += usize::from(!response.results.is_empty());
        out.question(query, why)?;
        out.response(&response)?;
    }
    out.text(&format!(
        "Models loaded in {}; {} sections with {} searchable units indexed in {}; {} questions in {:.0} ms{}.\n",
        measured(loading),
        summary.sections,
        summary.units,
        measured(indexing),
        QUESTIONS.len(),
        searching.as_secs_f64() * 1000.0,
        peak_memory().map_or(String::new(), |peak| format!("; peak memory {}", bytes(peak))),
    ))?;
    out.text("Your own files: `mingti index PATH…`, then `mingti search QUESTION`.\n")?;
    Ok(if found == QUESTIONS.len() { Exit::Done } else { Exit::NothingFound })
}

/// The most memory this process has held, in bytes, where the system tells (Linux).
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

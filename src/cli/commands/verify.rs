//! `mingti verify`: every file and every pointer of the index.

use mingti::document::Span;
use mingti::ingest;
use mingti::query::Searcher;
use mingti::store::{Reader, View};
use serde::Serialize;

use crate::cli::args::VerifyArgs;
use crate::cli::failure::{Exit, Outcome};
use crate::cli::output::{self, Out};
use crate::cli::settings::Settings;

/// Faults named; a damaged file can have any number of them.
const NAMED: usize = 50;

/// What was looked at, and what is wrong with it.
#[derive(Debug, Default, Serialize)]
struct Report {
    version: u32,
    generation: u64,
    documents: usize,
    sections: usize,
    units: usize,
    vectors: usize,
    /// The files were built anew because something was wrong with them.
    repaired: bool,
    /// Empty when all is well.
    faults: Vec<String>,
}

impl Report {
    fn fault(&mut self, text: impl Into<String>) {
        if self.faults.len() < NAMED {
            self.faults.push(text.into());
        }
    }

    fn check(&mut self, result: mingti::Result<()>) {
        if let Err(error) = result {
            self.fault(error.to_string());
        }
    }
}

/// Runs the command.
pub(crate) fn run(settings: &Settings, args: &VerifyArgs) -> Outcome {
    let mut report = check(settings)?;
    if args.repair && !report.faults.is_empty() {
        report.faults.iter().for_each(output::complain);
        super::compact::rebuild(settings, ingest::repair)?;
        report = Report { repaired: true, ..check(settings)? };
    }
    let mut out = Out::stdout();
    if args.json {
        out.json(&report)?;
    } else if report.faults.is_empty() {
        out.text(&format!(
            "{}: generation {}, {} documents, {} sections, {} units, {} vectors\n",
            if report.repaired { "repaired" } else { "ok" },
            report.generation,
            report.documents,
            report.sections,
            report.units,
            report.vectors
        ))?;
    }
    report.faults.iter().for_each(output::complain);
    Ok(if report.faults.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Looks at everything.
fn check(settings: &Settings) -> Outcome<Report> {
    let reader = Reader::open(&settings.index)?;
    let generation = reader.require_generation()?.clone();
    let mut report =
        Report { version: 1, generation: generation.number, vectors: generation.vectors, ..Report::default() };
    report.check(Searcher::verify(&settings.index));
    let checked = store(reader.view(), &mut report);
    report.check(checked);
    Ok(report)
}

/// Sections tile their documents, and ranges lie in their sections.
fn store(view: View<'_>, report: &mut Report) -> mingti::Result<()> {
    for document in view.documents()? {
        report.documents += 1;
        let mut end = 0;
        for section in view.sections(document.row)? {
            report.sections += 1;
            let place = format!("{}, characters {}..{}", document.path, section.span.start, section.span.end);
            if section.span.start != end || section.text.chars().count() != section.span.len() {
                report.fault(format!("{place}: the section does not follow on the one before it"));
            }
            end = section.span.end;
            for unit in view.units(section.row)? {
                report.units += 1;
                let ranges = unit.unit.evidence.iter().chain(&unit.unit.antecedents);
                if ranges.copied().any(|range: Span| !section.span.contains(range)) {
                    report.fault(format!("{place}: unit {} points out of its section", unit.id));
                }
            }
        }
        if end != document.chars {
            report.fault(format!("{}: its sections end at character {end} of {}", document.path, document.chars));
        }
    }
    Ok(())
}

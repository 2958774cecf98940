//! `mingti eval`: quality on labelled passages.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use mingti::document::Format;
use mingti::eval::{
    Calibration, GoldPassage, Report, ResultPassage, ResultUnit, raw_units, read_gold, read_results, score,
};
use mingti::proposition::{Assembly, Unit, assemble};
use serde_json::json;

use super::extract::{Line, Source, TOGETHER, alone, together};
use super::load::{Loader, NO_EXTRACTOR};
use crate::cli::args::{EvalCommand, EvalExtractArgs};
use crate::cli::failure::{Exit, Failure, Outcome};
use crate::cli::interrupt;
use crate::cli::output::{self, Out, printable};
use crate::cli::progress::measured;
use crate::cli::settings::Settings;

/// Runs the command.
pub(crate) fn run(settings: &Settings, command: EvalCommand) -> Outcome {
    match command {
        EvalCommand::Extract(args) => extract(settings, &args),
        EvalCommand::Split(args) => super::split::eval(settings, &args),
    }
}

fn extract(settings: &Settings, args: &EvalExtractArgs) -> Outcome {
    let gold = read_gold(&args.gold)?;
    let results = match &args.results {
        Some(file) => read_results(file)?,
        None => extracted(settings, args, &gold)?,
    };
    let report = score(&gold, &results);
    if args.verbose {
        for fault in &report.faults {
            let id = fault.id.as_str().map_or_else(|| fault.id.to_string(), str::to_owned);
            let words = fault.detail.join(", ");
            output::note(&printable(&format!("{id}\t{}\t{words}\t{}", fault.kind, fault.statement)));
        }
    }
    if args.json {
        Out::stdout().json(&report)?;
    } else {
        Out::stdout().text(&page(&report))?;
    }
    if report.figures.missing_passages > 0 {
        output::warn(format!("{} passages have no results", report.figures.missing_passages));
    }
    Ok(Exit::Done)
}

/// What the extractor makes of the gold's passages.
fn extracted(settings: &Settings, args: &EvalExtractArgs, gold: &[GoldPassage]) -> Outcome<Vec<ResultPassage>> {
    let choice = args.extractor.as_deref().or(settings.file.index.extractor.as_deref());
    if args.model_only && choice == Some(NO_EXTRACTOR) {
        return Err(Failure::hinted(
            "--model-only: there is no model to score",
            "name one with `--extractor`, or leave `--model-only` out",
        ));
    }
    let interrupt = interrupt::install()?;
    let loader = Loader::new(settings, args.device, args.jobs)?;
    let mut extractor = loader.extractor(choice)?;
    let mut file = args.out.as_deref().map(Sink::create).transpose()?;
    let sources: Vec<Source> = gold.iter().map(source).collect();
    let started = Instant::now();
    let mut results = Vec::with_capacity(sources.len());
    for some in sources.chunks(TOGETHER) {
        together(some, extractor.as_mut(), &interrupt, &mut |source, passage, yields| {
            let (units, uncovered) = if args.model_only {
                raw_units(passage, yields)
            } else {
                let Assembly { units, uncovered, .. } = assemble(passage, yields);
                (units, uncovered)
            };
            if let Some(file) = &mut file {
                file.line(&Line::new(&source.id, &source.text, &units, &uncovered))?;
            }
            let units = units.into_iter().map(scored).collect();
            results.push(ResultPassage { id: source.id.clone(), units, uncovered });
            Ok(())
        })?;
    }
    if let Some(file) = file {
        file.finish()?;
    }
    output::note(&format!("{} passages in {}", results.len(), measured(started.elapsed())));
    Ok(results)
}

fn source(gold: &GoldPassage) -> Source {
    Source {
        id: gold.id.clone(),
        title: gold.doc_title.clone(),
        heading_path: gold.heading_path.clone(),
        text: gold.text.clone(),
        format: Format::Markdown,
        context: alone(),
    }
}

fn scored(unit: Unit) -> ResultUnit {
    let Unit { statement, kind, status, confidence, evidence, .. } = unit;
    ResultUnit { statement, kind, status, confidence, evidence }
}

/// A file of results being written.
struct Sink<'a> {
    path: &'a Path,
    file: BufWriter<File>,
}

impl<'a> Sink<'a> {
    fn create(path: &'a Path) -> Outcome<Self> {
        let file = File::create(path).map_err(|error| Failure::file("cannot write the units", path, &error))?;
        Ok(Self { path, file: BufWriter::new(file) })
    }

    fn line(&mut self, line: &Line<'_>) -> Outcome<()> {
        writeln!(self.file, "{}", json!(line))
            .map_err(|error| Failure::file("cannot write the units", self.path, &error))
    }

    fn finish(mut self) -> Outcome<()> {
        self.file.flush().map_err(|error| Failure::file("cannot write the units", self.path, &error))
    }
}

fn page(report: &Report) -> String {
    let f = &report.figures;
    let mut lines = vec![
        format!("passages          {} ({} without results)", f.passages, f.missing_passages),
        format!("gold statements   {}", f.gold),
        format!("searchable units  {} ({:.1} % propositions)", f.units, 100.0 * f.proposition_share),
        format!("recall            {:.4}", f.recall),
        format!("precision         {:.4}", f.precision),
        format!("f1                {:.4}", f.f1),
        format!("span recall       {:.4}", f.span_recall),
        format!("span iou          {:.4}", f.span_iou),
        format!("invented          {}", f.invented),
        format!("dangling          {} ({} over all units)", f.dangling, f.dangling_units),
        format!("modality lost     {}", f.modality_lost),
        format!("duplicates        {}", f.duplicates),
        format!("uncovered         {}", f.uncovered),
    ];
    let Calibration { reliability, calibration_error, thresholds } = &report.calibration;
    if !reliability.is_empty() {
        lines.push(format!("\nconfidence of propositions (mean distance from their matches {calibration_error:.4})"));
        lines.push("  from    to     count  matched  mean confidence".to_owned());
        for bin in reliability {
            lines.push(format!(
                "  {:<6.3}  {:<5.3}  {:>5}  {:<7.4}  {:.4}",
                bin.from, bin.to, bin.count, bin.matched, bin.confidence
            ));
        }
        lines.push("\nif propositions below it wait for review".to_owned());
        lines.push("  below  waiting  of those without gold  of those with gold  precision of the rest".to_owned());
        let mut last = None;
        for t in thresholds.iter().filter(|t| last.replace(t.review) != Some(t.review)) {
            lines.push(format!(
                "  {:<5.2}  {:>7}  {:<21.4}  {:<18.4}  {:.4}",
                t.below, t.review, t.wrong_held, t.right_held, t.precision
            ));
        }
    }
    lines.join("\n") + "\n"
}

//! `mingti split`: the pieces that a splitter makes of documents, with their ranges.

use mingti::document::{Document, page_of};
use mingti::eval::metrics::{boundary_scores, default_window, marks, mean_size, pk, window_diff};
use mingti::section::{Splitting, sentence_spans};
use serde::Serialize;

use super::extract::files;
use super::index::reading;
use super::load::Loader;
use crate::cli::args::{EvalSplitArgs, SplitCommandArgs};
use crate::cli::failure::{Exit, Failure, Outcome};
use crate::cli::output::{self, Out, printable};
use crate::cli::settings::Settings;

/// A line of `--json`.
#[derive(Serialize)]
struct Piece<'a> {
    path: &'a str,
    range: [usize; 2],
    heading_path: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<&'a str>,
    text: &'a str,
}

/// Runs the command.
pub(crate) fn run(settings: &Settings, args: &SplitCommandArgs) -> Outcome {
    let loader = Loader::new(settings, args.device, None)?;
    let splitting = loader.splitting(&args.split, args.overlap, args.embedder.as_deref())?;
    let options = reading(args.encoding.clone(), None);
    let (files, mut failed) = files(&args.paths);
    let mut out = Out::stdout();
    for (file, name) in files {
        let pieces = Document::read(&file, &name, &options)
            .and_then(|document| splitting.pieces(&document).map(|pieces| (document, pieces)));
        let (document, pieces) = match pieces {
            Ok(both) => both,
            Err(error) => {
                output::complain(error);
                failed = true;
                continue;
            }
        };
        for piece in &pieces {
            let (range, heading_path) = (piece.span.into(), piece.heading_path.as_slice());
            let page = page_of(&document.pages, piece.span.start);
            let text = document.text.slice(piece.span);
            let line = Piece { path: &document.path, range, heading_path, page, text };
            if args.json { out.json(&line)? } else { out.text(&shown(&line))? }
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

/// `manual.md 0..512 › 第一章`, and the piece below it.
fn shown(piece: &Piece<'_>) -> String {
    let [start, end] = piece.range;
    let trail: String = piece.heading_path.iter().map(|heading| format!(" › {heading}")).collect();
    let text: String = piece.text.trim().lines().map(|line| format!("   {}\n", line.trim_end())).collect();
    printable(&format!("{} {start}..{end}{trail}\n{text}\n", piece.path))
}

/// How well a splitter finds where documents that were put behind each other begin.
#[derive(Debug, Default, Serialize)]
struct Report {
    texts: usize,
    documents: usize,
    pk: f64,
    window_diff: f64,
    precision: f64,
    recall: f64,
    f1: f64,
    mean_size: f64,
}

/// Runs `mingti eval split`.
pub(crate) fn eval(settings: &Settings, args: &EvalSplitArgs) -> Outcome {
    let loader = Loader::new(settings, args.device, None)?;
    let splitting = loader.splitting(&args.split, 0, args.embedder.as_deref())?;
    let (files, failed) = files(&args.paths);
    let mut documents = Vec::new();
    for (file, name) in files {
        match Document::read(&file, &name, &reading(None, None)) {
            Ok(document) if document.text.chars() > 0 => documents.push(document),
            Ok(_) => {}
            Err(error) => output::complain(error),
        }
    }
    let mut sum = Report::default();
    for group in documents.chunks(args.join).filter(|group| group.len() > 1) {
        add(&mut sum, group, &splitting)?;
    }
    if sum.texts == 0 {
        return Err(Failure::hinted("no two documents to put behind each other", "name a folder with several"));
    }
    let texts = sum.texts as f64;
    for figure in
        [&mut sum.pk, &mut sum.window_diff, &mut sum.precision, &mut sum.recall, &mut sum.f1, &mut sum.mean_size]
    {
        *figure /= texts;
    }
    if args.json {
        Out::stdout().json(&sum)?;
    } else {
        Out::stdout().text(&format!(
            "{} documents in {} texts: Pk {:.3}, WindowDiff {:.3}, boundaries: precision {:.3}, recall {:.3}, F1 {:.3}; mean size {:.0} characters\n",
            sum.documents, sum.texts, sum.pk, sum.window_diff, sum.precision, sum.recall, sum.f1, sum.mean_size
        ))?;
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

/// Puts the documents of `group` behind each other and adds how well the places between them are found.
fn add(sum: &mut Report, group: &[Document], splitting: &Splitting) -> Outcome<()> {
    let mut text = String::new();
    let mut ends = Vec::new();
    let mut chars = 0;
    for document in group {
        // One line end: where a text begins is for its words to say, not for an empty line.
        let own = format!("{}\n", document.text.as_str().trim());
        chars += own.chars().count();
        ends.push(chars);
        text.push_str(&own);
    }
    let joined = Document::from_text("joined", text, group[0].format);
    let units: Vec<usize> = sentence_spans(&joined).iter().map(|span| span.end).collect();
    let reference: Vec<bool> = units.iter().map(|end| ends.binary_search(end).is_ok()).collect();
    let sections = splitting.split(&joined)?;
    let found = marks(&sections, &units);
    let window = default_window(&reference);
    let scores = boundary_scores(&reference, &found, 0);
    if let (Some(pk), Some(difference), Some(scores)) =
        (pk(&reference, &found, window), window_diff(&reference, &found, window), scores)
    {
        sum.texts += 1;
        sum.documents += group.len();
        sum.pk += pk;
        sum.window_diff += difference;
        sum.precision += scores.precision;
        sum.recall += scores.recall;
        sum.f1 += scores.f1;
        sum.mean_size += mean_size(&sections);
    }
    Ok(())
}

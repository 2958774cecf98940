//! `mingti search`: one question, or a file of them in one process.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use mingti::embedder::{Classifier, Precision};
use mingti::query::{Mode, SearchRequest, SearchResponse, Searcher};
use serde::Deserialize;

use super::load::Loader;
use crate::cli::args::{ModeArg, SearchArgs};
use crate::cli::failure::{Exit, Failure, Outcome};
use crate::cli::output::{self, Out};
use crate::cli::settings::Settings;

/// Sections shown.
const SECTIONS: usize = 3;
/// Propositions considered.
const TOP_K: usize = 15;

/// A line of a queries file. Other keys, such as the answers of a labelled set, are not looked at.
#[derive(Deserialize)]
struct Question {
    qid: serde_json::Value,
    query: String,
}

/// Runs the command.
pub(crate) fn run(settings: &Settings, args: &SearchArgs) -> Outcome {
    let mode = match args.mode.or(settings.file.search.mode).unwrap_or(ModeArg::Hybrid) {
        ModeArg::Hybrid => Mode::Hybrid,
        ModeArg::Dense => Mode::Dense,
        ModeArg::Lexical => Mode::Lexical,
    };
    let request = SearchRequest {
        query: args.query.join(" "),
        sections: args.sections.or(settings.file.search.sections).unwrap_or(SECTIONS),
        top_k: args.top_k.or(settings.file.search.top_k).unwrap_or(TOP_K),
        mode,
        path: args.path.clone(),
        entities: args.entities.clone(),
        all_versions: args.all_versions,
    };
    // A list of what carries an entity needs no model.
    let listing = args.queries.is_none() && !request.query.chars().any(char::is_alphanumeric);
    let searcher = Loader::new(settings, args.device, None)?.searcher(if listing { Mode::Lexical } else { mode })?;
    let searcher = match args.reranker.as_ref().or(settings.file.search.reranker.as_ref()) {
        Some(folder) if folder != "none" && !listing => {
            searcher.with_reranker(Box::new(Classifier::load(Path::new(folder), Precision::Eight)?))
        }
        _ => searcher,
    };
    let searcher = if args.explain { searcher.with_explanations() } else { searcher };
    match &args.queries {
        None => {
            let response = searcher.search(&request)?;
            let mut out = Out::stdout();
            show(&mut out, &response, args.json)?;
            if response.results.is_empty() {
                if !args.json {
                    output::note("nothing found");
                }
                return Ok(Exit::NothingFound);
            }
            Ok(Exit::Done)
        }
        Some(file) if file == Path::new("-") => many(&searcher, &request, io::stdin().lock(), file, args.json),
        Some(file) => {
            let opened = File::open(file).map_err(|error| Failure::file("cannot read the questions", file, &error))?;
            many(&searcher, &request, BufReader::new(opened), file, args.json)
        }
    }
}

/// Answers line by line. A line that is no question is named, the others are answered all the same.
fn many(searcher: &Searcher, request: &SearchRequest, lines: impl BufRead, file: &Path, json: bool) -> Outcome {
    let mut out = Out::stdout();
    let (mut found, mut failed) = (false, false);
    for (number, line) in lines.split(b'\n').enumerate() {
        let line = line.map_err(|error| Failure::file("cannot read the questions", file, &error))?;
        let line = if number == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let place = format!("{}, line {}", file.display(), number + 1);
        let question: Question = match serde_json::from_slice(line) {
            Ok(question) => question,
            Err(error) => {
                output::complain(format!("{place}: expected {{\"qid\":…,\"query\":…}}: {error}"));
                failed = true;
                continue;
            }
        };
        let mut response = searcher.search(&SearchRequest { query: question.query, ..request.clone() })?;
        found |= !response.results.is_empty();
        response.qid = Some(question.qid);
        if !json {
            out.text(&format!("{}\n", output::printable(&response.query)))?;
        }
        show(&mut out, &response, json)?;
    }
    Ok(match (failed, found) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Done,
        (false, false) => Exit::NothingFound,
    })
}

fn show(out: &mut Out, response: &SearchResponse, json: bool) -> Outcome<()> {
    if json { out.json(response) } else { out.response(response) }
}

//! Where the speed of extraction comes from: the same sections with one lever after the other.
//!
//! ```sh
//! cargo bench --bench extraction                                    # the default model on the manuals of the demo
//! cargo bench --bench extraction -- qwen2.5-coder-0.5b-instruct-q4_k_m
//! ```
//!
//! Three runs of each kind take turns and medians count: all together; without copying from the source; one branch at a time as
//! well. What the tree of prompts saves is counted from the tokens of the calls and the speed at which the model reads: a call
//! alone would read instructions and section again. Ends with a failure when two kinds write different text.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::path::PathBuf;
use std::time::Instant;

use mingti::document::{Document, Format};
use mingti::extractor::{Extractor, Limits, LlamaExtractor, Trace};
use mingti::model::{ModelStore, Role};
use mingti::proposition::{Passage, SentenceYield, sentences};
use mingti::section::{HeadingSplitter, Section, Splitter};

const MANUALS: [(&str, &str); 2] = [
    ("xh-500.zh.md", include_str!("../src/cli/demo/xh-500.zh.md")),
    ("bx-9000.en.md", include_str!("../src/cli/demo/bx-9000.en.md")),
];

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let id = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let id = id.unwrap_or_else(|| "qwen2.5-coder-1.5b-instruct-q4_k_m".to_owned());
    let store = ModelStore::open(std::env::var_os("MINGTI_MODELS").map(PathBuf::from)).unwrap();
    let files = store.find(&id, Role::Extractor).unwrap();

    let documents: Vec<Document> =
        MANUALS.iter().map(|(name, text)| Document::from_text(name, (*text).to_owned(), Format::Markdown)).collect();
    let sections: Vec<(&Document, Section)> =
        documents.iter().flat_map(|d| HeadingSplitter::default().split(d).into_iter().map(move |s| (d, s))).collect();
    let split: Vec<_> = sections.iter().map(|(d, s)| sentences(d.text.slice(s.span), Format::Markdown)).collect();
    let passages: Vec<Passage<'_>> = sections
        .iter()
        .zip(&split)
        .map(|((d, s), split)| Passage::new(&d.title, &s.heading_path, d.text.slice(s.span), split))
        .collect();

    let all = Limits::default();
    let no_copying = Limits { guesses: 0, ..all };
    let kinds = [("all", all), ("no copying", no_copying), ("one branch at a time", Limits { batch: 1, ..no_copying })];
    let mut extractor = LlamaExtractor::load(&files.main, &files.checksum).unwrap();
    // Instructions are read once, before the clock starts; the trace tells the tokens of every call.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    extractor.set_trace(Some(Trace::create(&path).unwrap()));
    extractor.extract(&passages, &|| false).unwrap();
    extractor.set_trace(None).unwrap().finish(0.0).unwrap();
    let calls: Vec<serde_json::Value> = std::fs::read_to_string(&path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|call: &serde_json::Value| call["prompt"].is_string())
        .collect();
    let sum = |field: &str| calls.iter().map(|call| call[field].as_u64().unwrap()).sum::<u64>();
    let (prompts, outputs) = (sum("prompt_tokens"), sum("output_tokens"));

    let mut text: Option<Vec<Vec<Option<SentenceYield>>>> = None;
    let mut seconds = kinds.map(|_| Vec::new());
    let mut computed = kinds.map(|_| 0);
    for _ in 0..3 {
        for (number, (name, limits)) in kinds.iter().enumerate() {
            extractor = extractor.with_limits(*limits);
            let (start, tokens) = (Instant::now(), extractor.tokens());
            let got = extractor.extract(&passages, &|| false).unwrap();
            seconds[number].push(start.elapsed().as_secs_f64());
            computed[number] = extractor.tokens() - tokens;
            assert!(text.as_ref().is_none_or(|text| *text == got), "{name}: another text");
            text = Some(got);
        }
    }
    let pace = extractor.pace(256, 1).unwrap();
    let read_again = (prompts + outputs).saturating_sub(computed[2]) as f64 * pace.prompt_seconds / 256.0;

    let chars: usize = passages.iter().map(|p| p.text.chars().count()).sum();
    println!("{id}: {} sections, {chars} characters, {} calls, {outputs} tokens written", passages.len(), calls.len());
    let [fastest, no_copying, one_by_one] = seconds.map(median);
    println!("                 all: {fastest:.1} s");
    println!("          no copying: {no_copying:.1} s, copying makes it {:.2} times as fast", no_copying / fastest);
    println!("one branch at a time: {one_by_one:.1} s, batches make it {:.2} times as fast", one_by_one / no_copying);
    let whole = one_by_one + read_again;
    println!(
        "every prompt whole: {whole:.1} s, of it {read_again:.1} s for {} tokens read again; the tree of prompts makes it {:.2} times \
         as fast",
        (prompts + outputs).saturating_sub(computed[2]),
        whole / one_by_one
    );
}

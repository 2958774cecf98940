//! Against LlamaIndex and LangChain, by `tests/data/split/semantic.json`, and the properties of the sections.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use serde::Deserialize;

use super::*;
use crate::document::{Document, Format};

const GOLDEN: &str = include_str!("../../tests/data/split/semantic.json");
const DOCUMENTS: [(&str, &str); 4] = [
    ("storm_en.txt", include_str!("../../tests/data/split/storm_en.txt")),
    ("spindle_zh.md", include_str!("../../tests/data/split/spindle_zh.md")),
    ("flood_zh.txt", include_str!("../../tests/data/split/flood_zh.txt")),
    ("leave_en.txt", include_str!("../../tests/data/split/leave_en.txt")),
];

#[derive(Deserialize)]
struct Golden {
    defaults: HashMap<String, f64>,
    documents: Vec<Cases>,
}

#[derive(Deserialize)]
struct Cases {
    document: String,
    /// Code points at which sentences start.
    starts: Vec<usize>,
    llama: Vec<Llama>,
    chain: Vec<Chain>,
}

#[derive(Deserialize)]
struct Llama {
    buffer: usize,
    percent: f64,
    breaks: Vec<usize>,
}

#[derive(Deserialize)]
struct Chain {
    buffer: usize,
    kind: String,
    amount: f64,
    min: usize,
    breaks: Vec<usize>,
}

/// Counts hashed pairs of characters, as the script that wrote the golden file does.
struct HashedPairs;

impl TextEmbedder for HashedPairs {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let fnv = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let embed = |text: &String| {
            let chars: Vec<char> = text.chars().collect();
            let mut vector = vec![0.0; 64];
            for pair in chars.windows(2) {
                let hash = String::from_iter(pair).bytes().fold(0x811c_9dc5, fnv);
                vector[hash as usize % 64] += 1.0;
            }
            vector
        };
        Ok(texts.iter().map(embed).collect())
    }
}

fn golden() -> Golden {
    serde_json::from_str(GOLDEN).unwrap()
}

fn sentences(cases: &Cases) -> Vec<String> {
    let (_, text) = DOCUMENTS.iter().find(|(name, _)| *name == cases.document).unwrap();
    let chars: Vec<char> = text.replace("\r\n", "\n").chars().collect();
    let ends = cases.starts.iter().skip(1).copied().chain([chars.len()]);
    cases.starts.iter().zip(ends).map(|(&start, end)| chars[start..end].iter().collect()).collect()
}

#[test]
fn breaks_are_those_of_llamaindex() {
    for cases in golden().documents {
        let sentences = sentences(&cases);
        let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
        for case in cases.llama {
            let breakpoint = Breakpoint::Percentile(case.percent);
            let splitter = SemanticSplitter { buffer: case.buffer, breakpoint, ..SemanticSplitter::default() };
            let breaks = splitter.breaks(&sentences, &HashedPairs).unwrap();
            assert_eq!(breaks, case.breaks, "{} {} {}", cases.document, case.buffer, case.percent);
        }
    }
}

#[test]
fn breaks_are_those_of_langchain() {
    for cases in golden().documents {
        let sentences = sentences(&cases);
        let sentences: Vec<&str> = sentences.iter().map(|sentence| sentence.trim()).collect();
        for case in cases.chain {
            let breakpoint = match case.kind.as_str() {
                "percentile" => Breakpoint::Percentile(case.amount),
                "standard_deviation" => Breakpoint::StandardDeviation(case.amount),
                "interquartile" => Breakpoint::Interquartile(case.amount),
                "gradient" => Breakpoint::Gradient(case.amount),
                _ => Breakpoint::Sections(case.amount as usize),
            };
            let splitter = SemanticSplitter { buffer: case.buffer, breakpoint, joint: " ".to_owned(), min: case.min };
            let breaks = splitter.breaks(&sentences, &HashedPairs).unwrap();
            assert_eq!(breaks, case.breaks, "{} {} {} {}", cases.document, case.buffer, case.kind, case.amount);
        }
    }
}

#[test]
fn defaults_are_those_of_langchain() {
    let defaults = golden().defaults;
    for (kind, breakpoint) in [
        ("percentile", Breakpoint::PERCENTILE),
        ("standard_deviation", Breakpoint::STANDARD_DEVIATION),
        ("interquartile", Breakpoint::INTERQUARTILE),
        ("gradient", Breakpoint::GRADIENT),
    ] {
        let amount = match breakpoint {
            Breakpoint::Percentile(x) | Breakpoint::StandardDeviation(x) => x,
            Breakpoint::Interquartile(x) | Breakpoint::Gradient(x) => x,
            Breakpoint::Sections(count) => count as f64,
        };
        assert_eq!(defaults[kind], amount, "{kind}");
    }
}

#[test]
fn sections_tile_the_document_and_end_where_the_subject_changes() {
    let text = "停机断电。停机断电。停机断电挂牌。The belt is worn. The belt is loose. The belt is old.";
    let document = Document::from_text("a.md", text.to_owned(), Format::Markdown);
    let splitter = SemanticSplitter { buffer: 0, breakpoint: Breakpoint::Sections(2), ..SemanticSplitter::default() };
    let sections = splitter.split_with(&document, &HashedPairs).unwrap();
    let texts: Vec<&str> = sections.iter().map(|section| document.text.slice(section.span)).collect();
    assert_eq!(texts, ["停机断电。停机断电。停机断电挂牌。", "The belt is worn. The belt is loose. The belt is old."]);
}

#[test]
fn few_sentences_have_no_boundary_of_any_kind() {
    let kinds = [
        Breakpoint::PERCENTILE,
        Breakpoint::STANDARD_DEVIATION,
        Breakpoint::INTERQUARTILE,
        Breakpoint::GRADIENT,
        Breakpoint::Sections(1),
    ];
    for breakpoint in kinds {
        let splitter = SemanticSplitter { breakpoint, ..SemanticSplitter::default() };
        for sentences in [&[][..], &["停机。"], &["停机。", "The belt."]] {
            assert!(splitter.breaks(sentences, &HashedPairs).unwrap().is_empty(), "{breakpoint:?}");
        }
        let empty = Document::from_text("a.md", String::new(), Format::Markdown);
        assert!(splitter.split_with(&empty, &HashedPairs).unwrap().is_empty());
    }
}

#[test]
fn vectors_that_cannot_be_compared_are_errors_and_zeros_are_not() {
    struct Given(Vec<Vec<f32>>);
    impl TextEmbedder for Given {
        fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>> {
            Ok(self.0.clone())
        }
    }
    let breaks = |vectors: Vec<Vec<f32>>| SemanticSplitter::default().breaks(&["a", "b", "c"], &Given(vectors));
    assert!(breaks(vec![vec![1.0]; 2]).is_err());
    assert!(breaks(vec![vec![1.0], vec![1.0, 2.0], vec![1.0]]).is_err());
    assert!(breaks(vec![vec![1.0], vec![f32::NAN], vec![1.0]]).is_err());
    assert_eq!(breaks(vec![vec![1.0], vec![1.0], vec![0.0]]).unwrap(), [1]);
}

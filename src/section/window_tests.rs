//! Against an independent statement of the windows, by `tests/data/split/windows.json`.

#![allow(clippy::unwrap_used)]

use std::cell::RefCell;

use serde::Deserialize;

use super::*;
use crate::document::{Document, Format};

const GOLDEN: &str = include_str!("../../tests/data/split/windows.json");
const CLS: u32 = 1;
const END: u32 = 2;

#[derive(Deserialize)]
struct Case {
    advance: String,
    back: usize,
    limit: usize,
    threshold: f32,
    /// Tokens of each sentence.
    lengths: Vec<usize>,
    /// A hash of the input of each window.
    windows: Vec<u32>,
    breaks: Vec<usize>,
}

fn fnv(numbers: &[u32]) -> u32 {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A text `index length` is that many tokens; the probability at an end mark is a hash of the whole input.
struct Hashed {
    limit: usize,
    seen: RefCell<Vec<u32>>,
}

impl BoundaryScorer for Hashed {
    fn tokens(&self, text: &str) -> Result<Vec<u32>> {
        let (index, length) = text.split_once(' ').unwrap();
        let (index, length): (u32, u32) = (index.parse().unwrap(), length.parse().unwrap());
        Ok((0..length).map(|k| 10 + (index * 31 + k * 7) % 97).collect())
    }

    fn max_tokens(&self) -> usize {
        self.limit
    }

    fn window(&self, window: &Window<'_>) -> Result<Vec<f32>> {
        let mut ids = vec![CLS];
        for sentence in &window.sentences {
            ids.extend(*sentence);
            ids.push(END);
        }
        ids.extend(window.rest);
        assert!(ids.len() <= self.limit);
        self.seen.borrow_mut().push(fnv(&ids));
        let ends = (0..ids.len()).filter(|&at| ids[at] == END);
        Ok(ends
            .map(|at| {
                let mut key = ids.clone();
                key.push(at as u32);
                (fnv(&key) % 1000) as f32 / 1000.0
            })
            .collect())
    }
}

#[test]
fn windows_and_boundaries_are_those_of_the_reference() {
    let cases: Vec<Case> = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(cases.len(), 48);
    for (number, case) in cases.into_iter().enumerate() {
        let advance = match case.advance.as_str() {
            "adaptive" => Advance::LastBoundary(case.back),
            _ => Advance::Overflow,
        };
        let texts: Vec<String> = case.lengths.iter().enumerate().map(|(i, length)| format!("{i} {length}")).collect();
        let sentences: Vec<&str> = texts.iter().map(String::as_str).collect();
        let scorer = Hashed { limit: case.limit, seen: RefCell::new(Vec::new()) };
        let breaks = SequenceSplitter { threshold: case.threshold, advance }.breaks(&sentences, &scorer).unwrap();
        assert_eq!(*scorer.seen.borrow(), case.windows, "case {number}");
        assert_eq!(breaks, case.breaks, "case {number}");
    }
}

/// Boundaries before sentences that begin with `#`; a token for each character.
struct Marked;

impl BoundaryScorer for Marked {
    fn tokens(&self, text: &str) -> Result<Vec<u32>> {
        Ok(text.trim().chars().map(u32::from).collect())
    }

    fn max_tokens(&self) -> usize {
        24
    }

    fn window(&self, window: &Window<'_>) -> Result<Vec<f32>> {
        let next = window.sentences.iter().skip(1).chain([&window.rest]);
        Ok(next.map(|tokens| if tokens.first() == Some(&u32::from('新')) { 0.9 } else { 0.1 }).collect())
    }
}

#[test]
fn sections_tile_the_document() {
    let text = "停机。断电。新的一节。加油。换皮带。\n\n新的又一节。复位。新的末节。\n";
    let document = Document::from_text("a.md", text.to_owned(), Format::Markdown);
    for advance in [Advance::default(), Advance::Overflow] {
        let sections = SequenceSplitter { advance, ..Default::default() }.split_with(&document, &Marked).unwrap();
        let texts: Vec<&str> = sections.iter().map(|section| document.text.slice(section.span)).collect();
        let expected = ["停机。断电。", "新的一节。加油。换皮带。\n\n", "新的又一节。复位。", "新的末节。\n"];
        assert_eq!(texts, expected, "{advance:?}");
    }
}

#[test]
fn a_hierarchical_model_reads_windows_of_sentences() {
    /// A boundary after each sentence that is longer than the one after it, within a window.
    struct Falling(RefCell<Vec<usize>>);
    impl HierarchicalScorer for Falling {
        fn encode(&self, sentences: &[&str]) -> Result<Vec<Vec<f32>>> {
            Ok(sentences.iter().map(|sentence| vec![sentence.chars().count() as f32]).collect())
        }
        fn max_sentences(&self) -> usize {
            4
        }
        fn score(&self, vectors: &[Vec<f32>]) -> Result<Vec<f32>> {
            self.0.borrow_mut().push(vectors.len());
            let next = vectors.iter().skip(1).map(|vector| vector[0]).chain([f32::MAX]);
            Ok(vectors.iter().zip(next).map(|(vector, next)| if vector[0] > next { 1.0 } else { 0.0 }).collect())
        }
    }
    let scorer = Falling(RefCell::new(Vec::new()));
    let sentences = ["a", "aaa", "aa", "aaaa", "a", "aa", "aaa", "aaaa", "a"];
    let breaks = HierarchicalSplitter::default().breaks(&sentences, &scorer).unwrap();
    assert_eq!(breaks, [1, 3, 7]);
    assert_eq!(*scorer.0.borrow(), [4, 4, 4, 2]);
    assert!(HierarchicalSplitter::default().breaks(&[], &scorer).unwrap().is_empty());
}

#[test]
fn a_model_without_room_for_a_sentence_still_comes_to_an_end() {
    struct NoRoom;
    impl BoundaryScorer for NoRoom {
        fn tokens(&self, text: &str) -> Result<Vec<u32>> {
            Ok(text.chars().map(u32::from).collect())
        }
        fn max_tokens(&self) -> usize {
            0
        }
        fn window(&self, window: &Window<'_>) -> Result<Vec<f32>> {
            assert_eq!(window.sentences[0].len(), 1);
            Ok(vec![0.0; window.sentences.len()])
        }
    }
    let sentences = ["停机。", "断电。", "复位。"];
    let breaks = |advance| SequenceSplitter { advance, ..Default::default() }.breaks(&sentences, &NoRoom).unwrap();
    assert!(breaks(Advance::LastBoundary(0)).is_empty());
    assert_eq!(breaks(Advance::Overflow), [0, 1]);
}

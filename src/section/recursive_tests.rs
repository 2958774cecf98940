//! Against langchain-text-splitters, by `tests/data/split/recursive.json`, and the properties of the ranges.

#![allow(clippy::unwrap_used)]

use serde::Deserialize;

use super::*;
use crate::document::Format;

const GOLDEN: &str = include_str!("../../tests/data/split/recursive.json");
const DOCUMENTS: [(&str, &str); 6] = [
    ("pump_en.md", include_str!("../../tests/data/split/pump_en.md")),
    ("leave_en.txt", include_str!("../../tests/data/split/leave_en.txt")),
    ("storm_en.txt", include_str!("../../tests/data/split/storm_en.txt")),
    ("spindle_zh.md", include_str!("../../tests/data/split/spindle_zh.md")),
    ("storage_zh.txt", include_str!("../../tests/data/split/storage_zh.txt")),
    ("flood_zh.txt", include_str!("../../tests/data/split/flood_zh.txt")),
];

#[derive(Deserialize)]
struct Case {
    document: String,
    separators: String,
    keep: String,
    size: usize,
    overlap: usize,
    crlf: bool,
    /// Code points and FNV-1a of each piece.
    pieces: Vec<(usize, u32)>,
}

fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn pieces(splitter: &RecursiveSplitter, text: &str) -> Vec<String> {
    let text = Text::new(text.to_owned());
    splitter.pieces(&text).into_iter().map(|piece| text.slice(piece).to_owned()).collect()
}

fn splitter(size: usize, overlap: usize) -> RecursiveSplitter {
    RecursiveSplitter { size, overlap, ..RecursiveSplitter::default() }
}

#[test]
fn pieces_are_those_of_langchain() {
    let cases: Vec<Case> = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(cases.len(), 72);
    for case in cases {
        let (_, text) = DOCUMENTS.iter().find(|(name, _)| *name == case.document).unwrap();
        // A checkout may have changed the line endings.
        let mut text = text.replace("\r\n", "\n");
        if case.crlf {
            text = text.replace('\n', "\r\n");
        }
        let keep = match case.keep.as_str() {
            "start" => Keep::Start,
            "end" => Keep::End,
            _ => Keep::Neither,
        };
        let cjk = RecursiveSplitter::cjk(case.size, case.overlap);
        let splitter = match case.separators.as_str() {
            "cjk" => RecursiveSplitter { keep, ..cjk },
            _ => RecursiveSplitter { keep, ..splitter(case.size, case.overlap) },
        };
        let mut found = pieces(&splitter, &text);
        if keep == Keep::Neither {
            found.iter_mut().for_each(|piece| piece.retain(|c| !is_space(c)));
        }
        if case.size == 1 {
            found.truncate(200);
        }
        let numbers: Vec<(usize, u32)> = found.iter().map(|piece| (piece.chars().count(), fnv(piece))).collect();
        let differs = numbers.iter().zip(&case.pieces).position(|(ours, theirs)| ours != theirs);
        let place = differs.and_then(|at| found.get(at));
        assert_eq!(differs, None, "{} {} {}: {place:?}", case.document, case.size, case.separators);
        assert_eq!(numbers.len(), case.pieces.len(), "{} {}", case.document, case.size);
    }
}

#[test]
fn sections_tile_and_white_space_goes_with_the_piece_before_it() {
    let text = "\n\n 设备停机。\n\n检查冷却器。\n  \n复位。\n".to_owned();
    let document = Document::from_text("a.md", text.clone(), Format::Markdown);
    let sections: Vec<&str> =
        splitter(8, 4).split(&document).into_iter().map(|section| document.text.slice(section.span)).collect();
    assert_eq!(sections, ["\n\n 设备停机。\n\n", "检查冷却器。\n  \n", "复位。\n"]);
    assert_eq!(sections.concat(), text);
    let blank = Document::from_text("a.md", " \n".to_owned(), Format::Markdown);
    assert_eq!(splitter(8, 0).split(&blank).len(), 1);
    assert!(splitter(8, 0).split(&Document::from_text("a.md", String::new(), Format::Markdown)).is_empty());
}

#[test]
fn chinese_sentences_keep_their_marks_with_the_separators_for_chinese() {
    let text = "主轴报警。温度过高时，应当立即停机！检查冷却水、润滑脂。";
    assert_eq!(
        pieces(&RecursiveSplitter::cjk(12, 0), text),
        ["主轴报警。", "温度过高时，", "应当立即停机！", "检查冷却水、润滑脂。"]
    );
    assert_eq!(pieces(&splitter(12, 0), text)[0], "主轴报警。温度过高时，应");
}

#[test]
fn lengths_can_be_counted_in_other_units() {
    let words = |text: &str| text.split_whitespace().count();
    let text = Text::new("one two three four five six seven".to_owned());
    let found: Vec<&str> = splitter(3, 1).pieces_by(&text, &words).into_iter().map(|piece| text.slice(piece)).collect();
    assert_eq!(found, ["one two three", "three four five", "five six seven"]);
}

#[test]
fn odd_settings_neither_panic_nor_loop() {
    let text = "a b\u{1c}c\u{3000}设备\r\n\r\nd";
    for size in 0..6 {
        for overlap in 0..8 {
            for separators in [vec![], vec![""], vec!["\n\n"], vec!["", " "], vec![" ", " "], vec!["备", "\u{3000}"]] {
                let separators = separators.into_iter().map(str::to_owned).collect();
                for keep in [Keep::Start, Keep::End, Keep::Neither] {
                    let splitter = RecursiveSplitter { size, overlap, separators: Vec::clone(&separators), keep };
                    let document = Document::from_text("a.md", text.to_owned(), Format::Markdown);
                    let joined: String =
                        splitter.split(&document).into_iter().map(|s| document.text.slice(s.span)).collect();
                    assert_eq!(joined, text);
                    pieces(&splitter, text);
                }
            }
        }
    }
}

#[test]
fn a_long_line_without_separators_is_cut_in_linear_time() {
    let text = Text::new("设".repeat(300_000));
    let found = splitter(1000, 200).pieces(&text);
    assert_eq!(found[1], Span::new(800, 1800));
    assert_eq!(found.last().unwrap().end, 300_000);
}

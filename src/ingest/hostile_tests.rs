//! Whatever an extractor hands over, every sentence stays searchable and every range stays inside its text.
#![allow(clippy::unwrap_used)]

use std::fs;

use super::*;
use crate::document::{Document, Format, Span};
use crate::proposition::{
    Assembly, Outcome, Passage, RawProposition, Sentence, SentenceYield, UnitKind, assemble, sentences,
};
use crate::section::{HeadingSplitter, Splitter};
use crate::store::Reader;

/// Small deterministic generator (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// A document of prose, lists, tables, code, headings and stray marks, in Chinese and English.
    fn document(&mut self) -> String {
        const BLOCKS: &[&str] = &[
            "# 压机手册\n\n",
            "## 3.2 ERR-9801 主轴过热\n\n",
            "主轴温度超过 75 ℃ 时，控制器发出 ERR-9801。此时不得打开护罩。\n\n",
            "The guard must not be opened while the BX-9000 runs at 3,000 rpm. It stops within 5 s.\n\n",
            "1. 关闭电源\n2. 拆下端盖；\n   - 检查密封圈是否磨损，磨损时更换。\n",
            "- **原因**：\n    - 限位开关断开\n    - 电缆松动，参见[接线](wiring.md)。\n\n",
            "| 型号 | 电流 |\n|---|---|\n| BX-9000 | 26.7 A |\n| BX-8000 | |\n\n",
            "| a |\n|---\n",
            "```c\nint x = 1; // stop\n```\n\n",
            "$$\nP = F v\n$$\n\n",
            "第三条 违反前款规定的，处五万元以上十万元以下的罚款；情节严重的，吊销执照。\r\n\r\n",
            "1 概述 ........ 3\n2 安装 ........ 12\n\n",
            "电话：0755-123\n\n",
            "\n",
            "   \n",
            "…\n\n",
            "***\n\n",
            "当油温高于 65 ℃ 且油位低于下限时，系统报警，油泵停止，冷却器继续运行",
            "𠮷\u{200e}é。\n",
        ];
        let mut text = String::new();
        for _ in 0..self.below(9) {
            text.push_str(self.pick(BLOCKS));
        }
        if self.below(8) == 0 {
            text.push_str(&"设备应当接地，".repeat(self.below(300)));
        }
        text
    }

    fn bytes(&mut self, length: usize) -> String {
        let bytes: Vec<u8> = (0..self.below(length)).map(|_| self.below(256) as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// What goes wrong.
#[derive(Debug, Clone, Copy)]
enum Harm {
    OpenObject,
    OpenArray,
    LongStatement,
    ManyStatements,
    Control,
    OtherLanguage,
    Nothing,
    Bytes,
    Neighbour,
}

const HARMS: [Harm; 9] = [
    Harm::OpenObject,
    Harm::OpenArray,
    Harm::LongStatement,
    Harm::ManyStatements,
    Harm::Control,
    Harm::OtherLanguage,
    Harm::Nothing,
    Harm::Bytes,
    Harm::Neighbour,
];

impl Harm {
    fn statements(self, random: &mut Random, passage: &Passage<'_>) -> Vec<String> {
        match self {
            Harm::OpenObject => vec!["{\"a\":".to_owned()],
            Harm::OpenArray => vec!["[\"主轴温度超过 75 ℃ 时停止。\", \"控制器".to_owned(), "\", \"".to_owned()],
            Harm::LongStatement => vec!["主轴停止。".repeat(5_000)],
            Harm::ManyStatements => vec!["主轴温度超过 75 ℃ 时，控制器发出 ERR-9801。".to_owned(); 8],
            Harm::Control => vec!["主轴\u{0}停止\u{1b}[2J。".to_owned(), "\u{7}\u{7f}\u{202e}\u{feff}\n\t".to_owned()],
            Harm::OtherLanguage => {
                vec!["Насос останавливается при 75 ℃.".to_owned(), "主軸が過熱した場合は停止する。".to_owned()]
            }
            Harm::Nothing => Vec::new(),
            Harm::Bytes => (0..random.below(4)).map(|_| random.bytes(80)).collect(),
            Harm::Neighbour => {
                let chars: Vec<char> = passage.text.chars().collect();
                let other = passage.sentences.get(random.below(passage.sentences.len()));
                other.map(|s| chars[s.span.start..s.span.end].iter().collect()).into_iter().collect()
            }
        }
    }

    /// Yields for a passage, sometimes for too few or too many sentences.
    fn yields(self, random: &mut Random, passage: &Passage<'_>) -> Vec<Option<SentenceYield>> {
        let count = (passage.sentences.len() + random.below(3)).saturating_sub(random.below(3));
        (0..count)
            .map(|_| {
                (random.below(6) > 0).then(|| SentenceYield {
                    propositions: self
                        .statements(random, passage)
                        .into_iter()
                        .map(|statement| {
                            let probability = [0.99, 0.0, f32::NAN, f32::INFINITY][random.below(4)];
                            RawProposition { statement, probability }
                        })
                        .collect(),
                    truncated: random.below(3) == 0,
                })
            })
            .collect()
    }
}

/// No sentence without a searchable unit or a reason, no range outside the text, no control characters in what is searched.
fn check(text: &str, sentences: &[Sentence], out: &Assembly) {
    let chars: Vec<char> = text.chars().collect();
    let visible = |span: Span| chars[span.start..span.end].iter().filter(|c| !c.is_whitespace()).collect::<String>();
    assert_eq!(out.uncovered, []);
    assert_eq!(out.ledger.iter().map(|entry| entry.sentence).collect::<Vec<_>>(), sentences);
    for unit in &out.units {
        assert!((0.0..=1.0).contains(&unit.confidence), "{unit:?}");
        assert!(!unit.evidence.is_empty(), "{unit:?}");
        for span in unit.evidence.iter().chain(&unit.antecedents) {
            assert!(span.start < span.end && span.end <= chars.len(), "{unit:?}");
        }
        if unit.is_searchable() && unit.kind == UnitKind::Proposition {
            assert!(!unit.statement.chars().any(char::is_control), "{unit:?}");
            assert!(unit.statement.chars().count() <= 1_500, "{unit:?}");
        }
        if unit.kind == UnitKind::Sentence {
            let statement: String = unit.statement.chars().filter(|c| !c.is_whitespace()).collect();
            assert!(unit.evidence.iter().all(|span| visible(*span) == statement), "{unit:?}");
        }
    }
    for entry in &out.ledger {
        let covered = out
            .units
            .iter()
            .filter(|unit| unit.is_searchable())
            .any(|unit| unit.evidence.iter().any(|evidence| evidence.intersect(entry.sentence.span).is_some()));
        assert!(
            covered || matches!(&entry.outcome, Outcome::Heading | Outcome::Skipped { .. }),
            "{entry:?} of {text:?}"
        );
    }
}

#[test]
fn no_output_loses_a_sentence_or_leaves_its_text() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..90 {
        let document = Document::from_text("a.md", random.document(), [Format::Markdown, Format::PlainText][round % 2]);
        for section in HeadingSplitter::default().split(&document) {
            let text = document.text.slice(section.span);
            let sentences = sentences(text, document.format);
            let passage = Passage::new(&document.title, &section.heading_path, text, &sentences);
            let yields = HARMS[round % HARMS.len()].yields(&mut random, &passage);
            check(text, &sentences, &assemble(&passage, &yields));
        }
    }
}

#[test]
fn five_thousand_statements_for_one_sentence_are_judged() {
    let text = "主轴温度超过 75 ℃ 时，控制器发出 ERR-9801。此时不得打开护罩。";
    let sentences = sentences(text, Format::Markdown);
    let passage = Passage::new("", &[], text, &sentences);
    let raw = RawProposition {
        statement: "主轴温度超过 75 ℃ 时，控制器发出 ERR-9801。".to_owned(), probability: 0.9
    };
    let written = SentenceYield { propositions: vec![raw; 5_000], truncated: true };
    let out = assemble(&passage, &[Some(written.clone()), Some(written)]);
    check(text, &sentences, &out);
    assert_eq!(out.units.iter().filter(|u| u.is_searchable() && u.kind == UnitKind::Proposition).count(), 1);
}

/// An extractor that does everything wrong in turn.
struct Hostile(Random);

impl Extractor for Hostile {
    fn fingerprint(&self) -> String {
        "hostile".to_owned()
    }

    fn extract_each(
        &mut self,
        passages: &[Passage<'_>],
        done: &mut dyn FnMut(usize, Vec<Option<SentenceYield>>) -> Result<()>,
        _stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        for (at, passage) in passages.iter().enumerate().rev() {
            let harm = HARMS[self.0.below(HARMS.len())];
            let yields = harm.yields(&mut self.0, passage);
            done(at, yields)?;
        }
        Ok(())
    }
}

/// One number a text.
struct Lengths;

impl PassageEmbedder for Lengths {
    fn fingerprint(&self) -> String {
        "lengths".to_owned()
    }

    fn name(&self) -> String {
        "lengths".to_owned()
    }

    fn dimension(&self) -> usize {
        2
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Embedded> {
        let angle = |text: &str| text.len() as f32 / 100.0;
        let vectors = texts.iter().flat_map(|text| [angle(text).cos(), angle(text).sin()]).collect();
        Ok(Embedded { dimension: 2, vectors, truncated: Vec::new() })
    }
}

#[test]
fn an_index_made_from_hostile_output_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    fs::create_dir(&docs).unwrap();
    let mut random = Random(77);
    for number in 0..40 {
        fs::write(docs.join(format!("{number}.md")), random.document()).unwrap();
    }
    let options = IndexOptions::new(dir.path().join("index"), vec![docs]);
    let mut hostile = Hostile(Random(5));
    index(&options, Some(&mut hostile), &Lengths, &mut |_| {}, &Interrupt::new()).unwrap();
    let reader = Reader::open(&options.index).unwrap();
    let mut sections = 0;
    reader
        .view()
        .for_each_section(|_, section| {
            sections += 1;
            assert_eq!(section.uncovered, []);
            let ledger = sentences(&section.text, Format::Markdown).len();
            assert_eq!(serde_json::from_str::<Vec<serde_json::Value>>(&section.ledger).unwrap().len(), ledger);
            Ok(())
        })
        .unwrap();
    assert!(sections > 40);
}

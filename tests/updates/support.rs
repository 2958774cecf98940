//! Manuals that change, an embedder that needs no model, and what an index answers.

use std::fs;
use std::path::{Path, PathBuf};

use mingti::Result;
use mingti::index::GraphOptions;
use mingti::ingest::{self, Embedded, IndexOptions, IndexSummary, Interrupt, PassageEmbedder};
use mingti::proposition::UnitKind;
use mingti::query::{Mode, QueryEmbedder, SearchRequest, Searcher};
use mingti::store::{Reader, generation_dir};

const DIMENSION: usize = 48;

/// Counts of hashed pairs of characters.
pub(crate) struct Pairs;

fn vector(text: &str) -> Vec<f32> {
    let mut vector = [0.05f32; DIMENSION];
    let chars: Vec<char> = text.chars().collect();
    for pair in chars.windows(2) {
        let hash = (pair[0] as usize).wrapping_mul(31).wrapping_add(pair[1] as usize).wrapping_mul(2_654_435_761);
        vector[(hash >> 7) % DIMENSION] += 1.0;
    }
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.map(|x| x / norm).to_vec()
}

impl PassageEmbedder for Pairs {
    fn fingerprint(&self) -> String {
        "pairs".to_owned()
    }

    fn name(&self) -> String {
        "pairs".to_owned()
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Embedded> {
        let vectors = texts.iter().flat_map(|text| vector(text)).collect();
        Ok(Embedded { dimension: DIMENSION, vectors, truncated: Vec::new() })
    }
}

impl QueryEmbedder for Pairs {
    fn embed_query(&self, query: &str) -> Result<Vec<f32>> {
        Ok(vector(query))
    }

    fn fingerprint(&self) -> String {
        "pairs".to_owned()
    }
}

/// An index of a folder of manuals, each section a few sentences.
pub(crate) struct Home {
    pub(crate) dir: tempfile::TempDir,
    /// Versions of the sections of each manual; an empty manual has no file.
    pub(crate) manuals: Vec<Vec<usize>>,
}

const PARTS: [&str; 7] = ["主轴", "油泵", "滤芯", "spindle", "电缆", "brake", "刀库"];

impl Home {
    pub(crate) fn new(manuals: usize, sections: usize) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), manuals: vec![vec![0; sections]; manuals] }
    }

    pub(crate) fn docs(&self) -> PathBuf {
        self.dir.path().join("docs")
    }

    pub(crate) fn write(&self) {
        fs::create_dir_all(self.docs()).unwrap();
        for (m, sections) in self.manuals.iter().enumerate() {
            let path = self.docs().join(format!("手册 {m}.md"));
            if sections.is_empty() {
                let _ = fs::remove_file(path);
                continue;
            }
            let mut text = format!("# 手册 {m}\n\n");
            for (s, version) in sections.iter().enumerate() {
                let part = PARTS[(m * 3 + s) % PARTS.len()];
                // Some sections are the same in several manuals.
                let code = if s % 3 == 0 { 9000 + s } else { m * 100 + s };
                text += &format!("## {part} {s}\n\n报警 E-{code}：{part}第{version}版温度超过{}℃。", 40 + s);
                text += &format!("Replace the {part} after {} hours. 安全门必须关闭。\n\n", 10 * version + s);
            }
            fs::write(path, text).unwrap();
        }
    }

    pub(crate) fn index(&self, name: &str, patch_from: usize, graph: GraphOptions) -> IndexSummary {
        self.write();
        let options = IndexOptions {
            unit: UnitKind::Sentence,
            patch_from,
            graph,
            ..IndexOptions::new(self.dir.path().join(name), vec![self.docs()])
        };
        ingest::index(&options, None, &Pairs, &mut |_| {}, &Interrupt::new()).unwrap()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

pub(crate) fn folder(index: &Path) -> PathBuf {
    generation_dir(index, Reader::open(index).unwrap().require_generation().unwrap().number)
}

/// A question and the sections that answer it, with their scores.
pub(crate) type Answer = (String, Vec<(String, f32)>);

/// What is answered to some questions.
pub(crate) fn answers(index: &Path) -> Vec<Answer> {
    try_answers(index).unwrap()
}

/// The same of an index that may be damaged.
pub(crate) fn try_answers(index: &Path) -> Result<Vec<Answer>> {
    let searcher = Searcher::open(index, Some(Box::new(Pairs)))?;
    let mut out = Vec::new();
    for query in ["主轴温度超过43℃", "replace the brake", "E-9003", "报警 E-104", "安全门", "手册 2 油泵", "第3版"]
    {
        for (mode, path) in
            [(Mode::Hybrid, None), (Mode::Dense, None), (Mode::Lexical, None), (Mode::Hybrid, Some("手册 1*"))]
        {
            let asked = format!("{query} {mode:?} {path:?}");
            let path = path.map(str::to_owned);
            let request = SearchRequest {
                query: query.into(),
                sections: 8,
                top_k: 15,
                mode,
                path,
                entities: vec![],
                all_versions: false,
            };
            let results = searcher.search(&request)?.results;
            out.push((asked, results.into_iter().map(|result| (result.section.id, result.score)).collect()));
        }
    }
    Ok(out)
}

/// Scores that differ by no more than rounding may come in either order.
const ROUNDING: f32 = 1e-5;

/// The first question that is not answered with the same sections and the same scores, and how.
pub(crate) fn difference(found: &[Answer], expected: &[Answer]) -> Option<String> {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).find_map(|((question, found), (_, expected))| {
        let scores = |answer: &[(String, f32)]| answer.iter().map(|(_, score)| *score).collect::<Vec<f32>>();
        let (mine, theirs) = (scores(found), scores(expected));
        let near = mine.len() == theirs.len() && mine.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < ROUNDING);
        if !near {
            return Some(format!("{question}: {mine:?} for {theirs:?}"));
        }
        let last = theirs.last().copied().unwrap_or(0.0) + ROUNDING;
        let here =
            |id: &str, score: f32| found.iter().any(|(other, mine)| other == id && (mine - score).abs() < ROUNDING);
        let missing = expected.iter().find(|(id, score)| *score > last && !here(id, *score));
        missing.map(|(id, score)| format!("{question}: {id} with {score} is missing in {found:?}"))
    })
}

/// The same sections with the same scores answer each question.
pub(crate) fn same(found: &[Answer], expected: &[Answer]) {
    assert_eq!(difference(found, expected), None);
}

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

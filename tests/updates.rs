//! Updates in place: however an index came to hold its documents, it answers as one that was built of them at once.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use mingti::Result;
use mingti::index::{GraphOptions, VECTOR_FILE, open_generation};
use mingti::ingest::{self, Embedded, IndexOptions, IndexSummary, Interrupt, PassageEmbedder};
use mingti::proposition::UnitKind;
use mingti::query::{Mode, QueryEmbedder, SearchRequest, Searcher};
use mingti::store::{Reader, generation_dir};

const DIMENSION: usize = 48;

/// Counts of hashed pairs of characters.
struct Pairs;

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
struct Home {
    dir: tempfile::TempDir,
    /// Versions of the sections of each manual; an empty manual has no file.
    manuals: Vec<Vec<usize>>,
}

const PARTS: [&str; 7] = ["主轴", "油泵", "滤芯", "spindle", "电缆", "brake", "刀库"];

impl Home {
    fn new(manuals: usize, sections: usize) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), manuals: vec![vec![0; sections]; manuals] }
    }

    fn docs(&self) -> PathBuf {
        self.dir.path().join("docs")
    }

    fn write(&self) {
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

    fn index(&self, name: &str, patch_from: usize, graph: GraphOptions) -> IndexSummary {
        self.write();
        let options = IndexOptions {
            unit: UnitKind::Sentence,
            patch_from,
            graph,
            ..IndexOptions::new(self.dir.path().join(name), vec![self.docs()])
        };
        ingest::index(&options, None, &Pairs, &mut |_| {}, &Interrupt::new()).unwrap()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

fn folder(index: &Path) -> PathBuf {
    generation_dir(index, Reader::open(index).unwrap().require_generation().unwrap().number)
}

/// A question and the sections that answer it, with their scores.
type Answer = (String, Vec<(String, f32)>);

/// What is answered to some questions.
fn answers(index: &Path) -> Vec<Answer> {
    let searcher = Searcher::open(index, Some(Box::new(Pairs))).unwrap();
    let mut out = Vec::new();
    for query in ["主轴温度超过43℃", "replace the brake", "E-9003", "报警 E-104", "安全门", "手册 2 油泵", "第3版"]
    {
        for (mode, path) in
            [(Mode::Hybrid, None), (Mode::Dense, None), (Mode::Lexical, None), (Mode::Hybrid, Some("手册 1*"))]
        {
            let asked = format!("{query} {mode:?} {path:?}");
            let path = path.map(str::to_owned);
            let request = SearchRequest { query: query.into(), sections: 8, top_k: 15, mode, path, entities: vec![] };
            let results = searcher.search(&request).unwrap().results;
            out.push((asked, results.into_iter().map(|result| (result.section.id, result.score)).collect()));
        }
    }
    out
}

/// Scores that differ by no more than rounding may come in either order.
const ROUNDING: f32 = 1e-5;

/// The same sections with the same scores answer each question.
fn same(found: &[Answer], expected: &[Answer]) {
    assert_eq!(found.len(), expected.len());
    for ((question, found), (_, expected)) in found.iter().zip(expected) {
        let scores = |answer: &[(String, f32)]| answer.iter().map(|(_, score)| *score).collect::<Vec<f32>>();
        let (mine, theirs) = (scores(found), scores(expected));
        let near = mine.len() == theirs.len() && mine.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < ROUNDING);
        assert!(near, "{question}: {mine:?} for {theirs:?}");
        let last = theirs.last().copied().unwrap_or(0.0) + ROUNDING;
        for (id, score) in expected.iter().filter(|(_, score)| *score > last) {
            let here = found.iter().any(|(other, mine)| other == id && (mine - score).abs() < ROUNDING);
            assert!(here, "{question}: {id} with {score} is missing in {found:?}");
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn changes_one_after_the_other_give_the_answers_of_an_index_built_at_once() {
    let mut home = Home::new(12, 9);
    home.index("a", 0, GraphOptions::default());
    let mut random = Random(7);
    let mut patched = 0;
    for step in 1..=12 {
        for _ in 0..1 + random.below(2) {
            let m = random.below(home.manuals.len());
            match random.below(5) {
                0 if home.manuals[m].is_empty() => home.manuals[m] = vec![step; 5],
                0 => home.manuals[m].clear(),
                1 => home.manuals[m].push(step),
                2 => _ = home.manuals[m].pop(),
                _ => {
                    if let Some(version) = home.manuals[m].first_mut() {
                        *version = step;
                    }
                }
            }
        }
        home.index("a", 0, GraphOptions::default());
        Searcher::verify(&home.at("a")).unwrap();
        patched += usize::from(open_generation(&folder(&home.at("a"))).unwrap().vectors.is_changed());
        let fresh = format!("fresh {step}");
        home.index(&fresh, usize::MAX, GraphOptions::default());
        same(&answers(&home.at("a")), &answers(&home.at(&fresh)));
    }
    assert!(patched >= 4, "only {patched} of 12 were patched");
    let last = home.at("fresh 12");
    ingest::compact(&home.at("a"), &Pairs, &mut |_| {}, &Interrupt::new()).unwrap();
    let generation = open_generation(&folder(&home.at("a"))).unwrap();
    assert!(!generation.vectors.is_changed());
    same(&answers(&home.at("a")), &answers(&last));
    let size = |index: &Path| fs::metadata(folder(index).join(VECTOR_FILE)).unwrap().len();
    assert_eq!(size(&home.at("a")), size(&last));
    let cached = |index: &Path| Reader::open(index).unwrap().view().counts().unwrap().cached_embeddings;
    assert_eq!(cached(&home.at("a")), cached(&last), "vectors of texts that are gone are gone");
    // Nothing to do is nothing done.
    assert_eq!(ingest::compact(&home.at("a"), &Pairs, &mut |_| {}, &Interrupt::new()).unwrap().generation, None);
}

#[test]
fn one_changed_section_embeds_and_writes_only_what_changed() {
    let mut home = Home::new(20, 10);
    let built = home.index("a", 0, GraphOptions { exact_below: 0, ..GraphOptions::default() });
    let vectors = folder(&home.at("a")).join(VECTOR_FILE);
    let before = fs::read(&vectors).unwrap();
    for step in 1..=10 {
        home.manuals[step][4] = step;
        let summary = home.index("a", 0, GraphOptions::default());
        assert_eq!((summary.changed, summary.sections, summary.units), (1, 1, built.units));
        assert_eq!(summary.embedded, 2, "two of three sentences are new");
        let generation = open_generation(&folder(&home.at("a"))).unwrap();
        assert_eq!((generation.vectors.added(), generation.vectors.dead()), (2 * step, 2 * step));
        assert!(generation.vectors.has_graph());
        assert!(fs::read(folder(&home.at("a")).join(VECTOR_FILE)).unwrap() == before);
    }
    Searcher::verify(&home.at("a")).unwrap();
    // Only one generation is left.
    let kept = fs::read_dir(home.at("a"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("gen-"));
    assert_eq!(kept.count(), 1);
    // The walk passes dead vectors and meets those that came.
    let found = answers(&home.at("a"));
    home.index("fresh", usize::MAX, GraphOptions::default());
    let (mut right, mut all) = (0, 0);
    for ((_, found), (_, expected)) in found.iter().zip(answers(&home.at("fresh"))) {
        right += expected.iter().filter(|(id, _)| found.iter().any(|(other, _)| other == id)).count();
        all += expected.len();
    }
    assert!(right * 100 >= all * 97, "{right} of {all} answers");
}

#[test]
fn a_searcher_that_is_open_goes_on_answering_from_its_generation() {
    let mut home = Home::new(6, 6);
    home.index("a", 0, GraphOptions::default());
    let searcher = Searcher::open(&home.at("a"), Some(Box::new(Pairs))).unwrap();
    let ask = |searcher: &Searcher| {
        let request = SearchRequest {
            query: "主轴 温度".into(),
            sections: 5,
            top_k: 15,
            mode: Mode::Hybrid,
            path: None,
            entities: vec![],
        };
        let results = searcher.search(&request).unwrap().results;
        results.into_iter().map(|result| (result.section.id, result.text)).collect::<Vec<_>>()
    };
    let before = ask(&searcher);
    for step in 1..=3 {
        home.manuals[step % 2] = vec![step; 6];
        home.index("a", 0, GraphOptions::default());
        assert_eq!(ask(&searcher), before);
    }
    assert_ne!(ask(&Searcher::open(&home.at("a"), Some(Box::new(Pairs))).unwrap()), before);
}

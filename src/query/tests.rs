//! Questions to a small index with a toy embedder.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use crate::document::Span;
use crate::embedder::{Classifier, Precision};
use crate::error::Result;
use crate::index::{FieldWeights, GenerationBuilder, GraphOptions, LexicalSection, Pointer, VectorSource};
use crate::proposition::{Status, Unit, UnitKind, entities, entity_key};
use crate::query::{Mode, QueryEmbedder, Ranking, SearchRequest, SearchResponse, Searcher, SectionResult};
use crate::store::{GenerationRow, NewDocument, NewSection, SectionDone, Writer, generation_dir};

/// A vector of hashed character pairs: similar texts share pairs.
struct Toy(&'static str);

fn toy(text: &str) -> Vec<f32> {
    let mut vector = vec![0.1f32; 64];
    let chars: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    for pair in chars.windows(2) {
        vector[(pair[0] as usize * 31 + pair[1] as usize * 7) % 64] += 1.0;
    }
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / norm).collect()
}

impl QueryEmbedder for Toy {
    fn embed_query(&self, query: &str) -> Result<Vec<f32>> {
        Ok(toy(query))
    }

    fn fingerprint(&self) -> String {
        self.0.to_owned()
    }
}

/// Documents as (path, sections as (heading, sentences)).
type Documents<'a> = &'a [(&'a str, &'a [(&'a str, &'a [&'a str])])];

fn fill(dir: &Path, documents: Documents<'_>, kind: UnitKind) {
    let mut writer = Writer::open_or_create(dir).unwrap();
    for (path, sections) in documents {
        let texts: Vec<String> = sections.iter().map(|(_, sentences)| sentences.concat()).collect();
        let headings: Vec<Vec<String>> = sections.iter().map(|(heading, _)| vec![(*heading).to_owned()]).collect();
        let mut at = 0;
        let rows: Vec<NewSection<'_>> = texts
            .iter()
            .zip(&headings)
            .map(|(text, heading_path)| {
                let span = Span::new(at, at + text.chars().count());
                at = span.end;
                NewSection { span, heading_path, text, context: "", input_hash: [0; 32] }
            })
            .collect();
        let document = NewDocument {
            path,
            root: "r",
            title: "手册",
            date: None,
            content_hash: [0; 32],
            encoding: "UTF-8",
            format: "plain-text",
            chars: at,
            pages: "[]",
        };
        let written = writer.replace_document(&document, &rows).unwrap();
        for (section, (_, sentences)) in writer.view().sections(written.document).unwrap().iter().zip(*sections) {
            let mut units = Vec::new();
            let mut at = 0;
            for sentence in *sentences {
                let span = Span::new(at, at + sentence.chars().count());
                at = span.end;
                let mut unit = Unit::verbatim(kind, *sentence, span);
                unit.entities = entities(sentence);
                units.push(unit);
            }
            if kind == UnitKind::Section {
                units = vec![Unit::verbatim(kind, section.text.clone(), Span::new(0, at))];
            }
            let mut rejected = Unit::verbatim(kind, "主轴主轴主轴", Span::new(0, at));
            (rejected.status, rejected.entities) = (Status::Rejected, vec!["ERR-9801".into(), "拒绝-1".into()]);
            units.push(rejected);
            let done = SectionDone { section: section.row, units: &units, ..SectionDone::default() };
            writer.commit_sections(&[done]).unwrap();
        }
    }
    let number = writer.next_generation();
    let mut builder = GenerationBuilder::create(&generation_dir(dir, number)).unwrap();
    let add = |document: &crate::store::DocumentRow, section: &crate::store::SectionRow| {
        builder.add_section(&LexicalSection {
            section: section.row,
            document: document.row,
            title: &document.title,
            heading_path: &section.heading_path,
            text: &section.text,
        })
    };
    writer.view().for_each_section(add).unwrap();
    let (mut vectors, mut pointers) = (Vec::new(), Vec::new());
    let embed = |unit: crate::store::SearchableUnit<'_>| {
        vectors.extend(toy(unit.statement));
        pointers.push(Pointer { unit: unit.unit, section: unit.section, document: unit.document });
        Ok(())
    };
    writer.view().for_each_unit(embed).unwrap();
    let dimension = if pointers.is_empty() { 0 } else { 64 };
    let mut read = |number: usize, out: &mut [f32]| {
        out.copy_from_slice(&vectors[number * 64..][..64]);
        Ok(())
    };
    let source = VectorSource::new(pointers.len(), dimension, &mut read);
    builder.finish(source, &pointers, &GraphOptions::default()).unwrap();
    let row = GenerationRow {
        number,
        vectors: pointers.len(),
        dimension,
        unit: "sentence".into(),
        embedder: "toy".into(),
        embedder_name: "toy".into(),
        created: 0,
    };
    writer.publish(&row).unwrap();
}

const MANUAL: Documents<'static> = &[
    ("en/press.md", &[("Safety", &["Lock the main switch before service. ", "Wear eye protection at all times. "])]),
    (
        "zh/主轴.md",
        &[
            ("3.1 温度", &["主轴温度超过80℃时报警。", "此时应立即停机。", "报警代码为ERR-9801。"]),
            ("3.2 润滑", &["每班检查润滑油位。", "油位过低时报警代码为ERR-9802。"]),
            ("附录", &["无。"]),
            ("附录", &["本手册由设备部编制，每年修订一次。"]),
        ],
    ),
];

fn ask(searcher: &Searcher, query: &str, mode: Mode, path: Option<&str>) -> SearchResponse {
    let request = SearchRequest {
        query: query.to_owned(),
        sections: 3,
        top_k: 15,
        mode,
        path: path.map(str::to_owned),
        entities: Vec::new(),
        all_versions: false,
    };
    searcher.search(&request).unwrap()
}

fn open(dir: &Path) -> Searcher {
    Searcher::open(dir, Some(Box::new(Toy("toy")))).unwrap()
}

fn text_of(path: &str) -> Vec<char> {
    let document = MANUAL.iter().find(|document| document.0 == path).unwrap();
    document.1.iter().flat_map(|(_, sentences)| sentences.iter().flat_map(|sentence| sentence.chars())).collect()
}

/// What the contract promises of every answer.
fn check(response: &SearchResponse) {
    let mut seen = Vec::new();
    let mut last = 1.0;
    for (at, result) in response.results.iter().enumerate() {
        assert_eq!(result.rank, at + 1);
        assert!(result.score <= last && result.score >= 0.0);
        last = result.score;
        assert!(!seen.contains(&result.section.id));
        seen.push(result.section.id.clone());
        let document = text_of(&result.document.path);
        let text: String = document[result.text_range.start..result.text_range.end].iter().collect();
        assert_eq!(text, result.text);
        assert!(result.text_range.contains(result.section.char_range));
        assert!(result.highlights.windows(2).all(|pair| pair[0].end < pair[1].start));
        assert!(result.highlights.iter().all(|span| result.text_range.contains(*span) && !span.is_empty()));
        assert!(!result.propositions.is_empty());
        for proposition in &result.propositions {
            assert!((0.0..=1.0).contains(&proposition.score));
            assert_ne!(proposition.statement, "主轴主轴主轴", "a rejected unit is never shown");
            for span in &proposition.evidence {
                assert!(result.section.char_range.contains(*span));
            }
        }
    }
}

#[test]
fn every_answer_keeps_the_contract_in_every_mode() {
    for kind in [UnitKind::Sentence, UnitKind::Section] {
        let dir = tempfile::tempdir().unwrap();
        fill(dir.path(), MANUAL, kind);
        let searcher = open(dir.path());
        let long = "温度".repeat(500);
        for query in
            ["主轴温度报警", "ERR-9801", "main switch", "油", "附录", "𝄞 5011 怎么处理", &long, "nothing like it"]
        {
            for mode in [Mode::Hybrid, Mode::Dense, Mode::Lexical] {
                check(&ask(&searcher, query, mode, None));
            }
        }
        Searcher::verify(dir.path()).unwrap();
    }
}

#[test]
fn the_right_section_comes_first_with_the_right_words_highlighted() {
    for kind in [UnitKind::Sentence, UnitKind::Section] {
        let dir = tempfile::tempdir().unwrap();
        fill(dir.path(), MANUAL, kind);
        let searcher = open(dir.path());
        for mode in [Mode::Hybrid, Mode::Lexical] {
            for query in ["ERR-9801", "err 9801", "ＥＲＲ－９８０１ 是什么"] {
                let first = ask(&searcher, query, mode, None).results.remove(0);
                assert_eq!(first.section.heading_path, ["3.1 温度"], "{query}");
                let document = text_of("zh/主轴.md");
                let marked: String =
                    first.highlights.iter().flat_map(|span| document[span.start..span.end].iter()).collect();
                assert!(marked.contains("ERR-9801"), "{query}: {marked}");
            }
        }
        let english = ask(&searcher, "Which switch must be locked?", Mode::Hybrid, None);
        assert_eq!(english.results[0].document.path, "en/press.md");
    }
}

#[test]
fn a_path_pattern_leaves_only_its_documents() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), MANUAL, UnitKind::Sentence);
    let searcher = open(dir.path());
    for mode in [Mode::Hybrid, Mode::Dense, Mode::Lexical] {
        let found = ask(&searcher, "ERR-9801 switch", mode, Some("**/*.md"));
        assert!(found.results.len() > 1);
        let english = ask(&searcher, "ERR-9801 switch", mode, Some("en/*"));
        assert!(english.results.iter().all(|result| result.document.path == "en/press.md"));
        assert_eq!(english.results.len(), 1);
        assert!(ask(&searcher, "switch", mode, Some("*.md")).results.is_empty());
    }
    let request = SearchRequest {
        query: "x".into(),
        sections: 3,
        top_k: 15,
        mode: Mode::Lexical,
        path: Some("[".into()),
        entities: Vec::new(),
        all_versions: false,
    };
    assert!(searcher.search(&request).unwrap_err().to_string().contains("not a path pattern"));
}

#[test]
fn an_entity_leaves_only_the_units_that_carry_it_in_every_mode() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), MANUAL, UnitKind::Sentence);
    let searcher = open(dir.path());
    let ask = |query: &str, mode: Mode, names: &[&str], path: Option<&str>| {
        let request = SearchRequest {
            query: query.to_owned(),
            sections: 9,
            top_k: 15,
            mode,
            path: path.map(str::to_owned),
            entities: names.iter().map(|name| (*name).to_owned()).collect(),
            all_versions: false,
        };
        let response = searcher.search(&request).unwrap();
        check(&response);
        response.results
    };
    for mode in [Mode::Hybrid, Mode::Dense, Mode::Lexical] {
        // The question is about something else; the entity decides what may be found.
        for query in ["", "报警代码", "每班检查润滑油位时的报警", "主轴温度 报警"] {
            for name in ["ERR-9801", "err-9801", "ＥＲＲ－９８０１"] {
                let found = ask(query, mode, &[name], None);
                assert_eq!(found.len(), 1, "{query} {mode:?}");
                assert_eq!(found[0].section.heading_path, ["3.1 温度"]);
                assert_eq!(found[0].propositions.len(), 1);
                assert!(found[0].propositions[0].entities.iter().any(|e| entity_key(e) == "err-9801"));
            }
            for absent in [&["ERR-980"][..], &["ERR9801"], &["ERR-9801", "ERR-9802"], &["拒绝-1"], &["-"]] {
                assert!(ask(query, mode, absent, None).is_empty(), "{query} {mode:?} {absent:?}");
            }
            assert!(ask(query, mode, &["ERR-9801"], Some("en/*")).is_empty());
            assert_eq!(ask(query, mode, &["ERR-9801"], Some("zh/*")).len(), 1);
        }
    }
    let both = ask("", Mode::Hybrid, &["80 ℃"], None);
    assert_eq!(both[0].propositions[0].statement, "主轴温度超过80℃时报警。");
}

#[test]
fn without_a_question_the_section_named_after_the_entity_comes_first_and_then_the_one_with_most_units() {
    let manual: Documents<'_> = &[(
        "zh/主轴.md",
        &[
            ("1 概述", &["ERR-9801 是报警。"]),
            ("2 处理", &["ERR-9801 出现时停机。", "ERR-9801 清除后复位。"]),
            ("3 ERR-9801", &["出现 ERR-9801 时检查冷却泵。"]),
            ("4 ERR-98011", &["其他。"]),
        ],
    )];
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), manual, UnitKind::Sentence);
    let request = SearchRequest {
        query: String::new(),
        sections: 9,
        top_k: 15,
        mode: Mode::Hybrid,
        path: None,
        entities: vec!["err-9801".into()],
        all_versions: false,
    };
    // Nothing is embedded, so no embedder is needed.
    let found = Searcher::open(dir.path(), None).unwrap().search(&request).unwrap().results;
    let order: Vec<&str> = found.iter().map(|result| result.section.heading_path[0].as_str()).collect();
    assert_eq!(order, ["3 ERR-9801", "2 处理", "1 概述"]);
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score) && found[0].score == 1.0);
    assert_eq!(found[1].propositions.len(), 2);
}

#[test]
fn a_reranker_decides_about_the_order_of_what_was_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/heads/rerank");
    let load = || Box::new(Classifier::load(&folder, Precision::Full).unwrap());
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), MANUAL, UnitKind::Sentence);
    let query = "主轴温度";
    let reranked = ask(&open(dir.path()).with_reranker(load()).with_explanations(), query, Mode::Hybrid, None).results;
    let model = load();
    let passage = |result: &SectionResult| {
        let (_, sections) = MANUAL.iter().find(|(path, _)| *path == result.document.path).unwrap();
        let whole: String = sections.iter().flat_map(|(_, sentences)| sentences.iter().copied()).collect();
        let Span { start, end } = result.section.char_range;
        let own: String = whole.chars().skip(start).take(end - start).collect();
        format!("手册 {}\n{}", result.section.heading_path.join(" "), own.trim())
    };
    let own: Vec<f32> = reranked.iter().map(|r| model.relevance(query, &[&passage(r)]).unwrap()[0]).collect();
    assert!(reranked.len() >= 2 && own.windows(2).all(|pair| pair[0] >= pair[1] - 1e-4), "{own:?}");
    for (result, own) in reranked.iter().zip(own) {
        let told = result.explanation.as_ref().and_then(|explanation| explanation.relevance).unwrap();
        assert!((told - own).abs() < 1e-4 && (result.score - own).abs() < 1e-4);
    }
}

#[test]
fn the_newest_version_of_a_passage_stands_for_all_unless_all_are_asked_for() {
    let old = "公司以其全部财产对公司的债务承担责任。";
    let new = "公司以其全部财产对公司的债务承担责任，其合法权益受法律保护。";
    let laws: Documents<'_> = &[
        ("2005/公司法.md", &[("第三条", &[old]), ("第九条", &["公司的债务由债权人申报。"])]),
        ("2018/公司法.md", &[("第三条", &[old])]),
        ("2023/公司法.md", &[("第三条", &[new])]),
        ("2023/合同法.md", &[("第三条", &[new])]),
    ];
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), laws, UnitKind::Sentence);
    let searcher = open(dir.path());
    let request = |all_versions| SearchRequest {
        query: "公司的债务谁承担责任".into(),
        sections: 5,
        top_k: 15,
        mode: Mode::Hybrid,
        path: None,
        entities: Vec::new(),
        all_versions,
    };
    let all = searcher.search(&request(true)).unwrap().results;
    assert!(all.len() == 5 && all.iter().all(|result| result.older_versions.is_empty()));
    let found = searcher.search(&request(false)).unwrap().results;
    let mut paths: Vec<&str> = found.iter().map(|result| result.document.path.as_str()).collect();
    let law = found.iter().find(|result| result.document.path == "2023/公司法.md").unwrap();
    let older: Vec<&str> = law.older_versions.iter().map(|version| version.document.path.as_str()).collect();
    assert_eq!(older, ["2018/公司法.md", "2005/公司法.md"]);
    assert_eq!(law.older_versions[0].date.as_deref(), Some("2018"));
    // Another law of the same words is no version, and an article that only the old version has is still found.
    paths.sort_unstable();
    assert_eq!(paths, ["2005/公司法.md", "2023/公司法.md", "2023/合同法.md"]);
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
}

#[test]
fn a_question_of_nothing_and_an_index_of_nothing_find_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), MANUAL, UnitKind::Sentence);
    let searcher = open(dir.path());
    for query in ["", "  \n", "？！…", "()"] {
        assert!(ask(&searcher, query, Mode::Hybrid, None).results.is_empty());
    }
    let empty = tempfile::tempdir().unwrap();
    fill(empty.path(), &[], UnitKind::Sentence);
    Searcher::verify(empty.path()).unwrap();
    for mode in [Mode::Hybrid, Mode::Dense, Mode::Lexical] {
        assert!(ask(&open(empty.path()), "报警", mode, None).results.is_empty());
    }
}

#[test]
fn a_short_section_takes_in_its_neighbour_under_the_same_headings_only() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), MANUAL, UnitKind::Sentence);
    let searcher = open(dir.path());
    let request = SearchRequest {
        query: "设备部编制".into(),
        sections: 1,
        top_k: 15,
        mode: Mode::Lexical,
        path: None,
        entities: Vec::new(),
        all_versions: false,
    };
    let found = searcher.search(&request).unwrap().results.remove(0);
    assert_eq!(found.text, "无。本手册由设备部编制，每年修订一次。");
    let plain = Ranking { expand_below: 0, ..Ranking::default() };
    let found = searcher.with_ranking(plain, FieldWeights::default()).search(&request).unwrap().results.remove(0);
    assert_eq!(found.text_range, found.section.char_range);
}

#[test]
fn another_embedder_or_none_is_refused_where_it_matters() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), MANUAL, UnitKind::Sentence);
    let error = Searcher::open(dir.path(), Some(Box::new(Toy("other")))).unwrap_err();
    assert!(error.to_string().contains("another embedder"));
    let searcher = Searcher::open(dir.path(), None).unwrap();
    assert_eq!(ask(&searcher, "ERR-9802", Mode::Lexical, None).results[0].section.heading_path, ["3.2 润滑"]);
    let request = SearchRequest {
        query: "x".into(),
        sections: 3,
        top_k: 15,
        mode: Mode::Dense,
        path: None,
        entities: Vec::new(),
        all_versions: false,
    };
    assert!(searcher.search(&request).unwrap_err().to_string().contains("needs an embedder"));
}

#[test]
fn missing_and_mixed_up_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Searcher::open(dir.path(), None).unwrap_err().is_missing());
    fill(dir.path(), MANUAL, UnitKind::Sentence);
    let other = tempfile::tempdir().unwrap();
    fill(other.path(), &MANUAL[..1], UnitKind::Sentence);
    let file = |dir: &Path| generation_dir(dir, 1).join(crate::index::VECTOR_FILE);
    std::fs::copy(file(other.path()), file(dir.path())).unwrap();
    assert!(Searcher::open(dir.path(), None).unwrap_err().is_corrupt());
    assert!(Searcher::verify(dir.path()).unwrap_err().is_corrupt());
    std::fs::remove_dir_all(generation_dir(dir.path(), 1)).unwrap();
    assert!(Searcher::open(dir.path(), None).unwrap_err().is_corrupt());
}

#[test]
fn a_question_that_names_a_known_code_leans_on_terms() {
    let dir = tempfile::tempdir().unwrap();
    fill(
        dir.path(),
        &[("a.md", &[("7404 参数", &["7404 尚未下载。"]), ("7405 参数", &["7405 已经下载。"])])],
        UnitKind::Sentence,
    );
    let searcher = Searcher::open(dir.path(), None).unwrap();
    for (query, wanted) in [
        ("报警 7404 怎么处理", true),
        ("报警 7499 怎么处理", false),
        ("参数怎么下载", false),
        ("电压 7404 V 时", false),
    ] {
        let question = crate::query::support::Question::new(query, &searcher.lexical).unwrap();
        assert_eq!(question.names_code, wanted, "{query}");
    }
}

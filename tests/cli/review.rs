//! Decisions of a person, entities and the ledger, from the command line. The statements come from a made-up model, because
//! the program's own would take minutes.

use mingti::embedder::Embedder;
use mingti::extractor::Extractor;
use mingti::ingest::{self, IndexOptions, Interrupt};
use mingti::model::{DeviceChoice, ModelStore, Role};
use mingti::proposition::{Passage, RawProposition, SentenceKind, SentenceYield};
use serde_json::Value;

use super::support::{EMBEDDER, Home, MANUAL, Run};

/// Writes each sentence of running text back as a statement.
struct Echo;

impl Extractor for Echo {
    fn fingerprint(&self) -> String {
        "echo".to_owned()
    }

    fn extract_each(
        &mut self,
        passages: &[Passage<'_>],
        done: &mut dyn FnMut(usize, Vec<Option<SentenceYield>>) -> mingti::Result<()>,
        _: &dyn Fn() -> bool,
    ) -> mingti::Result<()> {
        for (index, passage) in passages.iter().enumerate() {
            let write = |sentence: &mingti::proposition::Sentence| {
                let span = sentence.span;
                let statement = passage.text.chars().skip(span.start).take(span.len()).collect();
                (sentence.kind == SentenceKind::Prose).then(|| SentenceYield {
                    propositions: vec![RawProposition { statement, probability: 0.9 }],
                    truncated: false,
                })
            };
            done(index, passage.sentences.iter().map(write).collect())?;
        }
        Ok(())
    }
}

/// An index of the manual in which every statement waits.
fn waiting() -> Home {
    let home = Home::new();
    home.write("手册/液压 机.md", MANUAL);
    let models = std::env::var_os("MINGTI_MODELS").map(Into::into);
    let files = ModelStore::open(models).unwrap().find(EMBEDDER, Role::Embedder).unwrap();
    let embedder = Embedder::load(&files, DeviceChoice::Cpu).unwrap();
    let options = IndexOptions { review_below: 1.0, ..IndexOptions::new(home.index(), vec![home.docs()]) };
    ingest::index(&options, Some(&mut Echo), &embedder, &mut |_| {}, &Interrupt::new()).unwrap();
    home
}

fn review(home: &Home, args: &[&str]) -> Run {
    Run::of(home.mingti().arg("review").args(args))
}

fn status(home: &Home) -> Value {
    Run::of(home.mingti().args(["status", "--json"])).ends(0).object()
}

#[test]
fn statements_are_listed_shown_accepted_edited_and_rejected() {
    let home = waiting();
    let items = review(&home, &["list", "--json"]).ends(0).lines();
    assert_eq!(status(&home)["review"]["waiting"], items.len());
    let item = |words: &str| items.iter().find(|item| item["statement"].as_str().unwrap().contains(words)).unwrap();
    let id = |words: &str| item(words)["id"].as_str().unwrap().to_owned();
    let hot = item("高于 75 ℃");
    assert_eq!((&hot["status"], &hot["path"]), (&"review".into(), &"手册/液压 机.md".into()));
    assert_eq!(hot["evidence_text"][0], hot["statement"]);
    assert_eq!(hot["reasons"][0]["gate"], "low-confidence");

    let page = review(&home, &["show", &id("高于 75 ℃")]).ends(0).stdout;
    assert!(page.contains("waits for review") && page.contains("«主轴温度高于 75 ℃ 时发出 ERR-9801。»"), "{page}");
    let shown = review(&home, &["show", &id("高于 75 ℃"), "--json"]).ends(0).object();
    assert!(shown["section"]["text"].as_str().unwrap().contains("请检查冷却泵"));

    let accepted = review(&home, &["accept", &id("高于 75 ℃"), "--json"]).ends(0).object();
    assert_eq!((&accepted["changed"], &accepted["embedded"]), (&1.into(), &0.into()));
    let wrong = "主轴温度高于 90 ℃ 时发出 ERR-9801。";
    let refused = review(&home, &["edit", &id("高于 75 ℃"), "--statement", wrong]);
    refused.fails_naming(&["a gate refuses", "90", "hint: "]);
    let new = "当油压低于 2 MPa 时发出 ERR-9802。";
    review(&home, &["edit", &id("低于 2 MPa"), "--statement", new]).ends(0);
    review(&home, &["reject", &id("更换一次滤芯")]).ends(0);

    let found = home.search(&["油压低于多少时报警 ERR-9802", "--json", "-k", "9"]).ends(0).stdout;
    assert!(found.contains(new), "{found}");
    let filter = home.search(&["多久更换滤芯", "--json"]).ends(0).object();
    let first = &filter["results"][0]["propositions"][0];
    assert_eq!((&first["unit"], &first["statement"]), (&"sentence".into(), &"每 3 个月更换一次滤芯。".into()));
    let all = review(&home, &["list", "--all", "--json"]).ends(0).lines();
    let verdicts: Vec<&str> = all.iter().filter_map(|item| item["decision"]["verdict"].as_str()).collect();
    assert_eq!((all.len(), verdicts.len()), (items.len(), 3));
    assert!(["accepted", "edited", "rejected"].iter().all(|verdict| verdicts.contains(verdict)), "{verdicts:?}");
    Run::of(home.mingti().arg("verify")).ends(0);
}

#[test]
fn a_whole_section_or_document_is_decided_about_at_once() {
    let home = waiting();
    let items = review(&home, &["list", "--json"]).ends(0).lines();
    let section = items[0]["section"]["id"].as_str().unwrap();
    let there = items.iter().filter(|item| item["section"]["id"] == section).count();
    let done = review(&home, &["accept", "--section", section, "--json"]).ends(0).object();
    assert_eq!(done["changed"], there);
    assert_eq!(review(&home, &["accept", "--path", "other/**", "--json"]).ends(0).object()["changed"], 0);
    assert_eq!(
        review(&home, &["reject", "--path", "手册/*", "--json"]).ends(0).object()["changed"],
        items.len() - there
    );
    let list = review(&home, &["list"]).ends(0);
    assert!(list.stdout.is_empty() && list.stderr.contains("nothing waits"));
    let status = status(&home);
    assert_eq!((&status["review"]["waiting"], &status["review"]["decisions"]), (&0.into(), &items.len().into()));
    review(&home, &["accept", "no.such"]).fails_naming(&["no.such", "hint: "]);
    review(&home, &["list", "--section", "nowhere"]).fails_naming(&["nowhere"]);
}

#[test]
fn decisions_without_effect_are_told() {
    let home = waiting();
    review(&home, &["accept", "--path", "**"]).ends(0);
    home.write("手册/液压 机.md", MANUAL.replace("75", "85"));
    home.index_docs().ends(0);
    assert!(status(&home)["review"]["stale"].as_u64().unwrap() > 0);
    let lines = review(&home, &["list", "--all", "--json"]).ends(0).lines();
    assert!(lines.iter().any(|line| line["stale"] == true && line["statement"].as_str().unwrap().contains("75")));
    assert!(review(&home, &["list", "--all"]).ends(0).stdout.contains("without effect"));
}

#[test]
fn an_entity_restricts_a_search_or_is_one() {
    let home = Home::new();
    home.write("a.md", MANUAL);
    home.index_docs().ends(0);
    let statements = |args: &[&str]| -> Vec<String> {
        let answer = home.search(&[args, &["--json", "-k", "9"]].concat()).ends(0).object();
        let results = answer["results"].as_array().unwrap().clone();
        let hits = results.iter().flat_map(|result| result["propositions"].as_array().unwrap().clone());
        hits.map(|hit| hit["statement"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(statements(&["--entity", "err-9802"]), ["油压低于 2 MPa 时发出 ERR-9802。"]);
    for mode in ["hybrid", "dense", "lexical"] {
        let found = statements(&["发出 主轴过热的报警", "--mode", mode, "--entity", "ＥＲＲ－９８０２"]);
        assert_eq!(found, ["油压低于 2 MPa 时发出 ERR-9802。"], "{mode}");
    }
    assert_eq!(statements(&["--entity", "2MPa", "--entity", "ERR-9802"]).len(), 1);
    home.search(&["--entity", "ERR-9802", "--entity", "ERR-9801"]).ends(1);
    home.search(&["--entity", "ERR-980"]).ends(1);
}

#[test]
fn the_ledger_has_a_line_for_every_sentence() {
    let home = Home::new();
    home.write("a.md", MANUAL);
    home.write("b.txt", "1 Scope\n\nThe guard must be closed. It opens only at standstill.\n");
    home.index_docs().ends(0);
    let status = status(&home);
    let lines = Run::of(home.mingti().args(["status", "--ledger", "--json"])).ends(0).lines();
    let sum = &status["ledger"];
    assert_eq!(sum["sentences"], lines.len());
    let parts = ["propositions", "verbatim", "table_rows", "headings", "skipped"];
    assert_eq!(parts.map(|part| sum[part].as_u64().unwrap()).iter().sum::<u64>(), lines.len() as u64);
    for line in &lines {
        let text = std::fs::read_to_string(home.docs().join(line["path"].as_str().unwrap())).unwrap();
        let at = |end: usize| line["range"][end].as_u64().unwrap() as usize;
        let sentence: String = text.chars().skip(at(0)).take(at(1) - at(0)).collect();
        assert!(!sentence.trim().is_empty() && line["outcome"].is_string() && line["section"].is_string(), "{line}");
    }
    let page = Run::of(home.mingti().args(["status", "--ledger"])).ends(0).stdout;
    assert!(page.contains("verbatim") && page.contains("It opens only at standstill."), "{page}");
    assert!(Run::of(home.mingti().arg("status")).ends(0).stdout.contains("sentences  "));
}

//! `extract` for people and `eval extract`, by rules alone: no model is needed.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Run, mingti};

const TEXT: &str = "## 2 液压\n\n主油泵停止。该泵不得空转。\n\n| 项 | 值 |\n|--|--|\n| 压力 | 25 MPa |\n";

/// The page that `extract` prints for [`TEXT`].
const PAGE: &str = "\
p1 › 2 液压
  ## 2 液压  [heading]
  «主油泵停止。»  [verbatim: not sent to the model]
  «该泵不得空转。»  [verbatim: not sent to the model]
  | ‹项› | ‹值› |  [skipped: table header]
  |--|--|  [skipped: no words]
  «| 压力 | 25 MPa |»  [table row]
    • 2 液压，项：压力；值：25 MPa  accepted 1.00
      from ‹项› ‹值›
  6 sentences: 2 verbatim, 1 table row, 1 heading, 2 skipped; 0 uncovered

";

fn file(dir: &TempDir, name: &str, lines: &[Value]) -> PathBuf {
    let path = dir.path().join(name);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).unwrap();
    path
}

fn gold(dir: &TempDir) -> PathBuf {
    let statement =
        |statement: &str, start: usize, end: usize| json!({"statement": statement, "evidence": [start, end]});
    let first = json!({"id": "p1", "doc_title": "手册", "heading_path": ["2 液压"], "text": TEXT, "gold": [
        statement("主油泵停止。", 9, 15),
        statement("主油泵不得空转。", 15, 22),
        statement("液压系统的压力值为 25 MPa。", 42, 57),
    ]});
    let second = json!({"id": 2, "text": "It stops.", "gold": [statement("The pump stops.", 0, 9)]});
    file(dir, "gold.jsonl", &[first, second])
}

#[test]
fn a_passage_is_shown_sentence_by_sentence_without_colour_in_a_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let line = json!({"id": "p1", "title": "手册", "heading_path": ["2 液压"], "text": TEXT});
    let passages = file(&dir, "p.jsonl", &[line]);
    let run = Run::of(mingti().args(["extract", "--extractor", "none", "--passages"]).arg(passages)).ends(0);
    assert_eq!(run.stdout, PAGE);
}

#[test]
fn a_gold_file_is_scored_and_results_score_the_same_again() {
    let dir = tempfile::tempdir().unwrap();
    let (gold, out) = (gold(&dir), dir.path().join("out.jsonl"));
    let eval = |args: &[&str]| {
        let mut command = mingti();
        command.args(["eval", "extract"]).arg(&gold).args(args);
        Run::of(&mut command)
    };
    let run = eval(&["--extractor", "none", "--json", "-v", "--out", out.to_str().unwrap()]).ends(0);
    let report = run.object();
    assert_eq!((&report["passages"], &report["gold"], &report["units"]), (&2.into(), &4.into(), &4.into()));
    assert_eq!((&report["uncovered"], &report["invented"]), (&0.into(), &0.into()));
    assert_eq!(report["dangling_units"], 2);
    assert_eq!(report["recall"], 0.5);
    assert!(report["reliability"].is_array() && report["thresholds"].is_array());
    let again = eval(&["--results", out.to_str().unwrap(), "--json"]).ends(0).object();
    assert_eq!(report, again);
    let page = eval(&["--results", out.to_str().unwrap()]).ends(0).stdout;
    assert!(page.contains("recall            0.5000"), "{page}");
}

#[test]
fn faulty_gold_and_results_are_named_with_their_line() {
    let dir = tempfile::tempdir().unwrap();
    let good = gold(&dir);
    let bad =
        file(&dir, "bad.jsonl", &[json!({"id": 1, "text": "a", "gold": [{"statement": "a", "evidence": [0, 5]}]})]);
    let eval = |gold: &PathBuf, args: &[&str]| Run::of(mingti().args(["eval", "extract"]).arg(gold).args(args));
    eval(&bad, &["--extractor", "none"]).fails_naming(&["bad.jsonl", "line 1", "expected", "found"]);
    eval(&good, &["--results", bad.to_str().unwrap()]).fails_naming(&["bad.jsonl", "line 1", "expected", "units"]);
    eval(&good, &["--results", "absent.jsonl"]).fails_naming(&["absent.jsonl"]);
    eval(&good, &["--extractor", "none", "--model-only"]).fails_naming(&["--model-only", "hint"]);
}

/// What a small model writes on this machine and what it would write on others, which `MINGTI_CPU` asks for.
#[test]
fn every_instruction_set_and_every_start_gives_the_same_text() {
    let model = "smollm2-135m-instruct-q4_1";
    Run::of(mingti().args(["models", "pull", model])).ends(0);
    let dir = tempfile::tempdir().unwrap();
    let text = "The cooler is mounted on the return line. It must be cleaned every 3 months with clean water.";
    let line = json!({"id": "p1", "title": "XH-500 press", "heading_path": ["2.3 Cooler"], "text": text});
    let passages = file(&dir, "p.jsonl", &[line]);
    let statements = |cpu: &str| -> Vec<Value> {
        let mut command = mingti();
        command.args(["extract", "--json", "--device", "cpu", "--extractor", model, "--passages"]).arg(&passages);
        let run = Run::of(command.env("MINGTI_CPU", cpu)).ends(0);
        run.lines()[0]["units"].as_array().unwrap().iter().map(|u| json!([u["statement"], u["status"]])).collect()
    };
    let expected = statements("");
    assert!(!expected.is_empty());
    // The first start may have kept the beginning of the prompt, the second reads it.
    for cpu in ["", "avx2", "plain"] {
        assert_eq!(statements(cpu), expected, "{cpu}");
    }
}

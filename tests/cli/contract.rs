//! What scripts rely on: the JSON contract, exit statuses, standard output.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::support::{Home, MANUAL, Run};

fn manual() -> Home {
    let home = Home::new();
    home.write("手册/液压 机.md", MANUAL);
    home.write("crlf.txt", "Safety rules\r\n\r\nThe guard must be closed. It opens only at standstill.\r\n");
    home.index_docs().ends(0);
    home
}

fn range(value: &Value) -> (usize, usize) {
    (value[0].as_u64().unwrap() as usize, value[1].as_u64().unwrap() as usize)
}

#[test]
fn results_keep_the_contract() {
    let home = manual();
    let document = |path: &str| fs::read_to_string(home.docs().join(path)).unwrap();
    for (query, mode) in [("冷却液温度", "hybrid"), ("ERR-9802", "lexical"), ("When does the guard open?", "dense")]
    {
        let response = home.search(&[query, "--mode", mode, "--json", "-k", "5"]).ends(0).object();
        assert_eq!((&response["version"], &response["query"]), (&1.into(), &query.into()));
        assert!(response["took_ms"].as_f64().unwrap() >= 0.0 && response["generation"].as_u64().unwrap() >= 1);
        assert!(response.get("qid").is_none());
        let mut above = 1.0;
        for (number, result) in response["results"].as_array().unwrap().iter().enumerate() {
            assert_eq!(result["rank"].as_u64(), Some(number as u64 + 1));
            let score = result["score"].as_f64().unwrap();
            assert!((0.0..=above).contains(&score), "{score} after {above}");
            above = score;
            let (start, end) = range(&result["text_range"]);
            let text = document(result["document"]["path"].as_str().unwrap());
            let text: String = text.chars().skip(start).take(end - start).collect();
            assert_eq!(result["text"], text.as_str());
            let highlights: Vec<_> = result["highlights"].as_array().unwrap().iter().map(range).collect();
            assert!(highlights.iter().all(|(from, to)| start <= *from && from < to && *to <= end), "{highlights:?}");
            assert!(highlights.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{highlights:?}");
            assert!(result["section"]["heading_path"].is_array() && result["section"]["char_range"].is_array());
            for hit in result["propositions"].as_array().unwrap() {
                assert_eq!(hit["unit"], "sentence");
                assert!(hit["statement"].is_string() && hit["evidence"].is_array() && hit["entities"].is_array());
                assert!((0.0..=1.0).contains(&hit["confidence"].as_f64().unwrap()));
            }
        }
    }
}

#[test]
fn the_right_section_comes_first_with_its_words_highlighted() {
    let home = manual();
    let response = home.search(&["err9802 怎么处理", "--json"]).ends(0).object();
    let first = &response["results"][0];
    assert_eq!(first["document"]["path"], "手册/液压 机.md");
    assert!(first["text"].as_str().unwrap().contains("ERR-9802"), "{first}");
    assert!(!first["highlights"].as_array().unwrap().is_empty());
    let page = home.search(&["ERR-9801"]).ends(0).stdout;
    assert!(page.contains('«') && page.contains("手册/液压 机.md"), "{page}");
    assert!(!page.contains('\u{1b}'), "NO_COLOR is set: {page:?}");
}

#[test]
fn nothing_found_ends_with_1() {
    let home = manual();
    let run = home.search(&["冷却", "--path", "no/such/**", "--json"]).ends(1);
    assert!(run.object()["results"].as_array().unwrap().is_empty());
    let run = home.search(&["zzzqqq", "--mode", "lexical"]).ends(1);
    assert!(run.stdout.is_empty() && run.stderr.contains("nothing found"));
}

#[test]
fn many_questions_are_answered_in_one_process() {
    let home = manual();
    let file = home.path().join("questions.jsonl");
    let lines = "{\"qid\":\"a\",\"query\":\"冷却液\",\"gold\":[1]}\n\n{\"qid\":7,\"query\":\"guard\"}\n";
    fs::write(&file, lines).unwrap();
    let run = Run::of(home.mingti().args(["search", "--json", "--queries"]).arg(&file)).ends(0);
    let answers = run.lines();
    assert_eq!(answers.len(), 2);
    assert_eq!((&answers[0]["qid"], &answers[1]["qid"]), (&"a".into(), &7.into()));
}

#[test]
fn a_malformed_question_is_named_and_the_others_are_answered() {
    let home = manual();
    let file = home.path().join("questions.jsonl");
    fs::write(&file, "{\"qid\":1,\"query\":\"guard\"}\nnot json\n{\"qid\":3}\n{\"qid\":4,\"query\":\"冷却\"}\n")
        .unwrap();
    let run = Run::of(home.mingti().args(["search", "--json", "--queries"]).arg(&file));
    let run = run.fails_naming(&["questions.jsonl, line 2", "questions.jsonl, line 3"]);
    assert_eq!(run.lines().iter().map(|answer| answer["qid"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn status_and_verify_tell_what_is_there() {
    let home = manual();
    let status = Run::of(home.mingti().args(["status", "--json"])).ends(0).object();
    assert_eq!(status["documents"], 2);
    assert_eq!(status["uncovered"].as_array().map(Vec::len), Some(0), "{status}");
    assert!(status["generation"] == 1 && status["units"][0]["unit"] == "sentence", "{status}");
    Run::of(home.mingti().arg("status")).ends(0);
    Run::of(home.mingti().arg("verify")).ends(0);
    let text = Run::of(home.mingti().args(["status", "--text", "手册/液压 机.md"])).ends(0).stdout;
    assert_eq!(text, MANUAL);
    Run::of(home.mingti().args(["status", "--text", "no.md"])).fails_naming(&["no.md"]);
}

#[test]
fn progress_for_programs_is_json_lines() {
    let home = Home::new();
    home.write("a.md", MANUAL);
    let run = Run::of(home.indexing(&[&home.docs()]).arg("--json")).ends(0);
    let types: Vec<_> = run.lines().iter().map(|line| line["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(types.first().map(String::as_str), Some("started"));
    assert!(types.iter().any(|kind| kind == "published"), "{types:?}");
}

#[test]
fn extract_shows_units_of_documents_and_passages() {
    let home = Home::new();
    let file = home.write("a.md", MANUAL);
    let run = Run::of(home.mingti().args(["extract", "--extractor", "none", "--json"]).arg(file)).ends(0);
    assert!(run.lines().len() >= 3);
    let passages = home.path().join("p.jsonl");
    let line = r#"{"id":"p-07","title":"手册","heading_path":["泵"],"text":"主油泵的压力为 25 MPa。其转速为 1450 r/min。","extra":1}"#;
    fs::write(&passages, line).unwrap();
    let mut command = home.mingti();
    command.args(["extract", "--extractor", "none", "--json", "--passages"]).arg(&passages);
    let passage = Run::of(&mut command).ends(0).object();
    assert_eq!(passage["id"], "p-07");
    assert_eq!(passage["uncovered"], Value::Array(vec![]));
    let units = passage["units"].as_array().unwrap();
    assert_eq!(units.len(), 2);
    assert!(units.iter().all(|unit| unit["unit"] == "sentence" && unit["status"] == "accepted"), "{units:?}");
}

#[test]
fn settings_stand_beside_the_index() {
    let home = manual();
    fs::write(home.path().join("mingti.toml"), "[search]\nsections = 1\nmode = \"lexical\"\n").unwrap();
    assert_eq!(home.search(&["发出", "--json"]).ends(0).object()["results"].as_array().unwrap().len(), 1);
    fs::write(home.path().join("mingti.toml"), "[search]\nsection = 1\n").unwrap();
    home.search(&["发出"]).fails_naming(&["mingti.toml", "line 2", "section", "hint"]);
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_failure() {
    let home = manual();
    let file = home.path().join("questions.jsonl");
    fs::write(&file, "{\"qid\":1,\"query\":\"冷却\"}\n".repeat(200)).unwrap();
    let mut command = home.mingti();
    command.args(["search", "--mode", "lexical", "--json", "--queries"]).arg(&file);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let home = manual();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = home.mingti().args(["search", "冷却", "--mode", "lexical"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to standard output"));
}

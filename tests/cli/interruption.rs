//! Killed at any moment, continued later: the index is the one of an undisturbed run.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Home, Run, long_manual};

const QUESTIONS: [&str; 6] =
    ["主油泵的压力", "E-1203", "When does the spindle stop?", "蓄能器多久检查一次", "编码器报警", "cooler alarm 4021"];

/// Everything that a person could notice of an index, but times and numbers of generations.
#[derive(Debug)]
struct Face {
    units: Vec<String>,
    answers: Vec<Value>,
}

impl Face {
    /// The first difference, if any. Scores may differ by rounding: the vectors of a text that was embedded among others do.
    fn difference(&self, other: &Face) -> Option<String> {
        if self.units.len() != other.units.len() {
            return Some(format!("{} units and {} units", self.units.len(), other.units.len()));
        }
        let unit = self.units.iter().zip(&other.units).find(|(a, b)| a != b).map(|(a, b)| format!("{a}\n{b}"));
        unit.or_else(|| self.answers.iter().zip(&other.answers).find_map(|(a, b)| difference(a, b)))
    }
}

fn difference(a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a.iter().zip(b).find_map(|(a, b)| difference(a, b)),
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.values().zip(b.values()).find_map(|(a, b)| difference(a, b))
        }
        (Value::Number(a), Value::Number(b)) if (a.as_f64()? - b.as_f64()?).abs() < 1e-4 => None,
        (a, b) => (a != b).then(|| format!("{a}\n{b}")),
    }
}

fn face(home: &Home) -> Face {
    let reader = mingti::store::Reader::open(&home.index()).unwrap();
    let view = reader.view();
    let mut units = Vec::new();
    for document in view.documents().unwrap() {
        for section in view.sections(document.row).unwrap() {
            for unit in view.units(section.row).unwrap() {
                units.push(format!("{} {} {:?} {:?}", document.path, unit.id, section.heading_path, unit.unit));
            }
        }
    }
    let lines: Vec<String> = QUESTIONS.iter().map(|query| json!({"qid": query, "query": query}).to_string()).collect();
    let file = home.path().join("questions.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let mut search = home.mingti();
    search.args(["search", "--json", "-k", "10", "--top-k", "50", "--queries"]).arg(&file);
    let answers = Run::of(&mut search).ends(0).lines().iter_mut().map(|answer| answer["results"].take()).collect();
    Face { units, answers }
}

fn corpus() -> Home {
    let home = Home::new();
    for number in 0..6 {
        home.write(&format!("手册 {number}.md"), long_manual(number, 7));
    }
    home
}

/// Sixteen bits from the clock and the process: the moments shall differ from run to run.
fn chance() -> u32 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    (now.subsec_nanos() ^ std::process::id().wrapping_mul(0x9e37_79b9)) >> 7 & 0xffff
}

#[test]
fn an_index_survives_kill_at_ten_random_moments() {
    let home = corpus();
    let started = Instant::now();
    home.index_docs().ends(0);
    let whole = started.elapsed();
    let undisturbed = face(&home);
    assert!(undisturbed.units.len() > 150);
    for round in 0..10 {
        std::fs::remove_dir_all(home.index()).unwrap();
        // Each round has its tenth of the run, so that early and late moments both come up.
        let moment = whole.mul_f64((f64::from(round) + f64::from(chance()) / 65_536.0) / 10.0);
        let mut child = home.indexing(&[&home.docs()]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        if home.index().exists() {
            let early = home.search(&["主油泵", "--mode", "lexical", "--json"]);
            assert!([Some(0), Some(2)].contains(&early.status), "a reader sees a whole generation or none: {early:?}");
        }
        home.index_docs().ends(0);
        Run::of(home.mingti().arg("verify")).ends(0);
        let difference = undisturbed.difference(&face(&home));
        assert_eq!(difference, None, "killed after {moment:?} of {whole:?}, the index differs");
    }
}

#[test]
fn an_update_that_is_killed_leaves_the_old_index_to_readers() {
    let home = corpus();
    home.index_docs().ends(0);
    let before = face(&home);
    for number in 6..10 {
        home.write(&format!("手册 {number}.md"), long_manual(number, 7));
    }
    let mut child = home.indexing(&[&home.docs()]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    child.kill().unwrap();
    child.wait().unwrap();
    let during = face(&home);
    let status = Run::of(home.mingti().args(["status", "--json"])).ends(0).object();
    assert!(before.difference(&during).is_none() || status["generation"] != 1, "half an update is visible");
    home.index_docs().ends(0);
    let updated = face(&home);
    std::fs::remove_dir_all(home.index()).unwrap();
    home.index_docs().ends(0);
    assert_eq!(face(&home).difference(&updated), None, "an updated index differs from a fresh one");
}

#[test]
fn nothing_changed_means_no_new_generation() {
    let home = Home::new();
    home.write("a.md", long_manual(1, 3));
    home.index_docs().ends(0);
    let generation = || home.search(&["压力", "--json"]).ends(0).object()["generation"].as_u64();
    let before = generation();
    home.index_docs().ends(0);
    assert_eq!(generation(), before);
    std::fs::remove_file(home.docs().join("a.md")).unwrap();
    home.write("b.md", long_manual(2, 3));
    home.index_docs().ends(0);
    let found = home.search(&["压力", "--json", "-k", "50"]).ends(0).object();
    let paths = found["results"].as_array().unwrap().iter().map(|result| result["document"]["path"].clone());
    assert!(paths.into_iter().all(|path| path == "b.md"), "a file that vanished is not found any more");
}

#[cfg(unix)]
#[test]
fn a_stop_on_request_ends_with_130_and_keeps_finished_work() {
    let home = corpus();
    for number in 6..18 {
        home.write(&format!("手册 {number}.md"), long_manual(number, 7));
    }
    let child = home.indexing(&[&home.docs()]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    // The store appears when the handler has long been installed.
    while !home.index().join(mingti::store::DATABASE_FILE).exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("finished work is kept"), "{stderr}");
    home.index_docs().ends(0);
    Run::of(home.mingti().arg("verify")).ends(0);
}

#[cfg(unix)]
fn signal(process: u32, name: &str) {
    let sent = std::process::Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_second_writer_is_told_to_wait() {
    let home = corpus();
    for number in 6..18 {
        home.write(&format!("手册 {number}.md"), long_manual(number, 7));
    }
    let mut child = home.indexing(&[&home.docs()]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lock: &Path = &home.index().join(mingti::store::LOCK_FILE);
    let deadline = Instant::now() + Duration::from_secs(60);
    while !home.index().join(mingti::store::DATABASE_FILE).exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(lock.exists());
    let second = home.index_docs();
    let first_is_running = child.try_wait().unwrap().is_none();
    child.kill().ok();
    child.wait().unwrap();
    assert!(first_is_running, "the corpus is too small to meet a running writer");
    second.fails_naming(&["hint"]);
}

//! A process that dies at any write, sync, rename or removal, or meets a full disk, leaves the old state or the new one; the next run
//! completes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use mingti::index::{GraphOptions, open_generation};
use mingti::ingest::{self, IndexOptions, Interrupt};
use mingti::proposition::UnitKind;
use mingti::query::Searcher;
use mingti::store::Reader;

use crate::support::{Answer, Home, Pairs, answers, difference, folder};

/// What the process does that is killed.
const TASK: &str = "MINGTI_TEST_TASK";
const FOLDER: &str = "MINGTI_TEST_FOLDER";
/// Exit status of a process that was ended by the shim.
const ENDED: i32 = 86;
/// Points of a task that are tried; all of them where there are no more.
const POINTS: usize = 130;

/// Indexes or compacts in the folder that the environment names. Does nothing when none is named: it is run by the other tests.
#[test]
fn child() {
    let (Some(task), Some(folder)) = (std::env::var_os(TASK), std::env::var_os(FOLDER)) else { return };
    let done = work(task.to_str().unwrap(), Path::new(&folder));
    // The shim ends the process before this, or makes an error of a full disk.
    if let Err(error) = done {
        panic!("{error}");
    }
}

fn work(task: &str, folder: &Path) -> mingti::Result<()> {
    let (index, interrupt) = (folder.join("index"), Interrupt::new());
    let options = IndexOptions {
        unit: UnitKind::Sentence,
        patch_from: if task == "patch" { 0 } else { usize::MAX },
        graph: GraphOptions { exact_below: 0, ..GraphOptions::default() },
        ..IndexOptions::new(&index, vec![folder.join("docs")])
    };
    match task {
        "compact" => ingest::compact(&index, &Pairs, &mut |_| {}, &interrupt)?,
        _ => ingest::index(&options, None, &Pairs, &mut |_| {}, &interrupt)?,
    };
    Ok(())
}

/// The shim, compiled once.
fn shim() -> &'static Path {
    static SHIM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = SHIM.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shim.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/updates/shim.c");
        let built =
            Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&path).args([source, "-ldl"]).status();
        assert!(built.unwrap().success(), "the shim does not compile");
        (dir, path)
    });
    path
}

fn run(task: &str, folder: &Path, shim_mode: &str, count: Option<&Path>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crashes::child", "--nocapture", "--test-threads=1"]);
    command.env(TASK, task).env(FOLDER, folder).env("LD_PRELOAD", shim()).env("MINGTI_SHIM", shim_mode);
    if let Some(count) = count {
        command.env("MINGTI_SHIM_COUNT", count);
    }
    command.output().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = fs::copy(entry.path(), target).unwrap(),
        }
    }
}

/// What an index answers; `None` where nothing is published.
fn state(folder: &Path) -> Option<Vec<Answer>> {
    let index = folder.join("index");
    match Reader::open(&index) {
        Ok(reader) if reader.generation().is_some() => {
            Searcher::verify(&index).unwrap();
            Some(answers(&index))
        }
        Ok(_) => None,
        Err(error) => {
            assert!(error.is_missing(), "{error}");
            None
        }
    }
}

fn equal(a: Option<&Vec<Answer>>, b: Option<&Vec<Answer>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => difference(a, b).is_none(),
        (None, None) => true,
        _ => false,
    }
}

/// Ends `task`, which starts from the folder `start`, at many points in each of `modes`. Returns how many there were.
fn end_everywhere(task: &str, start: &Path, modes: &[&str]) -> usize {
    let room = tempfile::tempdir().unwrap();
    let whole = room.path().join("whole");
    copy(start, &whole);
    let count = room.path().join("count");
    let output = run(task, &whole, "count", Some(&count));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let calls: usize = fs::read_to_string(&count).unwrap().parse().unwrap();
    assert!(calls > 20, "{task}: only {calls} calls were seen");
    let (old, new) = (state(start), state(&whole));
    assert!(!equal(old.as_ref(), new.as_ref()) || task == "compact");
    let mut points = 0;
    for (m, mode) in modes.iter().enumerate() {
        let step = calls.div_ceil(POINTS / modes.len());
        // Each mode at points of its own.
        for at in (1 + m % step..=calls).step_by(step) {
            let folder = room.path().join("killed");
            copy(start, &folder);
            let output = run(task, &folder, &format!("{mode} {at}"), None);
            let place = format!("{task}, {mode} at call {at} of {calls}");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            match *mode {
                // Threads make the number of calls vary a little.
                "kill" | "tear" => assert!(output.status.code() == Some(ENDED) || at + 20 > calls, "{place}: {text}"),
                _ => assert!(
                    output.status.success() || text.contains("hint: ") && text.contains("disk"),
                    "{place}: {text}"
                ),
            }
            let left = state(&folder);
            let whole = equal(left.as_ref(), old.as_ref()) || equal(left.as_ref(), new.as_ref());
            assert!(whole, "{place} left neither the old state nor the new");
            work(task, &folder).unwrap_or_else(|error| panic!("{place}: the next run failed: {error}"));
            assert!(equal(state(&folder).as_ref(), new.as_ref()), "{place}: the next run ended in another state");
            let names =
                fs::read_dir(folder.join("index")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
            let generations: Vec<String> = names.filter(|name| name.starts_with("gen-")).collect();
            assert_eq!(generations.len(), 1, "{place} left {generations:?}");
            fs::remove_dir_all(&folder).unwrap();
            points += 1;
        }
    }
    points
}

/// A folder with documents and their index, and the same after some of them changed, came and went, before that is indexed.
fn changed() -> Home {
    let mut home = Home::new(24, 3);
    home.write();
    work("index", home.dir.path()).unwrap();
    home.manuals[1][2] = 3;
    home.manuals[2].clear();
    home.manuals.push(vec![1; 2]);
    home.write();
    home
}

#[test]
fn a_first_indexing_run_that_dies_anywhere_is_completed_by_the_next() {
    let home = Home::new(4, 3);
    home.write();
    assert!(end_everywhere("index", home.dir.path(), &["kill", "tear"]) >= 100);
}

#[test]
fn an_update_that_dies_anywhere_leaves_the_old_index_or_the_new() {
    assert!(end_everywhere("patch", changed().dir.path(), &["kill", "tear"]) >= 100);
}

#[test]
fn a_compaction_that_dies_anywhere_changes_no_answer() {
    let home = changed();
    work("patch", home.dir.path()).unwrap();
    assert!(open_generation(&folder(&home.at("index"))).unwrap().vectors.is_changed());
    assert!(end_everywhere("compact", home.dir.path(), &["kill", "tear"]) >= 50);
}

#[test]
fn a_disk_that_fills_up_anywhere_is_told_and_leaves_the_old_index_or_the_new() {
    assert!(end_everywhere("patch", changed().dir.path(), &["full"]) >= 50);
    assert!(end_everywhere("index", changed().dir.path(), &["full"]) >= 50);
}

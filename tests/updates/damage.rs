//! A damaged byte is an error or changes nothing, wherever it is; files are built again from the database.

use std::fs;
use std::path::{Path, PathBuf};

use mingti::index::GraphOptions;
use mingti::ingest::{self, Interrupt};
use mingti::query::Searcher;

use crate::support::{Home, Pairs, answers, difference, folder, same, try_answers};

/// Places of a file that are damaged.
const PLACES: usize = 60;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => found.extend(files(&entry)),
            false => found.push(entry),
        }
    }
    found
}

/// An index with changes beside its files.
fn changed() -> Home {
    let mut home = Home::new(14, 6);
    let graph = GraphOptions { exact_below: 0, ..GraphOptions::default() };
    home.index("index", 0, graph);
    home.manuals[3][2] = 1;
    home.index("index", 0, graph);
    home
}

#[test]
fn a_damaged_byte_of_any_file_is_an_error_or_changes_no_answer() {
    let home = changed();
    let index = home.at("index");
    let expected = answers(&index);
    let (mut errors, mut places) = (0, 0);
    for path in files(&index) {
        let whole = fs::read(&path).unwrap();
        // SQLite writes this one anew.
        if whole.is_empty() || path.to_string_lossy().ends_with("-shm") {
            continue;
        }
        let step = (whole.len() / if path.ends_with("mingti.db") { 6 * PLACES } else { PLACES }).max(1);
        for at in (step / 2..whole.len()).step_by(step) {
            let mut bytes = whole.clone();
            bytes[at] ^= [0x01, 0x20, 0x80, 0xff][at % 4];
            fs::write(&path, &bytes).unwrap();
            places += 1;
            match try_answers(&index) {
                Ok(found) => assert_eq!(difference(&found, &expected), None, "{} at {at}", path.display()),
                Err(error) => {
                    errors += 1;
                    assert!(error.to_string().contains("index"), "{} at {at}: {error} names no file", path.display());
                }
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    same(&answers(&index), &expected);
    assert!(places > 500 && errors > places / 4, "{errors} errors at {places} places");
}

#[test]
fn damaged_or_missing_files_of_a_generation_are_built_again_from_the_database() {
    let home = changed();
    let index = home.at("index");
    let expected = answers(&index);
    for name in ["changes.mtc", "vectors.mtv", "files.json", "lexical/meta.json"] {
        for missing in [false, true] {
            let home = if name == "changes.mtc" {
                changed()
            } else {
                Home { dir: tempfile::tempdir().unwrap(), manuals: home.manuals.clone() }
            };
            home.index("index", 0, GraphOptions::default());
            let index = home.at("index");
            let path = folder(&index).join(name);
            match missing {
                true => fs::remove_file(&path).unwrap(),
                false => fs::write(&path, b"not what it was").unwrap(),
            }
            assert!(Searcher::verify(&index).is_err(), "{name}");
            match missing {
                true => ingest::repair(&index, &Pairs, &mut |_| {}, &Interrupt::new()).unwrap(),
                // An indexing run that finds nothing new mends them as well.
                false => home.index("index", 0, GraphOptions::default()),
            };
            Searcher::verify(&index).unwrap();
            same(&answers(&index), &expected);
        }
    }
}

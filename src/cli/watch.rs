//! Waiting for files to change.
//!
//! The files are looked at every second by name, length and time: that works on every file system, network shares included, where
//! messages of the system do not come.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mingti::ingest::Interrupt;
use walkdir::{DirEntry, WalkDir};

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(100);

type Look = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Files and folders, and how they looked when they were last told to have changed.
pub(crate) struct Watch {
    paths: Vec<PathBuf>,
    /// Not looked at: every run changes it.
    index: PathBuf,
    told: Look,
}

impl Watch {
    /// Starts with the files as they are now. The index may lie among them.
    pub(crate) fn new(paths: &[PathBuf], index: &Path) -> Self {
        Self { told: look(paths, index), paths: paths.to_vec(), index: index.to_owned() }
    }

    /// Waits until something changed and then stayed the same from one look to the next, so that a file is not read while it is
    /// written. False when the person asks to stop.
    pub(crate) fn wait(&mut self, interrupt: &Interrupt) -> bool {
        let mut last = look(&self.paths, &self.index);
        loop {
            for _ in 0..PAUSE.as_millis() / TICK.as_millis() {
                if interrupt.is_raised() {
                    return false;
                }
                std::thread::sleep(TICK);
            }
            let now = look(&self.paths, &self.index);
            if now == last && now != self.told {
                self.told = now;
                return true;
            }
            last = now;
        }
    }
}

fn look(paths: &[PathBuf], index: &Path) -> Look {
    // What indexing passes over: hidden files and folders, and the index itself, which the first run makes.
    let index = index.canonicalize().ok();
    let wanted = |entry: &DirEntry| {
        let hidden = entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.');
        let of_index = || entry.file_type().is_dir() && index.is_some() && entry.path().canonicalize().ok() == index;
        !(hidden || of_index())
    };
    let walk = |path: &PathBuf| WalkDir::new(path).into_iter().filter_entry(wanted).flatten();
    let files = paths.iter().flat_map(walk).filter(|entry| entry.file_type().is_file());
    files
        .filter_map(|entry| {
            let data = entry.metadata().ok()?;
            Some((entry.path().to_owned(), (data.len(), data.modified().ok())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_change_is_told_once_and_a_signal_ends_the_wait() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "one").unwrap();
        let index = dir.path().join("index");
        let mut watch = Watch::new(&[dir.path().to_owned()], &index);
        std::fs::create_dir(&index).unwrap();
        std::fs::write(dir.path().join("b"), "two").unwrap();
        let interrupt = Interrupt::new();
        assert!(watch.wait(&interrupt));
        // Neither the index nor hidden files are a change.
        std::fs::write(index.join("mingti.db"), "three").unwrap();
        std::fs::write(dir.path().join(".a.swp"), "four").unwrap();
        let stop = interrupt.clone();
        let stopped = std::thread::spawn(move || {
            std::thread::sleep(3 * PAUSE);
            stop.raise();
        });
        assert!(!watch.wait(&interrupt));
        stopped.join().unwrap();
        assert!(!watch.wait(&interrupt));
    }
}

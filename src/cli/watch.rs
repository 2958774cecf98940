//! Waiting for files to change.
//!
//! The files are looked at every second by name, length and time: that works on every file system, network shares included, where
//! messages of the system do not come.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mingti::ingest::Interrupt;
use walkdir::WalkDir;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(100);

type Look = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Files and folders, and how they looked when they were last told to have changed.
pub(crate) struct Watch {
    paths: Vec<PathBuf>,
    told: Look,
}

impl Watch {
    /// Starts with the files as they are now.
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        Self { paths: paths.to_vec(), told: look(paths) }
    }

    /// Waits until something changed and then stayed the same from one look to the next, so that a file is not read while it is
    /// written. False when the person asks to stop.
    pub(crate) fn wait(&mut self, interrupt: &Interrupt) -> bool {
        let mut last = look(&self.paths);
        loop {
            for _ in 0..PAUSE.as_millis() / TICK.as_millis() {
                if interrupt.is_raised() {
                    return false;
                }
                std::thread::sleep(TICK);
            }
            let now = look(&self.paths);
            if now == last && now != self.told {
                self.told = now;
                return true;
            }
            last = now;
        }
    }
}

fn look(paths: &[impl AsRef<Path>]) -> Look {
    let files = paths.iter().flat_map(WalkDir::new).flatten().filter(|entry| entry.file_type().is_file());
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
        let mut watch = Watch::new(&[dir.path().to_owned()]);
        std::fs::write(dir.path().join("b"), "two").unwrap();
        let interrupt = Interrupt::new();
        assert!(watch.wait(&interrupt));
        interrupt.raise();
        assert!(!watch.wait(&interrupt));
    }
}

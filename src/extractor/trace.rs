//! A record of every model call, for replaying the same work elsewhere.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};

/// One model call: a branch from its full prompt to the end of its output.
#[derive(Debug, Serialize)]
pub(super) struct Call<'a> {
    /// Instructions, section and sentence.
    pub(super) prompt: &'a str,
    /// What the model wrote after the prompt.
    pub(super) output: &'a str,
    /// Tokens of `prompt`.
    pub(super) prompt_tokens: usize,
    /// Tokens of `prompt` that another call had computed.
    pub(super) cached_tokens: usize,
    /// Tokens of `output`.
    pub(super) output_tokens: usize,
    /// From joining the batch to leaving it.
    pub(super) seconds: f64,
}

/// A trace being written, JSON Lines.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Trace {
    /// Creates or replaces the file.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|e| Error::io("cannot write the trace", path, e))?;
        Ok(Self { path: path.to_owned(), out: BufWriter::new(file) })
    }

    pub(super) fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.line(call)
    }

    /// Writes the last line: the wall time of the whole extraction with the model already loaded.
    pub fn finish(mut self, total_seconds: f64) -> Result<()> {
        #[derive(Serialize)]
        struct Total {
            total_seconds: f64,
        }
        self.line(&Total { total_seconds })?;
        self.out.flush().map_err(|e| Error::io("cannot write the trace", &self.path, e))
    }

    fn line(&mut self, value: &impl Serialize) -> Result<()> {
        let written = serde_json::to_writer(&mut self.out, value).map_err(std::io::Error::from);
        written.and_then(|()| self.out.write_all(b"\n")).map_err(|e| Error::io("cannot write the trace", &self.path, e))
    }
}

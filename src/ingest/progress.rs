//! What a caller hears while an index is written, and how it asks to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::error::{Error, Kind, Result};

/// An event of the write path. Serialised as one JSON line with a `type`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Progress {
    /// The files to look at are known.
    Started {
        /// Files found.
        files: usize,
    },
    /// A file was read and compared with the index.
    File {
        /// Path in the index.
        path: String,
        /// Sections whose content is new.
        new_sections: usize,
        /// Sections taken over.
        kept_sections: usize,
    },
    /// A file was new or changed, and was read.
    Read {
        /// Path in the index.
        path: String,
        /// Name of its encoding; empty for formats that are no text.
        encoding: String,
        /// How sure that is, from 0 (a guess) to 1 (certain).
        confidence: f32,
        /// Pages that it has; 0 where the format has none.
        pages: usize,
        /// Code points of its text.
        chars: usize,
    },
    /// A file could not be indexed; the others go on.
    Failed {
        /// Path as found.
        path: String,
        /// Why.
        error: String,
    },
    /// Something a person should know, such as text that was cut at the embedder's limit.
    Warning {
        /// Path in the index; empty when it is about the whole run.
        path: String,
        /// What happened.
        message: String,
    },
    /// A section is extracted and committed.
    Section {
        /// Sections done in this run.
        done: usize,
        /// Sections to do in this run.
        total: usize,
        /// Path in the index.
        path: String,
    },
    /// Units are being embedded.
    Embedding {
        /// Units embedded.
        done: usize,
        /// Units to embed.
        total: usize,
    },
    /// Vector and lexical files of the new generation are being built.
    Building {
        /// Vectors in the generation.
        vectors: usize,
    },
    /// The new generation is the one that is searched.
    Published {
        /// Its number.
        generation: u64,
    },
}

/// A flag that asks running work to stop at the next safe point.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a stop. Safe to call from any thread and more than once.
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// True once raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// An error once raised.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_raised() {
            return Err(Error::new(Kind::Interrupted, "stopped on request; finished work is kept")
                .hint("run the same command again to continue"));
        }
        Ok(())
    }
}

//! What a run is asked to do, and what it did.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::cost::ModelUse;
use super::tier::{Effort, Tier};
use crate::document::{Date, ReadOptions};
use crate::embedder::{Embedder, Kind as EmbedderKind};
use crate::error::Result;
use crate::index::GraphOptions;
use crate::proposition::{REVIEW_BELOW, UnitKind};
use crate::section::Splitting;

/// What to index and how.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// Folder of the index; made when it is missing.
    pub index: PathBuf,
    /// Files and folders, folders with everything below them.
    pub paths: Vec<PathBuf>,
    /// What is searched, where no tier says otherwise.
    pub unit: UnitKind,
    /// How much the language model is asked, where no tier says otherwise.
    pub mode: Effort,
    /// Rules that choose by document; the first that holds decides.
    pub tiers: Vec<Tier>,
    /// Date of the documents, before what they say themselves: what `last year` is counted from.
    pub date: Option<Date>,
    /// How documents are cut into sections, but for [`UnitKind::Fixed`].
    pub splitting: Splitting,
    /// Window of [`UnitKind::Fixed`], in code points.
    pub window: usize,
    /// How the vector index is built.
    pub graph: GraphOptions,
    /// Vectors from which on an index with few changes is not built anew: what changed is written beside it.
    pub patch_from: usize,
    /// Confidence below which a statement that no gate objects to waits for review, in [0, 1].
    pub review_below: f32,
    /// How files are read.
    pub reading: ReadOptions,
}

impl IndexOptions {
    /// Propositions, with the defaults of everything else.
    pub fn new(index: impl AsRef<Path>, paths: Vec<PathBuf>) -> Self {
        Self {
            index: index.as_ref().to_owned(),
            paths,
            unit: UnitKind::Proposition,
            mode: Effort::Full,
            tiers: Vec::new(),
            date: None,
            splitting: Splitting::default(),
            window: 500,
            graph: GraphOptions::default(),
            patch_from: 2_000,
            review_below: REVIEW_BELOW,
            reading: ReadOptions::default(),
        }
    }
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct IndexSummary {
    /// Files that were looked at.
    pub files: usize,
    /// Files and paths that could not be read; the rest is indexed.
    pub failed: usize,
    /// Documents that are new or changed.
    pub changed: usize,
    /// Documents that were as the index had them.
    pub unchanged: usize,
    /// Documents whose files vanished.
    pub deleted: usize,
    /// Sections whose units were made in this run.
    pub sections: usize,
    /// Of these, sections whose extraction came from the cache.
    pub cached: usize,
    /// What the language model was asked in this run, and what it was spared.
    pub model: ModelUse,
    /// Texts that were embedded in this run.
    pub embedded: usize,
    /// Searchable units in the index.
    pub units: usize,
    /// The generation that this run published; `None` when nothing had changed.
    pub generation: Option<u64>,
}

/// Vectors of a batch of texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embedded {
    /// Values in a vector.
    pub dimension: usize,
    /// The vectors one after another, each of unit length.
    pub vectors: Vec<f32>,
    /// Indices of texts of which only the beginning was embedded, because the model's limit ended it.
    pub truncated: Vec<usize>,
}

/// Turns passages into vectors.
pub trait PassageEmbedder {
    /// Everything that shapes a vector apart from the text. Vectors of different fingerprints are never mixed.
    fn fingerprint(&self) -> String;

    /// The name by which the same embedder is found again: a manifest identifier or a path.
    fn name(&self) -> String;

    /// Values in a vector.
    fn dimension(&self) -> usize;

    /// The vectors of `texts`, in order.
    fn embed_passages(&self, texts: &[&str]) -> Result<Embedded>;
}

impl PassageEmbedder for Embedder {
    fn fingerprint(&self) -> String {
        Embedder::fingerprint(self).to_owned()
    }

    fn name(&self) -> String {
        Embedder::name(self).to_owned()
    }

    fn dimension(&self) -> usize {
        Embedder::dimension(self)
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Embedded> {
        let embedded = self.embed(texts, EmbedderKind::Passage)?;
        Ok(Embedded { dimension: embedded.dim, vectors: embedded.vectors, truncated: embedded.truncated })
    }
}

//! The embedder that an index was filled with, loaded only when something has to be embedded.

use std::cell::OnceCell;

use super::options::{Embedded, PassageEmbedder};
use crate::error::{Error, Kind, Result};
use crate::store::GenerationRow;

/// Stands for the embedder of a published generation. Small changes often need no new vector, and then no model is loaded.
pub struct OnDemand<F, E> {
    generation: GenerationRow,
    load: F,
    loaded: OnceCell<E>,
}

impl<F, E> std::fmt::Debug for OnDemand<F, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnDemand").field("generation", &self.generation).finish_non_exhaustive()
    }
}

impl<F: Fn(&str) -> Result<E>, E: PassageEmbedder> OnDemand<F, E> {
    /// The embedder of `generation`, which `load` finds by its name.
    pub fn new(generation: GenerationRow, load: F) -> Self {
        Self { generation, load, loaded: OnceCell::new() }
    }

    fn embedder(&self) -> Result<&E> {
        if let Some(embedder) = self.loaded.get() {
            return Ok(embedder);
        }
        let embedder = (self.load)(&self.generation.embedder_name)?;
        if embedder.fingerprint() != self.generation.embedder {
            return Err(Error::new(Kind::Usage, "the index was filled with another embedder of this name")
                .place(self.generation.embedder_name.clone())
                .expected(self.generation.embedder.clone())
                .found(embedder.fingerprint())
                .hint("run `mingti index` on the documents again, or put the old model back"));
        }
        Ok(self.loaded.get_or_init(|| embedder))
    }
}

impl<F: Fn(&str) -> Result<E>, E: PassageEmbedder> PassageEmbedder for OnDemand<F, E> {
    fn fingerprint(&self) -> String {
        self.generation.embedder.clone()
    }

    fn name(&self) -> String {
        self.generation.embedder_name.clone()
    }

    fn dimension(&self) -> usize {
        self.generation.dimension
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Embedded> {
        self.embedder()?.embed_passages(texts)
    }
}

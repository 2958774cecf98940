//! The read path: embed, search, fuse, aggregate, expand, highlight.

mod fuse;
mod highlight;
mod order;
mod phrase;
mod rerank;
mod response;
mod searcher;
mod support;
mod versions;

pub use fuse::{Explanation, Ranking};
pub use rerank::Reranker;
pub use response::{
    DocumentRef, Mode, PropositionHit, SearchRequest, SearchResponse, SectionRef, SectionResult, VersionRef,
};
pub use searcher::Searcher;

use crate::embedder::{Embedder, Kind as EmbedderKind};
use crate::error::Result;

/// What turns a question into a vector. An index can only be searched with the embedder that filled it.
pub trait QueryEmbedder {
    /// The question's vector, of unit length.
    fn embed_query(&self, query: &str) -> Result<Vec<f32>>;

    /// Everything that shapes a vector: model checksum, pooling, prefixes. Must equal the index's.
    fn fingerprint(&self) -> String;
}

impl QueryEmbedder for Embedder {
    fn embed_query(&self, query: &str) -> Result<Vec<f32>> {
        let embedded = self.embed(&[query], EmbedderKind::Query)?;
        if !embedded.truncated.is_empty() {
            tracing::warn!(
                "the question is longer than the embedder's {} tokens; only its beginning is searched by meaning",
                self.max_tokens()
            );
        }
        Ok(embedded.vectors)
    }

    fn fingerprint(&self) -> String {
        Embedder::fingerprint(self).to_owned()
    }
}

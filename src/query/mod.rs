//! The read path: embed, search, fuse, aggregate, expand, highlight.

mod response;

pub use response::{DocumentRef, Mode, PropositionHit, SearchRequest, SearchResponse, SectionRef, SectionResult};

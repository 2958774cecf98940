//! mingti (命题, *proposition*): an embedded, on-device search engine with local inference.
//!
//! Data flows one way, and each module imports only modules above it in this list:
//!
//! ```text
//! file -> document -> section -> proposition -> vector -> index generation
//!                                                              |
//! answer <- highlights <- sections (aggregated) <- hits <- query
//! ```

pub mod compute;
pub mod document;
pub mod embedder;
pub mod error;
pub mod extractor;
pub mod index;
pub mod ingest;
pub mod model;
pub mod proposition;
pub mod query;
pub mod section;
pub mod store;

pub use error::{Error, Result};

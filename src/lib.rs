//! mingti (命题, *proposition*): an embedded, on-device search engine with local inference.
//!
//! Data flows one way, and each module imports only modules above it in this list:
//!
//! ```text
//! file -> document -> section -> proposition -> vector -> index generation
//!                                                              |
//! answer <- highlights <- sections (aggregated) <- hits <- query
//! ```
//!
//! A document is cut into sections that tile it, and a section into sentences; ranges count Unicode code points:
//!
//! ```
//! use mingti::document::{Document, Format};
//! use mingti::proposition::sentences;
//! use mingti::section::{HeadingSplitter, Splitter};
//!
//! let text = "# XH-500\n\n## 1 冷却器\n\n每 3 个月清洗一次。水温不得高于 28 ℃。\n".to_owned();
//! let document = Document::from_text("xh-500.md", text.clone(), Format::Markdown);
//! let sections = HeadingSplitter::default().split(&document);
//! let joined: String = sections.iter().map(|section| document.text.slice(section.span)).collect();
//! assert_eq!(joined, text);
//! let last = document.text.slice(sections[sections.len() - 1].span);
//! assert!(sentences(last, document.format).len() >= 3); // the heading and two sentences
//! ```

pub mod compute;
pub mod document;
pub mod embedder;
pub mod error;
pub mod eval;
pub mod extractor;
pub mod index;
pub mod ingest;
pub mod model;
pub mod proposition;
pub mod query;
pub mod section;
pub mod store;

pub use error::{Error, Result};

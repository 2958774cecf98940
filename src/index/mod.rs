//! The files of a generation: a mapped vector index in our own format and a lexical index.
//!
//! * `FORMAT.md` specifies the vector file; [`VectorIndex`] maps and searches it.
//! * [`LexicalIndex`] ranks sections by BM25 over the terms of [`terms`].
//! * [`GenerationBuilder`] writes both into a folder that appears under its name only when it is complete and synced.

mod builder;
mod changes;
mod files;
mod format;
mod generation;
mod graph;
#[cfg(test)]
mod large_tests;
mod lexical;
mod reader;
mod repair;
mod room;
mod scattered;
pub mod terms;
mod vectors;
mod writer;

pub use builder::GraphOptions;
pub use changes::{VectorEdit, VectorFrom};
pub use format::{FORMAT_VERSION, Pointer};
pub use generation::{
    BuildReport, Generation, GenerationBuilder, GenerationEditor, LEXICAL_FOLDER, LexicalSection, VECTOR_FILE,
    open_generation, verify_generation,
};
pub use lexical::{FieldWeights, LexicalFilter, LexicalHit, LexicalIndex};
pub use vectors::{VectorHit, VectorIndex};
pub use writer::VectorSource;

//! The SQLite store: documents, sections, units, caches and the generation that is searched.
//!
//! One file, `mingti.db`, lies in the index folder beside one folder `gen-N` with the vector and lexical files of the
//! published generation. What keeps readers and an interrupted writer right:
//!
//! * **Rows are versioned by document.** A document row carries the generation it first belongs to (`born`) and the one
//!   it no longer belongs to (`died`); its sections and units live and die with it. The writer works on the next
//!   generation, readers see the published one, and a row that the published generation needs is not removed before the
//!   next one is published. So a reader that opens in the middle of an indexing run still finds everything whole.
//! * **Publishing is one transaction**: it names the new files and drops the rows of the old generation.
//! * **Each section commits alone**, with its units, so a killed run goes on where it was.
//! * **Identifiers and order follow from the content** (path, headings, text), never from history, so an interrupted and
//!   resumed run ends in the same index as an undisturbed one.
//!
//! Ranges of units are stored relative to their section and handed out relative to the document, so a section that
//! only moved keeps its units.

mod cache;
mod decision;
mod ledger;
mod migrate;
mod reader;
mod rows;
mod schema;
mod seal;
mod view;
mod writer;

pub use cache::{CacheKey, embedding_key};
pub use decision::{DecisionRow, ReviewFilter, ReviewItem, section_key};
pub use ledger::{LedgerEntry, LedgerSummary, OutcomeCount};
pub use reader::Reader;
pub use rows::{
    Counts, DocumentRow, GenerationRow, NewDocument, NewSection, Recipe, Replaced, SearchableUnit, SectionDone,
    SectionRow, SectionState, UnitRow, document_id, section_id,
};
pub use schema::{DATABASE_FILE, LOCK_FILE, SCHEMA_VERSION};
pub use view::View;
pub use writer::Writer;

use std::path::{Path, PathBuf};

/// The folder of generation `number` in the index folder `dir`.
pub fn generation_dir(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("gen-{number}"))
}

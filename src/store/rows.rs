//! What the store takes and gives: plain rows, and the identifiers that follow from content.

use serde::{Deserialize, Serialize};

use crate::document::{Date, Page, Span, page_of};
use crate::error::{Error, Kind, Result};
use crate::proposition::{REVIEW_BELOW, Status, Unit, UnitKind};

/// A document to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewDocument<'a> {
    /// Path in the index, with `/`; the identity of the document.
    pub path: &'a str,
    /// The folder or file that was named when it was indexed. Files of a root that vanish are soft-deleted.
    pub root: &'a str,
    /// Title.
    pub title: &'a str,
    /// Date that its time words count from.
    pub date: Option<Date>,
    /// Hash of everything that shapes the document's sections: its bytes and the writer's settings.
    pub content_hash: [u8; 32],
    /// Name of the encoding that the bytes were in.
    pub encoding: &'a str,
    /// Name of the format, such as `markdown`.
    pub format: &'a str,
    /// Length of the decoded text in code points.
    pub chars: usize,
    /// Where pages begin: a JSON list of [`Page`](crate::document::Page), `[]` where the format has none.
    pub pages: &'a str,
}

/// A section to be written. The sections of a document tile its text.
#[derive(Debug, Clone, Copy)]
pub struct NewSection<'a> {
    /// Code points of the document.
    pub span: Span,
    /// Headings above, outermost first.
    pub heading_path: &'a [String],
    /// The section's text, exactly.
    pub text: &'a str,
    /// How the writer treats the section and what its extraction is told, as the writer's own JSON.
    pub context: &'a str,
    /// Hash of everything that shapes the section's units: text, context, unit kind, extractor. While it stays the same
    /// the units of the section are kept.
    pub input_hash: [u8; 32],
}

/// A stored document.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentRow {
    /// Row number; not stable over rewrites.
    pub row: i64,
    /// Stable identifier, see [`document_id`].
    pub id: String,
    /// Path in the index.
    pub path: String,
    /// The folder or file that was named.
    pub root: String,
    /// Title.
    pub title: String,
    /// Date that its time words count from.
    pub date: Option<Date>,
    /// See [`NewDocument::content_hash`].
    pub content_hash: [u8; 32],
    /// Name of the encoding.
    pub encoding: String,
    /// Name of the format.
    pub format: String,
    /// Length in code points.
    pub chars: usize,
    /// See [`NewDocument::pages`]. Read when it is asked for: it may be long.
    pub pages: String,
    /// True when the file vanished; such a document is not searched.
    pub deleted: bool,
}

impl DocumentRow {
    /// The label of the page on which code point `at` lies; none where there are no pages.
    ///
    /// # Errors
    /// The list of pages is damaged.
    pub fn page_of(&self, at: usize) -> Result<Option<String>> {
        if self.pages == "[]" {
            return Ok(None);
        }
        let pages: Vec<Page> = serde_json::from_str(&self.pages).map_err(|error| {
            Error::new(Kind::Corrupt, "the list of pages is damaged").place(&self.path).because(error)
        })?;
        Ok(page_of(&pages, at).map(str::to_owned))
    }

    /// The row as it would be written again.
    pub fn as_new(&self) -> NewDocument<'_> {
        NewDocument {
            path: &self.path,
            root: &self.root,
            title: &self.title,
            date: self.date,
            content_hash: self.content_hash,
            encoding: &self.encoding,
            pages: &self.pages,
            format: &self.format,
            chars: self.chars,
        }
    }
}

/// Whether a section's units are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionState {
    /// Waiting for extraction.
    Pending,
    /// Extracted, gated and committed.
    Done,
}

/// What a section's units were made with: enough to make them again without asking a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// The kind of unit that was asked for.
    pub unit: UnitKind,
    /// Key of the extraction in the cache; `None` when no model was asked.
    pub extraction: Option<[u8; 32]>,
    /// Confidence below which a statement waits for review.
    pub review_below: f32,
}

impl Default for Recipe {
    /// Statements, no model, and the usual threshold.
    fn default() -> Self {
        Self { unit: UnitKind::Proposition, extraction: None, review_below: REVIEW_BELOW }
    }
}

/// A stored section.
#[derive(Debug, Clone, PartialEq)]
pub struct SectionRow {
    /// Row number; not stable over rewrites.
    pub row: i64,
    /// Stable identifier, see [`section_id`].
    pub id: String,
    /// Row number of its document.
    pub document: i64,
    /// Place among the document's sections, from 0.
    pub ordinal: usize,
    /// Code points of the document.
    pub span: Span,
    /// Headings above, outermost first.
    pub heading_path: Vec<String>,
    /// The section's text.
    pub text: String,
    /// See [`NewSection::context`].
    pub context: String,
    /// See [`NewSection::input_hash`].
    pub input_hash: [u8; 32],
    /// Whether its units are there.
    pub state: SectionState,
    /// Code points of the document that no searchable unit covers.
    pub uncovered: Vec<Span>,
    /// What became of each sentence, as JSON; empty when the writer keeps no ledger.
    pub ledger: String,
    /// What its units were made with; `None` when they were not made yet, or by a version that did not say.
    pub recipe: Option<Recipe>,
}

impl SectionRow {
    /// The row as it would be written again.
    pub fn as_new(&self) -> NewSection<'_> {
        NewSection {
            span: self.span,
            heading_path: &self.heading_path,
            text: &self.text,
            context: &self.context,
            input_hash: self.input_hash,
        }
    }
}

/// A finished section: its units with ranges **relative to the section's text**.
#[derive(Debug, Clone, Default)]
pub struct SectionDone<'a> {
    /// Row number of the section.
    pub section: i64,
    /// All units in order, rejected ones too.
    pub units: &'a [Unit],
    /// Code points of the section that no searchable unit covers.
    pub uncovered: &'a [Span],
    /// What became of each sentence, as JSON; may be empty.
    pub ledger: &'a str,
    /// The key of each unit; when there are not as many, those of [`unit_keys`](crate::proposition::unit_keys) are taken.
    pub keys: &'a [String],
    /// What the units were made with.
    pub recipe: Recipe,
}

/// A stored unit. Ranges count code points of the document.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitRow {
    /// Row number; not stable over rewrites.
    pub row: i64,
    /// Stable identifier: `<section id>.<key>`.
    pub id: String,
    /// The unit's name in its section, see [`unit_keys`](crate::proposition::unit_keys).
    pub key: String,
    /// Row number of its section.
    pub section: i64,
    /// Place among the section's units, from 0.
    pub ordinal: usize,
    /// Statement, kind, status, ranges and the rest.
    pub unit: Unit,
}

/// A unit as the embedder and the index builder need it.
#[derive(Debug, Clone, Copy)]
pub struct SearchableUnit<'a> {
    /// Row number of the unit.
    pub unit: i64,
    /// Row number of its section.
    pub section: i64,
    /// Row number of its document.
    pub document: i64,
    /// The statement.
    pub statement: &'a str,
    /// What the statement is.
    pub kind: UnitKind,
    /// Accepted or waiting for review.
    pub status: Status,
    /// Title of the document.
    pub title: &'a str,
    /// Headings above, outermost first.
    pub heading_path: &'a [String],
}

/// The result of writing a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// Row number of the document.
    pub document: i64,
    /// Sections whose units were taken over.
    pub kept: usize,
    /// Sections that wait for extraction.
    pub pending: usize,
}

/// A published generation. Its files lie in the folder [`generation_dir`](super::generation_dir).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationRow {
    /// From 1, rising.
    pub number: u64,
    /// Vectors in it.
    pub vectors: usize,
    /// Dimensions of the vectors; 0 when there are none.
    pub dimension: usize,
    /// What the units are by default: `proposition`, `sentence`, `section` or `fixed`.
    pub unit: String,
    /// Fingerprint of the embedder.
    pub embedder: String,
    /// The embedder's name, for people.
    pub embedder_name: String,
    /// Seconds since 1970 when it was published.
    pub created: u64,
}

/// What an index holds, for `status`. Counts the newest committed rows, published or not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Documents that are not deleted.
    pub documents: usize,
    /// Documents whose files vanished.
    pub deleted_documents: usize,
    /// Code points in the documents.
    pub chars: usize,
    /// Sections.
    pub sections: usize,
    /// Sections that wait for extraction.
    pub pending_sections: usize,
    /// Sections with text that no searchable unit covers.
    pub uncovered_sections: usize,
    /// Units by kind and status.
    pub units: Vec<UnitCount>,
    /// Entries of the extraction cache.
    pub cached_extractions: usize,
    /// Entries of the embedding cache.
    pub cached_embeddings: usize,
    /// True when something is committed that the published generation does not hold yet.
    pub unpublished: bool,
}

/// Units of one kind and status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnitCount {
    /// What the units are.
    pub unit: UnitKind,
    /// Whether they are searched.
    pub status: Status,
    /// How many there are.
    pub count: usize,
}

/// Stable identifier of a document: it follows from the path alone.
pub fn document_id(path: &str) -> String {
    digest("mingti document 1", &[path.as_bytes()])
}

/// Stable identifier of a section: it follows from the document's path, the headings, the text, and which one of
/// several equal sections of the document it is (`occurrence`, from 0).
pub fn section_id(path: &str, heading_path: &[String], text: &str, occurrence: usize) -> String {
    let count = (heading_path.len() as u64).to_le_bytes();
    let occurrence = (occurrence as u64).to_le_bytes();
    let mut parts: Vec<&[u8]> = vec![path.as_bytes(), &count];
    parts.extend(heading_path.iter().map(|heading| heading.as_bytes()));
    parts.push(text.as_bytes());
    parts.push(&occurrence);
    digest("mingti section 1", &parts)
}

/// 128 bits of a BLAKE3 hash over length-prefixed parts, as hexadecimal digits.
fn digest(context: &str, parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in std::iter::once(&context.as_bytes()).chain(parts) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_ids_tell_headings_from_text_and_repeats_apart() {
        let ids = [
            section_id("a", &["b".into()], "c", 0),
            section_id("a", &[], "bc", 0),
            section_id("a", &["bc".into()], "", 0),
            section_id("a", &["b".into()], "c", 1),
            section_id("ab", &[], "c", 0),
        ];
        for (i, id) in ids.iter().enumerate() {
            assert_eq!(id.len(), 32);
            assert!(!ids[i + 1..].contains(id));
        }
    }
}

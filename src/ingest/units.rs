//! From a section to its units, for every kind of unit.

use super::options::IndexOptions;
use crate::document::{Document, Format, Span};
use crate::extractor::Extractor;
use crate::proposition::{Assembly, Passage, Sentence, SentenceYield, Unit, UnitKind, assemble, entities};
use crate::section::{FixedSplitter, HeadingSplitter, Section, Splitter};
use crate::store::CacheKey;

/// Raised when splitting, segmentation or the gates change what becomes of the same text.
const VERSION: &str = "mingti units 2";

/// Everything of a run that shapes units.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) unit: UnitKind,
    window: usize,
    /// See [`IndexOptions::review_below`].
    pub(super) review_below: f32,
    /// Fingerprint of the extractor; empty when there is none.
    extractor: String,
}

impl Settings {
    pub(super) fn new(options: &IndexOptions, extractor: Option<&dyn Extractor>) -> Self {
        let asks = options.unit == UnitKind::Proposition;
        Self {
            unit: options.unit,
            window: options.window,
            review_below: options.review_below,
            extractor: extractor.filter(|_| asks).map(Extractor::fingerprint).unwrap_or_default(),
        }
    }

    /// True when a model is asked.
    pub(super) fn asks_a_model(&self) -> bool {
        !self.extractor.is_empty()
    }

    /// The sections of a document.
    pub(super) fn split(&self, document: &Document) -> Vec<Section> {
        match self.unit {
            UnitKind::Fixed => FixedSplitter { size: self.window }.split(document),
            _ => HeadingSplitter::default().split(document),
        }
    }

    /// Hash of everything that shapes a document's sections and units: its bytes and these settings.
    pub(super) fn document_hash(&self, bytes: &[u8]) -> CacheKey {
        self.hash(&[b"document", bytes])
    }

    /// Hash of everything that shapes a section's units.
    pub(super) fn section_hash(&self, format: &str, title: &str, heading_path: &[String], text: &str) -> CacheKey {
        let headings = heading_path.join("\u{1f}");
        self.hash(&[b"section", format.as_bytes(), title.as_bytes(), headings.as_bytes(), text.as_bytes()])
    }

    /// Key of a section's extraction: what the model sees, and the model.
    pub(super) fn extraction_key(&self, format: &str, title: &str, heading_path: &[String], text: &str) -> CacheKey {
        let headings = heading_path.join("\u{1f}");
        let mut hasher = blake3::Hasher::new();
        for part in ["mingti extraction 1", &self.extractor, format, title, &headings, text] {
            add(&mut hasher, part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    fn hash(&self, parts: &[&[u8]]) -> CacheKey {
        let mut hasher = blake3::Hasher::new();
        let window = if self.unit == UnitKind::Fixed { self.window } else { 0 };
        // Only statements have a confidence that can be too low.
        let below = if self.unit == UnitKind::Proposition { self.review_below } else { 0.0 };
        let kind = format!("{:?} {window} {below}", self.unit);
        for part in [VERSION.as_bytes(), kind.as_bytes(), self.extractor.as_bytes()].iter().chain(parts) {
            add(&mut hasher, part);
        }
        *hasher.finalize().as_bytes()
    }
}

/// Adds a part with its length, so that parts cannot run into each other.
fn add(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&(part.len() as u64).to_le_bytes());
    hasher.update(part);
}

/// The name under which the store keeps a format.
pub(super) fn format_name(format: Format) -> &'static str {
    match format {
        Format::Markdown => "markdown",
        Format::PlainText => "plain_text",
    }
}

/// The format of a stored name.
pub(super) fn format_of(name: &str) -> Format {
    if name == "markdown" { Format::Markdown } else { Format::PlainText }
}

/// The units of a passage: statements with verbatim fallbacks for [`UnitKind::Proposition`] and [`UnitKind::Sentence`] (without
/// yields all are verbatim), or the whole passage as one unit for the baselines.
pub fn passage_units(kind: UnitKind, passage: &Passage<'_>, yields: &[Option<SentenceYield>]) -> Assembly {
    match kind {
        UnitKind::Proposition => assemble(passage, yields),
        UnitKind::Sentence => assemble(passage, &[]),
        UnitKind::Section | UnitKind::Fixed => Assembly { units: whole(kind, passage.text), ..Assembly::default() },
    }
}

/// The passage as one unit without surrounding white space; none if it has no words.
fn whole(kind: UnitKind, text: &str) -> Vec<Unit> {
    if !text.chars().any(char::is_alphanumeric) {
        return Vec::new();
    }
    let start = text.chars().take_while(|c| c.is_whitespace()).count();
    let trimmed = text.trim();
    let mut unit = Unit::verbatim(kind, trimmed, Span::new(start, start + trimmed.chars().count()));
    unit.entities = entities(trimmed);
    vec![unit]
}

/// A passage with what it borrows.
pub(super) struct OwnedPassage {
    pub(super) title: String,
    pub(super) heading_path: Vec<String>,
    pub(super) text: String,
    pub(super) sentences: Vec<Sentence>,
}

impl OwnedPassage {
    pub(super) fn borrow(&self) -> Passage<'_> {
        Passage::new(&self.title, &self.heading_path, &self.text, &self.sentences)
    }
}

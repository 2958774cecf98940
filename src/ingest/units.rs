//! From a section to its units, for every kind of unit.

use super::options::IndexOptions;
use super::plan::{Context, Planner};
use crate::document::{Format, ReadOptions, Span};
use crate::error::Result;
use crate::extractor::Extractor;
use crate::proposition::{Assembly, Passage, SentenceYield, Unit, UnitKind, assemble, entities, verbatim};
use crate::store::CacheKey;

/// Raised when splitting, segmentation or the gates change what becomes of the same text.
const VERSION: &str = "mingti units 6";

/// Everything of a run that shapes units.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) planner: Planner,
    /// See [`IndexOptions::review_below`].
    pub(super) review_below: f32,
    /// See [`IndexOptions::reading`].
    pub(super) reading: ReadOptions,
    /// Fingerprint of the extractor; empty when none is asked.
    extractor: String,
}

impl Settings {
    pub(super) fn new(options: &IndexOptions, extractor: Option<&dyn Extractor>) -> Result<Self> {
        let planner = Planner::new(options, extractor.is_some())?;
        let extractor = extractor.filter(|_| planner.may_ask()).map(Extractor::fingerprint).unwrap_or_default();
        let reading = options.reading.clone();
        Ok(Self { planner, review_below: options.review_below, reading, extractor })
    }

    /// True when a model is asked about a section.
    pub(super) fn asks_a_model(&self, context: &Context) -> bool {
        context.unit == UnitKind::Proposition && !self.extractor.is_empty()
    }

    /// Hash of everything that shapes a document's sections and units: its bytes and these settings. Its path is not in
    /// it, because it never changes for a document.
    pub(super) fn document_hash(&self, bytes: &[u8]) -> CacheKey {
        let encoding = self.reading.encoding.as_deref().unwrap_or_default();
        let digest = format!("{} {} {encoding}", self.planner.digest(), self.review_below);
        hash(&[VERSION.as_bytes(), b"document", digest.as_bytes(), self.extractor.as_bytes(), bytes])
    }

    /// Hash of everything that shapes a section's units.
    pub(super) fn section_hash(&self, section: &SectionText<'_>, context: &Context) -> CacheKey {
        let extractor = if self.asks_a_model(context) { self.extractor.as_str() } else { "" };
        // Only statements have a confidence that can be too low.
        let below = if context.unit == UnitKind::Proposition { self.review_below } else { 0.0 };
        section.hash(&format!("{VERSION} {below}"), extractor, context)
    }

    /// Key of a section's extraction: what the model is told, and the model.
    pub(super) fn extraction_key(&self, section: &SectionText<'_>, context: &Context) -> CacheKey {
        section.hash("mingti extraction 2", &self.extractor, context)
    }
}

/// A section's own text with what stands above it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SectionText<'a> {
    /// Name of the format, see [`format_name`].
    pub(super) format: &'a str,
    pub(super) title: &'a str,
    pub(super) heading_path: &'a [String],
    pub(super) text: &'a str,
}

impl SectionText<'_> {
    fn hash(&self, purpose: &str, extractor: &str, context: &Context) -> CacheKey {
        let headings = self.heading_path.join("\u{1f}");
        let context = context.to_json();
        let parts = [purpose, extractor, &context, self.format, self.title, &headings, self.text];
        hash(&parts.map(str::as_bytes))
    }
}

fn hash(parts: &[&[u8]]) -> CacheKey {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        add(&mut hasher, part);
    }
    *hasher.finalize().as_bytes()
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

/// The units of a passage: statements with verbatim fallbacks for [`UnitKind::Proposition`] (without yields those
/// that rules write), and for the baselines its sentences as they stand or the whole passage as one unit.
pub fn passage_units(kind: UnitKind, passage: &Passage<'_>, yields: &[Option<SentenceYield>]) -> Assembly {
    match kind {
        UnitKind::Proposition => assemble(passage, yields),
        UnitKind::Sentence => verbatim(passage),
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

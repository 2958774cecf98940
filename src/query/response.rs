//! The result of a search, in the shape of the JSON contract (version 1).

use serde::{Deserialize, Serialize};

use super::fuse::Explanation;
use crate::document::Span;
use crate::proposition::UnitKind;

/// How hits are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Dense and lexical hits, fused.
    Hybrid,
    /// Vectors only.
    Dense,
    /// Terms only (BM25).
    Lexical,
}

/// A question and how to answer it.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The question, any length and any mix of languages.
    pub query: String,
    /// Sections to return.
    pub sections: usize,
    /// Propositions to consider.
    pub top_k: usize,
    /// How hits are found.
    pub mode: Mode,
    /// Only documents whose path matches this glob.
    pub path: Option<String>,
    /// Only units that carry every one of these entities, compared without case, width and white space. With them an empty
    /// question lists the units that carry them.
    pub entities: Vec<String>,
    /// Whether every version of a document is a result of its own; else the newest version of a passage stands for all.
    pub all_versions: bool,
}

/// Ranked sections.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchResponse {
    /// Version of this contract: 1.
    pub version: u32,
    /// The identifier of the question in a queries file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub qid: Option<serde_json::Value>,
    /// The question as given.
    pub query: String,
    /// Wall time of the search in milliseconds, the models already loaded.
    pub took_ms: f64,
    /// The generation that was searched.
    pub generation: u64,
    /// Best first.
    pub results: Vec<SectionResult>,
}

/// One section.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SectionResult {
    /// 1 for the best.
    pub rank: usize,
    /// In [0, 1]; never rises from one rank to the next.
    pub score: f32,
    /// The document it belongs to.
    pub document: DocumentRef,
    /// The section itself.
    pub section: SectionRef,
    /// The document's characters `text_range`.
    pub text: String,
    /// Code points of the document.
    pub text_range: Span,
    /// Supporting words, sorted, disjoint, inside `text_range`.
    pub highlights: Vec<Span>,
    /// The page on which the first highlight stands, or the text begins; absent where the format has no pages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page: Option<String>,
    /// The units that brought the section up, best first.
    pub propositions: Vec<PropositionHit>,
    /// How it came by its score, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub explanation: Option<Explanation>,
    /// The same passage in older versions of the document, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub older_versions: Vec<VersionRef>,
}

/// A passage of an older version of a document.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VersionRef {
    /// The older document.
    pub document: DocumentRef,
    /// The section there.
    pub section: SectionRef,
    /// When it was made, such as `2018-10-26`; absent where only its title tells.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub date: Option<String>,
}

/// A document, by identifier, path and title.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DocumentRef {
    /// Stable identifier.
    pub id: String,
    /// Path as given to `index`.
    pub path: String,
    /// Title of the document.
    pub title: String,
}

/// A section, by identifier, headings and place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SectionRef {
    /// Stable identifier.
    pub id: String,
    /// Headings above, outermost first.
    pub heading_path: Vec<String>,
    /// Code points of the document.
    pub char_range: Span,
    /// The page on which it begins, as a person would say it; absent where the format has no pages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page: Option<String>,
}

/// A unit that matched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PropositionHit {
    /// Stable identifier.
    pub id: String,
    /// The statement.
    pub statement: String,
    /// In [0, 1].
    pub score: f32,
    /// What the statement is.
    pub unit: UnitKind,
    /// Belief in the statement.
    pub confidence: f32,
    /// Code points of the document.
    pub evidence: Vec<Span>,
    /// Names, codes and quantities.
    pub entities: Vec<String>,
    /// For each of them its place in the document; `null` for one that stands only in a heading or the title.
    #[serde(default)]
    pub entity_ranges: Vec<Option<Span>>,
}

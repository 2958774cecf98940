//! The searchable unit.

use serde::{Deserialize, Serialize};

use crate::document::Span;

/// What a unit's statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitKind {
    /// Written by the extractor and let through by the gates.
    Proposition,
    /// A sentence of the source, verbatim.
    Sentence,
    /// A whole section, verbatim.
    Section,
    /// A window of fixed size, verbatim.
    Fixed,
}

/// Whether a unit may be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Searchable.
    Accepted,
    /// Searchable, waiting for a person because its confidence is low.
    Review,
    /// Kept for the record, never searched.
    Rejected,
}

/// A gate that spoke about a unit, and why, for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Stable name of the gate, such as `number-not-in-source`.
    pub gate: String,
    /// What it saw, such as `12 MPa`.
    pub detail: String,
}

/// A statement with its proof. Ranges count code points of the text the statement was taken from: the section's text
/// while extracting, the document's once stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// The statement, self-contained if `kind` is [`UnitKind::Proposition`].
    pub statement: String,
    /// What the statement is.
    #[serde(rename = "unit")]
    pub kind: UnitKind,
    /// Whether it may be searched.
    pub status: Status,
    /// Belief that the statement is true to its source and readable alone, in [0, 1].
    pub confidence: f32,
    /// Where the statement comes from.
    pub evidence: Vec<Span>,
    /// Where restored names were taken from.
    pub antecedents: Vec<Span>,
    /// Normalised names, codes and quantities in the statement.
    pub entities: Vec<String>,
    /// Gates that spoke.
    pub reasons: Vec<Reason>,
}

impl Unit {
    /// A verbatim unit: the statement is the source's own text, so it is certain.
    pub fn verbatim(kind: UnitKind, statement: impl Into<String>, evidence: Span) -> Self {
        Self {
            statement: statement.into(),
            kind,
            status: Status::Accepted,
            confidence: 1.0,
            evidence: vec![evidence],
            antecedents: Vec::new(),
            entities: Vec::new(),
            reasons: Vec::new(),
        }
    }

    /// True for accepted units and for those that wait for review.
    pub fn is_searchable(&self) -> bool {
        self.status != Status::Rejected
    }
}

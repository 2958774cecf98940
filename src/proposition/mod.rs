//! Statements, their evidence and the gates that decide which may be searched. Knows no model.

mod raw;
mod segment;
mod unit;

pub use raw::{Passage, RawProposition, Sentence, SentenceYield};
pub use segment::sentences;
pub use unit::{Reason, Status, Unit, UnitKind};

use serde::{Deserialize, Serialize};

/// What a sentence of a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentenceKind {
    /// Running text; goes to the model.
    Prose,
    /// A list item that is no full sentence.
    ListItem,
    /// A row of a table.
    TableRow,
    /// A heading line.
    Heading,
    /// Code, a link list, an image, front matter: kept verbatim.
    Verbatim,
}

//! Statements, their evidence and the gates that decide which may be searched. Knows no model.

mod assemble;
mod clause;
mod compound;
mod confidence;
mod contents;
mod entities;
mod entity_key;
mod evidence;
mod frame;
mod gates;
mod html_rows;
mod html_table;
mod ledger;
mod lexis;
mod line;
mod links;
mod names;
mod need;
mod quantity;
mod quantity_words;
mod raw;
mod repair;
mod segment;
mod source;
mod table;
mod tidy;
mod time;
mod time_words;
mod unit;

pub use assemble::review::{
    Applied, Decision, REVIEWED, Verdict, apply_decisions, judge_statement, set_threshold, unit_keys,
};
pub use assemble::{Assembly, assemble, verbatim};
pub use confidence::REVIEW_BELOW;
pub use contents::is_contents_list;
pub use entities::{EntityPlaces, entities};
pub use entity_key::entity_key;
pub use ledger::{Outcome, SentenceOutcome};
pub use links::{spoken, without_anchors};
pub use need::{needs_rewriting, readable_as_they_stand};
pub use raw::{Passage, RawProposition, Sentence, SentenceYield};
pub use segment::sentences;
pub use table::open_table;
pub use unit::{Reason, Status, Unit, UnitKind};

pub(crate) use frame::has_code;
pub(crate) use names::{full_names, names_for};
pub(crate) use need::opens_with_reference;
pub(crate) use time::mentions_time;

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

//! How good extraction is, measured on passages that people decomposed by hand.
//!
//! A gold statement and a searchable unit match one to one, best first, when the F1 of their words is at least
//! [`MATCH`]. Words are bigrams of ideographs and lowercase Latin words, counted with their repetitions.

mod calibration;
mod extraction;
mod gold;
pub mod metrics;
mod raw;
mod wording;

pub use calibration::{Bin, Calibration, Threshold};
pub use extraction::{Fault, Figures, Report, score};
pub use gold::{GoldPassage, GoldStatement, ResultPassage, ResultUnit, read_gold, read_results};
pub use raw::raw_units;

/// Least F1 of words at which a unit counts as a gold statement.
pub const MATCH: f64 = 0.6;

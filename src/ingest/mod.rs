//! The write path: what changed, extract, gate, embed, build, switch.

mod progress;

pub use progress::{Interrupt, Progress};

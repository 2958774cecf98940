//! The program as a person or a script meets it: the built binary, real files, the real embedder.
//!
//! The embedder is fetched once the way a user does it, into `$MINGTI_MODELS` or the platform's data folder.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod contract;
mod extraction;
mod faults;
mod formats;
mod help;
mod interruption;
mod review;
mod support;
mod tiers;
mod watching;

//! Updates in place: their answers, and what a process that dies in the middle leaves behind.
#![allow(missing_docs, clippy::unwrap_used)]

#[cfg(target_os = "linux")]
mod crashes;
mod damage;
mod patches;
mod support;

//! What reading one file may cost: hostile or broken files must not take the memory or the time of all others.

use std::time::{Duration, Instant};

use crate::error::{Error, Kind, Result};

/// Bounds on reading one file. Readers call `check` in every loop whose length the file decides and
/// `spend` before they unpack anything.
#[derive(Debug, Clone)]
pub struct Budget {
    limit: Duration,
    deadline: Instant,
    /// Bytes that may still be unpacked.
    left: u64,
    all: u64,
    /// Places and bytes that merged and repeated cells may still fill, and whether one was left empty.
    places: usize,
    repeated: usize,
    is_cut: bool,
}

/// Elements that may lie inside each other: tags, tables, lists, objects.
pub(crate) const DEEPEST: usize = 256;

/// Places that merged and repeated cells of one file may fill, and bytes that this may add. Their values stand in every row
/// that they cover, which a small file can ask for without end.
const PLACES: usize = 1 << 18;
const REPEATED: usize = 4 << 20;

impl Budget {
    /// `limit` from now, and `bytes` of unpacked data in all.
    pub fn new(limit: Duration, bytes: u64) -> Self {
        let deadline = Instant::now() + limit;
        Self { limit, deadline, left: bytes, all: bytes, places: PLACES, repeated: REPEATED, is_cut: false }
    }

    /// # Errors
    /// The time is up.
    pub(crate) fn check(&self) -> Result<()> {
        if Instant::now() < self.deadline {
            return Ok(());
        }
        Err(Error::new(Kind::Format, "gave up reading the file")
            .expected(format!("a file that is read within {} s", self.limit.as_secs_f32()))
            .hint("raise the limit with `--time-limit SECONDS`, or split the file"))
    }

    /// Takes `bytes` of unpacked data off the budget.
    ///
    /// # Errors
    /// The file unpacks to more than it may, or the time is up.
    pub(crate) fn spend(&mut self, bytes: u64) -> Result<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => {
                return Err(Error::new(Kind::Format, "the file unpacks to too much data")
                    .expected(format!("at most {} MB", self.all >> 20))
                    .hint("such files are made to exhaust memory; if it is a real document, split it"));
            }
        }
        self.check()
    }

    /// True when a cell may be said in as many further `places`, which adds `bytes` in all. Once it is false, it stays so.
    pub(crate) fn repeat(&mut self, places: usize, bytes: usize) -> bool {
        let (all, bytes) = (self.places.checked_sub(places), self.repeated.checked_sub(bytes));
        match (all, bytes) {
            (Some(all), Some(bytes)) if !self.is_cut => (self.places, self.repeated) = (all, bytes),
            _ => self.is_cut = true,
        }
        !self.is_cut
    }

    /// True when a cell was not repeated.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Bytes that may still be unpacked.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }
}

impl Default for Budget {
    /// A minute and a gigabyte.
    fn default() -> Self {
        Self::new(Duration::from_secs(60), 1 << 30)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_bytes_run_out() {
        let mut budget = Budget::new(Duration::from_secs(60), 100);
        assert!(budget.spend(60).is_ok() && budget.check().is_ok());
        assert!(budget.spend(41).is_err());
        assert!(budget.spend(40).is_ok() && budget.left() == 0);
        assert!(Budget::new(Duration::ZERO, 1).check().is_err());
    }

    #[test]
    fn repetition_ends_for_good() {
        let mut budget = Budget::default();
        assert!(budget.repeat(1000, 1000) && !budget.is_cut());
        assert!(!budget.repeat(1, usize::MAX) && budget.is_cut());
        assert!(!budget.repeat(1, 1));
    }
}

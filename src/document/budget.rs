//! What reading one file may cost: hostile or broken files must not take the memory or the time of all others.

use std::time::{Duration, Instant};

use crate::error::{Error, Kind, Result};

/// Bounds on reading one file. Readers call [`Budget::check`] in every loop whose length the file decides and
/// [`Budget::spend`] before they unpack anything.
#[derive(Debug, Clone)]
pub struct Budget {
    limit: Duration,
    deadline: Instant,
    /// Bytes that may still be unpacked.
    left: u64,
    all: u64,
}

/// Elements that may lie inside each other: tags, tables, lists, objects.
pub(crate) const DEEPEST: usize = 256;

impl Budget {
    /// `limit` from now, and `bytes` of unpacked data in all.
    pub fn new(limit: Duration, bytes: u64) -> Self {
        Self { limit, deadline: Instant::now() + limit, left: bytes, all: bytes }
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
}

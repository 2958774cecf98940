//! How much memory extraction takes, told before anything is loaded.

use std::path::Path;

use crate::error::{Error, Kind, Result};

/// Positions of instructions and section together.
const PREFIX_POSITIONS: u64 = 4096;
/// Positions of a branch: its sentence and what is written for it.
const BRANCH_POSITIONS: u64 = 384;
/// Rows of the longest piece of a prompt that is computed at once.
const ROWS: u64 = 1536;

/// Bytes that a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    /// Packed weights; mapped ones count too, for every token reads them all.
    pub(super) weights: u64,
    /// Keys and values of one position in all layers.
    pub(super) position: u64,
    /// Activations of one row.
    pub(super) row: u64,
    /// Logits of one branch.
    pub(super) logits: u64,
}

impl Needs {
    /// What is needed whatever the number of branches.
    fn fixed(&self) -> u64 {
        self.weights + PREFIX_POSITIONS * self.position + ROWS * self.row
    }

    fn branch(&self) -> u64 {
        BRANCH_POSITIONS * self.position + self.logits
    }

    /// How many of `wanted` branches fit into `available` bytes. Fails, with the figures, where not even one does.
    pub(super) fn admit(&self, available: Option<u64>, wanted: usize, path: &Path) -> Result<usize> {
        let Some(available) = available else { return Ok(wanted) };
        let room = available.saturating_sub(self.fixed()) / self.branch().max(1);
        if room == 0 {
            let gb = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
            let (all, weights) = (self.fixed() + self.branch(), self.weights);
            return Err(Error::new(Kind::Model, "the model does not fit into the memory of this machine")
                .at(path)
                .expected(format!("{} ({} of weights, {} to work with)", gb(all), gb(weights), gb(all - weights)))
                .found(format!("{} available", gb(available)))
                .hint("choose a smaller model with --extractor (`mingti models list`), or free memory"));
        }
        Ok(wanted.min(usize::try_from(room).unwrap_or(usize::MAX)))
    }
}

/// Bytes that a process may take before the machine, or its container, is out of memory; `None` where that cannot be known.
pub(super) fn available() -> Option<u64> {
    if !sysinfo::IS_SUPPORTED_SYSTEM {
        return None;
    }
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let machine = system.available_memory();
    let container = system.cgroup_limits().map_or(machine, |limits| limits.free_memory);
    Some(machine.min(container)).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NEEDS: Needs = Needs { weights: 4_700_000_000, position: 114_688, row: 160_000, logits: 600_000 };

    #[test]
    fn branches_are_admitted_as_memory_allows_and_a_model_without_room_is_refused_with_the_figures() {
        let path = Path::new("model.gguf");
        assert_eq!(NEEDS.admit(None, 32, path).unwrap(), 32);
        assert_eq!(NEEDS.admit(Some(16 << 30), 32, path).unwrap(), 32);
        assert_eq!(NEEDS.admit(Some(NEEDS.fixed() + 5 * NEEDS.branch()), 32, path).unwrap(), 5);
        let error = NEEDS.admit(Some(4 << 30), 32, path).unwrap_err().to_string();
        for part in ["model.gguf", "4.7 GB of weights", "4.3 GB available", "hint:"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn this_machine_has_some_memory() {
        assert!(available().is_none_or(|bytes| bytes > 1 << 20));
    }
}

//! One file a command.

use super::args::Cli;
use super::failure::{Exit, Outcome};

/// Runs the command.
pub(crate) fn run(cli: Cli) -> Outcome {
    let _ = cli;
    Ok(Exit::Failed)
}

//! One file a command.

mod compact;
mod demo;
mod eval;
mod extract;
mod index;
mod load;
mod models;
mod review;
mod search;
mod split;
mod status;
mod verify;

use super::args::{Cli, Command};
use super::failure::Outcome;
use super::settings::Settings;

/// Runs the command.
pub(crate) fn run(cli: Cli) -> Outcome {
    let settings = Settings::load(&cli.global)?;
    match cli.command {
        Command::Demo(args) => demo::run(&settings, &args),
        Command::Index(args) => index::run(&settings, args),
        Command::Search(args) => search::run(&settings, &args),
        Command::Split(args) => split::run(&settings, &args),
        Command::Extract(args) => extract::run(&settings, &args),
        Command::Review(command) => review::run(&settings, command),
        Command::Models(command) => models::run(&settings, command),
        Command::Eval(command) => eval::run(&settings, command),
        Command::Status(args) => status::run(&settings, &args),
        Command::Verify(args) => verify::run(&settings, &args),
        Command::Compact(args) => compact::run(&settings, &args),
    }
}

//! The command line: parses, calls the library's public API, prints, and turns the outcome into an exit status.
//!
//! Data goes to stdout; progress, logs and hints go to stderr.

mod args;
mod commands;
mod demo;
mod failure;
mod interrupt;
mod output;
mod progress;
mod settings;
mod split_args;
mod view;
mod watch;

use std::process::ExitCode;

use clap::Parser;

/// Parses the command line, runs the command, says what went wrong.
pub(crate) fn run() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no failure; a closed pipe while printing them is none either.
            let status = if error.use_stderr() { 2 } else { 0 };
            error.print().ok();
            return ExitCode::from(status);
        }
    };
    log_to_stderr();
    quiet_readers();
    match commands::run(cli) {
        Ok(exit) => ExitCode::from(exit.status()),
        Err(failure) => {
            if !failure.is_closed_pipe() {
                output::report(&failure);
            }
            ExitCode::from(failure.status())
        }
    }
}

/// Warnings of the library and of what `MINGTI_LOG` asks for, such as `debug` or `mingti::index=trace`.
fn log_to_stderr() {
    use std::io::IsTerminal;
    let filter = tracing_subscriber::EnvFilter::try_from_env("MINGTI_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("mingti=warn"));
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour).init();
}

/// A file whose reader panics is told as a file that could not be read; what the reader had to say helps nobody.
fn quiet_readers() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(mingti::document::READER_THREAD) {
            usual(panic);
        }
    }));
}

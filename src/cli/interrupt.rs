//! `Ctrl-C` and `SIGTERM`: the first asks the work to stop and keeps what is finished, the second ends at once.

use mingti::ingest::Interrupt;

use super::failure::{Failure, Outcome};

/// Installs the handler; the returned flag is raised by the first signal.
pub(crate) fn install() -> Outcome<Interrupt> {
    let interrupt = Interrupt::new();
    let flag = interrupt.clone();
    ctrlc::set_handler(move || {
        if flag.is_raised() {
            #[allow(clippy::exit, reason = "the person asked twice; unwinding may be what hangs")]
            std::process::exit(130);
        }
        flag.raise();
        super::output::note("\nstopping; finished work is kept (again to stop at once)");
    })
    .map_err(|error| Failure::plain(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(interrupt)
}

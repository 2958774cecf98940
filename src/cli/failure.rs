//! Why a command ends without its result, and which exit status says so.

use std::fmt;
use std::io;
use std::path::Path;

/// The result of a command's work.
pub(crate) type Outcome<T = Exit> = Result<T, Failure>;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; a search found something.
    Done,
    /// A search found nothing.
    NothingFound,
    /// Part of the work failed; what failed has been named on stderr.
    Failed,
}

impl Exit {
    /// The exit status of the contract.
    pub(crate) fn status(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::NothingFound => 1,
            Exit::Failed => 2,
        }
    }
}

/// What stopped a command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library said no.
    Library(mingti::Error),
    /// What was asked makes no sense, or a file that the command itself reads is faulty.
    Plain {
        /// A lower-case clause.
        what: String,
        /// The way out, if there is one.
        hint: Option<String>,
    },
    /// Standard output could not be written.
    Output(io::Error),
}

impl Failure {
    /// A failure in words.
    pub(crate) fn plain(what: impl Into<String>) -> Self {
        Failure::Plain { what: what.into(), hint: None }
    }

    /// A failure in words with a way out.
    pub(crate) fn hinted(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure::Plain { what: what.into(), hint: Some(hint.into()) }
    }

    /// A file that the command itself reads or writes.
    pub(crate) fn file(what: &str, path: &Path, error: &io::Error) -> Self {
        Failure::plain(format!("{}: {what}: {error}", path.display()))
    }

    /// True when the reader of our output has gone (`| head`): no failure, nothing left to say.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The exit status of the contract.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::Library(error) if error.is_interrupted() => 130,
            failure if failure.is_closed_pipe() => 0,
            _ => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Library(error) => error.fmt(f),
            Failure::Plain { what, hint: Some(hint) } => write!(f, "{what}\nhint: {hint}"),
            Failure::Plain { what, hint: None } => f.write_str(what),
            Failure::Output(error) => write!(f, "cannot write to standard output: {error}"),
        }
    }
}

impl From<mingti::Error> for Failure {
    fn from(error: mingti::Error) -> Self {
        Failure::Library(error)
    }
}

/// Only output is written with `?` on an [`io::Error`]; files go through [`Failure::file`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// `serde_json` writes straight to standard output.
impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Failure::Output(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(failure.is_closed_pipe());
        assert_eq!(failure.status(), 0);
        assert_eq!(Failure::from(io::Error::from(io::ErrorKind::StorageFull)).status(), 2);
    }
}

//! The one error type of the crate.
//!
//! An [`Error`] says what failed, where (a file, a section), what was expected, what was found and, where there is a
//! way out, a hint. Its kinds are private: callers ask through predicates such as [`Error::is_interrupted`], so kinds
//! can be refined without breaking them.

use std::fmt;
use std::path::Path;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

/// What went wrong, coarsely. Private to the crate; tests of kind go through the predicates of [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The operating system refused or failed a file operation.
    Io,
    /// A named thing does not exist: a path, a model, an index.
    Missing,
    /// Input that is not what it claims to be: a wrong magic, undecodable text, invalid JSON.
    Format,
    /// A file of ours, or a pinned model file, whose bytes fail their checks.
    Corrupt,
    /// A file of ours written by a newer version.
    TooNew,
    /// The request contradicts itself or the state of the index.
    Usage,
    /// The model or the device cannot do what is asked.
    Model,
    /// Another process holds the index.
    Busy,
    /// A helper program (pip) or the network failed.
    Network,
    /// The person asked to stop.
    Interrupted,
    /// A defect of ours, reported instead of a panic.
    Internal,
}

/// Any failure of the library. Display it for the person; walk [`std::error::Error::source`] for the cause.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    what: String,
    place: Option<String>,
    expected: Option<String>,
    found: Option<String>,
    hint: Option<String>,
    source: Option<Source>,
}

impl Error {
    /// Starts an error: `what` is a lower-case clause without a full stop, such as `cannot open the index`.
    pub(crate) fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            what: what.into(),
            place: None,
            expected: None,
            found: None,
            hint: None,
            source: None,
        }))
    }

    /// A failed file operation on `path`.
    pub(crate) fn io(what: impl Into<String>, path: &Path, source: std::io::Error) -> Self {
        let kind = if source.kind() == std::io::ErrorKind::NotFound { Kind::Missing } else { Kind::Io };
        let full = source.kind() == std::io::ErrorKind::StorageFull;
        let error = Self::new(kind, what).at(path).because(source);
        if full { error.hint("free some disk space and run the command again; finished work is kept") } else { error }
    }

    /// Names the file that the error is about.
    pub(crate) fn at(mut self, path: &Path) -> Self {
        self.0.place = Some(path.display().to_string());
        self
    }

    /// Names the place in words, such as `models.toml, entry 3` or `manual.md, characters 12..40`.
    pub(crate) fn place(mut self, place: impl Into<String>) -> Self {
        self.0.place = Some(place.into());
        self
    }

    /// What would have been right.
    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.0.expected = Some(expected.into());
        self
    }

    /// What was there instead.
    pub(crate) fn found(mut self, found: impl Into<String>) -> Self {
        self.0.found = Some(found.into());
        self
    }

    /// The way out, in the imperative.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Keeps the underlying error; its text is shown after ours.
    pub(crate) fn because(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// True when the work was stopped on request (`Ctrl-C`); finished work is kept.
    pub fn is_interrupted(&self) -> bool {
        self.0.kind == Kind::Interrupted
    }

    /// True when a named file, model or index does not exist.
    pub fn is_missing(&self) -> bool {
        self.0.kind == Kind::Missing
    }

    /// True when bytes on disk fail their checks.
    pub fn is_corrupt(&self) -> bool {
        self.0.kind == Kind::Corrupt
    }

    /// True when a file was written by a newer version of mingti.
    pub fn is_too_new(&self) -> bool {
        self.0.kind == Kind::TooNew
    }

    /// True when another process is writing to the index.
    pub fn is_busy(&self) -> bool {
        self.0.kind == Kind::Busy
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &*self.0;
        match &e.place {
            Some(place) => write!(f, "{place}: {}", e.what)?,
            None => f.write_str(&e.what)?,
        }
        match (&e.expected, &e.found) {
            (Some(expected), Some(found)) => write!(f, ": expected {expected}, found {found}")?,
            (Some(expected), None) => write!(f, ": expected {expected}")?,
            (None, Some(found)) => write!(f, ": found {found}")?,
            (None, None) => {}
        }
        if let Some(source) = &e.source {
            write!(f, ": {source}")?;
        }
        if let Some(hint) = &e.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:?}] {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_names_place_expectation_finding_and_hint() {
        let error = Error::new(Kind::Format, "not a GGUF file")
            .place("a.gguf")
            .expected("the magic `GGUF`")
            .found("`PK`")
            .hint("import the model again");
        assert_eq!(
            error.to_string(),
            "a.gguf: not a GGUF file: expected the magic `GGUF`, found `PK`\nhint: import the model again"
        );
    }

    #[test]
    fn source_is_kept() {
        let io = std::io::Error::new(std::io::ErrorKind::NotFound, "gone");
        let error = Error::io("cannot read", Path::new("x"), io);
        assert!(error.is_missing());
        assert!(std::error::Error::source(&error).is_some());
    }
}

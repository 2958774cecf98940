//! Patterns over the paths of documents.

use globset::{GlobBuilder, GlobMatcher};

use crate::error::{Error, Kind, Result};

/// A glob over paths in the index: `*` stays inside a name, `**` crosses folders.
#[derive(Debug, Clone)]
pub struct PathPattern(GlobMatcher);

impl PathPattern {
    /// Reads a glob.
    ///
    /// # Errors
    /// `glob` is no pattern.
    pub fn new(glob: &str) -> Result<Self> {
        let built = GlobBuilder::new(glob).literal_separator(true).build();
        built.map(|glob| Self(glob.compile_matcher())).map_err(|error| {
            Error::new(Kind::Usage, "not a path pattern")
                .found(format!("`{glob}`"))
                .because(error)
                .hint("use `*` inside a name, `**` for folders, such as `manual/**/*.md`")
        })
    }

    /// True for a path that the whole pattern fits.
    pub fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_star_stays_inside_a_name() {
        let pattern = PathPattern::new("手册/*.md").unwrap();
        assert!(pattern.matches("手册/a.md") && !pattern.matches("手册/b/a.md"));
        assert!(PathPattern::new("**/*.md").unwrap().matches("手册/b/a.md"));
        assert!(PathPattern::new("[").unwrap_err().to_string().contains("not a path pattern"));
    }
}

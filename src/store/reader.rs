//! The reading side: one snapshot of the store.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::rows::GenerationRow;
use super::schema::{DATABASE_FILE, failed, open_readable};
use super::view::{View, newest_generation};
use crate::error::{Error, Kind, Result};

/// A snapshot of the store. It never changes while it is held, whatever a writer does meanwhile.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
    dir: PathBuf,
    path: PathBuf,
    generation: Option<GenerationRow>,
}

impl Reader {
    /// Opens the index in `dir` and takes the snapshot.
    pub fn open(dir: &Path) -> Result<Self> {
        let connection = open_readable(dir)?;
        let path = dir.join(DATABASE_FILE);
        // A deferred transaction takes its snapshot with the first read, which is that of the generation.
        let taken = connection.execute_batch("BEGIN DEFERRED").and_then(|()| newest_generation(&connection));
        let generation = taken.map_err(failed("cannot read the index", &path))?;
        Ok(Self { connection, dir: dir.to_owned(), path, generation })
    }

    /// The index folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The published generation, if any.
    pub fn generation(&self) -> Option<&GenerationRow> {
        self.generation.as_ref()
    }

    /// The published generation, or an error that says how to get one.
    pub fn require_generation(&self) -> Result<&GenerationRow> {
        self.generation.as_ref().ok_or_else(|| {
            Error::new(Kind::Missing, "the index is not finished")
                .at(&self.dir)
                .hint("run the same `mingti index` command again; it continues where it was stopped")
        })
    }

    /// The rows of the published generation; none when nothing is published.
    pub fn view(&self) -> View<'_> {
        let generation = self.generation.as_ref().map_or(0, |generation| generation.number);
        View { connection: &self.connection, path: &self.path, generation }
    }

    /// The newest committed rows, published or not: what an interrupted run has done so far.
    pub fn working_view(&self) -> View<'_> {
        View { generation: self.view().generation + 1, ..self.view() }
    }

    /// Lets SQLite check every page and index of the database.
    pub fn integrity(&self) -> Result<()> {
        let fail = failed("cannot check the index", &self.path);
        let mut statement = self.connection.prepare("PRAGMA integrity_check(20)").map_err(&fail)?;
        let lines = statement.query_map([], |row| row.get::<_, String>(0)).map_err(&fail)?;
        let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>().map_err(&fail)?;
        if lines.iter().any(|line| line != "ok") {
            return Err(Error::new(Kind::Corrupt, "the database is damaged").at(&self.path).found(lines.join("; ")));
        }
        Ok(())
    }
}

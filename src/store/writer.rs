//! The writing side: one process at a time, every step a transaction.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::generation_dir;
use super::migrate::insert_entities;
use super::rows::{
    DocumentRow, GenerationRow, NewDocument, NewSection, Replaced, SectionDone, document_id, section_id,
};
use super::schema::{BUSY_TIMEOUT, DATABASE_FILE, failed, lock, open_writable};
use super::seal::seal;
use super::view::{DOCUMENT_COLUMNS, View, document_row, newest_generation, to_word, unpublished};
use crate::error::{Error, Kind, Result};
use crate::proposition::unit_keys;

/// The one writer of an index. It works on the next generation, which readers see when it is published.
#[derive(Debug)]
pub struct Writer {
    connection: Connection,
    dir: PathBuf,
    path: PathBuf,
    /// Number of the generation that is being made.
    next: u64,
    /// Held, and so locked, as long as the writer lives.
    _lock: File,
}

impl Writer {
    /// Opens the index in `dir` for writing; makes folder and tables when they are missing. Fails at once when another
    /// process writes.
    pub fn open_or_create(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir).map_err(|error| Error::io("cannot make the index folder", dir, error))?;
        let lock = lock(dir)?;
        let connection = open_writable(dir)?;
        let path = dir.join(DATABASE_FILE);
        let newest = newest_generation(&connection).map_err(failed("cannot read the index", &path))?;
        let next = newest.map_or(1, |generation| generation.number + 1);
        let writer = Self { connection, dir: dir.to_owned(), path, next, _lock: lock };
        writer.remove_stale_folders();
        Ok(writer)
    }

    /// The index folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Number of the generation that the next [`publish`](Self::publish) makes.
    pub fn next_generation(&self) -> u64 {
        self.next
    }

    /// The published generation, if any.
    pub fn generation(&self) -> Result<Option<GenerationRow>> {
        newest_generation(&self.connection).map_err(failed("cannot read the index", &self.path))
    }

    /// True when rows are committed that the published generation does not hold, be it by an interrupted run.
    pub fn has_unpublished(&self) -> Result<bool> {
        unpublished(&self.connection).map_err(failed("cannot read the index", &self.path))
    }

    /// The rows of the generation that is being made.
    pub fn view(&self) -> View<'_> {
        View { connection: &self.connection, path: &self.path, generation: self.next }
    }

    /// Adds a document or puts a new version in the place of the one with the same path, in one transaction. A section
    /// whose stable identifier and input hash are those of a finished section of the version before takes over its
    /// units; the others wait for extraction. A soft-deleted document comes back in the same way.
    pub fn replace_document(&mut self, document: &NewDocument<'_>, sections: &[NewSection<'_>]) -> Result<Replaced> {
        let path = self.path.clone();
        let fail = failed("cannot write a document to the index", &path);
        let next = self.next;
        let transaction = self.connection.transaction().map_err(&fail)?;
        let result = replace(&transaction, document, sections, next).map_err(&fail)?;
        transaction.commit().map_err(&fail)?;
        Ok(result)
    }

    /// Records that a document is unchanged but was named through another root.
    pub fn set_root(&mut self, document: i64, root: &str) -> Result<()> {
        self.connection
            .execute("UPDATE document SET root = ?2 WHERE row = ?1", params![document, root])
            .map_err(failed("cannot write a document to the index", &self.path))?;
        Ok(())
    }

    /// Commits finished sections with their units, in one transaction. Units that a section had are replaced.
    pub fn commit_sections(&mut self, done: &[SectionDone<'_>]) -> Result<()> {
        let path = self.path.clone();
        let fail = failed("cannot write a section to the index", &path);
        let transaction = self.connection.transaction().map_err(&fail)?;
        for section in done {
            commit_section(&transaction, section).map_err(&fail)?;
        }
        transaction.commit().map_err(&fail)
    }

    /// Soft-deletes documents: the next generation does not hold them, their rows stay so that nothing has to be
    /// extracted again when they come back. Returns how many were there to delete.
    pub fn delete_documents(&mut self, rows: &[i64]) -> Result<usize> {
        let path = self.path.clone();
        let fail = failed("cannot delete a document from the index", &path);
        let mut deleted = 0;
        let transaction = self.connection.transaction().map_err(&fail)?;
        for row in rows {
            deleted += transaction
                .execute(
                    "UPDATE document SET died = ?2, deleted = 1 WHERE row = ?1 AND died IS NULL",
                    params![row, self.next as i64],
                )
                .map_err(&fail)?;
        }
        transaction.commit().map_err(&fail)?;
        Ok(deleted)
    }

    /// Makes the generation with this writer's number the one that is searched, in one transaction. Its folder must be
    /// complete and synced. Rows and folders that only older generations used are removed.
    pub fn publish(&mut self, generation: &GenerationRow) -> Result<()> {
        let path = self.path.clone();
        let fail = failed("cannot publish the new generation", &path);
        if generation.number != self.next {
            return Err(Error::new(Kind::Internal, "wrong number of a generation")
                .expected(self.next.to_string())
                .found(generation.number.to_string()));
        }
        let waiting = self.view().pending()?.len();
        if waiting > 0 {
            return Err(Error::new(Kind::Internal, "a generation cannot be published with unfinished sections")
                .at(&self.dir)
                .found(format!("{waiting} unfinished sections")));
        }
        let transaction = self.connection.transaction().map_err(&fail)?;
        transaction
            .execute(
                "INSERT INTO generation VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    generation.number as i64,
                    generation.vectors as i64,
                    generation.dimension as i64,
                    generation.unit,
                    generation.embedder,
                    generation.embedder_name,
                    generation.created as i64
                ],
            )
            .map_err(&fail)?;
        transaction.execute("DELETE FROM generation WHERE number < ?1", params![self.next as i64]).map_err(&fail)?;
        transaction
            .execute("DELETE FROM document WHERE died <= ?1 AND deleted = 0", params![self.next as i64])
            .map_err(&fail)?;
        transaction.commit().map_err(&fail)?;
        self.next += 1;
        self.empty_log();
        self.remove_stale_folders();
        Ok(())
    }

    /// Keeps a setting with the index.
    pub fn set_meta(&mut self, key: &str, value: &str) -> Result<()> {
        self.connection
            .execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", params![key, value])
            .map_err(failed("cannot write a setting to the index", &self.path))?;
        Ok(())
    }

    /// Moves the write-ahead log into the database, so that the index can be copied and read from read-only media. Best
    /// effort, without waiting: a reader that holds its snapshot puts it off until next time.
    pub(super) fn empty_log(&self) {
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        let _ = self.connection.busy_timeout(BUSY_TIMEOUT);
    }

    /// Removes folders of generations that are not published, left by a killed run or by a reader that still had them
    /// open when they were replaced. What cannot be removed now is tried again next time.
    fn remove_stale_folders(&self) {
        let published = generation_dir(&self.dir, self.next - 1);
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with("gen-") && entry.path() != published {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// The work of [`Writer::replace_document`] inside a transaction, for generation `next`.
pub(super) fn replace(
    transaction: &Transaction<'_>,
    document: &NewDocument<'_>,
    sections: &[NewSection<'_>],
    next: u64,
) -> rusqlite::Result<Replaced> {
    let next = next as i64;
    let before = last_version(transaction, document.path)?;
    if let Some(before) = before {
        transaction.execute(
            "UPDATE document SET died = coalesce(died, ?2), deleted = 0 WHERE row = ?1",
            params![before, next],
        )?;
    }
    let row = insert_document(transaction, document, next)?;
    let mut result = Replaced { document: row, kept: 0, pending: 0 };
    insert_sections(transaction, document.path, sections, before, &mut result)?;
    // A version that no generation ever held is of no use to any reader.
    transaction.execute("DELETE FROM document WHERE born = ?1 AND died = ?1", params![next])?;
    Ok(result)
}

/// The row of the live version of a document or, failing that, of the newest soft-deleted one.
fn last_version(transaction: &Transaction<'_>, path: &str) -> rusqlite::Result<Option<i64>> {
    transaction
        .query_row(
            &format!(
                "SELECT {DOCUMENT_COLUMNS} FROM document WHERE path = ?1 AND (died IS NULL OR deleted) \
                 ORDER BY died IS NOT NULL, died DESC, row DESC LIMIT 1"
            ),
            params![path],
            document_row,
        )
        .optional()
        .map(|found: Option<DocumentRow>| found.map(|document| document.row))
}

fn insert_document(transaction: &Transaction<'_>, document: &NewDocument<'_>, born: i64) -> rusqlite::Result<i64> {
    transaction
        .prepare_cached(
            "INSERT INTO document (id, path, root, title, content_hash, encoding, format, chars, born, date, pages) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .insert(params![
            document_id(document.path),
            document.path,
            document.root,
            document.title,
            document.content_hash,
            document.encoding,
            document.format,
            document.chars as i64,
            born,
            document.date.map(|date| date.to_string()),
            document.pages
        ])
}

fn insert_sections(
    transaction: &Transaction<'_>,
    path: &str,
    sections: &[NewSection<'_>],
    before: Option<i64>,
    result: &mut Replaced,
) -> rusqlite::Result<()> {
    let mut known: HashMap<(String, [u8; 32]), (i64, bool)> = HashMap::new();
    if let Some(before) = before {
        let mut statement =
            transaction.prepare_cached("SELECT id, input_hash, row, done FROM section WHERE document = ?1")?;
        let mut rows = statement.query(params![before])?;
        while let Some(row) = rows.next()? {
            known.insert((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?));
        }
    }
    let mut occurrences: HashMap<String, usize> = HashMap::new();
    let mut insert = transaction.prepare_cached(
        "INSERT INTO section (id, document, ordinal, start, stop, heading_path, text, input_hash, done, context) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    let mut copy_units = transaction.prepare_cached(
        "INSERT INTO unit (section, ordinal, key, statement, kind, status, confidence, evidence, antecedents, \
         entities, reasons) SELECT ?2, ordinal, key, statement, kind, status, confidence, evidence, antecedents, \
         entities, reasons FROM unit WHERE section = ?1 ORDER BY ordinal",
    )?;
    let mut copy_entities = transaction.prepare_cached(
        "INSERT INTO entity (unit, key) SELECT new.row, e.key FROM unit old \
         JOIN unit new ON new.section = ?2 AND new.ordinal = old.ordinal JOIN entity e ON e.unit = old.row \
         WHERE old.section = ?1",
    )?;
    let mut copy_recipe = transaction.prepare_cached(
        "UPDATE section SET (made_as, extraction, review_below) = \
         (SELECT made_as, extraction, review_below FROM section WHERE row = ?1) WHERE row = ?2",
    )?;
    let mut copy_ledger = transaction.prepare_cached(
        "UPDATE section SET (uncovered, ledger, seal) = (SELECT uncovered, ledger, seal FROM section WHERE row = ?1) \
         WHERE row = ?2",
    )?;
    for (ordinal, section) in sections.iter().enumerate() {
        let first = section_id(path, section.heading_path, section.text, 0);
        let occurrence = occurrences.entry(first.clone()).or_insert(0);
        let id = match *occurrence {
            0 => first,
            n => section_id(path, section.heading_path, section.text, n),
        };
        *occurrence += 1;
        let source = known.get(&(id.clone(), section.input_hash)).copied();
        let done = source.is_some_and(|(_, done)| done);
        let headings = serde_json::to_string(section.heading_path).unwrap_or_default();
        let row = insert.insert(params![
            id,
            result.document,
            ordinal as i64,
            section.span.start as i64,
            section.span.end as i64,
            headings,
            section.text,
            section.input_hash,
            done,
            section.context
        ])?;
        if let Some((source, _)) = source {
            copy_recipe.execute(params![source, row])?;
        }
        match source {
            Some((source, true)) => {
                copy_units.execute(params![source, row])?;
                copy_entities.execute(params![source, row])?;
                copy_ledger.execute(params![source, row])?;
                result.kept += 1;
            }
            _ => result.pending += 1,
        }
    }
    Ok(())
}

fn commit_section(transaction: &Transaction<'_>, done: &SectionDone<'_>) -> rusqlite::Result<()> {
    let json = |value: serde_json::Result<String>| {
        value.map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    };
    transaction.prepare_cached("DELETE FROM unit WHERE section = ?1")?.execute(params![done.section])?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO unit (section, ordinal, key, statement, kind, status, confidence, evidence, antecedents, \
         entities, reasons) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    let made;
    let keys = match done.keys.len() == done.units.len() {
        true => done.keys,
        false => {
            made = unit_keys(done.units);
            &made
        }
    };
    for (ordinal, (unit, key)) in done.units.iter().zip(keys).enumerate() {
        let row = insert.insert(params![
            done.section,
            ordinal as i64,
            key,
            unit.statement,
            to_word(&unit.kind),
            to_word(&unit.status),
            // NaN would be NULL to SQLite.
            f64::from(unit.confidence.clamp(0.0, 1.0).max(0.0)),
            json(serde_json::to_string(&unit.evidence))?,
            json(serde_json::to_string(&unit.antecedents))?,
            json(serde_json::to_string(&unit.entities))?,
            json(serde_json::to_string(&unit.reasons))?
        ])?;
        insert_entities(transaction, row, &unit.entities)?;
    }
    let recipe = &done.recipe;
    transaction
        .prepare_cached(
            "UPDATE section SET done = 1, uncovered = ?2, ledger = ?3, made_as = ?4, extraction = ?5, \
             review_below = ?6 WHERE row = ?1",
        )?
        .execute(params![
            done.section,
            json(serde_json::to_string(done.uncovered))?,
            done.ledger,
            to_word(&recipe.unit),
            recipe.extraction,
            f64::from(recipe.review_below)
        ])?;
    let hash = seal(transaction, done.section)?;
    transaction.prepare_cached("UPDATE section SET seal = ?2 WHERE row = ?1")?.execute(params![done.section, hash])?;
    Ok(())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

//! Hashes over stored rows, so that a damaged page of the database is an error and never a wrong answer: SQLite checks the structure
//! of its pages, not what they say.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{SectionRow, section_id};
use super::view::View;
use crate::error::{Error, Kind, Result};

/// What a unit says, in the order that is hashed.
const UNITS: &str = "SELECT ordinal, key, statement, kind, status, confidence, evidence, antecedents, entities, reasons FROM unit \
     WHERE section = ?1 ORDER BY ordinal";

/// 63 bits of a BLAKE3 hash over the units of a section.
pub(super) fn seal(connection: &Connection, section: i64) -> rusqlite::Result<i64> {
    let mut hasher = blake3::Hasher::new();
    let mut statement = connection.prepare_cached(UNITS)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params![section])?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            let mut add = |tag: u8, bytes: &[u8]| {
                hasher.update(&[tag]);
                hasher.update(&(bytes.len() as u64).to_le_bytes());
                hasher.update(bytes);
            };
            match row.get_ref(column)? {
                ValueRef::Null => add(0, &[]),
                ValueRef::Integer(value) => add(1, &value.to_le_bytes()),
                ValueRef::Real(value) => add(2, &value.to_bits().to_le_bytes()),
                ValueRef::Text(bytes) => add(3, bytes),
                ValueRef::Blob(bytes) => add(4, bytes),
            }
        }
    }
    let mut word = [0; 8];
    word.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    Ok(i64::from_le_bytes(word) & i64::MAX)
}

impl View<'_> {
    /// Checks that a section of the document at `path` and its units are what was written.
    ///
    /// # Errors
    /// They are not. Sections that an older version wrote have no hash of their units.
    pub fn check_section(&self, path: &str, section: &SectionRow) -> Result<()> {
        let damaged = |found: &str| {
            let (start, end) = (section.span.start, section.span.end);
            Err(Error::new(Kind::Corrupt, "a section of the index is damaged")
                .at(self.path)
                .expected("what was written when it was indexed")
                .found(format!("{path}, characters {start}..{end}: {found}"))
                .hint("move the index folder away and index again"))
        };
        let same = |occurrence: usize| section_id(path, &section.heading_path, &section.text, occurrence) == section.id;
        if section.text.chars().count() != section.span.len() {
            return damaged("a text of another length");
        }
        if !(0..=section.ordinal).any(same) {
            return damaged("another text, heading or identifier");
        }
        let stored: Option<Option<i64>> = self
            .connection
            .prepare_cached("SELECT seal FROM section WHERE row = ?1")
            .and_then(|mut statement| statement.query_row(params![section.row], |row| row.get(0)).optional())
            .map_err(self.fail())?;
        match stored.flatten() {
            Some(stored) if stored != seal(self.connection, section.row).map_err(self.fail())? => {
                damaged("other statements")
            }
            _ => Ok(()),
        }
    }
}

//! Reading rows as one generation sees them.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::rows::{
    Counts, DocumentRow, GenerationRow, Recipe, SearchableUnit, SectionRow, SectionState, UnitCount, UnitRow,
};
use super::schema::failed;
use crate::document::{Date, Span};
use crate::error::{Error, Kind, Result};
use crate::proposition::{Status, Unit, UnitKind, entity_key};

pub(super) const DOCUMENT_COLUMNS: &str =
    "row, id, path, root, title, content_hash, encoding, format, chars, deleted, date, pages";
const SECTION_COLUMNS: &str = "row, id, document, ordinal, start, stop, heading_path, text, input_hash, done, uncovered, ledger, \
     made_as, extraction, review_below, context";
const UNIT_COLUMNS: &str = "u.row, s.id || '.' || u.key, u.section, u.ordinal, u.statement, u.kind, u.status, \
     u.confidence, u.evidence, u.antecedents, u.entities, u.reasons, s.start, u.key";
/// `?1` is the number of the generation that looks.
pub(super) const VISIBLE: &str = "born <= ?1 AND (died IS NULL OR died > ?1)";

/// The rows that belong to one generation.
#[derive(Debug, Clone, Copy)]
pub struct View<'c> {
    pub(super) connection: &'c Connection,
    pub(super) path: &'c Path,
    pub(super) generation: u64,
}

impl<'c> View<'c> {
    pub(super) fn fail(&self) -> impl Fn(rusqlite::Error) -> Error {
        failed("cannot read the index", self.path)
    }

    /// The generation that looks: the published one for a reader, the next one for the writer.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// All documents in order of their paths.
    pub fn documents(&self) -> Result<Vec<DocumentRow>> {
        self.collect(
            &format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE {VISIBLE} ORDER BY path"),
            params![self.generation as i64],
            document_row,
        )
    }

    /// The documents that the generation before did not have as they are, in order of their paths.
    pub fn documents_that_came(&self) -> Result<Vec<DocumentRow>> {
        self.collect(
            &format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE {VISIBLE} AND born = ?1 ORDER BY path"),
            params![self.generation as i64],
            document_row,
        )
    }

    /// The documents that only the generation before had as they are.
    pub fn documents_that_went(&self) -> Result<Vec<DocumentRow>> {
        self.collect(
            &format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE died = ?1 AND born < ?1 ORDER BY path"),
            params![self.generation as i64],
            document_row,
        )
    }

    /// The document with this path.
    pub fn document_by_path(&self, path: &str) -> Result<Option<DocumentRow>> {
        self.one(
            &format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE {VISIBLE} AND path = ?2"),
            params![self.generation as i64, path],
            document_row,
        )
    }

    /// The document in this row.
    pub fn document(&self, row: i64) -> Result<DocumentRow> {
        let found =
            self.one(&format!("SELECT {DOCUMENT_COLUMNS} FROM document WHERE row = ?1"), params![row], document_row)?;
        found.ok_or_else(|| self.dangling("document", row))
    }

    /// The sections of a document in order; their texts put together are the document's text.
    pub fn sections(&self, document: i64) -> Result<Vec<SectionRow>> {
        self.collect(
            &format!("SELECT {SECTION_COLUMNS} FROM section WHERE document = ?1 ORDER BY ordinal"),
            params![document],
            section_row,
        )
    }

    /// The section in this row.
    pub fn section(&self, row: i64) -> Result<SectionRow> {
        let found =
            self.one(&format!("SELECT {SECTION_COLUMNS} FROM section WHERE row = ?1"), params![row], section_row)?;
        found.ok_or_else(|| self.dangling("section", row))
    }

    /// The section with this identifier.
    pub fn section_by_id(&self, id: &str) -> Result<Option<SectionRow>> {
        self.one(
            &format!(
                "SELECT {SECTION_COLUMNS} FROM section WHERE id = ?2 \
                 AND document IN (SELECT row FROM document WHERE {VISIBLE})"
            ),
            params![self.generation as i64, id],
            section_row,
        )
    }

    /// The section at place `ordinal` of a document.
    pub fn section_at(&self, document: i64, ordinal: usize) -> Result<Option<SectionRow>> {
        self.one(
            &format!("SELECT {SECTION_COLUMNS} FROM section WHERE document = ?1 AND ordinal = ?2"),
            params![document, ordinal as i64],
            section_row,
        )
    }

    /// The decoded text of a document.
    pub fn text(&self, document: i64) -> Result<String> {
        let parts =
            self.collect("SELECT text FROM section WHERE document = ?1 ORDER BY ordinal", params![document], |row| {
                row.get::<_, String>(0)
            })?;
        Ok(parts.concat())
    }

    /// The unit in this row.
    pub fn unit(&self, row: i64) -> Result<UnitRow> {
        let found = self.one(
            &format!("SELECT {UNIT_COLUMNS} FROM unit u JOIN section s ON s.row = u.section WHERE u.row = ?1"),
            params![row],
            unit_row,
        )?;
        found.ok_or_else(|| self.dangling("unit", row))
    }

    /// The unit with this identifier.
    pub fn unit_by_id(&self, id: &str) -> Result<Option<UnitRow>> {
        let Some((section, key)) = id.rsplit_once('.') else { return Ok(None) };
        let Some(section) = self.section_by_id(section)? else { return Ok(None) };
        Ok(self.units(section.row)?.into_iter().find(|unit| unit.key == key))
    }

    /// Rows of the searchable units that carry every one of these entities, compared by
    /// [`entity_key`](crate::proposition::entity_key), each with the row of its section. None when no name is given.
    pub fn units_with_entities(&self, names: &[String]) -> Result<Vec<(i64, i64)>> {
        let mut keys: Vec<String> = names.iter().map(|name| entity_key(name)).collect();
        keys.sort();
        keys.dedup();
        let Some(first) = keys.first() else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT u.row, u.section FROM entity e JOIN unit u ON u.row = e.unit JOIN section s ON s.row = u.section \
             WHERE e.key = ?2 AND u.status <> 'rejected' \
             AND s.document IN (SELECT row FROM document WHERE {VISIBLE})"
        );
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let mut found: Vec<(i64, i64)> = self.collect(&sql, params![self.generation as i64, first], row)?;
        for key in &keys[1..] {
            let with: HashSet<(i64, i64)> =
                self.collect(&sql, params![self.generation as i64, key], row)?.into_iter().collect();
            found.retain(|pair| with.contains(pair));
        }
        Ok(found)
    }

    /// The units of a section in order, rejected ones too.
    pub fn units(&self, section: i64) -> Result<Vec<UnitRow>> {
        self.collect(
            &format!(
                "SELECT {UNIT_COLUMNS} FROM unit u JOIN section s ON s.row = u.section \
                 WHERE u.section = ?1 ORDER BY u.ordinal"
            ),
            params![section],
            unit_row,
        )
    }

    /// Row numbers of the sections that wait for extraction, in order of path and place.
    pub fn pending(&self) -> Result<Vec<i64>> {
        self.collect(
            &format!(
                "SELECT s.row FROM section s JOIN (SELECT row, path FROM document WHERE {VISIBLE}) d \
                 ON d.row = s.document WHERE s.done = 0 ORDER BY d.path, s.ordinal"
            ),
            params![self.generation as i64],
            |row| row.get(0),
        )
    }

    /// Calls `each` with every section and its document, in order of path and place.
    pub fn for_each_section(&self, each: impl FnMut(&DocumentRow, &SectionRow) -> Result<()>) -> Result<()> {
        self.for_each_section_of(&self.documents()?, each)
    }

    /// The same for the sections of `documents`.
    pub fn for_each_section_of(
        &self,
        documents: &[DocumentRow],
        mut each: impl FnMut(&DocumentRow, &SectionRow) -> Result<()>,
    ) -> Result<()> {
        for document in documents {
            for section in self.sections(document.row)? {
                each(document, &section)?;
            }
        }
        Ok(())
    }

    /// Calls `each` with every searchable unit in order of path, place of the section and place of the unit. That order
    /// numbers the vectors.
    pub fn for_each_unit(&self, each: impl FnMut(SearchableUnit<'_>) -> Result<()>) -> Result<()> {
        self.for_each_unit_of(&self.documents()?, each)
    }

    /// The same for the units of `documents`.
    pub fn for_each_unit_of(
        &self,
        documents: &[DocumentRow],
        mut each: impl FnMut(SearchableUnit<'_>) -> Result<()>,
    ) -> Result<()> {
        let sql = "SELECT u.row, s.row, s.heading_path, u.statement, u.kind, u.status \
             FROM section s JOIN unit u ON u.section = s.row \
             WHERE s.document = ?1 AND u.status <> 'rejected' ORDER BY s.ordinal, u.ordinal";
        let mut statement = self.connection.prepare_cached(sql).map_err(self.fail())?;
        for document in documents {
            let mut rows = statement.query(params![document.row]).map_err(self.fail())?;
            let mut headings: (i64, Vec<String>) = (-1, Vec::new());
            while let Some(row) = rows.next().map_err(self.fail())? {
                let section: i64 = row.get(1).map_err(self.fail())?;
                if headings.0 != section {
                    headings = (section, json(row, 2).map_err(self.fail())?);
                }
                let text: String = row.get(3).map_err(self.fail())?;
                each(SearchableUnit {
                    unit: row.get(0).map_err(self.fail())?,
                    section,
                    document: document.row,
                    statement: &text,
                    kind: word(row, 4).map_err(self.fail())?,
                    status: word(row, 5).map_err(self.fail())?,
                    title: &document.title,
                    heading_path: &headings.1,
                })?;
            }
        }
        Ok(())
    }

    /// What these rows amount to.
    pub fn counts(&self) -> Result<Counts> {
        let at = params![self.generation as i64];
        let number = |sql: &str, with_view: bool| -> Result<usize> {
            let value = if with_view {
                self.connection.query_row(sql, at, |row| row.get::<_, i64>(0))
            } else {
                self.connection.query_row(sql, [], |row| row.get::<_, i64>(0))
            };
            Ok(value.map_err(self.fail())?.max(0) as usize)
        };
        let visible = format!("(SELECT row FROM document WHERE {VISIBLE})");
        let mut units = self.collect(
            &format!(
                "SELECT u.kind, u.status, count(*) FROM unit u JOIN section s ON s.row = u.section \
                 WHERE s.document IN {visible} GROUP BY u.kind, u.status"
            ),
            at,
            |row| Ok(UnitCount { unit: word(row, 0)?, status: word(row, 1)?, count: row.get::<_, i64>(2)? as usize }),
        )?;
        units.sort_by_key(|count| (count.unit as u8, count.status as u8));
        Ok(Counts {
            documents: number(&format!("SELECT count(*) FROM document WHERE {VISIBLE}"), true)?,
            deleted_documents: number("SELECT count(*) FROM document WHERE deleted", false)?,
            chars: number(&format!("SELECT coalesce(sum(chars), 0) FROM document WHERE {VISIBLE}"), true)?,
            sections: number(&format!("SELECT count(*) FROM section WHERE document IN {visible}"), true)?,
            pending_sections: number(
                &format!("SELECT count(*) FROM section WHERE done = 0 AND document IN {visible}"),
                true,
            )?,
            uncovered_sections: number(
                &format!("SELECT count(*) FROM section WHERE uncovered <> '[]' AND document IN {visible}"),
                true,
            )?,
            units,
            cached_extractions: number("SELECT count(*) FROM extraction_cache", false)?,
            cached_embeddings: number("SELECT count(*) FROM embedding_cache", false)?,
            unpublished: unpublished(self.connection).map_err(self.fail())?,
        })
    }

    /// A setting kept with the index.
    pub fn meta(&self, key: &str) -> Result<Option<String>> {
        self.one("SELECT value FROM meta WHERE key = ?1", params![key], |row| row.get(0))
    }

    /// Bytes of the extraction cache.
    pub fn extraction_bytes(&self) -> Result<u64> {
        let sum = "SELECT coalesce(sum(octet_length(output)), 0) FROM extraction_cache";
        let bytes: Option<i64> = self.one(sum, params![], |row| row.get(0))?;
        Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0))
    }

    fn dangling(&self, what: &str, row: i64) -> Error {
        Error::new(Kind::Corrupt, format!("the index points to {what} {row}, which does not exist"))
            .at(self.path)
            .hint("run `mingti index` again")
    }

    pub(super) fn collect<T>(
        &self,
        sql: &str,
        params: &[&dyn rusqlite::ToSql],
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(self.fail())?;
        let rows = statement.query_map(params, map).map_err(self.fail())?;
        rows.collect::<rusqlite::Result<Vec<T>>>().map_err(self.fail())
    }

    pub(super) fn one<T>(
        &self,
        sql: &str,
        params: &[&dyn rusqlite::ToSql],
        map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(self.fail())?;
        statement.query_row(params, map).optional().map_err(self.fail())
    }
}

/// The newest published generation.
pub(super) fn newest_generation(connection: &Connection) -> rusqlite::Result<Option<GenerationRow>> {
    connection
        .query_row(
            "SELECT number, vectors, dimension, unit, embedder, embedder_name, created FROM generation \
             ORDER BY number DESC LIMIT 1",
            [],
            |row| {
                Ok(GenerationRow {
                    number: size(row, 0)? as u64,
                    vectors: size(row, 1)?,
                    dimension: size(row, 2)?,
                    unit: row.get(3)?,
                    embedder: row.get(4)?,
                    embedder_name: row.get(5)?,
                    created: size(row, 6)? as u64,
                })
            },
        )
        .optional()
}

/// True when a document came or went since the newest generation.
pub(super) fn unpublished(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM document WHERE born > g OR died > g) \
         FROM (SELECT coalesce(max(number), 0) AS g FROM generation)",
        [],
        |row| row.get(0),
    )
}

/// A value of one of our enums as the word that serde writes.
pub(super) fn to_word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn bad(column: usize, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
}

pub(super) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let word: String = row.get(column)?;
    serde_json::from_value(serde_json::Value::String(word)).map_err(|error| bad(column, error))
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| bad(column, error))
}

pub(super) fn size(row: &Row<'_>, column: usize) -> rusqlite::Result<usize> {
    usize::try_from(row.get::<_, i64>(column)?).map_err(|error| bad(column, error))
}

fn spans(row: &Row<'_>, column: usize, start: usize) -> rusqlite::Result<Vec<Span>> {
    let spans: Vec<Span> = json(row, column)?;
    if spans.iter().any(|span| span.end > u32::MAX as usize) {
        return Err(bad(column, "range out of bounds"));
    }
    Ok(spans.into_iter().map(|span| span.shifted(start)).collect())
}

fn date(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Date>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| text.parse().map_err(|error: Error| bad(column, error.to_string()))).transpose()
}

pub(super) fn document_row(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    Ok(DocumentRow {
        row: row.get(0)?,
        id: row.get(1)?,
        path: row.get(2)?,
        root: row.get(3)?,
        title: row.get(4)?,
        content_hash: row.get(5)?,
        encoding: row.get(6)?,
        format: row.get(7)?,
        chars: size(row, 8)?,
        deleted: row.get(9)?,
        date: date(row, 10)?,
        pages: row.get(11)?,
    })
}

fn section_row(row: &Row<'_>) -> rusqlite::Result<SectionRow> {
    let start = size(row, 4)?;
    let done: bool = row.get(9)?;
    Ok(SectionRow {
        row: row.get(0)?,
        id: row.get(1)?,
        document: row.get(2)?,
        ordinal: size(row, 3)?,
        span: Span::new(start, size(row, 5)?),
        heading_path: json(row, 6)?,
        text: row.get(7)?,
        input_hash: row.get(8)?,
        state: if done { SectionState::Done } else { SectionState::Pending },
        uncovered: spans(row, 10, start)?,
        ledger: row.get(11)?,
        recipe: match row.get::<_, Option<f64>>(14)? {
            Some(below) => Some(Recipe { unit: word(row, 12)?, extraction: row.get(13)?, review_below: below as f32 }),
            None => None,
        },
        context: row.get(15)?,
    })
}

fn unit_row(row: &Row<'_>) -> rusqlite::Result<UnitRow> {
    let start = size(row, 12)?;
    let (kind, status): (UnitKind, Status) = (word(row, 5)?, word(row, 6)?);
    Ok(UnitRow {
        row: row.get(0)?,
        id: row.get(1)?,
        key: row.get(13)?,
        section: row.get(2)?,
        ordinal: size(row, 3)?,
        unit: Unit {
            statement: row.get(4)?,
            kind,
            status,
            confidence: row.get::<_, f64>(7)? as f32,
            evidence: spans(row, 8, start)?,
            antecedents: spans(row, 9, start)?,
            entities: json(row, 10)?,
            reasons: json(row, 11)?,
        },
    })
}

//! Bringing the tables of an older version up to date, one step a version, all in one transaction.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::view::{json, word};
use crate::document::Span;
use crate::proposition::{Status, Unit, entity_key, unit_keys};

type Step = fn(&Transaction<'_>) -> rusqlite::Result<()>;

/// `STEPS[i]` makes version `i + 2` of version `i + 1`. A new database runs them all.
pub(super) const STEPS: &[Step] = &[keys_entities_and_decisions, dates_and_contexts, seals, pages];

/// Runs the steps that the database lacks.
pub(super) fn upgrade(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    run(&transaction, version)?;
    transaction.commit()
}

/// Runs the steps after `version` inside a transaction and sets the version that they make.
pub(super) fn run(transaction: &Transaction<'_>, version: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(version - 1).unwrap_or(0);
    for step in STEPS.iter().skip(done) {
        step(transaction)?;
    }
    transaction.pragma_update(None, "user_version", super::schema::SCHEMA_VERSION)
}

/// Version 5: where the pages of a document begin, as JSON. Documents that are there are text and have none.
fn pages(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch("ALTER TABLE document ADD COLUMN pages TEXT NOT NULL DEFAULT '[]';")
}

/// Version 4: a hash over the units of a section. Sections that are there get theirs when they are written again.
fn seals(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch("ALTER TABLE section ADD COLUMN seal INTEGER;")
}

/// Version 2: units are named by their content, entities can be looked up, and people's decisions are kept.
fn keys_entities_and_decisions(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "ALTER TABLE section ADD COLUMN made_as TEXT;
         ALTER TABLE section ADD COLUMN extraction BLOB;
         ALTER TABLE section ADD COLUMN review_below REAL;
         CREATE INDEX section_id ON section (id);
         ALTER TABLE unit ADD COLUMN key TEXT NOT NULL DEFAULT '';
         CREATE TABLE entity (
             unit INTEGER NOT NULL REFERENCES unit (row) ON DELETE CASCADE,
             key TEXT NOT NULL,
             PRIMARY KEY (unit, key)
         ) STRICT, WITHOUT ROWID;
         CREATE INDEX entity_key ON entity (key);
         CREATE TABLE decision (
             section BLOB NOT NULL,
             unit TEXT NOT NULL,
             verdict TEXT NOT NULL,
             statement TEXT NOT NULL,
             original TEXT NOT NULL,
             start INTEGER NOT NULL,
             stop INTEGER NOT NULL,
             path TEXT NOT NULL,
             heading_path TEXT NOT NULL,
             made INTEGER NOT NULL,
             PRIMARY KEY (section, unit)
         ) STRICT, WITHOUT ROWID;",
    )?;
    let mut sections = transaction.prepare("SELECT row FROM section")?;
    let sections = sections.query_map([], |row| row.get::<_, i64>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut select =
        transaction.prepare("SELECT row, statement, kind, entities FROM unit WHERE section = ?1 ORDER BY ordinal")?;
    let mut name = transaction.prepare("UPDATE unit SET key = ?2 WHERE row = ?1")?;
    for section in sections {
        let mut rows = Vec::new();
        let mut units = Vec::new();
        let mut found = select.query(params![section])?;
        while let Some(row) = found.next()? {
            rows.push(row.get::<_, i64>(0)?);
            let mut unit = Unit::verbatim(word(row, 2)?, row.get::<_, String>(1)?, Span::new(0, 0));
            (unit.entities, unit.status) = (json(row, 3)?, Status::Accepted);
            units.push(unit);
        }
        for ((row, unit), key) in rows.iter().zip(&units).zip(unit_keys(&units)) {
            name.execute(params![row, key])?;
            insert_entities(transaction, *row, &unit.entities)?;
        }
    }
    Ok(())
}

/// Version 3: documents have a date, sections know what they are told of the rest of their document.
fn dates_and_contexts(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "ALTER TABLE document ADD COLUMN date TEXT;
         ALTER TABLE section ADD COLUMN context TEXT NOT NULL DEFAULT '';",
    )
}

/// Makes the entities of a unit known to look-ups.
pub(super) fn insert_entities(transaction: &Transaction<'_>, unit: i64, entities: &[String]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached("INSERT OR IGNORE INTO entity (unit, key) VALUES (?1, ?2)")?;
    for key in entities.iter().map(|entity| entity_key(entity)).filter(|key| !key.is_empty()) {
        insert.execute(params![unit, key])?;
    }
    Ok(())
}

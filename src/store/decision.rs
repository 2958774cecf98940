//! What people decided about units, kept by the headings and text of the section: a decision survives indexing again,
//! renaming and moving, and holds for every section that says the same under the same headings. When the text changes the
//! decision stays, without effect, and is told as such.

use std::collections::{HashMap, HashSet};

use rusqlite::{Row, params};

use super::cache::CacheKey;
use super::rows::{DocumentRow, SectionRow, SectionState, UnitRow};
use super::schema::failed;
use super::view::{View, json, to_word, word};
use super::writer::{Writer, replace};
use crate::document::{PathPattern, Span};
use crate::error::{Error, Kind, Result};
use crate::proposition::{Decision, Status};

/// A decision with what it was made about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRow {
    /// [`section_key`] of the section.
    pub section: CacheKey,
    /// The decision.
    pub decision: Decision,
    /// The unit's statement before the first decision.
    pub original: String,
    /// Path of the document it was made in.
    pub path: String,
    /// Headings above the section, outermost first.
    pub heading_path: Vec<String>,
    /// Seconds since 1970 when it was made.
    pub made: u64,
}

/// What decisions about a section are kept by: its headings and its text.
pub fn section_key(heading_path: &[String], text: &str) -> CacheKey {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"mingti reviewed section 1");
    for part in heading_path.iter().map(String::as_str).chain([text]) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Which units to go through.
#[derive(Debug, Clone, Default)]
pub struct ReviewFilter {
    /// Only documents whose path matches.
    pub path: Option<PathPattern>,
    /// Only the section with this identifier.
    pub section: Option<String>,
    /// Decided units too, and not only those that wait.
    pub decided: bool,
}

/// A unit that waits for a person or had one decide.
#[derive(Debug, Clone)]
pub struct ReviewItem {
    /// Its document.
    pub document: DocumentRow,
    /// Its section.
    pub section: SectionRow,
    /// The unit as it is now.
    pub unit: UnitRow,
    /// The decision, if there is one.
    pub decision: Option<DecisionRow>,
}

const COLUMNS: &str = "section, unit, verdict, statement, original, start, stop, path, heading_path, made";

fn decision_row(row: &Row<'_>) -> rusqlite::Result<DecisionRow> {
    let place = |column| row.get::<_, u32>(column).map(|at| at as usize);
    let (start, stop) = (place(5)?, place(6)?);
    Ok(DecisionRow {
        section: row.get(0)?,
        decision: Decision {
            unit: row.get(1)?,
            verdict: word(row, 2)?,
            statement: row.get(3)?,
            place: Span::new(start.min(stop), stop),
        },
        original: row.get(4)?,
        path: row.get(7)?,
        heading_path: json(row, 8)?,
        made: row.get::<_, i64>(9)?.max(0) as u64,
    })
}

impl View<'_> {
    /// The decisions about a section, in order of the units' keys.
    pub fn decisions_about(&self, section: &CacheKey) -> Result<Vec<DecisionRow>> {
        let sql = format!("SELECT {COLUMNS} FROM decision WHERE section = ?1 ORDER BY unit");
        self.collect(&sql, params![section], decision_row)
    }

    /// All decisions.
    pub fn decisions(&self) -> Result<Vec<DecisionRow>> {
        let sql = format!("SELECT {COLUMNS} FROM decision ORDER BY path, made, section, unit");
        self.collect(&sql, &[], decision_row)
    }

    /// Calls `each` with the units that wait for review and, if asked for, those that were decided about, in order of path and
    /// place.
    pub fn for_each_review(
        &self,
        filter: &ReviewFilter,
        mut each: impl FnMut(&ReviewItem) -> Result<()>,
    ) -> Result<()> {
        let decisions: HashMap<(CacheKey, String), DecisionRow> = self
            .decisions()?
            .into_iter()
            .map(|decision| ((decision.section, decision.decision.unit.clone()), decision))
            .collect();
        let about: HashSet<CacheKey> = decisions.keys().map(|(section, _)| *section).collect();
        let only = match &filter.section {
            Some(id) => match self.section_by_id(id)? {
                Some(section) => Some(section),
                None => return Err(unknown_section(id)),
            },
            None => None,
        };
        let waiting: HashSet<i64> = self
            .collect("SELECT DISTINCT section FROM unit WHERE status = 'review'", &[], |row| row.get::<_, i64>(0))?
            .into_iter()
            .collect();
        for document in self.documents()? {
            let wanted = filter.path.as_ref().is_none_or(|path| path.matches(&document.path));
            if !wanted || only.as_ref().is_some_and(|section| section.document != document.row) {
                continue;
            }
            for section in self.sections(document.row)? {
                if only.as_ref().is_some_and(|only| only.row != section.row) {
                    continue;
                }
                let key = section_key(&section.heading_path, &section.text);
                let decided = filter.decided && about.contains(&key);
                if !decided && !waiting.contains(&section.row) {
                    continue;
                }
                for unit in self.units(section.row)? {
                    let decision = decisions.get(&(key, unit.key.clone())).cloned();
                    if unit.unit.status == Status::Review || (filter.decided && decision.is_some()) {
                        let (document, section) = (document.clone(), section.clone());
                        each(&ReviewItem { document, section, unit, decision })?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Decisions that hold for no unit of the index, in order of path: the text of their section has changed, or went.
    pub fn stale_decisions(&self) -> Result<Vec<DecisionRow>> {
        let mut decisions = self.decisions()?;
        if decisions.is_empty() {
            return Ok(decisions);
        }
        let about: HashSet<CacheKey> = decisions.iter().map(|decision| decision.section).collect();
        let mut held: HashSet<(CacheKey, String)> = HashSet::new();
        self.for_each_section(|_, section| {
            let key = section_key(&section.heading_path, &section.text);
            if about.contains(&key) {
                // What a waiting section will hold is not known yet.
                match section.state {
                    SectionState::Done => held.extend(self.units(section.row)?.into_iter().map(|unit| (key, unit.key))),
                    SectionState::Pending => held
                        .extend(decisions.iter().filter(|d| d.section == key).map(|d| (key, d.decision.unit.clone()))),
                }
            }
            Ok(())
        })?;
        decisions.retain(|decision| !held.contains(&(decision.section, decision.decision.unit.clone())));
        Ok(decisions)
    }
}

fn unknown_section(id: &str) -> Error {
    Error::new(Kind::Missing, "no section has this identifier")
        .place(id)
        .hint("`mingti search --json` and `mingti review list --json` tell identifiers")
}

impl Writer {
    /// Keeps decisions, in the place of earlier ones about the same units, and puts the sections they are about back among those
    /// that wait, so that their units are made again: all in one transaction. Returns how many sections wait because of it.
    pub fn decide(&mut self, decisions: &[DecisionRow], sections: &[(&[String], &str)]) -> Result<usize> {
        let path = self.path().to_owned();
        let fail = failed("cannot keep a decision in the index", &path);
        let next = self.next_generation();
        let transaction = self.connection_mut().transaction().map_err(&fail)?;
        for row in decisions {
            let decision = &row.decision;
            let headings = serde_json::to_string(&row.heading_path).unwrap_or_default();
            transaction
                .prepare_cached(&format!(
                    "INSERT OR REPLACE INTO decision ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
                ))
                .and_then(|mut insert| {
                    insert.execute(params![
                        row.section,
                        decision.unit,
                        to_word(&decision.verdict),
                        decision.statement,
                        row.original,
                        decision.place.start as i64,
                        decision.place.end as i64,
                        row.path,
                        headings,
                        row.made as i64
                    ])
                })
                .map_err(&fail)?;
        }
        let mut documents: HashSet<i64> = HashSet::new();
        let mut waiting = 0;
        for (heading_path, text) in sections {
            let headings = serde_json::to_string(heading_path).unwrap_or_default();
            // Versions that are deleted or published are marked too: their units are not taken over any more. Whoever reads
            // the published generation does not look at the mark.
            let mut mark = transaction
                .prepare_cached(
                    "UPDATE section SET done = 0 WHERE text = ?1 AND heading_path = ?2 \
                     AND made_as = 'proposition' \
                     AND document IN (SELECT row FROM document WHERE died IS NULL OR deleted) RETURNING document",
                )
                .map_err(&fail)?;
            let rows = mark.query_map(params![text, headings], |row| row.get::<_, i64>(0)).map_err(&fail)?;
            for document in rows {
                documents.insert(document.map_err(&fail)?);
            }
        }
        let view = View { connection: &transaction, path: &path, generation: next };
        let mut live: Vec<DocumentRow> = view.documents()?.into_iter().filter(|d| documents.contains(&d.row)).collect();
        live.sort_by_key(|document| document.row);
        for document in &live {
            let sections = view.sections(document.row)?;
            let sections: Vec<_> = sections.iter().map(SectionRow::as_new).collect();
            waiting += replace(&transaction, &document.as_new(), &sections, next).map_err(&fail)?.pending;
        }
        transaction.commit().map_err(&fail)?;
        Ok(waiting)
    }
}

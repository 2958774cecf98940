//! Hashing installed models again.

use std::fs;

use serde::Serialize;

use super::checksum;
use super::store::{ModelStore, restore_hint};
use crate::error::{Error, Kind, Result};

/// What became of one file of an installed model.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyReport {
    /// Identifier of the model.
    pub id: String,
    /// Name of the file in the model's folder.
    pub file: String,
    /// True when size and hash are what they were at installation (for the manifest's models: what the manifest pins).
    pub ok: bool,
    /// What is wrong, with what was expected and found; empty when nothing is.
    pub problem: String,
    /// How to mend it; empty when nothing is wrong.
    pub hint: String,
}

impl ModelStore {
    /// Hashes every file of the model `id`, or of all installed models, again.
    ///
    /// # Errors
    /// When the model is not installed, or the work was stopped. Damaged files are reports, not errors.
    pub fn verify(&self, id: Option<&str>, stop: &dyn Fn() -> bool) -> Result<Vec<VerifyReport>> {
        let ids = match id {
            Some(id) => {
                if !self.installed_ids()?.iter().any(|installed| installed == id) {
                    return Err(Error::new(Kind::Missing, format!("the model {id} is not on this machine"))
                        .hint("`mingti models list` shows what is there"));
                }
                vec![id.to_owned()]
            }
            None => self.installed_ids()?,
        };
        let mut reports = Vec::new();
        for id in ids {
            self.verify_one(&id, stop, &mut reports)?;
        }
        Ok(reports)
    }

    fn verify_one(&self, id: &str, stop: &dyn Fn() -> bool, reports: &mut Vec<VerifyReport>) -> Result<()> {
        let hint = restore_hint(id)?;
        let report = |file: &str, problem: Option<String>| VerifyReport {
            id: id.to_owned(),
            file: file.to_owned(),
            ok: problem.is_none(),
            hint: if problem.is_some() { hint.clone() } else { String::new() },
            problem: problem.unwrap_or_default(),
        };
        let record = match self.record(id) {
            Ok(record) => record,
            Err(e) => {
                reports.push(report(super::store::RECORD, Some(e.to_string())));
                return Ok(());
            }
        };
        let pinned = super::Manifest::builtin()?.get(id);
        for file in &record.files {
            // The record lies beside the file and could have been changed with it; the manifest could not.
            let pin = pinned.and_then(|entry| entry.files.iter().find(|pin| pin.name == file.name)).unwrap_or(file);
            let path = self.folder(id).join(&file.name);
            let size = fs::metadata(&path).map(|metadata| metadata.len());
            let problem = match size {
                Err(e) => Some(format!("cannot be read: {e}")),
                Ok(size) if size != pin.size => Some(format!("expected {} bytes, found {size} bytes", pin.size)),
                Ok(_) => match checksum::of_file(&path, stop) {
                    Err(e) if e.is_interrupted() => return Err(e),
                    Err(e) => Some(e.to_string()),
                    Ok((_, hash)) if hash != pin.sha256 => {
                        Some(format!("the content changed: expected SHA-256 {}, found {hash}", pin.sha256))
                    }
                    Ok(_) => None,
                },
            };
            reports.push(report(&file.name, problem));
        }
        Ok(())
    }
}

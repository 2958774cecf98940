//! Taking in a model from the disk: checked, hashed, and put into a folder of its own.

use std::fs::{self, File};
use std::path::Path;

use super::checksum;
use super::gguf::GgufFile;
use super::inspect::{Inspected, inspect};
use super::install::remove_folder;
use super::manifest::{Entry, FilePin, Manifest};
use super::pull::record_of;
use super::store::{ModelInfo, ModelStore, Record, is_gguf_name, is_id};
use super::tokenizer::{self, TextTokenizer};
use crate::error::{Error, Kind, Result};

impl ModelStore {
    /// Takes in `path`: a GGUF file, a folder with one GGUF file, or a Hugging Face folder. The model gets `id`, or
    /// the id of the manifest's model with the same weights, or one made from its name. A file on the same disk is
    /// linked, not copied.
    ///
    /// # Errors
    /// When `path` is no model this program can run, is cut off, or the id belongs to other weights.
    pub fn import(&self, path: &Path, id: Option<&str>, stop: &dyn Fn() -> bool) -> Result<ModelInfo> {
        let inspected = inspect(path)?;
        check_tokenizer(&inspected)?;
        let (_, main_hash) = checksum::of_file(&inspected.main, stop)?;
        let manifest = Manifest::builtin()?;
        let id = match id {
            Some(id) if is_id(id) => id.to_owned(),
            Some(id) => {
                return Err(Error::new(Kind::Usage, "bad model id")
                    .expected("lower-case letters, digits, `.`, `_` and `-`")
                    .found(format!("`{id}`")));
            }
            None => match manifest.models().iter().find(|e| e.main_file().is_some_and(|f| f.sha256 == main_hash)) {
                Some(entry) => entry.id.clone(),
                None => id_from_name(path)?,
            },
        };
        let entry = manifest.get(&id);
        self.refuse_other_weights(&id, entry, &main_hash)?;

        let _lock = self.lock(&id)?;
        let staging = self.staging(&format!("import-{id}"));
        remove_folder(&staging)?;
        let copied = self.stage(&inspected, entry, &staging, stop);
        let record = match copied {
            Ok(files) => build_record(&id, entry, &inspected, files)?,
            Err(e) => {
                remove_folder(&staging)?;
                return Err(e);
            }
        };
        self.install(&staging, &record)?;
        Ok(self.describe(&record))
    }

    fn refuse_other_weights(&self, id: &str, entry: Option<&Entry>, hash: &str) -> Result<()> {
        let pinned = entry.and_then(Entry::main_file).map(|file| file.sha256.clone());
        let installed = self.record(id).ok().and_then(|record| record.main_checksum().map(str::to_owned));
        match pinned.or(installed) {
            Some(expected) if expected != hash => {
                Err(Error::new(Kind::Usage, format!("the id {id} belongs to a model with other weights"))
                    .expected(format!("SHA-256 {expected}"))
                    .found(hash)
                    .hint("name another id with --id NAME"))
            }
            _ => Ok(()),
        }
    }

    /// Links or copies the files into `staging`.
    fn stage(
        &self,
        inspected: &Inspected,
        entry: Option<&Entry>,
        staging: &Path,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<FilePin>> {
        let source = inspected.main.parent().unwrap_or(Path::new("."));
        let mut files = Vec::new();
        for (index, name) in inspected.files.iter().enumerate() {
            // The manifest's model keeps the manifest's name for its weights.
            let target_name = match entry {
                Some(entry) if index == 0 => entry.main.clone(),
                _ => name.clone(),
            };
            let target = staging.join(&target_name);
            if let Some(folder) = target.parent() {
                fs::create_dir_all(folder).map_err(|e| Error::io("cannot create the folder", folder, e))?;
            }
            let (size, sha256) = link_or_copy(&source.join(name), &target, stop)?;
            if let Some(pin) = entry.and_then(|entry| entry.files.iter().find(|pin| pin.name == target_name))
                && pin.sha256 != sha256
            {
                return Err(Error::new(Kind::Corrupt, "the file is not what the manifest pins")
                    .at(&source.join(name))
                    .expected(format!("SHA-256 {}", pin.sha256))
                    .found(sha256)
                    .hint("name another id with --id NAME, or import the file alone"));
            }
            files.push(FilePin { name: target_name, size, sha256 });
        }
        Ok(files)
    }
}

fn build_record(id: &str, entry: Option<&Entry>, inspected: &Inspected, files: Vec<FilePin>) -> Result<Record> {
    if let Some(entry) = entry {
        return Ok(Record { files, ..record_of(entry) });
    }
    let main = files.first().map(|file| file.name.clone());
    Ok(Record {
        version: 1,
        id: id.to_owned(),
        role: inspected.role,
        architecture: inspected.architecture.clone(),
        licence: String::new(),
        main: main.ok_or_else(|| Error::new(Kind::Internal, "a model without files"))?,
        query_prefix: inspected.query_prefix.clone(),
        passage_prefix: inspected.passage_prefix.clone(),
        files,
    })
}

/// A model whose tokenizer cannot be built is of no use; say so now, not at the first run.
fn check_tokenizer(inspected: &Inspected) -> Result<()> {
    if is_gguf_name(&inspected.main) {
        TextTokenizer::of_gguf(&GgufFile::open(&inspected.main)?)?;
    } else {
        tokenizer::from_json(&inspected.main.with_file_name("tokenizer.json"))?;
    }
    Ok(())
}

fn link_or_copy(from: &Path, to: &Path, stop: &dyn Fn() -> bool) -> Result<(u64, String)> {
    // A link to the real file, not to a symbolic link such as those in download caches.
    let from = fs::canonicalize(from).map_err(|e| Error::io("cannot open the file", from, e))?;
    if fs::hard_link(&from, to).is_ok() {
        return checksum::of_file(to, stop);
    }
    let mut source = File::open(&from).map_err(|e| Error::io("cannot open the file", &from, e))?;
    let mut target = File::create(to).map_err(|e| Error::io("cannot write the file", to, e))?;
    checksum::copy(&mut source, &mut target, u64::MAX, stop, &mut |_| {}).map_err(|e| e.at(to))
}

/// An id from a file's stem or a folder's name.
fn id_from_name(path: &Path) -> Result<String> {
    let path = fs::canonicalize(path).map_err(|e| Error::io("cannot open the model", path, e))?;
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    let name = name.map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let id: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let id = id.trim_matches(['.', '-']).to_owned();
    if is_id(&id) && id.bytes().any(|b| b.is_ascii_alphanumeric()) {
        return Ok(id);
    }
    Err(Error::new(Kind::Usage, "cannot make an id from the model's name").at(&path).hint("name one with --id NAME"))
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;

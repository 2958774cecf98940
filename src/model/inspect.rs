//! What a model file or folder from outside is: architecture, role, files, prefixes.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::gguf::GgufFile;
use super::manifest::Role;
use super::safetensors::SafetensorsFile;
use super::store::is_gguf_name;
use crate::error::{Error, Kind, Result};

/// Decoder models the extractor can run.
const DECODERS: &[&str] = &["qwen2", "llama"];
/// Encoder models the embedder can run.
const ENCODERS: &[&str] = &["bert", "roberta", "xlm-roberta"];

/// A model file or folder that was looked at.
#[derive(Debug)]
pub(super) struct Inspected {
    pub(super) role: Role,
    pub(super) architecture: String,
    pub(super) main: PathBuf,
    /// Paths relative to the folder of `main`, with `/`; `main` first.
    pub(super) files: Vec<String>,
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
}

/// Opens `path`, a GGUF file, a folder with one GGUF file, or a Hugging Face folder with `model.safetensors`.
pub(super) fn inspect(path: &Path) -> Result<Inspected> {
    let metadata = fs::metadata(path).map_err(|e| Error::io("cannot open the model", path, e))?;
    if !metadata.is_dir() {
        return inspect_gguf(path);
    }
    if path.join("model.safetensors").is_file() {
        return inspect_folder(path);
    }
    let mut ggufs = Vec::new();
    let entries = fs::read_dir(path).map_err(|e| Error::io("cannot read the folder", path, e))?;
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("cannot read the folder", path, e))?;
        if is_gguf_name(&entry.path()) {
            ggufs.push(entry.path());
        }
    }
    match ggufs.as_slice() {
        [one] => inspect_gguf(one),
        [] => Err(Error::new(Kind::Format, "the folder holds no model")
            .at(path)
            .expected("model.safetensors with config.json, or one GGUF file")),
        several => Err(Error::new(Kind::Usage, "the folder holds several models")
            .at(path)
            .expected("one GGUF file")
            .found(several.len().to_string())
            .hint("name the file itself")),
    }
}

fn role_of(architecture: &str, path: &Path) -> Result<Role> {
    if DECODERS.contains(&architecture) {
        Ok(Role::Extractor)
    } else if ENCODERS.contains(&architecture) {
        Ok(Role::Embedder)
    } else {
        Err(Error::new(Kind::Model, "unsupported model architecture")
            .at(path)
            .expected(format!("one of {}, {}", DECODERS.join(", "), ENCODERS.join(", ")))
            .found(format!("`{architecture}`")))
    }
}

fn inspect_gguf(path: &Path) -> Result<Inspected> {
    let gguf = GgufFile::open(path)?;
    let role = role_of(gguf.architecture(), path)?;
    let mut files = vec![file_name(path)?];
    if path.with_file_name("tokenizer.json").is_file() {
        files.push("tokenizer.json".into());
    }
    let (query_prefix, passage_prefix) = match role {
        Role::Embedder => {
            let name = gguf.meta_str("general.name").unwrap_or_default().to_owned();
            e5_prefixes(&[&name, &file_name(path)?])
        }
        Role::Extractor => Default::default(),
    };
    let architecture = gguf.architecture().to_owned();
    Ok(Inspected { role, architecture, main: path.to_path_buf(), files, query_prefix, passage_prefix })
}

fn inspect_folder(folder: &Path) -> Result<Inspected> {
    let config = read_json(&folder.join("config.json"))?;
    let architecture = config.get("model_type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let role = role_of(&architecture, folder)?;
    if role == Role::Extractor {
        return Err(Error::new(Kind::Model, "a language model must be one GGUF file").at(folder));
    }
    if !folder.join("tokenizer.json").is_file() {
        return Err(Error::new(Kind::Missing, "the model folder has no tokenizer.json").at(folder));
    }
    let main = folder.join("model.safetensors");
    // Opening checks that the header is sound and that the tensors lie within the file.
    SafetensorsFile::open(&main)?;

    let mut files: Vec<String> = vec!["model.safetensors".into(), "config.json".into(), "tokenizer.json".into()];
    let optional =
        ["modules.json", "sentence_bert_config.json", "config_sentence_transformers.json", "LICENSE", "NOTICE"];
    files.extend(optional.iter().filter(|name| folder.join(name).is_file()).map(|name| (*name).to_owned()));
    let pooling = pooling_folder(folder);
    if folder.join(&pooling).join("config.json").is_file() {
        files.push(format!("{pooling}/config.json"));
    }
    let (query_prefix, passage_prefix) = prompts(folder).unwrap_or_else(|| {
        let name = config.get("_name_or_path").and_then(Value::as_str).unwrap_or_default().to_owned();
        let folder = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        e5_prefixes(&[&name, &folder])
    });
    Ok(Inspected { role, architecture, main, files, query_prefix, passage_prefix })
}

/// The sub-folder with the pooling settings of a sentence-transformers folder.
pub(crate) fn pooling_folder(folder: &Path) -> String {
    let named = read_json(&folder.join("modules.json")).ok().and_then(|modules| {
        let pooling = modules
            .as_array()?
            .iter()
            .find(|module| module.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with(".Pooling")))?;
        pooling.get("path")?.as_str().map(str::to_owned)
    });
    // A name that would lead out of the folder is not followed.
    named.filter(|name| super::store::is_id(&name.to_ascii_lowercase())).unwrap_or_else(|| "1_Pooling".into())
}

/// Prompts for queries and passages in `config_sentence_transformers.json`.
fn prompts(folder: &Path) -> Option<(String, String)> {
    let config = read_json(&folder.join("config_sentence_transformers.json")).ok()?;
    let prompts = config.get("prompts")?.as_object()?;
    let of = |names: &[&str]| names.iter().find_map(|name| prompts.get(*name)?.as_str()).unwrap_or_default().to_owned();
    let found = (of(&["query"]), of(&["passage", "document"]));
    (found != Default::default()).then_some(found)
}

/// The prefixes that the E5 family was trained with, when one of `names` names it.
fn e5_prefixes(names: &[&str]) -> (String, String) {
    let is_e5 = names.iter().any(|name| {
        let name = name.to_ascii_lowercase();
        name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "e5") && !name.contains("instruct")
    });
    if is_e5 { ("query: ".into(), "passage: ".into()) } else { Default::default() }
}

/// Reads a JSON file.
pub(crate) fn read_json(path: &Path) -> Result<Value> {
    let bytes = fs::read(path).map_err(|e| Error::io("cannot read the model's settings", path, e))?;
    serde_json::from_slice(&bytes)
        .map_err(|e| Error::new(Kind::Format, "cannot read the model's settings").at(path).because(e))
}

fn file_name(path: &Path) -> Result<String> {
    path.file_name()
        .and_then(|name| name.to_str())
        .map(str::to_owned)
        .ok_or_else(|| Error::new(Kind::Usage, "the file name is not UTF-8").at(path))
}

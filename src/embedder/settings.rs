//! What a model's own files say about how it is run: sizes, pooling, the longest text.

use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::bert::{Activation, BertConfig};
use crate::error::{Error, Kind, Result};
use crate::model::{GgufFile, pooling_folder, read_json};

/// How token states become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// Mean over all tokens, special tokens included.
    Mean,
    /// State of the first token.
    Cls,
}

impl fmt::Display for Pooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
        })
    }
}

/// Settings of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) bert: BertConfig,
    pub(super) pooling: Pooling,
    /// Tokens of the longest text, special tokens included.
    pub(super) max_tokens: usize,
}

fn unsupported(what: &str, expected: &str, found: impl Into<String>) -> Error {
    Error::new(Kind::Model, format!("unsupported {what}")).expected(expected).found(found)
}

/// Settings in the metadata of a GGUF file, under the keys of llama.cpp.
pub(super) fn from_gguf(file: &GgufFile) -> Result<Settings> {
    read_gguf(file).map_err(|e| e.at(file.path()))
}

fn read_gguf(file: &GgufFile) -> Result<Settings> {
    let architecture = file.architecture();
    if architecture != "bert" {
        return Err(unsupported("embedder architecture", "bert", architecture));
    }
    let number = |key: &str| {
        let key = format!("bert.{key}");
        file.meta_u32(&key)
            .map(|n| n as usize)
            .ok_or_else(|| Error::new(Kind::Model, format!("the model file does not say `{key}`")))
    };
    let pooling = match file.meta_u32("bert.pooling_type") {
        // Files without the key come from models whose folder had no pooling settings; the mean is their default.
        None | Some(1) => Pooling::Mean,
        Some(2) => Pooling::Cls,
        Some(other) => return Err(unsupported("pooling", "1 (mean) or 2 (cls)", other.to_string())),
    };
    if file.meta_bool("bert.attention.causal") == Some(true) {
        return Err(unsupported("attention", "attention in both directions", "causal attention"));
    }
    let positions = file.tensor("position_embd.weight")?.shape.first().copied().unwrap_or(0);
    let bert = BertConfig {
        hidden: number("embedding_length")?,
        layers: number("block_count")?,
        heads: number("attention.head_count")?,
        feed_forward: number("feed_forward_length")?,
        epsilon: file.meta_f32("bert.attention.layer_norm_epsilon").unwrap_or(1e-12),
        positions,
        // Converters drop the unused first rows of RoBERTa tables.
        first_position: 0,
        activation: Activation::Gelu,
    };
    let max_tokens = number("context_length")?.min(positions);
    Ok(Settings { bert, pooling, max_tokens })
}

/// Settings in a Hugging Face folder, with those of sentence-transformers where they exist.
pub(super) fn from_folder(folder: &Path) -> Result<Settings> {
    read_folder(folder).map_err(|e| e.at(&folder.join("config.json")))
}

fn read_folder(folder: &Path) -> Result<Settings> {
    let config = read_json(&folder.join("config.json"))?;
    let number = |key: &str| {
        config
            .get(key)
            .and_then(Value::as_u64)
            .and_then(|n| usize::try_from(n).ok())
            .ok_or_else(|| Error::new(Kind::Model, format!("the model's settings do not say `{key}`")))
    };
    let kind = config.get("model_type").and_then(Value::as_str).unwrap_or_default();
    let first_position = match kind {
        "bert" => 0,
        "roberta" | "xlm-roberta" => number("pad_token_id")? + 1,
        other => return Err(unsupported("embedder architecture", "bert, roberta or xlm-roberta", other)),
    };
    if let Some(other) = config.get("position_embedding_type").and_then(Value::as_str).filter(|t| *t != "absolute") {
        return Err(unsupported("position embedding", "absolute", other));
    }
    let activation = match config.get("hidden_act").and_then(Value::as_str) {
        None | Some("gelu") => Activation::Gelu,
        Some("gelu_new" | "gelu_pytorch_tanh") => Activation::GeluTanh,
        Some("relu") => Activation::Relu,
        Some(other) => return Err(unsupported("activation", "gelu, gelu_new or relu", other)),
    };
    let positions = number("max_position_embeddings")?;
    let bert = BertConfig {
        hidden: number("hidden_size")?,
        layers: number("num_hidden_layers")?,
        heads: number("num_attention_heads")?,
        feed_forward: number("intermediate_size")?,
        epsilon: config.get("layer_norm_eps").and_then(Value::as_f64).unwrap_or(1e-12) as f32,
        positions,
        first_position,
        activation,
    };
    let table = positions.saturating_sub(first_position);
    let max_tokens = read_json(&folder.join("sentence_bert_config.json"))
        .ok()
        .and_then(|settings| settings.get("max_seq_length")?.as_u64())
        .and_then(|n| usize::try_from(n).ok())
        .map_or(table, |n| n.min(table));
    Ok(Settings { bert, pooling: pooling(folder)?, max_tokens })
}

/// The mode in the folder's pooling settings; the mean when there are none, as sentence-transformers does.
fn pooling(folder: &Path) -> Result<Pooling> {
    let path = folder.join(pooling_folder(folder)).join("config.json");
    if !path.is_file() {
        return Ok(Pooling::Mean);
    }
    let settings = read_json(&path)?;
    let modes: Vec<&str> = settings
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| key.starts_with("pooling_mode_") && value.as_bool() == Some(true))
        .map(|(key, _)| key.as_str())
        .collect();
    match modes.as_slice() {
        [] | ["pooling_mode_mean_tokens"] => Ok(Pooling::Mean),
        ["pooling_mode_cls_token"] => Ok(Pooling::Cls),
        other => Err(unsupported("pooling", "mean tokens or the cls token", other.join(", "))),
    }
}

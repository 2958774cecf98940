//! What an embedder computes from its files once a machine: packed matrices and the table of a large vocabulary.

use std::fs;
use std::time::UNIX_EPOCH;

use super::bert::BertConfig;
use super::packed_bert::Matrix;
use super::weights::Weights;
use crate::compute::PackedMatrix;
use crate::error::Result;
use crate::model::{
    BlockFile, DiskCache, GgufFile, Made, ModelFiles, TextTokenizer, VOCABULARY_VERSION, tokenizer as tokenizers,
};

/// Name of the block of the vocabulary.
const VOCABULARY: &str = "vocabulary";

/// The file of what was computed before, made here if need be; `None` where it cannot be kept.
pub(super) fn open(cache: &DiskCache, files: &ModelFiles, config: &BertConfig, weights: &Weights) -> Option<BlockFile> {
    let matrices = Matrix::all(config);
    let gguf = match weights {
        Weights::Gguf(file) if tokenizers::is_unigram(file) => Some(file),
        _ => None,
    };
    let table = || gguf.map(|gguf| tokenizers::vocabulary_table(gguf)).transpose();
    let blocks = || {
        let matrix = |matrix: &Matrix| Ok((matrix.name(), matrix.packed_len(weights)?));
        let mut blocks = matrices.iter().map(matrix).collect::<Result<Vec<(String, usize)>>>()?;
        blocks.extend(table()?.map(|table| (VOCABULARY.to_owned(), table.as_ref().len())));
        Ok(blocks)
    };
    let make = |number: usize| -> Result<Made> {
        Ok(match (matrices.get(number), table) {
            (Some(matrix), _) => Box::new(matrix.pack(weights)?),
            (None, table) => match table()? {
                Some(table) => Box::new(table),
                None => Box::new(Vec::new()),
            },
        })
    };
    let opened = BlockFile::open_or_make(cache, &key(files), blocks, make);
    if let Err(error) = &opened {
        tracing::debug!(%error, "what is computed from the embedding model is not kept");
    }
    opened.ok()
}

/// The tokenizer of `file`, over the table in `kept` if it is there.
pub(super) fn tokenizer(file: &GgufFile, kept: Option<&BlockFile>) -> Result<TextTokenizer> {
    TextTokenizer::of_gguf_with(file, kept.and_then(|kept| kept.block(VOCABULARY)))
}

/// Identifies the model's file and how the blocks are made.
fn key(files: &ModelFiles) -> [u8; 32] {
    let metadata = fs::metadata(&files.main).ok();
    let modified = metadata.as_ref().and_then(|m| m.modified().ok());
    let modified = modified.and_then(|t| t.duration_since(UNIX_EPOCH).ok()).map_or(0, |d| d.as_nanos());
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"embedder");
    hasher.update(&PackedMatrix::VERSION.to_le_bytes());
    hasher.update(&VOCABULARY_VERSION.to_le_bytes());
    hasher.update(&modified.to_le_bytes());
    hasher.update(&metadata.map_or(0, |m| m.len()).to_le_bytes());
    hasher.update(files.checksum.as_bytes());
    *hasher.finalize().as_bytes()
}

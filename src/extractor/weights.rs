//! The packed weights of a decoder: from the file that all processes share, or packed here and now.

use std::fs;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use crate::compute::{PackedMatrix, SharedBytes};
use crate::error::{Error, Kind, Result};
use crate::model::{BlockFile, DiskCache, GgufFile};

/// A matrix of a model: its tensor's name, output and input features.
pub(super) type Wanted = (String, usize, usize);

/// The packed matrices of a model.
#[derive(Debug)]
pub(super) struct Weights<'a> {
    gguf: &'a GgufFile,
    packed: Option<BlockFile>,
}

impl<'a> Weights<'a> {
    /// Weights of `gguf` that are packed when they are asked for, into private memory.
    pub(super) fn unshared(gguf: &'a GgufFile) -> Self {
        Self { gguf, packed: None }
    }

    /// Weights of `gguf` from the file in `cache`, which is written first if need be. Where it cannot be written (no space, no
    /// permission) the weights are private memory.
    pub(super) fn shared(gguf: &'a GgufFile, key: &[u8; 32], cache: &DiskCache, wanted: &[Wanted]) -> Self {
        let blocks = || {
            let block = |(name, rows, columns): &Wanted| -> Result<(String, usize)> {
                let dtype = shaped(gguf, name, *rows, *columns)?.dtype;
                Ok((block_name(name, *rows, *columns), PackedMatrix::packed_len(dtype, *rows, *columns)?))
            };
            wanted.iter().map(block).collect()
        };
        let packed = BlockFile::open_or_make(cache, key, blocks, |number| {
            let (name, rows, columns) = &wanted[number];
            let matrix = pack(gguf, name, *rows, *columns)?;
            gguf.forget(name);
            Ok(Box::new(matrix))
        });
        if let Err(error) = &packed {
            tracing::warn!(%error, "the packed weights of the model are not kept");
        }
        Self { gguf, packed: packed.ok() }
    }

    /// A matrix of `rows` x `columns`.
    pub(super) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<PackedMatrix> {
        if let Some(block) = self.packed.as_ref().and_then(|packed| packed.block(&block_name(name, rows, columns))) {
            let dtype = shaped(self.gguf, name, rows, columns)?.dtype;
            let range = block.range.clone();
            return PackedMatrix::from_packed(
                dtype,
                rows,
                columns,
                SharedBytes::new(Arc::clone(&block.map) as _, range),
            );
        }
        let matrix = pack(self.gguf, name, rows, columns)?;
        self.gguf.forget(name);
        Ok(matrix)
    }
}

/// Identifies model file and packing.
pub(super) fn key(gguf: &GgufFile, checksum: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let modified = fs::metadata(gguf.path()).and_then(|m| m.modified()).ok();
    let modified = modified.and_then(|t| t.duration_since(UNIX_EPOCH).ok()).map_or(0, |d| d.as_nanos());
    hasher.update(&PackedMatrix::VERSION.to_le_bytes());
    hasher.update(&modified.to_le_bytes());
    hasher.update(&gguf.file_size().to_le_bytes());
    hasher.update(gguf.header_bytes());
    hasher.update(checksum.as_bytes());
    *hasher.finalize().as_bytes()
}

/// The tensor `name`, which must be a matrix of this shape.
pub(super) fn shaped<'a>(
    gguf: &'a GgufFile,
    name: &str,
    rows: usize,
    columns: usize,
) -> Result<crate::model::TensorView<'a>> {
    let tensor = gguf.tensor(name)?;
    if tensor.shape != [rows, columns] {
        return Err(shape_error(gguf, name, &[rows, columns], tensor.shape));
    }
    Ok(tensor)
}

pub(super) fn shape_error(gguf: &GgufFile, name: &str, expected: &[usize], found: &[usize]) -> Error {
    Error::new(Kind::Format, format!("tensor `{name}` has another shape"))
        .at(gguf.path())
        .expected(format!("{expected:?}"))
        .found(format!("{found:?}"))
}

fn pack(gguf: &GgufFile, name: &str, rows: usize, columns: usize) -> Result<PackedMatrix> {
    let tensor = shaped(gguf, name, rows, columns)?;
    PackedMatrix::pack(tensor.dtype, rows, columns, tensor.data)
}

fn block_name(name: &str, rows: usize, columns: usize) -> String {
    format!("{name} {rows}x{columns}")
}

//! Safetensors files, opened by memory map.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ::safetensors::{Dtype, SafeTensors};
use candle_core::quantized::GgmlDType;
use memmap2::Mmap;

use super::gguf::TensorView;
use super::map::map_file;
use crate::error::{Error, Kind, Result};

/// An open safetensors file. Tensors of other types than f32, f16 and bf16 (such as position ids) are passed over.
#[derive(Debug)]
pub struct SafetensorsFile {
    path: PathBuf,
    map: Mmap,
    tensors: HashMap<String, (GgmlDType, Vec<usize>, Range<usize>)>,
}

impl SafetensorsFile {
    /// Opens and checks `path`.
    ///
    /// # Errors
    /// When the file is missing, is no safetensors file, or is cut off.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let map = map_file(path)?;
        let failed = |e: ::safetensors::SafeTensorError| {
            Error::new(Kind::Corrupt, "cannot open the safetensors file")
                .at(path)
                .hint("fetch or copy the file again")
                .because(e)
        };
        // Checks lengths, overlaps and that the data fills the file.
        SafeTensors::deserialize(&map).map_err(failed)?;
        let (header, metadata) = SafeTensors::read_metadata(&map).map_err(failed)?;
        let start = header + 8;
        let mut tensors = HashMap::new();
        for (name, info) in metadata.tensors() {
            let dtype = match info.dtype {
                Dtype::F32 => GgmlDType::F32,
                Dtype::F16 => GgmlDType::F16,
                Dtype::BF16 => GgmlDType::BF16,
                _ => continue,
            };
            let (from, to) = info.data_offsets;
            tensors.insert(name, (dtype, info.shape.clone(), start + from..start + to));
        }
        Ok(Self { path: path.to_path_buf(), map, tensors })
    }

    /// True when the file holds the tensor.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// A tensor by name. Its bytes need not be aligned.
    ///
    /// # Errors
    /// When the file does not hold it.
    pub fn tensor(&self, name: &str) -> Result<TensorView<'_>> {
        let missing = || Error::new(Kind::Model, format!("the model file has no tensor `{name}`")).at(&self.path);
        let (dtype, shape, range) = self.tensors.get(name).ok_or_else(missing)?;
        let data = self.map.get(range.clone()).ok_or_else(missing)?;
        Ok(TensorView { dtype: *dtype, shape, data })
    }
}

//! Writing GGUF version 3: for conversions and for the small files that tests make.

use std::io::{self, Write};

use candle_core::quantized::GgmlDType;

use super::header::{byte_size, dtype_code, tag};
use crate::error::{Error, Kind, Result};

const ALIGNMENT: usize = 32;

/// A metadata value to write.
#[derive(Debug, Clone, PartialEq)]
pub enum MetaValue {
    /// Unsigned 32-bit integer.
    U32(u32),
    /// 32-bit float.
    F32(f32),
    /// Truth value.
    Bool(bool),
    /// UTF-8 string.
    Str(String),
    /// Array of strings.
    StrArray(Vec<String>),
    /// Array of 32-bit floats.
    F32Array(Vec<f32>),
    /// Array of signed 32-bit integers.
    I32Array(Vec<i32>),
    /// Array of bytes.
    U8Array(Vec<u8>),
}

/// Collects metadata and tensors, then writes them in the order they were added, so equal input gives equal bytes.
#[derive(Debug, Default)]
pub struct GgufWriter<'a> {
    metadata: Vec<(String, MetaValue)>,
    tensors: Vec<Tensor<'a>>,
}

#[derive(Debug)]
struct Tensor<'a> {
    name: String,
    dtype: GgmlDType,
    shape: Vec<usize>,
    data: std::borrow::Cow<'a, [u8]>,
}

impl<'a> GgufWriter<'a> {
    /// An empty file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a metadata pair; the caller keeps keys unique.
    pub fn meta(&mut self, key: &str, value: MetaValue) {
        self.metadata.push((key.to_owned(), value));
    }

    /// Adds a tensor of row-major `shape` (outermost first) with its raw blocks.
    ///
    /// # Errors
    /// When `data` is not as long as shape and type say.
    pub fn tensor(
        &mut self,
        name: &str,
        dtype: GgmlDType,
        shape: &[usize],
        data: impl Into<std::borrow::Cow<'a, [u8]>>,
    ) -> Result<()> {
        let data = data.into();
        let size = byte_size(dtype, shape).map_err(|why| {
            Error::new(Kind::Format, format!("cannot write tensor `{name}` of shape {shape:?}: {why}"))
        })?;
        if size != data.len() {
            return Err(Error::new(Kind::Format, format!("cannot write tensor `{name}` of shape {shape:?}"))
                .expected(format!("{size} bytes"))
                .found(data.len().to_string()));
        }
        self.tensors.push(Tensor { name: name.to_owned(), dtype, shape: shape.to_vec(), data });
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut header = Vec::new();
        header.extend_from_slice(b"GGUF");
        header.extend_from_slice(&3u32.to_le_bytes());
        header.extend_from_slice(&(self.tensors.len() as u64).to_le_bytes());
        header.extend_from_slice(&(self.metadata.len() as u64).to_le_bytes());
        for (key, value) in &self.metadata {
            put_text(&mut header, key);
            put_value(&mut header, value);
        }
        let mut offset = 0u64;
        for tensor in &self.tensors {
            put_text(&mut header, &tensor.name);
            header.extend_from_slice(&(tensor.shape.len() as u32).to_le_bytes());
            for dim in tensor.shape.iter().rev() {
                header.extend_from_slice(&(*dim as u64).to_le_bytes());
            }
            header.extend_from_slice(&dtype_code(tensor.dtype).to_le_bytes());
            header.extend_from_slice(&offset.to_le_bytes());
            offset += tensor.data.len().next_multiple_of(ALIGNMENT) as u64;
        }
        pad(&mut header);
        out.write_all(&header)?;
        for tensor in &self.tensors {
            out.write_all(&tensor.data)?;
            let padding = tensor.data.len().next_multiple_of(ALIGNMENT) - tensor.data.len();
            out.write_all(&[0; ALIGNMENT][..padding])?;
        }
        out.flush()
    }
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u64).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn put_array_head(out: &mut Vec<u8>, of: u32, len: usize) {
    out.extend_from_slice(&tag::ARRAY.to_le_bytes());
    out.extend_from_slice(&of.to_le_bytes());
    out.extend_from_slice(&(len as u64).to_le_bytes());
}

fn put_value(out: &mut Vec<u8>, value: &MetaValue) {
    match value {
        MetaValue::U32(n) => {
            out.extend_from_slice(&tag::U32.to_le_bytes());
            out.extend_from_slice(&n.to_le_bytes());
        }
        MetaValue::F32(x) => {
            out.extend_from_slice(&tag::F32.to_le_bytes());
            out.extend_from_slice(&x.to_le_bytes());
        }
        MetaValue::Bool(b) => {
            out.extend_from_slice(&tag::BOOL.to_le_bytes());
            out.push(u8::from(*b));
        }
        MetaValue::Str(s) => {
            out.extend_from_slice(&tag::STRING.to_le_bytes());
            put_text(out, s);
        }
        MetaValue::StrArray(items) => {
            put_array_head(out, tag::STRING, items.len());
            items.iter().for_each(|s| put_text(out, s));
        }
        MetaValue::F32Array(items) => {
            put_array_head(out, tag::F32, items.len());
            items.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
        }
        MetaValue::I32Array(items) => {
            put_array_head(out, tag::I32, items.len());
            items.iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
        }
        MetaValue::U8Array(items) => {
            put_array_head(out, tag::U8, items.len());
            out.extend_from_slice(items);
        }
    }
}

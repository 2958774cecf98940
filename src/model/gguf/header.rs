//! Parsing of a GGUF header (versions 2 and 3, little-endian) from untrusted bytes.
//!
//! Layout after the GGUF specification (ggml, `docs/gguf.md`): magic `GGUF`, `u32` version, `u64` tensor count, `u64`
//! metadata count, the metadata pairs, the tensor descriptions, padding, tensor data. Every length is checked against
//! the bytes that are left before anything is allocated or skipped, so a hostile header costs at most its own size.

use std::collections::HashMap;
use std::ops::Range;

use candle_core::quantized::GgmlDType;

use crate::error::{Error, Kind, Result};

/// The format allows arrays of arrays; real files have none deeper than two.
const MAX_DEPTH: usize = 4;
/// `GGML_MAX_DIMS`.
const MAX_DIMS: u32 = 4;
const DEFAULT_ALIGNMENT: u64 = 32;

/// Type tags of metadata values.
pub(super) mod tag {
    pub(crate) const U8: u32 = 0;
    pub(crate) const I8: u32 = 1;
    pub(crate) const U16: u32 = 2;
    pub(crate) const I16: u32 = 3;
    pub(crate) const U32: u32 = 4;
    pub(crate) const I32: u32 = 5;
    pub(crate) const F32: u32 = 6;
    pub(crate) const BOOL: u32 = 7;
    pub(crate) const STRING: u32 = 8;
    pub(crate) const ARRAY: u32 = 9;
    pub(crate) const U64: u32 = 10;
    pub(crate) const I64: u32 = 11;
    pub(crate) const F64: u32 = 12;
}

/// A metadata value; arrays stay in the file and are read when asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    /// Element type, element count, and where the elements lie in the file.
    Array {
        of: u32,
        len: usize,
        bytes: Range<usize>,
    },
}

/// Where a tensor lies and how it is laid out.
#[derive(Debug, Clone)]
pub(super) struct TensorInfo {
    pub(super) dtype: GgmlDType,
    /// Row-major, outermost dimension first (the reverse of the order in the file).
    pub(super) shape: Vec<usize>,
    /// Bytes of the file.
    pub(super) bytes: Range<usize>,
}

/// A parsed and checked header.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) metadata: HashMap<String, Value>,
    pub(super) tensors: HashMap<String, TensorInfo>,
    /// Names in file order.
    pub(super) names: Vec<String>,
}

/// Number of the data type in the file format, as in `enum ggml_type`.
pub(super) fn dtype_code(dtype: GgmlDType) -> u32 {
    match dtype {
        GgmlDType::F32 => 0,
        GgmlDType::F16 => 1,
        GgmlDType::Q4_0 => 2,
        GgmlDType::Q4_1 => 3,
        GgmlDType::Q5_0 => 6,
        GgmlDType::Q5_1 => 7,
        GgmlDType::Q8_0 => 8,
        GgmlDType::Q8_1 => 9,
        GgmlDType::Q2K => 10,
        GgmlDType::Q3K => 11,
        GgmlDType::Q4K => 12,
        GgmlDType::Q5K => 13,
        GgmlDType::Q6K => 14,
        GgmlDType::Q8K => 15,
        GgmlDType::BF16 => 30,
    }
}

fn dtype_from_code(code: u32) -> Option<GgmlDType> {
    use GgmlDType as T;
    const ALL: [T; 15] = [
        T::F32,
        T::F16,
        T::BF16,
        T::Q4_0,
        T::Q4_1,
        T::Q5_0,
        T::Q5_1,
        T::Q8_0,
        T::Q8_1,
        T::Q2K,
        T::Q3K,
        T::Q4K,
        T::Q5K,
        T::Q6K,
        T::Q8K,
    ];
    ALL.into_iter().find(|t| dtype_code(*t) == code)
}

/// Bytes that `shape` takes as `dtype`, or what is wrong with it.
pub(super) fn byte_size(dtype: GgmlDType, shape: &[usize]) -> std::result::Result<usize, &'static str> {
    let row = shape.last().copied().unwrap_or(1);
    if !row.is_multiple_of(dtype.block_size()) {
        return Err("its rows are not whole blocks");
    }
    let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).ok_or("its size overflows")?;
    if count == 0 {
        return Err("it has no elements");
    }
    (count / dtype.block_size()).checked_mul(dtype.type_size()).ok_or("its size overflows")
}

/// A read position over the mapped file.
#[derive(Clone)]
pub(in crate::model) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(in crate::model) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(in crate::model) fn take(&mut self, n: u64) -> Result<&'a [u8]> {
        match usize::try_from(n).ok().filter(|n| *n <= self.left()) {
            Some(n) => {
                let part = &self.bytes[self.at..self.at + n];
                self.at += n;
                Ok(part)
            }
            None => Err(Error::new(Kind::Corrupt, "the header is cut off or damaged")
                .expected(format!("{n} more bytes at byte {}", self.at))
                .found(self.left().to_string())),
        }
    }

    pub(in crate::model) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N as u64)?);
        Ok(out)
    }

    pub(in crate::model) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(in crate::model) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn text(&mut self) -> Result<String> {
        let len = self.u64()?;
        Ok(String::from_utf8_lossy(self.take(len)?).into_owned())
    }

    /// A value that is no array.
    pub(super) fn scalar(&mut self, of: u32) -> Result<Value> {
        Ok(match of {
            tag::U8 => Value::Unsigned(u8::from_le_bytes(self.array()?).into()),
            tag::U16 => Value::Unsigned(u16::from_le_bytes(self.array()?).into()),
            tag::U32 => Value::Unsigned(self.u32()?.into()),
            tag::U64 => Value::Unsigned(self.u64()?),
            tag::I8 => Value::Signed(i8::from_le_bytes(self.array()?).into()),
            tag::I16 => Value::Signed(i16::from_le_bytes(self.array()?).into()),
            tag::I32 => Value::Signed(i32::from_le_bytes(self.array()?).into()),
            tag::I64 => Value::Signed(i64::from_le_bytes(self.array()?)),
            tag::F32 => Value::Float(f32::from_le_bytes(self.array()?).into()),
            tag::F64 => Value::Float(f64::from_le_bytes(self.array()?)),
            tag::BOOL => Value::Bool(u8::from_le_bytes(self.array()?) != 0),
            tag::STRING => Value::Text(self.text()?),
            other => return Err(unknown_value_type(other)),
        })
    }

    fn value(&mut self, of: u32) -> Result<Value> {
        if of != tag::ARRAY {
            return self.scalar(of);
        }
        let (of, len) = (self.u32()?, self.u64()?);
        let start = self.at;
        self.skip_elements(of, len, 0)?;
        // The elements were walked, each at least one byte long, so the count fits.
        let len = usize::try_from(len).map_err(|_| too_deep())?;
        Ok(Value::Array { of, len, bytes: start..self.at })
    }

    fn skip_elements(&mut self, of: u32, len: u64, depth: usize) -> Result<()> {
        match of {
            tag::STRING => {
                // A vocabulary has hundreds of thousands: nothing but lengths is looked at.
                for _ in 0..len {
                    let length = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<8>());
                    let end = length.and_then(|n| usize::try_from(u64::from_le_bytes(*n)).ok());
                    match end.and_then(|n| n.checked_add(self.at + 8)).filter(|end| *end <= self.bytes.len()) {
                        Some(end) => self.at = end,
                        None => {
                            let n = self.u64()?;
                            self.take(n)?;
                        }
                    }
                }
            }
            tag::ARRAY if depth < MAX_DEPTH => {
                for _ in 0..len {
                    let (of, len) = (self.u32()?, self.u64()?);
                    self.skip_elements(of, len, depth + 1)?;
                }
            }
            tag::ARRAY => return Err(too_deep()),
            _ => {
                let size = match of {
                    tag::U8 | tag::I8 | tag::BOOL => 1,
                    tag::U16 | tag::I16 => 2,
                    tag::U32 | tag::I32 | tag::F32 => 4,
                    tag::U64 | tag::I64 | tag::F64 => 8,
                    other => return Err(unknown_value_type(other)),
                };
                self.take(len.saturating_mul(size))?;
            }
        }
        Ok(())
    }
}

fn too_deep() -> Error {
    Error::new(Kind::Corrupt, "metadata arrays are nested too deeply")
}

fn unknown_value_type(found: u32) -> Error {
    Error::new(Kind::Corrupt, "unknown metadata value type").expected("0 to 12").found(found.to_string())
}

/// Parses and checks the header of `file`, the bytes of a whole GGUF file.
pub(super) fn parse(file: &[u8]) -> Result<Header> {
    let mut cursor = Cursor::new(file);
    check_magic(&mut cursor)?;
    let tensor_count = cursor.u64()?;
    let metadata_count = cursor.u64()?;

    let mut metadata = HashMap::new();
    for _ in 0..metadata_count {
        let key = cursor.text()?;
        let of = cursor.u32()?;
        let value = cursor.value(of).map_err(|e| Error::new(Kind::Corrupt, format!("metadata `{key}`")).because(e))?;
        if metadata.insert(key.clone(), value).is_some() {
            return Err(Error::new(Kind::Corrupt, format!("metadata key `{key}` occurs twice")));
        }
    }

    let mut described = Vec::new();
    for _ in 0..tensor_count {
        described.push(describe_tensor(&mut cursor)?);
    }

    let alignment = match metadata.get("general.alignment") {
        None => DEFAULT_ALIGNMENT,
        Some(Value::Unsigned(n)) if *n >= 8 && n.is_power_of_two() && *n <= 1 << 20 => *n,
        Some(other) => {
            return Err(Error::new(Kind::Corrupt, "bad `general.alignment`")
                .expected("a power of two from 8 to 1048576")
                .found(format!("{other:?}")));
        }
    };
    let data_start = (cursor.at as u64).next_multiple_of(alignment);

    let mut tensors = HashMap::new();
    let mut names = Vec::new();
    let mut needed = data_start;
    for (name, dtype, shape, offset) in described {
        if !offset.is_multiple_of(alignment) {
            return Err(Error::new(Kind::Corrupt, format!("tensor `{name}` is not aligned"))
                .expected(format!("an offset that is a multiple of {alignment}"))
                .found(offset.to_string()));
        }
        let size = byte_size(dtype, &shape)
            .map_err(|why| Error::new(Kind::Corrupt, format!("tensor `{name}` of shape {shape:?}: {why}")))?;
        let start = data_start.checked_add(offset);
        let Some(end) = start.and_then(|s| s.checked_add(size as u64)) else {
            return Err(Error::new(Kind::Corrupt, format!("the offset of tensor `{name}` overflows")));
        };
        needed = needed.max(end);
        // Wrapping of `as` cannot matter: ranges beyond the file are refused below, before anyone sees them.
        let bytes = (end - size as u64) as usize..end as usize;
        if tensors.insert(name.clone(), TensorInfo { dtype, shape, bytes }).is_some() {
            return Err(Error::new(Kind::Corrupt, format!("tensor `{name}` occurs twice")));
        }
        names.push(name);
    }
    if needed > file.len() as u64 {
        return Err(Error::new(Kind::Corrupt, "the GGUF file is cut off")
            .expected(format!("at least {needed} bytes"))
            .found(format!("{} bytes", file.len()))
            .hint("fetch or copy the file again; `mingti models verify` checks installed models"));
    }
    Ok(Header { metadata, tensors, names })
}

fn check_magic(cursor: &mut Cursor<'_>) -> Result<()> {
    let magic = cursor.take(4).map_err(|_| not_gguf(cursor.bytes))?;
    if magic != b"GGUF" {
        return Err(not_gguf(cursor.bytes));
    }
    let version = cursor.u32()?;
    match version {
        2 | 3 => Ok(()),
        1 => Err(Error::new(Kind::Format, "GGUF version 1 is no longer supported").hint("convert the model again")),
        v if matches!(v.swap_bytes(), 1..=3) => Err(Error::new(Kind::Format, "big-endian GGUF is not supported")),
        v => Err(Error::new(Kind::Format, "unknown GGUF version").expected("2 or 3").found(v.to_string())),
    }
}

fn not_gguf(bytes: &[u8]) -> Error {
    let start = &bytes[..bytes.len().min(4)];
    Error::new(Kind::Format, "not a GGUF file")
        .expected("the first bytes `GGUF`")
        .found(format!("`{}`", start.escape_ascii()))
}

type Described = (String, GgmlDType, Vec<usize>, u64);

fn describe_tensor(cursor: &mut Cursor<'_>) -> Result<Described> {
    let name = cursor.text()?;
    let dims = cursor.u32()?;
    if dims > MAX_DIMS {
        return Err(Error::new(Kind::Corrupt, format!("tensor `{name}` has too many dimensions"))
            .expected(format!("at most {MAX_DIMS}"))
            .found(dims.to_string()));
    }
    let mut shape = Vec::new();
    for _ in 0..dims {
        let dim = cursor.u64()?;
        shape.push(usize::try_from(dim).map_err(|_| {
            Error::new(Kind::Corrupt, format!("tensor `{name}` has an impossible dimension")).found(dim.to_string())
        })?);
    }
    shape.reverse();
    let code = cursor.u32()?;
    let dtype = dtype_from_code(code).ok_or_else(|| {
        Error::new(Kind::Model, format!("tensor `{name}` has an unsupported type"))
            .found(format!("ggml type {code}"))
            .hint("use a file quantized as Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, F16, BF16 or F32")
    })?;
    Ok((name, dtype, shape, cursor.u64()?))
}

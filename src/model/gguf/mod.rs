//! GGUF files: opened by memory map, checked as a whole before any tensor is handed out, and written.

mod header;
mod writer;

use std::path::{Path, PathBuf};

use candle_core::quantized::GgmlDType;
use memmap2::Mmap;

use self::header::{Header, Value, tag};
use super::map::{forget, map_file};
use crate::error::{Error, Kind, Result};

pub use writer::{GgufWriter, MetaValue};

pub(super) use header::Cursor;

/// An open GGUF file. The header is parsed and every tensor's range checked; tensor bytes stay in the map until touched.
#[derive(Debug)]
pub struct GgufFile {
    path: PathBuf,
    map: Mmap,
    header: Header,
}

/// A tensor's bytes in the map.
#[derive(Debug, Clone, Copy)]
pub struct TensorView<'a> {
    /// Storage type of the elements.
    pub dtype: GgmlDType,
    /// Row-major shape, outermost dimension first: a linear layer's weight is `[out, in]`.
    pub shape: &'a [usize],
    /// The raw blocks, little-endian, aligned to at least 8 bytes (32 in ordinary files).
    pub data: &'a [u8],
}

impl<'a> TensorView<'a> {
    /// Number of elements.
    pub fn element_count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes of one row, the last dimension.
    pub fn row_bytes(&self) -> usize {
        let row = self.shape.last().copied().unwrap_or(1);
        row / self.dtype.block_size() * self.dtype.type_size()
    }

    /// The blocks of one row of a matrix.
    pub fn row(&self, index: usize) -> Option<&'a [u8]> {
        let size = self.row_bytes();
        let start = index.checked_mul(size)?;
        self.data.get(start..start.checked_add(size)?)
    }
}

impl GgufFile {
    /// Opens and checks `path`.
    ///
    /// # Errors
    /// When the file is missing, is no GGUF file, is cut off, or describes tensors that do not fit into it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let map = map_file(path)?;
        let header = header::parse(&map).map_err(|e| e.at(path))?;
        if header.metadata.get("split.count").and_then(integer).is_some_and(|n| n > 1) {
            return Err(Error::new(Kind::Usage, "this GGUF file is one part of several")
                .at(path)
                .hint("merge the parts into one file first (`llama-gguf-split --merge`)"));
        }
        Ok(Self { path: path.to_path_buf(), map, header })
    }

    /// Where the file was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size of the whole file in bytes.
    pub fn file_size(&self) -> u64 {
        self.map.len() as u64
    }

    /// `general.architecture`, such as `qwen2`, `llama` or `bert`; empty when the file does not say.
    pub fn architecture(&self) -> &str {
        self.meta_str("general.architecture").unwrap_or_default()
    }

    /// An integer of any width that fits.
    pub fn meta_u32(&self, key: &str) -> Option<u32> {
        self.meta_u64(key).and_then(|n| u32::try_from(n).ok())
    }

    /// An integer of any width that is not negative.
    pub fn meta_u64(&self, key: &str) -> Option<u64> {
        self.header.metadata.get(key).and_then(integer)
    }

    /// A floating-point number of either width.
    pub fn meta_f32(&self, key: &str) -> Option<f32> {
        self.header.metadata.get(key).and_then(float)
    }

    /// A truth value.
    pub fn meta_bool(&self, key: &str) -> Option<bool> {
        match self.header.metadata.get(key)? {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// A string.
    pub fn meta_str(&self, key: &str) -> Option<&str> {
        match self.header.metadata.get(key)? {
            Value::Text(s) => Some(s),
            _ => None,
        }
    }

    /// An array of strings; bytes that are no UTF-8 become U+FFFD.
    pub fn meta_str_array(&self, key: &str) -> Option<Vec<String>> {
        let (tag::STRING, len, bytes) = self.array(key)? else { return None };
        let mut cursor = Cursor::new(bytes);
        (0..len).map(|_| cursor.text().ok()).collect()
    }

    /// The bytes of each string of an array, without a copy.
    pub(crate) fn meta_strings(&self, key: &str) -> Option<impl ExactSizeIterator<Item = &[u8]> + Clone> {
        let (tag::STRING, len, bytes) = self.array(key)? else { return None };
        let mut cursor = Cursor::new(bytes);
        // Opening went over all of them, so each is there.
        let next = move |_| cursor.u64().and_then(|len| cursor.take(len)).unwrap_or_default();
        Some((0..len).map(next))
    }

    /// An array of floating-point numbers.
    pub fn meta_f32_array(&self, key: &str) -> Option<Vec<f32>> {
        let (of @ (tag::F32 | tag::F64), len, bytes) = self.array(key)? else { return None };
        if of == tag::F32 {
            return Some(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect());
        }
        let mut cursor = Cursor::new(bytes);
        (0..len).map(|_| cursor.scalar(of).ok().as_ref().and_then(float)).collect()
    }

    /// An array of integers of any width, none negative.
    pub fn meta_u32_array(&self, key: &str) -> Option<Vec<u32>> {
        let (of, len, bytes) = self.array(key)?;
        if matches!(of, tag::STRING | tag::ARRAY) {
            return None;
        }
        if of == tag::U32 {
            return Some(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect());
        }
        if of == tag::I32 {
            let number = |bytes: &[u8; 4]| u32::try_from(i32::from_le_bytes(*bytes)).ok();
            return bytes.as_chunks().0.iter().map(number).collect();
        }
        let mut cursor = Cursor::new(bytes);
        (0..len)
            .map(|_| cursor.scalar(of).ok().as_ref().and_then(integer).and_then(|n| u32::try_from(n).ok()))
            .collect()
    }

    /// An array of bytes, signed or not, as they lie in the file.
    pub fn meta_bytes(&self, key: &str) -> Option<&[u8]> {
        let (tag::U8 | tag::I8, _, bytes) = self.array(key)? else { return None };
        Some(bytes)
    }

    /// True when the file says anything under `key`.
    pub fn has_meta(&self, key: &str) -> bool {
        self.header.metadata.contains_key(key)
    }

    /// True when the file holds the tensor.
    pub fn has(&self, name: &str) -> bool {
        self.header.tensors.contains_key(name)
    }

    /// Names of all tensors in file order.
    pub fn tensor_names(&self) -> impl Iterator<Item = &str> {
        self.header.names.iter().map(String::as_str)
    }

    /// A tensor by name.
    ///
    /// # Errors
    /// When the file does not hold it.
    pub fn tensor(&self, name: &str) -> Result<TensorView<'_>> {
        let missing = || Error::new(Kind::Model, format!("the model file has no tensor `{name}`")).at(&self.path);
        let info = self.header.tensors.get(name).ok_or_else(missing)?;
        let data = self.map.get(info.bytes.clone()).ok_or_else(missing)?;
        Ok(TensorView { dtype: info.dtype, shape: &info.shape, data })
    }

    /// Gives the memory of a tensor's mapped bytes back, for one that has been copied out; they are read from the file
    /// again when they are touched.
    pub fn forget(&self, name: &str) {
        if let Some(info) = self.header.tensors.get(name) {
            forget(&self.map, info.bytes.start, info.bytes.len());
        }
    }

    /// All in front of the first tensor: metadata and the list of tensors.
    pub(crate) fn header_bytes(&self) -> &[u8] {
        let end = self.header.tensors.values().map(|info| info.bytes.start).min().unwrap_or(self.map.len());
        &self.map[..end]
    }

    fn array(&self, key: &str) -> Option<(u32, usize, &[u8])> {
        match self.header.metadata.get(key)? {
            Value::Array { of, len, bytes } => Some((*of, *len, self.map.get(bytes.clone())?)),
            _ => None,
        }
    }
}

fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::Unsigned(n) => Some(*n),
        Value::Signed(n) => u64::try_from(*n).ok(),
        _ => None,
    }
}

fn float(value: &Value) -> Option<f32> {
    match value {
        Value::Float(x) => Some(*x as f32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A small file with one value of each kind and two tensors.
    fn sample() -> Vec<u8> {
        let mut writer = GgufWriter::new();
        writer.meta("general.architecture", MetaValue::Str("test".into()));
        writer.meta("test.block_count", MetaValue::U32(2));
        writer.meta("test.epsilon", MetaValue::F32(1e-5));
        writer.meta("test.causal", MetaValue::Bool(true));
        writer.meta("test.words", MetaValue::StrArray(vec!["主轴".into(), "spindle".into(), String::new()]));
        writer.meta("test.scores", MetaValue::F32Array(vec![0.5, -1.0]));
        writer.meta("test.types", MetaValue::I32Array(vec![1, 3, 4]));
        writer.meta("test.map", MetaValue::U8Array(vec![7, 8, 9]));
        let ones: Vec<u8> = [1.0f32; 6].iter().flat_map(|x| x.to_le_bytes()).collect();
        writer.tensor("a", GgmlDType::F32, &[2, 3], ones).unwrap();
        writer.tensor("b", GgmlDType::Q4_0, &[8, 64], vec![0x5a; 8 * 2 * 18]).unwrap();
        let mut bytes = Vec::new();
        writer.write(&mut bytes).unwrap();
        bytes
    }

    fn open(bytes: &[u8]) -> Result<GgufFile> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.gguf");
        std::fs::write(&path, bytes).unwrap();
        GgufFile::open(&path)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let file = open(&sample()).unwrap();
        assert_eq!(file.architecture(), "test");
        assert_eq!(file.meta_u32("test.block_count"), Some(2));
        assert_eq!(file.meta_f32("test.epsilon"), Some(1e-5));
        assert_eq!(file.meta_bool("test.causal"), Some(true));
        assert_eq!(file.meta_str_array("test.words").unwrap(), ["主轴", "spindle", ""]);
        assert_eq!(file.meta_f32_array("test.scores").unwrap(), [0.5, -1.0]);
        assert_eq!(file.meta_u32_array("test.types").unwrap(), [1, 3, 4]);
        assert_eq!(file.meta_bytes("test.map").unwrap(), [7, 8, 9]);
        assert_eq!(file.meta_u32("test.words"), None);
        let b = file.tensor("b").unwrap();
        assert_eq!((b.dtype, b.shape, b.row_bytes()), (GgmlDType::Q4_0, &[8, 64][..], 36));
        assert!(b.data.iter().all(|x| *x == 0x5a));
        assert_eq!(b.data.as_ptr() as usize % 32, 0);
        assert!(b.row(7).is_some() && b.row(8).is_none());
        assert!(file.tensor("c").is_err());
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = sample();
        for len in (0..bytes.len()).step_by(3) {
            let error = open(&bytes[..len]).map(|_| ()).expect_err("a cut file opened");
            assert!(len < 8 || error.is_corrupt(), "{len}: {error}");
        }
    }

    #[test]
    fn a_cut_file_names_both_sizes() {
        let bytes = sample();
        let message = open(&bytes[..bytes.len() - 1]).unwrap_err().to_string();
        assert!(message.contains(&format!("{} bytes", bytes.len())), "{message}");
        assert!(message.contains(&format!("{} bytes", bytes.len() - 1)), "{message}");
    }

    #[test]
    fn damaged_headers_never_panic() {
        let bytes = sample();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..2000 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + next() % 4 {
                let at = (next() as usize) % damaged.len();
                damaged[at] = next() as u8;
            }
            if let Ok(file) = open(&damaged) {
                for name in file.tensor_names() {
                    let tensor = file.tensor(name).unwrap();
                    assert!(tensor.data.len() <= damaged.len());
                }
            }
        }
    }

    #[test]
    fn huge_counts_do_not_allocate() {
        let mut bytes = sample();
        bytes[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(open(&bytes).unwrap_err().is_corrupt());
        let mut bytes = sample();
        bytes[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(open(&bytes).is_err());
    }

    #[test]
    fn other_formats_are_named() {
        let message = open(b"PK\x03\x04 a zip archive").unwrap_err().to_string();
        assert!(message.contains("not a GGUF file"), "{message}");
        let mut bytes = sample();
        bytes[4..8].copy_from_slice(&9u32.to_le_bytes());
        assert!(open(&bytes).unwrap_err().to_string().contains("unknown GGUF version"));
    }
}

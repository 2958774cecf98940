//! Packed weights in a file of their own, mapped and shared by all processes that use the model.
//!
//! Packing reads every weight once, which takes seconds for a small model and more for a large one, and its result would be
//! private memory of each process. So it is done once a machine: the packed matrices are written to a [`DiskCache`] and mapped
//! from then on; pages of a file are shared, and dropped when memory is short. Whoever finds no file, or none that fits, packs
//! again.
//!
//! # File
//! Little-endian. A header of 64 bytes: `mtngpack`, version `u32`, number of matrices `u32`, length of the file `u64`, 8 zero
//! bytes, key (32 bytes). Then an entry of 64 bytes for each matrix: first 16 bytes of the BLAKE3 of its tensor's name, rows `u64`,
//! columns `u64`, offset `u64`, length `u64`, CRC-32 of the bytes `u32`, 12 zero bytes. Then the BLAKE3 (32 bytes) of all
//! before. Matrices begin at multiples of 4,096 bytes, as [`PackedMatrix`] describes them. The key is the BLAKE3 of the model
//! file's checksum, size, time of change and header, and of the version of the packing, so that another model never fits.

use std::fs;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::disk_cache::DiskCache;
use crate::compute::{PackedMatrix, SharedBytes};
use crate::error::{Error, Kind, Result};
use crate::model::{GgufFile, Mapped};

const MAGIC: &[u8; 8] = b"mtngpack";
const VERSION: u32 = 1;
const HEADER: usize = 64;
const ENTRY: usize = 64;
const CHECKSUM: usize = 32;
/// Matrices begin at multiples of this: a page.
const ALIGN: u64 = 4096;

/// A matrix of a model: its tensor's name, output and input features.
pub(super) type Wanted = (String, usize, usize);

/// The packed matrices of a model, from its file of packed weights or packed here and now.
#[derive(Debug)]
pub(super) struct Weights<'a> {
    gguf: &'a GgufFile,
    packed: Option<PackedFile>,
}

impl<'a> Weights<'a> {
    /// Weights of `gguf` that are packed when they are asked for, into private memory.
    pub(super) fn unshared(gguf: &'a GgufFile) -> Self {
        Self { gguf, packed: None }
    }

    /// Weights of `gguf` from the file in `cache`, which is written first if need be. Where it cannot be written (no space, no
    /// permission) the weights are private memory.
    pub(super) fn shared(gguf: &'a GgufFile, key: &[u8; 32], cache: &DiskCache, wanted: &[Wanted]) -> Self {
        let path = cache.path(key, "weights");
        let packed = PackedFile::open(&path, key).or_else(|_| {
            write(gguf, key, cache, &path, wanted)?;
            PackedFile::open(&path, key)
        });
        match &packed {
            Ok(_) => cache.touch(&path),
            Err(error) => tracing::warn!(%error, "the packed weights of the model are not kept"),
        }
        Self { gguf, packed: packed.ok() }
    }

    /// A matrix of `rows` x `columns`.
    pub(super) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<PackedMatrix> {
        if let Some(packed) = &self.packed
            && let Some(bytes) = packed.matrix(name, rows, columns)
        {
            let dtype = shaped(self.gguf, name, rows, columns)?.dtype;
            return PackedMatrix::from_packed(dtype, rows, columns, bytes);
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

/// Packs all matrices into the file `path` of `cache`.
fn write(gguf: &GgufFile, key: &[u8; 32], cache: &DiskCache, path: &Path, wanted: &[Wanted]) -> Result<()> {
    let front = HEADER + ENTRY * wanted.len() + CHECKSUM;
    let mut places = Vec::with_capacity(wanted.len());
    let mut end = (front as u64).next_multiple_of(ALIGN);
    for (name, rows, columns) in wanted {
        let len = PackedMatrix::packed_len(shaped(gguf, name, *rows, *columns)?.dtype, *rows, *columns)?;
        places.push((end, len));
        end = (end + len as u64).next_multiple_of(ALIGN);
    }
    let mut header = Vec::with_capacity(front);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&u32::try_from(wanted.len()).unwrap_or(u32::MAX).to_le_bytes());
    header.extend_from_slice(&end.to_le_bytes());
    header.extend_from_slice(&[0; 8]);
    header.extend_from_slice(key);
    cache.keep(path, end, |file| {
        let failed = |e| Error::io("cannot write the packed weights", path, e);
        let mut out = BufWriter::with_capacity(1 << 20, file);
        for ((name, rows, columns), (at, len)) in wanted.iter().zip(&places) {
            let matrix = pack(gguf, name, *rows, *columns)?;
            gguf.forget(name);
            let bytes = matrix.bytes();
            out.seek(SeekFrom::Start(*at)).and_then(|_| out.write_all(bytes)).map_err(failed)?;
            header.extend_from_slice(&name_hash(name));
            for number in [*rows as u64, *columns as u64, *at, *len as u64] {
                header.extend_from_slice(&number.to_le_bytes());
            }
            header.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
            header.extend_from_slice(&[0; 12]);
        }
        let checksum = blake3::hash(&header);
        header.extend_from_slice(checksum.as_bytes());
        out.seek(SeekFrom::Start(0)).and_then(|_| out.write_all(&header)).and_then(|()| out.flush()).map_err(failed)
    })
}

fn name_hash(name: &str) -> [u8; 16] {
    let mut out = [0; 16];
    out.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..16]);
    out
}

/// An open file of packed weights.
#[derive(Debug)]
struct PackedFile {
    map: Arc<Mapped>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    name: [u8; 16],
    rows: u64,
    columns: u64,
    offset: usize,
    len: usize,
    crc: u32,
}

impl PackedFile {
    /// Maps `path` and checks everything but the weights themselves; `key` is what the file must be for.
    fn open(path: &Path, key: &[u8; 32]) -> Result<Self> {
        let file = Self::open_any(path)?;
        if file.map.get(32..64) != Some(key) {
            return Err(Error::new(Kind::Format, "the packed weights are of another model").at(path));
        }
        Ok(file)
    }

    fn open_any(path: &Path) -> Result<Self> {
        let map = Mapped::open(path)?;
        let damaged = |what: &str| {
            Error::new(Kind::Corrupt, format!("the file of packed weights is damaged: {what}"))
                .at(path)
                .hint("delete the file; it is made again from the model")
        };
        let entries = parse(&map).map_err(damaged)?;
        Ok(Self { map: Arc::new(map), entries })
    }

    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Option<SharedBytes> {
        let name = name_hash(name);
        let entry = self.entries.iter().find(|e| e.name == name)?;
        let fits = (entry.rows, entry.columns) == (rows as u64, columns as u64);
        let owner: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::clone(&self.map) as _;
        fits.then(|| SharedBytes::new(owner, entry.offset..entry.offset + entry.len))
    }
}

/// The entries of a file, all of them inside it and in order.
fn parse(file: &[u8]) -> std::result::Result<Vec<Entry>, &'static str> {
    let number = |at: usize| -> Option<u64> { Some(u64::from_le_bytes(file.get(at..at + 8)?.try_into().ok()?)) };
    let short = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?)) };
    if file.get(..8) != Some(MAGIC) || short(8) != Some(VERSION) {
        return Err("another format or version");
    }
    let count = short(12).map_or(0, |n| n as usize);
    if number(16) != Some(file.len() as u64) {
        return Err("another length than its header says");
    }
    let front = HEADER + ENTRY.saturating_mul(count);
    let (Some(head), Some(checksum)) = (file.get(..front), file.get(front..front + CHECKSUM)) else {
        return Err("cut off");
    };
    if blake3::hash(head).as_bytes() != checksum {
        return Err("its header does not fit its checksum");
    }
    let mut entries = Vec::with_capacity(count);
    let mut free = (front + CHECKSUM) as u64;
    for at in (HEADER..front).step_by(ENTRY) {
        let mut name = [0; 16];
        name.copy_from_slice(&file[at..at + 16]);
        let (Some(rows), Some(columns), Some(offset), Some(len), Some(crc)) =
            (number(at + 16), number(at + 24), number(at + 32), number(at + 40), short(at + 48))
        else {
            return Err("cut off");
        };
        let end = offset.checked_add(len).filter(|end| *end <= file.len() as u64);
        let (Some(end), true) = (end, offset >= free && offset.is_multiple_of(ALIGN)) else {
            return Err("a matrix lies outside its place");
        };
        free = end;
        entries.push(Entry { name, rows, columns, offset: offset as usize, len: len as usize, crc });
    }
    Ok(entries)
}

/// Checks the weights of a file against their checksums; what is damaged is told with its place.
pub(super) fn verify(path: &Path) -> Result<()> {
    let file = PackedFile::open_any(path)?;
    for (number, entry) in file.entries.iter().enumerate() {
        let found = crc32fast::hash(&file.map[entry.offset..entry.offset + entry.len]);
        if found != entry.crc {
            return Err(Error::new(
                Kind::Corrupt,
                format!("packed matrix {number} at byte {} is damaged", entry.offset),
            )
            .at(path)
            .expected(format!("CRC-32 {:08x}", entry.crc))
            .found(format!("{found:08x}"))
            .hint("delete the file; it is made again from the model"));
        }
    }
    Ok(())
}

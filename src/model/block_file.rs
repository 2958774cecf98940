//! What is computed from a model once a machine, in a file that all its processes map.
//!
//! Packing weights and building the table of a large vocabulary takes from tens of milliseconds to seconds, and the result would
//! be private memory of each process. So it is done once: the blocks are written to a [`DiskCache`] and mapped from then on; pages
//! of a file are shared, and dropped when memory is short. Whoever finds no file, or none that fits, makes it again.
//!
//! # File
//! Little-endian. A header of 64 bytes: `mtngpack`, version `u32`, number of blocks `u32`, length of the file `u64`, 8 zero bytes,
//! key (32 bytes). Then an entry of 64 bytes for each block: first 16 bytes of the BLAKE3 of its name, offset `u64`, length `u64`,
//! CRC-32 of the bytes `u32`, 28 zero bytes. Then the BLAKE3 (32 bytes) of all before. Blocks begin at multiples of 4,096
//! bytes. The key says of what model, and made how, the blocks are, so that those of another never fit.

use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::disk_cache::DiskCache;
use super::map::Mapped;
use crate::error::{Error, Kind, Result};

const MAGIC: &[u8; 8] = b"mtngpack";
const VERSION: u32 = 2;
const HEADER: usize = 64;
const ENTRY: usize = 64;
const CHECKSUM: usize = 32;
/// Blocks begin at multiples of this: a page.
const ALIGN: u64 = 4096;

/// The bytes of one block, as whoever makes them holds them.
pub(crate) type Made = Box<dyn AsRef<[u8]>>;

/// An open file of blocks.
#[derive(Debug)]
pub(crate) struct BlockFile {
    map: Arc<Mapped>,
    entries: Vec<Entry>,
}

/// Part of the map of a [`BlockFile`].
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The map, kept as long as this lives.
    pub(crate) map: Arc<Mapped>,
    /// Bytes of the map, inside it; the start is a multiple of a page.
    pub(crate) range: Range<usize>,
}

impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        &self.map[self.range.clone()]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    name: [u8; 16],
    offset: usize,
    len: usize,
    crc: u32,
}

impl BlockFile {
    /// The file for `key` in `cache`. Where there is none that fits, it is written first: `make` gives the bytes of block `i` of
    /// `blocks` (names and lengths).
    pub(crate) fn open_or_make(
        cache: &DiskCache,
        key: &[u8; 32],
        blocks: impl FnOnce() -> Result<Vec<(String, usize)>>,
        make: impl FnMut(usize) -> Result<Made>,
    ) -> Result<Self> {
        let path = cache.path(key, "weights");
        let file = match Self::open(&path, key) {
            Ok(file) => file,
            Err(_) => {
                write(cache, &path, key, &blocks()?, make)?;
                Self::open(&path, key)?
            }
        };
        cache.touch(&path);
        Ok(file)
    }

    /// Maps `path` and checks everything but the blocks themselves; `key` is what the file must be for.
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

    /// The block `name`.
    pub(crate) fn block(&self, name: &str) -> Option<Block> {
        let name = name_hash(name);
        let entry = self.entries.iter().find(|e| e.name == name)?;
        Some(Block { map: Arc::clone(&self.map), range: entry.offset..entry.offset + entry.len })
    }
}

/// Checks the blocks of a file against their checksums; what is damaged is told with its place.
pub(super) fn verify(path: &Path) -> Result<()> {
    let file = BlockFile::open_any(path)?;
    for (number, entry) in file.entries.iter().enumerate() {
        let found = crc32fast::hash(&file.map[entry.offset..entry.offset + entry.len]);
        if found != entry.crc {
            return Err(Error::new(Kind::Corrupt, format!("block {number} at byte {} is damaged", entry.offset))
                .at(path)
                .expected(format!("CRC-32 {:08x}", entry.crc))
                .found(format!("{found:08x}"))
                .hint("delete the file; it is made again from the model"));
        }
    }
    Ok(())
}

fn write(
    cache: &DiskCache,
    path: &Path,
    key: &[u8; 32],
    blocks: &[(String, usize)],
    mut make: impl FnMut(usize) -> Result<Made>,
) -> Result<()> {
    let front = HEADER + ENTRY * blocks.len() + CHECKSUM;
    let mut places = Vec::with_capacity(blocks.len());
    let mut end = (front as u64).next_multiple_of(ALIGN);
    for (_, len) in blocks {
        places.push(end);
        end = (end + *len as u64).next_multiple_of(ALIGN);
    }
    let mut header = Vec::with_capacity(front);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&u32::try_from(blocks.len()).unwrap_or(u32::MAX).to_le_bytes());
    header.extend_from_slice(&end.to_le_bytes());
    header.extend_from_slice(&[0; 8]);
    header.extend_from_slice(key);
    cache.keep(path, end, |file| {
        let failed = |e| Error::io("cannot write the packed weights", path, e);
        let mut out = BufWriter::with_capacity(1 << 20, file);
        for (number, ((name, len), at)) in blocks.iter().zip(&places).enumerate() {
            let made = make(number)?;
            let bytes = (*made).as_ref();
            if bytes.len() != *len {
                return Err(Error::new(Kind::Internal, format!("the block `{name}` has another length"))
                    .expected(len.to_string())
                    .found(bytes.len().to_string()));
            }
            out.seek(SeekFrom::Start(*at)).and_then(|_| out.write_all(bytes)).map_err(failed)?;
            header.extend_from_slice(&name_hash(name));
            for number in [*at, *len as u64] {
                header.extend_from_slice(&number.to_le_bytes());
            }
            header.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
            header.extend_from_slice(&[0; 28]);
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
        let (Some(offset), Some(len), Some(crc)) = (number(at + 16), number(at + 24), short(at + 32)) else {
            return Err("cut off");
        };
        let end = offset.checked_add(len).filter(|end| *end <= file.len() as u64);
        let (Some(end), true) = (end, offset >= free && offset.is_multiple_of(ALIGN)) else {
            return Err("a block lies outside its place");
        };
        free = end;
        entries.push(Entry { name, offset: offset as usize, len: len as usize, crc });
    }
    Ok(entries)
}

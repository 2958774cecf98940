//! Layout of the vector file; `FORMAT.md` is the specification.

use std::path::Path;

use bytemuck::{Pod, Zeroable};

use crate::compute::similarity::ByteRows;
use crate::error::{Error, Kind, Result};

/// Version of the vector file that this build writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 2;

pub(super) const MAGIC: [u8; 8] = *b"mingtiVX";
pub(super) const HEADER_LEN: usize = 128;
const ENTRY_LEN: usize = 32;
/// Entries of the block table that there is room for.
const ENTRIES: usize = 24;
/// Where the first block starts.
pub(super) const TABLE_END: usize = HEADER_LEN + ENTRIES * ENTRY_LEN;
pub(super) const ALIGN: u64 = 64;
pub(super) const ENCODING_F16: u32 = 1;
pub(super) const FLAG_GRAPH: u32 = 1;
/// Stands for "no node".
pub(super) const NONE: u32 = u32::MAX;
/// More than any number of vectors fills.
const MAX_LEVELS: u32 = 16;

pub(super) const VECTORS: u32 = 1;
pub(super) const POINTERS: u32 = 2;
pub(super) const SECTIONS: u32 = 3;
pub(super) const LINKS: u32 = 4;
pub(super) const UPPER: u32 = 5;
pub(super) const LEVEL_LINKS: u32 = 6;
pub(super) const BYTES: u32 = 7;
pub(super) const SCALES: u32 = 8;
pub(super) const SUM: u32 = 9;

/// What a vector stands for: row numbers in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Pointer {
    /// Row of the unit.
    pub unit: i64,
    /// Row of its section.
    pub section: i64,
    /// Row of its document.
    pub document: i64,
}

/// The vectors of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SectionVectors {
    /// Row of the section.
    pub(super) section: i64,
    /// Number of its first vector.
    pub(super) first: u32,
    /// How many follow each other.
    pub(super) count: u32,
}

/// The header's fields that vary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Header {
    pub(super) file_len: u64,
    pub(super) vectors: u64,
    pub(super) dimension: u32,
    pub(super) graph: bool,
    pub(super) entry: u32,
    pub(super) levels: u32,
    pub(super) links0: u32,
    pub(super) links: u32,
    pub(super) blocks: u32,
    pub(super) sections: u32,
    /// CRC-32 of the header, which covers the one of the table and so those of all blocks.
    pub(super) checksum: u32,
}

/// An entry of the block table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) kind: u32,
    pub(super) level: u32,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) crc: u32,
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Header and block table as bytes.
pub(super) fn encode(header: &Header, blocks: &[Block]) -> Vec<u8> {
    let mut table = Vec::with_capacity(ENTRIES * ENTRY_LEN);
    for block in blocks {
        table.extend(block.kind.to_le_bytes());
        table.extend(block.level.to_le_bytes());
        table.extend(block.offset.to_le_bytes());
        table.extend(block.len.to_le_bytes());
        table.extend(block.crc.to_le_bytes());
        table.extend([0; 4]);
    }
    table.resize(ENTRIES * ENTRY_LEN, 0);
    let mut bytes = Vec::with_capacity(TABLE_END);
    bytes.extend(MAGIC);
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend((HEADER_LEN as u32).to_le_bytes());
    bytes.extend(header.file_len.to_le_bytes());
    bytes.extend(header.vectors.to_le_bytes());
    bytes.extend(header.dimension.to_le_bytes());
    bytes.extend(ENCODING_F16.to_le_bytes());
    bytes.extend(1f32.to_le_bytes());
    bytes.extend(if header.graph { FLAG_GRAPH } else { 0 }.to_le_bytes());
    for word in [header.entry, header.levels, header.links0, header.links, header.blocks, header.sections] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.resize(120, 0);
    bytes.extend(crc32fast::hash(&table).to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend(table);
    bytes
}

/// Reads and checks header and block table, so that every block lies inside `bytes` with the length that follows from
/// the header.
pub(super) fn decode(bytes: &[u8], path: &Path) -> Result<(Header, Vec<Block>)> {
    let corrupt = |what: &str| Error::new(Kind::Corrupt, what).at(path).hint("run `mingti index` again");
    if bytes.len() < TABLE_END {
        return Err(corrupt("the vector index is truncated")
            .expected(format!("at least {TABLE_END} bytes"))
            .found(bytes.len().to_string()));
    }
    if bytes[..8] != MAGIC {
        return Err(Error::new(Kind::Format, "not a vector index of mingti").at(path));
    }
    // The version comes before everything else: a newer format may change all that follows.
    let version = u32_at(bytes, 8);
    if version > FORMAT_VERSION && u32_at(bytes, 124) == crc32fast::hash(&bytes[..124]) {
        return Err(Error::new(Kind::TooNew, "the vector index was written by a newer version of mingti")
            .at(path)
            .expected(format!("format {FORMAT_VERSION} or older"))
            .found(format!("format {version}"))
            .hint("use that version, or index again into another folder"));
    }
    if u32_at(bytes, 124) != crc32fast::hash(&bytes[..124]) {
        return Err(corrupt("the header of the vector index is damaged"));
    }
    if version < FORMAT_VERSION {
        return Err(Error::new(Kind::Usage, "the vector index was written by an older version of mingti")
            .at(path)
            .expected(format!("format {FORMAT_VERSION}"))
            .found(format!("format {version}"))
            .hint("run `mingti index` again; nothing is extracted or embedded anew"));
    }
    let header = Header {
        file_len: u64_at(bytes, 16),
        vectors: u64_at(bytes, 24),
        dimension: u32_at(bytes, 32),
        graph: u32_at(bytes, 44) & FLAG_GRAPH != 0,
        entry: u32_at(bytes, 48),
        levels: u32_at(bytes, 52),
        links0: u32_at(bytes, 56),
        links: u32_at(bytes, 60),
        blocks: u32_at(bytes, 64),
        sections: u32_at(bytes, 68),
        checksum: u32_at(bytes, 124),
    };
    if header.file_len != bytes.len() as u64 {
        return Err(corrupt("the vector index has the wrong length")
            .expected(format!("{} bytes", header.file_len))
            .found(bytes.len().to_string()));
    }
    let sane = version == FORMAT_VERSION
        && u32_at(bytes, 12) as usize == HEADER_LEN
        && u32_at(bytes, 36) == ENCODING_F16
        && header.vectors < u64::from(NONE)
        && (header.dimension > 0 || header.vectors == 0)
        && header.levels <= MAX_LEVELS
        && (header.links0 > 0 || !header.graph)
        && header.graph == (header.levels > 0)
        && if header.graph { u64::from(header.entry) < header.vectors } else { header.entry == NONE };
    if !sane || header.blocks as usize > ENTRIES {
        return Err(corrupt("the header of the vector index contradicts itself"));
    }
    let table = &bytes[HEADER_LEN..TABLE_END];
    if u32_at(bytes, 120) != crc32fast::hash(table) {
        return Err(corrupt("the block table of the vector index is damaged"));
    }
    let blocks: Vec<Block> = table
        .chunks_exact(ENTRY_LEN)
        .take(header.blocks as usize)
        .map(|entry| Block {
            kind: u32_at(entry, 0),
            level: u32_at(entry, 4),
            offset: u64_at(entry, 8),
            len: u64_at(entry, 16),
            crc: u32_at(entry, 24),
        })
        .collect();
    if !well_placed(&header, &blocks) {
        return Err(corrupt("the block table of the vector index contradicts the header"));
    }
    Ok((header, blocks))
}

/// True when the blocks are the ones that the header asks for, with the right lengths, one after the other.
fn well_placed(header: &Header, blocks: &[Block]) -> bool {
    let n = header.vectors;
    let lists = |nodes: u64, capacity: u32| nodes.checked_mul(u64::from(capacity) * 4);
    let mut expected = vec![
        (VECTORS, 0, n.checked_mul(u64::from(header.dimension) * 2)),
        (POINTERS, 0, n.checked_mul(size_of::<Pointer>() as u64)),
        (SECTIONS, 0, u64::from(header.sections).checked_mul(size_of::<SectionVectors>() as u64)),
        (SUM, 0, Some(u64::from(header.dimension) * 8)),
    ];
    if header.graph {
        let stride = ByteRows::stride_of(header.dimension as usize) as u64;
        expected.push((BYTES, 0, n.checked_mul(stride)));
        expected.push((SCALES, 0, n.checked_mul(4)));
        expected.push((LINKS, 0, lists(n, header.links0)));
        if header.levels > 1 {
            let upper = blocks.get(expected.len()).map_or(0, |block| block.len);
            if !upper.is_multiple_of(4) || upper / 4 > n || upper == 0 {
                return false;
            }
            expected.push((UPPER, 0, Some(upper)));
            let mut most = upper / 4;
            for level in 1..header.levels {
                // Each level has some of the nodes of the level below, and the first has all.
                let len = blocks.get(expected.len()).map_or(0, |block| block.len);
                let list = u64::from(header.links) * 4;
                let nodes = len.checked_div(list).unwrap_or(0);
                if nodes == 0 || nodes > most || (level == 1 && nodes != most) {
                    return false;
                }
                most = nodes;
                expected.push((LEVEL_LINKS, level, lists(nodes, header.links)));
            }
        }
    }
    if expected.len() != blocks.len() {
        return false;
    }
    let mut end = TABLE_END as u64;
    for (block, (kind, level, len)) in blocks.iter().zip(expected) {
        let offset = end.next_multiple_of(ALIGN);
        if (block.kind, block.level, block.offset) != (kind, level, offset) || Some(block.len) != len {
            return false;
        }
        match offset.checked_add(block.len) {
            Some(next) if next <= header.file_len => end = next,
            _ => return false,
        }
    }
    end == header.file_len
}

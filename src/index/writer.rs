//! Writes a vector file.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use half::f16;

use super::builder::{self, GraphOptions};
use super::format::{
    ALIGN, BYTES, Block, Header, LEVEL_LINKS, LINKS, NONE, POINTERS, Pointer, SCALES, SECTIONS, SUM, SectionVectors,
    TABLE_END, UPPER, VECTORS, encode,
};
use super::repair::{Repaired, repair};
use super::room::Room;
use crate::compute::similarity::{ByteRows, to_bytes};
use crate::error::{Error, Kind, Result};

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) graph: bool,
    pub(super) repaired: Repaired,
}

/// Vectors of unit length, fetched one by one: all of them together may not fit in memory.
pub struct VectorSource<'a> {
    len: usize,
    dimension: usize,
    read: &'a mut dyn FnMut(usize, &mut [f32]) -> Result<()>,
}

impl std::fmt::Debug for VectorSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VectorSource({} of {})", self.len, self.dimension)
    }
}

impl<'a> VectorSource<'a> {
    /// Vectors that `read` fetches.
    pub fn new(len: usize, dimension: usize, read: &'a mut dyn FnMut(usize, &mut [f32]) -> Result<()>) -> Self {
        Self { len, dimension, read }
    }

    /// Vector `number` into `out`, checked.
    pub(super) fn vector(&mut self, number: usize, out: &mut [f32]) -> Result<()> {
        (self.read)(number, out)?;
        match out.iter().all(|value| value.is_finite()) {
            true => Ok(()),
            false => Err(Error::new(Kind::Model, "the embedder gave a vector with a value that is no number")
                .place(format!("vector {number}"))),
        }
    }
}

/// Writes the vectors with their `pointers` to a new file, and syncs it. The vectors of a section follow each other.
pub(super) fn write(
    path: &Path,
    mut vectors: VectorSource<'_>,
    pointers: &[Pointer],
    options: &GraphOptions,
) -> Result<Written> {
    let (n, dimension) = (vectors.len, vectors.dimension);
    if n != pointers.len() || (dimension == 0 && n > 0) || n >= NONE as usize {
        return Err(Error::new(Kind::Internal, "vectors and pointers do not match")
            .expected(format!("{} vectors", pointers.len()))
            .found(format!("{n} of {dimension} values")));
    }
    let sections = section_vectors(pointers)?;
    let fail = |error| Error::io("cannot write the vector index", path, error);
    let with_graph = n > 0 && n >= options.exact_below;
    let mut file = Blocks::create(path).map_err(fail)?;

    // Bytes for the walk come from the values that are stored.
    let stride = ByteRows::stride_of(dimension);
    let mut bytes: Room<i8> = Room::new(if with_graph { n * stride } else { 0 })?;
    let mut scales = Vec::with_capacity(if with_graph { n } else { 0 });
    file.begin(VECTORS, 0).map_err(fail)?;
    let (mut values, mut bits) = (vec![0f32; dimension], vec![0u16; dimension]);
    let mut sum = vec![0f64; dimension];
    for number in 0..n {
        vectors.vector(number, &mut values)?;
        for ((bits, value), sum) in bits.iter_mut().zip(&mut values).zip(&mut sum) {
            let stored = f16::from_f32(*value);
            (*bits, *value) = (stored.to_bits(), stored.to_f32());
            *sum += f64::from(*value);
        }
        if with_graph {
            scales.push(to_bytes(&values, &mut bytes[number * stride..][..stride]));
        }
        file.append(bytemuck::cast_slice(&bits)).map_err(fail)?;
    }
    file.block(POINTERS, 0, bytemuck::cast_slice(pointers)).map_err(fail)?;
    file.block(SECTIONS, 0, bytemuck::cast_slice(&sections)).map_err(fail)?;
    file.block(SUM, 0, bytemuck::cast_slice(&sum)).map_err(fail)?;

    let mut written = Written::default();
    let mut header = Header {
        file_len: 0,
        vectors: n as u64,
        dimension: dimension as u32,
        graph: with_graph,
        entry: NONE,
        levels: 0,
        links0: 0,
        links: 0,
        blocks: 0,
        sections: sections.len() as u32,
        checksum: 0,
    };
    if with_graph {
        let mut graph = builder::build(&mut bytes, stride, &mut scales, options)?;
        let repaired = repair(&mut graph, ByteRows { bytes: &bytes, stride, scales: &scales });
        written = Written { graph: true, repaired };
        (header.entry, header.levels) = (graph.entry, graph.levels.len() as u32 + 1);
        (header.links0, header.links) = (graph.links0 as u32, graph.links as u32);
        file.block(BYTES, 0, bytemuck::cast_slice(&bytes)).map_err(fail)?;
        file.block(SCALES, 0, bytemuck::cast_slice(&scales)).map_err(fail)?;
        file.block(LINKS, 0, bytemuck::cast_slice(&graph.level0)).map_err(fail)?;
        if !graph.levels.is_empty() {
            file.block(UPPER, 0, bytemuck::cast_slice(&graph.upper)).map_err(fail)?;
        }
        for (above, links) in graph.levels.iter().enumerate() {
            file.block(LEVEL_LINKS, above as u32 + 1, bytemuck::cast_slice(links)).map_err(fail)?;
        }
    }
    file.finish(header).map_err(fail)?;
    Ok(written)
}

/// The vectors of each section, by its row.
fn section_vectors(pointers: &[Pointer]) -> Result<Vec<SectionVectors>> {
    let mut sections = Vec::new();
    let mut first = 0;
    for group in pointers.chunk_by(|a, b| a.section == b.section) {
        sections.push(SectionVectors { section: group[0].section, first, count: group.len() as u32 });
        first += group.len() as u32;
    }
    sections.sort_unstable_by_key(|section| section.section);
    match sections.windows(2).find(|pair| pair[0].section == pair[1].section) {
        None => Ok(sections),
        Some(pair) => Err(Error::new(Kind::Internal, "the vectors of a section do not follow each other")
            .found(format!("vectors {} and {} of section {}", pair[0].first, pair[1].first, pair[0].section))),
    }
}

/// A file of checksummed blocks that is being written. Header and table come last, in the room left for them.
struct Blocks {
    file: BufWriter<File>,
    blocks: Vec<Block>,
    hasher: crc32fast::Hasher,
    at: u64,
}

impl Blocks {
    fn create(path: &Path) -> std::io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
        file.write_all(&[0; TABLE_END])?;
        Ok(Self { file, blocks: Vec::new(), hasher: crc32fast::Hasher::new(), at: TABLE_END as u64 })
    }

    /// Starts a block.
    fn begin(&mut self, kind: u32, level: u32) -> std::io::Result<()> {
        self.end();
        let offset = self.at.next_multiple_of(ALIGN);
        self.file.write_all(&[0; ALIGN as usize][..(offset - self.at) as usize])?;
        self.at = offset;
        self.blocks.push(Block { kind, level, offset, len: 0, crc: 0 });
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.hasher.update(bytes);
        self.at += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn end(&mut self) {
        let crc = std::mem::take(&mut self.hasher).finalize();
        if let Some(block) = self.blocks.last_mut() {
            (block.len, block.crc) = (self.at - block.offset, crc);
        }
    }

    fn block(&mut self, kind: u32, level: u32, bytes: &[u8]) -> std::io::Result<()> {
        self.begin(kind, level)?;
        self.append(bytes)
    }

    fn finish(mut self, header: Header) -> std::io::Result<()> {
        self.end();
        let header = Header { file_len: self.at, blocks: self.blocks.len() as u32, ..header };
        let head = encode(&header, &self.blocks);
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&head)?;
        self.file.into_inner().map_err(|error| error.into_error())?.sync_all()
    }
}

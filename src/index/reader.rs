//! Maps a vector file.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use memmap2::Mmap;
use rayon::prelude::*;

use super::format::{
    BYTES, Block, HEADER_LEN, Header, LEVEL_LINKS, LINKS, POINTERS, Pointer, SCALES, SECTIONS, SUM, SectionVectors,
    TABLE_END, UPPER, VECTORS, decode,
};
use super::graph::{GraphView, Links, Scored, Scratch};
use super::scattered::{Failure, ScatteredLinks, ScatteredRows, read_at};
use crate::compute::similarity::{ByteQuery, ByteRows, dot_f16, to_bytes};
use crate::error::{Error, Kind, Result};

/// Files up to this size are checked in full when they are opened: that takes a few milliseconds.
pub(super) const CHECKED_AT_OPENING: u64 = 16 << 20;
/// Files up to this size are walked in the map, which is up to three times as fast as reading and makes the whole file count as
/// memory of the process; larger ones are read, see [`scattered`](super::scattered).
const MAPPED_WALK: u64 = 192 << 20;
/// Vectors that one thread looks at in a row.
const SLICE: usize = 2048;

/// A mapped vector file. Opening reads the header; the rest is read as searches touch it.
pub(super) struct VectorFile {
    map: Mmap,
    file: File,
    /// True when rows and links are read from `file` rather than from the map.
    is_read: bool,
    path: PathBuf,
    header: Header,
    blocks: Vec<Block>,
    /// Room for walks, one for each that went on at the same time.
    scratch: Mutex<Vec<Scratch>>,
}

impl std::fmt::Debug for VectorFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorFile").field("path", &self.path).field("header", &self.header).finish_non_exhaustive()
    }
}

impl VectorFile {
    /// Maps the file, and walks a larger one than [`MAPPED_WALK`] by reading. It must not be written to while it is mapped; mingti never rewrites one.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if cfg!(target_endian = "big") {
            return Err(Error::new(Kind::Usage, "the index needs a little-endian machine").at(path));
        }
        let fail = |error| Error::io("cannot open the vector index", path, error);
        let file = File::open(path).map_err(fail)?;
        let len = file.metadata().map_err(fail)?.len();
        if len < HEADER_LEN as u64 {
            return Err(Error::new(Kind::Corrupt, "the vector index is truncated")
                .at(path)
                .expected(format!("at least {HEADER_LEN} bytes"))
                .found(len.to_string())
                .hint("run `mingti index` again"));
        }
        // SAFETY: a generation's files are written once, renamed into place and never changed or truncated after, so the
        // mapped bytes stay as they are. All access is through bounds-checked slices of plain integers.
        let map = unsafe { Mmap::map(&file) }.map_err(fail)?;
        let (header, blocks) = decode(&map, path)?;
        let (path, scratch) = (path.to_owned(), Mutex::default());
        let index = Self { map, file, path, header, blocks, is_read: len > MAPPED_WALK, scratch };
        if len <= CHECKED_AT_OPENING {
            index.check_sums()?;
        }
        Ok(index)
    }

    /// Number of vectors.
    pub(super) fn len(&self) -> usize {
        self.header.vectors as usize
    }

    /// Values of a vector; 0 for an empty index.
    pub(super) fn dimension(&self) -> usize {
        self.header.dimension as usize
    }

    /// True when there is a graph to walk; otherwise every vector is looked at.
    pub(super) fn has_graph(&self) -> bool {
        self.header.graph
    }

    /// What each vector stands for.
    pub(super) fn pointers(&self) -> &[Pointer] {
        self.words(POINTERS, 0)
    }

    /// The vectors of a section, given by its row; none for a section that has none.
    pub(super) fn section_vectors(&self, section: i64) -> std::ops::Range<u32> {
        let sections: &[SectionVectors] = self.words(SECTIONS, 0);
        let found = sections.binary_search_by_key(&section, |entry| entry.section);
        let Some(entry) = found.ok().and_then(|at| sections.get(at)) else { return 0..0 };
        match entry.first.checked_add(entry.count) {
            Some(end) if end as usize <= self.len() => entry.first..end,
            _ => 0..0,
        }
    }

    /// The sum of all vectors, value by value.
    pub(super) fn sum(&self) -> &[f64] {
        self.words(SUM, 0)
    }

    /// Tells this file from every other.
    pub(super) fn identity(&self) -> u32 {
        self.header.checksum
    }

    /// From now on rows and links are read, or looked at in the map.
    pub(super) fn set_read(&mut self, is_read: bool) {
        self.is_read = is_read;
    }

    /// The nodes most similar to `query`, best first, at most `ef`, where there is a graph. The walk finds by bytes; what it found
    /// is ranked by the values themselves.
    pub(super) fn walk(&self, query: &[f32], ef: usize) -> Result<Option<Vec<Scored>>> {
        let Some(graph) = self.graph() else { return Ok(None) };
        let mut scratch = self.scratch.lock().map_or_else(|_| None, |mut kept| kept.pop()).unwrap_or_default();
        let mut bytes = vec![0i8; graph.rows.stride];
        to_bytes(query, &mut bytes);
        let bytes = ByteQuery::new(&bytes);
        if self.is_read {
            let failure = Failure::default();
            let GraphView { rows, entry, level0, upper, levels } = graph;
            let (stride, lists, capacity) = (rows.stride, level0.len(), level0.capacity);
            let rows = ScatteredRows::new(&self.file, self.offset(BYTES), stride, rows.scales, &failure);
            let level0 = ScatteredLinks::new(&self.file, self.offset(LINKS), lists, capacity, &failure);
            GraphView { rows, entry, level0, upper, levels }.walk(&bytes, ef, f32::INFINITY, &mut scratch);
            if let Some(error) = failure.into_inner() {
                return Err(Error::io("cannot read the vector index", &self.path, error));
            }
        } else {
            graph.walk(&bytes, ef, f32::INFINITY, &mut scratch);
        }
        let mut row = Vec::new();
        let mut hits = Vec::with_capacity(scratch.pool.len());
        for (found, _) in &scratch.pool {
            hits.push(Scored { score: dot_f16(self.row(found.node, &mut row)?, query), node: found.node });
        }
        hits.sort_unstable_by(|a, b| b.cmp(a));
        if let Ok(mut kept) = self.scratch.lock() {
            kept.push(scratch);
        }
        Ok(Some(hits))
    }

    /// The `k` vectors most similar to `query` among those that `keep` leaves, and those as similar as the last, in no order.
    pub(super) fn exact(&self, query: &[f32], k: usize, keep: &(dyn Fn(u32) -> bool + Sync)) -> Result<Vec<Scored>> {
        let slice = |start: usize| -> Result<Vec<Scored>> {
            let kept: Vec<u32> = (start as u32..(start + SLICE).min(self.len()) as u32).filter(|&n| keep(n)).collect();
            let mut rows = Vec::new();
            // Where many are wanted, one read takes them all.
            let whole = self.is_read && kept.len() > SLICE / 8;
            if whole {
                self.read_rows(start as u32, SLICE.min(self.len() - start), &mut rows)?;
            }
            let mut row = Vec::new();
            let mut hits = Vec::with_capacity(kept.len());
            for node in kept {
                let values = match whole {
                    true => &rows[(node as usize - start) * self.dimension()..][..self.dimension()],
                    false => self.row(node, &mut row)?,
                };
                hits.push(Scored { score: dot_f16(values, query), node });
            }
            best(&mut hits, k);
            Ok(hits)
        };
        let starts: Vec<usize> = (0..self.len()).step_by(SLICE).collect();
        let slices: Vec<Vec<Scored>> = if self.len() <= 2 * SLICE {
            starts.into_iter().map(slice).collect::<Result<_>>()?
        } else {
            starts.into_par_iter().map(slice).collect::<Result<_>>()?
        };
        let mut hits = slices.concat();
        best(&mut hits, k);
        Ok(hits)
    }

    /// Checks every byte and every link. Pointers are checked against the store by the caller.
    pub(super) fn verify(&self) -> Result<()> {
        self.check_sums()?;
        let mut sections: Vec<SectionVectors> = self.words(SECTIONS, 0).to_vec();
        let rising = sections.windows(2).all(|pair| pair[0].section < pair[1].section);
        sections.sort_unstable_by_key(|section| section.first);
        let mut end = 0;
        let tile = sections.iter().all(|section| {
            let numbers = self.section_vectors(section.section);
            let fits = numbers.start == end && !numbers.is_empty();
            end = numbers.end;
            fits && numbers.clone().all(|number| self.pointers()[number as usize].section == section.section)
        });
        if !rising || !tile || end as usize != self.len() {
            return Err(self.corrupt("the sections of the vector index are damaged"));
        }
        match self.graph().and_then(|graph| graph.fault()) {
            None => Ok(()),
            Some(fault) => Err(self.corrupt("the graph of the vector index is damaged").found(fault)),
        }
    }

    fn check_sums(&self) -> Result<()> {
        let mut end = TABLE_END;
        for block in &self.blocks {
            let gap = &self.map[end..block.offset as usize];
            if crc32fast::hash(self.bytes_of(block)) != block.crc || gap.iter().any(|&byte| byte != 0) {
                let name = match block.kind {
                    VECTORS | BYTES | SCALES | SUM => "vectors",
                    POINTERS => "pointers",
                    SECTIONS => "sections",
                    _ => "links",
                };
                return Err(self.corrupt(&format!("the {name} of the vector index are damaged")));
            }
            end = (block.offset + block.len) as usize;
        }
        Ok(())
    }

    /// An error about this file.
    pub(super) fn corrupt(&self, what: &str) -> Error {
        Error::new(Kind::Corrupt, what).at(&self.path).hint("run `mingti index` again")
    }

    /// The bytes of a block; [`decode`] has made sure that they lie in the file.
    fn bytes_of(&self, block: &Block) -> &[u8] {
        &self.map[block.offset as usize..(block.offset + block.len) as usize]
    }

    /// A block of numbers; nothing where there is no such block. Blocks start at multiples of 64 bytes of a page-aligned map, so
    /// the cast cannot fail.
    fn words<T: bytemuck::Pod>(&self, kind: u32, level: u32) -> &[T] {
        let block = self.blocks.iter().find(|block| (block.kind, block.level) == (kind, level));
        block.map_or(&[], |block| bytemuck::try_cast_slice(self.bytes_of(block)).unwrap_or_default())
    }

    /// The values of a vector, as the bits of `f16`, in `room` if they are read.
    pub(super) fn row<'s>(&'s self, number: u32, room: &'s mut Vec<u16>) -> Result<&'s [u16]> {
        if self.is_read {
            self.read_rows(number, 1, room)?;
            return Ok(room);
        }
        let bits: &[u16] = self.words(VECTORS, 0);
        Ok(&bits[number as usize * self.dimension()..][..self.dimension()])
    }

    /// Reads `count` vectors from `first` on.
    fn read_rows(&self, first: u32, count: usize, room: &mut Vec<u16>) -> Result<()> {
        room.resize(count * self.dimension(), 0);
        let offset = self.offset(VECTORS) + u64::from(first) * (self.dimension() * size_of::<u16>()) as u64;
        read_at(&self.file, bytemuck::cast_slice_mut(room), offset)
            .map_err(|error| Error::io("cannot read the vector index", &self.path, error))
    }

    /// Where the block of `kind` begins.
    fn offset(&self, kind: u32) -> u64 {
        self.blocks.iter().find(|block| (block.kind, block.level) == (kind, 0)).map_or(0, |block| block.offset)
    }

    fn graph(&self) -> Option<GraphView<'_>> {
        self.header.graph.then(|| GraphView {
            rows: ByteRows {
                bytes: self.words(BYTES, 0),
                stride: ByteRows::stride_of(self.dimension()),
                scales: self.words(SCALES, 0),
            },
            entry: self.header.entry,
            level0: Links { lists: self.words(LINKS, 0), capacity: self.header.links0 as usize },
            upper: self.words(UPPER, 0),
            levels: (1..self.header.levels)
                .map(|level| Links { lists: self.words(LEVEL_LINKS, level), capacity: self.header.links as usize })
                .collect(),
        })
    }
}

/// Keeps the `k` best and all that are as similar as the last of them, in no order.
pub(super) fn best(hits: &mut Vec<Scored>, k: usize) {
    if hits.len() > k {
        let last = hits.select_nth_unstable_by(k - 1, |a, b| b.cmp(a)).1.score;
        hits.retain(|hit| hit.score >= last);
    }
}

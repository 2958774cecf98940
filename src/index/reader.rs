//! Maps a vector file and searches it.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use half::f16;
use memmap2::Mmap;
use rayon::prelude::*;

use super::format::{
    BYTES, Block, HEADER_LEN, Header, LEVEL_LINKS, LINKS, POINTERS, Pointer, SCALES, SECTIONS, SectionVectors,
    TABLE_END, UPPER, VECTORS, decode,
};
use super::graph::{GraphView, Links, Scored, Scratch};
use super::repair::CHECK_EF;
use crate::compute::similarity::{ByteQuery, ByteRows, dot_f16, to_bytes};
use crate::error::{Error, Kind, Result};

/// Files up to this size are checked in full when they are opened: that takes a few milliseconds.
pub(super) const CHECKED_AT_OPENING: u64 = 64 << 20;
/// Vectors that one thread looks at in a row.
const SLICE: usize = 2048;

/// A vector that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorHit {
    /// Number of the vector in the file.
    pub number: u32,
    /// Inner product with the query; the cosine for vectors of unit length.
    pub score: f32,
}

/// A mapped vector file. Opening reads the header; the rest is read as searches touch it.
pub struct VectorIndex {
    map: Mmap,
    path: PathBuf,
    header: Header,
    blocks: Vec<Block>,
    /// Room for walks, one for each that went on at the same time.
    scratch: Mutex<Vec<Scratch>>,
}

impl std::fmt::Debug for VectorIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorIndex").field("path", &self.path).field("header", &self.header).finish_non_exhaustive()
    }
}

impl VectorIndex {
    /// Maps the file. It must not be written to while it is mapped; mingti never rewrites one.
    pub fn open(path: &Path) -> Result<Self> {
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
        let index = Self { map, path: path.to_owned(), header, blocks, scratch: Mutex::default() };
        if len <= CHECKED_AT_OPENING {
            index.check_sums()?;
        }
        Ok(index)
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.header.vectors as usize
    }

    /// True when there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.header.vectors == 0
    }

    /// Values of a vector; 0 for an empty index.
    pub fn dimension(&self) -> usize {
        self.header.dimension as usize
    }

    /// True when there is a graph to walk; otherwise every vector is looked at.
    pub fn has_graph(&self) -> bool {
        self.header.graph
    }

    /// What vector `number` stands for.
    pub fn pointer(&self, number: u32) -> Option<Pointer> {
        self.pointers().get(number as usize).copied()
    }

    /// What each vector stands for.
    pub fn pointers(&self) -> &[Pointer] {
        self.words(POINTERS, 0)
    }

    /// Number of sections that have vectors.
    pub fn sections(&self) -> usize {
        self.header.sections as usize
    }

    /// The vectors of a section, given by its row; none for a section that has none.
    pub fn section_vectors(&self, section: i64) -> std::ops::Range<u32> {
        let sections: &[SectionVectors] = self.words(SECTIONS, 0);
        let found = sections.binary_search_by_key(&section, |entry| entry.section);
        let Some(entry) = found.ok().and_then(|at| sections.get(at)) else { return 0..0 };
        match entry.first.checked_add(entry.count) {
            Some(end) if end as usize <= self.len() => entry.first..end,
            _ => 0..0,
        }
    }

    /// Similarity of `query` to each vector of `numbers`; nothing for a query that does not fit.
    pub fn scores(&self, query: &[f32], numbers: std::ops::Range<u32>) -> Vec<f32> {
        if query.len() != self.dimension() || numbers.end as usize > self.len() {
            return Vec::new();
        }
        numbers.map(|number| self.score(number, query)).collect()
    }

    /// The values of vector `number`.
    pub fn vector(&self, number: u32) -> Option<Vec<f32>> {
        let halves = |row: &[u16]| row.iter().map(|bits| f16::from_bits(*bits).to_f32()).collect();
        ((number as usize) < self.len()).then(|| halves(self.row(number)))
    }

    /// The `k` vectors most similar to `query`, best first; equal ones in the order of their numbers. With a graph the
    /// walk keeps `ef` candidates (at least `k` and 64) and may miss a vector; with a filter, without a graph or with a large `k`
    /// every vector is looked at.
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        ef: usize,
        filter: Option<&(dyn Fn(u32) -> bool + Sync)>,
    ) -> Result<Vec<VectorHit>> {
        if self.is_empty() || k == 0 {
            return Ok(Vec::new());
        }
        if query.len() != self.dimension() || query.iter().any(|value| !value.is_finite()) {
            return Err(Error::new(Kind::Model, "the vector of the query does not fit the index")
                .at(&self.path)
                .expected(format!("{} finite values", self.dimension()))
                .found(format!("{} values", query.len())));
        }
        let ef = ef.max(k).max(CHECK_EF);
        let mut hits = match self.graph() {
            Some(graph) if filter.is_none() && ef < self.len() / 4 => self.walk(&graph, query, ef),
            _ => self.exact(query, k, filter),
        };
        hits.truncate(k);
        Ok(hits.into_iter().map(|hit| VectorHit { number: hit.node, score: hit.score }).collect())
    }

    /// Mean and standard deviation of the similarity of `query` to up to `sample` vectors spread evenly over the index:
    /// what "unrelated" means for this query and this embedder. None for an empty index or a query that does not fit.
    pub fn background(&self, query: &[f32], sample: usize) -> Option<(f32, f32)> {
        let n = self.len();
        let count = n.min(sample);
        if count == 0 || query.len() != self.dimension() {
            return None;
        }
        let scores: Vec<f64> = (0..count).map(|i| f64::from(self.score((i * n / count) as u32, query))).collect();
        let mean = scores.iter().sum::<f64>() / count as f64;
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count as f64;
        Some((mean as f32, variance.sqrt() as f32))
    }

    /// The walk finds by bytes; what it found is ranked by the values themselves.
    fn walk(&self, graph: &GraphView<'_>, query: &[f32], ef: usize) -> Vec<Scored> {
        let mut scratch = self.scratch.lock().map_or_else(|_| None, |mut kept| kept.pop()).unwrap_or_default();
        let mut bytes = vec![0i8; graph.rows.stride];
        to_bytes(query, &mut bytes);
        graph.walk(&ByteQuery::new(&bytes), ef, f32::INFINITY, &mut scratch);
        let found = scratch.pool.iter().map(|(found, _)| found.node);
        let mut hits: Vec<Scored> = found.map(|node| Scored { score: self.score(node, query), node }).collect();
        hits.sort_unstable_by(|a, b| b.cmp(a));
        if let Ok(mut kept) = self.scratch.lock() {
            kept.push(scratch);
        }
        hits
    }

    fn exact(&self, query: &[f32], k: usize, filter: Option<&(dyn Fn(u32) -> bool + Sync)>) -> Vec<Scored> {
        let slice = |start: usize| {
            let numbers = start as u32..(start + SLICE).min(self.len()) as u32;
            let scored = |node| Scored { score: self.score(node, query), node };
            let mut hits: Vec<Scored> =
                numbers.filter(|&number| filter.is_none_or(|keep| keep(number))).map(scored).collect();
            best(&mut hits, k);
            hits
        };
        let starts = (0..self.len()).step_by(SLICE);
        let mut hits: Vec<Scored> = if self.len() <= 2 * SLICE {
            starts.flat_map(slice).collect()
        } else {
            starts.collect::<Vec<usize>>().into_par_iter().flat_map_iter(slice).collect()
        };
        best(&mut hits, k);
        hits.sort_unstable_by(|a, b| b.cmp(a));
        hits
    }

    /// Checks every byte and every link. Pointers are checked against the store by the caller.
    pub fn verify(&self) -> Result<()> {
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
                    VECTORS | BYTES | SCALES => "vectors",
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

    fn corrupt(&self, what: &str) -> Error {
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

    fn row(&self, number: u32) -> &[u16] {
        let bits: &[u16] = self.words(VECTORS, 0);
        &bits[number as usize * self.dimension()..][..self.dimension()]
    }

    /// Inner product of a vector with a query of the same length.
    fn score(&self, number: u32, query: &[f32]) -> f32 {
        dot_f16(self.row(number), query)
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

/// Keeps the `k` best, in no order.
fn best(hits: &mut Vec<Scored>, k: usize) {
    if hits.len() > k {
        hits.select_nth_unstable_by(k - 1, |a, b| b.cmp(a));
        hits.truncate(k);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

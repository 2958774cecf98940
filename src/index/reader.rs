//! Maps a vector file and searches it.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use rayon::prelude::*;

use super::format::{Block, HEADER_LEN, Header, Pointer, decode};
use super::graph::{GraphView, Level, Rows, Scored};
use super::repair::CHECK_EF;
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
#[derive(Debug)]
pub struct VectorIndex {
    map: Mmap,
    path: PathBuf,
    header: Header,
    blocks: Vec<Block>,
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
        let index = Self { map, path: path.to_owned(), header, blocks };
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
        bytemuck::try_cast_slice(self.bytes(1)).unwrap_or_default()
    }

    /// Number of sections.
    pub fn sections(&self) -> usize {
        self.header.sections as usize
    }

    /// The vectors of a section, given by its number in the order of document path and place.
    pub fn section_vectors(&self, section: u64) -> std::ops::Range<u32> {
        let starts: &[u32] = self.words(2);
        let at = usize::try_from(section).unwrap_or(usize::MAX);
        let n = self.len() as u32;
        match (starts.get(at), starts.get(at.saturating_add(1))) {
            (Some(&start), Some(&end)) if start <= end && end <= n => start..end,
            _ => 0..0,
        }
    }

    /// Number of the section that vector `number` belongs to.
    pub fn section_of(&self, number: u32) -> u64 {
        let starts: &[u32] = self.words(2);
        starts.partition_point(|&start| start <= number).saturating_sub(1) as u64
    }

    /// Similarity of `query` to each vector of `numbers`; nothing for a query that does not fit.
    pub fn scores(&self, query: &[f32], numbers: std::ops::Range<u32>) -> Vec<f32> {
        if query.len() != self.dimension() || numbers.end as usize > self.len() {
            return Vec::new();
        }
        let rows = self.rows();
        let mut buffer = vec![0f32; rows.dimension];
        numbers.map(|number| rows.score(number, query, &mut buffer)).collect()
    }

    /// The values of vector `number`.
    pub fn vector(&self, number: u32) -> Option<Vec<f32>> {
        ((number as usize) < self.len()).then(|| self.rows().row(number).iter().map(|half| half.to_f32()).collect())
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
            Some(graph) if filter.is_none() && ef < self.len() / 4 => graph.walk(query, ef),
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
        let rows = self.rows();
        let mut buffer = vec![0f32; rows.dimension];
        let scores: Vec<f64> =
            (0..count).map(|i| f64::from(rows.score((i * n / count) as u32, query, &mut buffer))).collect();
        let mean = scores.iter().sum::<f64>() / count as f64;
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count as f64;
        Some((mean as f32, variance.sqrt() as f32))
    }

    fn exact(&self, query: &[f32], k: usize, filter: Option<&(dyn Fn(u32) -> bool + Sync)>) -> Vec<Scored> {
        let rows = self.rows();
        let slice = |start: usize| {
            let mut buffer = vec![0f32; rows.dimension];
            let numbers = start as u32..(start + SLICE).min(self.len()) as u32;
            let scored = |node| Scored { score: rows.score(node, query, &mut buffer), node };
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
        let starts: &[u32] = self.words(2);
        let ends = (starts.first().copied(), starts.last().copied());
        if starts.windows(2).any(|pair| pair[0] > pair[1]) || ends != (Some(0), Some(self.len() as u32)) {
            return Err(self.corrupt("the sections of the vector index are damaged"));
        }
        match self.graph().and_then(|graph| graph.fault()) {
            None => Ok(()),
            Some(fault) => Err(self.corrupt("the graph of the vector index is damaged").found(fault)),
        }
    }

    fn check_sums(&self) -> Result<()> {
        let mut end = HEADER_LEN + self.blocks.len() * super::format::ENTRY_LEN;
        for (slot, block) in self.blocks.iter().enumerate() {
            let gap = &self.map[end..block.offset as usize];
            if crc32fast::hash(self.bytes(slot)) != block.crc || gap.iter().any(|&byte| byte != 0) {
                let name = match block.kind {
                    super::format::VECTORS => "vectors",
                    super::format::POINTERS => "pointers",
                    super::format::SECTIONS => "sections",
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
    fn bytes(&self, slot: usize) -> &[u8] {
        self.blocks.get(slot).map_or(&[], |block| {
            let start = block.offset as usize;
            &self.map[start..start + block.len as usize]
        })
    }

    /// A block of numbers. Blocks start at multiples of 64 bytes of a page-aligned map, so the cast cannot fail.
    fn words<T: bytemuck::Pod>(&self, slot: usize) -> &[T] {
        bytemuck::try_cast_slice(self.bytes(slot)).unwrap_or_default()
    }

    fn rows(&self) -> Rows<'_> {
        Rows { bits: self.words(0), dimension: self.dimension() }
    }

    fn graph(&self) -> Option<GraphView<'_>> {
        self.header.graph.then(|| GraphView {
            rows: self.rows(),
            entry: self.header.entry,
            links0: self.header.links0 as usize,
            links: self.header.links as usize,
            level0: self.words(3),
            upper: (1..self.header.levels as usize)
                .map(|level| Level { nodes: self.words(2 + 2 * level), links: self.words(3 + 2 * level) })
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

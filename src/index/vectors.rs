//! The vectors of a generation: a mapped file, and what changed since it was built.

use std::path::Path;

use half::f16;

use super::changes::Changes;
use super::format::Pointer;
use super::graph::Scored;
use super::reader::{VectorFile, best};
use super::repair::CHECK_EF;
use crate::compute::similarity::dot_f16;
use crate::error::{Error, Kind, Result};

/// Vectors that are asked how many of all a filter leaves.
const SAMPLE: usize = 1000;

/// A vector that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorHit {
    /// Number of the vector in the index.
    pub number: u32,
    /// Inner product with the query; the cosine for vectors of unit length.
    pub score: f32,
}

/// The vectors of a generation. Numbers below that of the file's vectors stand for those; the vectors that came since follow.
#[derive(Debug)]
pub struct VectorIndex {
    pub(super) file: VectorFile,
    pub(super) changes: Option<Changes>,
}

impl VectorIndex {
    /// Maps a vector file that nothing was changed in. It must not be written to while it is mapped; mingti never rewrites one.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { file: VectorFile::open(path)?, changes: None })
    }

    /// Maps a vector file, and reads what changed since it was built.
    pub(super) fn open_changed(path: &Path, changes: &Path) -> Result<Self> {
        let file = VectorFile::open(path)?;
        let changes = Some(Changes::read(changes, &file)?);
        Ok(Self { file, changes })
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.file.len() - self.dead() + self.added()
    }

    /// True when there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when something changed since the vector file was built.
    pub fn is_changed(&self) -> bool {
        self.changes.is_some()
    }

    /// Vectors of the file that are no longer part of the index.
    pub fn dead(&self) -> usize {
        self.changes.as_ref().map_or(0, Changes::dead)
    }

    /// Vectors that came since the file was built; they are not in its graph.
    pub fn added(&self) -> usize {
        self.changes.as_ref().map_or(0, |changes| changes.added.len())
    }

    /// Values of a vector; 0 for an empty index.
    pub fn dimension(&self) -> usize {
        self.file.dimension()
    }

    /// True when there is a graph to walk; otherwise every vector is looked at.
    pub fn has_graph(&self) -> bool {
        self.file.has_graph()
    }

    /// What vector `number` stands for; `None` for one that is not part of the index.
    pub fn pointer(&self, number: u32) -> Option<Pointer> {
        let (at, n) = (number as usize, self.file.len());
        match &self.changes {
            Some(changes) if at >= n => changes.added.get(at - n).copied(),
            Some(changes) => changes.replaced(number).unwrap_or_else(|| self.file.pointers().get(at).copied()),
            None => self.file.pointers().get(at).copied(),
        }
    }

    /// The vectors of a section, given by its row, in the order of its units; none for a section that has none.
    pub fn section_vectors(&self, section: i64) -> Vec<u32> {
        match self.changes.as_ref().and_then(|changes| changes.sections.get(&section)) {
            Some(numbers) => numbers.clone(),
            None => self.file.section_vectors(section).collect(),
        }
    }

    /// The values of vector `number`, as the bits of `f16`, in `room` if they are read. There must be such a vector.
    pub(super) fn row<'s>(&'s self, number: u32, room: &'s mut Vec<u16>) -> Result<&'s [u16]> {
        match &self.changes {
            Some(changes) if number as usize >= self.file.len() => {
                Ok(changes.row(number as usize - self.file.len(), self.dimension()))
            }
            _ => self.file.row(number, room),
        }
    }

    /// Whether a walk reads rows and links from the file, which keeps the process small, or looks at them in the map, which is up
    /// to three times as fast. Without a word the size of the file decides.
    pub fn set_read(&mut self, is_read: bool) {
        self.file.set_read(is_read);
    }

    /// The values of vector `number`; `None` for one that is not part of the index.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn vector(&self, number: u32) -> Result<Option<Vec<f32>>> {
        if self.pointer(number).is_none() {
            return Ok(None);
        }
        let mut room = Vec::new();
        Ok(Some(self.row(number, &mut room)?.iter().map(|bits| f16::from_bits(*bits).to_f32()).collect()))
    }

    /// Similarity of `query` to vector `number`; `None` for a vector that is not there or a query that does not fit.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn score(&self, query: &[f32], number: u32) -> Result<Option<f32>> {
        if self.pointer(number).is_none() || query.len() != self.dimension() {
            return Ok(None);
        }
        Ok(Some(dot_f16(self.row(number, &mut Vec::new())?, query)))
    }

    /// Mean similarity of `query` to all vectors: what "unrelated" means for this query and this embedder. `None` for an empty
    /// index or a query that does not fit.
    pub fn background(&self, query: &[f32]) -> Option<f32> {
        let sum = self.changes.as_ref().map_or(self.file.sum(), |changes| &changes.sum);
        if self.is_empty() || query.len() != sum.len() {
            return None;
        }
        let total: f64 = sum.iter().zip(query).map(|(s, q)| s * f64::from(*q)).sum();
        Some((total / self.len() as f64) as f32)
    }

    /// The `k` vectors most similar to `query` among those that `filter` leaves, best first, and all that are as similar as the
    /// last of them: which of several equal vectors come first is not for their numbers to say. With a graph the walk keeps `ef` candidates (at least `k` and 64) and may miss a vector. A filter widens the walk
    /// in proportion to what it takes away; where it leaves few vectors, and without a graph, every vector is looked at.
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
                .expected(format!("{} finite values", self.dimension()))
                .found(format!("{} values", query.len())));
        }
        let ef = ef.max(k).max(CHECK_EF);
        let keep = |number: u32| self.pointer(number).is_some() && filter.is_none_or(|filter| filter(number));
        let found = match (filter, &self.changes) {
            (None, None) if ef < self.file.len() / 4 => self.file.walk(query, ef)?,
            (None, None) => None,
            _ => self.filtered_walk(query, k, ef, filter.is_some(), &keep)?,
        };
        let mut hits = match found {
            Some(hits) => hits,
            None => self.file.exact(query, k, &keep)?,
        };
        let n = self.file.len() as u32;
        let came = (n..n + self.added() as u32).filter(|&number| filter.is_none_or(|filter| filter(number)));
        for node in came {
            hits.push(Scored { score: dot_f16(self.row(node, &mut Vec::new())?, query), node });
        }
        best(&mut hits, k);
        hits.sort_unstable_by(|a, b| b.cmp(a));
        Ok(hits.into_iter().map(|hit| VectorHit { number: hit.node, score: hit.score }).collect())
    }

    /// Walks so widely that about `ef` of what it meets are left by `keep`, and more widely while fewer than `k` are. `None` when
    /// looking at every vector is about as fast.
    fn filtered_walk(
        &self,
        query: &[f32],
        k: usize,
        ef: usize,
        unknown: bool,
        keep: &(dyn Fn(u32) -> bool + Sync),
    ) -> Result<Option<Vec<Scored>>> {
        let n = self.file.len();
        let share = if unknown {
            let count = n.min(SAMPLE);
            (0..count).filter(|i| keep((i * n / count) as u32)).count() as f64 / count.max(1) as f64
        } else {
            1.0 - self.dead() as f64 / n.max(1) as f64
        };
        let mut width = (ef as f64 / share.max(1e-9)) as usize;
        while width < n / 8 {
            let Some(mut hits) = self.file.walk(query, width)? else { return Ok(None) };
            hits.retain(|hit| keep(hit.node));
            if hits.len() >= k {
                return Ok(Some(hits));
            }
            width *= 2;
        }
        Ok(None)
    }

    /// Checks every byte and every link. Pointers are checked against the store by the caller.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

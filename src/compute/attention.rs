//! Attention of many queries over the same keys and values.
//!
//! Sentences of a section share their prefix, and the heads of a group share keys and values (Ainslie et al. 2023), so a
//! stretch of keys is loaded once and met by all queries at hand: the work is bound by arithmetic, not by memory. The softmax
//! is built up stretch by stretch (Milakov and Gimelshein 2018). What a query gets does not depend on the others: its sums run
//! over its positions in the same order however many queries come along.
#![allow(unsafe_code)]

use bytemuck::{Pod, Zeroable};

use super::Isa;
#[cfg(target_arch = "aarch64")]
use super::attention_kernels::arm;
#[cfg(target_arch = "x86_64")]
use super::attention_kernels::x86;
use super::attention_kernels::{Kernel, Plain, Scores};
use super::elementwise::{exp_body, sum_lanes};

/// Values in a vector, and positions in a block.
pub(super) const LANES: usize = 16;
/// Queries that are held in registers together.
pub(super) const TILE: usize = 8;
/// Blocks between two updates of the running maximum: with their values they fit the innermost cache.
pub(super) const CHUNK: usize = 2;

/// As many values as the widest register holds, aligned so that no load crosses a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub(super) [f32; LANES]);

impl Lanes {
    const ZERO: Lanes = Lanes([0.0; LANES]);
}

/// Keys and values of consecutive positions, for all key-value heads of one layer.
///
/// Positions lie in blocks of 16; within a block and head, keys are component-major and values position-major, so that both
/// products run along vectors without horizontal sums.
#[derive(Debug, Default)]
pub struct KeyValues {
    heads: usize,
    dimension: usize,
    len: usize,
    /// `[block][head][dimension]`, a lane a position.
    keys: Vec<Lanes>,
    /// `[block][head][position][dimension / 16, rounded up]`, a lane a component.
    values: Vec<Lanes>,
}

impl KeyValues {
    /// Empties it and makes room for `positions` positions of `heads` heads of `dimension` components.
    pub fn reset(&mut self, heads: usize, dimension: usize, positions: usize) {
        (self.heads, self.dimension, self.len) = (heads, dimension, 0);
        let blocks = positions.div_ceil(LANES);
        self.keys.clear();
        self.keys.reserve(blocks * self.key_lanes());
        self.values.clear();
        self.values.reserve(blocks * self.value_lanes());
    }

    /// Raised when the same keys and values give other [`Self::bytes`].
    pub const VERSION: u32 = 1;

    /// Keys and values as bytes, native-endian, whole blocks.
    pub fn bytes(&self) -> [&[u8]; 2] {
        [bytemuck::cast_slice(&self.keys), bytemuck::cast_slice(&self.values)]
    }

    /// Makes it hold `positions` positions whose bytes, as [`Self::bytes`] gave them, `bytes` begins with. Heads and dimension are
    /// those of the last [`Self::reset`]. Gives the rest; `None`, and nothing in it, where `bytes` is too short.
    pub fn restore<'a>(&mut self, positions: usize, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let blocks = positions.div_ceil(LANES);
        self.len = 0;
        let (keys, rest) = bytes.split_at_checked(blocks * self.key_lanes() * size_of::<Lanes>())?;
        let (values, rest) = rest.split_at_checked(blocks * self.value_lanes() * size_of::<Lanes>())?;
        for (to, from) in [(&mut self.keys, keys), (&mut self.values, values)] {
            to.clear();
            to.resize(from.len() / size_of::<Lanes>(), Lanes::ZERO);
            bytemuck::cast_slice_mut(to.as_mut_slice()).copy_from_slice(from);
        }
        self.len = positions;
        Some(rest)
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without positions.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a position: key and value of each head after one another.
    pub fn push(&mut self, key: &[f32], value: &[f32]) {
        assert!(key.len() == self.heads * self.dimension && value.len() == key.len(), "another number of components");
        let (block, lane) = (self.len / LANES, self.len % LANES);
        let (key_lanes, value_lanes, width) = (self.key_lanes(), self.value_lanes(), self.width());
        if self.keys.len() <= block * key_lanes {
            self.keys.resize((block + 1) * key_lanes, Lanes::ZERO);
            self.values.resize((block + 1) * value_lanes, Lanes::ZERO);
        }
        for (to, k) in self.keys[block * key_lanes..].iter_mut().zip(key) {
            to.0[lane] = *k;
        }
        let heads = self.values[block * value_lanes..].chunks_exact_mut(LANES * width);
        for (to, v) in heads.zip(value.chunks_exact(self.dimension)) {
            let to: &mut [f32] = bytemuck::cast_slice_mut(&mut to[lane * width..][..width]);
            to[..v.len()].copy_from_slice(v);
        }
        self.len += 1;
    }

    /// Takes back all positions from `len` on.
    pub fn truncate(&mut self, len: usize) {
        // What lies behind the length is overwritten before it is read.
        self.len = self.len.min(len);
    }

    /// Vectors of a value.
    fn width(&self) -> usize {
        self.dimension.div_ceil(LANES)
    }

    fn key_lanes(&self) -> usize {
        self.heads * self.dimension
    }

    fn value_lanes(&self) -> usize {
        self.heads * LANES * self.width()
    }

    fn block_keys(&self, block: usize, head: usize) -> &[Lanes] {
        &self.keys[block * self.key_lanes() + head * self.dimension..][..self.dimension]
    }

    fn block_values(&self, block: usize, head: usize) -> &[Lanes] {
        let len = LANES * self.width();
        &self.values[block * self.value_lanes() + head * len..][..len]
    }
}

/// Queries of one key-value head and what they have gathered so far.
#[derive(Debug, Default)]
pub struct Queries {
    dimension: usize,
    len: usize,
    /// `[tile][dimension][TILE]`, scaled; the last tile is padded with zeroes.
    queries: Vec<[f32; TILE]>,
    /// Highest score of each query.
    largest: Vec<f32>,
    /// Sum of its weights.
    total: Vec<f32>,
    /// `[query][dimension / 16, rounded up]`: the weighted sum of values.
    sums: Vec<Lanes>,
}

impl Queries {
    /// Takes queries of `dimension` components each; scores are products with `scale * query`.
    pub fn reset<'q>(&mut self, dimension: usize, scale: f32, queries: impl Iterator<Item = &'q [f32]>) {
        self.dimension = dimension;
        self.queries.clear();
        self.len = 0;
        for query in queries {
            assert_eq!(query.len(), dimension, "a query of another dimension");
            if self.len.is_multiple_of(TILE) {
                self.queries.resize(self.queries.len() + dimension, [0.0; TILE]);
            }
            for (to, x) in self.queries[self.len / TILE * dimension..].iter_mut().zip(query) {
                to[self.len % TILE] = x * scale;
            }
            self.len += 1;
        }
        let padded = self.len.next_multiple_of(TILE);
        for (values, start) in [(&mut self.largest, f32::NEG_INFINITY), (&mut self.total, 0.0)] {
            values.clear();
            values.resize(padded, start);
        }
        self.sums.clear();
        self.sums.resize(padded * dimension.div_ceil(LANES), Lanes::ZERO);
    }

    /// Number of queries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without queries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Attends from each query to the first `visible[query]` positions of `head`; to none where that is 0.
    pub fn attend(&mut self, keys: &KeyValues, head: usize, visible: &[usize]) {
        self.attend_with(Isa::best(), keys, head, visible);
    }

    /// [`Self::attend`] with a given instruction set; one that this processor lacks is replaced by its best.
    pub fn attend_with(&mut self, isa: Isa, keys: &KeyValues, head: usize, visible: &[usize]) {
        assert!(visible.len() == self.len && self.dimension == keys.dimension && head < keys.heads);
        assert!(visible.iter().all(|n| *n <= keys.len), "a position that is not there");
        match isa.min(Isa::best()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Isa::best` found these instructions on this processor; every processor with VNNI has DQ.
            Isa::Avx512Vnni => unsafe { wide(self, keys, head, visible) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { avx2(self, keys, head, visible) },
            #[cfg(target_arch = "aarch64")]
            Isa::NeonDot => body::<arm::Neon>(self, keys, head, visible),
            _ => body::<Plain>(self, keys, head, visible),
        }
    }

    /// The weighted mean of all values that query `index` has seen; `out` has `dimension` places.
    pub fn mean(&self, index: usize, out: &mut [f32]) {
        let width = self.dimension.div_ceil(LANES);
        let sums: &[f32] = bytemuck::cast_slice(&self.sums[index * width..][..width]);
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = sum / self.total[index];
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
fn wide(queries: &mut Queries, keys: &KeyValues, head: usize, visible: &[usize]) {
    body::<x86::Wide>(queries, keys, head, visible);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(queries: &mut Queries, keys: &KeyValues, head: usize, visible: &[usize]) {
    body::<x86::Avx2>(queries, keys, head, visible);
}

/// Chunks of positions outside, so that keys and values stay close, and tiles of queries inside.
#[inline(always)]
fn body<K: Kernel>(all: &mut Queries, keys: &KeyValues, head: usize, visible: &[usize]) {
    let (dimension, width) = (all.dimension, keys.width());
    let furthest = visible.iter().copied().max().unwrap_or(0);
    for first in (0..furthest.div_ceil(LANES)).step_by(CHUNK) {
        let start = first * LANES;
        let last = keys.len.div_ceil(LANES).min(first + CHUNK) - 1;
        let chunk_keys = std::array::from_fn(|b| keys.block_keys((first + b).min(last), head));
        let chunk_values: [&[Lanes]; CHUNK] = std::array::from_fn(|b| keys.block_values((first + b).min(last), head));
        let chunk_values = &chunk_values[..=last - first];
        // The next chunk is under way while this one is worked on, a part with each tile.
        let next = (first + CHUNK..keys.len.div_ceil(LANES).min(first + 2 * CHUNK))
            .flat_map(|b| [keys.block_keys(b, head), keys.block_values(b, head)]);
        let mut next = next.flatten();
        let part = (CHUNK * (dimension + LANES * width)).div_ceil(visible.len().div_ceil(TILE));
        for (tile, visible) in visible.chunks(TILE).enumerate() {
            next.by_ref().take(part).for_each(K::fetch);
            if visible.iter().all(|n| *n <= start) {
                continue;
            }
            let mut scores = Scores([[0.0; CHUNK * LANES]; TILE]);
            K::score(&all.queries[tile * dimension..][..dimension], chunk_keys, &mut scores);
            // What the sums so far are worth beside the new weights.
            let mut keep = [1f32; TILE];
            for (q, scores) in scores.0.iter_mut().enumerate() {
                match visible.get(q).map_or(0, |n| n.saturating_sub(start).min(CHUNK * LANES)) {
                    0 => *scores = [0.0; CHUNK * LANES],
                    n => {
                        keep[q] =
                            weigh::<K>(scores, n, &mut all.largest[tile * TILE + q], &mut all.total[tile * TILE + q])
                    }
                }
            }
            K::gather(&scores, &keep, chunk_values, &mut all.sums[tile * TILE * width..][..TILE * width]);
        }
    }
}

/// Turns the first `n` scores of a query into weights, the others into 0, and brings its maximum and total up to date.
/// Returns the factor that brings what was gathered before to the new maximum.
#[inline(always)]
fn weigh<K: Kernel>(scores: &mut [f32; CHUNK * LANES], n: usize, largest: &mut f32, total: &mut f32) -> f32 {
    let mut highest = [*largest; LANES];
    for (c, chunk) in scores.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        for i in 0..LANES {
            chunk[i] = if c * LANES + i < n { chunk[i] } else { f32::NEG_INFINITY };
            highest[i] = if chunk[i] > highest[i] { chunk[i] } else { highest[i] };
        }
    }
    let highest = highest.iter().fold(f32::NEG_INFINITY, |m, &s| if s > m { s } else { m });
    let keep = if *largest == f32::NEG_INFINITY { 0.0 } else { exp(*largest - highest, K::FUSED) };
    let mut sums = [0f32; LANES];
    for (c, chunk) in scores.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        for i in 0..LANES {
            let weight = exp(chunk[i] - highest, K::FUSED);
            chunk[i] = if c * LANES + i < n { weight } else { 0.0 };
            sums[i] += chunk[i];
        }
    }
    *total = *total * keep + sum_lanes(sums);
    *largest = highest;
    keep
}

#[inline(always)]
fn exp(x: f32, fused: bool) -> f32 {
    if fused { exp_body::<true>(x) } else { exp_body::<false>(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(i: usize) -> f32 {
        ((i * 2_654_435_761) % 1000) as f32 / 500.0 - 1.0
    }

    fn key_values(heads: usize, dimension: usize, positions: std::ops::Range<usize>) -> KeyValues {
        let mut out = KeyValues::default();
        out.reset(heads, dimension, positions.len());
        for p in positions {
            let of =
                |salt: usize| -> Vec<f32> { (0..heads * dimension).map(|i| noise(p * 977 + i * 31 + salt)).collect() };
            out.push(&of(5), &of(999));
        }
        out
    }

    /// Softmax over all positions at once, in double precision.
    fn exact(query: &[f32], head: usize, heads: usize, positions: usize, scale: f32) -> Vec<f64> {
        let d = query.len();
        let at = |p: usize, i: usize, salt: usize| f64::from(noise(p * 977 + (head * d + i) * 31 + salt));
        assert!(head < heads);
        let weights: Vec<f64> = (0..positions)
            .map(|p| ((0..d).map(|i| f64::from(query[i]) * at(p, i, 5)).sum::<f64>() * f64::from(scale)).exp())
            .collect();
        let total: f64 = weights.iter().sum();
        (0..d).map(|i| (0..positions).map(|p| weights[p] * at(p, i, 999)).sum::<f64>() / total).collect()
    }

    #[test]
    fn attention_over_pieces_equals_softmax_over_the_whole_for_every_instruction_set() {
        for dimension in [24, 64, 128] {
            let (heads, scale) = (2, 0.3);
            let pieces = [0..1, 1..1, 1..50, 50..83];
            let pieces = pieces.map(|range| key_values(heads, dimension, range));
            let queries: Vec<Vec<f32>> = (0..7).map(|q| (0..dimension).map(|i| noise(q * 131 + i)).collect()).collect();
            for isa in Isa::available() {
                for head in 0..heads {
                    let mut state = Queries::default();
                    state.reset(dimension, scale, queries.iter().map(Vec::as_slice));
                    let mut seen = 0;
                    // Later queries see more of the last piece, as the tokens of a prompt do.
                    for (n, piece) in pieces.iter().enumerate() {
                        let visible: Vec<usize> = (0..7).map(|q| if n == 3 { q * 5 } else { piece.len() }).collect();
                        state.attend_with(isa, piece, head, &visible);
                        seen += if n == 3 { 0 } else { piece.len() };
                    }
                    for (q, query) in queries.iter().enumerate() {
                        let mut out = vec![0.0; dimension];
                        state.mean(q, &mut out);
                        for (got, exact) in out.iter().zip(exact(query, head, heads, seen + q * 5, scale)) {
                            assert!((f64::from(*got) - exact).abs() < 2e-5, "{isa:?} {dimension}: {got} for {exact}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn positions_taken_back_leave_no_trace() {
        let mut keys = key_values(2, 24, 0..41);
        keys.truncate(30);
        let whole = key_values(2, 24, 0..36);
        let again = |p: usize, salt: usize| -> Vec<f32> { (0..48).map(|i| noise(p * 977 + i * 31 + salt)).collect() };
        for p in 30..36 {
            keys.push(&again(p, 5), &again(p, 999));
        }
        assert_eq!(keys.len(), 36);
        let query: Vec<f32> = (0..24).map(noise).collect();
        let mean = |keys: &KeyValues| {
            let (mut state, mut out) = (Queries::default(), vec![0.0; 24]);
            state.reset(24, 0.3, std::iter::once(query.as_slice()));
            state.attend(keys, 1, &[36]);
            state.mean(0, &mut out);
            out
        };
        assert_eq!(mean(&keys), mean(&whole));
    }

    #[test]
    fn what_a_query_gets_does_not_depend_on_the_queries_beside_it() {
        let keys = key_values(1, 64, 0..75);
        let query = |q: usize| -> Vec<f32> { (0..64).map(|i| noise(q * 37 + i)).collect() };
        let all: Vec<Vec<f32>> = (0..11).map(query).collect();
        for isa in Isa::available() {
            let run = |which: std::ops::Range<usize>| -> Vec<Vec<f32>> {
                let mut state = Queries::default();
                state.reset(64, 0.125, all[which.clone()].iter().map(Vec::as_slice));
                state.attend_with(isa, &keys, 0, &which.clone().map(|q| 60 + q).collect::<Vec<_>>());
                let mean = |q| {
                    let mut out = vec![0.0; 64];
                    state.mean(q, &mut out);
                    out
                };
                (0..which.len()).map(mean).collect()
            };
            let together = run(0..11);
            for (q, together) in together.iter().enumerate() {
                assert_eq!(&run(q..q + 1)[0], together, "{isa:?} query {q}");
            }
        }
    }
}

//! Weight tiles and quantized activations: what the kernels read.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Zeroable;
use candle_core::quantized::GgmlDType;
use half::f16;
use rayon::prelude::*;

use super::blocks::{self, GROUP};
use super::quantize::quantize;
use crate::error::{Error, Kind, Result};

/// Values up to which activations are rounded by the thread that asks for it.
const FEW: usize = 64 * 1024;
/// Weight rows in a tile: the 32-bit lanes of a 512-bit register.
pub(super) const LANES: usize = 16;
/// Activation rows that a kernel takes at once: enough to pay for unpacking the weights, few enough for registers.
pub(super) const BATCH: usize = 12;

/// 32 activations of a row: `x[i] ~ scale * q[i]`.
#[derive(Debug, Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
pub(super) struct Cell {
    /// Signed quanta.
    pub(super) q: [i8; GROUP],
    /// Factor.
    pub(super) scale: f32,
    /// `scale * Σ q`, to take a minimum off in one step.
    pub(super) sum: f32,
    /// `-128 Σ q` over all, the first and the second half: what a product with quanta in excess 128 starts from.
    pub(super) centre: [i32; 3],
}

/// Rows of activations quantized to signed 8 bits with one factor per 32 columns.
///
/// Shape: `rows` x `columns`. Rows lie in batches of equal size, give or take one; within a batch the cells of a group of
/// columns stand side by side, so that a kernel reads straight on.
#[derive(Debug, Clone)]
pub struct Activations {
    columns: usize,
    /// First row of each batch, and the number of rows.
    starts: Vec<usize>,
    /// `[batch][group][row of the batch]`.
    cells: Vec<Cell>,
}

/// A batch of [`Activations`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch<'a> {
    /// Its first row.
    pub(super) first: usize,
    /// Its rows, at most [`BATCH`].
    pub(super) rows: usize,
    /// `[group][row]`.
    pub(super) cells: &'a [Cell],
}

impl Activations {
    /// Quantizes `x` (`rows * columns` values, row-major; `columns` a multiple of 32).
    pub fn quantize(x: &[f32], columns: usize) -> Self {
        debug_assert!(x.len().is_multiple_of(columns));
        let row = |r: usize, row: &mut [f32]| row.copy_from_slice(&x[r * columns..][..columns]);
        Self::from_rows(x.len() / columns, columns, row)
    }

    /// Quantizes `rows` rows that `fill` writes, given the row's number, to a buffer of `columns` values: what is computed only to
    /// be multiplied never leaves the core's cache.
    pub fn from_rows(rows: usize, columns: usize, fill: impl Fn(usize, &mut [f32]) + Sync) -> Self {
        debug_assert!(columns.is_multiple_of(GROUP));
        let groups = columns / GROUP;
        let batches = rows.div_ceil(BATCH);
        let starts: Vec<usize> = (0..=batches).map(|b| b * rows / batches.max(1)).collect();
        let mut cells = vec![Cell::zeroed(); rows * groups];
        let mut rest = cells.as_mut_slice();
        let mut parts = Vec::with_capacity(batches);
        for range in starts.windows(2) {
            let (part, after) = rest.split_at_mut((range[1] - range[0]) * groups);
            parts.push((range[0], range[1] - range[0], part));
            rest = after;
        }
        let work = |buffer: &mut Vec<f32>, (first, n, cells): (usize, usize, &mut [Cell])| {
            for i in 0..n {
                fill(first + i, buffer);
                quantize(buffer, &mut cells[i..], n);
            }
        };
        // Waking other threads takes longer than rounding a short text.
        if rows * columns <= FEW {
            let mut buffer = vec![0f32; columns];
            parts.into_iter().for_each(|part| work(&mut buffer, part));
        } else {
            parts.into_par_iter().for_each_init(|| vec![0f32; columns], work);
        }
        Self { columns, starts, cells }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of batches.
    pub(super) fn batches(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn batch(&self, index: usize) -> Batch<'_> {
        let (first, end) = (self.starts[index], self.starts[index + 1]);
        let groups = self.columns / GROUP;
        Batch { first, rows: end - first, cells: &self.cells[first * groups..end * groups] }
    }
}

/// How the groups of a tile are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Two quanta to a byte: columns `4c..4c+4` in the low halves of chunk `c`, columns `16+4c..` in the high ones. A scale
    /// and a minimum.
    Four,
    /// One quantum to a byte: columns `4c..4c+4` in chunk `c`. A scale and a minimum.
    Eight,
    /// As `Eight`, for formats whose quanta are signed: excess 128 and a scale, no minimum.
    Signed,
    /// As `Signed`, with a scale for each half of the group.
    SignedHalves,
}

impl Layout {
    fn of(dtype: GgmlDType) -> Self {
        match dtype {
            GgmlDType::Q5_1 | GgmlDType::Q5K => Layout::Eight,
            GgmlDType::Q6K => Layout::SignedHalves,
            _ if blocks::quantum_bits(dtype) == Some(4) => Layout::Four,
            _ => Layout::Signed,
        }
    }

    /// Bytes of quanta of a tile's group.
    pub(super) const fn quanta(self) -> usize {
        match self {
            Layout::Four => LANES * GROUP / 2,
            Layout::Eight | Layout::Signed | Layout::SignedHalves => LANES * GROUP,
        }
    }

    /// Parts of a group with a scale of their own.
    pub(super) const fn parts(self) -> usize {
        match self {
            Layout::Four | Layout::Eight | Layout::Signed => 1,
            Layout::SignedHalves => 2,
        }
    }

    /// Whether there are minima behind the scales.
    pub(super) const fn has_minima(self) -> bool {
        matches!(self, Layout::Four | Layout::Eight)
    }

    /// Bytes of a tile's group: quanta, then scales and, where there are, minima as `f16` for 16 rows each; whole cache lines.
    pub(super) const fn stride(self) -> usize {
        let factors = self.parts() * if self.has_minima() { 2 } else { 1 };
        (self.quanta() + factors * LANES * 2).next_multiple_of(64)
    }
}

/// Bytes aligned to a cache line, so that vector loads never cross one.
#[derive(Debug, Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A weight matrix of shape `rows` x `columns` (output by input), repacked for the kernels.
///
/// Rows are padded to a multiple of 16. For each tile of 16 rows and each group of 32 columns: the quanta, then the
/// scales of each part, then its minima if the format has any, each 16 `f16`.
pub struct PackedMatrix {
    rows: usize,
    columns: usize,
    pub(super) layout: Layout,
    tiles: Tiles,
}

/// Where tiles are.
enum Tiles {
    /// Packed here.
    Own(Vec<Line>),
    /// Packed before, such as in a mapped file.
    Shared(SharedBytes),
}

/// Part of bytes that somebody keeps: a mapped file.
#[derive(Clone)]
pub struct SharedBytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl SharedBytes {
    /// The bytes `range` of what `owner` keeps; nothing where that is outside.
    pub fn new(owner: Arc<dyn AsRef<[u8]> + Send + Sync>, range: Range<usize>) -> Self {
        Self { owner, range }
    }

    fn bytes(&self) -> &[u8] {
        (*self.owner).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for PackedMatrix {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl std::fmt::Debug for PackedMatrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PackedMatrix({} x {}, {:?})", self.rows, self.columns, self.layout)
    }
}

impl PackedMatrix {
    /// Raised when packing gives other bytes for the same weights.
    pub const VERSION: u32 = 1;

    /// Repacks `bytes`, a row-major GGUF tensor of `rows` x `columns` weights of type `dtype`.
    ///
    /// Fails when the type has no kernel or the bytes do not fit the shape. Scales are rounded to `f16`, a relative
    /// error of at most 2^-11, well below that of the quanta.
    pub fn pack(dtype: GgmlDType, rows: usize, columns: usize, bytes: &[u8]) -> Result<Self> {
        let stride = blocks::row_bytes(dtype, columns)?;
        if Some(bytes.len()) != stride.checked_mul(rows) {
            return Err(Error::new(Kind::Corrupt, "a weight matrix does not fill its shape")
                .expected(format!("{rows} rows of {stride} bytes"))
                .found(format!("{} bytes", bytes.len())));
        }
        let layout = Layout::of(dtype);
        let groups = columns / GROUP;
        let tile_lines = groups * layout.stride() / 64;
        let mut lines = vec![Line([0; 64]); rows.div_ceil(LANES) * tile_lines];
        lines.par_chunks_mut(tile_lines).enumerate().for_each(|(tile, lines)| {
            let out: &mut [u8] = bytemuck::cast_slice_mut(lines);
            for lane in 0..LANES.min(rows - tile * LANES) {
                let row = &bytes[(tile * LANES + lane) * stride..][..stride];
                if dtype == GgmlDType::Q4_0 {
                    copy_lane(row, lane, out);
                    continue;
                }
                for (g, out) in out.chunks_exact_mut(layout.stride()).enumerate() {
                    write_lane(&blocks::group(dtype, row, g), layout, lane, out);
                }
            }
        });
        Ok(Self { rows, columns, layout, tiles: Tiles::Own(lines) })
    }

    /// Bytes that packing gives.
    pub fn packed_len(dtype: GgmlDType, rows: usize, columns: usize) -> Result<usize> {
        blocks::row_bytes(dtype, columns)?;
        let tile = columns / GROUP * Layout::of(dtype).stride();
        tile.checked_mul(rows.div_ceil(LANES)).ok_or_else(|| Error::new(Kind::Format, "a weight matrix is too large"))
    }

    /// A matrix whose [`Self::bytes`] were kept. Fails when they are not as many as the shape needs, or not aligned to a cache
    /// line.
    pub fn from_packed(dtype: GgmlDType, rows: usize, columns: usize, bytes: SharedBytes) -> Result<Self> {
        let needed = Self::packed_len(dtype, rows, columns)?;
        let layout = Layout::of(dtype);
        let found = bytes.bytes();
        if found.len() != needed || !(found.as_ptr() as usize).is_multiple_of(size_of::<Line>()) {
            return Err(Error::new(Kind::Corrupt, "a packed matrix does not fill its shape")
                .expected(format!("{needed} aligned bytes"))
                .found(format!("{} bytes", found.len())));
        }
        Ok(Self { rows, columns, layout, tiles: Tiles::Shared(bytes) })
    }

    /// The packed weights, the same on every machine: to be kept and given to [`Self::from_packed`].
    pub fn bytes(&self) -> &[u8] {
        self.tiles()
    }

    /// Output features.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Input features.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The tiles, each as long as [`Self::tile_bytes`] says.
    pub(super) fn tiles(&self) -> &[u8] {
        match &self.tiles {
            Tiles::Own(lines) => bytemuck::cast_slice(lines),
            Tiles::Shared(bytes) => bytes.bytes(),
        }
    }

    /// Bytes of a tile.
    pub(super) fn tile_bytes(&self) -> usize {
        self.columns / GROUP * self.layout.stride()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        match &self.tiles {
            Tiles::Own(lines) => size_of_val(lines.as_slice()),
            Tiles::Shared(_) => 0,
        }
    }
}

/// What [`write_lane`] does for a row of Q4_0 blocks, whose bytes hold columns `i` and `16 + i` like those of
/// [`Layout::Four`]: they are copied as they are. An embedder is packed at every start.
fn copy_lane(row: &[u8], lane: usize, tile: &mut [u8]) {
    let (scale, minimum) = (Layout::Four.quanta() + lane * 2, Layout::Four.quanta() + (LANES + lane) * 2);
    let groups = tile.chunks_exact_mut(Layout::Four.stride());
    for (block, out) in row.as_chunks::<18>().0.iter().zip(groups) {
        for (chunk, quad) in block[2..].as_chunks::<4>().0.iter().enumerate() {
            out[chunk * 64 + lane * 4..][..4].copy_from_slice(quad);
        }
        let factor = [block[0], block[1]];
        out[scale..scale + 2].copy_from_slice(&factor);
        let minimum_of = f16::from_f32(8.0 * f16::from_le_bytes(factor).to_f32());
        out[minimum..minimum + 2].copy_from_slice(&minimum_of.to_le_bytes());
    }
}

fn write_lane(group: &blocks::Group, layout: Layout, lane: usize, out: &mut [u8]) {
    // Four columns at a time: they lie side by side in the group and in the tile.
    let (quads, _) = group.q.as_chunks::<4>();
    match layout {
        Layout::Four => {
            for (chunk, (low, high)) in quads[..4].iter().zip(&quads[4..]).enumerate() {
                let to = &mut out[chunk * 64 + lane * 4..][..4];
                for i in 0..4 {
                    to[i] = low[i] | high[i] << 4;
                }
            }
        }
        Layout::Eight | Layout::Signed | Layout::SignedHalves => {
            let excess = if layout == Layout::Eight { 0 } else { 128 - group.centre };
            for (chunk, quad) in quads.iter().enumerate() {
                out[chunk * 64 + lane * 4..][..4].copy_from_slice(&quad.map(|q| q + excess));
            }
        }
    }
    let parts = layout.parts();
    for part in 0..parts {
        let minimum = layout.has_minima().then_some((parts + part, group.min[part]));
        for (slot, value) in [Some((part, group.scale[part])), minimum].into_iter().flatten() {
            let at = layout.quanta() + (slot * LANES + lane) * 2;
            out[at..at + 2].copy_from_slice(&f16::from_f32(value).to_le_bytes());
        }
    }
}

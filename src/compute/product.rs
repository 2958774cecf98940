//! The product of activations and a packed matrix: tiles shared out over threads, one kernel per instruction set.
#![allow(unsafe_code)]

use rayon::prelude::*;

use super::packed::{Activations, BATCH, Batch, LANES, Layout, PackedMatrix};
use super::{Isa, kernel_avx2, kernel_avx512, kernel_neon, kernel_plain};

/// Activations (bytes of quanta) that are multiplied with all tiles before the next: half of a usual second-level cache.
const NEAR: usize = 512 * 1024;

/// Tiles whose results are written together: a row of the output gets whole pieces, not a cache line at a time.
const SIDE: usize = 4;

/// Weights (bytes of tiles) and multiplications up to which a product is done by the thread that asks for it.
const SMALL: usize = 512 * 1024;
const FEW: usize = 16_000_000;

/// A kernel: products of a batch with the rows of a tile.
type Kernel = fn(Layout, &[u8], Batch<'_>, &mut [[f32; LANES]; BATCH]);

/// The output of a product, written by several threads in disjoint places.
#[derive(Clone, Copy)]
struct Scatter {
    out: *mut f32,
    rows: usize,
    columns: usize,
}

// SAFETY: threads write through `write` only, and each thread owns whole tiles, so no two write the same column.
unsafe impl Send for Scatter {}
// SAFETY: as above.
unsafe impl Sync for Scatter {}

impl Scatter {
    /// Writes the values of a tile for one row; those past the last column are padding and dropped.
    fn write(&self, row: usize, column: usize, values: &[f32; LANES]) {
        assert!(row < self.rows && column < self.columns);
        let n = self.columns - column;
        // SAFETY: `row * columns + column + min(n, LANES) <= rows * columns`, the length of the slice that `out` came from.
        unsafe {
            let to = self.out.add(row * self.columns + column);
            if n >= LANES {
                // A constant length is one store; any other is a call.
                to.cast::<[f32; LANES]>().write_unaligned(*values);
            } else {
                std::ptr::copy_nonoverlapping(values.as_ptr(), to, n);
            }
        }
    }
}

impl PackedMatrix {
    /// `out[r][n] = Σ_k x[r][k] * w[n][k]`, with `out` of `x.rows() * self.rows()` values, row-major.
    ///
    /// # Panics
    /// When the shapes do not agree, which is a defect of the caller.
    pub fn multiply(&self, x: &Activations, out: &mut [f32]) {
        self.multiply_with(Isa::best(), x, out);
    }

    /// [`Self::multiply`] with a given instruction set; one that this processor lacks is replaced by its best.
    ///
    /// # Panics
    /// As [`Self::multiply`].
    pub fn multiply_with(&self, isa: Isa, x: &Activations, out: &mut [f32]) {
        assert_eq!(x.columns(), self.columns(), "activations and weights differ in width");
        assert_eq!(out.len(), x.rows() * self.rows(), "the output has another shape");
        let kernel: Kernel = match isa.min(Isa::best()) {
            Isa::Avx512Vnni => kernel_avx512::tile,
            Isa::Avx2 => kernel_avx2::tile,
            Isa::NeonDot => kernel_neon::tile,
            Isa::Plain => kernel_plain::tile,
        };
        let target = Scatter { out: out.as_mut_ptr(), rows: x.rows(), columns: self.rows() };
        let tile_bytes = self.tile_bytes();
        // Waking other threads takes longer than a short text through a small layer.
        if self.tiles().len() <= SMALL && x.rows() * self.columns() * self.rows() <= FEW {
            return self.multiply_tiles(kernel, x, target, 0, self.tiles());
        }
        // Several tasks a thread, so that a thread that was interrupted does not hold up the others.
        let tiles_per_task = self.rows().div_ceil(LANES).div_ceil(4 * rayon::current_num_threads()).max(1);
        self.tiles().par_chunks(tiles_per_task * tile_bytes).enumerate().for_each(|(task, tiles)| {
            self.multiply_tiles(kernel, x, target, task * tiles_per_task, tiles);
        });
    }

    /// The part of [`Self::multiply`] that `tiles` take, of which the first is tile number `first_tile`.
    fn multiply_tiles(&self, kernel: Kernel, x: &Activations, target: Scatter, first_tile: usize, tiles: &[u8]) {
        let tile_bytes = self.tile_bytes();
        // So many batches that their activations stay in the core's cache while all tiles pass.
        let at_once = (NEAR / (BATCH * self.columns())).max(1);
        let mut blocks = [[[0f32; LANES]; BATCH]; SIDE];
        for first in (0..x.batches()).step_by(at_once) {
            let last = x.batches().min(first + at_once) - 1;
            for (t, tiles) in tiles.chunks(SIDE * tile_bytes).enumerate() {
                let column = (first_tile + t * SIDE) * LANES;
                for b in first..=last {
                    let batch = x.batch(b);
                    let mut done = 0;
                    for (tile, block) in tiles.chunks_exact(tile_bytes).zip(&mut blocks) {
                        kernel(self.layout, tile, batch, block);
                        done += 1;
                    }
                    for row in 0..batch.rows {
                        for (i, block) in blocks[..done].iter().enumerate() {
                            target.write(batch.first + row, column + i * LANES, &block[row]);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::compute::blocks;
    use candle_core::quantized::{GgmlDType, QTensor};
    use candle_core::{Device, Tensor};

    fn noise(n: usize, mut state: u64) -> Vec<f32> {
        std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        })
        .take(n)
        .collect()
    }

    const TYPES: [GgmlDType; 9] = [
        GgmlDType::Q4_0,
        GgmlDType::Q4_1,
        GgmlDType::Q5_0,
        GgmlDType::Q5_1,
        GgmlDType::Q8_0,
        GgmlDType::Q4K,
        GgmlDType::Q5K,
        GgmlDType::Q6K,
        GgmlDType::F16,
    ];

    #[test]
    fn every_kernel_agrees_with_the_exact_product_for_every_format_and_row_count() {
        let (rows, columns) = (37, 512);
        let weights = Tensor::from_vec(noise(rows * columns, 7), (rows, columns), &Device::Cpu).unwrap();
        for dtype in TYPES {
            let quantized = QTensor::quantize(&weights, dtype).unwrap();
            let bytes = quantized.data().unwrap();
            let packed = PackedMatrix::pack(dtype, rows, columns, &bytes).unwrap();
            let stride = blocks::row_bytes(dtype, columns).unwrap();
            for n in [1, 2, 3, 4, 5, 7, 8, 9, 17] {
                let x = noise(n * columns, 11 + n as u64);
                let activations = Activations::quantize(&x, columns);
                for isa in Isa::available() {
                    let mut out = vec![f32::NAN; n * rows];
                    packed.multiply_with(isa, &activations, &mut out);
                    let mut row = vec![0f32; columns];
                    for w in 0..rows {
                        blocks::dequantize_row(dtype, &bytes[w * stride..][..stride], &mut row);
                        for r in 0..n {
                            let exact: f32 = row.iter().zip(&x[r * columns..]).map(|(a, b)| a * b).sum();
                            let norm = |v: &[f32]| v.iter().map(|a| a * a).sum::<f32>().sqrt();
                            let bound = 0.008 * norm(&row) * norm(&x[r * columns..][..columns]) / 8.0;
                            let got = out[r * rows + w];
                            assert!(
                                (got - exact).abs() < bound,
                                "{dtype:?} {isa:?} n={n}: {got} for {exact} ± {bound}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn vector_kernels_agree_with_the_plain_one_on_extreme_quanta() {
        // Bytes of all ones and all zeroes: the largest quanta, which saturate 16-bit products when handled carelessly.
        let columns = 256;
        for dtype in TYPES {
            let stride = blocks::row_bytes(dtype, columns).unwrap();
            for fill in [0x00u8, 0x7f, 0x80, 0xff] {
                let mut bytes = vec![fill; stride * 16];
                let size = dtype.type_size();
                for block in bytes.chunks_exact_mut(size) {
                    // Finite scales: f16 1.0 wherever this format keeps one; Q6_K keeps it at the end.
                    match dtype {
                        GgmlDType::Q6K => block[208..].copy_from_slice(&[0x00, 0x3c]),
                        GgmlDType::F16 => block.copy_from_slice(&[0x00, 0x3c]),
                        GgmlDType::Q4_0 | GgmlDType::Q5_0 | GgmlDType::Q8_0 => block[..2].copy_from_slice(&[0, 0x3c]),
                        _ => block[..4].copy_from_slice(&[0x00, 0x3c, 0x00, 0x3c]),
                    }
                }
                let packed = PackedMatrix::pack(dtype, 16, columns, &bytes).unwrap();
                for value in [1.0f32, -1.0] {
                    let x: Vec<f32> = (0..columns).map(|i| if i % 3 == 2 { -value } else { value }).collect();
                    let x = Activations::quantize(&x, columns);
                    let mut plain = vec![0f32; 16];
                    packed.multiply_with(Isa::Plain, &x, &mut plain);
                    for isa in Isa::available() {
                        let mut out = vec![f32::NAN; 16];
                        packed.multiply_with(isa, &x, &mut out);
                        for (a, b) in out.iter().zip(&plain) {
                            assert!(
                                (a - b).abs() <= 1e-3 * b.abs().max(1.0),
                                "{dtype:?} {isa:?} {fill:#x}: {a} for {b}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn zero_activations_give_zero() {
        let weights = Tensor::from_vec(noise(16 * 32, 3), (16, 32), &Device::Cpu).unwrap();
        let quantized = QTensor::quantize(&weights, GgmlDType::Q8_0).unwrap();
        let packed = PackedMatrix::pack(GgmlDType::Q8_0, 16, 32, &quantized.data().unwrap()).unwrap();
        let mut out = vec![f32::NAN; 16];
        packed.multiply(&Activations::quantize(&[0.0; 32], 32), &mut out);
        assert!(out.iter().all(|v| *v == 0.0));
    }
}

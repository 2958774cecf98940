//! The kernel for AVX2: as the AVX-512 one with eight weight rows a register and 16-bit partial products.
//!
//! `vpmaddubsw` saturates at 16 bits, so quanta of more than four bits are multiplied as two nibbles. Weights are unpacked once
//! for four activation rows.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::packed::{BATCH, Batch, LANES, Layout};

/// Products of up to [`BATCH`] activation rows with the 16 weight rows of a tile. Only for processors that have
/// [`Isa::Avx2`](super::Isa::Avx2); on others it falls back to the plain kernel.
#[cfg(target_arch = "x86_64")]
pub(super) fn tile(layout: Layout, tile: &[u8], x: Batch<'_>, out: &mut [[f32; LANES]; BATCH]) {
    if super::Isa::best() < super::Isa::Avx2 {
        return super::kernel_plain::tile(layout, tile, x, out);
    }
    // SAFETY: the instruction set was just asked for.
    unsafe {
        match layout {
            Layout::Four => x86::by_rows::<{ x86::FOUR }>(tile, x, out),
            Layout::Eight => x86::by_rows::<{ x86::EIGHT }>(tile, x, out),
            Layout::Signed => x86::by_rows::<{ x86::SIGNED }>(tile, x, out),
            Layout::SignedHalves => x86::by_rows::<{ x86::SIGNED_HALVES }>(tile, x, out),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use super::kernel_plain::tile;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::packed::Cell;
    use super::{BATCH, Batch, LANES, Layout};

    pub(super) const FOUR: u8 = 0;
    pub(super) const EIGHT: u8 = 1;
    pub(super) const SIGNED: u8 = 2;
    pub(super) const SIGNED_HALVES: u8 = 3;
    /// Activation rows whose sums are held in registers together.
    const ROWS: usize = 4;

    const fn layout(id: u8) -> Layout {
        match id {
            FOUR => Layout::Four,
            EIGHT => Layout::Eight,
            SIGNED => Layout::Signed,
            _ => Layout::SignedHalves,
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn by_rows<const L: u8>(tile: &[u8], x: Batch<'_>, out: &mut [[f32; LANES]; BATCH]) {
        for first in (0..x.rows).step_by(ROWS) {
            let out = &mut out[first..];
            match x.rows - first {
                1 => rows::<L, 1>(tile, x, first, out),
                2 => rows::<L, 2>(tile, x, first, out),
                3 => rows::<L, 3>(tile, x, first, out),
                _ => rows::<L, 4>(tile, x, first, out),
            }
        }
    }

    /// Repeats a block for each of the first `N` rows with the row number as a constant, so that their sums stay in registers.
    macro_rules! for_each_row {
        ($n:ident, $i:ident, $body:block) => {
            for_each_row!(@ $n, $i, $body, 0, 1, 2, 3)
        };
        (@ $n:ident, $i:ident, $body:block, $($row:literal),*) => {
            $(if $row < $n {
                const $i: usize = $row;
                $body
            })*
        };
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    fn rows<const L: u8, const N: usize>(tile: &[u8], x: Batch<'_>, first: usize, out: &mut [[f32; LANES]]) {
        let (stride, quanta) = (const { layout(L).stride() }, const { layout(L).quanta() });
        let parts = const { layout(L).parts() };
        let groups = tile.len() / stride;
        assert!(first + N <= x.rows && x.cells.len() == groups * x.rows && N <= out.len());
        let (low, ones) = (_mm256_set1_epi8(15), _mm256_set1_epi16(1));
        for side in 0..2 {
            let mut acc = [_mm256_setzero_ps(); ROWS];
            for g in 0..groups {
                // SAFETY: `g < groups`, so the group lies in the tile; the loads below stay inside its `stride` bytes.
                let base = unsafe { tile.as_ptr().add(g * stride) };
                // SAFETY: chunk `c` holds 64 bytes, 32 for each side.
                let load = |c: usize| unsafe { _mm256_loadu_si256(base.add(c * 64 + side * 32).cast()) };
                let factor = |s: usize| {
                    // SAFETY: slot `s` holds 16 `f16` behind the quanta, 8 for each side.
                    unsafe { _mm256_cvtph_ps(_mm_loadu_si128(base.add(quanta + s * 32 + side * 16).cast())) }
                };
                // SAFETY: there are `groups * x.rows` cells, and `first + N <= x.rows` (asserted above).
                let cells: *const Cell = unsafe { x.cells.as_ptr().add(g * x.rows + first) };
                for part in 0..parts {
                    // Products of a nibble and an i8 stay below 2^11, and a lane of 16 bits takes two of each of at most
                    // eight chunks, so that they can be summed before they are widened.
                    let mut units = [_mm256_setzero_si256(); ROWS];
                    let mut sixteens = [_mm256_setzero_si256(); ROWS];
                    let chunks = if L == SIGNED_HALVES || L == FOUR { 4 * part..4 * part + 4 } else { 0..8 };
                    for c in chunks {
                        let packed = load(c);
                        let small = _mm256_and_si256(packed, low);
                        let large = _mm256_and_si256(_mm256_srli_epi16::<4>(packed), low);
                        for_each_row!(N, ROW, {
                            // SAFETY: `ROW < N`, and a cell holds 32 bytes, of which these are four. The read is unaligned.
                            let four = |c: usize| unsafe { cells.add(ROW).cast::<i32>().add(c).read_unaligned() };
                            let x = _mm256_set1_epi32(four(c));
                            units[ROW] = _mm256_add_epi16(units[ROW], _mm256_maddubs_epi16(small, x));
                            if L == FOUR {
                                let x = _mm256_set1_epi32(four(c + 4));
                                units[ROW] = _mm256_add_epi16(units[ROW], _mm256_maddubs_epi16(large, x));
                            } else {
                                sixteens[ROW] = _mm256_add_epi16(sixteens[ROW], _mm256_maddubs_epi16(large, x));
                            }
                        });
                    }
                    for_each_row!(N, ROW, {
                        // SAFETY: `ROW < N`.
                        let cell = unsafe { &*cells.add(ROW) };
                        let mut dots = _mm256_madd_epi16(units[ROW], ones);
                        if L != FOUR {
                            let large = _mm256_madd_epi16(sixteens[ROW], ones);
                            dots = _mm256_add_epi32(dots, _mm256_slli_epi32::<4>(large));
                        }
                        if !const { layout(L).has_minima() } {
                            let centre = cell.centre[if L == SIGNED { 0 } else { 1 + part }];
                            dots = _mm256_add_epi32(dots, _mm256_set1_epi32(centre));
                        }
                        let scale = _mm256_mul_ps(factor(part), _mm256_set1_ps(cell.scale));
                        acc[ROW] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots), scale, acc[ROW]);
                        if const { layout(L).has_minima() } {
                            acc[ROW] = _mm256_fnmadd_ps(factor(parts + part), _mm256_set1_ps(cell.sum), acc[ROW]);
                        }
                    });
                }
            }
            for (out, acc) in out[..N].iter_mut().zip(acc) {
                // SAFETY: `out` holds 16 floats, 8 for each side.
                unsafe { _mm256_storeu_ps(out.as_mut_ptr().add(side * 8), acc) };
            }
        }
    }
}

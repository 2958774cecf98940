//! The kernel for AVX2: as the AVX-512 one with eight weight rows a register and 16-bit partial products.
//!
//! `vpmaddubsw` saturates at 16 bits, so quanta of more than four bits are multiplied as two nibbles.
#![allow(unsafe_code)]

use super::packed::{BATCH, Batch, LANES, Layout};

/// Products of up to [`BATCH`] activation rows with the 16 weight rows of a tile. Only for processors that have
/// [`Isa::Avx2`](super::Isa::Avx2); on others it falls back to the plain kernel.
#[cfg(target_arch = "x86_64")]
pub(super) fn tile(layout: Layout, tile: &[u8], x: Batch<'_>, out: &mut [[f32; LANES]; BATCH]) {
    if super::Isa::best() < super::Isa::Avx2 {
        return super::kernel_plain::tile(layout, tile, x, out);
    }
    for (row, out) in out[..x.rows].iter_mut().enumerate() {
        // SAFETY: the instruction set was just asked for.
        unsafe {
            x86::row(layout, tile, x, row, out);
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use super::kernel_plain::tile;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Batch, LANES, Layout};

    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn row(layout: Layout, tile: &[u8], x: Batch<'_>, row: usize, out: &mut [f32; LANES]) {
        let (stride, quanta, parts) = (layout.stride(), layout.quanta(), layout.parts());
        let groups = tile.len() / stride;
        let (low, ones) = (_mm256_set1_epi8(15), _mm256_set1_epi16(1));
        for side in 0..2 {
            let mut acc = _mm256_setzero_ps();
            for g in 0..groups {
                let cell = &x.cells[g * x.rows + row];
                // SAFETY: `g < groups`, so the group lies in the tile; the loads below stay inside its `stride` bytes.
                let base = unsafe { tile.as_ptr().add(g * stride) };
                // SAFETY: chunk `c` holds 64 bytes, 32 for each side.
                let load = |c: usize| unsafe { _mm256_loadu_si256(base.add(c * 64 + side * 32).cast()) };
                let factor = |s: usize| {
                    // SAFETY: slot `s` holds 16 `f16` behind the quanta, 8 for each side.
                    unsafe { _mm256_cvtph_ps(_mm_loadu_si128(base.add(quanta + s * 32 + side * 16).cast())) }
                };
                let broadcast = |c: usize| {
                    // SAFETY: a cell holds 32 bytes and `c * 4 + 4 <= 32`.
                    let four = unsafe { cell.q.as_ptr().add(c * 4).cast::<i32>().read_unaligned() };
                    _mm256_set1_epi32(four)
                };
                let mut dots = match layout {
                    Layout::Four | Layout::Eight => [_mm256_setzero_si256(); 2],
                    Layout::Signed => [_mm256_set1_epi32(cell.centre[0]), _mm256_setzero_si256()],
                    Layout::SignedHalves => [_mm256_set1_epi32(cell.centre[1]), _mm256_set1_epi32(cell.centre[2])],
                };
                for c in 0..4 {
                    // Products of a nibble and an i8 fit 13 bits with their neighbour, so four of them fit 16 bits.
                    if layout == Layout::Four {
                        let both = load(c);
                        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(both), low);
                        let first = _mm256_maddubs_epi16(_mm256_and_si256(both, low), broadcast(c));
                        let second = _mm256_maddubs_epi16(high, broadcast(c + 4));
                        dots[0] = _mm256_add_epi32(dots[0], _mm256_madd_epi16(first, ones));
                        dots[1] = _mm256_add_epi32(dots[1], _mm256_madd_epi16(second, ones));
                    } else {
                        for (half, dot) in dots.iter_mut().enumerate() {
                            let (w, x) = (load(c + 4 * half), broadcast(c + 4 * half));
                            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(w), low);
                            let units = _mm256_maddubs_epi16(_mm256_and_si256(w, low), x);
                            let sixteens = _mm256_maddubs_epi16(high, x);
                            *dot = _mm256_add_epi32(*dot, _mm256_madd_epi16(units, ones));
                            let sixteens = _mm256_slli_epi32::<4>(_mm256_madd_epi16(sixteens, ones));
                            *dot = _mm256_add_epi32(*dot, sixteens);
                        }
                    }
                }
                if parts == 1 {
                    dots[0] = _mm256_add_epi32(dots[0], dots[1]);
                }
                for (part, dot) in dots[..parts].iter().enumerate() {
                    let scale = _mm256_mul_ps(factor(part), _mm256_set1_ps(cell.scale));
                    acc = _mm256_fmadd_ps(_mm256_cvtepi32_ps(*dot), scale, acc);
                    if layout.has_minima() {
                        acc = _mm256_fnmadd_ps(factor(parts + part), _mm256_set1_ps(cell.sum), acc);
                    }
                }
            }
            // SAFETY: `out` holds 16 floats, 8 for each side.
            unsafe { _mm256_storeu_ps(out.as_mut_ptr().add(side * 8), acc) };
        }
    }
}

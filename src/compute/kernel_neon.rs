//! The kernel for 64-bit ARM with the dot product extension (ARMv8.2; every server core since 2018): `sdot` multiplies 16 signed
//! quanta by four activations, four times, and adds them up in four lanes, one a weight row.
//!
//! As in the AVX2 kernel, eight weight rows are worked on at a time, unpacked once for four activation rows. Quanta in excess
//! 128 are made signed on the way, so the centre of a cell is not needed.
#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
use super::packed::{BATCH, Batch, LANES, Layout};

/// Products of up to [`BATCH`] activation rows with the 16 weight rows of a tile. Only for processors that have
/// [`Isa::NeonDot`](super::Isa::NeonDot); on others it falls back to the plain kernel.
#[cfg(target_arch = "aarch64")]
pub(super) fn tile(layout: Layout, tile: &[u8], x: Batch<'_>, out: &mut [[f32; LANES]; BATCH]) {
    if super::Isa::best() < super::Isa::NeonDot {
        return super::kernel_plain::tile(layout, tile, x, out);
    }
    // SAFETY: the instruction set was just asked for.
    unsafe {
        match layout {
            Layout::Four => arm::by_rows::<{ arm::FOUR }>(tile, x, out),
            Layout::Eight => arm::by_rows::<{ arm::EIGHT }>(tile, x, out),
            Layout::Signed => arm::by_rows::<{ arm::SIGNED }>(tile, x, out),
            Layout::SignedHalves => arm::by_rows::<{ arm::SIGNED_HALVES }>(tile, x, out),
        }
    }
}

#[cfg(not(target_arch = "aarch64"))]
pub(super) use super::kernel_plain::tile;

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::*;
    use std::arch::asm;

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

    /// `sums[i] + Σ w[4i..4i+4] · x[4·LANE..4·LANE+4]`. The intrinsic of the same name is not in stable Rust yet.
    #[inline]
    #[target_feature(enable = "neon,dotprod")]
    fn dot<const LANE: i32>(mut sums: int32x4_t, w: int8x16_t, x: int8x16_t) -> int32x4_t {
        // SAFETY: registers only, and the instruction is there: the caller's features say so.
        unsafe {
            asm!("sdot {sums:v}.4s, {w:v}.16b, {x:v}.4b[{lane}]", sums = inout(vreg) sums, w = in(vreg) w, x = in(vreg) x,
                lane = const LANE, options(pure, nomem, nostack, preserves_flags));
        }
        sums
    }

    /// Four `f16` at `from` as `f32`.
    ///
    /// # Safety
    /// There are eight bytes.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn four_halves(from: *const u8) -> float32x4_t {
        let wide: float32x4_t;
        // SAFETY: the bytes are there (the caller's promise); converting is part of the base instruction set.
        unsafe {
            let halves = vld1_u16(from.cast());
            asm!("fcvtl {wide:v}.4s, {halves:v}.4h", wide = lateout(vreg) wide, halves = in(vreg) halves,
                options(pure, nomem, nostack, preserves_flags));
        }
        wide
    }

    #[target_feature(enable = "neon,dotprod")]
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

    /// Repeats a block for each number in the list, as a constant: sums stay in registers, and lanes can be named.
    macro_rules! for_each {
        ($i:ident in [$($value:literal)*], $body:block) => {
            $({
                const $i: usize = $value;
                $body
            })*
        };
    }

    #[target_feature(enable = "neon,dotprod")]
    fn rows<const L: u8, const N: usize>(tile: &[u8], x: Batch<'_>, first: usize, out: &mut [[f32; LANES]]) {
        let (stride, quanta) = (const { layout(L).stride() }, const { layout(L).quanta() });
        let parts = const { layout(L).parts() };
        let groups = tile.len() / stride;
        assert!(first + N <= x.rows && x.cells.len() == groups * x.rows && N <= out.len());
        let (low, excess) = (vdupq_n_u8(15), vdupq_n_u8(128));
        for side in 0..2 {
            let mut acc = [[vdupq_n_f32(0.0); 2]; ROWS];
            for g in 0..groups {
                // SAFETY: `g < groups`, so the group lies in the tile; the loads below stay inside its `stride` bytes.
                let base = unsafe { tile.as_ptr().add(g * stride) };
                // SAFETY: chunk `c` holds 64 bytes, two vectors for each side.
                let load = |c: usize, half: usize| unsafe { vld1q_u8(base.add(c * 64 + side * 32 + half * 16)) };
                // SAFETY: slot `s` holds 16 `f16` behind the quanta, two vectors of four for each side.
                let factor =
                    |s: usize, half: usize| unsafe { four_halves(base.add(quanta + s * 32 + side * 16 + half * 8)) };
                // SAFETY: there are `groups * x.rows` cells, and `first + N <= x.rows` (asserted above).
                let cells: *const Cell = unsafe { x.cells.as_ptr().add(g * x.rows + first) };
                let mut activations = [[vdupq_n_s8(0); 2]; ROWS];
                for_each!(ROW in [0 1 2 3], {
                    if ROW < N {
                        // SAFETY: `ROW < N`, and a cell begins with 32 quanta.
                        let q = unsafe { (*cells.add(ROW)).q.as_ptr() };
                        // SAFETY: as above.
                        activations[ROW] = unsafe { [vld1q_s8(q), vld1q_s8(q.add(16))] };
                    }
                });
                for_each!(PART in [0 1], {
                    if PART < parts {
                        let mut dots = [[vdupq_n_s32(0); 2]; ROWS];
                        for_each!(CHUNK in [0 1 2 3 4 5 6 7], {
                            const LANE: i32 = CHUNK as i32 % 4;
                            if (L != FOUR || CHUNK < 4) && (L != SIGNED_HALVES || CHUNK / 4 == PART) {
                                for_each!(HALF in [0 1], {
                                    let packed = load(CHUNK, HALF);
                                    let w = match L {
                                        FOUR => vandq_u8(packed, low),
                                        EIGHT => packed,
                                        _ => veorq_u8(packed, excess),
                                    };
                                    for_each!(ROW in [0 1 2 3], {
                                        if ROW < N {
                                            let x = activations[ROW][CHUNK / 4];
                                            dots[ROW][HALF] = dot::<LANE>(dots[ROW][HALF], vreinterpretq_s8_u8(w), x);
                                        }
                                    });
                                    if L == FOUR {
                                        let w = vreinterpretq_s8_u8(vshrq_n_u8::<4>(packed));
                                        for_each!(ROW in [0 1 2 3], {
                                            if ROW < N {
                                                dots[ROW][HALF] = dot::<LANE>(dots[ROW][HALF], w, activations[ROW][1]);
                                            }
                                        });
                                    }
                                });
                            }
                        });
                        for_each!(HALF in [0 1], {
                            let scale = factor(PART, HALF);
                            for_each!(ROW in [0 1 2 3], {
                                if ROW < N {
                                    // SAFETY: `ROW < N`.
                                    let cell = unsafe { &*cells.add(ROW) };
                                    let scale = vmulq_n_f32(scale, cell.scale);
                                    acc[ROW][HALF] = vfmaq_f32(acc[ROW][HALF], vcvtq_f32_s32(dots[ROW][HALF]), scale);
                                    if const { layout(L).has_minima() } {
                                        acc[ROW][HALF] = vfmsq_n_f32(acc[ROW][HALF], factor(parts + PART, HALF), cell.sum);
                                    }
                                }
                            });
                        });
                    }
                });
            }
            for (out, acc) in out[..N].iter_mut().zip(acc) {
                for (half, acc) in acc.into_iter().enumerate() {
                    // SAFETY: `out` holds 16 floats, two vectors of four for each side.
                    unsafe { vst1q_f32(out.as_mut_ptr().add(side * 8 + half * 4), acc) };
                }
            }
        }
    }
}

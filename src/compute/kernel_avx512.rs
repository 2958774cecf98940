//! The kernel for AVX-512 with VNNI: `vpdpbusd` multiplies 64 unsigned quanta by 64 signed activations and adds them up
//! in 16 lanes, one a weight row. Four activations are broadcast to all lanes at a time.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::packed::{BATCH, Batch, LANES, Layout};

/// Products of up to [`BATCH`] activation rows with the 16 weight rows of a tile. Only for processors that have
/// [`Isa::Avx512Vnni`](super::Isa::Avx512Vnni); on others it falls back to the plain kernel.
#[cfg(target_arch = "x86_64")]
pub(super) fn tile(layout: Layout, tile: &[u8], x: Batch<'_>, out: &mut [[f32; LANES]; BATCH]) {
    if super::Isa::best() < super::Isa::Avx512Vnni {
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

    const fn layout(id: u8) -> Layout {
        match id {
            FOUR => Layout::Four,
            EIGHT => Layout::Eight,
            SIGNED => Layout::Signed,
            _ => Layout::SignedHalves,
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    pub(super) fn by_rows<const L: u8>(tile: &[u8], x: Batch<'_>, out: &mut [[f32; LANES]; BATCH]) {
        match x.rows {
            0 => {}
            1 => rows::<L, 1>(tile, x, out),
            2 => rows::<L, 2>(tile, x, out),
            3 => rows::<L, 3>(tile, x, out),
            4 => rows::<L, 4>(tile, x, out),
            5 => rows::<L, 5>(tile, x, out),
            6 => rows::<L, 6>(tile, x, out),
            7 => rows::<L, 7>(tile, x, out),
            8 => rows::<L, 8>(tile, x, out),
            9 => rows::<L, 9>(tile, x, out),
            10 => rows::<L, 10>(tile, x, out),
            11 => rows::<L, 11>(tile, x, out),
            _ => rows::<L, 12>(tile, x, out),
        }
    }

    /// Repeats a block for each of the first `N` rows with the row number as a constant. A loop would not do: unless it
    /// is unrolled, the sums live in memory instead of registers, which costs half the speed.
    macro_rules! for_each_row {
        ($n:ident, $i:ident, $body:block) => {
            for_each_row!(@ $n, $i, $body, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
        };
        (@ $n:ident, $i:ident, $body:block, $($row:literal),*) => {
            $(if $row < $n {
                const $i: usize = $row;
                $body
            })*
        };
    }

    /// Repeats a block for both parts of a group, likewise.
    macro_rules! for_each_part {
        ($i:ident, $body:block) => {
            for_each_part!(@ $i, $body, 0, 1)
        };
        (@ $i:ident, $body:block, $($part:literal),*) => {
            $({
                const $i: usize = $part;
                $body
            })*
        };
    }

    /// Columns outside, rows inside: the sums of the rows do not wait for each other, and only one column of weights is
    /// unpacked at a time, which leaves registers for twelve rows.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    fn rows<const L: u8, const N: usize>(tile: &[u8], x: Batch<'_>, out: &mut [[f32; LANES]; BATCH]) {
        let (stride, quanta) = (const { layout(L).stride() }, const { layout(L).quanta() });
        let parts = const { layout(L).parts() };
        let groups = tile.len() / stride;
        assert!(x.rows == N && x.cells.len() == groups * N);
        let low = _mm512_set1_epi8(15);
        let mut acc = [_mm512_setzero_ps(); BATCH];
        for g in 0..groups {
            // SAFETY: `g < groups`, so the group lies in the tile; `load` and `factor` stay inside its `stride` bytes.
            let base = unsafe { tile.as_ptr().add(g * stride) };
            // The next tile lies behind this one: it is under way while this one is worked on. A hint, never a fault.
            for line in 0..stride / 64 {
                _mm_prefetch::<_MM_HINT_T1>(base.wrapping_add(tile.len() + line * 64).cast());
            }
            // SAFETY: chunk `c` holds 64 bytes of the quanta.
            let load = |c: usize| unsafe { _mm512_loadu_si512(base.add(c * 64).cast()) };
            // SAFETY: slot `s` holds 16 `f16` behind the quanta.
            let factor = |s: usize| unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(base.add(quanta + s * 32).cast())) };
            // SAFETY: there are `groups * N` cells (asserted above).
            let cells: *const Cell = unsafe { x.cells.as_ptr().add(g * N) };
            // The two parts of a group are written out, as the rows are: with a part number that is no constant the sums of the
            // rows would not stay in registers.
            for_each_part!(PART, {
                if PART < parts {
                    let mut dots = [_mm512_setzero_si512(); BATCH];
                    if !const { layout(L).has_minima() } {
                        for_each_row!(N, ROW, {
                            // SAFETY: `ROW < N`.
                            let centre = unsafe { (*cells.add(ROW)).centre[if L == SIGNED { 0 } else { 1 + PART }] };
                            dots[ROW] = _mm512_set1_epi32(centre);
                        });
                    }
                    let chunks = if L == EIGHT || L == SIGNED { 0..8 } else { 4 * PART..4 * PART + 4 };
                    for c in chunks {
                        let packed = load(c);
                        let w = if L == FOUR { _mm512_and_si512(packed, low) } else { packed };
                        for_each_row!(N, ROW, {
                            // SAFETY: `ROW < N`, and a cell holds 32 bytes, of which these are four. The read is unaligned.
                            let four = unsafe { cells.add(ROW).cast::<i32>().add(c).read_unaligned() };
                            dots[ROW] = _mm512_dpbusd_epi32(dots[ROW], w, _mm512_set1_epi32(four));
                        });
                        if L == FOUR {
                            let w = _mm512_and_si512(_mm512_srli_epi16::<4>(packed), low);
                            for_each_row!(N, ROW, {
                                // SAFETY: as above, with `c < 4`.
                                let four = unsafe { cells.add(ROW).cast::<i32>().add(c + 4).read_unaligned() };
                                dots[ROW] = _mm512_dpbusd_epi32(dots[ROW], w, _mm512_set1_epi32(four));
                            });
                        }
                    }
                    let scale = factor(PART);
                    for_each_row!(N, ROW, {
                        // SAFETY: `ROW < N`.
                        let scale = _mm512_mul_ps(scale, _mm512_set1_ps(unsafe { (*cells.add(ROW)).scale }));
                        acc[ROW] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots[ROW]), scale, acc[ROW]);
                    });
                    if const { layout(L).has_minima() } {
                        let min = factor(parts + PART);
                        for_each_row!(N, ROW, {
                            // SAFETY: `ROW < N`.
                            let sum = _mm512_set1_ps(unsafe { (*cells.add(ROW)).sum });
                            acc[ROW] = _mm512_fnmadd_ps(min, sum, acc[ROW]);
                        });
                    }
                }
            });
        }
        for (out, acc) in out[..N].iter_mut().zip(acc) {
            // SAFETY: `out` holds 16 floats.
            unsafe { _mm512_storeu_ps(out.as_mut_ptr(), acc) };
        }
    }
}

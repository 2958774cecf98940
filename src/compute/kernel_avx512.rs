//! The kernel for AVX-512 with VNNI: `vpdpbusd` multiplies 64 unsigned quanta by 64 signed activations and adds them up
//! in 16 lanes, one a weight row. Four activations are broadcast to all lanes at a time.
#![allow(unsafe_code)]

use super::packed::{ActivationRow, BATCH, LANES, Layout};

/// Products of up to [`BATCH`] activation rows with the 16 weight rows of a tile. Only for processors that have
/// [`Isa::Avx512Vnni`](super::Isa::Avx512Vnni); on others it falls back to the plain kernel.
#[cfg(target_arch = "x86_64")]
pub(super) fn tile(layout: Layout, tile: &[u8], x: &[ActivationRow<'_>], out: &mut [[f32; LANES]; BATCH]) {
    if super::Isa::best() < super::Isa::Avx512Vnni {
        return super::kernel_plain::tile(layout, tile, x, out);
    }
    // SAFETY: the instruction set was just asked for.
    unsafe {
        match layout {
            Layout::Four => x86::by_rows::<{ x86::FOUR }>(tile, x, out),
            Layout::Eight => x86::by_rows::<{ x86::EIGHT }>(tile, x, out),
            Layout::EightHalves => x86::by_rows::<{ x86::EIGHT_HALVES }>(tile, x, out),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use super::kernel_plain::tile;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::blocks::GROUP;
    use super::{ActivationRow, BATCH, LANES, Layout};

    pub(super) const FOUR: u8 = 0;
    pub(super) const EIGHT: u8 = 1;
    pub(super) const EIGHT_HALVES: u8 = 2;

    const fn layout(id: u8) -> Layout {
        match id {
            FOUR => Layout::Four,
            EIGHT => Layout::Eight,
            _ => Layout::EightHalves,
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    pub(super) fn by_rows<const L: u8>(tile: &[u8], x: &[ActivationRow<'_>], out: &mut [[f32; LANES]; BATCH]) {
        match x.len() {
            1 => rows::<L, 1>(tile, x, out),
            2 => rows::<L, 2>(tile, x, out),
            3 => rows::<L, 3>(tile, x, out),
            4 => rows::<L, 4>(tile, x, out),
            5 => rows::<L, 5>(tile, x, out),
            6 => rows::<L, 6>(tile, x, out),
            7 => rows::<L, 7>(tile, x, out),
            _ => rows::<L, 8>(tile, x, out),
        }
    }

    /// Repeats a block for each of the first `N` rows with the row number as a constant. A loop would not do: unless it
    /// is unrolled, the sums live in memory instead of registers, which costs half the speed.
    macro_rules! for_each_row {
        ($n:ident, $i:ident, $body:block) => {
            for_each_row!(@ $n, $i, $body, 0, 1, 2, 3, 4, 5, 6, 7)
        };
        (@ $n:ident, $i:ident, $body:block, $($row:literal),*) => {
            $(if $row < $n {
                const $i: usize = $row;
                $body
            })*
        };
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    fn rows<const L: u8, const N: usize>(tile: &[u8], x: &[ActivationRow<'_>], out: &mut [[f32; LANES]; BATCH]) {
        let (stride, quanta) = (const { layout(L).stride() }, const { layout(L).quanta() });
        let groups = tile.len() / stride;
        assert!(x.len() >= N);
        assert!(
            x[..N].iter().all(|x| x.q.len() == groups * GROUP && x.scale.len() == groups && x.sums.len() == groups)
        );
        // Padded to `BATCH` so that constant row numbers index them; those from `N` on are never read through.
        let q: [*const i8; BATCH] = std::array::from_fn(|i| x[i.min(N - 1)].q.as_ptr());
        let scales: [*const f32; BATCH] = std::array::from_fn(|i| x[i.min(N - 1)].scale.as_ptr());
        let sums: [*const [f32; 2]; BATCH] = std::array::from_fn(|i| x[i.min(N - 1)].sums.as_ptr());
        let mut acc = [_mm512_setzero_ps(); BATCH];
        for g in 0..groups {
            // SAFETY: `g < groups`, so the group lies in the tile; `load` and `factor` stay inside its `stride` bytes.
            let base = unsafe { tile.as_ptr().add(g * stride) };
            // SAFETY: chunk `c` holds 64 bytes of the quanta.
            let load = |c: usize| unsafe { _mm512_loadu_si512(base.add(c * 64).cast()) };
            // SAFETY: slot `s` holds 16 `f16` behind the quanta.
            let factor = |s: usize| unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(base.add(quanta + s * 32).cast())) };
            let mut w = [_mm512_setzero_si512(); 8];
            if L == FOUR {
                let low = _mm512_set1_epi8(15);
                for c in 0..4 {
                    let both = load(c);
                    w[c] = _mm512_and_si512(both, low);
                    w[c + 4] = _mm512_and_si512(_mm512_srli_epi16::<4>(both), low);
                }
            } else {
                for (c, w) in w.iter_mut().enumerate() {
                    *w = load(c);
                }
            }
            let (scale, min) = if L == EIGHT_HALVES {
                ([factor(0), factor(1)], [factor(2), factor(3)])
            } else {
                ([factor(0); 2], [factor(1); 2])
            };
            for_each_row!(N, ROW, {
                // SAFETY: every row holds `groups * GROUP` quanta (asserted above), so these 32 are inside.
                let q = unsafe { q[ROW].add(g * GROUP) };
                // SAFETY: as above; `c * 4 + 4 <= 32`. The read is unaligned.
                let four = |c: usize| _mm512_set1_epi32(unsafe { q.add(c * 4).cast::<i32>().read_unaligned() });
                // SAFETY: every row holds `groups` scales and sums.
                let (x_scale, sum) = unsafe { (*scales[ROW].add(g), *sums[ROW].add(g)) };
                let zero = _mm512_setzero_si512();
                let mut first = _mm512_dpbusd_epi32(zero, w[0], four(0));
                let mut second = _mm512_dpbusd_epi32(zero, w[4], four(4));
                first = _mm512_dpbusd_epi32(first, w[1], four(1));
                second = _mm512_dpbusd_epi32(second, w[5], four(5));
                first = _mm512_dpbusd_epi32(first, w[2], four(2));
                second = _mm512_dpbusd_epi32(second, w[6], four(6));
                first = _mm512_dpbusd_epi32(first, w[3], four(3));
                second = _mm512_dpbusd_epi32(second, w[7], four(7));
                let x_scale = _mm512_set1_ps(x_scale);
                if L == EIGHT_HALVES {
                    let dots = _mm512_mul_ps(_mm512_cvtepi32_ps(first), scale[0]);
                    let dots = _mm512_fmadd_ps(_mm512_cvtepi32_ps(second), scale[1], dots);
                    acc[ROW] = _mm512_fmadd_ps(dots, x_scale, acc[ROW]);
                    acc[ROW] = _mm512_fnmadd_ps(min[0], _mm512_set1_ps(sum[0]), acc[ROW]);
                    acc[ROW] = _mm512_fnmadd_ps(min[1], _mm512_set1_ps(sum[1]), acc[ROW]);
                } else {
                    let dots = _mm512_cvtepi32_ps(_mm512_add_epi32(first, second));
                    acc[ROW] = _mm512_fmadd_ps(dots, _mm512_mul_ps(scale[0], x_scale), acc[ROW]);
                    acc[ROW] = _mm512_fnmadd_ps(min[0], _mm512_set1_ps(sum[0] + sum[1]), acc[ROW]);
                }
            });
        }
        for (out, acc) in out[..N].iter_mut().zip(acc) {
            // SAFETY: `out` holds 16 floats.
            unsafe { _mm512_storeu_ps(out.as_mut_ptr(), acc) };
        }
    }
}

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

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    fn rows<const L: u8, const N: usize>(tile: &[u8], x: &[ActivationRow<'_>], out: &mut [[f32; LANES]; BATCH]) {
        let (stride, quanta) = (const { layout(L).stride() }, const { layout(L).quanta() });
        let groups = tile.len() / stride;
        assert!(x.len() >= N);
        assert!(
            x[..N].iter().all(|x| x.q.len() == groups * GROUP && x.scale.len() == groups && x.sums.len() == groups)
        );
        let mut acc = [_mm512_setzero_ps(); N];
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
            for (x, acc) in x[..N].iter().zip(&mut acc) {
                // SAFETY: every row holds `groups * GROUP` bytes (asserted above), so these 32 are inside.
                let q = unsafe { x.q.as_ptr().add(g * GROUP) };
                let mut dots = [_mm512_setzero_si512(); 2];
                for c in 0..8 {
                    // SAFETY: as above; `c * 4 + 4 <= 32`. The read is unaligned.
                    let four = unsafe { q.add(c * 4).cast::<i32>().read_unaligned() };
                    dots[c / 4] = _mm512_dpbusd_epi32(dots[c / 4], w[c], _mm512_set1_epi32(four));
                }
                let scale = _mm512_set1_ps(x.scale[g]);
                let [first, second] = x.sums[g];
                if L == EIGHT_HALVES {
                    let (low, high) = (_mm512_cvtepi32_ps(dots[0]), _mm512_cvtepi32_ps(dots[1]));
                    let sum = _mm512_fmadd_ps(high, factor(1), _mm512_mul_ps(low, factor(0)));
                    *acc = _mm512_fmadd_ps(sum, scale, *acc);
                    *acc = _mm512_fnmadd_ps(factor(2), _mm512_set1_ps(first), *acc);
                    *acc = _mm512_fnmadd_ps(factor(3), _mm512_set1_ps(second), *acc);
                } else {
                    let sum = _mm512_cvtepi32_ps(_mm512_add_epi32(dots[0], dots[1]));
                    *acc = _mm512_fmadd_ps(sum, _mm512_mul_ps(factor(0), scale), *acc);
                    *acc = _mm512_fnmadd_ps(factor(1), _mm512_set1_ps(first + second), *acc);
                }
            }
        }
        for (out, acc) in out.iter_mut().zip(acc) {
            // SAFETY: `out` holds 16 floats.
            unsafe { _mm512_storeu_ps(out.as_mut_ptr(), acc) };
        }
    }
}

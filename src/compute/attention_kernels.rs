//! The two products of the attention, for each instruction set.
#![allow(unsafe_code)]

use super::attention::{CHUNK, LANES, Lanes, TILE};

/// Scores, then weights, of a tile of queries over a chunk of positions.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Scores(pub(super) [[f32; CHUNK * LANES]; TILE]);

/// The two products, for one instruction set. All versions add up in the same order.
pub(super) trait Kernel {
    /// Whether products and sums are fused.
    const FUSED: bool;

    /// `scores[q][i] = Σ_d queries[d][q] * keys[i / 16][d][i % 16]`, for the blocks that there are.
    fn score(queries: &[[f32; TILE]], keys: [&[Lanes]; CHUNK], scores: &mut Scores);

    /// Asks for `lanes` ahead of their use.
    fn fetch(_lanes: &Lanes) {}

    /// `sums[q] = keep[q] * sums[q] + Σ_i weights[q][i] * values[i]`; a value has as many vectors as a sum.
    fn gather(weights: &Scores, keep: &[f32; TILE], values: &[&[Lanes]], sums: &mut [Lanes]);
}

/// For any processor; left to the compiler.
pub(super) struct Plain;

impl Kernel for Plain {
    const FUSED: bool = false;

    fn score(queries: &[[f32; TILE]], keys: [&[Lanes]; CHUNK], scores: &mut Scores) {
        for (b, keys) in keys.iter().enumerate() {
            for (query, key) in queries.iter().zip(*keys) {
                for (x, scores) in query.iter().zip(&mut scores.0) {
                    for (score, k) in scores[b * LANES..].iter_mut().zip(&key.0) {
                        *score += k * x;
                    }
                }
            }
        }
    }

    fn gather(weights: &Scores, keep: &[f32; TILE], values: &[&[Lanes]], sums: &mut [Lanes]) {
        let width = sums.len() / TILE;
        for ((sums, keep), weights) in sums.chunks_exact_mut(width).zip(keep).zip(&weights.0) {
            for sum in sums.iter_mut().flat_map(|s| &mut s.0) {
                *sum *= keep;
            }
            for (value, weight) in values.iter().flat_map(|v| v.chunks_exact(width)).zip(weights) {
                for (sum, v) in sums.iter_mut().zip(value) {
                    for (sum, v) in sum.0.iter_mut().zip(&v.0) {
                        *sum += v * weight;
                    }
                }
            }
        }
    }
}

/// Defines `score` and `gather` over two vectors side by side for the queries from `from` on. The queries are written out:
/// in a loop that is not unrolled their sums would live in memory.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! products {
    ($name:ident, $features:literal, $vector:ty, $zero:ident, $load:ident, $store:ident, $set:ident, $mul:ident, $fma:ident, [$($q:literal)*]) => {
        mod $name {
            use super::*;

            /// Scores over the positions at `first` and at `second`.
            ///
            /// # Safety
            /// The processor has the instructions; `first` and `second` have a vector every [`LANES`] values, one for each
            /// of `queries`, and so has `out` one for each query and side, `CHUNK * LANES` values from query to query.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn score(
                queries: &[[f32; TILE]], from: usize, first: *const f32, second: *const f32, out: [*mut f32; 2],
            ) {
                let mut acc: [[$vector; 2]; TILE] = [[$zero(); 2]; TILE];
                for (d, query) in queries.iter().enumerate() {
                    // SAFETY: as the caller promises.
                    let (a, b) = unsafe { ($load(first.add(d * LANES)), $load(second.add(d * LANES))) };
                    $(
                        let x = $set(query[from + $q]);
                        acc[$q][0] = $fma(a, x, acc[$q][0]);
                        acc[$q][1] = $fma(b, x, acc[$q][1]);
                    )*
                }
                $(
                    // SAFETY: as the caller promises.
                    unsafe {
                        $store(out[0].add((from + $q) * CHUNK * LANES), acc[$q][0]);
                        $store(out[1].add((from + $q) * CHUNK * LANES), acc[$q][1]);
                    }
                )*
            }

            /// Adds `len` weighted values, of which two vectors are taken, to sums that are `step` values apart.
            ///
            /// # Safety
            /// The processor has the instructions; the pointers have the vectors that are read and written.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn gather(
                weights: &Scores, keep: &[f32; TILE], from: usize, values: &[(*const f32, usize)], sides: [usize; 2],
                step: usize, sums: *mut f32,
            ) {
                let mut acc: [[$vector; 2]; TILE] = [[$zero(); 2]; TILE];
                $(
                    // SAFETY: as the caller promises.
                    let (a, b) = unsafe {
                        let sums = sums.add((from + $q) * step);
                        ($load(sums.add(sides[0])), $load(sums.add(sides[1])))
                    };
                    let x = $set(keep[from + $q]);
                    acc[$q] = [$mul(a, x), $mul(b, x)];
                )*
                let mut position = 0;
                for &(block, len) in values {
                    for i in 0..len {
                        // SAFETY: as the caller promises.
                        let (a, b) = unsafe {
                            let value = block.add(i * step);
                            ($load(value.add(sides[0])), $load(value.add(sides[1])))
                        };
                        $(
                            let x = $set(weights.0[from + $q][position]);
                            acc[$q][0] = $fma(a, x, acc[$q][0]);
                            acc[$q][1] = $fma(b, x, acc[$q][1]);
                        )*
                        position += 1;
                    }
                }
                $(
                    // SAFETY: as the caller promises.
                    unsafe {
                        let sums = sums.add((from + $q) * step);
                        $store(sums.add(sides[0]), acc[$q][0]);
                        $store(sums.add(sides[1]), acc[$q][1]);
                    }
                )*
            }
        }
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn pointers(values: &[&[Lanes]]) -> [(*const f32, usize); CHUNK] {
    std::array::from_fn(|b| values.get(b).map_or((std::ptr::null(), 0), |v| (v.as_ptr().cast(), LANES)))
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use std::arch::x86_64::*;

    use super::{CHUNK, Kernel, LANES, Lanes, Scores, TILE, pointers};

    pub(in super::super) struct Wide;
    pub(in super::super) struct Avx2;

    products!(
        wide, "avx512f", __m512, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_mul_ps,
        _mm512_fmadd_ps, [0 1 2 3 4 5 6 7]
    );
    products!(
        narrow, "avx2,fma", __m256, _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_mul_ps,
        _mm256_fmadd_ps, [0 1 2 3]
    );

    impl Kernel for Wide {
        const FUSED: bool = true;

        #[inline(always)]
        fn fetch(lanes: &Lanes) {
            // SAFETY: a hint for an address that is there; every x86-64 processor has it.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(lanes).cast()) }
        }

        #[inline(always)]
        fn score(queries: &[[f32; TILE]], keys: [&[Lanes]; CHUNK], scores: &mut Scores) {
            assert!(keys.iter().all(|k| k.len() >= queries.len()));
            let out = scores.0.as_mut_ptr().cast::<f32>();
            // SAFETY: only used where the instructions are; each block has a vector for each of `queries` (asserted), and the
            // two blocks of a chunk are the two halves of each query's scores.
            unsafe {
                wide::score(queries, 0, keys[0].as_ptr().cast(), keys[1].as_ptr().cast(), [out, out.add(LANES)]);
            }
        }

        #[inline(always)]
        fn gather(weights: &Scores, keep: &[f32; TILE], values: &[&[Lanes]], sums: &mut [Lanes]) {
            let width = sums.len() / TILE;
            assert!(values.len() <= CHUNK && values.iter().all(|v| v.len() >= LANES * width));
            let values = pointers(values);
            for at in (0..width).step_by(2) {
                // An odd last vector is taken twice, with the same result.
                let sides = [at * LANES, (at + 1).min(width - 1) * LANES];
                // SAFETY: only used where the instructions are; sums and values (asserted) have `width` vectors each.
                unsafe { wide::gather(weights, keep, 0, &values, sides, width * LANES, sums.as_mut_ptr().cast()) }
            }
        }
    }

    impl Kernel for Avx2 {
        const FUSED: bool = true;

        #[inline(always)]
        fn fetch(lanes: &Lanes) {
            // SAFETY: a hint for an address that is there; every x86-64 processor has it.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(lanes).cast()) }
        }

        #[inline(always)]
        fn score(queries: &[[f32; TILE]], keys: [&[Lanes]; CHUNK], scores: &mut Scores) {
            assert!(keys.iter().all(|k| k.len() >= queries.len()));
            let out = scores.0.as_mut_ptr().cast::<f32>();
            for (b, keys) in keys.iter().enumerate() {
                let keys = keys.as_ptr().cast::<f32>();
                for from in [0, TILE / 2] {
                    // SAFETY: only used where the instructions are; a block has a vector of two halves for each of `queries`
                    // (asserted), and block `b` is that part of each query's scores.
                    unsafe {
                        let out = out.add(b * LANES);
                        narrow::score(queries, from, keys, keys.add(LANES / 2), [out, out.add(LANES / 2)]);
                    }
                }
            }
        }

        #[inline(always)]
        fn gather(weights: &Scores, keep: &[f32; TILE], values: &[&[Lanes]], sums: &mut [Lanes]) {
            let width = sums.len() / TILE;
            assert!(values.len() <= CHUNK && values.iter().all(|v| v.len() >= LANES * width));
            let values = pointers(values);
            for at in 0..width {
                for from in [0, TILE / 2] {
                    let sides = [at * LANES, at * LANES + LANES / 2];
                    // SAFETY: only used where the instructions are; sums and values (asserted) have `width` vectors each.
                    unsafe {
                        narrow::gather(weights, keep, from, &values, sides, width * LANES, sums.as_mut_ptr().cast())
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(super) mod arm {
    use std::arch::aarch64::*;

    use super::{CHUNK, Kernel, LANES, Lanes, Scores, TILE, pointers};

    pub(in super::super) struct Neon;

    /// Values that the kernel takes at once: two vectors.
    const PAIR: usize = 8;

    #[inline]
    #[target_feature(enable = "neon")]
    fn zero() -> float32x4_t {
        vdupq_n_f32(0.0)
    }

    /// `a * b + sum`.
    #[inline]
    #[target_feature(enable = "neon")]
    fn fused(a: float32x4_t, b: float32x4_t, sum: float32x4_t) -> float32x4_t {
        vfmaq_f32(sum, a, b)
    }

    products!(
        quarter, "neon", float32x4_t, zero, vld1q_f32, vst1q_f32, vdupq_n_f32, vmulq_f32, fused, [0 1 2 3 4 5 6 7]
    );

    impl Kernel for Neon {
        const FUSED: bool = true;

        #[inline(always)]
        fn score(queries: &[[f32; TILE]], keys: [&[Lanes]; CHUNK], scores: &mut Scores) {
            assert!(keys.iter().all(|k| k.len() >= queries.len()));
            let out = scores.0.as_mut_ptr().cast::<f32>();
            for (b, keys) in keys.iter().enumerate() {
                let keys = keys.as_ptr().cast::<f32>();
                for at in (0..LANES).step_by(PAIR) {
                    // SAFETY: a block has 16 values for each of `queries` (asserted), and block `b` is that part of each query's
                    // scores.
                    unsafe {
                        let (keys, out) = (keys.add(at), out.add(b * LANES + at));
                        quarter::score(queries, 0, keys, keys.add(PAIR / 2), [out, out.add(PAIR / 2)]);
                    }
                }
            }
        }

        #[inline(always)]
        fn gather(weights: &Scores, keep: &[f32; TILE], values: &[&[Lanes]], sums: &mut [Lanes]) {
            let width = sums.len() / TILE;
            assert!(values.len() <= CHUNK && values.iter().all(|v| v.len() >= LANES * width));
            let values = pointers(values);
            for at in (0..width * LANES).step_by(PAIR) {
                let sides = [at, at + PAIR / 2];
                // SAFETY: sums and values (asserted) have `width * LANES` values each.
                unsafe { quarter::gather(weights, keep, 0, &values, sides, width * LANES, sums.as_mut_ptr().cast()) }
            }
        }
    }
}

//! Activations to signed bytes, as the kernels take them.
#![allow(unsafe_code)]

use super::Isa;
use super::blocks::GROUP;
use super::packed::Cell;

/// 1.5 * 2^23: adding it to a value below 2^22 rounds that to an integer, held in the low bits of the mantissa.
const SHIFT: f32 = 12_582_912.0;

/// Rounds each 32 values of `x` to signed bytes with a common factor; the cells of a row stand `stride` apart. Every version
/// rounds in the same way but for the last bit of the fused ones.
pub(super) fn quantize(x: &[f32], cells: &mut [Cell], stride: usize) {
    debug_assert_eq!(cells.len().div_ceil(stride), x.len() / GROUP, "one cell for each group");
    match Isa::best() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::best` found the instructions on this processor.
        Isa::Avx512Vnni => unsafe { wide(x, cells, stride) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 => unsafe { avx2(x, cells, stride) },
        // Fused products belong to the base instruction set there.
        Isa::NeonDot => plain::<true>(x, cells, stride),
        _ => plain::<false>(x, cells, stride),
    }
}

#[inline(always)]
fn plain<const FMA: bool>(x: &[f32], cells: &mut [Cell], stride: usize) {
    for (x, cell) in x.chunks_exact(GROUP).zip(cells.iter_mut().step_by(stride)) {
        let largest = x.iter().fold(0f32, |m, v| if v.abs() > m { v.abs() } else { m });
        let (scale, inverse) = factors(largest);
        let mut sums = [0i32; 2];
        for (i, v) in x.iter().enumerate() {
            let shifted = if FMA { v.mul_add(inverse, SHIFT) } else { v * inverse + SHIFT };
            cell.q[i] = shifted.to_bits() as i8;
            sums[i * 2 / GROUP] += i32::from(cell.q[i]);
        }
        finish(cell, scale, sums);
    }
}

/// The factor of a group whose largest value is `largest`, and its inverse.
#[inline(always)]
fn factors(largest: f32) -> (f32, f32) {
    let scale = largest / 127.0;
    (scale, if scale > 0.0 { 1.0 / scale } else { 0.0 })
}

#[inline(always)]
fn finish(cell: &mut Cell, scale: f32, [first, second]: [i32; 2]) {
    cell.scale = scale;
    cell.sum = (first + second) as f32 * scale;
    cell.centre = [first + second, first, second].map(|sum| -128 * sum);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(x: &[f32], cells: &mut [Cell], stride: usize) {
    plain::<true>(x, cells, stride);
}

/// Written out, because the compiler does not find the vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
fn wide(x: &[f32], cells: &mut [Cell], stride: usize) {
    use std::arch::x86_64::*;
    let shift = _mm512_set1_ps(SHIFT);
    for (x, cell) in x.chunks_exact(GROUP).zip(cells.iter_mut().step_by(stride)) {
        // SAFETY: `x` has 32 values.
        let (a, b) = unsafe { (_mm512_loadu_ps(x.as_ptr()), _mm512_loadu_ps(x.as_ptr().add(GROUP / 2))) };
        let (scale, inverse) = factors(_mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(a), _mm512_abs_ps(b))));
        let mut sums = [0; 2];
        for (half, v) in [a, b].into_iter().enumerate() {
            let shifted = _mm512_castps_si512(_mm512_fmadd_ps(v, _mm512_set1_ps(inverse), shift));
            let q = _mm512_cvtepi32_epi8(shifted);
            sums[half] = _mm512_reduce_add_epi32(_mm512_sub_epi32(shifted, _mm512_castps_si512(shift)));
            // SAFETY: a cell has 32 quanta, and this is the first or the second 16.
            unsafe { _mm_storeu_si128(cell.q.as_mut_ptr().add(half * GROUP / 2).cast(), q) };
        }
        finish(cell, scale, sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    #[test]
    fn every_version_gives_the_nearest_quanta_and_their_sums() {
        let x: Vec<f32> = (0..96).map(|i| ((i * 7919) % 2003) as f32 / 1001.5 - 1.0).chain([0.0; 32]).collect();
        for wide in [true, false] {
            let mut cells = vec![Cell::zeroed(); 4 * 3];
            if wide {
                quantize(&x, &mut cells[..10], 3)
            } else {
                plain::<false>(&x, &mut cells, 3)
            }
            for (x, cell) in x.chunks(32).zip(cells.iter().step_by(3)) {
                let largest = x.iter().fold(0f32, |m, v| m.max(v.abs()));
                assert_eq!(cell.scale, largest / 127.0);
                for (v, q) in x.iter().zip(cell.q) {
                    assert!((v - f32::from(q) * cell.scale).abs() <= cell.scale * 0.5001);
                }
                let sum = |half: &[i8]| half.iter().map(|q| i32::from(*q)).sum::<i32>();
                assert_eq!(cell.centre, [sum(&cell.q), sum(&cell.q[..16]), sum(&cell.q[16..])].map(|s| -128 * s));
                assert!((cell.sum - sum(&cell.q) as f32 * cell.scale).abs() < 1e-4);
            }
        }
    }
}

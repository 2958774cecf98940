//! Inner products of one query with many stored vectors: signed bytes for finding, `f16` for ranking.
//!
//! Products of bytes are exact, so a graph that is built with them is the same on every machine. Products of halves are added up
//! in 16 lanes in the same order everywhere; instructions that fuse a product and a sum differ from the others in the last bit.
#![allow(unsafe_code)]

use super::Isa;

/// Bytes that a row of [`ByteRows`] is padded to: a cache line and the widest register.
pub const ROW_ALIGN: usize = 64;

/// Rows of `dimension` signed bytes from -127 to 127, each padded with zeroes to whole cache lines, with a factor each: the value
/// is the byte times the factor.
#[derive(Debug, Clone, Copy)]
pub struct ByteRows<'a> {
    /// The rows.
    pub bytes: &'a [i8],
    /// Bytes from row to row, a multiple of [`ROW_ALIGN`].
    pub stride: usize,
    /// The factor of each row.
    pub scales: &'a [f32],
}

impl<'a> ByteRows<'a> {
    /// Bytes from row to row for vectors of `dimension` values.
    pub fn stride_of(dimension: usize) -> usize {
        dimension.next_multiple_of(ROW_ALIGN)
    }

    /// The bytes of a row with its padding.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, number: u32) -> &'a [i8] {
        &self.bytes[number as usize * self.stride..][..self.stride]
    }

    /// Asks for a row ahead of its use. Any number will do.
    #[inline]
    pub fn fetch(&self, number: u32) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let row = self.bytes.as_ptr().wrapping_add(number as usize * self.stride);
            // SAFETY: a hint, which never faults; every x86-64 processor has it.
            unsafe {
                for line in 0..self.stride / 64 {
                    _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(line * 64));
                }
                _mm_prefetch::<_MM_HINT_T0>(self.scales.as_ptr().wrapping_add(number as usize).cast());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = number;
    }
}

/// Asks for the cache lines from `values[at]` on, two of them, ahead of their use. Any place will do.
#[inline]
pub fn fetch(values: &[u32], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = values.as_ptr().wrapping_add(at).cast::<i8>();
        // SAFETY: a hint, which never faults; every x86-64 processor has it.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(first);
            _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(64));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, at);
}

/// Rounds `values` to bytes with a common factor, which it gives back: the largest becomes 127. `out` may be longer; the rest
/// becomes zero.
pub fn to_bytes(values: &[f32], out: &mut [i8]) -> f32 {
    let largest = values.iter().fold(0f32, |m, v| m.max(v.abs()));
    let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    out.fill(0);
    for (out, value) in out.iter_mut().zip(values) {
        *out = (value * inverse).round() as i8;
    }
    largest / 127.0
}

/// A query as bytes.
#[derive(Debug, Clone, Copy)]
pub struct ByteQuery<'a> {
    bytes: &'a [i8],
    /// `-128 * Σ bytes`: what a product with bytes in excess 128 is off by.
    centre: i32,
}

impl<'a> ByteQuery<'a> {
    /// A query of `stride` bytes, padded as rows are.
    pub fn new(bytes: &'a [i8]) -> Self {
        Self { bytes, centre: -128 * bytes.iter().map(|b| i32::from(*b)).sum::<i32>() }
    }

    /// A query whose [`Self::centre`] is known.
    pub fn with_centre(bytes: &'a [i8], centre: i32) -> Self {
        Self { bytes, centre }
    }

    /// `-128 * Σ bytes`.
    pub fn centre(&self) -> i32 {
        self.centre
    }

    /// `out[i] = Σ query * rows[numbers[i]] * scales[numbers[i]]`; the factor of the query is left out.
    ///
    /// # Panics
    /// When a row is not there, or the query has another length than rows.
    pub fn scores(&self, rows: &ByteRows<'_>, numbers: &[u32], out: &mut [f32]) {
        self.scores_with(Isa::best(), rows, numbers, out);
    }

    /// [`Self::scores`] with a given instruction set; one that this processor lacks is replaced by its best.
    ///
    /// # Panics
    /// As [`Self::scores`].
    pub fn scores_with(&self, isa: Isa, rows: &ByteRows<'_>, numbers: &[u32], out: &mut [f32]) {
        assert!(self.bytes.len() == rows.stride && rows.stride.is_multiple_of(ROW_ALIGN));
        match isa.min(Isa::best()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Isa::best` found these instructions on this processor.
            Isa::Avx512Vnni => unsafe { x86::wide(self, rows, numbers, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Isa::Avx2 => unsafe { x86::narrow(self, rows, numbers, out) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: as above.
            Isa::NeonDot => unsafe { arm::dots(self, rows, numbers, out) },
            _ => {
                for (out, &number) in out.iter_mut().zip(numbers) {
                    let products = rows.row(number).iter().zip(self.bytes);
                    let dot: i32 = products.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
                    *out = dot as f32 * rows.scales[number as usize];
                }
            }
        }
    }
}

/// Inner product of a row of `f16` values, given by their bits, with as many `f32`.
pub fn dot_f16(row: &[u16], query: &[f32]) -> f32 {
    dot_f16_with(Isa::best(), row, query)
}

fn dot_f16_with(isa: Isa, row: &[u16], query: &[f32]) -> f32 {
    assert_eq!(row.len(), query.len(), "a row and a query of different lengths");
    match isa.min(Isa::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::best` found these instructions on this processor.
        Isa::Avx512Vnni => unsafe { x86::wide_halves(row, query) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 => unsafe { x86::narrow_halves(row, query) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        Isa::NeonDot => unsafe { arm::halves(row, query) },
        _ => {
            let mut lanes = [0f32; LANES];
            let (rows, rest) = row.as_chunks::<LANES>();
            for (row, query) in rows.iter().zip(query.as_chunks::<LANES>().0) {
                for i in 0..LANES {
                    lanes[i] += half::f16::from_bits(row[i]).to_f32() * query[i];
                }
            }
            finish(lanes, rest, query)
        }
    }
}

/// Lanes in which products are added up.
const LANES: usize = 16;

/// The sum of the lanes and of what is left behind the last whole ones.
fn finish(lanes: [f32; LANES], rest: &[u16], query: &[f32]) -> f32 {
    let tail = &query[query.len() - rest.len()..];
    let tail: f32 = rest.iter().zip(tail).map(|(row, q)| half::f16::from_bits(*row).to_f32() * q).sum();
    super::elementwise::sum_lanes(lanes) + tail
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{ByteQuery, ByteRows, LANES, ROW_ALIGN, finish};

    /// `vpdpbusd` takes one side unsigned: the row in excess 128, which the query's centre takes off again.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    pub(super) fn wide(query: &ByteQuery<'_>, rows: &ByteRows<'_>, numbers: &[u32], out: &mut [f32]) {
        let excess = _mm512_set1_epi8(-128);
        let query_at = query.bytes.as_ptr();
        for (out, &number) in out.iter_mut().zip(numbers) {
            let row = rows.row(number);
            assert!(row.len() == query.bytes.len());
            let mut sums = [_mm512_setzero_si512(); 2];
            for (i, at) in (0..row.len()).step_by(ROW_ALIGN).enumerate() {
                // SAFETY: row and query are equally long, a multiple of 64 bytes.
                let (r, q) = unsafe {
                    (_mm512_loadu_si512(row.as_ptr().add(at).cast()), _mm512_loadu_si512(query_at.add(at).cast()))
                };
                sums[i % 2] = _mm512_dpbusd_epi32(sums[i % 2], _mm512_xor_si512(r, excess), q);
            }
            let dot = _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1])) + query.centre;
            *out = dot as f32 * rows.scales[number as usize];
        }
    }

    /// `vpmaddubsw` takes one side unsigned: the sign of the row moves to the query. Sums of two products of at most 127 each
    /// way stay below 2^15.
    #[target_feature(enable = "avx2")]
    pub(super) fn narrow(query: &ByteQuery<'_>, rows: &ByteRows<'_>, numbers: &[u32], out: &mut [f32]) {
        let ones = _mm256_set1_epi16(1);
        let query_at = query.bytes.as_ptr();
        for (out, &number) in out.iter_mut().zip(numbers) {
            let row = rows.row(number);
            assert!(row.len() == query.bytes.len());
            let mut sum = _mm256_setzero_si256();
            for at in (0..row.len()).step_by(32) {
                // SAFETY: row and query are equally long, a multiple of 32 bytes.
                let (r, q) = unsafe {
                    (_mm256_loadu_si256(row.as_ptr().add(at).cast()), _mm256_loadu_si256(query_at.add(at).cast()))
                };
                let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(r), _mm256_sign_epi8(q, r));
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
            }
            let mut lanes = [0i32; 8];
            // SAFETY: eight lanes of 32 bits.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sum) };
            *out = lanes.iter().sum::<i32>() as f32 * rows.scales[number as usize];
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub(super) fn wide_halves(row: &[u16], query: &[f32]) -> f32 {
        assert!(row.len() == query.len());
        let mut sum = _mm512_setzero_ps();
        let whole = row.len() / LANES * LANES;
        for at in (0..whole).step_by(LANES) {
            // SAFETY: `at + 16 <= whole`, and row and query are equally long.
            let (r, q) =
                unsafe { (_mm256_loadu_si256(row.as_ptr().add(at).cast()), _mm512_loadu_ps(query.as_ptr().add(at))) };
            sum = _mm512_fmadd_ps(_mm512_cvtph_ps(r), q, sum);
        }
        let mut lanes = [0f32; LANES];
        // SAFETY: sixteen lanes.
        unsafe { _mm512_storeu_ps(lanes.as_mut_ptr(), sum) };
        finish(lanes, &row[whole..], query)
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn narrow_halves(row: &[u16], query: &[f32]) -> f32 {
        assert!(row.len() == query.len());
        let mut sums = [_mm256_setzero_ps(); 2];
        let whole = row.len() / LANES * LANES;
        for at in (0..whole).step_by(LANES) {
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: `at + 16 <= whole`, and row and query are equally long.
                let (r, q) = unsafe {
                    let at = at + i * LANES / 2;
                    (_mm_loadu_si128(row.as_ptr().add(at).cast()), _mm256_loadu_ps(query.as_ptr().add(at)))
                };
                *sum = _mm256_fmadd_ps(_mm256_cvtph_ps(r), q, *sum);
            }
        }
        let mut lanes = [0f32; LANES];
        for (i, sum) in sums.into_iter().enumerate() {
            // SAFETY: eight of sixteen lanes each.
            unsafe { _mm256_storeu_ps(lanes.as_mut_ptr().add(i * LANES / 2), sum) };
        }
        finish(lanes, &row[whole..], query)
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::*;
    use std::arch::asm;

    use super::{ByteQuery, ByteRows, LANES, finish};

    #[target_feature(enable = "neon,dotprod")]
    pub(super) fn dots(query: &ByteQuery<'_>, rows: &ByteRows<'_>, numbers: &[u32], out: &mut [f32]) {
        for (out, &number) in out.iter_mut().zip(numbers) {
            let row = rows.row(number);
            assert!(row.len() == query.bytes.len());
            let mut sums = [vdupq_n_s32(0); 2];
            for (i, at) in (0..row.len()).step_by(16).enumerate() {
                let sum = &mut sums[i % 2];
                // SAFETY: row and query are equally long, a multiple of 16 bytes; the instruction is there, and its intrinsic is
                // not in stable Rust yet.
                unsafe {
                    let (r, q) = (vld1q_s8(row.as_ptr().add(at)), vld1q_s8(query.bytes.as_ptr().add(at)));
                    asm!("sdot {s:v}.4s, {r:v}.16b, {q:v}.16b", s = inout(vreg) *sum, r = in(vreg) r, q = in(vreg) q,
                        options(pure, nomem, nostack, preserves_flags));
                }
            }
            *out = vaddvq_s32(vaddq_s32(sums[0], sums[1])) as f32 * rows.scales[number as usize];
        }
    }

    #[target_feature(enable = "neon")]
    pub(super) fn halves(row: &[u16], query: &[f32]) -> f32 {
        assert!(row.len() == query.len());
        let mut sums = [vdupq_n_f32(0.0); 4];
        let whole = row.len() / LANES * LANES;
        for at in (0..whole).step_by(LANES) {
            for (i, sum) in sums.iter_mut().enumerate() {
                let wide: float32x4_t;
                // SAFETY: `at + 16 <= whole`, and row and query are equally long; converting is part of the base instruction set.
                let q = unsafe {
                    let r = vld1_u16(row.as_ptr().add(at + i * 4));
                    asm!("fcvtl {wide:v}.4s, {r:v}.4h", wide = lateout(vreg) wide, r = in(vreg) r,
                        options(pure, nomem, nostack, preserves_flags));
                    vld1q_f32(query.as_ptr().add(at + i * 4))
                };
                *sum = vfmaq_f32(*sum, wide, q);
            }
        }
        let mut lanes = [0f32; LANES];
        for (i, sum) in sums.into_iter().enumerate() {
            // SAFETY: four of sixteen lanes each.
            unsafe { vst1q_f32(lanes.as_mut_ptr().add(i * 4), sum) };
        }
        finish(lanes, &row[whole..], query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(i: usize) -> i8 {
        (((i * 2_654_435_761) >> 7) % 255) as i32 as i8
    }

    #[test]
    fn products_of_bytes_are_exact_for_every_instruction_set_even_at_the_limits() {
        for stride in [64, 128, 384, 448] {
            let mut bytes: Vec<i8> = (0..stride * 5).map(|i| noise(i).max(-127)).collect();
            bytes[..stride].fill(127);
            bytes[stride..2 * stride].fill(-127);
            let scales = [1.0, 1.0, 0.5, 2.0, 1.0];
            let rows = ByteRows { bytes: &bytes, stride, scales: &scales };
            for query in 0..5 {
                let query = rows.row(query);
                let exact = |number: u32| {
                    let dot: i64 = rows.row(number).iter().zip(query).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum();
                    dot as f32 * scales[number as usize]
                };
                let numbers = [4, 0, 1, 3, 2, 0];
                for isa in Isa::available() {
                    let mut out = [f32::NAN; 6];
                    ByteQuery::new(query).scores_with(isa, &rows, &numbers, &mut out);
                    assert_eq!(out, numbers.map(exact), "{isa:?} {stride}");
                }
            }
        }
    }

    #[test]
    fn products_of_halves_agree_with_double_precision_for_every_instruction_set_and_length() {
        for d in [1, 15, 16, 17, 33, 384, 1000] {
            let query: Vec<f32> = (0..d).map(|i| f32::from(noise(i * 3)) / 64.0).collect();
            let row: Vec<u16> =
                (0..d).map(|i| half::f16::from_f32(f32::from(noise(i + 9)) / 100.0).to_bits()).collect();
            let half = |bits: u16| f64::from(half::f16::from_bits(bits).to_f32());
            let exact: f64 = row.iter().zip(&query).map(|(a, b)| half(*a) * f64::from(*b)).sum();
            let size: f64 = row.iter().zip(&query).map(|(a, b)| (half(*a) * f64::from(*b)).abs()).sum();
            for isa in Isa::available() {
                let got = f64::from(dot_f16_with(isa, &row, &query));
                assert!((got - exact).abs() <= 1e-6 * size, "{isa:?} {d}: {got} for {exact}");
            }
        }
    }

    #[test]
    fn bytes_are_within_half_a_step_and_padding_is_zero() {
        let values: Vec<f32> = (0..50).map(|i| f32::from(noise(i)) / 90.0).collect();
        let mut bytes = [1i8; 64];
        let scale = to_bytes(&values, &mut bytes);
        for (value, byte) in values.iter().zip(bytes) {
            assert!((value - f32::from(byte) * scale).abs() <= scale * 0.5001);
        }
        assert!(bytes[50..].iter().all(|b| *b == 0));
        assert_eq!(to_bytes(&[0.0; 3], &mut bytes), 0.0);
        assert_eq!(bytes, [0; 64]);
    }
}

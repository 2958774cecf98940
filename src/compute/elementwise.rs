//! Loops over `f32` values, compiled once for each instruction set and chosen at run time.
//!
//! The bodies are written so that the compiler vectorizes them; the only difference between the versions is the set of
//! instructions it may use.
#![allow(unsafe_code)]

use super::Isa;
use super::blocks::GROUP;

/// Lanes in which sums are kept apart, so that their order, and with it the result, is the same on every vector width.
const LANES: usize = 16;

/// Defines a public function that runs `$body::<FMA>` compiled for the best instruction set.
macro_rules! versions {
    ($(#[$doc:meta])* $name:ident, $body:ident, ($($arg:ident: $ty:ty),*) $(-> $ret:ty)?) => {
        $(#[$doc])*
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
                fn wide($($arg: $ty),*) $(-> $ret)? { $body::<true>($($arg),*) }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) $(-> $ret)? { $body::<true>($($arg),*) }
                match Isa::best() {
                    // SAFETY: `Isa::best` found these instructions on this processor; every processor with VNNI has DQ.
                    Isa::Avx512Vnni => return unsafe { wide($($arg),*) },
                    // SAFETY: as above.
                    Isa::Avx2 => return unsafe { avx2($($arg),*) },
                    Isa::Plain => {}
                }
            }
            $body::<false>($($arg),*)
        }
    };
}

#[inline(always)]
fn mul_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// `e^x` for `x <= 88`, relative error below 3e-7; tends to zero below -87.
///
/// Cody-Waite reduction to [-ln2/2, ln2/2] and a polynomial of degree six.
#[inline(always)]
fn exp_body<const FMA: bool>(x: f32) -> f32 {
    const SHIFT: f32 = 12_582_912.0; // 1.5 * 2^23: adding it rounds to an integer held in the low mantissa bits
    let x = x.clamp(-87.0, 88.0);
    let shifted = mul_add::<FMA>(x, std::f32::consts::LOG2_E, SHIFT);
    let n = shifted - SHIFT;
    let r = mul_add::<FMA>(n, -0.693_145_75, x);
    let r = mul_add::<FMA>(n, -1.428_606_8e-6, r);
    let mut p = 1.0 / 720.0;
    for c in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = mul_add::<FMA>(p, r, c);
    }
    let exponent = shifted.to_bits().wrapping_sub(SHIFT.to_bits()).wrapping_add(127) << 23;
    p * f32::from_bits(exponent)
}

#[inline(always)]
fn dot_body<const FMA: bool>(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (a, b) in a.zip(b) {
        for i in 0..LANES {
            sums[i] = mul_add::<FMA>(a[i], b[i], sums[i]);
        }
    }
    sum_lanes(sums) + tail
}

#[inline(always)]
fn sum_lanes(mut sums: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    sums[0]
}

#[inline(always)]
fn rms_norm_body<const FMA: bool>(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    let mean = dot_body::<FMA>(x, x) / x.len() as f32;
    let factor = 1.0 / (mean + epsilon).sqrt();
    for ((out, x), w) in out.iter_mut().zip(x).zip(weight) {
        *out = x * factor * w;
    }
}

#[inline(always)]
fn silu_mul_body<const FMA: bool>(gate: &mut [f32], up: &[f32]) {
    for (g, u) in gate.iter_mut().zip(up) {
        *g = *g / (1.0 + exp_body::<FMA>(-*g)) * u;
    }
}

#[inline(always)]
fn log_sum_exp_body<const FMA: bool>(x: &[f32]) -> f32 {
    let largest = x.iter().fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m });
    let mut sums = [0f32; LANES];
    let chunks = x.chunks_exact(LANES);
    let mut tail = 0.0;
    for &v in chunks.remainder() {
        tail += exp_body::<FMA>(v - largest);
    }
    for chunk in chunks {
        for i in 0..LANES {
            sums[i] += exp_body::<FMA>(chunk[i] - largest);
        }
    }
    largest + (sum_lanes(sums) + tail).ln()
}

/// A softmax-weighted sum of values, built up segment by segment (online softmax, Milakov and Gimelshein 2018).
#[derive(Debug, Clone)]
pub struct Attention {
    largest: f32,
    total: f32,
    sum: Vec<f32>,
    scores: Vec<f32>,
}

impl Attention {
    /// For value vectors of `dimension` components.
    pub fn new(dimension: usize) -> Self {
        Self { largest: f32::NEG_INFINITY, total: 0.0, sum: vec![0.0; dimension], scores: Vec::new() }
    }

    /// Forgets everything seen.
    pub fn reset(&mut self) {
        (self.largest, self.total) = (f32::NEG_INFINITY, 0.0);
        self.sum.fill(0.0);
    }

    /// Writes the weighted mean of all values seen.
    pub fn finish(&self, out: &mut [f32]) {
        for (out, v) in out.iter_mut().zip(&self.sum) {
            *out = v / self.total;
        }
    }
}

/// Keys and values of consecutive positions for one head: vector `i` starts at `i * stride`.
#[derive(Debug, Clone, Copy)]
pub struct Segment<'a> {
    /// Keys.
    pub keys: &'a [f32],
    /// Values.
    pub values: &'a [f32],
    /// Distance between two positions.
    pub stride: usize,
    /// Number of positions.
    pub len: usize,
}

#[inline(always)]
fn attend_body<const FMA: bool>(state: &mut Attention, query: &[f32], segment: Segment<'_>, scale: f32) {
    let Segment { keys, values, stride, len } = segment;
    if len == 0 {
        return;
    }
    // Four positions at a time: four sums that do not wait for each other, and each query value read once for four keys.
    state.scores.clear();
    state.scores.resize(len, 0.0);
    let key = |i: usize| &keys[i * stride..][..query.len()];
    let (fours, rest) = state.scores.split_at_mut(len / 4 * 4);
    for (n, scores) in fours.chunks_exact_mut(4).enumerate() {
        let i = n * 4;
        scores.copy_from_slice(&dot_four::<FMA>(query, [key(i), key(i + 1), key(i + 2), key(i + 3)]));
    }
    for (n, score) in rest.iter_mut().enumerate() {
        *score = dot_body::<FMA>(query, key(len / 4 * 4 + n));
    }
    let mut largest = state.largest;
    for score in &mut state.scores {
        *score *= scale;
        largest = if *score > largest { *score } else { largest };
    }
    let keep = if state.largest == f32::NEG_INFINITY { 0.0 } else { exp_body::<FMA>(state.largest - largest) };
    state.largest = largest;
    state.total *= keep;
    for v in &mut state.sum {
        *v *= keep;
    }
    for s in &mut state.scores {
        *s = exp_body::<FMA>(*s - largest);
    }
    state.total += state.scores.iter().sum::<f32>();
    let dimension = state.sum.len();
    let value = |i: usize| &values[i * stride..][..dimension];
    for (n, p) in state.scores.chunks_exact(4).enumerate() {
        let i = n * 4;
        add_four::<FMA>(&mut state.sum, [p[0], p[1], p[2], p[3]], [value(i), value(i + 1), value(i + 2), value(i + 3)]);
    }
    for i in len / 4 * 4..len {
        let p = state.scores[i];
        for (sum, v) in state.sum.iter_mut().zip(value(i)) {
            *sum = mul_add::<FMA>(p, *v, *sum);
        }
    }
}

/// Products of `query` with four vectors of its length.
#[inline(always)]
fn dot_four<const FMA: bool>(query: &[f32], with: [&[f32]; 4]) -> [f32; 4] {
    let mut sums = [[0f32; LANES]; 4];
    let (chunks, tail) = query.as_chunks::<LANES>();
    let with_chunks = with.map(|w| w.as_chunks::<LANES>().0);
    for (c, q) in chunks.iter().enumerate() {
        for j in 0..4 {
            let w = &with_chunks[j][c];
            for i in 0..LANES {
                sums[j][i] = mul_add::<FMA>(q[i], w[i], sums[j][i]);
            }
        }
    }
    let mut out = sums.map(sum_lanes);
    let done = chunks.len() * LANES;
    for (out, w) in out.iter_mut().zip(with) {
        *out += tail.iter().zip(&w[done..]).map(|(a, b)| a * b).sum::<f32>();
    }
    out
}

/// `sum += Σ p[j] * v[j]` for four vectors as long as `sum`.
#[inline(always)]
fn add_four<const FMA: bool>(sum: &mut [f32], p: [f32; 4], v: [&[f32]; 4]) {
    let (chunks, tail) = sum.as_chunks_mut::<LANES>();
    let v_chunks = v.map(|v| v.as_chunks::<LANES>().0);
    let done = chunks.len() * LANES;
    for (c, sum) in chunks.iter_mut().enumerate() {
        // A copy, because the compiler cannot know that `sum` and `v` are apart and would go value by value.
        let mut lanes = *sum;
        for j in 0..4 {
            let v = &v_chunks[j][c];
            for i in 0..LANES {
                lanes[i] = mul_add::<FMA>(p[j], v[i], lanes[i]);
            }
        }
        *sum = lanes;
    }
    for (i, sum) in tail.iter_mut().enumerate() {
        for j in 0..4 {
            *sum = mul_add::<FMA>(p[j], v[j][done + i], *sum);
        }
    }
}

#[inline(always)]
fn quantize_body<const FMA: bool>(x: &[f32], q: &mut [i8], scales: &mut [f32], sums: &mut [[f32; 2]]) {
    const SHIFT: f32 = 12_582_912.0; // rounds to an integer as in `exp_body`
    for (g, (x, q)) in x.chunks_exact(GROUP).zip(q.chunks_exact_mut(GROUP)).enumerate() {
        let mut largest = [0f32; LANES];
        for i in 0..GROUP {
            let v = x[i].abs();
            largest[i % LANES] = if v > largest[i % LANES] { v } else { largest[i % LANES] };
        }
        let largest = largest.iter().fold(0f32, |m, &v| if v > m { v } else { m });
        let scale = largest / 127.0;
        let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        let mut rounded = [0f32; GROUP];
        for i in 0..GROUP {
            rounded[i] = mul_add::<FMA>(x[i], inverse, SHIFT);
            q[i] = rounded[i].to_bits() as i8;
            rounded[i] -= SHIFT;
        }
        let sum = |part: &[f32]| part.iter().sum::<f32>() * scale;
        scales[g] = scale;
        sums[g] = [sum(&rounded[..GROUP / 2]), sum(&rounded[GROUP / 2..])];
    }
}

versions! {
    /// Rounds each 32 values to signed bytes with a common factor: `x ~ scale * q`. `sums` takes `scale * Σ q` over the
    /// first and the second 16 of each group.
    quantize, quantize_body, (x: &[f32], q: &mut [i8], scales: &mut [f32], sums: &mut [[f32; 2]])
}
versions! {
    /// Root-mean-square normalisation: `out = x / sqrt(mean(x²) + epsilon) * weight`.
    rms_norm, rms_norm_body, (x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32])
}
versions! {
    /// `gate = silu(gate) * up`, element by element.
    silu_mul, silu_mul_body, (gate: &mut [f32], up: &[f32])
}
versions! {
    /// `ln Σ e^x`; negative infinity when `x` is empty.
    log_sum_exp, log_sum_exp_body, (x: &[f32]) -> f32
}
versions! {
    /// Attends from `query` to the positions of `segment`; `scale` is applied to the scores.
    attend, attend_body, (state: &mut Attention, query: &[f32], segment: Segment<'_>, scale: f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_is_exact_to_single_precision() {
        for i in -8700..=880 {
            let x = i as f32 / 100.0;
            let exact = f64::from(x).exp();
            for got in [exp_body::<true>(x), exp_body::<false>(x)] {
                assert!((f64::from(got) - exact).abs() <= 4e-7 * exact, "e^{x}: {got} for {exact}");
            }
        }
        assert!(exp_body::<false>(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn log_sum_exp_ignores_how_large_the_values_are() {
        let x: Vec<f32> = (0..1003).map(|i| 500.0 + (i % 7) as f32).collect();
        let exact = x.iter().map(|v| f64::from(*v - 506.0).exp()).sum::<f64>().ln() + 506.0;
        assert!((f64::from(log_sum_exp(&x)) - exact).abs() < 1e-3);
    }

    #[test]
    fn attention_over_segments_equals_attention_over_the_whole() {
        let (d, n) = (24, 37);
        let value = |i: usize| ((i * 2654435761) % 1000) as f32 / 500.0 - 1.0;
        let query: Vec<f32> = (0..d).map(value).collect();
        let keys: Vec<f32> = (0..n * d).map(|i| value(i + 5)).collect();
        let values: Vec<f32> = (0..n * d).map(|i| value(i + 999)).collect();
        let weights: Vec<f32> =
            (0..n).map(|i| (query.iter().zip(&keys[i * d..]).map(|(a, b)| a * b).sum::<f32>() * 0.3).exp()).collect();
        let total: f32 = weights.iter().sum();
        let mut state = Attention::new(d);
        for (from, to) in [(0, 1), (1, 1), (1, 30), (30, 37)] {
            let segment = Segment { keys: &keys[from * d..], values: &values[from * d..], stride: d, len: to - from };
            attend(&mut state, &query, segment, 0.3);
        }
        let mut out = vec![0.0; d];
        state.finish(&mut out);
        for (j, out) in out.iter().enumerate() {
            let exact: f32 = (0..n).map(|i| weights[i] * values[i * d + j]).sum::<f32>() / total;
            assert!((out - exact).abs() < 1e-5);
        }
    }

    #[test]
    fn silu_and_norm_follow_their_definitions() {
        let mut gate = vec![-20.0, -1.0, 0.0, 0.5, 30.0];
        let expected: Vec<f32> = gate.iter().map(|g: &f32| g / (1.0 + (-g).exp()) * 2.0).collect();
        silu_mul(&mut gate, &[2.0; 5]);
        for (g, e) in gate.iter().zip(expected) {
            assert!((g - e).abs() < 1e-5);
        }
        let mut out = [0.0; 2];
        rms_norm(&[3.0, 4.0], &[1.0, 2.0], 0.0, &mut out);
        let norm = 12.5f32.sqrt();
        assert!((out[0] - 3.0 / norm).abs() < 1e-6 && (out[1] - 8.0 / norm).abs() < 1e-6);
    }
}

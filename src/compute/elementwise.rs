//! Loops over `f32` values, compiled once for each instruction set and chosen at run time.
//!
//! The bodies are written so that the compiler vectorizes them; the only difference between the versions is the set of
//! instructions it may use.
#![allow(unsafe_code)]

use super::Isa;

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
                    Isa::Plain | Isa::NeonDot => {}
                }
            }
            // Vectors and fused products belong to the base instruction set there.
            #[cfg(target_arch = "aarch64")]
            if Isa::best() == Isa::NeonDot {
                return $body::<true>($($arg),*);
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
pub(super) fn exp_body<const FMA: bool>(x: f32) -> f32 {
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
pub(super) fn sum_lanes(mut sums: [f32; LANES]) -> f32 {
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

/// The error function by formula 7.1.28 of Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964); absolute
/// error at most 3e-7, to which f32 adds about 1e-6.
#[inline(always)]
fn erf_body<const FMA: bool>(x: f32) -> f32 {
    let t = x.abs();
    let mut p = 0.000_043_063_8;
    for c in [0.000_276_567_2, 0.000_152_014_3, 0.009_270_527, 0.042_282_01, 0.070_523_08, 1.0] {
        p = mul_add::<FMA>(p, t, c);
    }
    let p2 = p * p;
    let p4 = p2 * p2;
    let p8 = p4 * p4;
    (1.0 - 1.0 / (p8 * p8)).copysign(x)
}

#[inline(always)]
fn add_gelu_body<const FMA: bool>(x: &mut [f32], bias: &[f32]) {
    for (x, b) in x.iter_mut().zip(bias) {
        let v = *x + b;
        *x = 0.5 * v * (1.0 + erf_body::<FMA>(v * std::f32::consts::FRAC_1_SQRT_2));
    }
}

#[inline(always)]
fn add_body<const FMA: bool>(x: &mut [f32], what: &[f32]) {
    for (x, v) in x.iter_mut().zip(what) {
        *x += v;
    }
}

#[inline(always)]
fn sum_body(x: &[f32]) -> f32 {
    let mut sums = [0f32; LANES];
    let chunks = x.chunks_exact(LANES);
    let tail: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for i in 0..LANES {
            sums[i] += chunk[i];
        }
    }
    sum_lanes(sums) + tail
}

#[inline(always)]
fn layer_norm_body<const FMA: bool>(x: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    let mean = sum_body(x) / x.len() as f32;
    for v in x.iter_mut() {
        *v -= mean;
    }
    let factor = 1.0 / (dot_body::<FMA>(x, x) / x.len() as f32 + epsilon).sqrt();
    for ((v, w), b) in x.iter_mut().zip(weight).zip(bias) {
        *v = *v * factor * w + b;
    }
}

versions! {
    /// `x += what`, element by element.
    add, add_body, (x: &mut [f32], what: &[f32])
}
versions! {
    /// `x = gelu(x + bias)`, with `gelu(x) = x · Φ(x)`.
    add_gelu, add_gelu_body, (x: &mut [f32], bias: &[f32])
}
versions! {
    /// Layer normalisation in place: mean 0 and variance 1 over the row, then `* weight + bias` (Ba et al. 2016).
    layer_norm, layer_norm_body, (x: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32)
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
    fn gelu_and_layer_norm_follow_their_definitions() {
        // Values of x·Φ(x) from a table of the normal distribution.
        let mut x = vec![-4.0, -1.5, -0.5, 0.5, 1.0, 2.5];
        add_gelu(&mut x, &[0.5; 6]);
        for (got, exact) in x.iter().zip([-0.000_814, -0.158_655, 0.0, 0.841_345, 1.399_789, 2.995_95]) {
            assert!((got - exact).abs() < 2e-6, "{got} for {exact}");
        }
        let mut x: Vec<f32> = (0..37).map(|i| (i * i % 11) as f32).collect();
        let mean = x.iter().sum::<f32>() / 37.0;
        let deviation = (x.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / 37.0).sqrt();
        let expected: Vec<f32> = x.iter().map(|v| (v - mean) / deviation * 2.0 + 1.0).collect();
        layer_norm(&mut x, &[2.0; 37], &[1.0; 37], 0.0);
        for (got, expected) in x.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-5);
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

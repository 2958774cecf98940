//! The GELU activation fused with the bias before it, on the processor.
//!
//! candle's exact GELU calls the C library's error function once per element, one at a time; for small encoders that is
//! a sixth of all the work. Here the error function is a formula of additions, multiplications and one division, which
//! the compiler turns into vector instructions on every processor.

use candle_core::{CpuStorage, CustomOp1, Error, Layout, Result, Shape};

/// `gelu(x + bias)` over rows, with `gelu(x) = x · Φ(x)`, exact to the rounding of f32 arithmetic.
pub(super) struct BiasGelu {
    /// As long as a row.
    pub(super) bias: Vec<f32>,
}

/// The error function by formula 7.1.28 of Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964); absolute
/// error at most 3e-7, to which f32 adds about 1e-6.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let t = x.abs();
    let p = 1.0
        + t * (0.070_523_08
            + t * (0.042_282_01
                + t * (0.009_270_527 + t * (0.000_152_014_3 + t * (0.000_276_567_2 + t * 0.000_043_063_8)))));
    let p2 = p * p;
    let p4 = p2 * p2;
    let p8 = p4 * p4;
    (1.0 - 1.0 / (p8 * p8)).copysign(x)
}

#[inline(always)]
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

impl CustomOp1 for BiasGelu {
    fn name(&self) -> &'static str {
        "bias-gelu"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (CpuStorage::F32(values), Some((start, end))) = (storage, layout.contiguous_offsets()) else {
            return Err(Error::Msg("bias-gelu needs contiguous f32".into()));
        };
        let values = &values[start..end];
        let mut out = vec![0.0; values.len()];
        let width = self.bias.len().max(1);
        for (row, result) in values.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            for ((y, x), b) in result.iter_mut().zip(row).zip(&self.bias) {
                *y = gelu(x + b);
            }
        }
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use candle_core::{Device, Tensor};

    use super::*;

    #[test]
    fn agrees_with_the_exact_gelu() {
        let values: Vec<f32> = (-4000..4000).map(|i| i as f32 / 400.0).collect();
        let x = Tensor::from_vec(values, (4, 2000), &Device::Cpu).unwrap();
        let bias: Vec<f32> = (0..2000).map(|i| (i % 7) as f32 / 7.0).collect();
        let shifted = x.broadcast_add(&Tensor::from_vec(bias.clone(), 2000, &Device::Cpu).unwrap()).unwrap();
        let expected: Vec<f32> = shifted.gelu_erf().unwrap().flatten_all().unwrap().to_vec1().unwrap();
        let ours: Vec<f32> = x.apply_op1_no_bwd(&BiasGelu { bias }).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        for (ours, expected) in ours.iter().zip(&expected) {
            assert!((ours - expected).abs() <= 1e-5, "{ours} {expected}");
        }
    }

    #[test]
    fn large_values_stay_finite() {
        assert_eq!(gelu(1e30), 1e30);
        assert_eq!(gelu(-1e30), 0.0);
        assert!(gelu(f32::NAN).is_nan());
    }
}

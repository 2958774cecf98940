//! The GELU activation fused with the bias before it, on the processor.
//!
//! candle's exact GELU calls the C library's error function once per element, one at a time; here it is the vector code of the
//! kernels.

use candle_core::{CpuStorage, CustomOp1, Error, Layout, Result, Shape};

use crate::compute::elementwise;

/// `gelu(x + bias)` over rows, with `gelu(x) = x · Φ(x)`, exact to the rounding of f32 arithmetic.
pub(super) struct BiasGelu {
    /// As long as a row.
    pub(super) bias: Vec<f32>,
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
        let mut out = values.to_vec();
        for row in out.chunks_exact_mut(self.bias.len().max(1)) {
            elementwise::add_gelu(row, &self.bias);
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
        let mut values = [1e30, -1e30, f32::NAN];
        elementwise::add_gelu(&mut values, &[0.0; 3]);
        assert_eq!(values[..2], [1e30, 0.0]);
        assert!(values[2].is_nan());
    }
}

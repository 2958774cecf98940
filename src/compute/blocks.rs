//! The block formats of GGUF files, unpacked to one common shape.
//!
//! Every format of the GGML family stores a row as blocks of 32 or 256 weights and means
//! `weight = scale * q - min` with a small unsigned `q`. A [`Group`] is 32 consecutive weights in that form; formats
//! whose scale changes every 16 weights (Q6_K) use both entries of `scale` and `min`, the others repeat one value.
//! Layouts follow the GGML format definition (`ggml-common.h` of the GGUF ecosystem).

use candle_core::quantized::GgmlDType;
use half::{bf16, f16};

use crate::error::{Error, Kind, Result};

/// Weights in a group.
pub const GROUP: usize = 32;

/// 32 consecutive weights of a row: `weight[i] = scale[i / 16] * q[i] - min[i / 16]`.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// Unsigned quanta.
    pub q: [u8; GROUP],
    /// Factor of the first and of the second 16 weights.
    pub scale: [f32; 2],
    /// What is taken off the first and the second 16 weights.
    pub min: [f32; 2],
    /// The quantum that stands for zero, where the format has one: `min = centre * scale`.
    pub centre: u8,
}

impl Group {
    const ZERO: Group = Group { q: [0; GROUP], scale: [0.0; 2], min: [0.0; 2], centre: 0 };
}

/// Bits that the quanta of `dtype` need, or `None` for a type that this build cannot unpack.
pub fn quantum_bits(dtype: GgmlDType) -> Option<u32> {
    match dtype {
        GgmlDType::Q4_0 | GgmlDType::Q4_1 | GgmlDType::Q4K => Some(4),
        GgmlDType::Q5_0 | GgmlDType::Q5_1 | GgmlDType::Q5K => Some(5),
        GgmlDType::Q6K => Some(6),
        GgmlDType::Q8_0 | GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16 => Some(8),
        _ => None,
    }
}

/// Bytes that a row of `columns` weights takes, or an error when the format cannot hold such a row.
pub fn row_bytes(dtype: GgmlDType, columns: usize) -> Result<usize> {
    if quantum_bits(dtype).is_none() {
        return Err(Error::new(Kind::Model, "unsupported weight type")
            .expected("Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K, F16, BF16 or F32")
            .found(format!("{dtype:?}"))
            .hint("use a model file quantized as Q4_K_M, Q5_K_M, Q6_K or Q8_0"));
    }
    let block = dtype.block_size();
    if columns == 0 || !columns.is_multiple_of(block) || !columns.is_multiple_of(GROUP) {
        return Err(Error::new(Kind::Model, "a weight matrix has an impossible width")
            .expected(format!("a multiple of {}", block.max(GROUP)))
            .found(columns.to_string()));
    }
    Ok(columns / block * dtype.type_size())
}

fn half_at(bytes: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
}

/// The six-bit scales and minima of Q4_K and Q5_K: eight pairs in 12 bytes.
fn k_scale(packed: &[u8], j: usize) -> (f32, f32) {
    let (scale, min) = if j < 4 {
        (packed[j] & 63, packed[j + 4] & 63)
    } else {
        ((packed[j + 4] & 15) | ((packed[j - 4] >> 6) << 4), (packed[j + 4] >> 4) | ((packed[j] >> 6) << 4))
    };
    (f32::from(scale), f32::from(min))
}

/// Group `index` of `row` (the bytes of one row, as long as [`row_bytes`] says).
pub fn group(dtype: GgmlDType, row: &[u8], index: usize) -> Group {
    let mut g = Group::ZERO;
    let size = dtype.type_size();
    match dtype {
        GgmlDType::Q4_0 => {
            let b = &row[index * size..][..size];
            nibbles(&mut g.q, &b[2..]);
            let d = half_at(b, 0);
            (g.scale, g.min, g.centre) = ([d; 2], [8.0 * d; 2], 8);
        }
        GgmlDType::Q4_1 => {
            let b = &row[index * size..][..size];
            nibbles(&mut g.q, &b[4..]);
            (g.scale, g.min) = ([half_at(b, 0); 2], [-half_at(b, 2); 2]);
        }
        GgmlDType::Q5_0 => {
            let b = &row[index * size..][..size];
            nibbles(&mut g.q, &b[6..]);
            fifth_bits(&mut g.q, &b[2..6]);
            let d = half_at(b, 0);
            (g.scale, g.min, g.centre) = ([d; 2], [16.0 * d; 2], 16);
        }
        GgmlDType::Q5_1 => {
            let b = &row[index * size..][..size];
            nibbles(&mut g.q, &b[8..]);
            fifth_bits(&mut g.q, &b[4..8]);
            (g.scale, g.min) = ([half_at(b, 0); 2], [-half_at(b, 2); 2]);
        }
        GgmlDType::Q8_0 => {
            let b = &row[index * size..][..size];
            for (q, &byte) in g.q.iter_mut().zip(&b[2..]) {
                *q = byte ^ 0x80; // two's complement to excess 128
            }
            let d = half_at(b, 0);
            (g.scale, g.min, g.centre) = ([d; 2], [128.0 * d; 2], 128);
        }
        GgmlDType::Q4K | GgmlDType::Q5K => {
            let (b, j) = (&row[index / 8 * size..][..size], index % 8);
            let (d, dmin) = (half_at(b, 0), half_at(b, 2));
            let (scale, min) = k_scale(&b[4..16], j);
            let high = if dtype == GgmlDType::Q5K { Some(&b[16..48]) } else { None };
            let quanta = &b[if high.is_some() { 48 } else { 16 }..][j / 2 * 32..][..32];
            for (i, q) in g.q.iter_mut().enumerate() {
                *q = if j % 2 == 0 { quanta[i] & 15 } else { quanta[i] >> 4 };
                if let Some(high) = high {
                    *q |= ((high[i] >> j) & 1) << 4;
                }
            }
            (g.scale, g.min) = ([d * scale; 2], [dmin * min; 2]);
        }
        GgmlDType::Q6K => {
            // Halves of 128 weights; within one, quarter `part` takes its low bits from 64 bytes of `ql` and its high
            // bits from two bits of 32 bytes of `qh`.
            let (b, j) = (&row[index / 8 * size..][..size], index % 8);
            let (half, part) = (j / 4, j % 4);
            let low = &b[half * 64 + part % 2 * 32..][..32];
            let high = &b[128 + half * 32..][..32];
            for (i, q) in g.q.iter_mut().enumerate() {
                let nibble = if part < 2 { low[i] & 15 } else { low[i] >> 4 };
                *q = nibble | (((high[i] >> (2 * part)) & 3) << 4);
            }
            let d = half_at(b, 208);
            g.centre = 32;
            for side in 0..2 {
                let scale = d * f32::from(b[192 + half * 8 + part * 2 + side] as i8);
                (g.scale[side], g.min[side]) = (scale, 32.0 * scale);
            }
        }
        _ => {
            let mut weights = [0f32; GROUP];
            plain_weights(dtype, row, index, &mut weights);
            requantize(&weights, &mut g);
        }
    }
    g
}

/// Weights of group `index` of a row in a format without blocks.
fn plain_weights(dtype: GgmlDType, row: &[u8], index: usize, out: &mut [f32; GROUP]) {
    for (i, w) in out.iter_mut().enumerate() {
        let at = index * GROUP + i;
        *w = match dtype {
            GgmlDType::F32 => f32::from_le_bytes([row[4 * at], row[4 * at + 1], row[4 * at + 2], row[4 * at + 3]]),
            GgmlDType::BF16 => bf16::from_le_bytes([row[2 * at], row[2 * at + 1]]).to_f32(),
            _ => half_at(row, 2 * at),
        };
    }
}

/// All values of a tensor in a format without blocks; `None` for a format with blocks.
pub fn plain_values(dtype: GgmlDType, bytes: &[u8]) -> Option<Vec<f32>> {
    match dtype {
        GgmlDType::F32 => Some(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()),
        GgmlDType::F16 => Some(bytes.chunks_exact(2).map(|b| half_at(b, 0)).collect()),
        GgmlDType::BF16 => Some(bytes.chunks_exact(2).map(|b| bf16::from_le_bytes([b[0], b[1]]).to_f32()).collect()),
        _ => None,
    }
}

/// Rounds 32 weights to 8 bits around zero, as Q8_0 does.
fn requantize(weights: &[f32; GROUP], g: &mut Group) {
    let largest = weights.iter().fold(0f32, |m, w| m.max(w.abs()));
    let d = largest / 127.0;
    let inverse = if d > 0.0 { 1.0 / d } else { 0.0 };
    for (q, w) in g.q.iter_mut().zip(weights) {
        *q = ((w * inverse).round() + 128.0) as u8;
    }
    (g.scale, g.min, g.centre) = ([d; 2], [128.0 * d; 2], 128);
}

fn nibbles(q: &mut [u8; GROUP], packed: &[u8]) {
    for (i, &byte) in packed[..GROUP / 2].iter().enumerate() {
        q[i] = byte & 15;
        q[i + GROUP / 2] = byte >> 4;
    }
}

fn fifth_bits(q: &mut [u8; GROUP], packed: &[u8]) {
    let bits = u32::from_le_bytes([packed[0], packed[1], packed[2], packed[3]]);
    for (i, q) in q.iter_mut().enumerate() {
        *q |= ((bits >> i & 1) as u8) << 4;
    }
}

/// Writes the weights of a row as `f32`; `out` has as many places as the row has columns.
pub fn dequantize_row(dtype: GgmlDType, row: &[u8], out: &mut [f32]) {
    for (index, chunk) in out.chunks_exact_mut(GROUP).enumerate() {
        if let GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16 = dtype {
            let mut weights = [0f32; GROUP];
            plain_weights(dtype, row, index, &mut weights);
            chunk.copy_from_slice(&weights);
            continue;
        }
        let g = group(dtype, row, index);
        for (i, w) in chunk.iter_mut().enumerate() {
            *w = g.scale[i / 16] * f32::from(g.q[i]) - g.min[i / 16];
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use candle_core::quantized::QTensor;
    use candle_core::{Device, Tensor};

    #[test]
    fn every_format_unpacks_to_the_values_that_candle_gives() {
        let columns = 512;
        let values: Vec<f32> =
            (0..4 * columns).map(|i| ((i * 7919 % 1013) as f32 / 506.5 - 1.0) * (1.0 + (i % 5) as f32)).collect();
        let tensor = Tensor::from_vec(values, (4, columns), &Device::Cpu).unwrap();
        for dtype in [
            GgmlDType::Q4_0,
            GgmlDType::Q4_1,
            GgmlDType::Q5_0,
            GgmlDType::Q5_1,
            GgmlDType::Q8_0,
            GgmlDType::Q4K,
            GgmlDType::Q5K,
            GgmlDType::Q6K,
            GgmlDType::F16,
            GgmlDType::F32,
        ] {
            let quantized = QTensor::quantize(&tensor, dtype).unwrap();
            let expected: Vec<Vec<f32>> = quantized.dequantize(&Device::Cpu).unwrap().to_vec2().unwrap();
            let bytes = quantized.data().unwrap();
            let stride = row_bytes(dtype, columns).unwrap();
            for (r, expected) in expected.iter().enumerate() {
                let mut got = vec![0f32; columns];
                dequantize_row(dtype, &bytes[r * stride..][..stride], &mut got);
                for (g, e) in got.iter().zip(expected) {
                    assert!((g - e).abs() <= 1e-5 * e.abs().max(1.0), "{dtype:?}: {g} for {e}");
                }
            }
        }
    }

    #[test]
    fn widths_and_types_that_cannot_be_are_refused() {
        assert!(row_bytes(GgmlDType::Q4K, 100).is_err());
        assert!(row_bytes(GgmlDType::Q4_0, 0).is_err());
        assert!(row_bytes(GgmlDType::Q2K, 256).is_err());
        assert_eq!(row_bytes(GgmlDType::Q4_0, 64).unwrap(), 36);
    }
}

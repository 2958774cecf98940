//! Where a BERT encoder's weights come from: safetensors or GGUF, under one set of names.

use std::borrow::Cow;
use std::sync::Arc;

use candle_core::CpuStorage;
use candle_core::quantized::GgmlDType;

use crate::error::{Error, Kind, Result};
use crate::model::{GgufFile, SafetensorsFile, TensorView};

/// A tensor of a BERT encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Words,
    Positions,
    Types,
    EmbeddingNorm,
    Query,
    Key,
    Value,
    AttentionOutput,
    AttentionNorm,
    Up,
    Down,
    OutputNorm,
}

/// The tensors of one model.
pub(super) enum Weights {
    Gguf(Arc<GgufFile>),
    /// Names may stand under a prefix, such as `bert.`.
    Safetensors {
        file: SafetensorsFile,
        prefix: &'static str,
    },
}

impl Weights {
    pub(super) fn from_safetensors(file: SafetensorsFile) -> Result<Self> {
        let prefix = ["", "bert.", "roberta.", "model."]
            .into_iter()
            .find(|prefix| file.has(&format!("{prefix}embeddings.word_embeddings.weight")))
            .ok_or_else(|| Error::new(Kind::Model, "the weights are not those of a BERT encoder"))?;
        Ok(Self::Safetensors { file, prefix })
    }

    /// The weight (or `bias`) of `part`; `layer` is not looked at for the embeddings.
    pub(super) fn view(&self, part: Part, layer: usize, bias: bool) -> Result<TensorView<'_>> {
        match self {
            Self::Gguf(file) => {
                let suffix = if bias { "bias" } else { "weight" };
                file.tensor(&format!("{}.{suffix}", gguf_name(part, layer)))
            }
            Self::Safetensors { file, prefix } => {
                let name = format!("{prefix}{}", hugging_face_name(part, layer));
                let suffix = if bias { "bias" } else { "weight" };
                let full = format!("{name}.{suffix}");
                // Files converted from TensorFlow keep its names for the norms.
                let old = format!("{name}.{}", if bias { "beta" } else { "gamma" });
                file.tensor(if !file.has(&full) && file.has(&old) { &old } else { &full })
            }
        }
    }

    /// All elements as f32, after checking the shape.
    pub(super) fn dense(&self, part: Part, layer: usize, bias: bool, shape: &[usize]) -> Result<Vec<f32>> {
        let view = self.shaped(part, layer, bias, shape)?;
        let mut out = vec![0.0; view.element_count()];
        dequantize(view.dtype, view.data, &mut out)?;
        Ok(out)
    }

    /// [`Self::view`] after checking the shape.
    pub(super) fn shaped(&self, part: Part, layer: usize, bias: bool, shape: &[usize]) -> Result<TensorView<'_>> {
        let view = self.view(part, layer, bias)?;
        if view.shape != shape {
            return Err(Error::new(Kind::Model, format!("a tensor has the wrong shape ({part:?} of layer {layer})"))
                .expected(format!("{shape:?}"))
                .found(format!("{:?}", view.shape)));
        }
        Ok(view)
    }
}

fn gguf_name(part: Part, layer: usize) -> String {
    let name = match part {
        Part::Words => return "token_embd".into(),
        Part::Positions => return "position_embd".into(),
        Part::Types => return "token_types".into(),
        Part::EmbeddingNorm => return "token_embd_norm".into(),
        Part::Query => "attn_q",
        Part::Key => "attn_k",
        Part::Value => "attn_v",
        Part::AttentionOutput => "attn_output",
        Part::AttentionNorm => "attn_output_norm",
        Part::Up => "ffn_up",
        Part::Down => "ffn_down",
        Part::OutputNorm => "layer_output_norm",
    };
    format!("blk.{layer}.{name}")
}

fn hugging_face_name(part: Part, layer: usize) -> String {
    let name = match part {
        Part::Words => return "embeddings.word_embeddings".into(),
        Part::Positions => return "embeddings.position_embeddings".into(),
        Part::Types => return "embeddings.token_type_embeddings".into(),
        Part::EmbeddingNorm => return "embeddings.LayerNorm".into(),
        Part::Query => "attention.self.query",
        Part::Key => "attention.self.key",
        Part::Value => "attention.self.value",
        Part::AttentionOutput => "attention.output.dense",
        Part::AttentionNorm => "attention.output.LayerNorm",
        Part::Up => "intermediate.dense",
        Part::Down => "output.dense",
        Part::OutputNorm => "output.LayerNorm",
    };
    format!("encoder.layer.{layer}.{name}")
}

/// Decodes `data`, exactly the blocks of `out.len()` elements, to f32.
pub(super) fn dequantize(dtype: GgmlDType, data: &[u8], out: &mut [f32]) -> Result<()> {
    let size = out.len() / dtype.block_size() * dtype.type_size();
    if !out.len().is_multiple_of(dtype.block_size()) || data.len() != size {
        return Err(Error::new(Kind::Internal, "a tensor's bytes do not match its elements")
            .expected(size.to_string())
            .found(data.len().to_string()));
    }
    // Plain numbers are read byte by byte: safetensors does not promise alignment.
    match dtype {
        GgmlDType::F32 => {
            for (x, bytes) in out.iter_mut().zip(data.as_chunks::<4>().0) {
                *x = f32::from_le_bytes(*bytes);
            }
        }
        GgmlDType::F16 => {
            for (x, bytes) in out.iter_mut().zip(data.as_chunks::<2>().0) {
                *x = half::f16::from_le_bytes(*bytes).to_f32();
            }
        }
        GgmlDType::BF16 => {
            for (x, bytes) in out.iter_mut().zip(data.as_chunks::<2>().0) {
                *x = half::bf16::from_le_bytes(*bytes).to_f32();
            }
        }
        GgmlDType::Q4_0 => {
            // The common case of embedding rows, without an allocation per row. A block is an f16 scale and 16 bytes
            // that hold elements 0..16 in their low and 16..32 in their high halves, each less 8.
            let blocks = data.as_chunks::<18>().0;
            for (values, block) in out.as_chunks_mut::<32>().0.iter_mut().zip(blocks) {
                let scale = half::f16::from_le_bytes([block[0], block[1]]).to_f32();
                for (i, byte) in block[2..].iter().enumerate() {
                    values[i] = (i32::from(byte & 0x0f) - 8) as f32 * scale;
                    values[i + 16] = (i32::from(byte >> 4) - 8) as f32 * scale;
                }
            }
        }
        _ => {
            let failed = |e: candle_core::Error| Error::new(Kind::Model, "cannot decode a tensor").because(e);
            match dtype.from_data(Cow::Borrowed(data)).dequantize(out.len()).map_err(failed)? {
                CpuStorage::F32(values) if values.len() == out.len() => out.copy_from_slice(&values),
                _ => return Err(Error::new(Kind::Internal, "a tensor decoded to something else than f32")),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use candle_core::quantized::QTensor;
    use candle_core::{Device, Tensor};

    use super::*;

    #[test]
    fn decoding_agrees_with_candle_for_every_type() {
        let values: Vec<f32> = (0..512).map(|i| ((i * 37 % 101) as f32 - 50.0) / 17.0).collect();
        let tensor = Tensor::from_vec(values.clone(), (2, 256), &Device::Cpu).unwrap();
        for dtype in [GgmlDType::F32, GgmlDType::F16, GgmlDType::Q4_0, GgmlDType::Q5_0, GgmlDType::Q8_0, GgmlDType::Q4K]
        {
            let quantized = QTensor::quantize(&tensor, dtype).unwrap();
            let expected: Vec<f32> =
                quantized.dequantize(&Device::Cpu).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            let mut out = vec![0.0; 512];
            dequantize(dtype, &quantized.data().unwrap(), &mut out).unwrap();
            assert_eq!(out, expected, "{dtype:?}");
        }
        assert!(dequantize(GgmlDType::Q4_0, &[0; 17], &mut [0.0; 32]).is_err());
    }
}

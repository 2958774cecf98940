//! The BERT encoder (Devlin et al., 2019): absolute positions, post-layer norm, GELU.

use candle_core::{D, Device, Tensor};

use super::ops::BiasGelu;
use super::table::{Input, Table};
use super::weights::Part;
use crate::error::{Error, Kind, Result};

/// Added to the score of a padding position; its softmax weight underflows to zero.
const MASKED: f32 = -1e9;

/// The activation between the two feed-forward layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    /// `x · Φ(x)` by the error function.
    Gelu,
    /// Its approximation by tanh.
    GeluTanh,
    Relu,
}

/// Sizes and constants of an encoder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BertConfig {
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) feed_forward: usize,
    pub(super) epsilon: f32,
    /// Rows of the position table.
    pub(super) positions: usize,
    /// Row of the first token: 0 for BERT, `pad_token_id + 1` for the RoBERTa family.
    pub(super) first_position: usize,
    pub(super) activation: Activation,
}

/// `x · Wᵀ + b`, with the weight held as it lies in the file: `[out, in]`.
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f32,
}

struct Layer {
    /// Query, key and value stacked: `[3 · hidden, hidden]`.
    qkv: Linear,
    output: Linear,
    attention_norm: Norm,
    up: Linear,
    /// `up`'s bias fused with the activation, where that is faster.
    bias_gelu: Option<BiasGelu>,
    down: Linear,
    output_norm: Norm,
}

/// An encoder ready to run.
pub(super) struct Bert {
    config: BertConfig,
    table: Table,
    embedding_norm: Norm,
    layers: Vec<Layer>,
    device: Device,
}

fn failed(e: candle_core::Error) -> Error {
    Error::new(Kind::Model, "the embedding model failed").because(e)
}

impl Linear {
    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        x.matmul(&self.weight.t()?)?.broadcast_add(&self.bias)
    }
}

impl Norm {
    fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        candle_nn::ops::layer_norm(x, &self.weight, &self.bias, self.epsilon)
    }
}

impl Bert {
    /// Loads the layers to `device`.
    pub(super) fn load(config: BertConfig, table: Table, device: &Device) -> Result<Self> {
        let (hidden, inner) = (config.hidden, config.feed_forward);
        let weights = table.weights();
        let tensor = |data: Vec<f32>, shape: &[usize]| Tensor::from_vec(data, shape, device).map_err(failed);
        let linear = |part, layer, output: usize, input: usize| -> Result<Linear> {
            Ok(Linear {
                weight: tensor(weights.dense(part, layer, false, &[output, input])?, &[output, input])?,
                bias: tensor(weights.dense(part, layer, true, &[output])?, &[output])?,
            })
        };
        let norm = |part, layer| -> Result<Norm> {
            Ok(Norm {
                weight: tensor(weights.dense(part, layer, false, &[hidden])?, &[hidden])?,
                bias: tensor(weights.dense(part, layer, true, &[hidden])?, &[hidden])?,
                epsilon: config.epsilon,
            })
        };
        let embedding_norm = norm(Part::EmbeddingNorm, 0)?;
        let layers = (0..config.layers)
            .map(|layer| {
                let (mut weight, mut bias) = (Vec::new(), Vec::new());
                for part in [Part::Query, Part::Key, Part::Value] {
                    weight.extend(weights.dense(part, layer, false, &[hidden, hidden])?);
                    bias.extend(weights.dense(part, layer, true, &[hidden])?);
                }
                Ok(Layer {
                    qkv: Linear { weight: tensor(weight, &[3 * hidden, hidden])?, bias: tensor(bias, &[3 * hidden])? },
                    output: linear(Part::AttentionOutput, layer, hidden, hidden)?,
                    attention_norm: norm(Part::AttentionNorm, layer)?,
                    up: linear(Part::Up, layer, inner, hidden)?,
                    bias_gelu: if device.is_cpu() && config.activation == Activation::Gelu {
                        Some(BiasGelu { bias: weights.dense(Part::Up, layer, true, &[inner])? })
                    } else {
                        None
                    },
                    down: linear(Part::Down, layer, hidden, inner)?,
                    output_norm: norm(Part::OutputNorm, layer)?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { config, table, embedding_norm, layers, device: device.clone() })
    }

    pub(super) fn config(&self) -> &BertConfig {
        &self.config
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// Last hidden states of `texts`, one after another: `Σ tokens × hidden`, row-major.
    pub(super) fn forward(&self, texts: &[Input<'_>]) -> Result<Vec<f32>> {
        let longest = texts.iter().map(Input::len).max().unwrap_or(0);
        if longest == 0 {
            return Ok(Vec::new());
        }
        let (batch, hidden) = (texts.len(), self.config.hidden);
        let embedded = self.look_up(texts, longest)?;
        let mask = padding_mask(texts, longest);
        let run = || -> candle_core::Result<Vec<f32>> {
            let mask = match mask {
                Some(mask) => Some(Tensor::from_vec(mask, (batch, 1, 1, longest), &self.device)?),
                None => None,
            };
            let mut x = Tensor::from_vec(embedded, (batch * longest, hidden), &self.device)?;
            x = self.embedding_norm.forward(&x)?;
            for layer in &self.layers {
                x = self.layer(layer, &x, batch, longest, mask.as_ref())?;
            }
            x.flatten_all()?.to_vec1()
        };
        let padded = run().map_err(failed)?;
        let own = padded.chunks_exact(longest * hidden).zip(texts).map(|(states, ids)| &states[..ids.len() * hidden]);
        Ok(own.flatten().copied().collect())
    }

    fn layer(
        &self,
        layer: &Layer,
        x: &Tensor,
        batch: usize,
        length: usize,
        mask: Option<&Tensor>,
    ) -> candle_core::Result<Tensor> {
        let attended = self.attention(layer, x, batch, length, mask)?;
        let x = layer.attention_norm.forward(&(x + layer.output.forward(&attended)?)?)?;
        let inner = match (&layer.bias_gelu, self.config.activation) {
            (Some(fused), _) => x.matmul(&layer.up.weight.t()?)?.apply_op1_no_bwd(fused)?,
            (None, Activation::Gelu) => layer.up.forward(&x)?.gelu_erf()?,
            (None, Activation::GeluTanh) => layer.up.forward(&x)?.gelu()?,
            (None, Activation::Relu) => layer.up.forward(&x)?.relu()?,
        };
        layer.output_norm.forward(&(&x + layer.down.forward(&inner)?)?)
    }

    fn attention(
        &self,
        layer: &Layer,
        x: &Tensor,
        batch: usize,
        length: usize,
        mask: Option<&Tensor>,
    ) -> candle_core::Result<Tensor> {
        let heads = self.config.heads;
        let width = self.config.hidden / heads;
        // [3, batch, heads, length, width]
        let qkv = layer.qkv.forward(x)?.reshape((batch, length, 3, heads, width))?.permute((2, 0, 3, 1, 4))?;
        let part = |i: usize| qkv.get(i)?.contiguous();
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        let scores = ((q * (width as f64).powf(-0.5))?).matmul(&k.t()?)?;
        let scores = match mask {
            Some(mask) => scores.broadcast_add(mask)?,
            None => scores,
        };
        let weights = candle_nn::ops::softmax(&scores, D::Minus1)?;
        weights.matmul(&v)?.transpose(1, 2)?.reshape((batch * length, heads * width))
    }

    /// Rows of the tables; zero where a text is padded.
    fn look_up(&self, texts: &[Input<'_>], longest: usize) -> Result<Vec<f32>> {
        let hidden = self.config.hidden;
        let mut out = vec![0.0; texts.len() * longest * hidden];
        for (ids, rows) in texts.iter().zip(out.chunks_exact_mut(longest * hidden)) {
            self.table.look_up(*ids, &mut rows[..ids.len() * hidden])?;
        }
        Ok(out)
    }
}

/// Zero for tokens and [`MASKED`] for padding, `texts × longest`; nothing when there is no padding.
fn padding_mask(texts: &[Input<'_>], longest: usize) -> Option<Vec<f32>> {
    if texts.iter().all(|ids| ids.len() == longest) {
        return None;
    }
    let row = |ids: &Input<'_>| (0..longest).map(|i| if i < ids.len() { 0.0 } else { MASKED }).collect::<Vec<_>>();
    Some(texts.iter().flat_map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_masked_and_nothing_else() {
        let texts = [Input::single(&[1, 2, 3]), Input::single(&[1])];
        let mask = padding_mask(&texts, 3).unwrap_or_default();
        assert_eq!(mask, [0.0, 0.0, 0.0, 0.0, MASKED, MASKED]);
        assert!(padding_mask(&texts[..1], 3).is_none());
    }
}

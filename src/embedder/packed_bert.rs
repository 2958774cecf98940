//! The encoder on packed weights and 8-bit activations, for the processor.
//!
//! The texts of a batch lie one after another without padding, so that no row is computed in vain; only the attention knows
//! where a text ends.

use std::sync::Arc;

use rayon::prelude::*;

use super::bert::{Activation, BertConfig};
use super::table::{Input, Table};
use super::weights::{Part, Weights};
use crate::compute::{Activations, KeyValues, PackedMatrix, Queries, SharedBytes, elementwise};
use crate::error::Result;
use crate::model::BlockFile;

/// A weight matrix of an encoder, `output × input`.
pub(super) struct Matrix {
    part: Part,
    layer: usize,
    output: usize,
    input: usize,
}

impl Matrix {
    /// All matrices that [`PackedBert::load`] asks for.
    pub(super) fn all(config: &BertConfig) -> Vec<Self> {
        let (hidden, inner) = (config.hidden, config.feed_forward);
        let square = [Part::Query, Part::Key, Part::Value, Part::AttentionOutput].map(|part| (part, hidden, hidden));
        let parts = [square.as_slice(), &[(Part::Up, inner, hidden), (Part::Down, hidden, inner)]].concat();
        (0..config.layers)
            .flat_map(|layer| parts.iter().map(move |(part, output, input)| (layer, *part, *output, *input)))
            .map(|(layer, part, output, input)| Self { part, layer, output, input })
            .collect()
    }

    /// What its packed form is kept under.
    pub(super) fn name(&self) -> String {
        format!("{:?} {} {}x{}", self.part, self.layer, self.output, self.input)
    }

    /// Bytes of its packed form.
    pub(super) fn packed_len(&self, weights: &Weights) -> Result<usize> {
        let view = weights.shaped(self.part, self.layer, false, &[self.output, self.input])?;
        PackedMatrix::packed_len(view.dtype, self.output, self.input)
    }

    /// Its packed form.
    pub(super) fn pack(&self, weights: &Weights) -> Result<PackedMatrix> {
        let view = weights.shaped(self.part, self.layer, false, &[self.output, self.input])?;
        PackedMatrix::pack(view.dtype, self.output, self.input, view.data)
    }
}

/// `x · Wᵀ + b`.
struct Linear {
    weight: PackedMatrix,
    bias: Vec<f32>,
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    output_norm: Norm,
}

/// An encoder ready to run.
pub(super) struct PackedBert {
    config: BertConfig,
    table: Table,
    embedding_norm: Norm,
    layers: Vec<Layer>,
}

impl PackedBert {
    /// Whether the kernels take the shapes and the activation of a model.
    pub(super) fn takes(config: &BertConfig) -> bool {
        let widths = [config.hidden, config.feed_forward];
        widths.iter().all(|w| w.is_multiple_of(32)) && config.activation == Activation::Gelu
    }

    /// Loads the layers, packed before as `kept` has them or here. Weights of full precision are rounded to 8 bits, quantized
    /// ones stay as they are.
    pub(super) fn load(config: BertConfig, table: Table, kept: Option<&BlockFile>) -> Result<Self> {
        let (hidden, inner) = (config.hidden, config.feed_forward);
        let weights = table.weights();
        let linear = |part, layer, output: usize, input: usize| -> Result<Linear> {
            let matrix = Matrix { part, layer, output, input };
            let weight = match kept.and_then(|kept| kept.block(&matrix.name())) {
                Some(block) => {
                    let dtype = weights.shaped(part, layer, false, &[output, input])?.dtype;
                    let bytes = SharedBytes::new(Arc::clone(&block.map) as _, block.range.clone());
                    PackedMatrix::from_packed(dtype, output, input, bytes)?
                }
                None => matrix.pack(weights)?,
            };
            Ok(Linear { weight, bias: weights.dense(part, layer, true, &[output])? })
        };
        let norm = |part, layer| -> Result<Norm> {
            Ok(Norm {
                weight: weights.dense(part, layer, false, &[hidden])?,
                bias: weights.dense(part, layer, true, &[hidden])?,
            })
        };
        let embedding_norm = norm(Part::EmbeddingNorm, 0)?;
        let layers = (0..config.layers)
            .map(|layer| {
                Ok(Layer {
                    query: linear(Part::Query, layer, hidden, hidden)?,
                    key: linear(Part::Key, layer, hidden, hidden)?,
                    value: linear(Part::Value, layer, hidden, hidden)?,
                    output: linear(Part::AttentionOutput, layer, hidden, hidden)?,
                    attention_norm: norm(Part::AttentionNorm, layer)?,
                    up: linear(Part::Up, layer, inner, hidden)?,
                    down: linear(Part::Down, layer, hidden, inner)?,
                    output_norm: norm(Part::OutputNorm, layer)?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { config, table, embedding_norm, layers })
    }

    pub(super) fn config(&self) -> &BertConfig {
        &self.config
    }

    /// Last hidden states of `texts`, one after another: `Σ tokens × hidden`, row-major.
    pub(super) fn forward(&self, texts: &[Input<'_>]) -> Result<Vec<f32>> {
        let (hidden, inner) = (self.config.hidden, self.config.feed_forward);
        let rows: usize = texts.iter().map(Input::len).sum();
        let mut x = vec![0f32; rows * hidden];
        let mut rest = x.as_mut_slice();
        for input in texts {
            let (own, after) = rest.split_at_mut(input.len() * hidden);
            self.table.look_up(*input, own)?;
            rest = after;
        }
        self.embedding_norm.apply(&mut x, self.config.epsilon);
        let mut parts = [(); 3].map(|()| vec![0f32; rows * hidden]);
        let mut added = vec![0f32; rows * hidden];
        let mut wide = vec![0f32; rows * inner];
        for layer in &self.layers {
            let quantized = Activations::quantize(&x, hidden);
            for (linear, out) in [&layer.query, &layer.key, &layer.value].into_iter().zip(&mut parts) {
                linear.weight.multiply(&quantized, out);
                out.par_chunks_exact_mut(hidden).with_min_len(ROWS).for_each(|row| elementwise::add(row, &linear.bias));
            }
            let [query, key, value] = &parts;
            self.attend(texts, query, key, value, &mut added);
            let quantized = Activations::quantize(&added, hidden);
            layer.output.add_and_norm(&quantized, &mut added, &mut x, &layer.attention_norm, self.config.epsilon);
            layer.up.weight.multiply(&Activations::quantize(&x, hidden), &mut wide);
            let quantized = Activations::from_rows(rows, inner, |r, row| {
                row.copy_from_slice(&wide[r * inner..][..inner]);
                elementwise::add_gelu(row, &layer.up.bias);
            });
            layer.down.add_and_norm(&quantized, &mut added, &mut x, &layer.output_norm, self.config.epsilon);
        }
        Ok(x)
    }

    /// Every token attends to all tokens of its text.
    fn attend(&self, texts: &[Input<'_>], query: &[f32], key: &[f32], value: &[f32], out: &mut [f32]) {
        let (hidden, heads) = (self.config.hidden, self.config.heads);
        let dimension = hidden / heads;
        let scale = 1.0 / (dimension as f32).sqrt();
        let mut rest = out;
        let mut start = 0;
        let mut tasks = Vec::with_capacity(texts.len());
        for ids in texts {
            let (own, after) = std::mem::take(&mut rest).split_at_mut(ids.len() * hidden);
            tasks.push((start..start + ids.len() * hidden, own));
            start += ids.len() * hidden;
            rest = after;
        }
        let state = || (KeyValues::default(), Queries::default());
        tasks.into_par_iter().for_each_init(state, |(keys, queries), (range, out)| {
            let (query, key, value) = (&query[range.clone()], &key[range.clone()], &value[range]);
            let tokens = query.len() / hidden;
            keys.reset(heads, dimension, tokens);
            for (k, v) in key.chunks_exact(hidden).zip(value.chunks_exact(hidden)) {
                keys.push(k, v);
            }
            let visible = vec![tokens; tokens];
            for head in 0..heads {
                let own = query.chunks_exact(hidden).map(|row| &row[head * dimension..][..dimension]);
                queries.reset(dimension, scale, own);
                queries.attend(keys, head, &visible);
                for (i, row) in out.chunks_exact_mut(hidden).enumerate() {
                    queries.mean(i, &mut row[head * dimension..][..dimension]);
                }
            }
        });
    }
}

/// Rows that are worth a task of their own in the cheap steps.
const ROWS: usize = 32;

impl Linear {
    /// `x = norm(x + input · Wᵀ + b)`; `product` is room of the size of `x`.
    fn add_and_norm(&self, input: &Activations, product: &mut [f32], x: &mut [f32], norm: &Norm, epsilon: f32) {
        self.weight.multiply(input, product);
        let width = norm.weight.len();
        x.par_chunks_exact_mut(width).zip(product.par_chunks_exact(width)).with_min_len(ROWS).for_each(
            |(x, product)| {
                elementwise::add(x, product);
                elementwise::add(x, &self.bias);
                elementwise::layer_norm(x, &norm.weight, &norm.bias, epsilon);
            },
        );
    }
}

impl Norm {
    fn apply(&self, x: &mut [f32], epsilon: f32) {
        x.par_chunks_exact_mut(self.weight.len()).with_min_len(ROWS).for_each(|row| {
            elementwise::layer_norm(row, &self.weight, &self.bias, epsilon);
        });
    }
}

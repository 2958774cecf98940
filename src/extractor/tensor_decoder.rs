//! The same transformer over candle's tensors: for devices, whose kernels candle has.
//!
//! Weights keep the blocks of their file and are multiplied by candle's quantized kernels. Keys and values of a node are tensors of
//! shape key-value heads x positions x dimension. Attention goes level by level down the tree of prompts: all rows under the
//! same node meet its keys at once, and what the levels give is joined by their maxima and sums, as in online softmax.

use candle_core::quantized::{QMatMul, ggml_file};
use candle_core::{D, Device, Module, Tensor};
use candle_nn::{ops, rotary_emb};

use super::cache::{Cache, Layer, NodeId};
use super::decoder::{Config, Row, embed, head, vector};
use super::weights::shaped;
use crate::error::{Error, Kind, Result};
use crate::model::GgufFile;

/// Stands for no score at all; finite, so that differences stay numbers.
const NOTHING: f32 = -1e30;

/// Keys and values of a node in one layer, each of shape heads x positions x dimension; none while it is empty.
#[derive(Debug, Default)]
pub(super) struct Kept {
    keys: Option<Tensor>,
    values: Option<Tensor>,
}

impl Layer for Kept {
    fn reset(&mut self, _: usize, _: usize, _: usize) {
        (self.keys, self.values) = (None, None);
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        for tensor in [&mut self.keys, &mut self.values] {
            *tensor = match tensor.take() {
                Some(t) if len > 0 => {
                    let len = len.min(t.dim(1).map_err(failed)?);
                    Some(t.narrow(1, 0, len).map_err(failed)?)
                }
                _ => None,
            };
        }
        Ok(())
    }
}

impl Kept {
    fn append(&mut self, keys: &Tensor, values: &Tensor) -> candle_core::Result<()> {
        for (kept, new) in [(&mut self.keys, keys), (&mut self.values, values)] {
            *kept = Some(match kept.take() {
                Some(kept) => Tensor::cat(&[&kept, new], 1)?,
                None => new.contiguous()?,
            });
        }
        Ok(())
    }
}

struct Linear {
    weight: QMatMul,
    bias: Option<Tensor>,
}

impl Linear {
    fn apply(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let y = self.weight.forward(x)?;
        match &self.bias {
            Some(bias) => y.broadcast_add(bias),
            None => Ok(y),
        }
    }
}

struct Block {
    attention_norm: Tensor,
    query: Linear,
    key: Linear,
    value: Linear,
    query_norm: Option<Tensor>,
    key_norm: Option<Tensor>,
    output: Linear,
    feed_forward_norm: Tensor,
    gate: Linear,
    up: Linear,
    down: Linear,
}

/// A model on a device.
pub(super) struct TensorDecoder {
    config: Config,
    gguf: GgufFile,
    device: Device,
    blocks: Vec<Block>,
    output_norm: Tensor,
    output: Linear,
}

/// Scores of rows against the positions of one level: maximum, sum and weighted values, each of shape key-value heads x group x rows x 1
/// or dimension.
struct Partial {
    maximum: Tensor,
    sum: Tensor,
    values: Tensor,
}

impl TensorDecoder {
    /// Copies the weights of `gguf` to `device`.
    pub(super) fn load(gguf: GgufFile, device: &Device) -> Result<Self> {
        let config = Config::read(&gguf)?;
        let c = &config;
        if 2 * c.rope.frequencies.len() != c.head_dimension {
            return Err(Error::new(
                Kind::Model,
                "the model turns only part of its heads, which no device kernel here does",
            )
            .at(gguf.path())
            .hint("use --device cpu"));
        }
        let tensor = |name: &str, len| -> Result<Tensor> {
            Tensor::from_vec(vector(&gguf, name, len)?, len, device).map_err(failed)
        };
        let linear = |name: &str, rows, columns| -> Result<Linear> {
            let view = shaped(&gguf, &format!("{name}.weight"), rows, columns)?;
            let weight = ggml_file::qtensor_from_ggml(view.dtype, view.data, vec![rows, columns], device)
                .and_then(QMatMul::from_qtensor)
                .map_err(failed)?;
            gguf.forget(&format!("{name}.weight"));
            let bias = format!("{name}.bias");
            Ok(Linear { weight, bias: if gguf.has(&bias) { Some(tensor(&bias, rows)?) } else { None } })
        };
        let (q, kv) = (c.heads * c.head_dimension, c.kv_heads * c.head_dimension);
        let mut blocks = Vec::with_capacity(c.layers);
        for i in 0..c.layers {
            let name = |part: &str| format!("blk.{i}.{part}");
            let optional = |part: &str| -> Result<Option<Tensor>> {
                let name = name(part);
                if gguf.has(&name) { tensor(&name, c.head_dimension).map(Some) } else { Ok(None) }
            };
            blocks.push(Block {
                attention_norm: tensor(&name("attn_norm.weight"), c.hidden)?,
                query: linear(&name("attn_q"), q, c.hidden)?,
                key: linear(&name("attn_k"), kv, c.hidden)?,
                value: linear(&name("attn_v"), kv, c.hidden)?,
                query_norm: optional("attn_q_norm.weight")?,
                key_norm: optional("attn_k_norm.weight")?,
                output: linear(&name("attn_output"), c.hidden, q)?,
                feed_forward_norm: tensor(&name("ffn_norm.weight"), c.hidden)?,
                gate: linear(&name("ffn_gate"), c.feed_forward, c.hidden)?,
                up: linear(&name("ffn_up"), c.feed_forward, c.hidden)?,
                down: linear(&name("ffn_down"), c.hidden, c.feed_forward)?,
            });
        }
        let output_norm = tensor("output_norm.weight", c.hidden)?;
        let output = linear(head(&gguf).trim_end_matches(".weight"), c.vocabulary, c.hidden)?;
        Ok(Self { device: device.clone(), blocks, output_norm, output, config, gguf })
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// A cache of the right shape.
    pub(super) fn new_cache(&self) -> Cache<Kept> {
        Cache::new(self.config.layers, self.config.kv_heads, self.config.head_dimension)
    }

    /// As [`Decoder::forward`](super::decoder::Decoder::forward).
    pub(super) fn forward(&self, cache: &mut Cache<Kept>, rows: &[Row], wanted: &[usize]) -> Result<Vec<f32>> {
        let positions = cache.positions(rows);
        self.config.check_context(&positions)?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let h = embed(&self.gguf, self.config.hidden, rows)?;
        self.compute(cache, rows, wanted, &positions, h).map_err(failed)
    }

    fn compute(
        &self,
        cache: &mut Cache<Kept>,
        rows: &[Row],
        wanted: &[usize],
        positions: &[usize],
        h: Vec<f32>,
    ) -> candle_core::Result<Vec<f32>> {
        let c = &self.config;
        let (n, epsilon) = (rows.len(), c.epsilon);
        let mut h = Tensor::from_vec(h, (n, c.hidden), &self.device)?;
        let angles: Vec<(f32, f32)> = positions.iter().flat_map(|p| c.rope.angles(*p)).collect();
        let half = c.head_dimension / 2;
        let table = |pick: fn(&(f32, f32)) -> f32| {
            Tensor::from_vec(angles.iter().map(pick).collect::<Vec<f32>>(), (n, half), &self.device)
        };
        let (sin, cos) = (table(|a| a.0)?, table(|a| a.1)?);
        let plan = Plan::new(cache, rows, positions, &self.device)?;
        for (index, block) in self.blocks.iter().enumerate() {
            let x = ops::rms_norm(&h, &block.attention_norm, epsilon)?;
            let heads =
                |y: Tensor, count: usize| y.reshape((n, count, c.head_dimension))?.transpose(0, 1)?.contiguous();
            let turned = |y: Tensor, count: usize, norm: &Option<Tensor>| -> candle_core::Result<Tensor> {
                let mut y = heads(y, count)?;
                if let Some(norm) = norm {
                    y = ops::rms_norm(&y, norm, epsilon)?;
                }
                let y = y.unsqueeze(0)?;
                let y = match c.rope.neighbours {
                    true => rotary_emb::rope_i(&y, &cos, &sin)?,
                    false => rotary_emb::rope(&y, &cos, &sin)?,
                };
                y.squeeze(0)
            };
            let q = turned(block.query.apply(&x)?, c.heads, &block.query_norm)?;
            let k = turned(block.key.apply(&x)?, c.kv_heads, &block.key_norm)?;
            let v = heads(block.value.apply(&x)?, c.kv_heads)?;
            for (node, first, count) in runs(rows) {
                cache.layer_mut(node, index).append(&k.narrow(1, first, count)?, &v.narrow(1, first, count)?)?;
            }
            let attended = self.attend(cache, &plan, index, &q)?;
            h = (h + block.output.apply(&attended)?)?;
            let x = ops::rms_norm(&h, &block.feed_forward_norm, epsilon)?;
            let inner = (ops::silu(&block.gate.apply(&x)?)? * block.up.apply(&x)?)?;
            h = (h + block.down.apply(&inner)?)?;
        }
        for row in rows {
            cache.grow(row.node, 1);
        }
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<u32> = wanted.iter().map(|&r| r as u32).collect();
        let last = h.index_select(&Tensor::from_slice(&wanted, wanted.len(), &self.device)?, 0)?;
        let last = ops::rms_norm(&last, &self.output_norm, epsilon)?;
        self.output.apply(&last)?.flatten_all()?.to_vec1()
    }

    /// Attention of every row over its path: `q` and the result are heads x rows x dimension, and rows x width.
    fn attend(&self, cache: &Cache<Kept>, plan: &Plan, layer: usize, q: &Tensor) -> candle_core::Result<Tensor> {
        let c = &self.config;
        let (group, n, dimension) = (c.heads / c.kv_heads, plan.rows, c.head_dimension);
        let scale = 1.0 / (dimension as f64).sqrt();
        let q = (q.index_select(&plan.order, 1)? * scale)?.reshape((c.kv_heads, group, n, dimension))?;
        let mut joined: Option<Partial> = None;
        for level in &plan.levels {
            let mut parts = Vec::with_capacity(level.len());
            for share in level {
                let count = share.count;
                let Some((node, mask)) = &share.node else {
                    parts.push(Partial::nothing(c.kv_heads, group, count, dimension, &self.device)?);
                    continue;
                };
                let kept = cache.layer(*node, layer);
                let (Some(keys), Some(values)) = (&kept.keys, &kept.values) else {
                    parts.push(Partial::nothing(c.kv_heads, group, count, dimension, &self.device)?);
                    continue;
                };
                let q =
                    q.narrow(2, share.first, count)?.contiguous()?.reshape((c.kv_heads, group * count, dimension))?;
                let len = keys.dim(1)?;
                let mut scores = q.matmul(&keys.transpose(1, 2)?)?;
                if let Some(mask) = mask {
                    let shaped = scores.reshape((c.kv_heads, group, count, len))?;
                    scores = shaped.broadcast_add(mask)?.reshape((c.kv_heads, group * count, len))?;
                }
                let maximum = scores.max_keepdim(D::Minus1)?;
                let weights = scores.broadcast_sub(&maximum)?.exp()?;
                let whole = |t: Tensor, last: usize| t.reshape((c.kv_heads, group, count, last));
                parts.push(Partial {
                    sum: whole(weights.sum_keepdim(D::Minus1)?, 1)?,
                    values: whole(weights.matmul(values)?, dimension)?,
                    maximum: whole(maximum, 1)?,
                });
            }
            let all = Partial::side_by_side(&parts)?;
            joined = Some(match joined {
                Some(before) => before.join(&all)?,
                None => all,
            });
        }
        let Some(Partial { sum, values, .. }) = joined else { return q.flatten_to(1) };
        let mean = values.broadcast_div(&sum)?.reshape((c.heads, n, dimension))?;
        mean.index_select(&plan.back, 1)?.transpose(0, 1)?.contiguous()?.reshape((n, c.heads * dimension))
    }
}

impl Partial {
    fn nothing(
        heads: usize,
        group: usize,
        rows: usize,
        dimension: usize,
        device: &Device,
    ) -> candle_core::Result<Self> {
        let maximum = Tensor::full(NOTHING, (heads, group, rows, 1), device)?;
        let sum = Tensor::zeros((heads, group, rows, 1), candle_core::DType::F32, device)?;
        let values = Tensor::zeros((heads, group, rows, dimension), candle_core::DType::F32, device)?;
        Ok(Self { maximum, sum, values })
    }

    fn side_by_side(parts: &[Self]) -> candle_core::Result<Self> {
        let cat = |pick: fn(&Self) -> &Tensor| Tensor::cat(&parts.iter().map(pick).collect::<Vec<_>>(), 2);
        Ok(Self { maximum: cat(|p| &p.maximum)?, sum: cat(|p| &p.sum)?, values: cat(|p| &p.values)? })
    }

    fn join(&self, other: &Self) -> candle_core::Result<Self> {
        let maximum = self.maximum.maximum(&other.maximum)?;
        let mine = (&self.maximum - &maximum)?.exp()?;
        let theirs = (&other.maximum - &maximum)?.exp()?;
        let sum = ((&self.sum * &mine)? + (&other.sum * &theirs)?)?;
        let values = (self.values.broadcast_mul(&mine)? + other.values.broadcast_mul(&theirs)?)?;
        Ok(Self { maximum, sum, values })
    }
}

/// Rows next to each other under the same node of a level.
struct Share {
    first: usize,
    count: usize,
    /// The node, and what hides later positions where it is the rows' own; none for rows whose path ends above.
    node: Option<(NodeId, Option<Tensor>)>,
}

/// How the rows of a pass lie under the tree.
struct Plan {
    rows: usize,
    /// Rows by path, and back.
    order: Tensor,
    back: Tensor,
    levels: Vec<Vec<Share>>,
}

impl Plan {
    fn new(cache: &Cache<Kept>, rows: &[Row], positions: &[usize], device: &Device) -> candle_core::Result<Self> {
        let mut places: Vec<(Vec<NodeId>, usize)> =
            rows.iter().enumerate().map(|(r, row)| (cache.path(row.node), r)).collect();
        places.sort();
        let order: Vec<u32> = places.iter().map(|(_, r)| *r as u32).collect();
        let mut back = vec![0u32; rows.len()];
        for (at, r) in order.iter().enumerate() {
            back[*r as usize] = at as u32;
        }
        let depth = places.iter().map(|(path, _)| path.len()).max().unwrap_or(0);
        let mut levels = Vec::with_capacity(depth);
        for level in 0..depth {
            let node = |at: usize| places[at].0.get(level).copied();
            let mut shares = Vec::new();
            let mut first = 0;
            while first < places.len() {
                let count = (first..places.len()).take_while(|at| node(*at) == node(first)).count();
                let node = match node(first) {
                    Some(node) => {
                        let here = &places[first..first + count];
                        Some((node, Self::mask(cache, node, here, rows, positions, device)?))
                    }
                    None => None,
                };
                shares.push(Share { first, count, node });
                first += count;
            }
            levels.push(shares);
        }
        let index = |v: &[u32]| Tensor::from_slice(v, v.len(), device);
        Ok(Self { rows: rows.len(), order: index(&order)?, back: index(&back)?, levels })
    }

    /// What hides the positions of `node` that come after each row, of shape rows x positions; none where all are seen.
    fn mask(
        cache: &Cache<Kept>,
        node: NodeId,
        places: &[(Vec<NodeId>, usize)],
        rows: &[Row],
        positions: &[usize],
        device: &Device,
    ) -> candle_core::Result<Option<Tensor>> {
        let own = places.iter().filter(|(_, r)| rows[*r].node == node);
        let after = own.map(|(_, r)| positions[*r] + 1 - cache.start(node)).max();
        let len = after.unwrap_or(0).max(cache.end(node) - cache.start(node));
        let seen = |r: usize| if rows[r].node == node { positions[r] + 1 - cache.start(node) } else { len };
        if places.iter().all(|(_, r)| seen(*r) >= len) {
            return Ok(None);
        }
        let hidden = |(_, r): &(Vec<NodeId>, usize)| {
            let seen = seen(*r);
            (0..len).map(move |at| if at < seen { 0.0 } else { NOTHING })
        };
        let values: Vec<f32> = places.iter().flat_map(hidden).collect();
        Tensor::from_vec(values, (places.len(), len), device).map(Some)
    }
}

/// Nodes with their rows: first row and number of rows.
fn runs(rows: &[Row]) -> Vec<(NodeId, usize, usize)> {
    let mut runs: Vec<(NodeId, usize, usize)> = Vec::new();
    for (r, row) in rows.iter().enumerate() {
        match runs.last_mut() {
            Some((node, _, count)) if *node == row.node => *count += 1,
            _ => runs.push((row.node, r, 1)),
        }
    }
    runs
}

fn failed(error: candle_core::Error) -> Error {
    Error::new(Kind::Model, "the device failed").because(error).hint("use --device cpu")
}

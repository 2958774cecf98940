//! The decoder-only transformer of the Llama family, on packed weights and a shared cache.
//!
//! One forward pass takes rows (tokens) of any number of branches at any positions. Supported `general.architecture`s:
//! `llama` (Llama 2 and 3, Mistral, SmolLM2), `qwen2` (Qwen2 and 2.5) and `qwen3`. Sources: Touvron et al. 2023 (Llama),
//! Su et al. 2021 (rotary embedding), Ainslie et al. 2023 (grouped-query attention); tensor names and metadata keys are
//! those of the GGUF specification.

use rayon::prelude::*;

use super::cache::{Cache, NodeId};
use super::memory::Needs;
use super::weights::{Wanted, Weights, shape_error};
use crate::compute::{Activations, PackedMatrix, Queries, blocks, elementwise};
use crate::error::{Error, Kind, Result};
use crate::model::{DiskCache, GgufFile};

/// One token to compute: it is appended to `node`. Rows of one node stand in order, next to each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) token: u32,
    pub(super) node: NodeId,
}

/// Fewest rows whose attention is computed by one task, so that a shared prefix is loaded seldom.
const TOGETHER: usize = 4;

/// Rows of one task of the attention.
struct Share {
    /// Indices of the rows.
    rows: Vec<usize>,
    /// Nodes that they attend to, ancestors first, with the number of positions that each query sees: for each row its heads of
    /// one group.
    nodes: Vec<(NodeId, Vec<usize>)>,
}

/// Sizes and constants of a model.
#[derive(Debug, Clone)]
pub(super) struct Config {
    pub(super) layers: usize,
    pub(super) hidden: usize,
    pub(super) feed_forward: usize,
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) head_dimension: usize,
    pub(super) context: usize,
    pub(super) vocabulary: usize,
    pub(super) epsilon: f32,
    pub(super) rope: Rope,
}

/// Rotary position embedding.
#[derive(Debug, Clone)]
pub(super) struct Rope {
    /// Angle per position for each pair of components.
    pub(super) frequencies: Vec<f32>,
    /// Pairs are neighbours (`llama` files, whose weights are permuted for it) or half a head apart.
    pub(super) neighbours: bool,
}

struct Linear {
    weight: PackedMatrix,
    bias: Option<Vec<f32>>,
}

struct Layer {
    attention_norm: Vec<f32>,
    query: Linear,
    key: Linear,
    value: Linear,
    query_norm: Option<Vec<f32>>,
    key_norm: Option<Vec<f32>>,
    output: Linear,
    feed_forward_norm: Vec<f32>,
    gate: Linear,
    up: Linear,
    down: Linear,
}

/// A loaded model. Weights are in packed form, mapped or on the heap; token embeddings are read from the mapped file row by row.
pub(super) struct Decoder {
    config: Config,
    gguf: GgufFile,
    layers: Vec<Layer>,
    output_norm: Vec<f32>,
    output: PackedMatrix,
}

impl Decoder {
    /// Loads the model `gguf`. With a cache and the file's key, its packed weights are mapped from there, and
    /// written there first if they are missing; else they are packed to the heap.
    pub(super) fn load(gguf: GgufFile, cache: Option<(&DiskCache, &[u8; 32])>) -> Result<Self> {
        let config = Config::read(&gguf)?;
        let c = &config;
        let weights = match cache {
            Some((cache, key)) => Weights::shared(&gguf, key, cache, &c.matrices(&gguf)),
            None => Weights::unshared(&gguf),
        };
        let (q, kv) = (c.heads * c.head_dimension, c.kv_heads * c.head_dimension);
        let mut layers = Vec::with_capacity(c.layers);
        for i in 0..c.layers {
            let name = |part: &str| format!("blk.{i}.{part}");
            let linear = |part: &str, rows, columns| linear(&gguf, &weights, &name(part), rows, columns);
            let optional = |part: &str, len| {
                let name = name(part);
                if gguf.has(&name) { vector(&gguf, &name, len).map(Some) } else { Ok(None) }
            };
            layers.push(Layer {
                attention_norm: vector(&gguf, &name("attn_norm.weight"), c.hidden)?,
                query: linear("attn_q", q, c.hidden)?,
                key: linear("attn_k", kv, c.hidden)?,
                value: linear("attn_v", kv, c.hidden)?,
                query_norm: optional("attn_q_norm.weight", c.head_dimension)?,
                key_norm: optional("attn_k_norm.weight", c.head_dimension)?,
                output: linear("attn_output", c.hidden, q)?,
                feed_forward_norm: vector(&gguf, &name("ffn_norm.weight"), c.hidden)?,
                gate: linear("ffn_gate", c.feed_forward, c.hidden)?,
                up: linear("ffn_up", c.feed_forward, c.hidden)?,
                down: linear("ffn_down", c.hidden, c.feed_forward)?,
            });
        }
        let output_norm = vector(&gguf, "output_norm.weight", c.hidden)?;
        let output = weights.matrix(head(&gguf), c.vocabulary, c.hidden)?;
        drop(weights);
        Ok(Self { config, gguf, layers, output_norm, output })
    }

    /// What the model of `gguf` takes.
    pub(super) fn needs(gguf: &GgufFile) -> Result<Needs> {
        let c = Config::read(gguf)?;
        let mut weights = 0;
        for (name, rows, columns) in c.matrices(gguf) {
            weights += PackedMatrix::packed_len(gguf.tensor(&name)?.dtype, rows, columns)? as u64;
        }
        let values = c.kv_heads * (c.head_dimension + c.head_dimension.next_multiple_of(16));
        let width = 2 * c.feed_forward + 6 * c.hidden + 2 * c.heads * c.head_dimension;
        let bytes = |values: usize| (values * size_of::<f32>()) as u64;
        Ok(Needs { weights, position: bytes(c.layers * values), row: bytes(width), logits: bytes(c.vocabulary) })
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// A cache of the right shape.
    pub(super) fn new_cache(&self) -> Cache {
        Cache::new(self.config.layers, self.config.kv_heads, self.config.head_dimension)
    }

    /// Computes `rows`, appends them to their nodes and returns the logits after each row of `wanted` (indices into
    /// `rows`), row-major: `wanted.len()` x vocabulary.
    pub(super) fn forward(&self, cache: &mut Cache, rows: &[Row], wanted: &[usize]) -> Result<Vec<f32>> {
        let c = &self.config;
        let positions = cache.positions(rows);
        c.check_context(&positions)?;
        let (hidden, dimension) = (c.hidden, c.head_dimension);
        let (q_width, kv_width) = (c.heads * dimension, c.kv_heads * dimension);
        let shares = self.shares(cache, rows, &positions);
        let angles: Vec<Vec<(f32, f32)>> = positions.iter().map(|p| c.rope.angles(*p)).collect();

        let mut h = embed(&self.gguf, hidden, rows)?;
        let mut q = vec![0f32; rows.len() * q_width];
        let (mut k, mut v) = (vec![0f32; rows.len() * kv_width], vec![0f32; rows.len() * kv_width]);
        let mut attended = vec![0f32; rows.len() * q_width];
        let mut added = vec![0f32; h.len()];
        let (mut gate, mut up) = (vec![0f32; rows.len() * c.feed_forward], vec![0f32; rows.len() * c.feed_forward]);

        for (index, layer) in self.layers.iter().enumerate() {
            let x = normed(&h, &layer.attention_norm, c.epsilon);
            layer.query.apply(&x, &mut q);
            layer.key.apply(&x, &mut k);
            layer.value.apply(&x, &mut v);
            for (r, row) in rows.iter().enumerate() {
                let q = &mut q[r * q_width..][..q_width];
                let k = &mut k[r * kv_width..][..kv_width];
                for (values, norm) in [(&mut *q, &layer.query_norm), (&mut *k, &layer.key_norm)] {
                    for head in values.chunks_exact_mut(dimension) {
                        if let Some(norm) = norm {
                            let copy = head.to_vec();
                            elementwise::rms_norm(&copy, norm, c.epsilon, head);
                        }
                        c.rope.rotate(head, &angles[r]);
                    }
                }
                cache.push(row.node, index, k, &v[r * kv_width..][..kv_width]);
            }
            self.attend(cache, &shares, index, &q, &mut attended);
            layer.output.apply(&Activations::quantize(&attended, q_width), &mut added);
            elementwise::add(&mut h, &added);

            let x = normed(&h, &layer.feed_forward_norm, c.epsilon);
            layer.gate.apply(&x, &mut gate);
            layer.up.apply(&x, &mut up);
            let x = Activations::from_rows(rows.len(), c.feed_forward, |r, row| {
                row.copy_from_slice(&gate[r * c.feed_forward..][..c.feed_forward]);
                elementwise::silu_mul(row, &up[r * c.feed_forward..][..c.feed_forward]);
            });
            layer.down.apply(&x, &mut added);
            elementwise::add(&mut h, &added);
        }
        for row in rows {
            cache.grow(row.node, 1);
        }

        let mut last = vec![0f32; wanted.len() * hidden];
        for (out, r) in last.chunks_exact_mut(hidden).zip(wanted) {
            elementwise::rms_norm(&h[r * hidden..][..hidden], &self.output_norm, c.epsilon, out);
        }
        let mut logits = vec![0f32; wanted.len() * c.vocabulary];
        if !wanted.is_empty() {
            self.output.multiply(&Activations::quantize(&last, hidden), &mut logits);
        }
        Ok(logits)
    }

    /// Puts rows that share prefixes together, a few for each task of the attention.
    fn shares(&self, cache: &Cache, rows: &[Row], positions: &[usize]) -> Vec<Share> {
        let group = self.config.heads / self.config.kv_heads;
        let mut places: Vec<(Vec<NodeId>, usize)> = Vec::with_capacity(rows.len());
        for (r, row) in rows.iter().enumerate() {
            let path = match places.last() {
                Some((path, _)) if path.last() == Some(&row.node) => path.clone(),
                _ => cache.path(row.node),
            };
            places.push((path, r));
        }
        places.sort();
        let share = |places: &[(Vec<NodeId>, usize)]| {
            let mut nodes: Vec<(NodeId, Vec<usize>)> = Vec::new();
            for (i, (path, r)) in places.iter().enumerate() {
                for node in path {
                    // Nodes of a path are met from the root down, so each row sees them in that order.
                    let at = nodes.iter().position(|(n, _)| n == node).unwrap_or_else(|| {
                        nodes.push((*node, vec![0; places.len() * group]));
                        nodes.len() - 1
                    });
                    let seen = positions[*r] + 1 - cache.start(*node);
                    let whole = cache.end(*node) - cache.start(*node);
                    nodes[at].1[i * group..][..group].fill(if *node == rows[*r].node { seen } else { whole });
                }
            }
            Share { rows: places.iter().map(|(_, r)| *r).collect(), nodes }
        };
        // Several tasks a thread, each with as many rows as that leaves.
        let together =
            (rows.len() * self.config.kv_heads).div_ceil(4 * rayon::current_num_threads()).clamp(TOGETHER, 32);
        places.chunks(together).map(share).collect()
    }

    /// Attention of every row over its branch, for all heads of one layer.
    fn attend(&self, cache: &Cache, shares: &[Share], layer: usize, q: &[f32], out: &mut [f32]) {
        let c = &self.config;
        let (dimension, group) = (c.head_dimension, c.heads / c.kv_heads);
        let scale = 1.0 / (dimension as f32).sqrt();
        let width = c.heads * dimension;
        let results: Vec<Vec<f32>> = (0..shares.len() * c.kv_heads)
            .into_par_iter()
            .map_init(Queries::default, |queries, task| {
                // One head after the other, so that its keys stay in the core's cache for all shares.
                let (kv_head, share) = (task / shares.len(), &shares[task % shares.len()]);
                let heads = |r: &usize| {
                    q[r * width + kv_head * group * dimension..][..group * dimension].chunks_exact(dimension)
                };
                queries.reset(dimension, scale, share.rows.iter().flat_map(heads));
                for (node, visible) in &share.nodes {
                    queries.attend(cache.layer(*node, layer), kv_head, visible);
                }
                let mut result = vec![0f32; queries.len() * dimension];
                for (i, out) in result.chunks_exact_mut(dimension).enumerate() {
                    queries.mean(i, out);
                }
                result
            })
            .collect();
        for (task, result) in results.iter().enumerate() {
            let (kv_head, share) = (task / shares.len(), &shares[task % shares.len()]);
            for (r, result) in share.rows.iter().zip(result.chunks_exact(group * dimension)) {
                out[r * width + kv_head * group * dimension..][..result.len()].copy_from_slice(result);
            }
        }
    }
}

impl Config {
    /// Fails when a position lies behind the end of the context.
    pub(super) fn check_context(&self, positions: &[usize]) -> Result<()> {
        match positions.iter().max() {
            Some(last) if *last >= self.context => {
                Err(Error::new(Kind::Model, "the text does not fit the model's context")
                    .expected(format!("at most {} tokens", self.context))
                    .found(format!("{}", last + 1)))
            }
            _ => Ok(()),
        }
    }

    /// All matrices of the model but the token embeddings, in the order of their use.
    fn matrices(&self, gguf: &GgufFile) -> Vec<Wanted> {
        let (q, kv) = (self.heads * self.head_dimension, self.kv_heads * self.head_dimension);
        let (hidden, inner) = (self.hidden, self.feed_forward);
        let parts = [
            ("attn_q", q, hidden),
            ("attn_k", kv, hidden),
            ("attn_v", kv, hidden),
            ("attn_output", hidden, q),
            ("ffn_gate", inner, hidden),
            ("ffn_up", inner, hidden),
            ("ffn_down", hidden, inner),
        ];
        let layer = |i: usize| parts.map(|(part, rows, columns)| (format!("blk.{i}.{part}.weight"), rows, columns));
        let last = (head(gguf).to_owned(), self.vocabulary, hidden);
        (0..self.layers).flat_map(layer).chain([last]).collect()
    }

    /// Reads and checks the metadata.
    pub(super) fn read(gguf: &GgufFile) -> Result<Self> {
        let architecture = gguf.meta_str("general.architecture").unwrap_or("none").to_owned();
        if !["llama", "qwen2", "qwen3"].contains(&architecture.as_str()) {
            return Err(Error::new(Kind::Model, "the model cannot be used as an extractor")
                .at(gguf.path())
                .expected("general.architecture llama, qwen2 or qwen3")
                .found(architecture)
                .hint("choose another model with --extractor, or --extractor none for verbatim sentences"));
        }
        let key = |name: &str| format!("{architecture}.{name}");
        let missing = |name: &str| {
            Error::new(Kind::Format, "the model file lacks a setting")
                .at(gguf.path())
                .expected(format!("`{}`", key(name)))
        };
        let number = |name: &str| match gguf.meta_u32(&key(name)) {
            Some(n) if n > 0 => Ok(n as usize),
            _ => Err(missing(name)),
        };
        let heads = number("attention.head_count")?;
        let hidden = number("embedding_length")?;
        let head_dimension = number("attention.key_length").unwrap_or(hidden / heads);
        let kv_heads = number("attention.head_count_kv").unwrap_or(heads);
        let embeddings = gguf.tensor("token_embd.weight")?;
        if heads % kv_heads != 0 || head_dimension % 2 != 0 || embeddings.shape.len() != 2 {
            return Err(Error::new(Kind::Format, "the model's settings contradict each other")
                .at(gguf.path())
                .found(format!("{heads} heads, {kv_heads} kv heads, head dimension {head_dimension}")));
        }
        if let Some(scaling) = gguf.meta_str(&key("rope.scaling.type"))
            && scaling != "none"
        {
            return Err(Error::new(Kind::Model, "the model scales its positions in a way that is not supported")
                .at(gguf.path())
                .expected("no rope.scaling.type")
                .found(scaling.to_owned()));
        }
        let base = gguf.meta_f32(&key("rope.freq_base")).unwrap_or(10_000.0);
        let rotated = number("rope.dimension_count").unwrap_or(head_dimension).min(head_dimension);
        let mut frequencies: Vec<f32> = (0..rotated / 2).map(|i| base.powf(-2.0 * i as f32 / rotated as f32)).collect();
        if gguf.has("rope_freqs.weight") {
            // Llama 3 stretches low frequencies; the file carries the divisors.
            let factors = vector(gguf, "rope_freqs.weight", frequencies.len())?;
            for (f, factor) in frequencies.iter_mut().zip(factors) {
                *f /= factor;
            }
        }
        Ok(Self {
            layers: number("block_count")?,
            hidden,
            feed_forward: number("feed_forward_length")?,
            heads,
            kv_heads,
            head_dimension,
            context: number("context_length")?,
            vocabulary: embeddings.shape[0],
            epsilon: gguf
                .meta_f32(&key("attention.layer_norm_rms_epsilon"))
                .ok_or_else(|| missing("attention.layer_norm_rms_epsilon"))?,
            rope: Rope { frequencies, neighbours: architecture == "llama" },
        })
    }
}

impl Rope {
    /// Sine and cosine of each pair's angle.
    pub(super) fn angles(&self, position: usize) -> Vec<(f32, f32)> {
        self.frequencies.iter().map(|f| (position as f32 * f).sin_cos()).collect()
    }

    /// Turns the pairs of one head.
    fn rotate(&self, head: &mut [f32], angles: &[(f32, f32)]) {
        let half = angles.len();
        for (i, (sin, cos)) in angles.iter().enumerate() {
            let (a, b) = if self.neighbours { (2 * i, 2 * i + 1) } else { (i, i + half) };
            let (x, y) = (head[a], head[b]);
            head[a] = x * cos - y * sin;
            head[b] = x * sin + y * cos;
        }
    }
}

impl Linear {
    fn apply(&self, x: &Activations, out: &mut [f32]) {
        self.weight.multiply(x, out);
        if let Some(bias) = &self.bias {
            for row in out.chunks_exact_mut(bias.len()) {
                elementwise::add(row, bias);
            }
        }
    }
}

/// Token embeddings of `rows`, dequantized from the mapped table.
pub(super) fn embed(gguf: &GgufFile, hidden: usize, rows: &[Row]) -> Result<Vec<f32>> {
    let table = gguf.tensor("token_embd.weight")?;
    let stride = blocks::row_bytes(table.dtype, hidden)?;
    let mut h = vec![0f32; rows.len() * hidden];
    for (row, out) in rows.iter().zip(h.chunks_exact_mut(hidden)) {
        let at = row.token as usize * stride;
        let bytes = table.data.get(at..at + stride).ok_or_else(|| {
            Error::new(Kind::Model, "a token lies outside the vocabulary").found(row.token.to_string())
        })?;
        blocks::dequantize_row(table.dtype, bytes, out);
    }
    Ok(h)
}

/// The rows of `x`, each at root mean square 1 and times `weight`, ready to be multiplied.
fn normed(x: &[f32], weight: &[f32], epsilon: f32) -> Activations {
    let width = weight.len();
    Activations::from_rows(x.len() / width, width, |r, row| {
        elementwise::rms_norm(&x[r * width..][..width], weight, epsilon, row);
    })
}

/// The matrix that makes logits: its own, or the token embeddings.
pub(super) fn head(gguf: &GgufFile) -> &'static str {
    if gguf.has("output.weight") { "output.weight" } else { "token_embd.weight" }
}

fn linear(gguf: &GgufFile, weights: &Weights<'_>, name: &str, rows: usize, columns: usize) -> Result<Linear> {
    let weight = weights.matrix(&format!("{name}.weight"), rows, columns)?;
    let bias = format!("{name}.bias");
    let bias = if gguf.has(&bias) { Some(vector(gguf, &bias, rows)?) } else { None };
    Ok(Linear { weight, bias })
}

pub(super) fn vector(gguf: &GgufFile, name: &str, len: usize) -> Result<Vec<f32>> {
    let tensor = gguf.tensor(name)?;
    if tensor.shape != [len] {
        return Err(shape_error(gguf, name, &[len], tensor.shape));
    }
    blocks::plain_values(tensor.dtype, tensor.data).ok_or_else(|| {
        Error::new(Kind::Format, format!("tensor `{name}` has another type"))
            .at(gguf.path())
            .expected("F32, F16 or BF16")
            .found(format!("{:?}", tensor.dtype))
    })
}

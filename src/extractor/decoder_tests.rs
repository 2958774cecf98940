//! The decoder against candle's own implementations of the same architectures, on small random models.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::Path;

use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{Device, Tensor};
use candle_transformers::models::{quantized_llama, quantized_qwen2, quantized_qwen3};

use super::cache::{Cache, NodeId};
use super::decoder::{Decoder, Row};
use super::tensor_decoder::{Kept, TensorDecoder};
use super::{snapshot, weights};
use crate::model::{DiskCache, GgufFile, GgufWriter, MetaValue};

const VOCABULARY: usize = 96;
const HIDDEN: usize = 64;
const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const DIMENSION: usize = 32;
const FEED_FORWARD: usize = 160;
const LAYERS: usize = 3;

/// A model of `architecture` with random weights.
fn write_model(path: &Path, architecture: &str) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut noise = |n: usize, scale: f32, shift: f32| -> Vec<f32> {
        std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 40) as f32 / (1 << 23) as f32 - 1.0) * scale + shift
        })
        .take(n)
        .collect()
    };
    let mut gguf = GgufWriter::new();
    gguf.meta("general.architecture", MetaValue::Str(architecture.to_owned()));
    let head = if architecture == "qwen3" { DIMENSION } else { HIDDEN / HEADS };
    for (key, value) in [
        ("block_count", LAYERS),
        ("context_length", 256),
        ("embedding_length", HIDDEN),
        ("feed_forward_length", FEED_FORWARD),
        ("attention.head_count", HEADS),
        ("attention.head_count_kv", KV_HEADS),
        ("attention.key_length", head),
        ("rope.dimension_count", head),
    ] {
        gguf.meta(&format!("{architecture}.{key}"), MetaValue::U32(value as u32));
    }
    gguf.meta(&format!("{architecture}.rope.freq_base"), MetaValue::F32(10_000.0));
    gguf.meta(&format!("{architecture}.attention.layer_norm_rms_epsilon"), MetaValue::F32(1e-6));
    let mut matrix = |gguf: &mut GgufWriter<'_>, name: &str, rows: usize, columns: usize| {
        let values = noise(rows * columns, 0.25, 0.0);
        let tensor = Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap();
        let data = QTensor::quantize(&tensor, GgmlDType::Q8_0).unwrap().data().unwrap().to_vec();
        gguf.tensor(name, GgmlDType::Q8_0, &[rows, columns], data).unwrap();
    };
    matrix(&mut gguf, "token_embd.weight", VOCABULARY, HIDDEN);
    matrix(&mut gguf, "output.weight", VOCABULARY, HIDDEN);
    for layer in 0..LAYERS {
        for (name, rows, columns) in [
            ("attn_q", HEADS * head, HIDDEN),
            ("attn_k", KV_HEADS * head, HIDDEN),
            ("attn_v", KV_HEADS * head, HIDDEN),
            ("attn_output", HIDDEN, HEADS * head),
            ("ffn_gate", FEED_FORWARD, HIDDEN),
            ("ffn_up", FEED_FORWARD, HIDDEN),
            ("ffn_down", HIDDEN, FEED_FORWARD),
        ] {
            matrix(&mut gguf, &format!("blk.{layer}.{name}.weight"), rows, columns);
        }
    }
    let mut vector = |gguf: &mut GgufWriter<'_>, name: &str, n: usize, shift: f32| {
        let bytes: Vec<u8> = noise(n, 0.3, shift).iter().flat_map(|v| v.to_le_bytes()).collect();
        gguf.tensor(name, GgmlDType::F32, &[n], bytes).unwrap();
    };
    vector(&mut gguf, "output_norm.weight", HIDDEN, 1.0);
    for layer in 0..LAYERS {
        vector(&mut gguf, &format!("blk.{layer}.attn_norm.weight"), HIDDEN, 1.0);
        vector(&mut gguf, &format!("blk.{layer}.ffn_norm.weight"), HIDDEN, 1.0);
        if architecture == "qwen2" {
            for (name, n) in [("attn_q", HEADS * head), ("attn_k", KV_HEADS * head), ("attn_v", KV_HEADS * head)] {
                vector(&mut gguf, &format!("blk.{layer}.{name}.bias"), n, 0.0);
            }
        }
        if architecture == "qwen3" {
            vector(&mut gguf, &format!("blk.{layer}.attn_q_norm.weight"), head, 1.0);
            vector(&mut gguf, &format!("blk.{layer}.attn_k_norm.weight"), head, 1.0);
        }
    }
    let mut file = std::fs::File::create(path).unwrap();
    gguf.write(&mut file).unwrap();
}

/// Logits after the last of `tokens` by candle.
fn candle_logits(path: &Path, architecture: &str, tokens: &[u32]) -> Vec<f32> {
    let mut file = std::fs::File::open(path).unwrap();
    let content = gguf_file::Content::read(&mut file).unwrap();
    let input = Tensor::new(tokens, &Device::Cpu).unwrap().unsqueeze(0).unwrap();
    let device = Device::Cpu;
    let logits = match architecture {
        "llama" => quantized_llama::ModelWeights::from_gguf(content, &mut file, &device).unwrap().forward(&input, 0),
        "qwen2" => quantized_qwen2::ModelWeights::from_gguf(content, &mut file, &device).unwrap().forward(&input, 0),
        _ => quantized_qwen3::ModelWeights::from_gguf(content, &mut file, &device).unwrap().forward(&input, 0),
    };
    logits.unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn assert_close(got: &[f32], expected: &[f32], what: &str) {
    assert_eq!(got.len(), expected.len());
    let norm = (expected.iter().map(|v| v * v).sum::<f32>() / expected.len() as f32).sqrt();
    let worst = got.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
    assert!(
        cosine(got, expected) > 0.999 && worst < 0.15 * norm,
        "{what}: cosine {}, worst {worst} of {norm}",
        cosine(got, expected)
    );
}

#[test]
fn logits_agree_with_candle_for_every_architecture() {
    let folder = tempfile::tempdir().unwrap();
    for architecture in ["llama", "qwen2", "qwen3"] {
        let path = folder.path().join(architecture);
        write_model(&path, architecture);
        let decoder = Decoder::load(GgufFile::open(&path).unwrap(), None).unwrap();
        let tokens: Vec<u32> = (0..40).map(|i| (i * 31 + 7) % VOCABULARY as u32).collect();
        let mut cache = decoder.new_cache();
        let node = cache.branch(None, tokens.len());
        let rows: Vec<Row> = tokens.iter().map(|&token| Row { token, node }).collect();
        let wanted = [0, 19, 39];
        let logits = decoder.forward(&mut cache, &rows, &wanted).unwrap();
        for (got, last) in logits.chunks_exact(VOCABULARY).zip(wanted) {
            let expected = candle_logits(&path, architecture, &tokens[..=last]);
            assert_close(got, &expected, &format!("{architecture} after {last}"));
        }
    }
}

#[test]
fn a_branch_over_shared_prefixes_equals_the_same_tokens_in_one_piece() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    write_model(&path, "qwen2");
    let decoder = Decoder::load(GgufFile::open(&path).unwrap(), None).unwrap();
    let piece = |from: u32, n: u32| -> Vec<u32> { (0..n).map(|i| (from + i * 17) % VOCABULARY as u32).collect() };
    let (root, section) = (piece(1, 20), piece(5, 11));
    let branches = [piece(2, 7), piece(50, 4), piece(33, 9)];

    let mut cache = decoder.new_cache();
    let root_node = cache.branch(None, 0);
    let rows = |tokens: &[u32], node| tokens.iter().map(|&token| Row { token, node }).collect::<Vec<_>>();
    decoder.forward(&mut cache, &rows(&root, root_node), &[]).unwrap();
    let section_node = cache.branch(Some(root_node), 0);
    decoder.forward(&mut cache, &rows(&section, section_node), &[]).unwrap();
    // All but the last token of each branch in one pass, at different lengths; then the last tokens together.
    let nodes: Vec<_> = branches.iter().map(|_| cache.branch(Some(section_node), 0)).collect();
    let mut all = Vec::new();
    for (branch, node) in branches.iter().zip(&nodes) {
        all.extend(rows(&branch[..branch.len() - 1], *node));
    }
    decoder.forward(&mut cache, &all, &[]).unwrap();
    let last: Vec<Row> = branches.iter().zip(&nodes).map(|(b, &node)| Row { token: b[b.len() - 1], node }).collect();
    let together = decoder.forward(&mut cache, &last, &[0, 1, 2]).unwrap();

    for (branch, got) in branches.iter().zip(together.chunks_exact(VOCABULARY)) {
        let tokens: Vec<u32> = root.iter().chain(&section).chain(branch).copied().collect();
        assert_close(got, &candle_logits(&path, "qwen2", &tokens), "against candle");
        let mut fresh = decoder.new_cache();
        let node = fresh.branch(None, 0);
        let alone = decoder.forward(&mut fresh, &rows(&tokens, node), &[tokens.len() - 1]).unwrap();
        let worst = got.iter().zip(&alone).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        assert!(worst < 1e-2, "differs by {worst}");
    }
}

#[test]
fn a_released_node_is_used_again_without_a_trace_of_what_it_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    write_model(&path, "llama");
    let decoder = Decoder::load(GgufFile::open(&path).unwrap(), None).unwrap();
    let mut cache = decoder.new_cache();
    let mut run = |tokens: &[u32]| {
        let node = cache.branch(None, tokens.len());
        let rows: Vec<Row> = tokens.iter().map(|&token| Row { token, node }).collect();
        let logits = decoder.forward(&mut cache, &rows, &[tokens.len() - 1]).unwrap();
        cache.release(node);
        logits
    };
    let first = run(&[1, 2, 3]);
    run(&[9, 8, 7, 6, 5]);
    assert_eq!(first, run(&[1, 2, 3]));
}

#[test]
fn text_longer_than_the_context_and_unknown_tokens_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    write_model(&path, "llama");
    let decoder = Decoder::load(GgufFile::open(&path).unwrap(), None).unwrap();
    let mut cache = decoder.new_cache();
    let node = cache.branch(None, 0);
    let rows = vec![Row { token: 1, node }; 300];
    assert!(decoder.forward(&mut cache, &rows, &[]).unwrap_err().to_string().contains("at most 256 tokens"));
    let rows = vec![Row { token: 1 << 20, node }];
    assert!(decoder.forward(&mut cache, &rows, &[]).is_err());
}

#[test]
fn a_model_of_another_architecture_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    write_model(&path, "mamba");
    let error = Decoder::load(GgufFile::open(&path).unwrap(), None).err().unwrap().to_string();
    assert!(error.contains("mamba") && error.contains("hint:"), "{error}");
}

#[test]
fn kept_weights_give_the_same_logits_and_a_damaged_file_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    write_model(&path, "qwen2");
    let cache = DiskCache { folder: folder.path().join("caches"), limit: 1 << 30 };
    let logits = |cache: Option<&DiskCache>| {
        let decoder = Decoder::load(GgufFile::open(&path).unwrap(), cache.map(|c| (c, &[7; 32]))).unwrap();
        let mut kv = decoder.new_cache();
        let node = kv.branch(None, 3);
        let rows: Vec<Row> = [5, 6, 7].map(|token| Row { token, node }).to_vec();
        decoder.forward(&mut kv, &rows, &[2]).unwrap()
    };
    let expected = logits(None);
    assert_eq!(logits(Some(&cache)), expected);
    let kept = cache.files()[0].path.clone();
    let whole = std::fs::read(&kept).unwrap();
    cache.verify(&cache.files()[0]).unwrap();
    // Mapped now; nothing else is written.
    assert_eq!((logits(Some(&cache)), cache.files().len()), (expected.clone(), 1));
    assert_eq!(std::fs::read(&kept).unwrap(), whole);

    // Header, table and length are checked at opening, the weights themselves by `verify`.
    let rows_of_first = 64 + 16;
    for at in [0, 8, 12, 16, 40, rows_of_first] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&kept, &bytes).unwrap();
        assert_eq!(logits(Some(&cache)), expected, "byte {at}");
        assert_eq!(std::fs::read(&kept).unwrap(), whole, "byte {at}");
    }
    std::fs::write(&kept, &whole[..whole.len() / 2]).unwrap();
    assert_eq!((logits(Some(&cache)), std::fs::read(&kept).unwrap()), (expected.clone(), whole.clone()));
    let mut bytes = whole.clone();
    *bytes.last_mut().unwrap() ^= 1;
    bytes[4096] ^= 1;
    std::fs::write(&kept, &bytes).unwrap();
    let error = cache.verify(&cache.files()[0]).unwrap_err().to_string();
    assert!(error.contains("block 0 at byte 4096") && error.contains("hint:"), "{error}");

    // Where nothing can be kept the weights are packed as before.
    let nowhere = DiskCache { folder: path.clone(), limit: 1 << 30 };
    assert_eq!(logits(Some(&nowhere)), expected);
    let none = DiskCache { limit: 0, ..cache };
    std::fs::remove_file(&kept).unwrap();
    assert_eq!((logits(Some(&none)), none.files().len()), (expected, 0));
}

#[test]
fn weights_kept_for_another_model_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let cache = DiskCache { folder: folder.path().join("caches"), limit: 1 << 30 };
    for (number, name) in ["qwen2", "qwen3"].into_iter().enumerate() {
        let path = folder.path().join(name);
        write_model(&path, name);
        let gguf = GgufFile::open(&path).unwrap();
        let key = weights::key(&gguf, "sum");
        Decoder::load(gguf, Some((&cache, &key))).unwrap();
        assert_eq!(cache.files().len(), number + 1);
    }
}

#[test]
fn a_kept_prefix_continues_as_the_computed_one_and_a_damaged_one_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    write_model(&path, "qwen3");
    let disk = DiskCache { folder: folder.path().join("caches"), limit: 1 << 30 };
    let decoder = Decoder::load(GgufFile::open(&path).unwrap(), None).unwrap();
    let tokens: Vec<u32> = (0..37).map(|i| (i * 5 + 1) % VOCABULARY as u32).collect();
    let key = snapshot::key(&[1; 32], &tokens);
    let mut kv = decoder.new_cache();
    assert!(snapshot::read(&mut kv, &disk, &key, tokens.len()).is_none());
    let node = kv.branch(None, tokens.len());
    let rows: Vec<Row> = tokens.iter().map(|&token| Row { token, node }).collect();
    decoder.forward(&mut kv, &rows, &[]).unwrap();
    snapshot::write(&kv, &disk, &key, node).unwrap();
    let after = |kv: &mut Cache, node| {
        let next = kv.branch(Some(node), 2);
        let rows = [Row { token: 3, node: next }, Row { token: 4, node: next }];
        decoder.forward(kv, &rows, &[0, 1]).unwrap()
    };
    let expected = after(&mut kv, node);
    let mut fresh = decoder.new_cache();
    let kept = snapshot::read(&mut fresh, &disk, &key, tokens.len()).unwrap();
    assert_eq!(after(&mut fresh, kept), expected);

    assert_ne!(snapshot::key(&[1; 32], &tokens[1..]), key);
    assert!(snapshot::read(&mut fresh, &disk, &key, tokens.len() - 1).is_none());
    let file = disk.files()[0].path.clone();
    let whole = std::fs::read(&file).unwrap();
    disk.verify(&disk.files()[0]).unwrap();
    for at in [0, 8, 16, 40, 64, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        std::fs::write(&file, &bytes).unwrap();
        assert!(snapshot::read(&mut fresh, &disk, &key, tokens.len()).is_none(), "byte {at}");
        assert!(disk.verify(&disk.files()[0]).is_err(), "byte {at}");
    }
    for len in [0, 31, 64, whole.len() - 1] {
        std::fs::write(&file, &whole[..len]).unwrap();
        assert!(
            snapshot::read(&mut fresh, &disk, &key, tokens.len()).is_none() && disk.verify(&disk.files()[0]).is_err()
        );
    }
}

/// A decoder for devices with what was said in each node of its tree.
struct Tree<'a> {
    path: &'a Path,
    architecture: &'a str,
    decoder: TensorDecoder,
    cache: Cache<Kept>,
    said: HashMap<NodeId, (Option<NodeId>, Vec<u32>)>,
}

impl Tree<'_> {
    fn branch(&mut self, parent: Option<NodeId>) -> NodeId {
        let node = self.cache.branch(parent, 4);
        self.said.insert(node, (parent, Vec::new()));
        node
    }

    /// All tokens from the root to the end of `node`.
    fn tokens(&self, node: NodeId) -> Vec<u32> {
        let (parent, own) = &self.said[&node];
        let mut tokens = parent.map_or(Vec::new(), |parent| self.tokens(parent));
        tokens.extend(own);
        tokens
    }

    /// Computes tokens of several nodes in one pass. After the last of each the logits are those that candle's own model gives for
    /// the whole sequence.
    fn forward(&mut self, pieces: &[(NodeId, &[u32])]) {
        let mut rows = Vec::new();
        let mut wanted = Vec::new();
        for (node, tokens) in pieces {
            rows.extend(tokens.iter().map(|&token| Row { token, node: *node }));
            wanted.push(rows.len() - 1);
            self.said.get_mut(node).unwrap().1.extend(*tokens);
        }
        let logits = self.decoder.forward(&mut self.cache, &rows, &wanted).unwrap();
        assert_eq!(logits.len(), wanted.len() * VOCABULARY);
        for ((node, _), got) in pieces.iter().zip(logits.chunks_exact(VOCABULARY)) {
            let expected = candle_logits(self.path, self.architecture, &self.tokens(*node));
            let worst = got.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
            // candle's Qwen3 model rounds its table of angles to 16 bits.
            let (most, least) = if self.architecture == "qwen3" { (0.2, 0.999) } else { (1e-3, 0.99999) };
            assert!(worst < most && cosine(got, &expected) > least, "{}: {worst}", self.architecture);
        }
    }

    fn truncate(&mut self, node: NodeId, len: usize) {
        self.cache.truncate(node, len).unwrap();
        self.said.get_mut(&node).unwrap().1.truncate(len);
    }
}

#[test]
fn branches_on_a_device_give_the_logits_of_their_whole_sequence() {
    let folder = tempfile::tempdir().unwrap();
    for architecture in ["llama", "qwen2", "qwen3"] {
        let path = folder.path().join(architecture);
        write_model(&path, architecture);
        let decoder = TensorDecoder::load(GgufFile::open(&path).unwrap(), &Device::Cpu).unwrap();
        let cache = decoder.new_cache();
        let mut tree = Tree { path: &path, architecture, decoder, cache, said: HashMap::new() };
        let tokens: Vec<u32> = (0..60).map(|i| (i * 13 + 5) % VOCABULARY as u32).collect();
        let root = tree.branch(None);
        tree.forward(&[(root, &tokens[..19])]);
        let (one, two) = (tree.branch(Some(root)), tree.branch(Some(root)));
        tree.forward(&[(one, &tokens[3..10]), (two, &tokens[20..25])]);
        let leaves = [tree.branch(Some(one)), tree.branch(Some(two)), tree.branch(Some(one))];
        tree.forward(&[(leaves[0], &tokens[..4]), (leaves[1], &tokens[7..8]), (leaves[2], &tokens[30..36])]);
        // Two tokens of one are taken back, another begins anew, a third stands deeper than the rest.
        tree.truncate(leaves[2], 4);
        tree.truncate(leaves[1], 0);
        let deep = tree.branch(Some(leaves[0]));
        tree.forward(&[(leaves[1], &tokens[40..43]), (deep, &tokens[11..13]), (leaves[2], &tokens[50..51])]);
    }
}

//! Real embedding models against reference implementations. The models are fetched once, the way a person does it.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use mingti::embedder::{Embedder, Kind, Pooling};
use mingti::model::{
    DeviceChoice, DiskCache, GgufWriter, MetaValue, ModelFiles, ModelStore, Role, SafetensorsFile, TextTokenizer,
    tokenizer,
};

struct Golden {
    texts: Vec<String>,
    vectors: Vec<Vec<f32>>,
    truncated: Vec<usize>,
    max_tokens: usize,
}

fn golden() -> Golden {
    let value: serde_json::Value = serde_json::from_str(include_str!("golden/all-minilm-l6-v2.json")).unwrap();
    Golden {
        texts: serde_json::from_value(value["texts"].clone()).unwrap(),
        vectors: serde_json::from_value(value["vectors"].clone()).unwrap(),
        truncated: serde_json::from_value(value["truncated"].clone()).unwrap(),
        max_tokens: serde_json::from_value(value["max_tokens"].clone()).unwrap(),
    }
}

fn pulled(id: &str) -> ModelFiles {
    let store = ModelStore::open(std::env::var_os("MINGTI_MODELS").map(PathBuf::from)).unwrap();
    if !store.is_installed(id) {
        // Tests run side by side; the loser of the race waits for the winner.
        while let Err(e) = store.pull(id, &mut |_| {}, &|| false) {
            assert!(e.is_busy(), "{e}");
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
    store.find(id, Role::Embedder).unwrap()
}

fn load(files: &ModelFiles) -> Embedder {
    Embedder::load(files, DeviceChoice::Cpu).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn what_was_kept_from_an_earlier_start_gives_the_same_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let cache = DiskCache { folder: folder.path().join("caches"), limit: 1 << 30 };
    let texts = ["主轴报警温度是多少", "E-stop circuit 24 V", "a\u{10ffff}é ⅷ"];
    for id in ["multilingual-e5-small", "all-minilm-l6-v2"] {
        let files = pulled(id);
        let expected = load(&files).embed(&texts, Kind::Query).unwrap();
        for start in ["first", "second"] {
            let embedder = Embedder::load_on(&files, DeviceChoice::Cpu, Some(&cache)).unwrap();
            assert_eq!(embedder.embed(&texts, Kind::Query).unwrap(), expected, "{id}, {start}");
        }
    }
    assert_eq!(cache.files().len(), 2);
    for file in cache.files() {
        cache.verify(&file).unwrap();
    }
    // A cache that cannot be written is none.
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let nowhere = DiskCache { folder: file, limit: 1 << 30 };
    Embedder::load_on(&pulled("all-minilm-l6-v2"), DeviceChoice::Cpu, Some(&nowhere)).unwrap();
}

/// Compares single texts and one batch with padding against the golden vectors.
fn agrees_with_golden(embedder: &Embedder, golden: &Golden) {
    let batch = embedder.embed(&golden.texts, Kind::Passage).unwrap();
    assert_eq!(batch.truncated, golden.truncated);
    assert_eq!((batch.len(), batch.dim), (golden.texts.len(), embedder.dimension()));
    for ((text, expected), together) in golden.texts.iter().zip(&golden.vectors).zip(batch.iter()) {
        let alone = embedder.embed(&[text], Kind::Passage).unwrap();
        for (how, vector) in [("batch", together), ("alone", &alone.vectors[..])] {
            let agreement = cosine(vector, expected);
            // The reference computes in single precision, the packed encoder with 8-bit weights and activations.
            assert!(agreement >= 0.998, "{how}: cosine {agreement} for {text:?}");
            let length: f32 = vector.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn minilm_agrees_with_sentence_transformers() {
    let golden = golden();
    let embedder = load(&pulled("all-minilm-l6-v2"));
    assert_eq!(embedder.pooling(), Pooling::Mean);
    assert_eq!(embedder.max_tokens(), golden.max_tokens);
    agrees_with_golden(&embedder, &golden);
    assert!(embedder.embed::<&str>(&[], Kind::Query).unwrap().is_empty());
}

/// The same model as the GGUF file that the ecosystem's converters make of it: tensor names, `▁` before word starts and
/// no `##` before continuations, no tokenizer.json beside it.
fn minilm_as_gguf(folder: &Path, out: &Path) {
    let file = SafetensorsFile::open(folder.join("model.safetensors")).unwrap();
    let reference = tokenizer::from_json(&folder.join("tokenizer.json")).unwrap();
    let size = reference.get_vocab_size(true);
    let names: Vec<String> = (0..size as u32).map(|id| reference.id_to_token(id).unwrap()).collect();
    let is_special = |name: &str| ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].contains(&name);
    let tokens = names
        .iter()
        .map(|name| match name.strip_prefix("##") {
            Some(rest) => rest.to_owned(),
            None if name.starts_with('[') && name.ends_with(']') => name.clone(),
            None => format!("\u{2581}{name}"),
        })
        .collect();
    let mut writer = GgufWriter::new();
    writer.meta("general.architecture", MetaValue::Str("bert".into()));
    for (key, value) in [
        ("bert.block_count", 6),
        ("bert.context_length", 512),
        ("bert.embedding_length", 384),
        ("bert.feed_forward_length", 1536),
        ("bert.attention.head_count", 12),
        ("bert.pooling_type", 1),
        ("tokenizer.ggml.unknown_token_id", 100),
        ("tokenizer.ggml.cls_token_id", 101),
        ("tokenizer.ggml.seperator_token_id", 102),
    ] {
        writer.meta(key, MetaValue::U32(value));
    }
    writer.meta("bert.attention.layer_norm_epsilon", MetaValue::F32(1e-12));
    writer.meta("bert.attention.causal", MetaValue::Bool(false));
    writer.meta("tokenizer.ggml.model", MetaValue::Str("bert".into()));
    writer.meta("tokenizer.ggml.tokens", MetaValue::StrArray(tokens));
    let types = names.iter().map(|name| if is_special(name) { 3 } else { 1 }).collect();
    writer.meta("tokenizer.ggml.token_type", MetaValue::I32Array(types));
    let mut copy = |from: String, to: String| {
        let view = file.tensor(&from).unwrap();
        writer.tensor(&to, view.dtype, view.shape, view.data.to_vec()).unwrap();
    };
    copy("embeddings.word_embeddings.weight".into(), "token_embd.weight".into());
    copy("embeddings.position_embeddings.weight".into(), "position_embd.weight".into());
    copy("embeddings.token_type_embeddings.weight".into(), "token_types.weight".into());
    for kind in ["weight", "bias"] {
        copy(format!("embeddings.LayerNorm.{kind}"), format!("token_embd_norm.{kind}"));
        for layer in 0..6 {
            for (from, to) in [
                ("attention.self.query", "attn_q"),
                ("attention.self.key", "attn_k"),
                ("attention.self.value", "attn_v"),
                ("attention.output.dense", "attn_output"),
                ("attention.output.LayerNorm", "attn_output_norm"),
                ("intermediate.dense", "ffn_up"),
                ("output.dense", "ffn_down"),
                ("output.LayerNorm", "layer_output_norm"),
            ] {
                copy(format!("encoder.layer.{layer}.{from}.{kind}"), format!("blk.{layer}.{to}.{kind}"));
            }
        }
    }
    writer.write(&mut std::fs::File::create(out).unwrap()).unwrap();
}

#[test]
fn the_same_model_as_gguf_gives_the_same_vectors() {
    let golden = golden();
    let files = pulled("all-minilm-l6-v2");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("minilm.gguf");
    minilm_as_gguf(files.dir(), &path);
    let store = ModelStore::open(Some(dir.path().join("models"))).unwrap();
    let files = store.find(path.to_str().unwrap(), Role::Embedder).unwrap();
    let embedder = load(&files);
    // A GGUF file does not carry the shorter limit of sentence-transformers.
    assert_eq!(embedder.max_tokens(), 512);
    let long: Vec<usize> = golden.truncated.clone();
    let keep = |index: &usize| !long.contains(index);
    let short = Golden {
        texts: (0..golden.texts.len()).filter(keep).map(|i| golden.texts[i].clone()).collect(),
        vectors: (0..golden.texts.len()).filter(keep).map(|i| golden.vectors[i].clone()).collect(),
        truncated: Vec::new(),
        max_tokens: 512,
    };
    agrees_with_golden(&embedder, &short);
}

#[test]
fn e5_agrees_with_the_engine_its_weights_come_from() {
    let embedder = load(&pulled("multilingual-e5-small"));
    assert_eq!((embedder.dimension(), embedder.max_tokens()), (384, 512));
    let golden: serde_json::Value = serde_json::from_str(include_str!("golden/multilingual-e5-small.json")).unwrap();
    let texts: Vec<String> = serde_json::from_value(golden["texts"].clone()).unwrap();
    for (kind, name) in [(Kind::Query, "query"), (Kind::Passage, "passage")] {
        let expected: Vec<Vec<f32>> = serde_json::from_value(golden[name].clone()).unwrap();
        let ours = embedder.embed(&texts, kind).unwrap();
        for ((text, expected), ours) in texts.iter().zip(&expected).zip(ours.iter()) {
            // The other engine rounds activations to eight bits.
            let agreement = cosine(ours, expected);
            assert!(agreement >= 0.9995, "{name}: cosine {agreement} for {text:?}");
        }
    }
}

#[test]
fn e5_tells_which_texts_it_cut() {
    let embedder = load(&pulled("multilingual-e5-small"));
    let long = "液压系统的压力应当保持在规定范围内。".repeat(200);
    let result = embedder.embed(&["短。", &long, "也短。"], Kind::Passage).unwrap();
    assert_eq!((result.len(), result.truncated), (3, vec![1]));
}

#[test]
fn e5_tokenizer_of_the_gguf_file_is_that_of_its_tokenizer_json() {
    let files = pulled("multilingual-e5-small");
    let gguf = mingti::model::GgufFile::open(&files.main).unwrap();
    let ours = TextTokenizer::of_gguf(&gguf).unwrap();
    let reference = tokenizer::from_json(&files.dir().join("tokenizer.json")).unwrap();
    let golden = golden();
    let qwen: Vec<(String, Vec<u32>)> = serde_json::from_str(include_str!("golden/qwen2-tokens.json")).unwrap();
    let more = ["<s> in a text </s> <mask> <pad> <unk>", "㌔㍉ ﬁ ½ ①", "𠀀𠀁𠀂 unknown \u{e000}\u{e001}", "e\u{301}"];
    let texts = golden.texts.into_iter().chain(qwen.into_iter().map(|(text, _)| text));
    for text in texts.chain(more.map(str::to_owned)) {
        let text = format!("passage: {text}");
        let (ours, reference) = (ours.encode(&text).unwrap(), reference.encode(text.as_str(), true).unwrap());
        assert_eq!(ours.get_ids(), reference.get_ids(), "{text:?}");
        assert_eq!(ours.get_special_tokens_mask(), reference.get_special_tokens_mask(), "{text:?}");
    }
}

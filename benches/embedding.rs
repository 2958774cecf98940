//! Embedding against candle's own BERT, on the same weights and texts in the same run.
//!
//! ```sh
//! cargo bench --bench embedding                 # sentences of this crate's own manuals
//! cargo bench --bench embedding -- TEXTS.txt    # one text a line
//! ```
//!
//! Prints texts and tokens a second of both, the ratio (above 1: ours is faster), the time of a single short query, and the lowest
//! cosine between the two. Ends with a failure when that is below 0.995. The two take turns, three times each, medians count.
//! candle gets what it needs to do well: texts sorted by length, batches of 32.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::path::PathBuf;
use std::time::Instant;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use mingti::embedder::{Embedder, Kind};
use mingti::model::{DeviceChoice, ModelStore, Role, tokenizer};

const MODEL: &str = "all-minilm-l6-v2";

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Unit vectors of `texts` (token ids) by candle.
fn candle(model: &BertModel, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|i| texts[*i].len());
    let mut out = vec![Vec::new(); texts.len()];
    for batch in order.chunks(32) {
        let longest = batch.iter().map(|i| texts[*i].len()).max().unwrap();
        let padded = |fill: &dyn Fn(usize, usize) -> u32| -> Tensor {
            let values: Vec<u32> = batch.iter().flat_map(|i| (0..longest).map(move |p| fill(*i, p))).collect();
            Tensor::from_vec(values, (batch.len(), longest), &Device::Cpu).unwrap()
        };
        let ids = padded(&|i, p| texts[i].get(p).copied().unwrap_or(0));
        let mask = padded(&|i, p| u32::from(p < texts[i].len()));
        let states = model.forward(&ids, &ids.zeros_like().unwrap(), Some(&mask)).unwrap();
        let mask = mask.to_dtype(DType::F32).unwrap().unsqueeze(2).unwrap();
        let sums = states.broadcast_mul(&mask).unwrap().sum(1).unwrap();
        for (i, sum) in batch.iter().zip(sums.to_vec2::<f32>().unwrap()) {
            let norm = sum.iter().map(|v| v * v).sum::<f32>().sqrt();
            out[*i] = sum.iter().map(|v| v / norm).collect();
        }
    }
    out
}

fn main() {
    let given = std::env::args().skip(1).find(|a| !a.starts_with('-')).map(PathBuf::from);
    let text = match given {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => [include_str!("../README.md"), include_str!("../CHANGELOG.md")].concat(),
    };
    let texts: Vec<&str> =
        text.lines().filter(|line| line.chars().filter(|c| c.is_alphanumeric()).count() > 3).collect();

    let store = ModelStore::open(std::env::var_os("MINGTI_MODELS").map(PathBuf::from)).unwrap();
    if !store.is_installed(MODEL) {
        store.pull(MODEL, &mut |_| {}, &|| false).unwrap();
    }
    let files = store.find(MODEL, Role::Embedder).unwrap();
    let embedder = Embedder::load(&files, DeviceChoice::Cpu).unwrap();
    let tokens = tokenizer::from_json(&files.dir().join("tokenizer.json")).unwrap();
    let ids: Vec<Vec<u32>> = texts
        .iter()
        .map(|t| tokens.encode(*t, true).unwrap().get_ids().iter().copied().take(embedder.max_tokens()).collect())
        .collect();
    let config: Config =
        serde_json::from_str(&std::fs::read_to_string(files.dir().join("config.json")).unwrap()).unwrap();
    let tensors = candle_core::safetensors::load(&files.main, &Device::Cpu).unwrap();
    let model = BertModel::load(VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu), &config).unwrap();

    let (mut ours, mut theirs, mut query) = (Vec::new(), Vec::new(), Vec::new());
    let mut lowest = 1f32;
    for _ in 0..3 {
        let start = Instant::now();
        let vectors = embedder.embed(&texts, Kind::Passage).unwrap();
        ours.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let expected = candle(&model, &ids);
        theirs.push(start.elapsed().as_secs_f64());
        for (a, b) in vectors.iter().zip(&expected) {
            lowest = lowest.min(a.iter().zip(b).map(|(x, y)| x * y).sum());
        }
        for _ in 0..10 {
            let start = Instant::now();
            embedder.embed(&["how often is the cooler cleaned?"], Kind::Query).unwrap();
            query.push(start.elapsed().as_secs_f64());
        }
    }
    let count: usize = ids.iter().map(Vec::len).sum();
    let (ours, theirs) = (median(ours), median(theirs));
    println!("{} texts, {count} tokens, {} threads", texts.len(), rayon::current_num_threads());
    println!("candle: {:.0} tokens/s", count as f64 / theirs);
    println!("mingti: {:.0} tokens/s with tokenizing, ratio {:.2}", count as f64 / ours, theirs / ours);
    if let Ok(files) = store.find("multilingual-e5-small", Role::Embedder) {
        // The default model has no counterpart in candle; its figure is for other programs that run the same weights.
        let embedder = Embedder::load(&files, DeviceChoice::Cpu).unwrap();
        let run = || {
            let start = Instant::now();
            embedder.embed(&texts, Kind::Passage).unwrap();
            start.elapsed().as_secs_f64()
        };
        let single = || {
            let start = Instant::now();
            embedder.embed(&[texts[0]], Kind::Query).unwrap();
            start.elapsed().as_secs_f64() * 1e3
        };
        let all = median((0..3).map(|_| run()).collect());
        println!(
            "multilingual-e5-small: all texts in {all:.3} s, one in {:.2} ms",
            median((0..30).map(|_| single()).collect())
        );
    }
    println!("a query: {:.2} ms; lowest cosine {lowest:.5}", median(query) * 1e3);
    assert!(lowest >= 0.995, "the vectors are not those of the model");
}

//! The extraction engine against llama.cpp: tokens read and written a second, on the same file in the same run.
//!
//! ```sh
//! LLAMA_BENCH=path/to/llama-bench cargo bench --bench engine            # the default model
//! LLAMA_BENCH=path/to/llama-bench cargo bench --bench engine -- FILE.gguf
//! ```
//!
//! Prints how long opening takes with packed weights already kept, and the most memory that was resident. Prints for 256 tokens read at once and 64 written one at a time both speeds and their ratio (above 1: ours is faster). The
//! two take turns, three times each, and the medians count. Without `LLAMA_BENCH` only our own figures appear.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use mingti::extractor::LlamaExtractor;
use mingti::model::{DiskCache, ModelStore, Role};

const READ: usize = 256;
const WRITTEN: usize = 64;

/// Tokens a second of llama-bench, read and written.
fn llama(program: &str, model: &Path) -> (f64, f64) {
    let threads = rayon::current_num_threads().to_string();
    let (read, written) = (READ.to_string(), WRITTEN.to_string());
    let args = ["-t", &threads, "-p", &read, "-n", &written, "-r", "1", "-o", "jsonl"];
    let out = Command::new(program).arg("-m").arg(model).args(args).output().unwrap();
    let speeds: Vec<f64> = String::from_utf8_lossy(&out.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["avg_ts"].as_f64())
        .collect();
    (speeds[0], speeds[1])
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The most memory that this process had resident, in bytes; 0 where the system does not tell.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn main() {
    let given = std::env::args().skip(1).find(|a| !a.starts_with('-')).map(PathBuf::from);
    let store = ModelStore::open(std::env::var_os("MINGTI_MODELS").map(PathBuf::from)).unwrap();
    let name = given.map_or("qwen2.5-coder-1.5b-instruct-q4_k_m".to_owned(), |path| path.display().to_string());
    let files = store.find(&name, Role::Extractor).unwrap();
    let model = &files.main;
    let peer = std::env::var("LLAMA_BENCH").ok();
    let cache = DiskCache { folder: store.caches(), limit: DiskCache::DEFAULT_LIMIT };
    // The first time may have to pack the weights.
    let first = Instant::now();
    drop(LlamaExtractor::load_cached(model, &files.checksum, cache.clone()).unwrap());
    let first = first.elapsed();
    let again = Instant::now();
    let mut extractor = LlamaExtractor::load_cached(model, &files.checksum, cache).unwrap();
    let again = again.elapsed();
    let (mut ours, mut theirs) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for _ in 0..3 {
        let pace = extractor.pace(READ, WRITTEN).unwrap();
        ours.0.push(READ as f64 / pace.prompt_seconds);
        ours.1.push(1.0 / pace.token_seconds);
        if let Some(peer) = &peer {
            let (read, written) = llama(peer, model);
            theirs.0.push(read);
            theirs.1.push(written);
        }
    }
    println!("{}, {} threads, {}", model.display(), rayon::current_num_threads(), mingti::compute::Isa::best().name());
    println!("  opened: {:.2} s, the time before {:.2} s", again.as_secs_f64(), first.as_secs_f64());
    let (file, peak) = (std::fs::metadata(model).unwrap().len(), peak_memory());
    println!("  memory: at most {:.2} GB resident, file {:.2} GB", peak as f64 / 1e9, file as f64 / 1e9);
    for (what, ours, theirs) in [("read", ours.0, theirs.0), ("written", ours.1, theirs.1)] {
        let ours = median(ours);
        if theirs.is_empty() {
            println!("{what:>8}: {ours:.1} tokens/s");
        } else {
            let theirs = median(theirs);
            println!("{what:>8}: {ours:.1} tokens/s, llama.cpp {theirs:.1}, ratio {:.2}", ours / theirs);
        }
    }
}

//! Recall against queries a second, build time and bytes of the vector index.
//!
//! `cargo bench --bench ann -- BASE.npy QUERIES.npy [--threads N] [--links M] [--efc N] [--ef 16,32,64]` reads two arrays of `(n, d)` floats or signed
//! bytes, brings the rows to unit length, builds the index with N threads and asks every question on one thread. It prints one
//! JSON line a setting, so that peers measured on the same files in the same hour can stand beside it. Without files it makes
//! vectors in clusters, as the passages of a document are.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::path::Path;
use std::time::Instant;

use mingti::index::{GenerationBuilder, GraphOptions, LexicalSection, Pointer, VECTOR_FILE, VectorIndex, VectorSource};
use rayon::prelude::*;

/// Results that count.
const K: usize = 10;

fn main() {
    let mut files = Vec::new();
    let (mut threads, mut widths) = (0, vec![16, 24, 32, 48, 64, 96, 128, 256]);
    let GraphOptions { mut links, mut ef_construction, .. } = GraphOptions::default();
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--links" => links = args.next().unwrap().parse().unwrap(),
            "--efc" => ef_construction = args.next().unwrap().parse().unwrap(),
            "--threads" => threads = args.next().unwrap().parse().unwrap(),
            "--ef" => widths = args.next().unwrap().split(',').map(|ef| ef.parse().unwrap()).collect(),
            _ => files.push(arg),
        }
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().unwrap();
    let (base, queries, d) = match files.as_slice() {
        [base, queries] => {
            let ((base, d), (queries, _)) = (read_npy(Path::new(base)), read_npy(Path::new(queries)));
            (base, queries, d)
        }
        _ => (clusters(20_000, 384, 1), clusters(500, 384, 2), 384),
    };
    let n = base.len() / d;
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("gen-1");
    let mut builder = GenerationBuilder::create(&target).unwrap();
    let section = LexicalSection { section: 1, document: 1, title: "", heading_path: &[], text: "text" };
    builder.add_section(&section).unwrap();
    let pointers: Vec<Pointer> = (0..n as i64).map(|unit| Pointer { unit, section: 1, document: 1 }).collect();
    let mut read = |number: usize, out: &mut [f32]| {
        out.copy_from_slice(&base[number * d..][..d]);
        Ok(())
    };
    let options = GraphOptions { exact_below: 0, links, ef_construction };
    let started = Instant::now();
    let report = builder.finish(VectorSource::new(n, d, &mut read), &pointers, &options).unwrap();
    let build = started.elapsed().as_secs_f64();
    let file = target.join(VECTOR_FILE);
    let index = VectorIndex::open(&file).unwrap();
    let bytes = std::fs::metadata(&file).unwrap().len() / n as u64;
    let truth: Vec<f32> = queries.par_chunks(d).map(|query| kth_score(&base, query, d)).collect();
    for ef in widths {
        let (mut best, mut right) = (f64::INFINITY, 0);
        for _ in 0..3 {
            right = 0;
            let started = Instant::now();
            let found: Vec<_> = queries.chunks(d).map(|query| index.search(query, K, ef, None).unwrap()).collect();
            best = started.elapsed().as_secs_f64().min(best);
            for ((hits, query), kth) in found.iter().zip(queries.chunks(d)).zip(&truth) {
                // Ties at the last place count as right.
                let score = |number: u32| dot(&base[number as usize * d..][..d], query);
                right += hits.iter().filter(|hit| score(hit.number) >= kth - 1e-6).count();
            }
        }
        let asked = queries.len() / d;
        println!(
            "{{\"peer\": \"mingti\", \"n\": {n}, \"dim\": {d}, \"build_s\": {build:.2}, \"ef\": {ef}, \"recall\": {:.4}, \
             \"qps\": {:.0}, \"bytes\": {bytes}, \"not_found\": {}, \"unreachable\": {}}}",
            right as f64 / (asked * K) as f64,
            asked as f64 / best,
            report.not_found,
            report.unreachable,
        );
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>() as f32
}

fn kth_score(base: &[f32], query: &[f32], d: usize) -> f32 {
    let mut scores: Vec<f32> = base.chunks(d).map(|row| row.iter().zip(query).map(|(a, b)| a * b).sum()).collect();
    let k = K.min(scores.len()) - 1;
    *scores.select_nth_unstable_by(k, |a, b| b.total_cmp(a)).1
}

/// Reads version 1 of the format of NumPy: magic, a header in Python's notation, then the values.
fn read_npy(path: &Path) -> (Vec<f32>, usize) {
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.starts_with(b"\x93NUMPY"), "{} is no .npy file", path.display());
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (text, values) = (std::str::from_utf8(&bytes[10..10 + header]).unwrap(), &bytes[10 + header..]);
    let shape = text.split_once("'shape': (").unwrap().1.split_once(')').unwrap().0;
    let d: usize = shape.split(',').nth(1).unwrap().trim().parse().unwrap();
    let mut rows: Vec<f32> = if text.contains("|i1") {
        values.iter().map(|b| f32::from(*b as i8)).collect()
    } else {
        assert!(text.contains("<f4"), "values are neither signed bytes nor f32: {text}");
        values.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    };
    rows.par_chunks_mut(d).for_each(to_unit_length);
    (rows, d)
}

fn to_unit_length(row: &mut [f32]) {
    let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    row.iter_mut().for_each(|x| *x /= norm);
}

/// `n` vectors of unit length around a common direction and 200 centres, as an embedder spreads texts.
fn clusters(n: usize, d: usize, seed: u64) -> Vec<f32> {
    let noise = |stream: u64, i: usize| {
        let mut x = (stream << 40) ^ (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut rows = vec![0f32; n * d];
    rows.par_chunks_mut(d).enumerate().for_each(|(row, values)| {
        let centre = (row * 7919) % 200;
        for (i, value) in values.iter_mut().enumerate() {
            *value = 2.0 * noise(0, i) + noise(100 + centre as u64, i) + noise(1000 + seed, row * d + i);
        }
        to_unit_length(values);
    });
    rows
}

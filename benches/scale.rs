//! A whole index of a million vectors and more: build, open, search, update, memory.
//!
//! `cargo bench --bench scale -- FOLDER N [EMBEDDING.npy]` fills `FOLDER/N` with an index of N vectors, three to a section and
//! 300 to a document, unless it is there, and measures. Vectors have the distribution of real ones: two of the array's, mixed at
//! random, and noise; without an array, of clusters. The texts are short and made up, so the index answers the command line too.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mingti::document::Span;
use mingti::index::{GenerationBuilder, GraphOptions, LexicalSection, Pointer, VectorSource, open_generation};
use mingti::proposition::{Unit, UnitKind};
use mingti::store::{GenerationRow, NewDocument, NewSection, Reader, SectionDone, Writer, generation_dir};

const DIMENSION: usize = 384;
const UNITS: usize = 3;
const SECTIONS: usize = 100;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [folder, n, rest @ ..] = args.as_slice() else {
        println!("usage: scale FOLDER N [EMBEDDING.npy]");
        return;
    };
    let (n, at): (usize, PathBuf) = (n.parse().unwrap(), Path::new(folder).join(n));
    let seeds = rest.first().map(|path| read_bytes(Path::new(path)));
    if Reader::open(&at).is_err() {
        fill(&at, n, seeds.as_deref());
    }
    let started = Instant::now();
    let reader = Reader::open(&at).unwrap();
    let number = reader.require_generation().unwrap().number;
    let generation = open_generation(&generation_dir(&at, number)).unwrap();
    println!("open                {:8.2} ms", started.elapsed().as_secs_f64() * 1e3);
    let vectors = &generation.vectors;
    let mut times = Vec::new();
    let mut query = vec![0f32; DIMENSION];
    for i in 0..1000 {
        make(n + i * 7919, seeds.as_deref(), &mut query);
        let started = Instant::now();
        assert!(vectors.search(&query, 10, 128, None).unwrap().len() >= 10);
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    println!("walk                {:8.0} µs p50 {:8.0} µs p99", times[500], times[990]);
    let (mut right, asked) = (0, 50);
    for i in 0..asked {
        make(n + i * 7919, seeds.as_deref(), &mut query);
        let found = vectors.search(&query, 10, 128, None).unwrap();
        // So wide a walk is none: every vector is looked at.
        let exact = vectors.search(&query, 10, vectors.len(), None).unwrap();
        let last = exact[9].score;
        right += found.iter().take(10).filter(|hit| hit.score >= last).count();
    }
    println!("recall@10           {:8.3} against looking at every vector", right as f64 / (10 * asked) as f64);
    for line in std::fs::read_to_string("/proc/self/status").unwrap_or_default().lines() {
        if line.starts_with("RssAnon") || line.starts_with("RssFile") {
            println!("{line}");
        }
    }
}

/// Fills an index of `n` units.
fn fill(at: &Path, n: usize, seeds: Option<&[i8]>) {
    let started = Instant::now();
    let mut writer = Writer::open_or_create(at).unwrap();
    let mut builder = GenerationBuilder::create(&generation_dir(at, 1)).unwrap();
    let mut pointers = Vec::with_capacity(n);
    let per_document = SECTIONS * UNITS;
    for d in 0..n.div_ceil(per_document) {
        let texts: Vec<String> = (0..SECTIONS).map(|s| text(d * SECTIONS + s)).collect();
        let headings: Vec<Vec<String>> = (0..SECTIONS).map(|s| vec![format!("E-{d}-{s}")]).collect();
        let mut start = 0;
        let sections: Vec<NewSection<'_>> = texts
            .iter()
            .zip(&headings)
            .map(|(text, heading_path)| {
                let span = Span::new(start, start + text.chars().count());
                start = span.end;
                NewSection { span, heading_path, text, context: "", input_hash: [0; 32] }
            })
            .collect();
        let path = format!("manual {d:06}.md");
        let document = NewDocument {
            path: &path,
            root: "made up",
            title: &path,
            date: None,
            content_hash: [0; 32],
            encoding: "UTF-8",
            format: "markdown",
            chars: start,
            pages: "[]",
        };
        let row = writer.replace_document(&document, &sections).unwrap().document;
        let stored = writer.view().sections(row).unwrap();
        let units: Vec<Vec<Unit>> = stored.iter().map(|section| units(&section.text)).collect();
        let done: Vec<SectionDone<'_>> = stored
            .iter()
            .zip(&units)
            .map(|(section, units)| SectionDone { section: section.row, units, ..SectionDone::default() })
            .collect();
        writer.commit_sections(&done).unwrap();
        let documents = [writer.view().document(row).unwrap()];
        writer
            .view()
            .for_each_unit_of(&documents, |unit| {
                pointers.push(Pointer { unit: unit.unit, section: unit.section, document: unit.document });
                Ok(())
            })
            .unwrap();
        for section in &stored {
            let lexical = LexicalSection {
                section: section.row,
                document: row,
                title: &path,
                heading_path: &section.heading_path,
                text: &section.text,
            };
            builder.add_section(&lexical).unwrap();
        }
    }
    println!("store and terms     {:8.1} s", started.elapsed().as_secs_f64());
    let started = Instant::now();
    let mut read = |number: usize, out: &mut [f32]| {
        make(number, seeds, out);
        Ok(())
    };
    let source = VectorSource::new(pointers.len(), DIMENSION, &mut read);
    let report = builder.finish(source, &pointers, &GraphOptions::default()).unwrap();
    println!("vectors and graph   {:8.1} s, {report:?}", started.elapsed().as_secs_f64());
    let model = std::env::var("MINGTI_EMBEDDER").unwrap_or_else(|_| "none".into());
    let (name, fingerprint) = model.split_once(' ').unwrap_or((&model, "made up"));
    writer
        .publish(&GenerationRow {
            number: 1,
            vectors: pointers.len(),
            dimension: DIMENSION,
            unit: "sentence".into(),
            embedder: fingerprint.into(),
            embedder_name: name.into(),
            created: SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs(),
        })
        .unwrap();
}

/// A section of three sentences.
fn text(section: usize) -> String {
    let parts = ["主轴", "油泵", "滤芯", "刀库", "电缆", "制动器", "编码器", "伺服电机"];
    (0..UNITS)
        .map(|i| {
            format!("{}参数{}设为{}。", parts[(section + i) % 8], section % 9000 + 1000, mix(section * 3 + i) % 500)
        })
        .collect()
}

fn units(text: &str) -> Vec<Unit> {
    let mut start = 0;
    text.split_inclusive('。')
        .map(|sentence| {
            let end = start + sentence.chars().count();
            let unit = Unit::verbatim(UnitKind::Sentence, sentence, Span::new(start, end));
            start = end;
            unit
        })
        .collect()
}

fn mix(x: usize) -> u64 {
    let mut x = (x as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Vector `number`.
fn make(number: usize, seeds: Option<&[i8]>, out: &mut [f32]) {
    let random = mix(number);
    match seeds {
        Some(seeds) => {
            let count = (seeds.len() / DIMENSION) as u64;
            let row = |which: u64| &seeds[(which % count) as usize * DIMENSION..][..DIMENSION];
            let (a, b, share) = (row(random), row(random >> 32), 0.3 + 0.4 * ((random >> 20) % 1000) as f32 / 1000.0);
            for (i, out) in out.iter_mut().enumerate() {
                let noise = (mix(number * DIMENSION + i) >> 40) as f32 / (1 << 23) as f32 - 1.0;
                *out = share * f32::from(a[i]) + (1.0 - share) * f32::from(b[i]) + 12.0 * noise;
            }
        }
        None => {
            let centre = random % 5000;
            for (i, out) in out.iter_mut().enumerate() {
                let noise = |x: usize| (mix(x) >> 40) as f32 / (1 << 23) as f32 - 1.0;
                *out = 2.0 * noise(i)
                    + noise(1000 + centre as usize * DIMENSION + i)
                    + noise((number + 7) * 1_000_003 + i);
            }
        }
    }
    let norm = out.iter().map(|x| x * x).sum::<f32>().sqrt();
    out.iter_mut().for_each(|x| *x /= norm);
}

/// The values of a NumPy array of signed bytes, version 1 of its format.
fn read_bytes(path: &Path) -> Vec<i8> {
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.starts_with(b"\x93NUMPY"), "{} is no .npy file", path.display());
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(String::from_utf8_lossy(&bytes[10..10 + header]).contains("|i1"), "the array is not of signed bytes");
    bytes[10 + header..].iter().map(|byte| *byte as i8).collect()
}

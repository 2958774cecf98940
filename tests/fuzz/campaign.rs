//! Changes and reads files of one format until the time is up, and keeps those that fail.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::input::Input;
use crate::invariants::{Evidence, Source};
use crate::mutate;
use crate::noise::Noise;
use crate::watch::{Outcome, Worker};

/// Files that are kept for further changes, at most.
const KEPT: usize = 600;
/// Of so many files one is read twice.
const TWICE: u64 = 32;

/// A reader to be tested.
pub(crate) struct Target {
    /// Its name in messages, and the extension of its files.
    pub(crate) name: &'static str,
    pub(crate) extension: &'static str,
    pub(crate) source: Source,
    pub(crate) seeds: Vec<Input>,
    /// Words of the format.
    pub(crate) words: &'static [&'static [u8]],
}

/// What a campaign came to.
#[derive(Default)]
struct Tally {
    files: u64,
    read: u64,
    seen: HashSet<u64>,
    memory: usize,
    slowest: Duration,
    slowest_size: usize,
    /// Faults, with how often and the first file.
    faults: BTreeMap<String, (u64, String)>,
}

/// A number from the environment.
fn setting<T: std::str::FromStr>(name: &str, usual: T) -> T {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Runs a campaign; campaigns come one after the other, because memory is counted for the whole process.
///
/// # Panics
/// A file failed. The message names the faults and for each the first file.
pub(crate) fn run(target: &Target) {
    static ONE: Mutex<()> = Mutex::new(());
    let _turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let seed: u64 = setting("FUZZ_SEED", 1);
    let end = Instant::now() + Duration::from_secs_f64(setting("FUZZ_SECONDS", 2.0));
    let mut noise = Noise::new(seed);
    let worker = Worker::start();
    let mut tally = Tally::default();
    let mut kept: Vec<Input> = Vec::new();
    let mut unread = Vec::new();
    for (n, input) in target.seeds.iter().enumerate() {
        let outcome = read(target, &worker, input, true, &mut tally);
        if !outcome.is_read {
            unread.push(n);
        }
        if outcome.is_lost {
            return report(target, seed, &tally);
        }
        kept.push(input.clone());
    }
    assert!(unread.len() < target.seeds.len(), "{}: no seed is read", target.name);
    while Instant::now() < end {
        // The newest are the least explored.
        let at =
            if noise.once_in(3) { noise.below(kept.len()) } else { kept.len() - 1 - noise.below(kept.len().min(24)) };
        let other = noise.below(kept.len());
        let input = mutate::mutated(&kept[at], &kept[other], target.words, &mut noise);
        let twice = tally.files % TWICE == 0;
        let known = tally.seen.len();
        let outcome = read(target, &worker, &input, twice, &mut tally);
        if outcome.is_lost {
            break;
        }
        if tally.seen.len() > known && outcome.time < Duration::from_millis(200) {
            if kept.len() < KEPT {
                kept.push(input);
            } else {
                let place = target.seeds.len() + noise.below(kept.len() - target.seeds.len());
                kept.remove(place);
                kept.push(input);
            }
        }
    }
    report(target, seed, &tally);
}

fn read(target: &Target, worker: &Worker, input: &Input, twice: bool, tally: &mut Tally) -> Outcome {
    let bytes = input.pack();
    let name = format!("a.{}", target.extension);
    let inside: Vec<u8> = input.parts.iter().flat_map(|part| part.bytes.iter().copied()).collect();
    let evidence = Evidence::of(target.source, &inside);
    if let Ok(path) = std::env::var("FUZZ_KEEP") {
        // For faults that end the process: an overflow of the stack.
        fs::write(path, &bytes).expect("the file of FUZZ_KEEP can be written");
    }
    let outcome = worker.read(&name, &bytes, &evidence, twice);
    tally.files += 1;
    tally.read += u64::from(outcome.is_read);
    tally.memory = tally.memory.max(outcome.memory);
    tally.seen.insert(outcome.signature);
    if outcome.time > tally.slowest {
        (tally.slowest, tally.slowest_size) = (outcome.time, bytes.len());
    }
    for (fault, detail) in &outcome.faults {
        let count = tally.faults.len();
        let entry = tally.faults.entry(fault.clone());
        entry.or_insert_with(|| (0, format!("{detail}\n    {}", keep(target, count, &bytes).display()))).0 += 1;
    }
    outcome
}

/// Writes a file that failed where a person finds it.
fn keep(target: &Target, number: usize, bytes: &[u8]) -> PathBuf {
    let folder = std::env::temp_dir().join("mingti-fuzz");
    let path = folder.join(format!("{}-{}-{number}.{}", target.name, std::process::id(), target.extension));
    fs::create_dir_all(&folder).and_then(|()| fs::write(&path, bytes)).expect("a failing file can be kept");
    path
}

fn report(target: &Target, seed: u64, tally: &Tally) {
    let Tally { files, read, seen, memory, slowest, slowest_size, faults } = tally;
    let summary = format!(
        "{}: {files} files, {read} read, {} kinds of outcome, at most {:.1} MB, slowest {slowest:?} ({slowest_size} bytes), {} faults",
        target.name,
        seen.len(),
        *memory as f64 / 1e6,
        faults.len()
    );
    if let Ok(path) = std::env::var("FUZZ_REPORT") {
        let opened = OpenOptions::new().create(true).append(true).open(path);
        opened.and_then(|mut file| writeln!(file, "{summary}")).expect("the file of FUZZ_REPORT can be written");
    }
    let list: String =
        faults.iter().map(|(fault, (count, first))| format!("\n  {count} times: {fault}\n    {first}")).collect();
    assert!(faults.is_empty(), "{summary}; FUZZ_SEED={seed}{list}");
}

/// Reads one file from disk and says what is wrong with it.
pub(crate) fn replay(path: &str) {
    let bytes = fs::read(path).expect("the file of FUZZ_INPUT can be read");
    let extension = path.rsplit('.').next().unwrap_or_default();
    let source = match extension {
        "md" | "txt" => Source::Text,
        "html" | "csv" | "rst" => Source::Marked,
        _ => Source::Binary,
    };
    let evidence = Evidence::of(source, &bytes);
    let outcome = Worker::start().read(&format!("a.{extension}"), &bytes, &evidence, true);
    assert!(outcome.faults.is_empty(), "{outcome:#?}");
}

//! The vector file against brute force, and against damage.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use super::super::writer::{VectorSource, write};
use super::super::{FORMAT_VERSION, GraphOptions, Pointer, VectorIndex};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

fn vectors(n: usize, dimension: usize, seed: u64) -> Vec<f32> {
    let mut random = Random(seed | 1);
    let mut all: Vec<f32> = (0..n * dimension).map(|_| random.unit()).collect();
    for row in all.chunks_mut(dimension) {
        let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        row.iter_mut().for_each(|x| *x /= norm);
    }
    all
}

fn pointers(n: usize) -> Vec<Pointer> {
    (0..n as i64).map(|i| Pointer { unit: i + 100, section: i / 3, document: i / 9 }).collect()
}

fn file(dir: &tempfile::TempDir, vectors: &[f32], dimension: usize, options: &GraphOptions) -> PathBuf {
    let path = dir.path().join("v");
    let _ = std::fs::remove_file(&path);
    let n = vectors.len() / dimension.max(1);
    let source = &mut |number: usize, out: &mut [f32]| {
        out.copy_from_slice(&vectors[number * dimension..][..dimension]);
        Ok(())
    };
    write(&path, VectorSource::new(n, dimension, source), &pointers(n), options).unwrap();
    path
}

fn with_graph() -> GraphOptions {
    GraphOptions { exact_below: 0, ..GraphOptions::default() }
}

fn brute(index: &VectorIndex, query: &[f32], k: usize) -> Vec<u32> {
    let mut scored: Vec<(f64, u32)> = (0..index.len() as u32)
        .map(|i| {
            let row = index.vector(i).unwrap().unwrap();
            (row.iter().zip(query).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum(), i)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().take(k).map(|(_, i)| i).collect()
}

#[test]
fn three_thousand_vectors_inserted_in_order_all_find_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let all = vectors(3000, 24, 5);
    for options in [GraphOptions::default(), with_graph()] {
        let path = file(&dir, &all, 24, &options);
        let index = VectorIndex::open(&path).unwrap();
        index.verify().unwrap();
        assert_eq!(index.has_graph(), options.exact_below == 0);
        for i in 0..3000u32 {
            let hits = index.search(&index.vector(i).unwrap().unwrap(), 3, 0, None).unwrap();
            assert_eq!((hits[0].number, hits.len()), (i, 3));
        }
    }
}

#[test]
fn exact_search_agrees_with_brute_force_and_the_walk_almost_always() {
    let dir = tempfile::tempdir().unwrap();
    let all = vectors(2500, 32, 11);
    let exact = VectorIndex::open(&file(&dir, &all, 32, &GraphOptions::default())).unwrap();
    let other = tempfile::tempdir().unwrap();
    let walk = VectorIndex::open(&file(&other, &all, 32, &with_graph())).unwrap();
    let (mut found, mut asked) = (0, 0);
    for query in vectors(60, 32, 99).chunks(32) {
        let truth = brute(&exact, query, 10);
        let hits: Vec<u32> = exact.search(query, 10, 0, None).unwrap().iter().map(|hit| hit.number).collect();
        assert_eq!(hits, truth);
        let near = walk.search(query, 10, 200, None).unwrap();
        assert!(near.windows(2).all(|pair| pair[0].score >= pair[1].score));
        found += near.iter().filter(|hit| truth.contains(&hit.number)).count();
        asked += 10;
        let even = |number: u32| number.is_multiple_of(2);
        let filtered: Vec<u32> = walk.search(query, 5, 0, Some(&even)).unwrap().iter().map(|hit| hit.number).collect();
        let expected: Vec<u32> = brute(&exact, query, 2500).into_iter().filter(|&n| even(n)).take(5).collect();
        assert_eq!(filtered, expected);
    }
    assert!(found * 100 >= asked * 95, "recall {found} of {asked}");
}

#[test]
fn no_vector_one_vector_and_more_asked_than_there_are() {
    let dir = tempfile::tempdir().unwrap();
    for options in [GraphOptions::default(), with_graph()] {
        let empty = VectorIndex::open(&file(&dir, &[], 0, &options)).unwrap();
        empty.verify().unwrap();
        assert!(empty.search(&[0.5; 8], 30, 0, None).unwrap().is_empty());
        assert!(empty.background(&[0.5; 8]).is_none());
        let one = VectorIndex::open(&file(&dir, &vectors(1, 8, 3), 8, &options)).unwrap();
        assert_eq!(one.search(&one.vector(0).unwrap().unwrap(), 30, 0, None).unwrap().len(), 1);
        let few = VectorIndex::open(&file(&dir, &vectors(26, 8, 3), 8, &options)).unwrap();
        let query = few.vector(7).unwrap().unwrap();
        let hits: Vec<u32> = few.search(&query, 30, 0, None).unwrap().iter().map(|hit| hit.number).collect();
        assert_eq!(hits, brute(&few, &query, 26));
        assert!(few.search(&query, 0, 0, None).unwrap().is_empty());
        assert!(few.search(&query[..7], 3, 0, None).is_err());
        assert!(few.search(&[f32::NAN; 8], 3, 0, None).is_err());
    }
}

#[test]
fn reading_finds_what_the_map_finds() {
    let dir = tempfile::tempdir().unwrap();
    let all = vectors(5000, 24, 31);
    for options in [GraphOptions::default(), with_graph()] {
        let path = file(&dir, &all, 24, &options);
        let (mut read, mut mapped) = (VectorIndex::open(&path).unwrap(), VectorIndex::open(&path).unwrap());
        read.set_read(true);
        mapped.set_read(false);
        let some = |number: u32| number.is_multiple_of(3);
        let few = |number: u32| number.is_multiple_of(700);
        for query in vectors(20, 24, 77).chunks(24) {
            let filters: [Option<&(dyn Fn(u32) -> bool + Sync)>; 3] = [None, Some(&some), Some(&few)];
            for filter in filters {
                let [one, other] = [&read, &mapped].map(|index| index.search(query, 10, 64, filter).unwrap());
                assert_eq!(one, other);
                assert!(one.len() >= 7);
            }
            assert_eq!(read.score(query, 4999).unwrap(), mapped.score(query, 4999).unwrap());
        }
    }
}

#[cfg(unix)]
#[test]
fn an_open_index_answers_alike_after_its_file_was_replaced_or_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(&dir, &vectors(3000, 24, 5), 24, &with_graph());
    let query = &vectors(1, 24, 9)[..];
    for is_read in [true, false] {
        let mut index = VectorIndex::open(&path).unwrap();
        index.set_read(is_read);
        let before = index.search(query, 10, 64, None).unwrap();
        let other = tempfile::tempdir().unwrap();
        std::fs::rename(file(&other, &vectors(50, 24, 6), 24, &with_graph()), &path).unwrap();
        assert_eq!(index.search(query, 10, 64, None).unwrap(), before);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(index.search(query, 10, 64, None).unwrap(), before);
        file(&dir, &vectors(3000, 24, 5), 24, &with_graph());
    }
}

#[test]
fn copies_of_one_vector_are_all_reached_and_found_together() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = vectors(40, 8, 21);
    for _ in 0..600 {
        all.extend_from_within(8..16);
    }
    let index = VectorIndex::open(&file(&dir, &all, 8, &with_graph())).unwrap();
    index.verify().unwrap();
    let exact = VectorIndex::open(&file(&tempfile::tempdir().unwrap(), &all, 8, &GraphOptions::default())).unwrap();
    let hits = exact.search(&exact.vector(1).unwrap().unwrap(), 4, 0, None).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.number).collect::<Vec<u32>>(), (1..2).chain(40..640).collect::<Vec<u32>>());
}

#[test]
fn the_same_vectors_give_the_same_bytes_on_any_number_of_threads() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let all = vectors(3000, 16, 8);
    let read = |dir, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| std::fs::read(file(dir, &all, 16, &with_graph())).unwrap())
    };
    assert!(read(&one, 1) == read(&two, 3));
}

#[test]
fn a_tiny_file_has_the_bytes_that_the_specification_says() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("v");
    let rows = [Pointer { unit: 5, section: 6, document: 7 }, Pointer { unit: -1, section: 8, document: 9 }];
    let source = &mut |number: usize, out: &mut [f32]| {
        out.copy_from_slice(&[[0.5, -1.0, 0.25], [0.0, 1.0, 0.0]][number]);
        Ok(())
    };
    write(&path, VectorSource::new(2, 3, source), &rows, &GraphOptions::default()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let lines: Vec<String> =
        bytes.chunks(32).map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
    assert_eq!(lines, include_str!("golden.hex").lines().collect::<Vec<&str>>());
}

#[test]
fn a_flipped_byte_is_an_error_wherever_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(&dir, &vectors(30, 4, 2), 4, &with_graph());
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
        std::fs::write(&path, &bytes).unwrap();
        assert!(VectorIndex::open(&path).is_err(), "byte {at}");
    }
}

#[test]
fn damage_that_no_checksum_saw_gives_no_panic() {
    // Larger files are not read in full when they are opened; here the checksums are made to fit the damage.
    let dir = tempfile::tempdir().unwrap();
    let path = file(&dir, &vectors(30, 4, 2), 4, &with_graph());
    let whole = std::fs::read(&path).unwrap();
    let (table, table_end) = (128, 896);
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let mut random = Random(77);
    for _ in 0..4000 {
        let mut bytes = whole.clone();
        let at = table_end + random.next() as usize % (whole.len() - table_end);
        bytes[at] = random.next() as u8;
        for entry in (0..9).map(|i| table + 32 * i) {
            let (offset, len) = (word(&bytes, entry + 8), word(&bytes, entry + 16));
            if offset > 0 && offset + len <= bytes.len() {
                let crc = crc32fast::hash(&bytes[offset..offset + len]);
                bytes[entry + 24..entry + 28].copy_from_slice(&crc.to_le_bytes());
            }
        }
        let crc = crc32fast::hash(&bytes[table..table_end]);
        bytes[120..124].copy_from_slice(&crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..124]);
        bytes[124..128].copy_from_slice(&crc.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(index) = VectorIndex::open(&path) {
            let _ = index.verify();
            for hit in index.search(&[0.5; 4], 5, 0, None).unwrap() {
                assert!(index.pointer(hit.number).is_some());
            }
        }
    }
}

#[test]
fn a_truncated_or_longer_file_and_another_version_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(&dir, &vectors(20, 4, 2), 4, &with_graph());
    let whole = std::fs::read(&path).unwrap();
    for len in 0..whole.len() {
        std::fs::write(&path, &whole[..len]).unwrap();
        assert!(VectorIndex::open(&path).is_err(), "{len} bytes");
    }
    let mut longer = whole.clone();
    longer.push(0);
    std::fs::write(&path, &longer).unwrap();
    assert!(VectorIndex::open(&path).unwrap_err().is_corrupt());
    let open = |version: u32| {
        let mut other = whole.clone();
        other[8..12].copy_from_slice(&version.to_le_bytes());
        let crc = crc32fast::hash(&other[..124]);
        other[124..128].copy_from_slice(&crc.to_le_bytes());
        std::fs::write(&path, &other).unwrap();
        VectorIndex::open(&path).unwrap_err()
    };
    assert!(open(FORMAT_VERSION + 1).is_too_new());
    let older = open(FORMAT_VERSION - 1).to_string();
    assert!(older.contains("older version") && older.contains("hint: run `mingti index` again"), "{older}");
    std::fs::remove_file(&path).unwrap();
    assert!(VectorIndex::open(&path).unwrap_err().is_missing());
}

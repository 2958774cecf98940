//! Vector files past the limits of 32 bits, as sparse files: holes take no room on disk.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use half::f16;

use super::format::{
    ALIGN, BYTES, Block, Header, LINKS, NONE, POINTERS, SCALES, SECTIONS, SUM, SectionVectors, TABLE_END, VECTORS,
    encode,
};
use super::{Pointer, VectorIndex};

/// Makes a file of `n` vectors that are zero, of one section for each of `sections`; gives where its blocks begin.
fn sparse(path: &Path, n: u64, dimension: u32, sections: u32, links0: Option<u32>) -> Option<Vec<Block>> {
    let stride = u64::from(dimension.next_multiple_of(64));
    let mut lens = vec![
        (VECTORS, n * u64::from(dimension) * 2),
        (POINTERS, n * 24),
        (SECTIONS, u64::from(sections) * 16),
        (SUM, u64::from(dimension) * 8),
    ];
    if let Some(links0) = links0 {
        lens.extend([(BYTES, n * stride), (SCALES, n * 4), (LINKS, n * u64::from(links0) * 4)]);
    }
    let mut end = TABLE_END as u64;
    let mut blocks = Vec::new();
    for (kind, len) in lens {
        let offset = end.next_multiple_of(ALIGN);
        blocks.push(Block { kind, level: 0, offset, len, crc: 0 });
        end = offset + len;
    }
    let header = Header {
        file_len: end,
        vectors: n,
        dimension,
        graph: links0.is_some(),
        entry: if links0.is_some() { 0 } else { NONE },
        levels: u32::from(links0.is_some()),
        links0: links0.unwrap_or(0),
        links: 0,
        blocks: blocks.len() as u32,
        sections,
        checksum: 0,
    };
    let mut file = File::create(path).unwrap();
    // Not every file system has files of this size.
    file.set_len(end).ok()?;
    file.write_all(&encode(&header, &blocks)).unwrap();
    Some(blocks)
}

fn put<T: bytemuck::Pod>(path: &Path, blocks: &[Block], kind: u32, at: u64, values: &[T]) {
    let block = blocks.iter().find(|block| block.kind == kind).unwrap();
    let mut file = File::options().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(block.offset + at * size_of::<T>() as u64)).unwrap();
    file.write_all(bytemuck::cast_slice(values)).unwrap();
}

#[test]
fn rows_and_links_beyond_four_gigabytes_are_found_read_or_mapped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("v");
    let (n, dimension, links0) = (6_000_000u64, 384u32, 48u32);
    let Some(blocks) = sparse(&path, n, dimension, 2, Some(links0)) else { return };
    let (last, row) = (n as u32 - 1, u64::from(dimension));
    put(&path, &blocks, VECTORS, (n - 1) * row + 5, &[f16::from_f32(0.5).to_bits()]);
    put(&path, &blocks, BYTES, (n - 1) * row + 5, &[127i8]);
    put(&path, &blocks, SCALES, n - 1, &[0.5f32 / 127.0]);
    put(&path, &blocks, LINKS, 0, &[last, NONE]);
    put(&path, &blocks, LINKS, (n - 1) * u64::from(links0), &[last - 1, 0, NONE]);
    let pointer = Pointer { unit: 7 << 40, section: 1 << 50, document: 9 };
    put(&path, &blocks, POINTERS, n - 1, &[pointer]);
    let section = SectionVectors { section: 1 << 50, first: last, count: 1 };
    put(&path, &blocks, SECTIONS, 1, &[section]);
    let mut query = vec![0f32; dimension as usize];
    query[5] = 1.0;
    for is_read in [true, false] {
        let mut index = VectorIndex::open(&path).unwrap();
        index.set_read(is_read);
        let hits = index.search(&query, 1, 64, None).unwrap();
        assert_eq!((hits[0].number, hits[0].score, hits.len()), (last, 0.5, 1));
        assert_eq!((index.pointer(last), index.pointer(last + 1)), (Some(pointer), None));
        assert_eq!(index.section_vectors(1 << 50), [last]);
        assert_eq!(index.score(&query, last).unwrap(), Some(0.5));
    }
}

#[test]
fn the_largest_number_of_a_vector_has_its_row_and_one_more_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("v");
    let n = u64::from(NONE) - 1;
    let Some(blocks) = sparse(&path, n, 1, 0, None) else { return };
    let last = (n - 1) as u32;
    put(&path, &blocks, VECTORS, n - 1, &[f16::from_f32(-0.25).to_bits()]);
    let pointer = Pointer { unit: -1, section: i64::MAX, document: i64::MIN };
    put(&path, &blocks, POINTERS, n - 1, &[pointer]);
    for is_read in [true, false] {
        let mut index = VectorIndex::open(&path).unwrap();
        index.set_read(is_read);
        assert_eq!(index.vector(last).unwrap(), Some(vec![-0.25]));
        assert_eq!(
            (index.pointer(last), index.pointer(last + 1), index.pointer(u32::MAX)),
            (Some(pointer), None, None)
        );
    }
    sparse(&path, n + 1, 1, 0, None).unwrap();
    assert!(VectorIndex::open(&path).unwrap_err().is_corrupt());
}

#[test]
fn lengths_that_overflow_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("v");
    let header = |vectors: u64, dimension: u32, links0: u32| Header {
        file_len: TABLE_END as u64,
        vectors,
        dimension,
        graph: links0 > 0,
        entry: if links0 > 0 { 0 } else { NONE },
        levels: u32::from(links0 > 0),
        links0,
        links: u32::MAX,
        blocks: 7,
        sections: u32::MAX,
        checksum: 0,
    };
    let block = |kind, offset, len| Block { kind, level: 0, offset, len, crc: 0 };
    for (vectors, dimension, links0) in [(u64::MAX, u32::MAX, 0), (u64::from(NONE) - 1, u32::MAX, u32::MAX), (1, 1, 1)]
    {
        for offset in [0, TABLE_END as u64, u64::MAX, u64::MAX - 63] {
            let blocks: Vec<Block> = [VECTORS, POINTERS, SECTIONS, SUM, BYTES, SCALES, LINKS]
                .into_iter()
                .map(|kind| block(kind, offset, u64::MAX))
                .collect();
            std::fs::write(&path, encode(&header(vectors, dimension, links0), &blocks)).unwrap();
            assert!(VectorIndex::open(&path).unwrap_err().is_corrupt());
        }
    }
}

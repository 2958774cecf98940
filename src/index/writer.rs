//! Writes a vector file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use half::f16;

use super::builder::{self, GraphOptions};
use super::format::{
    ALIGN, Block, ENTRY_LEN, HEADER_LEN, Header, LEVEL_LINKS, LEVEL_NODES, LINKS, NONE, POINTERS, Pointer, SECTIONS,
    VECTORS, encode,
};
use super::graph::Rows;
use super::repair::{FlatGraph, Repaired, repair};
use crate::error::{Error, Kind, Result};

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) graph: bool,
    pub(super) repaired: Repaired,
}

/// Writes `vectors` (rows of `dimension` values) with their `pointers` to a new file, and syncs it. `starts` holds the
/// number of the first vector of each section and, at the end, the number of vectors.
pub(super) fn write(
    path: &Path,
    vectors: &[f32],
    dimension: usize,
    pointers: &[Pointer],
    starts: &[u32],
    options: &GraphOptions,
) -> Result<Written> {
    let n = pointers.len();
    if vectors.len() != n * dimension || (dimension == 0 && n > 0) || n >= NONE as usize {
        return Err(Error::new(Kind::Internal, "vectors and pointers do not match")
            .expected(format!("{n} vectors of {dimension} values"))
            .found(format!("{} values", vectors.len())));
    }
    if let Some(at) = vectors.iter().position(|value| !value.is_finite()) {
        return Err(Error::new(Kind::Model, "the embedder gave a vector with a value that is no number")
            .place(format!("vector {}", at / dimension)));
    }
    let bits: Vec<u16> = vectors.iter().map(|&value| f16::from_f32(value).to_bits()).collect();
    let mut written = Written::default();
    let mut flat = None;
    if n > 0 && n >= options.exact_below {
        // The graph is built over the values that are stored.
        let stored: Vec<f32> = bits.iter().map(|&bits| f16::from_bits(bits).to_f32()).collect();
        let mut graph = builder::build(&stored, dimension, options);
        drop(stored);
        written = Written { graph: true, repaired: repair(&mut graph, Rows { bits: &bits, dimension }) };
        flat = Some((graph.entry, FlatGraph::new(&graph)));
    }

    let mut bodies: Vec<(u32, u32, &[u8])> = vec![
        (VECTORS, 0, bytemuck::cast_slice(&bits)),
        (POINTERS, 0, bytemuck::cast_slice(pointers)),
        (SECTIONS, 0, bytemuck::cast_slice(starts)),
    ];
    if let Some((_, flat)) = &flat {
        bodies.push((LINKS, 0, bytemuck::cast_slice(&flat.level0)));
        for (above, (nodes, links)) in flat.upper.iter().enumerate() {
            bodies.push((LEVEL_NODES, above as u32 + 1, bytemuck::cast_slice(nodes)));
            bodies.push((LEVEL_LINKS, above as u32 + 1, bytemuck::cast_slice(links)));
        }
    }
    let mut end = (HEADER_LEN + bodies.len() * ENTRY_LEN) as u64;
    let mut blocks = Vec::with_capacity(bodies.len());
    for &(kind, level, body) in &bodies {
        let offset = end.next_multiple_of(ALIGN);
        let len = body.len() as u64;
        blocks.push(Block { kind, level, offset, len, crc: crc32fast::hash(body) });
        end = offset + len;
    }
    let (entry, levels, links0, links) = match &flat {
        Some((entry, flat)) => (*entry, flat.upper.len() as u32 + 1, flat.links0 as u32, flat.links as u32),
        None => (NONE, 0, 0, 0),
    };
    let header = Header {
        file_len: end,
        vectors: n as u64,
        dimension: dimension as u32,
        graph: flat.is_some(),
        entry,
        levels,
        links0,
        links,
        blocks: blocks.len() as u32,
        sections: starts.len().saturating_sub(1) as u32,
    };
    save(path, &encode(&header, &blocks), &blocks, &bodies)
        .map_err(|error| Error::io("cannot write the vector index", path, error))?;
    Ok(written)
}

fn save(path: &Path, head: &[u8], blocks: &[Block], bodies: &[(u32, u32, &[u8])]) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
    file.write_all(head)?;
    let mut at = head.len() as u64;
    for (block, (_, _, body)) in blocks.iter().zip(bodies) {
        file.write_all(&[0; ALIGN as usize][..(block.offset - at) as usize])?;
        file.write_all(body)?;
        at = block.offset + block.len;
    }
    file.into_inner().map_err(|error| error.into_error())?.sync_all()
}

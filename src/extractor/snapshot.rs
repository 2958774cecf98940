//! Keys and values of a prompt's beginning in a file, so that the next start need not compute them again.
//!
//! # File
//! Little-endian. A header of 64 bytes: `mtngprfx`, version `u32`, layers `u32`, positions `u64`, length of the file `u64`, key
//! (32 bytes). Then for each layer the bytes of its keys and of its values as [`KeyValues`](crate::compute::KeyValues) keeps them
//! (`f32`). Then the BLAKE3 (32 bytes) of all before, which is checked before anything is used. The key stands for model, packing,
//! instruction set and tokens: numbers differ in their last digits between instruction sets.

use std::fs;
use std::io::{BufWriter, Write};

use super::cache::{Cache, NodeId};
use crate::compute::{Isa, KeyValues};
use crate::error::{Error, Kind, Result};
use crate::model::DiskCache;

const MAGIC: &[u8; 8] = b"mtngprfx";
const VERSION: u32 = 1;
const HEADER: usize = 64;
const CHECKSUM: usize = 32;

/// Identifies what the model `model` computes for `tokens` at the beginning of a prompt.
pub(super) fn key(model: &[u8; 32], tokens: &[u32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(model);
    hasher.update(&KeyValues::VERSION.to_le_bytes());
    hasher.update(Isa::best().name().as_bytes());
    for token in tokens {
        hasher.update(&token.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// A node at the root of `cache` with the kept keys and values of `positions` tokens; `None` where there are none or they are
/// damaged.
pub(super) fn read(cache: &mut Cache, disk: &DiskCache, key: &[u8; 32], positions: usize) -> Option<NodeId> {
    let path = disk.path(key, "prefix");
    let file = fs::read(&path).ok()?;
    let body = check(&file, key, cache.layers(), positions)?;
    let node = cache.branch(None, positions);
    if cache.restore(node, positions, body).is_none() {
        cache.release(node);
        return None;
    }
    disk.touch(&path);
    Some(node)
}

/// What lies between header and checksum, if the file is whole and for this.
fn check<'a>(file: &'a [u8], key: &[u8; 32], layers: usize, positions: usize) -> Option<&'a [u8]> {
    let (rest, checksum) = file.split_at_checked(file.len().checked_sub(CHECKSUM)?)?;
    let (header, body) = rest.split_at_checked(HEADER)?;
    (header == self::header(key, layers, positions, file.len()) && blake3::hash(rest).as_bytes() == checksum)
        .then_some(body)
}

fn header(key: &[u8; 32], layers: usize, positions: usize, len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&u32::try_from(layers).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(&(positions as u64).to_le_bytes());
    out.extend_from_slice(&(len as u64).to_le_bytes());
    out.extend_from_slice(key);
    out
}

/// Keeps the keys and values of `node`, which stands at the root.
pub(super) fn write(cache: &Cache, disk: &DiskCache, key: &[u8; 32], node: NodeId) -> Result<()> {
    if cfg!(target_endian = "big") {
        return Err(Error::new(Kind::Usage, "prompt prefixes are kept on little-endian machines only"));
    }
    let path = disk.path(key, "prefix");
    let parts: Vec<&[u8]> = (0..cache.layers()).flat_map(|layer| cache.layer(node, layer).bytes()).collect();
    let len = HEADER + parts.iter().map(|part| part.len()).sum::<usize>() + CHECKSUM;
    let header = header(key, cache.layers(), cache.end(node), len);
    disk.keep(&path, len as u64, |file| {
        let mut hasher = blake3::Hasher::new();
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let mut put = |part: &[u8]| {
            hasher.update(part);
            out.write_all(part)
        };
        let written = put(&header).and_then(|()| parts.iter().try_for_each(|part| put(part)));
        let checksum = hasher.finalize();
        let written = written.and_then(|()| out.write_all(checksum.as_bytes())).and_then(|()| out.flush());
        written.map_err(|e| Error::io("cannot write the prompt prefix", &path, e))
    })
}

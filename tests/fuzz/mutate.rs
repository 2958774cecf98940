//! Mutations: what damage, other programs and people with bad intentions do to a file.

use crate::elements;
use crate::input::{Input, Packing, Part, Role};
use crate::noise::Noise;

/// Bytes that a file may grow to before it is packed.
pub(crate) const LARGEST: usize = 192 * 1024;
/// Bytes of one repetition, mostly; and once in [`SELDOM`] times, which costs more time to read than hundreds of small files.
const USUAL: usize = 2 * 1024;
const SELDOM: usize = 40;

/// Numbers at which readers break: none, one, the ends of the integer types and just beyond them, too large for any.
pub(crate) const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "32768",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999",
    "1e308",
    "-1e308",
    "1e-320",
    "0.5",
    "NaN",
    "1048576",
    "1000000",
    "16384",
];

/// A mutation of `input`; `other` is another file of the same kind that parts are taken from.
pub(crate) fn mutated(input: &Input, other: &Input, words: &[&[u8]], noise: &mut Noise) -> Input {
    let mut out = input.clone();
    let most = 1 << noise.below(4);
    for _ in 0..1 + noise.below(most) {
        if out.parts.is_empty() || out.packing != Packing::Plain && noise.once_in(12) {
            of_parts(&mut out, other, noise);
            continue;
        }
        let at = part(&out, noise);
        let from = part(other, noise);
        let room = LARGEST.saturating_sub(out.len());
        let others = other.parts.get(from).map_or(&[][..], |part| &part.bytes);
        if let Some(part) = out.parts.get_mut(at) {
            // What is no longer well-formed is refused as a whole, so most changes leave the tags in pairs.
            if part.bytes.starts_with(b"<") && !noise.once_in(3) {
                elements::mutate(&mut part.bytes, others, room, noise);
            } else {
                of_bytes(&mut part.bytes, others, words, room, noise);
            }
        }
    }
    if out.packing != Packing::Plain && noise.once_in(10) {
        let mut bytes = out.pack();
        for _ in 0..1 + noise.below(4) {
            of_bytes(&mut bytes, &[], words, LARGEST.saturating_sub(input.len()), noise);
        }
        out = Input::plain(bytes);
    }
    out
}

/// A part: half the time any, half the time by its size.
fn part(input: &Input, noise: &mut Noise) -> usize {
    if noise.once_in(2) {
        return noise.below(input.parts.len());
    }
    let mut at = noise.below(input.len());
    for (n, part) in input.parts.iter().enumerate() {
        match at.checked_sub(part.bytes.len()) {
            Some(rest) => at = rest,
            None => return n,
        }
    }
    0
}

/// Parts are lost, come twice, change places or names, or come from another file.
fn of_parts(input: &mut Input, other: &Input, noise: &mut Noise) {
    let parts = &mut input.parts;
    let (a, b) = (noise.below(parts.len()), noise.below(parts.len()));
    match noise.below(6) {
        0 if !parts.is_empty() => drop(parts.remove(a)),
        1 if a != b => parts.swap(a, b),
        2 if a != b => {
            let bytes = parts[a].bytes.clone();
            parts[b].bytes = bytes;
        }
        3 if !parts.is_empty() => {
            let copy = parts[a].clone();
            parts.insert(b, copy);
        }
        4 if !parts.is_empty() => rename(&mut parts[a], noise),
        _ if !other.parts.is_empty() => {
            let new = other.parts[noise.below(other.parts.len())].clone();
            let same = parts.iter_mut().find(|part| part.role == new.role);
            match same {
                Some(part) if !matches!(new.role, Role::Object | Role::Stream) => *part = new,
                _ => parts.insert(a, new),
            }
        }
        _ => {}
    }
    while input.len() > LARGEST {
        input.parts.pop();
    }
}

fn rename(part: &mut Part, noise: &mut Noise) {
    match &mut part.role {
        Role::Entry(name) => match noise.below(3) {
            0 => name.insert_str(0, "../"),
            1 => *name = name.to_uppercase(),
            _ => name.push('x'),
        },
        Role::Record(kind) => *kind = if noise.once_in(2) { noise.below(0x1000) as u16 } else { *kind ^ 0x0200 },
        _ => {}
    }
}

/// Mutates `bytes` once, by at most `room` more.
pub(crate) fn of_bytes(bytes: &mut Vec<u8>, other: &[u8], words: &[&[u8]], room: usize, noise: &mut Noise) {
    let at = noise.below(bytes.len());
    match noise.below(20) {
        0 => change(bytes, at, |byte| byte ^ 1 << noise.below(8)),
        1 => change(bytes, at, |_| noise.next() as u8),
        2 => change(bytes, at, |byte| byte.wrapping_add(noise.below(71) as u8).wrapping_sub(35)),
        3 | 4 => {
            let block = seamed(bytes, noise);
            bytes.drain(block);
        }
        5 | 6 => {
            let block = bytes[seamed(bytes, noise)].to_vec();
            let to = seam(bytes, at, noise);
            insert(bytes, to, &block, room);
        }
        7 => {
            let block = bytes[seamed(bytes, noise)].to_vec();
            for (to, byte) in bytes.iter_mut().skip(at).zip(block) {
                *to = byte;
            }
        }
        8 => {
            let new: Vec<u8> = (0..1 + noise.below(8)).map(|_| noise.next() as u8).collect();
            insert(bytes, at, &new, room);
        }
        9..=11 if !words.is_empty() => {
            let to = seam(bytes, at, noise);
            insert(bytes, to, noise.pick(words), room);
        }
        12 if !words.is_empty() => {
            for (to, &byte) in bytes.iter_mut().skip(at).zip(noise.pick(words)) {
                *to = byte;
            }
        }
        13 | 14 => number(bytes, at, noise),
        15 => binary_number(bytes, at, noise),
        16 if noise.once_in(4) => bytes.truncate(at),
        17 => {
            let most = if noise.once_in(SELDOM) { LARGEST } else { USUAL }.min(room);
            let block = bytes[seamed(bytes, noise)].to_vec();
            if !block.is_empty() {
                let times = 1 + noise.below(most / block.len());
                let to = seam(bytes, at, noise);
                insert(bytes, to, &block.repeat(times), room);
            }
        }
        18 if !other.is_empty() => {
            let block = seamed(other, noise);
            let to = seam(bytes, at, noise);
            insert(bytes, to, &other[block], room);
        }
        _ => {
            // Two neighbouring blocks change places.
            let block = seamed(bytes, noise);
            let left = noise.below(block.len());
            bytes[block].rotate_left(left);
        }
    }
}

fn change(bytes: &mut [u8], at: usize, with: impl FnOnce(u8) -> u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = with(*byte);
    }
}

pub(crate) fn insert(bytes: &mut Vec<u8>, at: usize, new: &[u8], room: usize) {
    let new = &new[..new.len().min(room)];
    let at = at.min(bytes.len());
    bytes.splice(at..at, new.iter().copied());
}

/// The next place from `at` where a token begins, mostly; else `at` itself.
fn seam(bytes: &[u8], at: usize, noise: &mut Noise) -> usize {
    /// Tokens are no longer than this.
    const NEAR: usize = 80;
    if noise.once_in(3) {
        return at;
    }
    let is_seam = |place: usize| {
        let before = place.checked_sub(1).and_then(|before| bytes.get(before));
        let here = bytes.get(place);
        matches!(before, None | Some(b'>' | b'\n' | b' ' | b'\t' | b',' | b']' | b')'))
            || matches!(here, None | Some(b'<' | b'/' | b'['))
    };
    (at..=bytes.len().min(at + NEAR)).find(|&place| is_seam(place)).unwrap_or(at)
}

/// A block of whole tokens, mostly.
fn seamed(bytes: &[u8], noise: &mut Noise) -> std::ops::Range<usize> {
    if bytes.is_empty() {
        return 0..0;
    }
    let block = noise.block(bytes.len(), LARGEST);
    let from = seam(bytes, block.start, noise);
    let end = seam(bytes, block.end.max(from), noise);
    from..end.max(from)
}

/// Sets a number written in figures.
fn number(bytes: &mut Vec<u8>, at: usize, noise: &mut Noise) {
    let Some(from) = bytes.iter().skip(at).position(u8::is_ascii_digit).map(|found| at + found) else { return };
    let end = bytes.iter().skip(from).position(|byte| !byte.is_ascii_digit()).map_or(bytes.len(), |found| from + found);
    let new = noise.pick(NUMBERS);
    bytes.splice(from..end, new.bytes());
}

/// Sets a number of one, two, four or eight bytes.
fn binary_number(bytes: &mut [u8], at: usize, noise: &mut Noise) {
    let size = 1 << noise.below(4);
    let number: u64 = match noise.below(5) {
        0 => 0,
        1 => u64::MAX,
        2 => u64::MAX >> 1 >> (64 - 8 * size),
        3 => 1,
        _ => 1 << noise.below(8 * size),
    };
    let order = if noise.once_in(2) { number.to_le_bytes() } else { (number << (64 - 8 * size)).to_be_bytes() };
    for (to, byte) in bytes.iter_mut().skip(at).take(size).zip(order) {
        *to = byte;
    }
}

//! Mutations of XML and HTML that leave tags in pairs: whole elements are lost, repeated, moved, wrapped and nested, attributes and
//! texts get other values.

use std::ops::Range;

use crate::mutate::{LARGEST, NUMBERS, insert};
use crate::noise::Noise;

/// How deep one element may be put into itself.
const DEEP: usize = 600;

/// Mutates `bytes` once, by at most `room` more; `other` is a part of another file.
pub(crate) fn mutate(bytes: &mut Vec<u8>, other: &[u8], room: usize, noise: &mut Noise) {
    let Some(one) = element(bytes, noise.below(bytes.len())) else { return };
    let text = bytes[one.clone()].to_vec();
    match noise.below(12) {
        0 | 1 => drop(bytes.drain(one)),
        2 => {
            let most = if noise.once_in(40) { LARGEST } else { 2048 }.min(room);
            let times = 1 + noise.below(most / text.len());
            insert(bytes, one.end, &text.repeat(times), room);
        }
        3 | 4 => {
            // Before, behind or in front of the content of another element.
            if let Some(to) = element(bytes, noise.below(bytes.len())) {
                let inside = content(bytes, &to).start;
                let place = [to.start, to.end, inside][noise.below(3)];
                insert(bytes, place, &text, room);
            }
        }
        5 => {
            if let Some(from) = element(other, noise.below(other.len())) {
                insert(bytes, one.start, &other[from], room);
            }
        }
        6 => {
            // Its content takes its place.
            let inner = bytes[content(bytes, &one)].to_vec();
            bytes.splice(one, inner);
        }
        7 => {
            // Put into itself again and again.
            let inside = content(bytes, &one);
            let (open, close) = (&text[..inside.start - one.start], &text[inside.end - one.start..]);
            let most = if noise.once_in(10) { DEEP } else { 8 };
            let times = (1 + noise.below(most)).min(room / (open.len() + close.len()).max(1));
            let nested = [open.repeat(times).as_slice(), &bytes[inside.clone()], &close.repeat(times)].concat();
            bytes.splice(inside, nested);
        }
        8 => {
            // Two elements change places.
            if let Some(two) = element(bytes, noise.below(bytes.len()))
                && two.start >= one.end
            {
                let moved = bytes[two.clone()].to_vec();
                bytes.splice(two, text);
                bytes.splice(one, moved);
            }
        }
        _ => value(bytes, one, noise),
    }
}

/// Sets the value of an attribute or the text in front of a tag, to a number or to another value of the file.
fn value(bytes: &mut Vec<u8>, one: Range<usize>, noise: &mut Noise) {
    let values: Vec<Range<usize>> = values(bytes);
    if values.is_empty() {
        return;
    }
    let near = values.partition_point(|value| value.start < one.start).min(values.len() - 1);
    let to = values[near].clone();
    let new = match noise.below(3) {
        0 => noise.pick(NUMBERS).as_bytes().to_vec(),
        1 => bytes[values[noise.below(values.len())].clone()].to_vec(),
        _ => [&bytes[to.clone()], noise.pick(NUMBERS).as_bytes()].concat(),
    };
    bytes.splice(to, new);
}

/// Values in quotes and texts between tags.
fn values(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut open = b'>';
    for (at, &byte) in bytes.iter().enumerate() {
        let is_end = match open {
            b'>' => byte == b'<',
            quote => byte == quote,
        };
        if is_end {
            if at > from {
                found.push(from..at);
            }
            open = if byte == b'<' { b'<' } else { b' ' };
            from = at + 1;
        } else if matches!(open, b'<' | b' ') && matches!(byte, b'>' | b'"' | b'\'') {
            open = byte;
            from = at + 1;
        }
    }
    found
}

/// The element whose start tag is the first from `at`, with its end tag if it has one.
fn element(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_start = |place: usize| bytes[place] == b'<' && bytes.get(place + 1).is_some_and(u8::is_ascii_alphabetic);
    let start = (at..bytes.len()).chain(0..at).find(|&place| is_start(place))?;
    let mut depth = 0usize;
    let mut place = start;
    loop {
        let end = place + bytes[place..].iter().position(|&byte| byte == b'>')? + 1;
        let tag = &bytes[place..end];
        if tag.starts_with(b"</") {
            depth = depth.saturating_sub(1);
        } else if !tag.ends_with(b"/>") && tag.get(1).is_some_and(u8::is_ascii_alphabetic) {
            depth += 1;
        }
        if depth == 0 {
            return Some(start..end);
        }
        let Some(next) = bytes[end..].iter().position(|&byte| byte == b'<') else { return Some(start..end) };
        place = end + next;
    }
}

/// What lies between the tags of `element`.
fn content(bytes: &[u8], element: &Range<usize>) -> Range<usize> {
    let text = &bytes[element.clone()];
    let open = text.iter().position(|&byte| byte == b'>').map_or(text.len(), |at| at + 1);
    let close = text.iter().rposition(|&byte| byte == b'<').unwrap_or(text.len()).max(open);
    element.start + open..element.start + close
}

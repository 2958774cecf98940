//! UTF-32, which encoding_rs does not decode, and UTF-16 without a byte-order mark.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::decode::undecodable;
use super::plausible::is_frequent;
use crate::error::Result;

/// Bytes of a file that are looked at to judge UTF-16 without a mark.
const SAMPLE: usize = 64 * 1024;

/// What follows the mark of UTF-32, and whether it is little-endian.
pub(super) fn utf32_mark(bytes: &[u8]) -> Option<(&[u8], bool)> {
    let little = bytes.strip_prefix(&[0xff, 0xfe, 0, 0]).map(|body| (body, true));
    // A file of UTF-16 may begin with a mark and a NUL, but then it is not made of characters of UTF-32.
    little.filter(|(body, _)| is_utf32(body, true)).or_else(|| Some((bytes.strip_prefix(&[0, 0, 0xfe, 0xff])?, false)))
}

/// Whether bytes without a mark are UTF-32, and little-endian: hardly any other bytes stay within the range of Unicode.
pub(super) fn utf32_without_mark(bytes: &[u8]) -> Option<bool> {
    [true, false].into_iter().find(|&is_little| bytes.len() >= 8 && is_utf32(bytes, is_little))
}

fn unit(bytes: &[u8], is_little: bool) -> Option<char> {
    let bytes: [u8; 4] = bytes.try_into().ok()?;
    char::from_u32(if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
}

fn is_utf32(bytes: &[u8], is_little: bool) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    bytes.len().is_multiple_of(4) && sample.chunks_exact(4).all(|four| unit(four, is_little).is_some_and(|c| c != '\0'))
}

/// Decodes UTF-32; `offset` is where `body` starts in the file.
pub(super) fn utf32(body: &[u8], is_little: bool, offset: usize) -> Result<(String, &'static str)> {
    let name = if is_little { "UTF-32LE" } else { "UTF-32BE" };
    let mut out = String::with_capacity(body.len() / 4);
    for (n, four) in body.chunks(4).enumerate() {
        let Some(c) = unit(four, is_little) else {
            return Err(undecodable(name, offset + 4 * n, four.first().copied().unwrap_or(0)));
        };
        out.push(c);
    }
    Ok((super::decode::without_mark(out), name))
}

/// The UTF-16 flavour of bytes that hold zeros but no mark, if nearly all of its characters are ordinary ones.
pub(super) fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let is_ordinary = |unit: u16| {
        matches!(
            unit,
            0x20..=0x7e
                | 0x09
                | 0x0a
                | 0x0d
                | 0xa0..=0x24f
                | 0x370..=0x4ff
                | 0x2010..=0x2027
                | 0x3000..=0x30ff
                | 0x4e00..=0x9fff
                | 0xac00..=0xd7a3
                | 0xff00..=0xff5e
        )
    };
    best_flavour(bytes, 0.9, is_ordinary)
}

/// The UTF-16 flavour of bytes without zeros, as a text of Chinese characters alone has none: many of its characters must
/// be among the most frequent ones, which those of a wrong reading are not.
pub(super) fn utf16_of_characters(bytes: &[u8]) -> Option<&'static Encoding> {
    let is_wide = |unit: u16| matches!(unit, 0x3000..=0x30ff | 0x4e00..=0x9fff | 0xff00..=0xff5e | 0xac00..=0xd7a3);
    let is_known = |unit: u16| {
        matches!(unit, 0x3001..=0x3002 | 0x3041..=0x3093 | 0xff0c | 0xff1a)
            || char::from_u32(u32::from(unit)).is_some_and(is_frequent)
    };
    let found = best_flavour(bytes, 0.25, is_known).filter(|_| bytes.len() >= 8)?;
    best_flavour(bytes, 0.95, is_wide).filter(|wide| *wide == found)
}

/// The flavour in which at least `share` of the units are `wanted`.
fn best_flavour(bytes: &[u8], share: f64, wanted: impl Fn(u16) -> bool) -> Option<&'static Encoding> {
    if !bytes.len().is_multiple_of(2) || bytes.is_empty() {
        return None;
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let count = |unit: fn([u8; 2]) -> u16| {
        let mut found = 0usize;
        for pair in sample.chunks_exact(2) {
            match unit([pair[0], pair[1]]) {
                0 => return 0.0,
                unit => found += usize::from(wanted(unit)),
            }
        }
        found as f64 * 2.0 / sample.len() as f64
    };
    let (little, big) = (count(u16::from_le_bytes), count(u16::from_be_bytes));
    let (best, encoding) = if little >= big { (little, UTF_16LE) } else { (big, UTF_16BE) };
    (best >= share).then_some(encoding)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::document::decode::{decode, decode_as};

    #[test]
    fn utf32_is_read_with_and_without_a_mark() {
        let text = "温度 85 ℃";
        for is_little in [true, false] {
            let body: Vec<u8> = text
                .chars()
                .flat_map(|c| if is_little { (c as u32).to_le_bytes() } else { (c as u32).to_be_bytes() })
                .collect();
            let mark: &[u8] = if is_little { &[0xff, 0xfe, 0, 0] } else { &[0, 0, 0xfe, 0xff] };
            assert_eq!(decode(body.clone()).unwrap().text, text);
            assert_eq!(decode([mark, &body].concat()).unwrap().text, text);
            let name = if is_little { "utf-32" } else { "UTF-32BE" };
            assert_eq!(decode_as(&body, name).unwrap().text, text);
            assert!(decode_as(&body[1..], name).is_err());
        }
    }

    #[test]
    fn chinese_in_utf16_has_no_zero_byte() {
        let text = "设备不得在超过规定的温度下工作";
        for flavour in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(flavour).collect();
            assert_eq!(decode(bytes).unwrap().text, text);
        }
    }
}

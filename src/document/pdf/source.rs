//! Streams and strings of a PDF file (ISO 32000-1, 7.3 and 7.9), unpacked within the [`Budget`].
//!
//! Objects, cross-references, their repair and decryption are `hayro-syntax`'s work. It unpacks a stream whole, so what a
//! stream unpacks to is measured before, wherever the packed size alone allows for more than the budget has left.

use std::io::Read;

use encoding_rs::{GB18030, UTF_16BE, UTF_16LE};
use flate2::read::ZlibDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use hayro_syntax::Filter;
use hayro_syntax::object::{Dict, Object, Stream};

use crate::document::Budget;
use crate::error::{Error, Kind, Result};

/// Deflate makes at most so many bytes of one; LZW as a PDF allows it stays below that.
const DEFLATE_RATIO: u64 = 1032;

/// No content stream, font or map is larger than this, unpacked.
const LARGEST: u64 = 1 << 28;

/// What a stream holds.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    pub(super) data: Vec<u8>,
    /// It ends where its filter says, and its checksum fits.
    pub(super) is_whole: bool,
}

/// The unpacked bytes of a stream, as far as they can be unpacked.
///
/// # Errors
/// The budget is used up.
pub(super) fn unpack(stream: &Stream<'_>, budget: &mut Budget) -> Result<Unpacked> {
    let filters = stream.filters();
    let packed = stream.raw_data();
    let has_predictor = stream.dict().contains_key("DecodeParms") || stream.dict().contains_key("DP");
    if filters.as_slice() == [Filter::FlateDecode] && !has_predictor {
        let (data, is_whole) = inflate(&packed, budget.left().min(LARGEST));
        let size = data.len() as u64;
        budget.spend(if size > LARGEST { u64::MAX } else { size })?;
        if is_whole {
            return Ok(Unpacked { data, is_whole });
        }
    }
    let mut worst = packed.len() as u64;
    for filter in &filters {
        match filter {
            Filter::FlateDecode | Filter::LzwDecode => worst = worst.saturating_mul(DEFLATE_RATIO),
            Filter::RunLengthDecode => worst = worst.saturating_mul(64),
            _ => {}
        }
    }
    if worst > budget.left().min(LARGEST) {
        let measured = match filters.as_slice() {
            [Filter::FlateDecode] => inflated_size(&packed, LARGEST),
            _ => worst,
        };
        budget.spend(if measured > LARGEST { u64::MAX } else { measured })?;
    }
    if !has_rows_that_fit(stream) {
        return Ok(Unpacked::default());
    }
    let Ok(data) = stream.decoded_data() else { return Ok(Unpacked::default()) };
    budget.spend(data.len() as u64)?;
    // The crate takes what it can get of a damaged deflate stream; all other filters fail when they do not fit.
    let is_whole = !filters.contains(&Filter::FlateDecode) || has_predictor || filters.len() > 1;
    Ok(Unpacked { data: data.into_owned(), is_whole })
}

/// Samples in a row of data that a predictor changed. The crate makes room for a whole row before it looks at the data, and
/// a program that cannot have so much memory ends at once.
const LONGEST_ROW: usize = 1 << 24;
/// Samples of a pixel; more of them at 16 bits each are too many for the crate, and for any picture.
const MOST_COLORS: usize = 15;

/// False for parameters of filters whose rows no page has.
fn has_rows_that_fit(stream: &Stream<'_>) -> bool {
    let fit = |parameters: &Dict<'_>| {
        let columns = parameters.get::<usize>("Columns").unwrap_or(1);
        let byte = |key: &str| parameters.get::<u8>(key);
        let bits = byte("Colors").unwrap_or(1).checked_mul(byte("BitsPerComponent").unwrap_or(8));
        (1..=LONGEST_ROW).contains(&columns) && bits.is_some_and(|bits| bits > 0)
    };
    ["DecodeParms", "DP"].into_iter().all(|key| match stream.dict().get::<Object<'_>>(key) {
        Some(Object::Dict(parameters)) => fit(&parameters),
        Some(Object::Array(all)) => all.iter::<Object<'_>>().filter_map(Object::into_dict).all(|one| fit(&one)),
        _ => true,
    })
}

/// Inflates a stream with its checksum, to a little over `limit` at most; false where it is damaged or cut off.
fn inflate(packed: &[u8], limit: u64) -> (Vec<u8>, bool) {
    const STEP: usize = 1 << 16;
    let mut inflater = Decompress::new(true);
    let mut out = Vec::new();
    while out.len() as u64 <= limit {
        out.reserve(STEP);
        let read = usize::try_from(inflater.total_in()).unwrap_or(usize::MAX);
        let before = out.len();
        match inflater.decompress_vec(packed.get(read..).unwrap_or_default(), &mut out, FlushDecompress::None) {
            Ok(Status::StreamEnd) => return (out, true),
            Ok(_) if out.len() > before || inflater.total_in() > read as u64 => {}
            Ok(_) | Err(_) => break,
        }
    }
    (out, false)
}

/// Takes what the object and cross-reference streams of `file` unpack to off the budget: opening the file unpacks them.
///
/// # Errors
/// The budget is used up, or the rows of a stream are longer than any.
pub(super) fn measure_object_streams(file: &[u8], budget: &mut Budget) -> Result<()> {
    /// The dictionary of such a stream is no longer than this.
    const DICTIONARY: usize = 4096;
    // The crate unpacks these by itself, so their rows are looked at before, as `unpack` does with those of the others.
    for (key, most) in [(&b"/Columns"[..], LONGEST_ROW), (b"/Colors", MOST_COLORS)] {
        if let Some(number) = numbers_after(file, key).find(|&number| number > most) {
            return Err(Error::new(Kind::Format, "the PDF is damaged")
                .expected(format!("rows of at most {LONGEST_ROW} samples of {MOST_COLORS} colors"))
                .found(format!("{number} of them"))
                .hint("open it in a PDF reader and print it to a new PDF"));
        }
    }
    for mark in [&b"/ObjStm"[..], b"/XRef"] {
        let mut at = 0;
        while let Some(found) = file.get(at..).and_then(|rest| find(rest, mark)) {
            at += found + mark.len();
            let near = file.get(at..).unwrap_or_default();
            let near = near.get(..DICTIONARY).unwrap_or(near);
            let Some(data) = find(near, b"stream") else { continue };
            let data = file.get(at + data + b"stream".len()..).unwrap_or_default();
            let data = data.strip_prefix(b"\r\n").or_else(|| data.strip_prefix(b"\n")).unwrap_or(data);
            budget.spend(inflated_size(data, budget.left()))?;
        }
    }
    Ok(())
}

/// The numbers that follow `key` anywhere in `file`.
fn numbers_after<'f>(file: &'f [u8], key: &'f [u8]) -> impl Iterator<Item = usize> + 'f {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += find(file.get(at..)?, key)? + key.len();
        let value = file.get(at..)?.trim_ascii_start();
        let digits = value.iter().take_while(|byte| byte.is_ascii_digit());
        Some(digits.fold(0usize, |n, digit| n.saturating_mul(10).saturating_add(usize::from(digit - b'0'))))
    })
}

/// What `packed` inflates to, counted up to a little over `limit`.
fn inflated_size(packed: &[u8], limit: u64) -> u64 {
    let mut buffer = vec![0; 1 << 16];
    let mut reader = ZlibDecoder::new(packed);
    let mut size = 0;
    while size <= limit {
        match reader.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => size += read as u64,
        }
    }
    size
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = 0;
    while let Some(next) = bytes.get(at..)?.iter().position(|&b| b == first) {
        if bytes.get(at + next..)?.starts_with(needle) {
            return Some(at + next);
        }
        at += next + 1;
    }
    None
}

/// A text string of a dictionary, read as [`text_string`].
pub(super) fn text_of(dict: &Dict<'_>, key: &str) -> Option<String> {
    let bytes = dict.get::<hayro_syntax::object::String<'_>>(key)?;
    let text = text_string(bytes.as_bytes());
    (!text.trim().is_empty()).then_some(text)
}

/// Decodes a text string: UTF-16 or UTF-8 with a mark, else `PDFDocEncoding`. Many Chinese programs write GBK instead,
/// which is recognised by its pairs of high bytes.
pub(super) fn text_string(bytes: &[u8]) -> String {
    let text = if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        UTF_16BE.decode_without_bom_handling(rest).0.into_owned()
    } else if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        UTF_16LE.decode_without_bom_handling(rest).0.into_owned()
    } else if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        String::from_utf8_lossy(rest).into_owned()
    } else if is_gbk(bytes) {
        GB18030.decode_without_bom_handling(bytes).0.into_owned()
    } else {
        bytes.iter().map(|&byte| pdf_doc_character(byte)).collect()
    };
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// True when high bytes come in pairs only, as GB 2312 writes them, and decode.
fn is_gbk(bytes: &[u8]) -> bool {
    let mut pairs = 0;
    let mut rest = bytes;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte >= 0x80 {
            match rest.split_first() {
                Some((&second, tail)) if (0xa1..=0xf7).contains(&byte) && second >= 0xa1 => {
                    pairs += 1;
                    rest = tail;
                }
                _ => return false,
            }
        }
    }
    pairs > 0 && GB18030.decode_without_bom_handling_and_without_replacement(bytes).is_some()
}

/// ISO 32000-1, annex D.2, `PDFDocEncoding`.
fn pdf_doc_character(byte: u8) -> char {
    const ACCENTS: [char; 8] = ['\u{2d8}', '\u{2c7}', '\u{2c6}', '\u{2d9}', '\u{2dd}', '\u{2db}', '\u{2da}', '\u{2dc}'];
    const HIGH: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł',
        'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
    ];
    match byte {
        0x18..=0x1f => ACCENTS[usize::from(byte - 0x18)],
        0x80..=0xa0 => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn text_strings_are_decoded_by_their_mark_or_as_gbk() {
        assert_eq!(text_string(b"\xfe\xff\x62\x4b\x51\x8c"), "手册");
        assert_eq!(text_string("\u{feff}手册".as_bytes()), "手册");
        assert_eq!(text_string(b"\xca\xd6\xb2\xe1 v1"), "手册 v1");
        assert_eq!(text_string(b"caf\xe9 \x84 x"), "café — x");
        assert_eq!(text_string(b"a\nb"), "a b");
    }

    #[test]
    fn rows_that_take_all_memory_are_refused_before_they_are_made() {
        let budget = &mut Budget::default();
        let file = b"1 0 obj <</Type/XRef/DecodeParms<</Predictor 2/BitsPerComponent 16/Columns 99999999999999>>>>";
        assert!(measure_object_streams(file, budget).unwrap_err().to_string().contains("99999999999999 of them"));
        assert!(measure_object_streams(b"<</Columns 5000/K -1/Colors 4>> /Columns", budget).is_ok());
    }

    #[test]
    fn what_object_streams_unpack_to_is_counted_before_the_file_is_opened() {
        use std::io::Write;
        let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        assert!(packer.write_all(&vec![0; 1 << 20]).is_ok());
        let packed = packer.finish().unwrap_or_default();
        let mut file = b"1 0 obj <</Type /ObjStm /Length 9>> stream\r\n".to_vec();
        file.extend_from_slice(&packed);
        let mut small = Budget::new(std::time::Duration::from_secs(60), 1 << 19);
        assert!(measure_object_streams(&file, &mut small).is_err());
        let mut enough = Budget::new(std::time::Duration::from_secs(60), 1 << 21);
        assert!(measure_object_streams(&file, &mut enough).is_ok());
        assert_eq!(enough.left(), 1 << 20);
    }
}

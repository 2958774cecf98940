//! From parts to files: ZIP archives, PDF files, compound files with a workbook. Nothing here minds what the parts say.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use crate::input::{Part, Role};

/// An archive. Short entries are stored, long ones packed, so that both ways are taken.
pub(crate) fn zip(parts: &[Part]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for part in parts {
        let Role::Entry(name) = &part.role else { continue };
        let is_short = part.bytes.len() < 100;
        let method = if is_short { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options =
            SimpleFileOptions::default().compression_method(method).compression_level((!is_short).then_some(1));
        // A name that occurs twice is refused; its entry is left out.
        if writer.start_file(name.as_str(), options).is_ok() {
            writer.write_all(&part.bytes).expect("memory takes all");
        }
    }
    writer.finish().expect("memory takes all").into_inner()
}

/// A PDF file. Streams whose dictionary says `FlateDecode` are packed.
pub(crate) fn pdf(parts: &[Part]) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    let mut trailer: &[u8] = b"/Root 1 0 R";
    let mut parts = parts.iter().peekable();
    while let Some(part) = parts.next() {
        match part.role {
            Role::Trailer => trailer = &part.bytes,
            Role::Object => {
                places.push(out.len());
                out.extend_from_slice(format!("{} 0 obj\n", places.len()).as_bytes());
                match parts.next_if(|next| next.role == Role::Stream) {
                    Some(stream) => push_stream(&mut out, &part.bytes, &stream.bytes),
                    None => out.extend_from_slice(&part.bytes),
                }
                out.extend_from_slice(b"\nendobj\n");
            }
            _ => {}
        }
    }
    let table = out.len();
    out.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).as_bytes());
    for place in &places {
        out.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    out.extend_from_slice(format!("trailer\n<</Size {}", places.len() + 1).as_bytes());
    out.extend_from_slice(trailer);
    out.extend_from_slice(format!(">>\nstartxref\n{table}\n%%EOF\n").as_bytes());
    out
}

fn push_stream(out: &mut Vec<u8>, dictionary: &[u8], data: &[u8]) {
    let is_packed = dictionary.windows(11).any(|window| window == b"FlateDecode");
    let data = if is_packed { deflated(data) } else { data.to_vec() };
    out.extend_from_slice(dictionary.strip_suffix(b">>").unwrap_or(dictionary));
    out.extend_from_slice(format!("/Length {}>>stream\n", data.len()).as_bytes());
    out.extend_from_slice(&data);
    out.extend_from_slice(b"\nendstream");
}

pub(crate) fn deflated(data: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(data).expect("memory takes all");
    packer.finish().expect("memory takes all")
}

/// Kinds of records that say where other records lie.
const BEGIN: u16 = 0x0809;
const SHEET: u16 = 0x0085;

/// The records of a workbook. Each sheet of the list points to the next stream of records behind the first.
pub(crate) fn records(parts: &[Part]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut sheets, mut begins) = (Vec::new(), Vec::new());
    for part in parts {
        let Role::Record(kind) = part.role else { continue };
        match kind {
            SHEET => sheets.push(out.len() + 4),
            BEGIN => begins.push(out.len() as u32),
            _ => {}
        }
        let length = part.bytes.len().min(usize::from(u16::MAX));
        out.extend(kind.to_le_bytes());
        out.extend((length as u16).to_le_bytes());
        out.extend_from_slice(&part.bytes[..length]);
    }
    for (at, begin) in sheets.into_iter().zip(begins.into_iter().skip(1)) {
        // A list entry that was cut short has no room for a place.
        if let Some(place) = out.get_mut(at..at + 4) {
            place.copy_from_slice(&begin.to_le_bytes());
        }
    }
    out
}

/// A compound file with one stream, of sectors of 512 bytes.
pub(crate) fn compound(name: &str, stream: &[u8]) -> Vec<u8> {
    const SECTOR: usize = 512;
    const FREE: u32 = 0xffff_ffff;
    const END: u32 = 0xffff_fffe;
    const TABLE: u32 = 0xffff_fffd;
    // Streams below the cutoff lie elsewhere; this one never does.
    let sectors = stream.len().max(4096).div_ceil(SECTOR);
    let tables = (sectors + 120).div_ceil(SECTOR / 4 - 1).min(109);
    let mut table = vec![TABLE; tables];
    let directory = table.len() as u32;
    table.push(END);
    let first = table.len() as u32;
    table.extend((1..sectors as u32).map(|n| first + n));
    table.push(END);
    table.resize(tables * SECTOR / 4, FREE);

    let mut out = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    out.resize(SECTOR, 0);
    out[26] = 3;
    out[28..30].copy_from_slice(&[0xfe, 0xff]);
    (out[30], out[32], out[44]) = (9, 6, tables as u8);
    out[48..52].copy_from_slice(&directory.to_le_bytes());
    out[56..60].copy_from_slice(&4096u32.to_le_bytes());
    out[60..64].copy_from_slice(&END.to_le_bytes());
    out[68..72].copy_from_slice(&END.to_le_bytes());
    for at in 0..109usize {
        let number = if at < tables { at as u32 } else { FREE };
        out[76 + 4 * at..80 + 4 * at].copy_from_slice(&number.to_le_bytes());
    }
    out.extend(table.iter().flat_map(|number| number.to_le_bytes()));
    let size = (sectors * SECTOR) as u32;
    let mut entries = [entry("Root Entry", 5, END, 0), entry(name, 2, first, size)].concat();
    entries.resize(SECTOR, 0);
    out.extend(entries);
    out.extend_from_slice(stream);
    out.resize(out.len() + sectors * SECTOR - stream.len(), 0);
    out
}

fn entry(name: &str, kind: u8, start: u32, size: u32) -> Vec<u8> {
    let mut out: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let length = out.len() as u16 + 2;
    out.resize(128, 0);
    out[64..66].copy_from_slice(&length.to_le_bytes());
    out[66] = kind;
    out[68..80].fill(0xff);
    out[116..120].copy_from_slice(&start.to_le_bytes());
    out[120..124].copy_from_slice(&size.to_le_bytes());
    out
}

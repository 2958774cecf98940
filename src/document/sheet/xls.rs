//! Excel workbooks of 1993 to 2003: BIFF records ([MS-XLS]) in a compound file, version 8 and, with byte strings, version 5.

use std::collections::HashMap;

use encoding_rs::Encoding;

use super::format::Format;
use super::layout::{Cells, Merge};
use crate::document::budget::Budget;
use crate::document::notation::Notation;
use crate::document::ole::Ole;
use crate::error::{Error, Kind, Result};

/// Reads all sheets of a workbook.
///
/// # Errors
/// The file is damaged, encrypted, too large or older than version 5.
pub(super) fn read(bytes: &[u8], notation: &mut Notation, budget: &mut Budget) -> Result<()> {
    let ole = Ole::open(bytes, budget)?;
    let stream = match ole.stream("Workbook", budget)? {
        Some(stream) => Some(stream),
        None => ole.stream("Book", budget)?,
    };
    let stream = stream
        .ok_or_else(|| Error::new(Kind::Format, "not a workbook").expected("a stream `Workbook`").found("none"))?;
    let book = Book::read(&stream, budget)?;
    for sheet in &book.sheets {
        super::begin(notation, &sheet.name, sheet.is_hidden);
        let mut cells = Cells::default();
        match book.sheet(&stream, sheet.offset, &mut cells, budget) {
            Ok(without_result) => {
                cells.write(notation, budget)?;
                super::name_missing_results(notation, &sheet.name, without_result);
            }
            Err(error) => {
                budget.check()?;
                notation.skipped(format!("sheet {}", sheet.name), error.to_string());
            }
        }
    }
    Ok(())
}

#[derive(Debug)]
struct Sheet {
    name: String,
    offset: usize,
    is_hidden: bool,
}

/// What the sheets share.
struct Book {
    /// Strings are bytes in a code page, not UTF-16.
    is_old: bool,
    encoding: &'static Encoding,
    since_1904: bool,
    /// LibreOffice and its forebears wrote it, which store 0 as the result of formulas that give text.
    is_from_calc: bool,
    strings: Vec<String>,
    formats: Vec<Format>,
    /// Cell style to format.
    styles: Vec<usize>,
    sheets: Vec<Sheet>,
}

/// A record: its kind, its bytes, and where the next one starts.
struct Record<'s> {
    kind: u16,
    data: &'s [u8],
    next: usize,
}

fn record(stream: &[u8], at: usize) -> Option<Record<'_>> {
    let (kind, length) = (u16_at(stream, at)?, usize::from(u16_at(stream, at.checked_add(2)?)?));
    let next = at + 4 + length;
    Some(Record { kind, data: stream.get(at + 4..next)?, next })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn f64_at(bytes: &[u8], at: usize) -> Option<f64> {
    Some(f64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// A number in thirty bits: an integer or the upper half of a double, perhaps a hundredfold.
fn rk(value: u32) -> f64 {
    let number =
        if value & 2 != 0 { f64::from((value as i32) >> 2) } else { f64::from_bits(u64::from(value & !3) << 32) };
    if value & 1 != 0 { number / 100.0 } else { number }
}

fn encoding(page: u16) -> &'static Encoding {
    match page {
        874 => encoding_rs::WINDOWS_874,
        932 => encoding_rs::SHIFT_JIS,
        936 => encoding_rs::GBK,
        949 => encoding_rs::EUC_KR,
        950 => encoding_rs::BIG5,
        1250 => encoding_rs::WINDOWS_1250,
        1251 => encoding_rs::WINDOWS_1251,
        _ => encoding_rs::WINDOWS_1252,
    }
}

impl Book {
    fn read(stream: &[u8], budget: &mut Budget) -> Result<Self> {
        let first = record(stream, 0).ok_or_else(damaged)?;
        let version = u16_at(first.data, 0).unwrap_or(0);
        if first.kind != 0x0809 || !matches!(version, 0x0500 | 0x0600) {
            return Err(Error::new(Kind::Format, "a workbook of a version that is not read")
                .expected("Excel 5 or later")
                .hint("open it in Excel and save it as .xlsx"));
        }
        let mut book = Self {
            is_old: version == 0x0500,
            encoding: encoding(1252),
            since_1904: false,
            is_from_calc: false,
            strings: Vec::new(),
            formats: Vec::new(),
            styles: Vec::new(),
            sheets: Vec::new(),
        };
        let mut codes: HashMap<u16, String> = HashMap::new();
        let mut styles: Vec<u16> = Vec::new();
        let mut at = first.next;
        while let Some(record) = record(stream, at) {
            budget.check()?;
            let data = record.data;
            match record.kind {
                0x000a => break,
                0x002f => {
                    return Err(Error::new(Kind::Format, "the workbook is behind a password")
                        .hint("open it in Excel, remove the password, save it as .xlsx and index it again"));
                }
                0x005c => book.is_from_calc = data.starts_with(b"\x04\x00\x00Calc "),
                0x0022 => book.since_1904 = u16_at(data, 0) == Some(1),
                0x0042 => book.encoding = encoding(u16_at(data, 0).unwrap_or(0)),
                0x041e => {
                    let code = if book.is_old { book.short(data, 2) } else { book.long(data, 2) };
                    if let (Some(id), Some(code)) = (u16_at(data, 0), code) {
                        codes.insert(id, code);
                    }
                }
                0x00e0 => styles.push(u16_at(data, 2).unwrap_or(0)),
                0x0085 => {
                    if let Some(sheet) = book.bound(data) {
                        book.sheets.push(sheet);
                    }
                }
                0x00fc => book.strings = shared_strings(stream, at, budget)?,
                _ => {}
            }
            at = record.next;
        }
        let mut known: HashMap<u16, usize> = HashMap::new();
        for id in styles {
            let format = *known.entry(id).or_insert_with(|| {
                book.formats.push(codes.get(&id).map_or_else(|| Format::builtin(id), |code| Format::new(code)));
                book.formats.len() - 1
            });
            book.styles.push(format);
        }
        Ok(book)
    }

    /// A sheet of the list; macro and module sheets have no cells that are shown.
    fn bound(&self, data: &[u8]) -> Option<Sheet> {
        let offset = u32_at(data, 0)? as usize;
        let (state, kind) = (*data.get(4)?, *data.get(5)?);
        let name = self.short(data, 6)?;
        (kind == 0 || kind == 2).then_some(Sheet { name, offset, is_hidden: state & 3 != 0 })
    }

    /// A string with one byte for its length.
    fn short(&self, data: &[u8], at: usize) -> Option<String> {
        let length = usize::from(*data.get(at)?);
        if self.is_old {
            return Some(self.encoding.decode(data.get(at + 1..at + 1 + length)?).0.into_owned());
        }
        characters(data, at + 1, length)
    }

    /// A string with two bytes for its length.
    fn long(&self, data: &[u8], at: usize) -> Option<String> {
        let length = usize::from(u16_at(data, at)?);
        if self.is_old {
            return Some(self.encoding.decode(data.get(at + 2..at + 2 + length)?).0.into_owned());
        }
        characters(data, at + 2, length)
    }

    /// Reads the cells; how many formulas have no result.
    fn sheet(&self, stream: &[u8], offset: usize, cells: &mut Cells, budget: &mut Budget) -> Result<usize> {
        let first = record(stream, offset).filter(|first| first.kind == 0x0809).ok_or_else(damaged)?;
        let mut at = first.next;
        // Charts on the sheet are streams of their own inside it.
        let mut depth = 0usize;
        let mut waiting = None;
        let mut without_result = 0;
        loop {
            budget.check()?;
            let record = record(stream, at).ok_or_else(damaged)?;
            at = record.next;
            match record.kind {
                0x0809 => depth += 1,
                0x000a if depth == 0 => return Ok(without_result),
                0x000a => depth -= 1,
                0x0006 if depth == 0 && self.is_doubtful(record.data) => without_result += 1,
                _ if depth == 0 => self.cell(&record, &mut waiting, cells, budget)?,
                _ => {}
            }
        }
    }

    /// True for a formula whose zero may stand for text.
    fn is_doubtful(&self, data: &[u8]) -> bool {
        let style = u16_at(data, 4).map_or(0, usize::from);
        let is_zero = data.get(6..14) == Some(&[0; 8]);
        self.is_from_calc && is_zero && self.format(style).is_none_or(Format::is_general)
    }

    fn cell(
        &self,
        record: &Record<'_>,
        waiting: &mut Option<(u32, u32, usize)>,
        cells: &mut Cells,
        budget: &mut Budget,
    ) -> Result<()> {
        let data = record.data;
        let head = || Some((u32::from(u16_at(data, 0)?), u32::from(u16_at(data, 2)?), usize::from(u16_at(data, 4)?)));
        if record.kind == 0x0207 {
            // The text result of the formula before it.
            if let (Some((row, column, style)), Some(text)) = (waiting.take(), self.long(data, 0)) {
                cells.put(row, column, &self.text(style, &text), budget)?;
            }
            return Ok(());
        }
        let Some((row, column, style)) = head() else { return Ok(()) };
        match record.kind {
            0x00fd => {
                let text = u32_at(data, 6).and_then(|at| self.strings.get(at as usize));
                cells.put(row, column, &self.text(style, text.map_or("", String::as_str)), budget)?;
            }
            0x0204 | 0x00d6 => {
                let text = self.long(data, 6).unwrap_or_default();
                cells.put(row, column, &self.text(style, &text), budget)?;
            }
            0x0203 => {
                if let Some(number) = f64_at(data, 6) {
                    cells.put(row, column, &self.number(style, number), budget)?;
                }
            }
            0x027e => {
                if let Some(value) = u32_at(data, 6) {
                    cells.put(row, column, &self.number(style, rk(value)), budget)?;
                }
            }
            0x00bd => {
                let pairs = data.get(4..data.len().saturating_sub(2)).unwrap_or_default();
                for (n, pair) in pairs.chunks_exact(6).enumerate() {
                    if let (Some(style), Some(value)) = (u16_at(pair, 0), u32_at(pair, 2)) {
                        cells.put(row, column + n as u32, &self.number(usize::from(style), rk(value)), budget)?;
                    }
                }
            }
            0x0205 => {
                if let (Some(&value), Some(&is_error)) = (data.get(6), data.get(7)) {
                    cells.put(row, column, if is_error != 0 { error_name(value) } else { truth(value) }, budget)?;
                }
            }
            0x0006 | 0x0406 => match data.get(6..14) {
                Some([0, .., 0xff, 0xff]) => *waiting = Some((row, column, style)),
                Some([1, _, value, .., 0xff, 0xff]) => cells.put(row, column, truth(*value), budget)?,
                Some([2, _, value, .., 0xff, 0xff]) => cells.put(row, column, error_name(*value), budget)?,
                Some([3, .., 0xff, 0xff]) | None => {}
                Some(_) => {
                    let number = f64_at(data, 6).unwrap_or(0.0);
                    cells.put(row, column, &self.number(style, number), budget)?;
                }
            },
            0x00e5 => {
                for range in data.get(2..).unwrap_or_default().chunks_exact(8) {
                    let get = |at| u16_at(range, at).map_or(0, u32::from);
                    cells.merge(Merge { top: get(0), bottom: get(2), left: get(4), right: get(6) }, budget)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn format(&self, style: usize) -> Option<&Format> {
        self.formats.get(*self.styles.get(style)?)
    }

    fn text(&self, style: usize, text: &str) -> String {
        self.format(style).map_or_else(|| text.to_string(), |format| format.text(text))
    }

    fn number(&self, style: usize, number: f64) -> String {
        self.format(style)
            .map_or_else(|| super::decimal::general(number), |format| format.number(number, self.since_1904))
    }
}

/// Characters after a byte that says how wide they are.
fn characters(data: &[u8], at: usize, length: usize) -> Option<String> {
    let is_wide = data.get(at)? & 1 != 0;
    let size = if is_wide { length * 2 } else { length };
    Some(decoded(data.get(at + 1..at + 1 + size)?, is_wide))
}

fn decoded(bytes: &[u8], is_wide: bool) -> String {
    if is_wide {
        let units = bytes.chunks_exact(2).filter_map(|two| Some(u16::from_le_bytes(two.try_into().ok()?)));
        return char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    }
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// The table of strings. It goes on over records, and a string that is cut says anew how wide its characters are.
fn shared_strings(stream: &[u8], at: usize, budget: &mut Budget) -> Result<Vec<String>> {
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut next = at;
    while let Some(record) = record(stream, next).filter(|record| parts.is_empty() || record.kind == 0x003c) {
        parts.push(record.data);
        next = record.next;
    }
    let count = parts.first().and_then(|data| u32_at(data, 4)).unwrap_or(0);
    let mut cursor = Cursor { parts, part: 0, at: 8 };
    let mut out = Vec::new();
    for _ in 0..count {
        let Some(text) = cursor.string() else { break };
        budget.spend((text.len() + size_of::<String>()) as u64)?;
        out.push(text);
    }
    Ok(out)
}

struct Cursor<'s> {
    parts: Vec<&'s [u8]>,
    part: usize,
    at: usize,
}

impl<'s> Cursor<'s> {
    /// The rest of the record, the next one when it is used up.
    fn rest(&mut self) -> Option<&'s [u8]> {
        loop {
            let rest = self.parts.get(self.part)?.get(self.at..).unwrap_or_default();
            if !rest.is_empty() {
                return Some(rest);
            }
            self.part += 1;
            self.at = 0;
        }
    }

    fn number(&mut self, size: usize) -> Option<usize> {
        let bytes = self.rest()?.get(..size)?;
        self.at += size;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }

    fn skip(&mut self, mut count: usize) -> Option<()> {
        while count > 0 {
            let step = self.rest()?.len().min(count);
            self.at += step;
            count -= step;
        }
        Some(())
    }

    fn string(&mut self) -> Option<String> {
        let mut left = self.number(2)?;
        let flags = self.number(1)?;
        let runs = if flags & 8 != 0 { self.number(2)? } else { 0 };
        let extra = if flags & 4 != 0 { self.number(4)? } else { 0 };
        let mut is_wide = flags & 1 != 0;
        let mut out = String::new();
        while left > 0 {
            let before = self.part;
            let rest = self.rest()?;
            if self.part != before {
                is_wide = self.number(1)? & 1 != 0;
                continue;
            }
            let size = if is_wide { 2 } else { 1 };
            let count = (rest.len() / size).min(left);
            if count == 0 {
                return None;
            }
            out.push_str(&decoded(rest.get(..count * size)?, is_wide));
            self.at += count * size;
            left -= count;
        }
        self.skip(runs * 4 + extra)?;
        Some(out)
    }
}

fn truth(value: u8) -> &'static str {
    if value != 0 { "TRUE" } else { "FALSE" }
}

fn error_name(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        _ => "#N/A",
    }
}

fn damaged() -> Error {
    Error::new(Kind::Format, "the workbook is damaged or cut off").hint("open it in Excel and save it as .xlsx")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::ole::tests::compound;

    fn push(out: &mut Vec<u8>, kind: u16, data: &[u8]) {
        out.extend(kind.to_le_bytes());
        out.extend((data.len() as u16).to_le_bytes());
        out.extend(data);
    }

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn cells_are_shown_with_their_formats_and_cut_strings_are_whole() {
        let mut stream = Vec::new();
        push(&mut stream, 0x0809, &[0, 6, 5, 0]);
        push(&mut stream, 0x00e0, &[0, 0, 10, 0]);
        let bound = stream.len() + 4;
        push(&mut stream, 0x0085, &[&[0, 0, 0, 0, 1, 0, 1, 1], wide("表").as_slice()].concat());
        push(&mut stream, 0x00fc, &[&[1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 1], wide("一").as_slice()].concat());
        push(&mut stream, 0x003c, b"\x00bc");
        push(&mut stream, 0x000a, &[]);
        let offset = stream.len() as u32;
        stream[bound..bound + 4].copy_from_slice(&offset.to_le_bytes());
        push(&mut stream, 0x0809, &[0, 6, 16, 0]);
        push(&mut stream, 0x00fd, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        push(&mut stream, 0x027e, &[&[0, 0, 1, 0, 0, 0], (12u32 << 2 | 3).to_le_bytes().as_slice()].concat());
        push(&mut stream, 0x0006, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
        push(&mut stream, 0x0207, &[&[1, 0, 1], wide("果").as_slice()].concat());
        push(&mut stream, 0x0205, &[1, 0, 1, 0, 0, 0, 7, 1]);
        push(&mut stream, 0x000a, &[]);
        stream.resize(5000, 0);
        let mut notation = Notation::new();
        read(&compound(&[("Workbook", &stream)]), &mut notation, &mut Budget::default()).unwrap();
        assert_eq!(notation.finish().text, "# 表 (hidden)\n\n| 一bc | 12.00% |\n| 果 | #DIV/0! |\n");
    }
}

//! Reads tables of delimited text (CSV as in RFC 4180, TSV, and the kin with `;` and `|`).
//!
//! Nothing in such a file says what its delimiter is or whether its first row names the columns, so both are told from the
//! first records. Rows are written one by one and never held together: the text costs no more than the file.

use csv::{ReaderBuilder, StringRecord};

use super::budget::Budget;
use super::notation::{Extracted, Notation};
use crate::error::{Error, Kind, Result};

/// Delimiters, the likelier first.
const DELIMITERS: [u8; 5] = [b',', b'\t', b';', b'|', b':'];
/// Bytes and records at the start that are judged by.
const SAMPLE: (usize, usize) = (256 * 1024, 300);
/// A first row up to this width is filled up. Others keep to their cells, but one alone would be a title among the rows.
const FILLED: usize = 64;
/// A quoted cell with more line ends than this was never meant as one.
const LINES: usize = 200;
/// A cell longer than this names no column.
const NAME: usize = 60;

/// Reads `text` as one table; lines above it that fill one cell only become paragraphs.
///
/// # Errors
/// The time is up.
pub(crate) fn read(text: &str, budget: &mut Budget) -> Result<Extracted> {
    let (declared, text) = declaration(text);
    let head = sample(text);
    let delimiter = declared.unwrap_or_else(|| delimiter(head));
    let is_quoted = !has_stray_quote(text, delimiter, budget)?;
    let mut notation = Notation::new();
    if !is_quoted {
        notation
            .skipped("quotes", format!("a cell never ends within {LINES} lines; quotes are read as plain characters"));
    }
    let records = records(head, delimiter, is_quoted);
    let width = usual_width(&records);
    let above = records.iter().take_while(|record| width > 1 && filled(record) < 2).count();
    let above = if above < records.len() { above } else { 0 };
    let has_header = is_header(&records[above..]);
    let mut reader = builder(delimiter, is_quoted).from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    let mut count = 0usize;
    let mut in_table = false;
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(Error::new(Kind::Format, "cannot read the table").because(error)),
        }
        count += 1;
        if count.is_multiple_of(4096) {
            budget.check()?;
        }
        if count <= above {
            let words: Vec<&str> = record.iter().filter(|cell| !cell.trim().is_empty()).collect();
            notation.paragraph(&words.join(" "));
            continue;
        }
        if filled(&record) == 0 {
            continue;
        }
        let cells: Vec<String> = record.iter().map(|cell| cell.replace(['\n', '\r'], " ")).collect();
        if in_table {
            notation.table_row(&cells, cells.len().max(width.min(2)));
        } else {
            let fill = if width <= FILLED { width } else { 0 };
            notation.begin_table(&cells, cells.len().max(fill), has_header);
            in_table = true;
        }
    }
    Ok(notation.finish())
}

/// The rows of a table whose delimiter is known.
pub(crate) fn rows(text: &str, delimiter: u8) -> Vec<Vec<String>> {
    let mut builder = builder(delimiter, true);
    // A quote behind a space opens a cell here.
    let sign = char::from(delimiter);
    let text = text.replace(&format!("{sign} \""), &format!("{sign}\""));
    let mut reader = builder.trim(csv::Trim::All).from_reader(text.as_bytes());
    let records = reader.records().map_while(Result::ok);
    records.map(|record| record.iter().map(str::to_string).collect()).collect()
}

/// The delimiter of a first line `sep=;`, as Excel writes it, and what follows.
fn declaration(text: &str) -> (Option<u8>, &str) {
    if let Some(rest) = text.strip_prefix("sep=")
        && let Some(&delimiter) = rest.as_bytes().first()
        && delimiter.is_ascii()
        && !delimiter.is_ascii_alphanumeric()
        && let Some(after) = rest[1..].strip_prefix("\r\n").or_else(|| rest[1..].strip_prefix('\n'))
    {
        return (Some(delimiter), after);
    }
    (None, text)
}

fn sample(text: &str) -> &str {
    if text.len() <= SAMPLE.0 {
        return text;
    }
    let mut end = SAMPLE.0;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // Whole lines only.
    &text[..text[..end].rfind('\n').map_or(end, |at| at + 1)]
}

fn builder(delimiter: u8, is_quoted: bool) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter).quoting(is_quoted);
    builder
}

fn records(head: &str, delimiter: u8, is_quoted: bool) -> Vec<StringRecord> {
    let mut reader = builder(delimiter, is_quoted).from_reader(head.as_bytes());
    let mut record = StringRecord::new();
    let mut out = Vec::new();
    // A copy of the reader's own record would keep the room of the widest one before it.
    while out.len() < SAMPLE.1 && matches!(reader.read_record(&mut record), Ok(true)) {
        if filled(&record) > 0 {
            out.push(record.iter().collect());
        }
    }
    out
}

fn filled(record: &StringRecord) -> usize {
    record.iter().filter(|cell| !cell.trim().is_empty()).count()
}

/// The number of cells that most records have.
fn usual_width(records: &[StringRecord]) -> usize {
    let mut widths: Vec<usize> = records.iter().map(StringRecord::len).collect();
    widths.sort_unstable();
    let groups = widths.chunk_by(|a, b| a == b);
    groups.max_by_key(|group| (group.len(), group[0])).map_or(0, |group| group[0])
}

/// The delimiter that cuts the most records into the same number of cells, more than one.
fn delimiter(head: &str) -> u8 {
    let mut best = (0.0f64, b',');
    for delimiter in DELIMITERS {
        let records = records(head, delimiter, true);
        let width = usual_width(&records);
        if width < 2 {
            continue;
        }
        let same = records.iter().filter(|record| record.len() == width).count();
        // Where two are as regular, the one that finds more cells.
        let share = same as f64 / records.len() as f64;
        // Colons and bars also stand in running text.
        let handicap = if delimiter == b':' { 0.5 } else { 1.0 };
        let score = share * handicap * (1.0 - 0.5 / width as f64);
        if score > best.0 + 1e-9 {
            best = (score, delimiter);
        }
    }
    best.1
}

/// True when a quote at the start of a cell has no end, so that it would take the rest of the file for one cell.
fn has_stray_quote(text: &str, delimiter: u8, budget: &Budget) -> Result<bool> {
    if !text.contains('"') {
        return Ok(false);
    }
    let bytes = text.as_bytes();
    let (mut in_quotes, mut at_start, mut lines) = (false, true, 0usize);
    for (at, &byte) in bytes.iter().enumerate() {
        if at.is_multiple_of(1 << 20) {
            budget.check()?;
        }
        if in_quotes {
            match byte {
                // A doubled quote closes and opens again.
                b'"' => in_quotes = false,
                b'\n' => {
                    lines += 1;
                    if lines > LINES {
                        return Ok(true);
                    }
                }
                _ => {}
            }
            at_start = false;
        } else {
            if byte == b'"' && (at_start || at.checked_sub(1).is_some_and(|before| bytes[before] == b'"')) {
                in_quotes = true;
                if at_start {
                    lines = 0;
                }
            }
            at_start = byte == delimiter || byte == b'\n' || byte == b'\r';
        }
    }
    Ok(in_quotes && lines > 0)
}

/// True when the first record names the columns: short, filled, different words that no number is among, and that do not
/// come again in their columns.
fn is_header(records: &[StringRecord]) -> bool {
    let [first, rest @ ..] = records else { return false };
    let names: Vec<&str> = first.iter().map(str::trim).collect();
    let mut distinct: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    let count = distinct.len();
    distinct.sort_unstable();
    distinct.dedup();
    // A first column without a name and an empty last one occur.
    let is_filled = count > 0 && count + 2 >= names.len() && count * 3 >= names.len() * 2;
    let are_names = names.iter().all(|name| name.chars().count() <= NAME && !is_value(name));
    let recurs = |(at, name): (usize, &&str)| {
        !name.is_empty() && rest.iter().any(|record| record.get(at).is_some_and(|cell| cell.trim() == *name))
    };
    !rest.is_empty() && is_filled && distinct.len() == count && are_names && !names.iter().enumerate().any(recurs)
}

/// True for numbers, dates, times and percentages.
fn is_value(cell: &str) -> bool {
    cell.chars().any(|c| c.is_ascii_digit()) && cell.chars().all(|c| c.is_ascii_digit() || " .,:/-+%".contains(c))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read_text(text: &str) -> String {
        read(text, &mut Budget::default()).unwrap().text
    }

    #[test]
    fn delimiters_are_found_by_regularity() {
        for delimiter in [",", ";", "\t", "|"] {
            let text = ["代码,原因", "E1,过热", "E2,过流"].join("\r\n").replace(',', delimiter);
            assert_eq!(
                read_text(&text),
                "| 代码 | 原因 |\n| --- | --- |\n| E1 | 过热 |\n| E2 | 过流 |\n",
                "{delimiter:?}"
            );
        }
        assert_eq!(read_text("a;b\n1,5;2,5\n"), "| a | b |\n| --- | --- |\n| 1,5 | 2,5 |\n");
        assert_eq!(read_text("sep=;\r\na;b\r\n1;2"), "| a | b |\n| --- | --- |\n| 1 | 2 |\n");
    }

    #[test]
    fn quoted_line_ends_and_delimiters_stay_in_their_cell() {
        let text = "项,说明\n1,\"停机,\n\"\"断电\"\"\n挂牌\"\n2,x\n";
        assert_eq!(read_text(text), "| 项 | 说明 |\n| --- | --- |\n| 1 | 停机, \"断电\" 挂牌 |\n| 2 | x |\n");
    }

    #[test]
    fn ragged_rows_and_titles_are_kept() {
        let text = "参数表,,\n名称,值,单位\n电压,380\n电流,5,A,注\n,,\n";
        let expected = "参数表\n\n| 名称 | 值 | 单位 |\n| --- | --- | --- |\n| 电压 | 380 |\n| 电流 | 5 | A | 注 |\n";
        assert_eq!(read_text(text), expected);
    }

    #[test]
    fn values_are_no_header() {
        assert_eq!(read_text("1,2024-01-01\n2,2024-01-02\n"), "| 1 | 2024-01-01 |\n| 2 | 2024-01-02 |\n");
        assert_eq!(read_text("on,off\non,on\n"), "| on | off |\n| on | on |\n");
    }

    #[test]
    fn a_quote_that_never_ends_is_named_and_loses_no_row() {
        let text = format!("a,b\n1,\"x\n{}", "2,y\n".repeat(300));
        let out = read(&text, &mut Budget::default()).unwrap();
        assert_eq!((out.text.lines().count(), out.skipped.len()), (303, 1));
        let inches = read("size,x\n5\",1\n6\",2\n", &mut Budget::default()).unwrap();
        assert!(inches.skipped.is_empty() && inches.text.contains("| 5\" | 1 |"));
    }
}

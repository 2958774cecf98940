//! Simple tables (docutils: "Simple Tables"): columns under `====  ====`, cells that span them under `--------`.

use super::directive::is_bold;
use super::parse::Parser;
use super::table::{gather, spread};
use crate::document::grid::Grid;
use crate::error::Result;

/// Cells of one table, by its lines and columns.
const CELLS: usize = 1 << 20;

/// True for a line such as `=====  =====`.
pub(super) fn is_border(line: &str) -> bool {
    line.starts_with('=') && line.contains("= ") && line.bytes().all(|b| b == b'=' || b == b' ')
}

/// The line after the table that begins at `at`: its second border, or the third if text follows the second at once.
pub(super) fn end(lines: &[&str], at: usize) -> Option<usize> {
    let mut found = 0;
    for next in at + 1..lines.len() {
        let line = lines[next];
        if line.starts_with('=') && line.bytes().all(|b| b == b'=' || b == b' ') {
            found += 1;
            if found == 2 || lines.get(next + 1).is_none_or(|after| after.is_empty()) {
                return Some(next + 1);
            }
        } else if line.starts_with(' ') && found == 0 && next == at + 1 && line.trim().is_empty() {
            return None;
        }
    }
    None
}

/// Reads the table in `lines`.
pub(super) fn read(parser: &mut Parser<'_>, lines: &[&str]) -> Result<()> {
    let [border, body @ .., _] = lines else { return Ok(()) };
    let columns = segments(border);
    if columns.len().saturating_mul(body.len()) > CELLS {
        parser.out.skipped("a table", "it is drawn with too many columns; its lines are read as text");
        body.iter().for_each(|line| parser.paragraph(line));
        return Ok(());
    }
    let head = body.iter().position(|line| is_border(line));
    let mut grid = Grid::default();
    let mut row: Vec<Vec<String>> = Vec::new();
    let mut is_head = head.is_some();
    for line in body {
        if is_border(line) {
            write(parser, &mut grid, &mut row, &columns, None, is_head)?;
            is_head = false;
            continue;
        }
        if line.starts_with('-') && line.bytes().all(|b| b == b'-' || b == b' ') {
            write(parser, &mut grid, &mut row, &columns, Some(line), is_head)?;
            continue;
        }
        if line.is_empty() {
            // A blank line parts paragraphs of a cell, and rows.
            for cell in &mut row {
                cell.push(String::new());
            }
            continue;
        }
        let cells = cut(line, &columns);
        if !cells.first().is_some_and(|cell| cell.is_empty()) {
            write(parser, &mut grid, &mut row, &columns, None, is_head)?;
        }
        row.resize(columns.len(), Vec::new());
        for (cell, words) in row.iter_mut().zip(cells) {
            cell.push(words);
        }
    }
    write(parser, &mut grid, &mut row, &columns, None, is_head)?;
    parser.out.table(grid, parser.budget);
    Ok(())
}

/// The columns that pieces of a rule cover.
fn segments(rule: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, byte) in rule.bytes().enumerate() {
        match found.last_mut() {
            _ if byte == b' ' => {}
            Some((_, end)) if *end == at => *end += 1,
            _ => found.push((at, at + 1)),
        }
    }
    found
}

/// The cells of a line; the last one goes on to its end. Words that stick out of a column belong to where they begin.
fn cut(line: &str, columns: &[(usize, usize)]) -> Vec<String> {
    let chars = spread(line, true);
    let mut cells = Vec::with_capacity(columns.len());
    let mut from = 0;
    for n in 0..columns.len() {
        let mut to = columns.get(n + 1).map_or(chars.len(), |(start, _)| (*start).min(chars.len()));
        // Not within a word.
        while to > from && to < chars.len() && chars[to - 1] != ' ' && chars[to] != ' ' {
            to += 1;
        }
        let to = to.max(from);
        cells.push(gather(&chars[from..to]).trim().to_string());
        from = to;
    }
    cells
}

/// Writes the row; the pieces of `spans` join columns.
fn write(
    parser: &mut Parser<'_>,
    grid: &mut Grid,
    row: &mut Vec<Vec<String>>,
    columns: &[(usize, usize)],
    spans: Option<&str>,
    is_head: bool,
) -> Result<()> {
    if row.iter().flatten().all(|line| line.trim().is_empty()) {
        row.clear();
        return Ok(());
    }
    grid.row(is_head, parser.budget);
    let spans = spans.map_or_else(|| columns.to_vec(), segments);
    let mut cells = std::mem::take(row).into_iter();
    let mut column = 0;
    for (n, (_, end)) in spans.iter().enumerate() {
        let mut count = 0;
        while columns.get(column + count).is_some_and(|(start, _)| start < end || n + 1 == spans.len()) {
            count += 1;
        }
        column += count;
        let parts: Vec<Vec<String>> = cells.by_ref().take(count).collect();
        let height = parts.iter().map(Vec::len).max().unwrap_or(0);
        let lines: Vec<String> = (0..height)
            .map(|at| parts.iter().filter_map(|part| part.get(at)).map(String::as_str).collect::<Vec<_>>().join(" "))
            .map(|line| line.trim().to_string())
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let words = parser.cell(&lines)?;
        grid.cell(false, count.max(1), 1, parser.budget);
        grid.push(&words);
        if !words.is_empty() && !is_bold(&lines) {
            grid.plain();
        }
    }
    Ok(())
}

//! From a table as Word keeps it to rows that can be understood alone: merged cells say their value in every column and
//! row that they cover, and the header is one row.

use super::blocks::{Block, Paragraph, Table};
use crate::document::budget::Budget;
use crate::document::tabular;
use crate::error::Result;

/// Columns in all. Real tables stay below Word's 63.
const COLUMNS: usize = 1024;

/// A table ready to be written.
#[derive(Debug, Default)]
pub(super) struct Grid<'b> {
    /// Rows at the top that are one cell, and so a title over the table.
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The first row names the columns.
    pub(super) has_header: bool,
    /// Tables inside cells that are tables in their own right.
    pub(super) inner: Vec<&'b Table>,
}

/// One place of the grid: the cell that covers it and the text that it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    cell: usize,
    text: usize,
}

/// True for a table that is only a frame around its text: one column.
pub(super) fn is_frame(table: &Table) -> bool {
    table.rows.iter().all(|row| row.cells.len() <= 1)
}

/// Lays out `table`. The text of merged cells, once for every place it covers, comes off the budget, and stays within its bounds.
pub(super) fn grid<'b>(table: &'b Table, budget: &mut Budget) -> Result<Grid<'b>> {
    let mut out = Grid::default();
    let mut texts: Vec<String> = Vec::new();
    let mut bold: Vec<bool> = Vec::new();
    let mut rows: Vec<Vec<Option<Place>>> = Vec::new();
    let mut cells = 0;
    for row in &table.rows {
        budget.check()?;
        let before = row.before.min(COLUMNS);
        let mut places: Vec<Option<Place>> = vec![None; if budget.repeat(before, 0) { before } else { 0 }];
        for cell in &row.cells {
            let above = rows.last().and_then(|row| row.get(places.len()).copied().flatten()).filter(|_| cell.continues);
            let text = match above {
                Some(above) => above.text,
                None => {
                    texts.push(flat(&cell.blocks, &mut out.inner));
                    bold.push(is_bold(&cell.blocks));
                    texts.len() - 1
                }
            };
            let covered = cell.span.min(COLUMNS - places.len().min(COLUMNS));
            let length = texts.get(text).map_or(0, String::len);
            budget.spend((covered * (size_of::<Option<Place>>() + length)) as u64)?;
            let first = usize::from(above.is_none());
            let again = covered.saturating_sub(first);
            let is_shown = budget.repeat(again, again.saturating_mul(length));
            let shown = if is_shown { covered } else { covered.min(first) };
            places.extend(std::iter::repeat_n(Some(Place { cell: cells, text }), shown));
            places.extend(std::iter::repeat_n(None, covered - shown));
            cells += 1;
        }
        rows.push(places);
    }
    drop_repeated_columns(&mut rows);

    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let is_title = |row: &[Option<Place>]| {
        row.len() == width && row.first().copied().flatten().is_some_and(|first| row.iter().all(|p| *p == Some(first)))
    };
    let mut first = 0;
    while width > 1 && first + 1 < rows.len() && rows.get(first).is_some_and(|row| is_title(row)) {
        let text = rows.get(first).and_then(|row| texts.get(row.first().copied()??.text));
        out.titles.extend(text.cloned());
        first += 1;
    }
    let rows = rows.get(first..).unwrap_or_default();
    let marked = table.rows.iter().skip(first).take_while(|row| row.is_header).count();
    let strings = |row: &[Option<Place>]| -> Vec<String> {
        row.iter().map(|p| p.and_then(|p| texts.get(p.text).cloned()).unwrap_or_default()).collect()
    };
    let is_bold_row = |at: usize| {
        rows.get(at).is_some_and(|row| row.iter().flatten().all(|p| bold.get(p.text).copied().unwrap_or(false)))
    };
    let guessed = || {
        let row = strings(rows.first().map_or(&[], Vec::as_slice));
        let stands_out = is_bold_row(0) && !is_bold_row(1);
        let cells = rows.iter().map(|row| row.iter().map(|place| place.map(|place| place.text)).collect());
        let height = tabular::header_height(cells);
        let below: Vec<Vec<String>> = rows.iter().skip(height).take(8).map(|row| strings(row)).collect();
        // Names over names are told by their merged cells.
        let stands_out = stands_out || height > 1;
        let is_header = rows.len() > 1 && row.len() == width && tabular::is_header(&row, &below, stands_out);
        if is_header { height } else { 0 }
    };
    let header = if marked > 0 && marked < rows.len() { marked } else { guessed() };
    out.has_header = header > 0;
    let (head, body) = rows.split_at(header.min(rows.len()));
    if out.has_header {
        out.rows.push(tabular::joined_header(&head.iter().map(|row| strings(row)).collect::<Vec<_>>()));
    }
    // A cell over the whole width is a title among the rows.
    let body = body.iter().map(|row| (strings(row), width > 1 && is_title(row)));
    out.rows.extend(body.map(|(mut row, is_title)| {
        row.truncate(if is_title { 1 } else { row.len() });
        row
    }));
    Ok(out)
}

/// Columns that only exist because borders elsewhere do not line up go: in every row the cell before covers them.
fn drop_repeated_columns(rows: &mut [Vec<Option<Place>>]) {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut needed = vec![false; width];
    for row in rows.iter() {
        let mut before = None;
        for (place, needed) in row.iter().zip(needed.iter_mut()) {
            *needed |= *place != before || before.is_none() && place.is_some();
            before = *place;
        }
    }
    if let Some(first) = needed.first_mut() {
        *first = true;
    }
    for row in rows {
        let mut needed = needed.iter();
        row.retain(|_| needed.next().copied().unwrap_or(true));
    }
}

fn is_bold(blocks: &[Block]) -> bool {
    let mut words = blocks.iter().filter_map(|block| match block {
        Block::Paragraph(paragraph) if !paragraph.text.trim().is_empty() => Some(paragraph.bold),
        _ => None,
    });
    let first = words.next();
    first == Some(true) && words.all(|bold| bold)
}

/// The blocks of a cell as one line. Tables inside that have columns and rows of their own are left to follow.
fn flat<'b>(blocks: &'b [Block], inner: &mut Vec<&'b Table>) -> String {
    let mut out = String::new();
    let mut add = |text: &str| {
        let text = text.trim();
        if !text.is_empty() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(text);
        }
    };
    for block in blocks {
        match block {
            Block::Paragraph(paragraph) => add(&Paragraph::numbered(paragraph)),
            Block::Table(table) if table.rows.len() > 1 && !is_frame(table) => inner.push(table),
            Block::Table(table) => {
                for cell in table.rows.iter().flat_map(|row| &row.cells) {
                    add(&flat(&cell.blocks, inner));
                }
            }
        }
    }
    out
}

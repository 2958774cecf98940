//! Grid tables (docutils: "Grid Tables"): cells drawn with `+`, `-`, `=` and `|`.
//!
//! Cells are found as docutils finds them, corner by corner along closed lines, so that they may span rows and columns.
//! Wide characters take two columns, as editors show them; files where they were counted as one are read that way, and what
//! is drawn too badly for either is read line by line.

use std::collections::BTreeSet;

use super::directive::is_bold;
use super::parse::Parser;
use crate::document::grid::Grid;
use crate::error::Result;

/// Characters of the drawing that are looked at, and steps along its lines per character.
const AREA: usize = 8 << 20;
const STEPS: usize = 24;

/// Stands behind a wide character.
const FILL: char = '\u{fffe}';

/// True for the first line of a grid table.
pub(super) fn is_top(line: &str) -> bool {
    line.len() >= 3 && line.starts_with("+-") && line.ends_with('+') && line.bytes().all(|b| b == b'+' || b == b'-')
}

/// Columns that an editor shows `c` in.
fn columns(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// Columns that an editor shows `text` in.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// A line as one entry per column.
pub(super) fn spread(line: &str, is_wide: bool) -> Vec<char> {
    let mut out = Vec::with_capacity(line.len());
    for c in line.chars() {
        match columns(c) {
            2 if is_wide => out.extend([c, FILL]),
            // A combining mark stands with the character before it, which one entry cannot hold; it is composed or dropped
            // nowhere else, so it takes a column of its own.
            _ => out.push(c),
        }
    }
    out
}

/// The text in some columns of a line.
pub(super) fn gather(columns: &[char]) -> String {
    columns.iter().filter(|c| **c != FILL).collect()
}

/// A cell by the lines around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Frame {
    top: usize,
    left: usize,
    bottom: usize,
    right: usize,
}

struct Drawing {
    rows: Vec<Vec<char>>,
    steps: usize,
}

/// Reads the table drawn in `lines`.
pub(super) fn read(parser: &mut Parser<'_>, lines: &[&str]) -> Result<()> {
    for is_wide in [true, false] {
        let mut rows: Vec<Vec<char>> = lines.iter().map(|line| spread(line, is_wide)).collect();
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        if width.saturating_mul(rows.len()) > AREA {
            break;
        }
        rows.iter_mut().for_each(|row| row.resize(width, ' '));
        // The line under the heads is drawn with `=`.
        let is_head_rule = |row: &[char]| row.contains(&'=') && row.iter().all(|c| matches!(c, '+' | '=' | ' '));
        let head = rows.iter().position(|row| is_head_rule(row));
        if let Some(head) = head {
            rows[head].iter_mut().filter(|c| **c == '=').for_each(|c| *c = '-');
        }
        let mut drawing = Drawing { steps: width * rows.len() * STEPS, rows };
        if let Some(frames) = drawing.frames() {
            parser.budget.check()?;
            return write(parser, &drawing.rows, &frames, head.unwrap_or(0));
        }
    }
    by_lines(parser, lines)
}

impl Drawing {
    fn at(&mut self, row: usize, column: usize) -> char {
        self.steps = self.steps.saturating_sub(1);
        self.rows.get(row).and_then(|row| row.get(column)).copied().unwrap_or(' ')
    }

    /// All cells, if they cover the table without gaps.
    fn frames(&mut self) -> Option<Vec<Frame>> {
        let bottom = self.rows.len().checked_sub(1)?;
        let right = self.rows.first()?.len().checked_sub(1)?;
        // For each column the last row that cells cover.
        let mut done = vec![0usize; right];
        let mut corners = BTreeSet::from([(0, 0)]);
        let mut frames = Vec::new();
        while let Some((top, left)) = corners.pop_first() {
            if self.steps == 0 {
                return None;
            }
            if top >= bottom || left >= right || top < done[left] {
                continue;
            }
            let Some(frame) = self.frame(top, left) else { continue };
            if done[left..frame.right].iter().any(|&row| row != top) {
                return None;
            }
            done[left..frame.right].fill(frame.bottom);
            corners.insert((top, frame.right));
            corners.insert((frame.bottom, left));
            frames.push(frame);
        }
        (done.iter().all(|&row| row == bottom) && !frames.is_empty()).then_some(frames)
    }

    /// The smallest closed cell with this upper left corner.
    fn frame(&mut self, top: usize, left: usize) -> Option<Frame> {
        if self.at(top, left) != '+' {
            return None;
        }
        let mut right = left + 1;
        while self.steps > 0 {
            match self.at(top, right) {
                '+' => {
                    if let Some(bottom) = self.bottom(top, left, right) {
                        return Some(Frame { top, left, bottom, right });
                    }
                }
                '-' => {}
                _ => return None,
            }
            right += 1;
        }
        None
    }

    /// The row that closes a cell whose upper edge is known.
    fn bottom(&mut self, top: usize, left: usize, right: usize) -> Option<usize> {
        let mut bottom = top + 1;
        while self.steps > 0 {
            match self.at(bottom, right) {
                '+' if self.is_closed(top, left, bottom, right) => return Some(bottom),
                '+' | '|' => {}
                _ => return None,
            }
            bottom += 1;
        }
        None
    }

    fn is_closed(&mut self, top: usize, left: usize, bottom: usize, right: usize) -> bool {
        (left + 1..right).rev().all(|column| matches!(self.at(bottom, column), '-' | '+'))
            && self.at(bottom, left) == '+'
            && (top + 1..bottom).rev().all(|row| matches!(self.at(row, left), '|' | '+'))
    }
}

/// Writes the cells row by row.
fn write(parser: &mut Parser<'_>, rows: &[Vec<char>], frames: &[Frame], head: usize) -> Result<()> {
    let tops: BTreeSet<usize> = frames.iter().map(|frame| frame.top).collect();
    let lefts: BTreeSet<usize> = frames.iter().map(|frame| frame.left).collect();
    let (tops, lefts): (Vec<usize>, Vec<usize>) = (tops.into_iter().collect(), lefts.into_iter().collect());
    let between = |all: &[usize], from: usize, to: usize| {
        all.partition_point(|&at| at < to) - all.partition_point(|&at| at < from)
    };
    let mut sorted = frames.to_vec();
    sorted.sort_unstable();
    let mut grid = Grid::default();
    let mut row = None;
    for frame in sorted {
        if row != Some(frame.top) {
            row = Some(frame.top);
            grid.row(frame.top < head, parser.budget);
        }
        let lines: Vec<String> = rows[frame.top + 1..frame.bottom]
            .iter()
            .map(|row| gather(&row[frame.left + 1..frame.right]).trim_end().to_string())
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let words = parser.cell(&lines)?;
        grid.cell(
            false,
            between(&lefts, frame.left, frame.right),
            between(&tops, frame.top, frame.bottom),
            parser.budget,
        );
        grid.push(&words);
        if !words.is_empty() && !is_bold(&lines) {
            grid.plain();
        }
    }
    parser.out.table(grid, parser.budget);
    Ok(())
}

/// A table that is drawn too badly: rows between rules, cells between bars.
fn by_lines(parser: &mut Parser<'_>, lines: &[&str]) -> Result<()> {
    parser.out.skipped("a table", "its lines do not meet; it was read line by line, without spanning cells");
    let mut grid = Grid::default();
    let head = lines.iter().position(|line| line.contains('=') && line.chars().all(|c| matches!(c, '+' | '=' | ' ')));
    let mut cells: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with('+') {
            finish_row(parser, &mut grid, &mut cells, head.is_some_and(|head| at <= head))?;
            // Words between the pieces of a rule belong to cells that span it.
            if line.chars().all(|c| matches!(c, '+' | '-' | '=' | ' ')) {
                continue;
            }
        }
        for (n, part) in line.trim_matches(['|', '+']).split('|').enumerate() {
            if cells.len() <= n {
                cells.resize(n + 1, String::new());
            }
            cells[n].push_str(part.trim());
            cells[n].push('\n');
        }
    }
    finish_row(parser, &mut grid, &mut cells, false)?;
    parser.out.table(grid, parser.budget);
    Ok(())
}

fn finish_row(parser: &mut Parser<'_>, grid: &mut Grid, cells: &mut Vec<String>, is_head: bool) -> Result<()> {
    if cells.iter().any(|cell| !cell.trim().is_empty()) {
        grid.row(is_head, parser.budget);
        for cell in cells.iter() {
            let words = parser.cell(&cell.lines().collect::<Vec<_>>())?;
            grid.cell(false, 1, 1, parser.budget);
            grid.push(&words);
            grid.plain();
        }
    }
    cells.clear();
    Ok(())
}

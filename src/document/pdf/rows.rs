//! The lines of a region, and the tables among them that have no borders.

use super::columns::{Item, median};
use super::grids::Grid;
use super::segments::Segment;
use super::tables::{Cell, Field, Table};
use crate::document::budget::Budget;

/// A line with its parts, or a table in place of one.
#[derive(Debug, Clone)]
pub(super) enum Row {
    Line(Line),
    Table(Table),
}

/// Segments on one baseline.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) cells: Vec<Segment>,
    pub(super) base: f64,
    pub(super) size: f64,
    pub(super) is_bold: bool,
}

impl Line {
    fn new(mut cells: Vec<Segment>) -> Self {
        cells.sort_by(|a, b| a.x0.total_cmp(&b.x0));
        let longest = cells.iter().max_by_key(|cell| cell.characters);
        let (base, size) = longest.map_or((0.0, 10.0), |cell| (cell.base, cell.size));
        let bold: usize = cells.iter().filter(|cell| cell.is_bold).map(|cell| cell.characters).sum();
        let all: usize = cells.iter().map(|cell| cell.characters).sum();
        Self { base, size, is_bold: bold * 2 > all, cells }
    }

    pub(super) fn x0(&self) -> f64 {
        self.cells.first().map_or(0.0, |cell| cell.x0)
    }

    pub(super) fn x1(&self) -> f64 {
        self.cells.iter().map(|cell| cell.x1).fold(f64::MIN, f64::max)
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for cell in &self.cells {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(cell.text.trim());
        }
        out
    }

    /// A table of contents has dots between a title and its page.
    pub(super) fn has_leader(&self) -> bool {
        self.cells.iter().any(|cell| {
            let mut run = 0;
            cell.text.chars().any(|c| {
                match c {
                    '.' | '…' | '·' | '．' | '⋯' | '_' => run += if c == '…' || c == '⋯' { 2 } else { 1 },
                    ' ' => {}
                    _ => run = 0,
                }
                run >= 4
            })
        })
    }
}

/// Lines from the top down, with tables in their places.
pub(super) fn rows(items: Vec<Item>, budget: &mut Budget) -> Vec<Row> {
    let mut out: Vec<(f64, Row)> = Vec::new();
    let mut open: Vec<Segment> = Vec::new();
    let mut texts: Vec<Segment> = Vec::new();
    for item in items {
        match item {
            Item::Text(segment) => texts.push(segment),
            Item::Grid(Grid { y0, table, .. }) => out.push((y0, Row::Table(table))),
        }
    }
    texts.sort_by(|a, b| a.base.total_cmp(&b.base));
    for segment in texts {
        let is_next = open.first().is_some_and(|first| {
            let overlap = open.iter().any(|other| other.x0 < segment.x1 - 0.5 && segment.x0 < other.x1 - 0.5);
            segment.base - first.base > 0.45 * first.size.min(segment.size) || overlap
        });
        if is_next {
            let line = Line::new(std::mem::take(&mut open));
            out.push((line.base, Row::Line(line)));
        }
        open.push(segment);
    }
    if !open.is_empty() {
        let line = Line::new(open);
        out.push((line.base, Row::Line(line)));
    }
    out.sort_by(|a, b| a.0.total_cmp(&b.0));
    with_tables(out.into_iter().map(|(_, row)| row).collect(), budget)
}

/// Replaces lines whose parts are aligned in columns by tables.
fn with_tables(rows: Vec<Row>, budget: &mut Budget) -> Vec<Row> {
    let mut out = Vec::new();
    let mut run: Vec<Line> = Vec::new();
    for row in rows {
        match row {
            Row::Line(line) if continues(&run, &line) => run.push(line),
            Row::Line(line) => {
                flush(&mut run, &mut out, budget);
                if starts_table(&line) {
                    run.push(line);
                } else {
                    out.push(Row::Line(line));
                }
            }
            table => {
                flush(&mut run, &mut out, budget);
                out.push(table);
            }
        }
    }
    flush(&mut run, &mut out, budget);
    out
}

fn starts_table(line: &Line) -> bool {
    line.cells.len() >= 2 && !line.has_leader()
}

/// Columns as the parts of several lines leave them: `[left, right]`, ascending.
fn columns_of<'l>(lines: impl Iterator<Item = &'l Line>) -> Vec<[f64; 2]> {
    let mut cells: Vec<[f64; 2]> = lines.flat_map(|line| line.cells.iter().map(|cell| [cell.x0, cell.x1])).collect();
    cells.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let mut out: Vec<[f64; 2]> = Vec::new();
    for [x0, x1] in cells {
        match out.last_mut() {
            Some(last) if x0 < last[1] + 3.0 => last[1] = last[1].max(x1),
            _ => out.push([x0, x1]),
        }
    }
    out
}

/// True when a line goes on with the table that `run` may become.
fn continues(run: &[Line], line: &Line) -> bool {
    let Some(last) = run.last() else { return false };
    let distance = line.base - last.base;
    if line.has_leader() || distance > 3.2 * last.size || run.len() > 2000 {
        return false;
    }
    let columns = columns_of(run.iter().rev().take(40));
    if line.cells.len() >= 2 {
        return columns_of(run.iter().rev().take(40).chain([line])).len() >= columns.len().max(2);
    }
    // A cell that goes on in the next line, in any column but the first.
    let within = |cell: &Segment, [x0, x1]: [f64; 2]| cell.x0 >= x0 - 2.0 && cell.x1 <= x1 + 2.0;
    run.len() >= 2
        && distance < 1.9 * last.size
        && line.cells.first().is_some_and(|cell| columns.iter().skip(1).any(|&column| within(cell, column)))
}

/// Makes a table of `run` if it is one for sure, else keeps its lines.
fn flush(run: &mut Vec<Line>, out: &mut Vec<Row>, budget: &mut Budget) {
    let lines = std::mem::take(run);
    match table(&lines, budget) {
        Some(table) => out.push(Row::Table(table)),
        None => out.extend(lines.into_iter().map(Row::Line)),
    }
}

fn table(lines: &[Line], budget: &mut Budget) -> Option<Table> {
    const FEWEST_ROWS: usize = 3;
    /// Longer cells, on average, are running text.
    const LONGEST: usize = 28;
    let columns = columns_of(lines.iter());
    let width = columns.len();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut bold: Vec<bool> = Vec::new();
    let (mut filled, mut characters) = (0, 0);
    let leading = median(lines.windows(2).filter_map(|pair| Some(pair.last()?.base - pair.first()?.base)));
    let mut last_base = f64::MIN;
    // For each column, how much room the last cell in it left on its right.
    let mut ends = vec![f64::MAX; width];
    let is_wrapped = |line: &Line, ends: &[f64]| {
        let at = columns.iter().position(|[x0, x1]| line.x0() >= x0 - 0.1 && line.x1() <= x1 + 0.1);
        at.and_then(|at| ends.get(at)).is_some_and(|&room| room < 2.5 * line.size)
    };
    for line in lines {
        let mut row = vec![String::new(); width];
        for cell in &line.cells {
            let at = columns.iter().position(|[x0, x1]| cell.x0 >= x0 - 0.1 && cell.x1 <= x1 + 0.1)?;
            let slot = row.get_mut(at)?;
            if !slot.is_empty() {
                slot.push(' ');
            }
            slot.push_str(cell.text.trim());
            filled += 1;
            characters += cell.characters;
        }
        let distance = line.base - last_base;
        if line.cells.len() == 1 && (distance < 0.85 * leading || distance < 1.2 * leading && is_wrapped(line, &ends)) {
            let above = rows.last_mut()?;
            for (above, more) in above.iter_mut().zip(row).filter(|(_, more)| !more.is_empty()) {
                if !above.is_empty() {
                    above.push('\n');
                }
                above.push_str(&more);
            }
        } else {
            rows.push(row);
            bold.push(line.cells.iter().all(|cell| cell.is_bold));
        }
        last_base = line.base;
        for cell in &line.cells {
            let at = columns.iter().position(|[_, x1]| cell.x1 <= x1 + 0.1)?;
            if let Some(room) = ends.get_mut(at) {
                *room = columns.get(at)?[1] - cell.x1;
            }
        }
    }
    let cells = rows.len() * width;
    let used = rows.iter().flatten().filter(|cell| !cell.is_empty()).count();
    let is_list = rows.iter().filter(|row| row.first().is_some_and(|cell| is_marker(cell))).count() * 2 > rows.len();
    let is_table = width >= 2
        && rows.len() >= FEWEST_ROWS + usize::from(width == 2)
        && used * 10 >= cells * 6
        && characters <= LONGEST * filled
        && !(is_list && width == 2);
    if !is_table {
        return None;
    }
    let field = |cell: usize| Field { cell, is_first: true };
    let fields: Vec<Vec<Field>> =
        (0..rows.len()).map(|row| (0..width).map(|column| field(row * width + column)).collect()).collect();
    let cells =
        rows.into_iter().zip(bold).flat_map(|(row, is_bold)| row.into_iter().map(move |text| Cell { text, is_bold }));
    let edges = columns.iter().map(|[left, _]| *left).collect();
    Some(Table::new(&fields, &cells.collect::<Vec<_>>(), edges, budget))
}

/// True for what marks a list item and says nothing else.
pub(super) fn is_marker(text: &str) -> bool {
    let text = text.trim();
    let inner = text.trim_matches(|c: char| "()（）.．、:：".contains(c));
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => is_bullet(only) || ('①'..='⓿').contains(&only),
        _ => {
            text.len() > inner.len()
                && inner.chars().count() <= 3
                && (inner.chars().all(|c| c.is_ascii_digit()) || inner.chars().count() == 1)
                && !inner.is_empty()
        }
    }
}

pub(super) fn is_bullet(c: char) -> bool {
    "•●○▪■□◆◇➢✓–-—−*·▶►❖⬧◻❍".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(text: &str, x0: f64, base: f64) -> Item {
        let characters = text.chars().count();
        let x1 = x0 + 5.0 * characters as f64;
        Item::Text(Segment { text: text.into(), x0, x1, base, size: 10.0, is_bold: false, characters })
    }

    #[test]
    fn aligned_cells_are_a_table_and_their_second_lines_belong_to_them() {
        let mut items = vec![segment("Faults", 50.0, 50.0)];
        for n in 0..3 {
            let y = 100.0 + 30.0 * f64::from(n);
            items.push(segment(&format!("E0{n}"), 50.0, y));
            items.push(segment("overheating of", 150.0, y));
            items.push(segment("stop", 350.0, y));
        }
        items.push(segment("the motor", 150.0, 172.0));
        let rows = rows(items, &mut Budget::default());
        let table = rows.iter().find_map(|row| match row {
            Row::Table(table) => Some(table.rows.clone()),
            Row::Line(_) => None,
        });
        assert_eq!(rows.len(), 2);
        assert_eq!(
            table.and_then(|table| table.last().cloned()),
            Some(["E02", "overheating of\nthe motor", "stop"].map(String::from).to_vec())
        );
    }

    #[test]
    fn a_table_of_contents_and_a_list_are_no_tables() {
        let mut items = Vec::new();
        for n in 0..5 {
            let y = 100.0 + 15.0 * f64::from(n);
            items.push(segment("1.", 50.0, y));
            items.push(segment("Switch the power off", 75.0, y));
        }
        for n in 0..5 {
            let y = 200.0 + 15.0 * f64::from(n);
            items.push(segment("1 Scope ......", 50.0, y));
            items.push(segment("7", 350.0, y));
        }
        assert!(rows(items, &mut Budget::default()).iter().all(|row| matches!(row, Row::Line(_))));
    }

    #[test]
    fn markers_are_told_from_words() {
        assert!(["•", "1.", "（1）", "a)", "①", "12、"].iter().all(|m| is_marker(m)));
        assert!(["E01", "12", "", "第一章", "abc)"].iter().all(|m| !is_marker(m)));
    }
}

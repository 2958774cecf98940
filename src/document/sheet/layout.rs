//! From the cells of a sheet to tables and paragraphs.
//!
//! Empty rows part a sheet into blocks. In a block, rows over the header are titles, and the first row whose cells are all
//! filled with short words is the header. Merged cells say their value in every place that they cover.

use std::collections::HashSet;

use crate::document::budget::Budget;
use crate::document::notation::Notation;
use crate::document::tabular;
use crate::error::Result;

/// Rows at the top of a block among which the header is looked for.
const HEAD: usize = 12;
/// Rows that are written at a time.
const BATCH: usize = 1000;

/// The shown texts of a sheet's cells.
#[derive(Debug, Default)]
pub(super) struct Cells {
    cells: Vec<Cell>,
    text: String,
    merges: Vec<Merge>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    row: u32,
    column: u32,
    from: usize,
    to: usize,
    /// The cell has the value itself; others repeat that of the merged cell that covers them.
    own: bool,
}

/// A merged range, all ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merge {
    pub(super) top: u32,
    pub(super) left: u32,
    pub(super) bottom: u32,
    pub(super) right: u32,
}

impl Cells {
    /// What the cell shows; white space alone is nothing.
    pub(super) fn put(&mut self, row: u32, column: u32, text: &str, budget: &mut Budget) -> Result<()> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        budget.spend((text.len() + size_of::<Cell>()) as u64)?;
        let from = self.text.len();
        // A line end in a cell is there on purpose: it must not glue two words together.
        for (n, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
            if n > 0 {
                self.text.push(' ');
            }
            self.text.push_str(line.trim());
        }
        self.cells.push(Cell { row, column, from, to: self.text.len(), own: true });
        Ok(())
    }

    pub(super) fn merge(&mut self, merge: Merge, budget: &mut Budget) -> Result<()> {
        let is_range = merge.top <= merge.bottom && merge.left <= merge.right;
        if is_range && (merge.top, merge.left) != (merge.bottom, merge.right) {
            budget.spend(size_of::<Merge>() as u64)?;
            self.merges.push(merge);
        }
        Ok(())
    }

    fn sort(&mut self) {
        let place = |cell: &Cell| (cell.row, cell.column);
        if !self.cells.is_sorted_by_key(place) {
            self.cells.sort_by_key(place);
        }
    }

    /// Repeats the values of merged cells in the rows that have values of their own.
    fn spread(&mut self, budget: &mut Budget) -> Result<()> {
        /// Memory that a repeated value takes while all is sorted.
        const COST: u64 = 64;
        self.merges.sort_by_key(|merge| (merge.top, merge.left));
        let mut rows: Vec<u32> = self.cells.iter().map(|cell| cell.row).collect();
        rows.dedup();
        let widest = self.cells.iter().map(|cell| cell.column).max().unwrap_or(0);
        let own = self.cells.len();
        for merge in self.merges.clone() {
            let at = (merge.top, merge.left);
            let found = self.cells.get(..own).and_then(|own| {
                own.binary_search_by_key(&at, |cell| (cell.row, cell.column)).ok().and_then(|at| own.get(at))
            });
            let Some(&value) = found else { continue };
            let from = rows.partition_point(|&row| row < merge.top);
            for &row in rows.iter().skip(from).take_while(|&&row| row <= merge.bottom) {
                let columns = merge.left..=merge.right.min(widest);
                let places = columns.clone().count();
                budget.spend(COST.saturating_mul(places as u64))?;
                if !budget.repeat(places, places.saturating_mul(value.to - value.from)) {
                    break;
                }
                for column in columns.filter(|&column| (row, column) != at) {
                    self.cells.push(Cell { row, column, own: false, ..value });
                }
            }
        }
        if self.cells.len() > own {
            // Of a value of its own and one that covers it, only the latter is shown.
            self.cells.sort_by_key(|cell| (cell.row, cell.column, cell.own));
            self.cells.dedup_by_key(|cell| (cell.row, cell.column));
        }
        Ok(())
    }

    /// Writes the sheet.
    ///
    /// # Errors
    /// The budget is spent.
    pub(super) fn write(mut self, notation: &mut Notation, budget: &mut Budget) -> Result<()> {
        self.sort();
        self.spread(budget)?;
        let rows: Vec<&[Cell]> = self.cells.chunk_by(|a, b| a.row == b.row).collect();
        let mut merges = self.merges.iter().peekable();
        let (mut from, mut reach) = (0, 0);
        for (at, row) in rows.iter().enumerate() {
            let number = row.first().map_or(0, |cell| cell.row);
            while let Some(merge) = merges.next_if(|merge| merge.top <= number) {
                reach = merge.bottom.max(reach);
            }
            let next = rows.get(at + 1).and_then(|next| next.first()).map(|cell| cell.row);
            if next.is_none_or(|next| next > number.max(reach).saturating_add(1)) {
                self.block(rows.get(from..=at).unwrap_or_default(), notation, budget)?;
                from = at + 1;
            }
        }
        Ok(())
    }

    fn text_of(&self, cell: &Cell) -> &str {
        self.text.get(cell.from..cell.to).unwrap_or_default()
    }

    /// A row in the columns that the block uses.
    fn strings(&self, row: &[Cell], columns: &[u32]) -> Vec<String> {
        let mut cells = row.iter().peekable();
        columns
            .iter()
            .map(|&column| {
                while cells.next_if(|cell| cell.column < column).is_some() {}
                cells
                    .next_if(|cell| cell.column == column)
                    .map(|cell| self.text_of(cell).to_string())
                    .unwrap_or_default()
            })
            .collect()
    }

    /// The columns with values of their own.
    fn columns(rows: &[&[Cell]]) -> Vec<u32> {
        let own = rows.iter().flat_map(|row| row.iter()).filter(|cell| cell.own);
        let mut columns: Vec<u32> = own.map(|cell| cell.column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Writes rows without an empty one among them. Tables below each other are parted by a title over the whole width.
    fn block(&self, rows: &[&[Cell]], notation: &mut Notation, budget: &mut Budget) -> Result<()> {
        let columns = Self::columns(rows);
        let mut from = 0;
        for at in 1..rows.len() {
            if self.is_title(rows[at], &columns) && self.begins_table(&rows[at..], &columns) {
                self.table(&rows[from..at], notation, budget)?;
                from = at;
            }
        }
        self.table(&rows[from..], notation, budget)
    }

    fn table(&self, rows: &[&[Cell]], notation: &mut Notation, budget: &mut Budget) -> Result<()> {
        let columns = Self::columns(rows);
        let cells: usize = rows.iter().map(|row| row.len()).sum();
        // Values strewn over a wide sheet make no table; one would be made of empty cells.
        let is_strewn = columns.len() > 64 && cells.saturating_mul(50) < rows.len().saturating_mul(columns.len());
        if columns.len() == 1 || rows.len() == 1 || is_strewn {
            for row in rows {
                notation.paragraph(&self.line(row));
            }
            return Ok(());
        }
        budget.spend((rows.len() * columns.len()) as u64)?;
        let (titles, header) = self.header(rows, &columns);
        let mut above = HashSet::new();
        for row in rows.iter().take(titles) {
            // What a merged cell says over several rows is said once.
            let new: Vec<Cell> = row.iter().filter(|cell| !above.contains(&cell.from)).copied().collect();
            notation.paragraph(&self.line(&new));
            above.extend(new.iter().map(|cell| cell.from));
        }
        let head: Vec<Vec<String>> =
            rows.iter().skip(titles).take(header).map(|row| self.strings(row, &columns)).collect();
        let mut batch = Vec::new();
        if header > 0 {
            batch.push(tabular::joined_header(&head));
        }
        let mut is_first = true;
        for row in rows.iter().skip(titles + header) {
            let mut cells = self.strings(row, &columns);
            // A cell over the whole width is a title among the rows.
            if self.is_title(row, &columns) {
                cells.truncate(1);
            }
            batch.push(cells);
            if batch.len() >= BATCH {
                flush(&mut batch, &mut is_first, header > 0, notation);
                budget.check()?;
            }
        }
        flush(&mut batch, &mut is_first, header > 0, notation);
        Ok(())
    }

    /// Whether one cell covers the whole width.
    fn is_title(&self, row: &[Cell], columns: &[u32]) -> bool {
        let first = row.first().map(|cell| cell.from);
        row.len() >= columns.len() && row.iter().all(|cell| Some(cell.from) == first)
    }

    /// Whether words for columns follow the title that `rows` begin with.
    fn begins_table(&self, rows: &[&[Cell]], columns: &[u32]) -> bool {
        let Some(head) = rows.get(1).map(|row| self.strings(row, columns)) else { return false };
        let below: Vec<Vec<String>> = rows.iter().skip(2).take(8).map(|row| self.strings(row, columns)).collect();
        head.iter().any(|cell| tabular::names(cell)) && tabular::is_header(&head, &below, false)
    }

    /// The different values of a row, one after the other.
    fn line(&self, row: &[Cell]) -> String {
        let mut out = String::new();
        let mut last = None;
        for cell in row {
            if last != Some(cell.from) {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(self.text_of(cell));
            }
            last = Some(cell.from);
        }
        out
    }

    /// How many rows at the top are titles, and how many after them name the columns.
    fn header(&self, rows: &[&[Cell]], columns: &[u32]) -> (usize, usize) {
        let width = columns.len();
        let mut above = HashSet::new();
        for (at, row) in rows.iter().enumerate().take(HEAD.min(rows.len().saturating_sub(1))) {
            // A cell that reaches down beside the header names nothing.
            let names =
                row.iter().filter(|cell| !above.contains(&cell.from) && columns.binary_search(&cell.column).is_ok());
            let filled: Vec<String> = names.map(|cell| self.text_of(cell).to_string()).collect();
            above.extend(row.iter().map(|cell| cell.from));
            let mut values: Vec<usize> = row.iter().map(|cell| cell.from).collect();
            values.sort_unstable();
            values.dedup();
            let below: Vec<Vec<String>> =
                rows.iter().skip(at + 1).take(8).map(|row| self.strings(row, columns)).collect();
            let figures_below = || {
                (0..width).any(|column| {
                    let mut texts =
                        below.iter().filter_map(|row| row.get(column)).filter(|text| !text.is_empty()).peekable();
                    texts.peek().is_some() && texts.all(|text| tabular::is_number(text))
                })
            };
            // Columns without a name are common: notes to the right, an unnamed first column.
            let height = self.height(row, rows.len() - at);
            // Four columns may be a form; names over names are told by their merged cells.
            let stands_out = height > 1 || (width != 4 && (width > 2 || figures_below()));
            if values.len() > 1 && filled.len() * 10 >= width * 7 && tabular::is_header(&filled, &below, stands_out) {
                return (at, height);
            }
            if values.len() > 1 && values.len() * 2 > width {
                return (0, 0);
            }
        }
        // No header; a single merged or lone cell at the top is a title all the same.
        let is_title = |row: &&&[Cell]| row.iter().all(|cell| row.first().is_some_and(|first| first.from == cell.from));
        (rows.iter().take_while(is_title).count().min(HEAD).min(rows.len().saturating_sub(1)), 0)
    }

    /// Rows that the header takes: as many as its tallest merged cell if another one spans columns.
    fn height(&self, row: &[Cell], rows: usize) -> usize {
        let number = row.first().map_or(0, |cell| cell.row);
        let from = self.merges.partition_point(|merge| merge.top < number);
        let here: Vec<&Merge> = self.merges.iter().skip(from).take_while(|merge| merge.top == number).collect();
        let spans = here.iter().any(|merge| merge.right > merge.left && merge.bottom == merge.top);
        let tallest = here.iter().map(|merge| (merge.bottom - merge.top) as usize + 1).max().unwrap_or(1);
        if spans && tallest <= 4 && tallest < rows { tallest } else { 1 }
    }
}

fn flush(batch: &mut Vec<Vec<String>>, is_first: &mut bool, header: bool, notation: &mut Notation) {
    if *is_first {
        notation.table(batch, header);
    } else {
        notation.more_rows(batch);
    }
    *is_first = false;
    batch.clear();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn written(rows: &[(u32, &[&str])], merges: &[(u32, u32, u32, u32)]) -> String {
        let mut cells = Cells::default();
        let budget = &mut Budget::default();
        for (row, texts) in rows {
            for (column, text) in texts.iter().enumerate() {
                cells.put(*row, column as u32, text, budget).unwrap();
            }
        }
        for &(top, left, bottom, right) in merges {
            cells.merge(Merge { top, left, bottom, right }, budget).unwrap();
        }
        let mut notation = Notation::new();
        cells.write(&mut notation, budget).unwrap();
        notation.finish().text
    }

    #[test]
    fn titles_stand_over_the_header_and_empty_rows_part_tables() {
        let rows: &[(u32, &[&str])] =
            &[(0, &["参数表"]), (1, &["轴", "速度", "备注"]), (2, &["X", "5", ""]), (5, &["说明：\n仅供参考"])];
        let expected = "参数表\n\n| 轴 | 速度 | 备注 |\n| --- | --- | --- |\n| X | 5 | |\n\n说明： 仅供参考\n";
        assert_eq!(written(rows, &[(0, 0, 0, 2)]), expected);
    }

    #[test]
    fn merged_values_are_repeated_where_rows_have_values() {
        let rows: &[(u32, &[&str])] = &[
            (0, &["轴", "速度", "", "备注"]),
            (1, &["", "最小", "最大", ""]),
            (2, &["X", "1", "5", "a"]),
            (3, &["", "2", "6", "b"]),
            (4, &["备件"]),
            (5, &["Y", "3", "7", "c"]),
        ];
        let merges = [(0, 0, 1, 0), (0, 1, 0, 2), (0, 3, 1, 3), (2, 0, 3, 0), (4, 0, 4, 3)];
        let expected = "| 轴 | 速度 最小 | 速度 最大 | 备注 |\n| --- | --- | --- | --- |\n| X | 1 | 5 | a |\n| X | 2 | 6 | b |\n| 备件 |\n| Y | 3 | 7 | c |\n";
        assert_eq!(written(rows, &merges), expected);
    }

    #[test]
    fn a_title_over_the_whole_width_begins_the_next_table_and_forms_have_no_header() {
        let rows: &[(u32, &[&str])] = &[
            (0, &["姓名", "张三", "性别", "男"]),
            (1, &["部门", "维修部", "电话", "8001"]),
            (2, &["故障"]),
            (3, &["代码", "含义", "措施", "级别"]),
            (4, &["T1", "过热", "停机", "高"]),
            (5, &["压力类"]),
            (6, &["P1", "过压", "泄压", "低"]),
        ];
        let expected = "| 姓名 | 张三 | 性别 | 男 |\n| 部门 | 维修部 | 电话 | 8001 |\n\n故障\n\n| 代码 | 含义 | 措施 | 级别 |\n| --- | --- | --- | --- |\n| T1 | 过热 | 停机 | 高 |\n| 压力类 |\n| P1 | 过压 | 泄压 | 低 |\n";
        assert_eq!(written(rows, &[(2, 0, 2, 3), (5, 0, 5, 3)]), expected);
    }

    #[test]
    fn far_cells_and_endless_merges_cost_little() {
        let mut cells = Cells::default();
        let budget = &mut Budget::default();
        cells.put(0, 0, "a", budget).unwrap();
        cells.put(1_048_575, 16_383, "b", budget).unwrap();
        cells.merge(Merge { top: 0, left: 0, bottom: u32::MAX, right: u32::MAX }, budget).unwrap();
        let mut notation = Notation::new();
        cells.write(&mut notation, budget).unwrap();
        // The merged cell hides what lies under it.
        assert_eq!(notation.finish().text, "a\n\na\n");
    }

    #[test]
    fn long_merged_values_are_repeated_within_bounds() {
        let mut cells = Cells::default();
        let budget = &mut Budget::default();
        let long = "x".repeat(100_000);
        for row in 0..1000 {
            cells.put(row, 0, if row == 0 { &long } else { "" }, budget).unwrap();
            cells.put(row, 16_383, "y", budget).unwrap();
        }
        cells.merge(Merge { top: 0, left: 0, bottom: 999, right: 16_000 }, budget).unwrap();
        let mut notation = Notation::new();
        cells.write(&mut notation, budget).unwrap();
        assert!(budget.is_cut() && notation.len() < 64 << 20);
        assert_eq!(notation.finish().text.matches('y').count(), 1000);
    }

    #[test]
    fn two_columns_of_words_and_figures_have_a_header() {
        assert!(written(&[(0, &["轴", "行程"]), (1, &["X", "5"])], &[]).contains("---"));
        assert!(!written(&[(0, &["型号", "BX"]), (1, &["厂家", "某厂"])], &[]).contains("---"));
    }
}

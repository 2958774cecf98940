//! A table with cells that span columns and rows, on its way to rows of words.
//!
//! A spanning cell stands in every place that it covers, so that each row says by itself what it is about. A cell over the
//! whole width is a title among the rows and stands once. Rows of headings become one, because a pipe table has one, and
//! further ones begin another table. What repetition may add to a file is bounded by its [`Budget`].

use super::budget::Budget;
use super::tabular;

/// Columns that one cell may span.
const WIDEST: usize = 100;
/// More rows of headings than this are no names of columns.
const MOST: usize = 4;

/// Which cell stands in which place of a table.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Numbers of cells, by row and column; `None` where no cell lies.
    pub(crate) rows: Vec<Vec<Option<usize>>>,
    /// How many cells there are.
    cells: usize,
    /// For each column the cell that reaches down into the next rows, and how many.
    reaching: Vec<Option<(usize, usize)>>,
    /// The next free column.
    column: usize,
    /// Whether repetition was cut short.
    cut: bool,
}

impl Layout {
    /// Begins a row.
    pub(crate) fn row(&mut self, budget: &mut Budget) {
        self.end_row(budget);
        self.rows.push(Vec::new());
        self.column = 0;
    }

    /// Fills the columns that cells of earlier rows reach into, behind the last cell of the row.
    pub(crate) fn end_row(&mut self, budget: &mut Budget) {
        if !self.rows.is_empty() {
            while self.column < self.reaching.len() {
                self.skip_reached(budget);
                self.column += 1;
            }
        }
    }

    /// Moves to the next column that no earlier row reaches into.
    fn skip_reached(&mut self, budget: &mut Budget) {
        while let Some(slot) = self.reaching.get_mut(self.column)
            && let Some((cell, left)) = slot
        {
            let cell = *cell;
            *left -= 1;
            if *left == 0 {
                *slot = None;
            }
            self.set(cell);
            self.column += 1;
            self.repeat(budget);
        }
    }

    /// Counts a place filled by repetition; too many end all spans.
    fn repeat(&mut self, budget: &mut Budget) {
        if !budget.repeat(1, 0) {
            self.reaching.clear();
            self.cut = true;
        }
    }

    fn set(&mut self, cell: usize) {
        let column = self.column;
        if let Some(row) = self.rows.last_mut() {
            if row.len() <= column {
                row.resize(column + 1, None);
            }
            row[column] = Some(cell);
        }
    }

    /// Places the next cell in the open row. A `down` of 0 reaches to the end of the table.
    pub(crate) fn cell(&mut self, across: usize, down: usize, budget: &mut Budget) {
        self.skip_reached(budget);
        let cell = self.cells;
        self.cells += 1;
        for n in 0..across.clamp(1, WIDEST) {
            if n > 0 {
                self.repeat(budget);
                if self.cut {
                    break;
                }
            }
            self.set(cell);
            let down = if down == 0 { usize::MAX } else { down };
            if down > 1 && !self.cut {
                if self.reaching.len() <= self.column {
                    self.reaching.resize(self.column + 1, None);
                }
                self.reaching[self.column] = Some((cell, down - 1));
            }
            self.column += 1;
        }
    }

    /// Ends the group of rows: no cell reaches out of it.
    pub(crate) fn end_group(&mut self, budget: &mut Budget) {
        self.end_row(budget);
        self.reaching.clear();
        self.column = usize::MAX;
    }

    /// Whether a row takes cells.
    fn is_open(&self) -> bool {
        !self.rows.is_empty() && self.column != usize::MAX
    }
}

#[derive(Debug, Default)]
struct Cell {
    text: String,
    is_heading: bool,
    /// Words that are not in bold face.
    has_plain: bool,
}

/// Rows of words. A row of one cell in a wider table is a title among its rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Vec<String>>,
    /// The first row names the columns.
    pub(crate) has_header: bool,
}

/// The cell that covers all of a row of several columns.
fn title(row: &[Option<usize>]) -> Option<usize> {
    let first = row.first().copied().flatten()?;
    (row.len() > 1 && row.iter().all(|cell| *cell == Some(first))).then_some(first)
}

/// A table whose first `heads` rows name its columns.
fn table(mut rows: Vec<Vec<String>>, heads: usize) -> Table {
    if heads > 1 {
        let heads = heads.min(rows.len());
        let merged = tabular::joined_header(&rows[..heads]);
        rows.splice(..heads, [merged]);
    }
    Table { rows, has_header: heads > 0 }
}

/// Collects a table cell by cell.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    cells: Vec<Cell>,
    layout: Layout,
    /// True for rows in the head of the table.
    heads: Vec<bool>,
    /// Whether a cell is open.
    pub(crate) in_cell: bool,
}

impl Grid {
    /// Begins a row.
    pub(crate) fn row(&mut self, is_head: bool, budget: &mut Budget) {
        self.layout.row(budget);
        self.heads.push(is_head);
        self.in_cell = false;
    }

    /// Begins a cell. A `down` of 0 reaches to the end of the table.
    pub(crate) fn cell(&mut self, is_heading: bool, across: usize, down: usize, budget: &mut Budget) {
        if !self.layout.is_open() {
            self.row(false, budget);
        }
        self.layout.cell(across, down, budget);
        self.cells.push(Cell { is_heading, ..Cell::default() });
        self.in_cell = true;
    }

    /// Ends the group of rows: no cell reaches out of it.
    pub(crate) fn end_group(&mut self, budget: &mut Budget) {
        self.layout.end_group(budget);
        self.in_cell = false;
    }

    /// Adds a block of words to the open cell.
    pub(crate) fn push(&mut self, text: &str) {
        if let Some(cell) = self.cells.last_mut().filter(|_| !text.trim().is_empty()) {
            if !cell.text.is_empty() {
                cell.text.push(' ');
            }
            cell.text.push_str(text.trim());
        }
    }

    /// Notes that words of the open cell are not in bold face.
    pub(crate) fn plain(&mut self) {
        if let Some(cell) = self.cells.last_mut() {
            cell.has_plain = true;
        }
    }

    /// The tables, and whether repetition was cut short.
    pub(crate) fn finish(mut self, budget: &mut Budget) -> (Vec<Table>, bool) {
        self.layout.end_row(budget);
        let heads = self.head_rows();
        let mut used = vec![false; self.cells.len()];
        let mut cut = self.layout.cut;
        let width = self.layout.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut rows: Vec<Vec<String>> = Vec::with_capacity(self.layout.rows.len());
        for (number, row) in self.layout.rows.iter().enumerate() {
            if number >= heads
                && row.len() == width
                && let Some(title) = title(row)
                && !std::mem::replace(&mut used[title], true)
            {
                rows.push(vec![self.cells[title].text.clone()]);
                continue;
            }
            let mut words = Vec::with_capacity(row.len());
            for cell in row {
                let Some(cell) = *cell else {
                    words.push(String::new());
                    continue;
                };
                if std::mem::replace(&mut used[cell], true) && !budget.repeat(0, self.cells[cell].text.len()) {
                    // The place stays, so that what follows keeps its column.
                    cut = true;
                    words.push(String::new());
                    continue;
                }
                words.push(self.cells[cell].text.clone());
            }
            rows.push(words);
        }
        let mut tables = Vec::new();
        for (start, heads) in self.later_heads(heads).into_iter().rev() {
            tables.push(table(rows.split_off(start), heads));
        }
        tables.push(table(rows, heads));
        tables.reverse();
        (tables, cut)
    }

    /// Whether a row has words, and `test` holds for each of its cells that has some.
    fn all(&self, row: &[Option<usize>], test: &dyn Fn(&Cell) -> bool) -> bool {
        row.iter().flatten().any(|&cell| !self.cells[cell].text.is_empty())
            && row.iter().flatten().all(|&cell| self.cells[cell].text.is_empty() || test(&self.cells[cell]))
    }

    /// Rows of heading cells below other rows, where rows follow them: where they start and how many they are.
    fn later_heads(&self, heads: usize) -> Vec<(usize, usize)> {
        let is_head = |row: &Vec<Option<usize>>| title(row).is_none() && self.all(row, &|cell| cell.is_heading);
        let mut found = Vec::new();
        let mut at = heads.max(1);
        while let Some(row) = self.layout.rows.get(at) {
            let run = self.layout.rows[at..].iter().take_while(|row| is_head(row)).count();
            let names = row.len() > 1 && !is_head(&self.layout.rows[at - 1]);
            if names && (1..=MOST).contains(&run) && at + run < self.layout.rows.len() {
                found.push((at, run));
            }
            at += run.max(1);
        }
        found
    }

    /// How many of the first rows name the columns: those in the head of the table, else those made of heading cells only,
    /// else a first row in bold face over rows that are not.
    fn head_rows(&self) -> usize {
        let marked = self.heads.iter().take_while(|&&is_head| is_head).count();
        if marked > 0 && marked < self.layout.rows.len() {
            return marked.min(MOST);
        }
        // A title below the names of the columns is none of them.
        let mut named = false;
        let is_head = |row: &&Vec<Option<usize>>| {
            let is_title = title(row).is_some();
            let ends = named && is_title;
            named |= !is_title;
            !ends && self.all(row, &|cell| cell.is_heading)
        };
        let headings = self.layout.rows.iter().take_while(is_head).count();
        if headings > 0 {
            return if headings < self.layout.rows.len() { headings.min(MOST) } else { 1 };
        }
        let is_bold = |row: &&Vec<Option<usize>>| self.all(row, &|cell| !cell.has_plain);
        let wide = self.layout.rows.first().is_some_and(|row| row.len() > 1);
        usize::from(
            wide && self.layout.rows.first().as_ref().is_some_and(is_bold)
                && self.layout.rows.get(1).is_some_and(|row| !is_bold(&row)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A heading for `*`.
    fn filled(cells: &[(usize, &str, usize, usize)]) -> (Vec<Table>, bool) {
        let budget = &mut Budget::default();
        let mut grid = Grid::default();
        let mut last = usize::MAX;
        for &(row, text, across, down) in cells {
            if row != last {
                grid.row(false, budget);
                last = row;
            }
            grid.cell(text.starts_with('*'), across, down, budget);
            grid.push(text.trim_start_matches('*'));
            grid.plain();
        }
        grid.finish(budget)
    }

    #[test]
    fn spanning_cells_stand_in_every_place_they_cover() {
        let (tables, _) = filled(&[(0, "a", 2, 1), (0, "b", 1, 3), (1, "c", 1, 2), (1, "d", 1, 1), (2, "e", 1, 1)]);
        assert_eq!(tables[0].rows, [["a", "a", "b"], ["c", "d", "b"], ["c", "e", "b"]]);
        assert!(!tables[0].has_header && tables.len() == 1);
    }

    #[test]
    fn titles_among_rows_stand_once_and_later_headings_begin_a_table() {
        let (tables, _) = filled(&[
            (0, "*码", 1, 1),
            (0, "*含义", 1, 1),
            (1, "*输入回路", 2, 1),
            (2, "E1", 1, 1),
            (2, "过热", 1, 1),
            (3, "*型号", 1, 1),
            (3, "*电流", 1, 1),
            (4, "X5", 1, 1),
            (4, "3 A", 1, 1),
            (5, "*合计", 1, 1),
            (5, "*3 A", 1, 1),
        ]);
        let rows = |at: usize| tables[at].rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>();
        assert_eq!(rows(0), ["码 含义", "输入回路", "E1 过热"]);
        assert_eq!(rows(1), ["型号 电流", "X5 3 A", "合计 3 A"]);
        assert!(tables.len() == 2 && tables.iter().all(|table| table.has_header));
        assert_eq!(tables[0].rows[1].len(), 1);
    }

    #[test]
    fn rows_of_headings_become_one() {
        let (tables, _) = filled(&[
            (0, "*型号", 1, 2),
            (0, "*电流", 2, 1),
            (1, "*min", 1, 1),
            (1, "*max", 1, 1),
            (2, "A", 1, 1),
            (2, "1", 1, 1),
            (2, "2", 1, 1),
        ]);
        assert_eq!(tables[0].rows, [["型号", "电流 min", "电流 max"], ["A", "1", "2"]]);
        assert!(tables[0].has_header);
    }

    #[test]
    fn repetition_is_bounded() {
        let text = "x".repeat(1 << 16);
        let row = |row| [(row, text.as_str(), 99, 60_000), (row, text.as_str(), 1, 60_000)];
        let cells: Vec<_> = (0..100).flat_map(row).collect();
        let (tables, cut) = filled(&cells);
        assert!(cut && tables[0].rows.iter().flatten().map(String::len).sum::<usize>() < 32 << 20);
    }

    #[test]
    fn cells_behind_one_that_is_not_repeated_keep_their_column() {
        let text = "x".repeat(20 << 20);
        let (tables, cut) = filled(&[(0, &text, 1, 2), (0, "a", 1, 1), (1, "b", 1, 1), (2, "c", 1, 1)]);
        assert!(cut && tables[0].rows.get(1).is_some_and(|row| row == &["", "b"]));
    }

    #[test]
    fn a_cell_behind_a_group_begins_a_row() {
        let budget = &mut Budget::default();
        let mut grid = Grid::default();
        grid.cell(false, 1, 1, budget);
        grid.push("a");
        grid.end_group(budget);
        grid.cell(false, 1, 1, budget);
        grid.push("b");
        assert_eq!(grid.finish(budget).0[0].rows, [["a"], ["b"]]);
    }
}

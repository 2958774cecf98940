//! A table with cells that span columns and rows, on its way to rows of words.
//!
//! A spanning cell stands in every place that it covers, so that each row says by itself what it is about. Rows of headings
//! become one, because a pipe table has one. What repetition may add to a file is bounded by its [`Budget`].

use super::budget::Budget;

/// Columns that one cell may span.
const WIDEST: usize = 100;

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

    /// The rows, whether the first one names the columns, and whether repetition was cut short.
    pub(crate) fn finish(mut self, budget: &mut Budget) -> (Vec<Vec<String>>, bool, bool) {
        self.layout.end_row(budget);
        let heads = self.head_rows();
        let mut used = vec![false; self.cells.len()];
        let mut cut = self.layout.cut;
        let mut rows: Vec<Vec<String>> = Vec::with_capacity(self.layout.rows.len());
        for row in &self.layout.rows {
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
        if heads > 1 {
            let width = rows[..heads].iter().map(Vec::len).max().unwrap_or(0);
            let merged = (0..width).map(|column| {
                let mut names: Vec<&str> = Vec::new();
                for name in rows[..heads].iter().filter_map(|row| row.get(column)).map(|name| name.trim()) {
                    if !name.is_empty() && !names.contains(&name) {
                        names.push(name);
                    }
                }
                names.join(" ")
            });
            let merged = merged.collect();
            rows.splice(..heads, [merged]);
        }
        (rows, heads > 0, cut)
    }

    /// How many of the first rows name the columns: those in the head of the table, else those made of heading cells only,
    /// else a first row in bold face over rows that are not.
    fn head_rows(&self) -> usize {
        /// More rows of headings than this are no names of columns.
        const MOST: usize = 4;
        let marked = self.heads.iter().take_while(|&&is_head| is_head).count();
        if marked > 0 && marked < self.layout.rows.len() {
            return marked.min(MOST);
        }
        let all = |row: &[Option<usize>], test: &dyn Fn(&Cell) -> bool| {
            row.iter().flatten().any(|&cell| !self.cells[cell].text.is_empty())
                && row.iter().flatten().all(|&cell| self.cells[cell].text.is_empty() || test(&self.cells[cell]))
        };
        let headings = self.layout.rows.iter().take_while(|row| all(row, &|cell| cell.is_heading)).count();
        if headings > 0 {
            return if headings < self.layout.rows.len() { headings.min(MOST) } else { 1 };
        }
        let is_bold = |row: &&Vec<Option<usize>>| all(row, &|cell| !cell.has_plain);
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

    fn filled(cells: &[(usize, &str, usize, usize)]) -> (Vec<Vec<String>>, bool, bool) {
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
        let (rows, header, _) =
            filled(&[(0, "a", 2, 1), (0, "b", 1, 3), (1, "c", 1, 2), (1, "d", 1, 1), (2, "e", 1, 1)]);
        assert_eq!(rows, [["a", "a", "b"], ["c", "d", "b"], ["c", "e", "b"]]);
        assert!(!header);
    }

    #[test]
    fn rows_of_headings_become_one() {
        let (rows, header, _) = filled(&[
            (0, "*型号", 1, 2),
            (0, "*电流", 2, 1),
            (1, "*min", 1, 1),
            (1, "*max", 1, 1),
            (2, "A", 1, 1),
            (2, "1", 1, 1),
            (2, "2", 1, 1),
        ]);
        assert_eq!(rows, [["型号", "电流 min", "电流 max"], ["A", "1", "2"]]);
        assert!(header);
    }

    #[test]
    fn repetition_is_bounded() {
        let text = "x".repeat(1 << 16);
        let cells: Vec<_> = (0..100).map(|row| (row, text.as_str(), 100, 60_000)).collect();
        let (rows, _, cut) = filled(&cells);
        assert!(cut && rows.iter().flatten().map(String::len).sum::<usize>() < 32 << 20);
    }

    #[test]
    fn cells_behind_one_that_is_not_repeated_keep_their_column() {
        let text = "x".repeat(20 << 20);
        let (rows, _, cut) = filled(&[(0, &text, 1, 2), (0, "a", 1, 1), (1, "b", 1, 1), (2, "c", 1, 1)]);
        assert!(cut && rows.get(1).is_some_and(|row| row == &["", "b"]));
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
        assert_eq!(grid.finish(budget).0, [["a"], ["b"]]);
    }
}

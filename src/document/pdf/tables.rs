//! What a table of a page says: its titles, its rows, and whether the first row names the columns.
//!
//! As in every other format a merged cell stands in each place that it covers, and one over the whole width is a title. Nothing in
//! a PDF marks a header, so the first row is one only where it reads like one ([`tabular::is_header`]). On the next page a table
//! goes on without it: there the first row is data, unless it is the header again.

use super::paragraphs::Block;
use crate::document::budget::Budget;
use crate::document::tabular;

/// Places of columns that are nearer than this, in points, are the same.
const NEAR: f64 = 4.0;

/// A table with its words.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Table {
    /// What stands in cells over the whole width, above the header.
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The first row names the columns.
    pub(super) has_header: bool,
    /// Goes on from the page before, and whether nothing stands between.
    pub(super) continues: bool,
    pub(super) joins: bool,
    /// The first row is in bold face, others are not.
    stands_out: bool,
    /// Where its columns begin.
    edges: Vec<f64>,
}

/// A field of a table: the cell that covers it, by its number, and whether this row is the one that the cell begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) cell: usize,
    pub(super) is_first: bool,
}

/// The words of a cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) is_bold: bool,
}

impl Table {
    /// Lays out `rows` of fields, all of one width. `edges` are the left sides of the columns.
    pub(super) fn new(rows: &[Vec<Field>], cells: &[Cell], edges: Vec<f64>, budget: &mut Budget) -> Self {
        let text = |field: &Field| cells.get(field.cell).map_or("", |cell| cell.text.as_str());
        let has_words = |field: &&Field| !text(field).trim().is_empty();
        let areas = areas(rows, cells.len());
        // A row that only cells from above reach into is a double line.
        let rows: Vec<&Vec<Field>> =
            rows.iter().filter(|row| row.iter().any(|field| field.is_first && has_words(&field))).collect();
        let is_title = |row: &[Field]| {
            row.len() > 1
                && row.iter().all(|field| field.is_first && *field == row[0])
                && areas.get(row[0].cell).is_some_and(|area| area.fields == row.len())
        };
        let titles = rows.iter().take_while(|row| is_title(row)).count();
        let titles = if titles < rows.len() { titles } else { 0 };
        let mut out = Self {
            titles: rows[..titles].iter().map(|row| text(&row[0]).to_owned()).collect(),
            edges,
            ..Self::default()
        };
        let rows = &rows[titles..];
        let mut used = vec![false; cells.len()];
        let mut words = |field: &Field| {
            let again = used.get_mut(field.cell).is_some_and(|used| std::mem::replace(used, true));
            let text = text(field);
            // What no rectangle encloses is no merged cell but a drawing.
            let is_whole = areas.get(field.cell).is_some_and(Area::is_rectangle);
            if again && (!is_whole || !budget.repeat(1, text.len())) { String::new() } else { text.to_owned() }
        };
        for row in rows {
            out.rows.push(if is_title(row) { vec![words(&row[0])] } else { row.iter().map(&mut words).collect() });
        }
        let is_bold = |row: &[Field]| {
            let mut filled = row.iter().filter(has_words).peekable();
            filled.peek().is_some() && filled.all(|field| cells.get(field.cell).is_some_and(|cell| cell.is_bold))
        };
        let height = tabular::header_height(rows.iter().map(|row| row.iter().map(|field| Some(field.cell)).collect()));
        if height < rows.len() {
            let names = tabular::joined_header(&out.rows[..height]);
            // Nothing stands over the names of the rows.
            let named = if names.len() > 2 && names[0].is_empty() { &names[1..] } else { &names[..] };
            out.stands_out = is_bold(rows[0]) && !is_bold(rows[height]);
            let skipped = names.len() - named.len();
            let below: Vec<Vec<String>> =
                out.rows[height..].iter().map(|row| row.get(skipped..).unwrap_or_default().to_vec()).collect();
            // Names over names are told by their merged cells.
            if tabular::is_header(named, &below, out.stands_out || height > 1) {
                out.rows.splice(..height, [names]);
                out.has_header = true;
            }
        }
        out
    }

    /// Whether its columns lie where those of `other` do.
    fn is_like(&self, other: &Self) -> bool {
        self.edges.len() == other.edges.len() && self.edges.iter().zip(&other.edges).all(|(a, b)| (a - b).abs() < NEAR)
    }
}

/// The fields that a cell covers, and the rectangle around them: top, left, bottom, right.
#[derive(Debug, Clone, Copy, Default)]
struct Area {
    fields: usize,
    around: [usize; 4],
}

impl Area {
    fn is_rectangle(&self) -> bool {
        let [top, left, bottom, right] = self.around;
        self.fields > 0 && self.fields == (bottom - top + 1) * (right - left + 1)
    }
}

fn areas(rows: &[Vec<Field>], cells: usize) -> Vec<Area> {
    let mut areas = vec![Area::default(); cells];
    for (y, row) in rows.iter().enumerate() {
        for (x, field) in row.iter().enumerate() {
            let Some(area) = areas.get_mut(field.cell) else { continue };
            let [top, left, bottom, right] = if area.fields > 0 { area.around } else { [y, x, y, x] };
            area.around = [top, left.min(x), bottom.max(y), right.max(x)];
            area.fields += 1;
        }
    }
    areas
}

/// Finds the tables that go on from the page before: the last one there, with the same columns. Next to nothing may stand
/// between them.
pub(super) fn join_pages(pages: &mut [Vec<Block>]) {
    /// Blocks between the two: what pages have in their margins.
    const BETWEEN: usize = 2;
    let mut header: Option<Vec<String>> = None;
    for at in 1..pages.len() {
        let (before, after) = pages.split_at_mut(at);
        let is_table = |block: Option<&Block>| block.and_then(table).is_some();
        let is_adjacent = is_table(before[at - 1].last()) && is_table(after[0].first());
        let last = before[at - 1].iter().rev().take(BETWEEN + 1).find_map(table);
        let next = after[0].iter_mut().take(BETWEEN + 1).find_map(|block| match block {
            Block::Table(table) => Some(table),
            Block::Text(_) => None,
        });
        let (Some(last), Some(next)) = (last, next) else { continue };
        if last.has_header || !last.continues {
            header = last.rows.first().filter(|_| last.has_header).cloned();
        }
        let is_again = header.is_some() && next.rows.first() == header.as_ref();
        if !next.titles.is_empty() || !next.is_like(last) || (next.stands_out && !is_again) {
            continue;
        }
        (next.has_header, next.continues) = (is_again, true);
        next.joins = is_adjacent && !is_again;
    }
}

fn table(block: &Block) -> Option<&Table> {
    match block {
        Block::Table(table) => Some(table),
        Block::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table from rows of cells; `^` goes on from above, `<` from the left, `*` is bold.
    fn laid(rows: &[&[&str]]) -> Table {
        let mut cells: Vec<Cell> = Vec::new();
        let mut fields: Vec<Vec<Field>> = Vec::new();
        for row in rows {
            let mut line: Vec<Field> = Vec::new();
            for text in *row {
                let field = match *text {
                    "^" => Field { is_first: false, ..fields[fields.len() - 1][line.len()] },
                    "<" => line[line.len() - 1],
                    text => {
                        let is_bold = text.starts_with('*');
                        cells.push(Cell { text: text.trim_start_matches('*').to_owned(), is_bold });
                        Field { cell: cells.len() - 1, is_first: true }
                    }
                };
                line.push(field);
            }
            fields.push(line);
        }
        let edges = (0..rows[0].len()).map(|at| at as f64 * 100.0).collect();
        Table::new(&fields, &cells, edges, &mut Budget::default())
    }

    fn lines(table: &Table) -> Vec<String> {
        table.rows.iter().map(|row| row.join(" ")).collect()
    }

    #[test]
    fn merged_cells_are_told_of_each_row_and_titles_stand_once() {
        let table = laid(&[
            &["表 1", "<", "<"],
            &["代码", "电流", "<"],
            &["^", "min", "max"],
            &["E1", "1", "2"],
            &["^", "3", "4"],
            &["输入回路", "<", "<"],
            &["E2", "5", "<"],
        ]);
        assert_eq!(lines(&table), ["代码 电流 min 电流 max", "E1 1 2", "E1 3 4", "输入回路", "E2 5 5"]);
        assert!(table.has_header && table.titles == ["表 1"] && table.rows[3].len() == 1);
    }

    #[test]
    fn what_no_rectangle_encloses_is_not_repeated() {
        let table = laid(&[&["a", "b", "c"], &["PT1", "<", "P"], &["^", "x", "y"]]);
        assert_eq!(lines(&table), ["a b c", "PT1  P", " x y"]);
    }

    #[test]
    fn entries_are_no_header() {
        assert!(!laid(&[&["型号", "BX-5"], &["厂家", "某厂"]]).has_header);
        assert!(laid(&[&["*型号", "*厂家"], &["BX-5", "某厂"]]).has_header);
        assert!(laid(&[&["", "*低速", "*高速"], &["X", "1", "2"]]).has_header);
        assert!(!laid(&[&["1", "速度", "a"], &["2", "压力", "b"]]).has_header);
    }

    #[test]
    fn on_the_next_page_the_first_row_is_data_unless_it_is_the_header_again() {
        let head = ["代码", "含义", "措施"];
        let pages = [
            laid(&[&head, &["E1", "过热", "停机"]]),
            laid(&[&["E2", "过流", "检查"], &["E3", "欠压", "检查"]]),
            laid(&[&head, &["E4", "过压", "检查"]]),
            laid(&[&["E5", "过压"], &["E6", "过压"]]),
            laid(&[&["*型号", "*厂家"], &["BX-5", "某厂"]]),
        ];
        let mut pages: Vec<Vec<Block>> = pages.into_iter().map(|page| vec![Block::Table(page)]).collect();
        join_pages(&mut pages);
        let found: Vec<(bool, bool)> =
            pages.iter().flatten().filter_map(table).map(|table| (table.has_header, table.continues)).collect();
        assert_eq!(found, [(true, false), (false, true), (true, true), (false, false), (true, false)]);
    }
}

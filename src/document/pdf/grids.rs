//! Tables with ruled borders: the cells are what the lines enclose.

use super::rules::{Rule, is_drawing};
use super::segments::{Piece, Segment, segments};
use super::tables::{Cell, Field, Table};
use crate::document::budget::Budget;

/// A table on a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    pub(super) x0: f64,
    pub(super) x1: f64,
    pub(super) y0: f64,
    pub(super) y1: f64,
    pub(super) table: Table,
}

/// Lines that are nearer than this are one line.
const NEAR: f64 = 3.0;
/// A table has no more rows or columns than this.
const MOST: usize = 400;

/// Takes the tables that `rules` draw out of `pieces`.
pub(super) fn take_grids(rules: &[Rule], pieces: &mut Vec<Piece>, budget: &mut Budget) -> Vec<Grid> {
    if is_drawing(rules) {
        return Vec::new();
    }
    let mut grids = Vec::new();
    for group in connected(&merged(rules)) {
        let Some(outline) = Outline::new(&group) else { continue };
        if let Some(grid) = outline.fill(pieces, budget) {
            grids.push(grid);
        }
    }
    grids
}

/// Joins lines that continue or double each other.
fn merged(rules: &[Rule]) -> Vec<Rule> {
    let mut sorted = rules.to_vec();
    sorted.sort_by(|a, b| {
        let key = |r: &Rule| (r.is_horizontal, (r.at / NEAR).round() as i64);
        key(a).cmp(&key(b)).then(a.from.total_cmp(&b.from))
    });
    let mut out: Vec<Rule> = Vec::new();
    for rule in sorted {
        match out.last_mut() {
            Some(last)
                if last.is_horizontal == rule.is_horizontal
                    && (last.at - rule.at).abs() < NEAR
                    && rule.from <= last.to + NEAR =>
            {
                last.to = last.to.max(rule.to);
            }
            _ => out.push(rule),
        }
    }
    out
}

/// Groups lines that touch each other.
fn connected(rules: &[Rule]) -> Vec<Vec<Rule>> {
    let mut group: Vec<usize> = (0..rules.len()).collect();
    fn root(group: &mut [usize], mut at: usize) -> usize {
        while group[at] != at {
            group[at] = group[group[at]];
            at = group[at];
        }
        at
    }
    // Linear enough: a page has at most a few thousand lines, and only crossing kinds are compared.
    let (horizontal, vertical): (Vec<usize>, Vec<usize>) =
        (0..rules.len()).partition(|&n| rules.get(n).is_some_and(|rule| rule.is_horizontal));
    for &h in &horizontal {
        for &v in &vertical {
            let (a, b) = (rules[h], rules[v]);
            let touches = |value: f64, rule: Rule| value >= rule.from - NEAR && value <= rule.to + NEAR;
            if touches(b.at, a) && touches(a.at, b) {
                let (a, b) = (root(&mut group, h), root(&mut group, v));
                group[a] = b;
            }
        }
    }
    let mut out: Vec<(usize, Vec<Rule>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (n, rule) in rules.iter().enumerate() {
        let key = root(&mut group, n);
        let place = *places.entry(key).or_insert_with(|| {
            out.push((key, Vec::new()));
            out.len() - 1
        });
        out[place].1.push(*rule);
    }
    out.into_iter().map(|(_, rules)| rules).collect()
}

/// The lines of one table.
struct Outline {
    xs: Vec<f64>,
    ys: Vec<f64>,
    horizontal: Vec<Rule>,
    vertical: Vec<Rule>,
}

impl Outline {
    /// `None` for what encloses fewer than two rows or columns.
    fn new(rules: &[Rule]) -> Option<Self> {
        let (horizontal, vertical): (Vec<Rule>, Vec<Rule>) = rules.iter().copied().partition(|rule| rule.is_horizontal);
        let mut xs = positions(&vertical);
        let mut ys = positions(&horizontal);
        extend(&mut xs, &horizontal);
        extend(&mut ys, &vertical);
        let is_table = (3..=MOST).contains(&xs.len()) && (3..=MOST).contains(&ys.len());
        is_table.then_some(Self { xs, ys, horizontal, vertical })
    }

    /// Puts the characters inside into cells; leaves them where the lines enclose no table.
    fn fill(&self, pieces: &mut Vec<Piece>, budget: &mut Budget) -> Option<Grid> {
        let (columns, rows) = (self.xs.len() - 1, self.ys.len() - 1);
        let cell_of = self.joined_cells();
        let mut cells: Vec<Vec<Piece>> = vec![Vec::new(); columns * rows];
        let place = |piece: &Piece| {
            let column = interval(&self.xs, (piece.x0 + piece.x1) / 2.0)?;
            let row = interval(&self.ys, piece.base - piece.size * 0.3)?;
            cell_of.get(row * columns + column).copied()
        };
        let mut inside = 0;
        for piece in pieces.iter() {
            if let Some(cell) = place(piece).and_then(|at| cells.get_mut(at)) {
                cell.push(piece.clone());
                inside += 1;
            }
        }
        if has_layout_inside(&cells, inside) {
            return None;
        }
        let is_bold = |pieces: &Vec<Piece>| pieces.iter().all(|piece| piece.is_bold || piece.text.trim().is_empty());
        let bold: Vec<bool> = cells.iter().map(is_bold).collect();
        let texts: Vec<String> = cells.into_iter().map(cell_text).collect();
        if inside == 0 || !is_table(&texts, &cell_of, columns) || cuts_words(pieces, place, inside) {
            return None;
        }
        pieces.retain(|piece| place(piece).is_none());
        // Double lines leave columns without any text.
        let begins =
            |at: usize| cell_of.get(at) == Some(&at) && texts.get(at).is_some_and(|text| !text.trim().is_empty());
        let kept: Vec<usize> =
            (0..columns).filter(|column| (0..rows).any(|row| begins(row * columns + column))).collect();
        let field = |row: usize, column: usize| {
            let cell = cell_of[row * columns + column];
            Field { cell, is_first: cell / columns == row }
        };
        let fields: Vec<Vec<Field>> =
            (0..rows).map(|row| kept.iter().map(|&column| field(row, column)).collect()).collect();
        let cells: Vec<Cell> = texts.into_iter().zip(bold).map(|(text, is_bold)| Cell { text, is_bold }).collect();
        let edges = kept.iter().map(|&column| self.xs[column]).collect();
        Some(Grid {
            x0: *self.xs.first()?,
            x1: *self.xs.last()?,
            y0: *self.ys.first()?,
            y1: *self.ys.last()?,
            table: Table::new(&fields, &cells, edges, budget),
        })
    }

    /// For each field of the grid, the first field that no line parts it from.
    fn joined_cells(&self) -> Vec<usize> {
        let (columns, rows) = (self.xs.len() - 1, self.ys.len() - 1);
        let middle = |at: &[f64], n: usize| (at[n] + at[n + 1]) / 2.0;
        let covers = |rules: &[Rule], at: f64, point: f64| {
            rules.iter().any(|r| (r.at - at).abs() <= NEAR && r.from - 1.0 <= point && point <= r.to + 1.0)
        };
        let mut cell_of: Vec<usize> = (0..columns * rows).collect();
        for row in 0..rows {
            for column in 0..columns {
                let at = row * columns + column;
                let y = middle(&self.ys, row);
                let x = middle(&self.xs, column);
                // Left neighbours were joined before, so one step to the left or up is enough for rectangles.
                if column > 0 && !covers(&self.vertical, self.xs[column], y) {
                    cell_of[at] = cell_of[at - 1];
                } else if row > 0 && !covers(&self.horizontal, self.ys[row], x) {
                    cell_of[at] = cell_of[at - columns];
                }
            }
        }
        cell_of
    }
}

/// The distinct places of lines, ascending.
fn positions(rules: &[Rule]) -> Vec<f64> {
    let mut at: Vec<f64> = rules.iter().map(|rule| rule.at).collect();
    at.sort_by(f64::total_cmp);
    at.dedup_by(|next, kept| *next - *kept < NEAR);
    at
}

/// Tables may be open at their sides: then the crossing lines tell where they end.
fn extend(at: &mut Vec<f64>, crossing: &[Rule]) {
    const SIDE: f64 = 8.0;
    let low = crossing.iter().map(|rule| rule.from).fold(f64::MAX, f64::min);
    let high = crossing.iter().map(|rule| rule.to).fold(f64::MIN, f64::max);
    if at.first().is_some_and(|&first| low < first - SIDE) {
        at.insert(0, low);
    }
    if at.last().is_some_and(|&last| high > last + SIDE) {
        at.push(high);
    }
}

fn interval(bounds: &[f64], value: f64) -> Option<usize> {
    let after = bounds.partition_point(|&bound| bound <= value);
    (after > 0 && after < bounds.len()).then(|| after - 1)
}

/// Boxes of a drawing cut through words; the borders of a table do not.
fn cuts_words(pieces: &[Piece], place: impl Fn(&Piece) -> Option<usize>, inside: usize) -> bool {
    let cuts = pieces.windows(2).filter(|pair| {
        let &[left, right] = pair else { return false };
        let are_one_word = (left.base - right.base).abs() < 0.1 * left.size
            && (right.x0 - left.x1).abs() < 0.1 * left.size
            && left.text.chars().chain(right.text.chars()).all(|c| c.is_ascii_alphanumeric() || c == '_');
        are_one_word && place(left) != place(right)
    });
    cuts.count() > inside / 200
}

/// True when much of the text lies in cells that have columns inside: then the lines are frames around parts of the page.
fn has_layout_inside(cells: &[Vec<Piece>], inside: usize) -> bool {
    let mut loose = 0;
    for cell in cells.iter().filter(|cell| cell.len() > 12) {
        let parts = segments(cell.clone());
        let mut lines: Vec<f64> = parts.iter().map(|part| part.base).collect();
        lines.sort_by(f64::total_cmp);
        let beside =
            lines.windows(2).filter(|pair| pair.last() <= pair.first().map(|base| base + 2.0).as_ref()).count();
        if beside >= 2 {
            loose += cell.len();
        }
    }
    loose * 3 > inside
}

fn cell_text(pieces: Vec<Piece>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut base = f64::MIN;
    for Segment { text, base: at, size, .. } in segments(pieces) {
        match lines.last_mut() {
            Some(line) if (at - base).abs() < 0.5 * size => {
                line.push(' ');
                line.push_str(&text);
            }
            _ => lines.push(text),
        }
        base = at;
    }
    lines.join("\n")
}

/// A frame around text, or lines of a drawing, are no table: most cells must hold words, in two columns at least.
fn is_table(texts: &[String], cell_of: &[usize], columns: usize) -> bool {
    let cells: Vec<usize> = (0..texts.len()).filter(|&n| cell_of.get(n) == Some(&n)).collect();
    let filled: Vec<usize> =
        cells.iter().copied().filter(|&n| texts.get(n).is_some_and(|text| !text.trim().is_empty())).collect();
    let used = |of: &dyn Fn(usize) -> usize| {
        let mut all: Vec<usize> = filled.iter().map(|&n| of(n)).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    // What lines cut into many more fields than cells is a drawing.
    cells.len() >= 4
        && cells.len() * 10 >= texts.len() * 3
        && filled.len() >= 3
        && filled.len() * 3 >= cells.len()
        && used(&|n| n % columns) >= 2
        && used(&|n| n / columns) >= 2
}

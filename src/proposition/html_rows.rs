//! The rows of HTML tables inside Markdown, and which cell stands in which column.

use crate::document::grid::Layout;
use crate::document::markup::{Tag, decoded, tag_at, words};
use crate::document::{Budget, Span};
use crate::proposition::table::Cell;

/// Places of a table that are filled by repetition; more are no table that a person reads.
const REPEATED: usize = 20_000;

/// A row that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) span: Span,
    pub(super) cells: Vec<Spanning>,
    /// Nothing but `<th>`, or a row of `<thead>`.
    pub(super) is_header: bool,
    /// Every cell with words is in bold face.
    pub(super) is_bold: bool,
    /// A row that was cut for its length, or has words beside its cells: its cells are not known.
    pub(super) is_cut: bool,
}

/// A cell with the columns and rows that it reaches over.
#[derive(Debug)]
pub(super) struct Spanning {
    pub(super) cell: Cell,
    pub(super) across: usize,
    down: usize,
}

/// What stands in a column of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The row that the cell is written in.
    pub(super) row: usize,
    /// Its number there.
    pub(super) cell: usize,
}

/// The columns of a row.
#[derive(Debug)]
pub(super) struct Columns {
    /// `None` where no cell lies.
    pub(super) places: Vec<Option<Place>>,
    /// False where a row before is not known: a cell of it may reach into this one.
    pub(super) is_certain: bool,
}

pub(super) fn read(row: &str, span: Span) -> Read {
    let mut read = Read { span, cells: Vec::new(), is_header: true, is_bold: true, is_cut: false };
    // Byte and code point of the place that was counted last.
    let (mut byte, mut chars) = (0, span.start);
    let mut point = |to: usize| {
        chars += row[byte..to].chars().count();
        byte = to;
        chars
    };
    let mut add = |tag: &Tag<'_>, to: usize, read: &mut Read| {
        let from = tag.end;
        let raw = &row[from..to];
        let lead = from + raw.len() - raw.trim_start().len();
        let span = Span::new(point(lead), point((lead + raw.trim().len()).max(lead)));
        let cell = Cell { span, text: decoded(&words(raw)) };
        read.is_header &= tag.is(&["th"]);
        read.is_bold &= cell.text.is_empty() || is_bold(raw);
        read.cells.push(Spanning { cell, across: reach(tag, "colspan"), down: reach(tag, "rowspan") });
    };
    let mut open: Option<Tag<'_>> = None;
    // Words beside the cells: what they belong to is not known, so the row stays as it is.
    let (mut is_stray, mut last) = (false, 0);
    let mut at = 0;
    while let Some(gap) = row[at..].find('<') {
        let start = at + gap;
        if row[start..].starts_with("<!--") {
            at = row[start..].find("-->").map_or(row.len(), |length| start + length + 3);
            continue;
        }
        at = start + 1;
        let Some(tag) = tag_at(row, start) else { continue };
        at = tag.end;
        if !tag.is(&["td", "th", "tr"]) {
            continue;
        }
        match open.take() {
            Some(cell) => add(&cell, start, &mut read),
            None => is_stray |= !words(&row[last..start]).trim().is_empty(),
        }
        last = tag.end;
        if !tag.closing && !tag.is(&["tr"]) {
            open = Some(tag);
        }
    }
    match open {
        Some(cell) => add(&cell, row.len(), &mut read),
        None => is_stray |= !words(&row[last..]).trim().is_empty(),
    }
    if is_stray {
        return Read { cells: Vec::new(), is_header: false, is_bold: false, is_cut: true, ..read };
    }
    read
}

/// Rows or columns that a cell reaches over.
fn reach(tag: &Tag<'_>, attribute: &str) -> usize {
    tag.attribute(attribute).and_then(|value| value.trim().parse().ok()).unwrap_or(1)
}

/// Whether all words stand in one `<b>` or `<strong>`.
fn is_bold(cell: &str) -> bool {
    let inside = ["b", "strong"].iter().find_map(|name| {
        let tag = tag_at(cell, cell.find('<')?).filter(|tag| tag.opens(name))?;
        let end = cell.rfind("</")?;
        let last = tag_at(cell, end).filter(|tag| tag.is(&[name]))?;
        (words(&cell[..tag.start]).trim().is_empty() && words(&cell[last.end..]).trim().is_empty())
            .then(|| &cell[tag.end..end.max(tag.end)])
    });
    inside.is_some_and(|inside| !inside.contains("</b>") && !inside.contains("</strong>"))
}

/// The columns of each row: a spanning cell stands in every place that it covers, so that each row says by itself what it is
/// about. Nothing reaches from the `heads` first rows into the rest. `None` for a table of which too much is repetition.
pub(super) fn columns(rows: &[Read], heads: usize, is_whole: bool) -> Option<Vec<Columns>> {
    let (mut layout, mut budget) = (Layout::default(), Budget::default());
    let mut cells = Vec::new();
    for (row, read) in rows.iter().enumerate() {
        if row == heads {
            layout.end_group(&mut budget);
        }
        layout.row(&mut budget);
        for (cell, spanning) in read.cells.iter().enumerate() {
            layout.cell(spanning.across, spanning.down, &mut budget);
            cells.push(Place { row, cell });
        }
    }
    layout.end_row(&mut budget);
    if layout.rows.iter().map(Vec::len).sum::<usize>() > cells.len() + REPEATED {
        return None;
    }
    let mut is_certain = is_whole;
    let columns = layout.rows.into_iter().zip(rows).map(|(row, read)| {
        let places = row.into_iter().map(|cell| cell.map(|cell| cells[cell])).collect();
        let columns = Columns { places, is_certain };
        is_certain &= !read.is_cut;
        columns
    });
    Some(columns.collect())
}

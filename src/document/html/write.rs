//! From the tree of a page to blocks of text.
//!
//! The tree is walked once, without recursion. Words gather in a [`Line`]; where a block begins or ends, the line is written
//! to where it belongs: the cell of a table, the item of a list, or the page.

use super::line::Line;
use super::mark::Mark;
use super::name::{heading_level, is_block, is_dropped};
use super::number::{self, Style};
use super::select::Selection;
use super::tree::{Id, Tree};
use crate::document::budget::Budget;
use crate::document::grid::Grid;
use crate::document::notation::Notation;
use crate::error::Result;

/// Writes all of `tree` that is selected.
pub(super) fn write(tree: &Tree, selection: &Selection, notation: &mut Notation, budget: &mut Budget) -> Result<()> {
    let mut writer = Writer {
        tree,
        selection,
        notation,
        budget,
        line: Line::default(),
        places: Vec::new(),
        lists: Vec::new(),
        tables: Vec::new(),
        marks: Vec::new(),
        bold: 0,
        description: String::new(),
        pictures: 0,
        frames: 0,
        cut_tables: 0,
    };
    let mut at = Some(0);
    let mut steps = 0usize;
    while let Some(id) = at {
        steps += 1;
        if steps.is_multiple_of(1024) {
            writer.budget.check()?;
        }
        let descend = writer.enter(id);
        at = tree.first(id).filter(|_| descend);
        if at.is_none() {
            if descend {
                writer.leave(id);
            }
            at = writer.next(id);
        }
    }
    writer.flush();
    writer.name_losses();
    Ok(())
}

/// What a block inside this element becomes.
enum Place {
    /// Item of a list; its first block carries the marker.
    Item {
        depth: usize,
        marker: String,
        is_used: bool,
    },
    Heading(u8),
}

struct List {
    id: Id,
    /// Number of the next item and by how much it changes; `None` for bullets.
    counter: Option<(i64, i64)>,
    style: Style,
}

pub(super) struct Writer<'a> {
    pub(super) tree: &'a Tree,
    selection: &'a Selection,
    notation: &'a mut Notation,
    budget: &'a mut Budget,
    pub(super) line: Line,
    places: Vec<(Id, Place)>,
    lists: Vec<List>,
    /// The open tables; `None` for one that only arranges.
    tables: Vec<(Id, Option<Grid>)>,
    pub(super) marks: Vec<Mark>,
    /// Open elements in bold face.
    bold: usize,
    /// The words of the last picture, which its caption may repeat.
    description: String,
    pictures: usize,
    frames: usize,
    cut_tables: usize,
}

impl Writer<'_> {
    /// The node after `id` and all below it; leaves the elements that end in between.
    fn next(&mut self, mut id: Id) -> Option<Id> {
        loop {
            if let Some(next) = self.tree.next(id) {
                return Some(next);
            }
            id = self.tree.parent(id)?;
            self.leave(id);
        }
    }

    /// Begins a node; false if what lies below it is not to be read.
    fn enter(&mut self, id: Id) -> bool {
        let name = self.tree.name(id);
        if name.is_empty() {
            self.words(id);
            return false;
        }
        if name == "iframe" || name == "frame" {
            self.frames += 1;
        }
        // What a browser draws between two words parts them.
        if matches!(name, "select" | "textarea" | "input" | "button") && !self.line.verbatim {
            self.line.gap(false);
        }
        if is_dropped(name) || self.selection.left_out.contains(&id) {
            return false;
        }
        if is_block(name) || self.is_displayed_as_block(id) {
            self.block_edge();
        }
        match name {
            "br" if self.is_one_line() => self.line.gap(false),
            "br" => self.line.break_line(),
            "img" => self.picture(id),
            "b" | "strong" => self.bold += 1,
            "ul" | "ol" | "menu" | "dir" | "dl" => self.enter_list(id, name),
            "li" | "dt" | "dd" => self.enter_item(id, name),
            "pre" | "listing" | "xmp" | "plaintext" => self.line.verbatim = true,
            "table" => self.enter_table(id),
            "tr" => self.enter_row(id),
            "td" | "th" => self.enter_cell(id, name),
            "text" => self.line.gap(false),
            "figure" => self.description.clear(),
            _ => {
                let by_role = || {
                    let level = self.tree.attribute(id, "aria-level").and_then(|level| level.trim().parse().ok());
                    (self.tree.attribute(id, "role") == Some("heading")).then(|| level.unwrap_or(2))
                };
                if let Some(level) = heading_level(name).or_else(by_role) {
                    self.block_edge();
                    self.places.push((id, Place::Heading(level)));
                }
            }
        }
        self.enter_mark(id, name);
        true
    }

    fn leave(&mut self, id: Id) {
        let name = self.tree.name(id);
        match name {
            "b" | "strong" => self.bold = self.bold.saturating_sub(1),
            "pre" | "listing" | "xmp" | "plaintext" => self.leave_code(id),
            "table" => self.leave_table(id),
            "thead" | "tbody" | "tfoot" => {
                if let Some((_, Some(grid))) = self.tables.last_mut() {
                    grid.end_group(self.budget);
                }
            }
            "td" | "th" => self.leave_cell(),
            "button" if !self.line.verbatim => self.line.gap(false),
            "figcaption" => {
                // A caption that only repeats the words of its picture is the same words twice.
                let caption = self.line.take();
                if caption.trim() != self.description || caption.trim().is_empty() {
                    self.line.push(&caption);
                }
            }
            _ => {}
        }
        self.leave_marks(id);
        if is_block(name) || self.is_displayed_as_block(id) || self.places.last().is_some_and(|(at, _)| *at == id) {
            self.block_edge();
        }
        if self.places.last().is_some_and(|(at, _)| *at == id) {
            self.leave_place();
        }
        if self.lists.last().is_some_and(|list| list.id == id) {
            self.lists.pop();
        }
    }

    fn is_displayed_as_block(&self, id: Id) -> bool {
        self.tree.attribute(id, "style").is_some_and(|style| {
            let style = style.to_ascii_lowercase().replace(' ', "");
            style.contains("display:block") || style.contains("display:flex") || style.contains("display:list-item")
        })
    }

    fn words(&mut self, id: Id) {
        let text = self.tree.text(id);
        if self.bold == 0
            && !text.trim().is_empty()
            && let Some((_, Some(grid))) = self.tables.last_mut()
        {
            grid.plain();
        }
        self.line.push(text);
    }

    /// Words that describe a picture. A name of a file describes nothing.
    fn picture(&mut self, id: Id) {
        let of = |key| self.tree.attribute(id, key).map(str::trim).filter(|words| !words.is_empty());
        if self.tree.attribute(id, "alt").is_some_and(|alt| alt.trim().is_empty()) {
            return;
        }
        let is_file = |words: &str| {
            let lower = words.to_ascii_lowercase();
            [".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp"].iter().any(|end| lower.ends_with(end))
                || matches!(lower.as_str(), "image" | "img" | "picture" | "photo" | "图片" | "images")
        };
        match of("alt").or_else(|| of("title")).filter(|words| !is_file(words)) {
            Some(words) => {
                self.line.push(words);
                self.description = crate::document::collapse(words);
            }
            None => self.pictures += 1,
        }
    }

    fn in_heading(&self) -> bool {
        matches!(self.places.last(), Some((_, Place::Heading(_))))
    }

    /// True where a block is written on one line.
    fn is_one_line(&self) -> bool {
        !self.line.verbatim
            && (matches!(self.places.last(), Some((_, Place::Heading(_) | Place::Item { .. }))) || self.in_grid_cell())
    }

    /// True inside a cell of a table of data.
    fn in_grid_cell(&self) -> bool {
        self.tables.iter().any(|(_, grid)| grid.as_ref().is_some_and(|grid| grid.in_cell))
    }

    /// Ends the line where a block begins or ends.
    fn block_edge(&mut self) {
        if self.line.verbatim {
            self.line.end_line();
        } else if self.in_heading() {
            self.line.gap(false);
        } else {
            self.flush();
        }
    }

    /// Writes the line as a block of the place where it stands.
    fn flush(&mut self) {
        let text = self.line.take();
        self.marks.iter_mut().for_each(|mark| mark.at = 0);
        if text.trim().is_empty() {
            return;
        }
        if let Some(grid) = self.tables.iter_mut().rev().find_map(|(_, grid)| grid.as_mut().filter(|grid| grid.in_cell))
        {
            if let Some((_, Place::Item { marker, is_used: false, .. })) = self.places.last() {
                grid.push(marker);
            }
            grid.push(&text.replace('\n', " "));
            self.use_marker();
            return;
        }
        match self.places.last() {
            Some((_, Place::Item { depth, marker, is_used: false })) => self.notation.item(*depth, marker, &text),
            Some((_, Place::Item { depth, .. })) => self.notation.item_paragraph(*depth, &text),
            _ => self.notation.paragraph(&text),
        }
        self.use_marker();
    }

    fn use_marker(&mut self) {
        if let Some((_, Place::Item { is_used, .. })) = self.places.last_mut() {
            *is_used = true;
        }
    }

    /// Takes the marker of the open item, which what comes is to carry.
    fn take_marker(&mut self) -> String {
        match self.places.last_mut() {
            Some((_, Place::Item { marker, is_used, .. })) if !*is_used => {
                *is_used = true;
                std::mem::take(marker)
            }
            _ => String::new(),
        }
    }

    /// Writes the marker of an item whose first block is no paragraph.
    fn write_marker(&mut self) {
        self.flush();
        if let Some((_, Place::Item { depth, is_used: false, .. })) = self.places.last() {
            let depth = *depth;
            let marker = self.take_marker();
            if !self.in_grid_cell() {
                self.notation.item(depth, &marker, "");
            }
        }
    }

    fn enter_list(&mut self, id: Id, name: &str) {
        self.write_marker();
        let css = self.tree.attribute(id, "style");
        let style = number::style(self.tree.attribute(id, "type"), css);
        let number = |key| self.tree.attribute(id, key).and_then(|value| value.trim().parse::<i64>().ok());
        let counter = (name == "ol").then(|| {
            if self.tree.attribute(id, "reversed").is_none() {
                return (number("start").unwrap_or(1), 1);
            }
            let items = || self.tree.children(id).filter(|&child| self.tree.name(child) == "li").count() as i64;
            (number("start").unwrap_or_else(items), -1)
        });
        self.lists.push(List { id, counter, style: style.unwrap_or(Style::Decimal) });
    }

    fn enter_item(&mut self, id: Id, name: &str) {
        let depth = self.lists.len().saturating_sub(1) + usize::from(name == "dd");
        let mut marker = String::new();
        if let Some(list) = self.lists.last_mut().filter(|_| name == "li")
            && let Some((next, step)) = &mut list.counter
        {
            if let Some(value) = self.tree.attribute(id, "value").and_then(|value| value.trim().parse().ok()) {
                *next = value;
            }
            let own = number::style(self.tree.attribute(id, "type"), self.tree.attribute(id, "style"));
            marker = number::marker(*next, own.unwrap_or(list.style));
            *next = next.saturating_add(*step);
        }
        self.places.push((id, Place::Item { depth, marker, is_used: false }));
    }

    fn leave_place(&mut self) {
        match self.places.pop() {
            Some((_, Place::Heading(level))) => {
                let text = self.line.take();
                if self.in_grid_cell() {
                    self.line.push(&text);
                    self.flush();
                } else {
                    let marker = self.take_marker();
                    let text = text.trim();
                    if marker.is_empty() {
                        self.notation.heading(level, text);
                    } else if text.is_empty() {
                        self.notation.paragraph(&marker);
                    } else {
                        self.notation.heading(level, &format!("{marker} {text}"));
                    }
                }
            }
            Some((_, Place::Item { depth, marker, is_used: false })) if !marker.is_empty() && !self.in_grid_cell() => {
                self.notation.item(depth, &marker, "");
            }
            _ => {}
        }
    }

    fn leave_code(&mut self, id: Id) {
        let outer = std::iter::successors(self.tree.parent(id), |&id| self.tree.parent(id))
            .any(|id| matches!(self.tree.name(id), "pre" | "listing"));
        if outer {
            return;
        }
        self.line.verbatim = false;
        let code = self.line.take();
        if is_line_numbers(&code) {
            return;
        }
        if self.in_grid_cell() || self.in_heading() {
            self.line.push(&code);
        } else {
            self.write_marker();
            self.notation.code(code.trim_matches('\n'));
        }
    }

    fn enter_table(&mut self, id: Id) {
        self.write_marker();
        let is_data = !self.selection.arranging.contains(&id);
        self.tables.push((id, is_data.then(Grid::default)));
    }

    fn enter_row(&mut self, id: Id) {
        self.block_edge();
        let in_head = self.tree.parent(id).is_some_and(|parent| self.tree.name(parent) == "thead");
        if let Some((_, Some(grid))) = self.tables.last_mut() {
            grid.row(in_head, self.budget);
        }
    }

    fn enter_cell(&mut self, id: Id, name: &str) {
        self.block_edge();
        let span = |key| self.tree.attribute(id, key).and_then(|value| value.trim().parse::<usize>().ok());
        let (across, down) = (span("colspan").unwrap_or(1), span("rowspan").unwrap_or(1));
        if let Some((_, Some(grid))) = self.tables.last_mut() {
            grid.cell(name == "th", across, down, self.budget);
        }
    }

    fn leave_cell(&mut self) {
        self.block_edge();
        if let Some((_, Some(grid))) = self.tables.last_mut() {
            grid.in_cell = false;
        }
    }

    fn leave_table(&mut self, id: Id) {
        self.block_edge();
        if self.tables.last().is_none_or(|(table, _)| *table != id) {
            return;
        }
        let Some((_, Some(grid))) = self.tables.pop() else { return };
        let (tables, cut) = grid.finish(self.budget);
        self.cut_tables += usize::from(cut);
        if self.in_grid_cell() {
            // A table in a cell of another one: its rows on one line.
            let is_filled = |cell: &&String| !cell.trim().is_empty();
            let join =
                |row: &Vec<String>| row.iter().filter(is_filled).map(String::as_str).collect::<Vec<_>>().join(" ");
            let rows = tables.iter().flat_map(|table| &table.rows);
            let rows: Vec<String> = rows.map(join).filter(|row| !row.is_empty()).collect();
            self.line.push(&rows.join("; "));
            self.flush();
        } else {
            tables.iter().for_each(|table| self.notation.table(&table.rows, table.has_header));
        }
    }

    /// Names what has no words.
    fn name_losses(&mut self) {
        for (count, place, reason) in [
            (self.pictures, "pictures", "without words that describe them"),
            (self.frames, "embedded pages", "not part of the file"),
            (self.cut_tables, "tables", "with cells that span too much; they are not repeated everywhere"),
        ] {
            if count > 0 {
                self.notation.skipped(format!("{count} {place}"), reason);
            }
        }
    }
}

/// A column of ascending numbers beside a listing.
fn is_line_numbers(code: &str) -> bool {
    let mut expected: Option<u64> = None;
    let mut count = 0;
    for line in code.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Ok(number) = line.parse::<u64>() else { return false };
        if expected.is_some_and(|expected| number != expected) {
            return false;
        }
        expected = number.checked_add(1);
        count += 1;
    }
    count > 2
}

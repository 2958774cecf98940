//! Where blocks go: to the text, or to the cell of a table that is being read.

use crate::document::budget::Budget;
use crate::document::grid::Grid;
use crate::document::notation::{Extracted, Notation, one_line};

/// Receives the blocks of a file.
pub(super) struct Out {
    notation: Notation,
    /// The cells that are open, the inner ones last.
    cells: Vec<String>,
    /// The kind of an admonition, until its first paragraph carries it.
    lead: Option<String>,
    /// Write the kinds of admonitions in Chinese.
    is_chinese: bool,
    /// Pictures without words.
    pub(super) pictures: usize,
    has_title: bool,
}

impl Out {
    pub(super) fn new(is_chinese: bool) -> Self {
        Self { notation: Notation::new(), cells: Vec::new(), lead: None, is_chinese, pictures: 0, has_title: false }
    }

    /// Words for the cell, if one is open.
    fn in_cell(&mut self, words: &str) -> bool {
        let Some(cell) = self.cells.last_mut() else { return false };
        let words = one_line(words);
        if !words.is_empty() {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(&words);
        }
        true
    }

    /// The kind of the admonition before a block that is no paragraph.
    fn write_lead(&mut self) {
        if let Some(lead) = self.lead.take()
            && !self.in_cell(&lead)
        {
            self.notation.paragraph(&lead);
        }
    }

    pub(super) fn heading(&mut self, level: u8, text: &str) {
        self.write_lead();
        if !self.in_cell(text) {
            if !self.has_title {
                self.notation.title(text);
                self.has_title = true;
            }
            self.notation.heading(level, text);
        }
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let text = match self.lead.take() {
            Some(lead) => format!("{lead}{text}"),
            None => text.to_string(),
        };
        if !self.in_cell(&text) {
            self.notation.paragraph(&text);
        }
    }

    pub(super) fn item(&mut self, depth: usize, marker: &str, text: &str) {
        self.write_lead();
        if !self.in_cell(&format!("{marker} {text}")) {
            self.notation.item(depth, marker, text);
        }
    }

    pub(super) fn item_paragraph(&mut self, depth: usize, text: &str) {
        if self.lead.is_some() {
            return self.paragraph(text);
        }
        if !self.in_cell(text) {
            self.notation.item_paragraph(depth, text);
        }
    }

    pub(super) fn code(&mut self, text: &str) {
        self.write_lead();
        if !self.in_cell(text) {
            self.notation.code(text);
        }
    }

    /// A table; one in a cell becomes a line. True if repetition was cut short.
    pub(super) fn table(&mut self, grid: Grid, budget: &mut Budget) {
        self.write_lead();
        let (tables, cut) = grid.finish(budget);
        if cut {
            self.skipped("a table", "with cells that span too much; they are not repeated everywhere");
        }
        if self.cells.is_empty() {
            tables.iter().for_each(|table| self.notation.table(&table.rows, table.has_header));
        } else {
            for row in tables.iter().flat_map(|table| &table.rows) {
                let row: Vec<&str> = row.iter().map(String::as_str).filter(|cell| !cell.trim().is_empty()).collect();
                self.in_cell(&row.join(" "));
            }
        }
    }

    pub(super) fn skipped(&mut self, place: &str, reason: &str) {
        self.notation.skipped(place, reason);
    }

    pub(super) fn metadata(&mut self, key: &str, value: &str) {
        self.notation.metadata(key, value);
    }

    pub(super) fn begin_cell(&mut self) {
        self.cells.push(String::new());
    }

    pub(super) fn end_cell(&mut self) -> String {
        self.cells.pop().unwrap_or_default()
    }

    /// The next paragraph begins with this kind of admonition.
    pub(super) fn begin_admonition(&mut self, kind: &str) {
        self.write_lead();
        self.lead = Some(format!("{kind}{}", if self.is_chinese { "：" } else { ": " }));
    }

    /// An admonition without content says nothing.
    pub(super) fn end_admonition(&mut self) {
        self.lead = None;
    }

    /// The word for an admonition as Sphinx displays it in the language of the file.
    pub(super) fn kind(&self, name: &str) -> Option<&'static str> {
        let (english, chinese) = match name {
            "note" => ("Note", "注解"),
            "warning" => ("Warning", "警告"),
            "danger" => ("Danger", "危险"),
            "caution" => ("Caution", "小心"),
            "attention" => ("Attention", "注意"),
            "important" => ("Important", "重要"),
            "error" => ("Error", "错误"),
            "hint" => ("Hint", "提示"),
            "tip" => ("Tip", "技巧"),
            "seealso" => ("See also", "参见"),
            "todo" => ("Todo", "待办"),
            _ => return None,
        };
        Some(if self.is_chinese { chinese } else { english })
    }

    pub(super) fn finish(mut self) -> Extracted {
        if self.pictures > 0 {
            let place = format!("{} pictures", self.pictures);
            self.notation.skipped(place, "without words that describe them");
        }
        self.notation.finish()
    }
}

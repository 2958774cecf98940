//! What a document is made of, between reading and writing.

use super::numbering::Number;

/// A paragraph or a table.
#[derive(Debug)]
pub(super) enum Block {
    Paragraph(Paragraph),
    Table(Table),
}

/// What a paragraph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Body,
    /// Level from 0.
    Heading(u8),
    /// The title of the document.
    Title,
    /// A line of a table of contents.
    Contents,
}

#[derive(Debug)]
pub(super) struct Paragraph {
    pub(super) text: String,
    pub(super) number: Option<Number>,
    pub(super) role: Role,
    /// All its words are bold.
    pub(super) bold: bool,
}

impl Paragraph {
    /// Running text.
    pub(super) fn body(text: String) -> Self {
        Self { text, number: None, role: Role::Body, bold: false }
    }

    /// Its number and its text, as displayed.
    pub(super) fn numbered(&self) -> String {
        let Some(number) = self.number.as_ref().filter(|number| !number.text.is_empty()) else {
            return self.text.clone();
        };
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        // Two words of ASCII would become another one.
        let glued = is_word(number.text.chars().next_back()) && is_word(self.text.chars().next());
        let suffix = if glued { " " } else { number.suffix };
        format!("{}{suffix}{}", number.text, self.text)
    }
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
}

#[derive(Debug, Default)]
pub(super) struct Row {
    /// The file says that it is repeated on every page.
    pub(super) is_header: bool,
    /// Columns that are left out before its first cell.
    pub(super) before: usize,
    pub(super) cells: Vec<Cell>,
}

#[derive(Debug, Default)]
pub(super) struct Cell {
    /// Columns that it covers.
    pub(super) span: usize,
    /// It goes on with the cell above.
    pub(super) continues: bool,
    pub(super) blocks: Vec<Block>,
}

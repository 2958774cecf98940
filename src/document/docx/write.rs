//! Blocks as Markdown.

use super::blocks::{Block, Paragraph, Role, Table};
use super::table::{grid, is_frame};
use crate::document::budget::Budget;
use crate::document::notation::Notation;
use crate::error::Result;

/// Writes the blocks of a document in order.
pub(super) struct Writer<'n, 'b> {
    pub(super) notation: &'n mut Notation,
    pub(super) budget: &'b mut Budget,
    /// Levels of the list items that are open, outermost first.
    open: Vec<usize>,
}

impl<'n, 'b> Writer<'n, 'b> {
    pub(super) fn new(notation: &'n mut Notation, budget: &'b mut Budget) -> Self {
        Self { notation, budget, open: Vec::new() }
    }

    pub(super) fn blocks(&mut self, blocks: &[Block]) -> Result<()> {
        let mut blocks = blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::Paragraph(paragraph) if is_bare_number(paragraph) => {
                    let next = blocks.next_if(|next| matches!(next, Block::Paragraph(next) if is_term(next)));
                    self.numbered_term(paragraph, next);
                }
                Block::Paragraph(paragraph) => self.paragraph(paragraph),
                Block::Table(table) => self.table(table)?,
            }
        }
        Ok(())
    }

    /// A heading that is only a number, and the term on the next line that it belongs to.
    fn numbered_term(&mut self, number: &Paragraph, term: Option<&Block>) {
        self.open.clear();
        let mut text = number.numbered();
        if let Some(Block::Paragraph(term)) = term {
            text = format!("{text} {}", term.text);
        }
        match number.role {
            Role::Title => self.notation.heading(1, &text),
            Role::Heading(level) => self.notation.heading(level.saturating_add(1), &text),
            Role::Body | Role::Contents => self.notation.paragraph(&text),
        }
    }

    fn paragraph(&mut self, paragraph: &Paragraph) {
        if paragraph.text.trim().is_empty() {
            return;
        }
        let item = paragraph.number.as_ref().filter(|number| number.is_item && paragraph.role == Role::Body);
        let Some(number) = item else {
            self.open.clear();
            let text = paragraph.numbered();
            match paragraph.role {
                Role::Title => self.notation.heading(1, &text),
                Role::Heading(level) => self.notation.heading(level.saturating_add(1), &text),
                Role::Body | Role::Contents => self.notation.paragraph(&text),
            }
            return;
        };
        while self.open.last().is_some_and(|&open| open >= number.level) {
            self.open.pop();
        }
        self.notation.item(self.open.len(), &number.text, &paragraph.text);
        self.open.push(number.level);
    }

    fn table(&mut self, table: &Table) -> Result<()> {
        self.open.clear();
        if is_frame(table) {
            for row in &table.rows {
                for cell in &row.cells {
                    self.blocks(&cell.blocks)?;
                }
            }
            return Ok(());
        }
        let grid = grid(table, self.budget)?;
        for title in &grid.titles {
            self.notation.paragraph(title);
        }
        self.notation.table(&grid.rows, grid.has_header);
        for inner in grid.inner {
            self.table(inner)?;
        }
        Ok(())
    }
}

/// True for a paragraph without text whose number is that of a section.
fn is_bare_number(paragraph: &Paragraph) -> bool {
    let number = paragraph.number.as_ref();
    paragraph.text.trim().is_empty() && number.is_some_and(|number| !number.is_item && !number.text.trim().is_empty())
}

/// True for a short line without a number of its own.
fn is_term(paragraph: &Paragraph) -> bool {
    const LONGEST: usize = 100;
    let text = paragraph.text.trim();
    let is_sentence = text.ends_with(['。', '；', '：', '.', ';', ':']);
    paragraph.number.is_none() && paragraph.role == Role::Body && text.chars().count() <= LONGEST && !is_sentence
}

//! From the body of a document to its blocks (ISO/IEC 29500-1, 17.3 to 17.5): paragraphs, content controls, tracked
//! changes as accepted, tables, notes, text boxes.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::blocks::{Block, Cell, Paragraph, Role, Row, Table};
use super::fields::Fields;
use super::numbering::Numbering;
use super::numerals;
use super::styles::{Styles, toggle};
use crate::document::budget::Budget;
use crate::document::drawing;
use crate::document::notation::Skipped;
use crate::document::package::{Package, Relations};
use crate::document::xml::{Element, Space, is_on};
use crate::error::Result;

/// Columns that one cell may cover; Word itself allows 63.
const SPAN: usize = 256;

/// Footnotes or endnotes.
#[derive(Debug, Default)]
pub(super) struct Notes<'t> {
    /// By id.
    pub(super) notes: HashMap<String, Element<'t>>,
    /// Format of their numbers.
    pub(super) format: String,
    /// The next number.
    pub(super) next: i64,
}

/// The state of reading.
pub(super) struct Reader<'t, 'p, 'a, 'b> {
    pub(super) package: &'p mut Package<'a>,
    pub(super) budget: &'b mut Budget,
    pub(super) relations: Relations,
    pub(super) styles: Styles,
    pub(super) numbering: Numbering,
    pub(super) footnotes: Notes<'t>,
    pub(super) endnotes: Notes<'t>,
    pub(super) fields: Fields,
    /// Depth of content controls that hold a table of contents.
    pub(super) contents: usize,
    /// Depth of tables.
    pub(super) tables: usize,
    /// Text of paragraphs whose end was deleted: the next paragraph begins with it.
    pub(super) carried: String,
    /// Notes of a table, which follow it.
    pub(super) waiting: Vec<Block>,
    /// Notes that are written already.
    pub(super) noted: HashSet<(bool, String)>,
    /// Large pictures.
    pub(super) pictures: usize,
    /// Embedded objects by program.
    pub(super) objects: BTreeMap<String, usize>,
    pub(super) skipped: Vec<Skipped>,
}

/// A paragraph in the making.
#[derive(Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// Text boxes, charts and the like that hang on it.
    pub(super) after: Vec<Block>,
    /// Numbers and elements of the notes that it refers to.
    pub(super) notes: Vec<Block>,
    /// What the paragraph style says.
    pub(super) hidden: bool,
    pub(super) bold: bool,
    pub(super) has_plain: bool,
    pub(super) has_bold: bool,
}

fn value<'t>(element: Element<'t>, name: &str) -> Option<&'t str> {
    element.child(Space::Word, name)?.attribute(Space::Word, "val")
}

impl<'t> Reader<'t, '_, '_, '_> {
    /// The blocks right inside `container`, whatever frames lie around them.
    pub(super) fn blocks(&mut self, container: Element<'t>, out: &mut Vec<Block>) -> Result<()> {
        self.frames(container, out)?;
        let rest = std::mem::take(&mut self.carried);
        if !rest.trim().is_empty() {
            out.push(Block::Paragraph(Paragraph::body(rest)));
        }
        Ok(())
    }

    fn frames(&mut self, container: Element<'t>, out: &mut Vec<Block>) -> Result<()> {
        for element in container.children() {
            if element.space() != Space::Word {
                // An equation may stand between paragraphs; other namespaces have nothing of their own here.
                if element.space() == Space::Math {
                    let text = crate::document::math::linear(element);
                    out.push(Block::Paragraph(Paragraph::body(text)));
                } else {
                    self.frames(element, out)?;
                }
                continue;
            }
            match element.name() {
                "p" => self.paragraph(element, out)?,
                "tbl" => self.table_block(element, out)?,
                "del" | "moveFrom" | "sectPr" | "sdtPr" | "sdtEndPr" | "customXmlPr" | "tcPr" | "tblPr" | "trPr" => {}
                "altChunk" => self.skipped.push(Skipped {
                    place: "an inserted file".to_string(),
                    reason: "its text becomes part of the document only when Word saves it; open and save it once"
                        .to_string(),
                }),
                "sdt" => {
                    let is_contents = element.descendants().take(40).any(|e| {
                        e.is(Space::Word, "docPartGallery")
                            && e.attribute(Space::Word, "val")
                                .is_some_and(|v| v.eq_ignore_ascii_case("table of contents"))
                    });
                    self.contents += usize::from(is_contents);
                    let result = self.frames(element, out);
                    self.contents -= usize::from(is_contents);
                    result?;
                }
                "r" | "hyperlink" => self.stray(element, out)?,
                _ => self.frames(element, out)?,
            }
        }
        Ok(())
    }

    /// Runs that lie between paragraphs, which no program should write.
    fn stray(&mut self, element: Element<'t>, out: &mut Vec<Block>) -> Result<()> {
        let mut line = Line::default();
        self.inline_one(element, &mut line)?;
        self.carried.push_str(&line.text);
        out.append(&mut line.after);
        Ok(())
    }

    fn paragraph(&mut self, element: Element<'t>, out: &mut Vec<Block>) -> Result<()> {
        self.budget.check()?;
        let properties = element.child(Space::Word, "pPr");
        let style = self.styles.get(properties.and_then(|p| value(p, "pStyle")));
        let was_contents = self.fields.in_contents();
        let mut line = Line { hidden: style.hidden, bold: style.bold, ..Line::default() };
        self.inline(element, &mut line)?;
        let contents = style.contents || was_contents || self.fields.in_contents() || self.contents > 0;
        self.fields.end_of_paragraph();

        let mark = properties.and_then(|p| p.child(Space::Word, "rPr"));
        let mark_has = |name| mark.is_some_and(|mark| mark.child(Space::Word, name).is_some());
        if mark_has("del") || mark_has("moveFrom") {
            self.carried.push_str(&line.text);
            self.hang(line, out);
            return Ok(());
        }
        let text = std::mem::take(&mut self.carried) + &line.text;
        let is_hidden = mark.and_then(|mark| toggle(mark, "vanish")).unwrap_or(style.hidden);
        if text.trim().is_empty() && is_hidden {
            self.hang(line, out);
            return Ok(());
        }
        let own = properties.and_then(|p| p.child(Space::Word, "numPr"));
        let place = self.numbering.place(own, &style);
        let number = place.and_then(|(num, level)| self.numbering.next(&num, level));
        let direct = properties.and_then(|p| value(p, "outlineLvl")?.parse::<u8>().ok());
        let role = match direct.map_or(style.outline, |level| (level < 9).then_some(level)) {
            _ if contents => Role::Contents,
            Some(_) if style.title => Role::Title,
            Some(level) if !is_sentence(&text) => Role::Heading(level),
            None if style.title && !is_sentence(&text) => Role::Title,
            _ => Role::Body,
        };
        let bold = line.has_bold && !line.has_plain;
        // The number of a paragraph without text counts where it is all that a cell has, and where it is that of an article:
        // standards put the number of a term on a line of its own. The mark of an empty list item says nothing.
        let is_shown = number.as_ref().is_some_and(|number| self.tables > 0 || !number.is_item);
        if !text.trim().is_empty() || is_shown {
            out.push(Block::Paragraph(Paragraph { text, number, role, bold }));
        }
        self.hang(line, out);
        Ok(())
    }

    /// What hangs on a paragraph follows it.
    fn hang(&mut self, mut line: Line, out: &mut Vec<Block>) {
        out.append(&mut line.after);
        if self.tables > 0 { self.waiting.append(&mut line.notes) } else { out.append(&mut line.notes) }
    }

    fn table_block(&mut self, element: Element<'t>, out: &mut Vec<Block>) -> Result<()> {
        self.tables += 1;
        let mut table = Table::default();
        let result = self.rows(element, &mut table);
        self.tables -= 1;
        result?;
        out.push(Block::Table(table));
        if self.tables == 0 {
            out.append(&mut self.waiting);
        }
        Ok(())
    }

    fn rows(&mut self, container: Element<'t>, table: &mut Table) -> Result<()> {
        for element in container.children().filter(|e| e.space() == Space::Word) {
            match element.name() {
                "tr" => {
                    let properties = element.child(Space::Word, "trPr");
                    if properties.is_some_and(|p| p.child(Space::Word, "del").is_some()) {
                        continue;
                    }
                    let has = |name| properties.and_then(|p| toggle(p, name)).unwrap_or(false);
                    let before = properties.and_then(|p| value(p, "gridBefore")?.parse().ok()).unwrap_or(0);
                    let mut row = Row { is_header: has("tblHeader"), before: SPAN.min(before), cells: Vec::new() };
                    if !has("hidden") {
                        self.cells(element, &mut row)?;
                        table.rows.push(row);
                    }
                }
                "tblPr" | "tblGrid" | "del" | "moveFrom" | "sdtPr" | "sdtEndPr" => {}
                _ => self.rows(element, table)?,
            }
        }
        Ok(())
    }

    fn cells(&mut self, container: Element<'t>, row: &mut Row) -> Result<()> {
        for element in container.children().filter(|e| e.space() == Space::Word) {
            match element.name() {
                "tc" => {
                    let properties = element.child(Space::Word, "tcPr");
                    let of = |name| properties.and_then(|p| p.child(Space::Word, name));
                    if of("cellDel").is_some() {
                        continue;
                    }
                    let span = properties.and_then(|p| value(p, "gridSpan")?.parse().ok()).unwrap_or(1);
                    let is_start = |e: Element<'_>| e.attribute(Space::Word, "val") == Some("restart");
                    let mut cell = Cell { span: SPAN.min(span).max(1), ..Cell::default() };
                    cell.continues = of("vMerge").is_some_and(|merge| !is_start(merge));
                    self.blocks(element, &mut cell.blocks)?;
                    match row.cells.last_mut().filter(|_| of("hMerge").is_some_and(|merge| !is_start(merge))) {
                        Some(last) => last.span = SPAN.min(last.span + cell.span),
                        None => row.cells.push(cell),
                    }
                }
                "trPr" | "tblPrEx" | "del" | "moveFrom" | "sdtPr" | "sdtEndPr" => {}
                _ => self.cells(element, row)?,
            }
        }
        Ok(())
    }

    /// Counts a reference to a note, gives its mark and hangs its text on the line.
    pub(super) fn note(&mut self, element: Element<'t>, is_endnote: bool, line: &mut Line) -> Result<String> {
        let notes = if is_endnote { &mut self.endnotes } else { &mut self.footnotes };
        let Some(id) = element.attribute(Space::Word, "id") else { return Ok(String::new()) };
        let note = notes.notes.get(id).copied();
        let has_own_mark = element.attribute(Space::Word, "customMarkFollows").is_some_and(|v| is_on(Some(v)));
        let mark = if has_own_mark {
            String::new()
        } else {
            let number = notes.next;
            notes.next = notes.next.saturating_add(1);
            format!("[{}]", numerals::write(&notes.format, None, number))
        };
        let Some(note) = note.filter(|_| self.noted.insert((is_endnote, id.to_string()))) else { return Ok(mark) };
        // A note is a story of its own: fields, tables and carried text do not reach into it.
        let fields = std::mem::take(&mut self.fields);
        let carried = std::mem::take(&mut self.carried);
        let tables = std::mem::take(&mut self.tables);
        let mut blocks = Vec::new();
        let result = self.blocks(note, &mut blocks);
        (self.fields, self.carried, self.tables) = (fields, carried, tables);
        result?;
        if let Some(Block::Paragraph(first)) = blocks.first_mut() {
            first.text = format!("{mark} {}", first.text.trim_start()).trim_start().to_string();
        }
        for block in &mut blocks {
            if let Block::Paragraph(paragraph) = block {
                paragraph.role = Role::Body;
            }
        }
        line.notes.append(&mut blocks);
        Ok(mark)
    }

    /// The text of a shape, a chart or SmartArt in `element`, as blocks after the line.
    pub(super) fn drawing(&mut self, element: Element<'t>, line: &mut Line) -> Result<()> {
        for child in element.children() {
            match (child.space(), child.name()) {
                (Space::Word, "txbxContent") => {
                    let fields = std::mem::take(&mut self.fields);
                    let carried = std::mem::take(&mut self.carried);
                    let result = self.blocks(child, &mut line.after);
                    (self.fields, self.carried) = (fields, carried);
                    result?;
                }
                (Space::Drawing, "p") => {
                    let text = drawing::paragraph(child);
                    line.after.push(Block::Paragraph(Paragraph::body(text)));
                }
                (Space::Chart, "chart") => self.chart(child, line),
                (Space::Diagram, "relIds") => self.diagram(child, line),
                (Space::Vml, "textpath") => {
                    let text = child.attribute(Space::None, "string").unwrap_or_default().to_string();
                    line.after.push(Block::Paragraph(Paragraph::body(text)));
                }
                (Space::Office, "OLEObject") => {
                    let program = child.attribute(Space::None, "ProgID").unwrap_or_default();
                    *self.objects.entry(program.to_string()).or_default() += 1;
                }
                (_, "pic") => self.pictures += usize::from(drawing::is_large_picture(child)),
                _ => self.drawing(child, line)?,
            }
        }
        Ok(())
    }

    fn chart(&mut self, element: Element<'t>, line: &mut Line) {
        let Some(relation) = element.attribute(Space::Relationships, "id").and_then(|id| self.relations.by_id(id))
        else {
            return;
        };
        let name = relation.target.clone();
        let chart = match self.package.tree(&name, self.budget) {
            Ok(Some(tree)) => drawing::chart(tree.root()),
            Ok(None) => return,
            Err(error) => return self.skip(&name, &error),
        };
        for title in chart.titles {
            line.after.push(Block::Paragraph(Paragraph::body(title)));
        }
        let cell =
            |text: String| Cell { span: 1, continues: false, blocks: vec![Block::Paragraph(Paragraph::body(text))] };
        let rows = chart.rows.into_iter().enumerate();
        let rows =
            rows.map(|(at, row)| Row { is_header: at == 0, before: 0, cells: row.into_iter().map(cell).collect() });
        line.after.push(Block::Table(Table { rows: rows.collect() }));
    }

    fn diagram(&mut self, element: Element<'t>, line: &mut Line) {
        let Some(relation) = element.attribute(Space::Relationships, "dm").and_then(|id| self.relations.by_id(id))
        else {
            return;
        };
        let name = relation.target.clone();
        match self.package.tree(&name, self.budget) {
            Ok(Some(tree)) => {
                let texts = drawing::diagram(tree.root());
                line.after.extend(texts.into_iter().map(|text| Block::Paragraph(Paragraph::body(text))));
            }
            Ok(None) => {}
            Err(error) => self.skip(&name, &error),
        }
    }

    fn skip(&mut self, part: &str, error: &crate::error::Error) {
        self.skipped.push(Skipped { place: part.to_string(), reason: error.to_string() });
    }
}

/// True for running text that only has the outline level of a heading, as numbered sentences in standards do.
fn is_sentence(text: &str) -> bool {
    let text = text.trim();
    let count = text.chars().count();
    count > 200 || count > 40 && text.ends_with(['。', '；', ';', '：'])
}

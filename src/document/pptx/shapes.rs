//! The shapes of a slide in their order: text bodies, tables, groups, charts, SmartArt.

use crate::document::budget::Budget;
use crate::document::docx::numerals;
use crate::document::drawing;
use crate::document::notation::Notation;
use crate::document::package::{Package, Relations};
use crate::document::tabular;
use crate::document::xml::{Element, Space, is_on};
use crate::error::Result;

/// Columns of a table; merged cells may claim any number.
const COLUMNS: usize = 1024;

/// What a slide shows.
#[derive(Default)]
pub(super) struct Shapes {
    pub(super) title: Option<String>,
    pub(super) blocks: Vec<Block>,
    /// A picture so large that words may stand in it.
    pub(super) has_picture: bool,
}

pub(super) enum Block {
    Paragraph(String),
    Item {
        level: usize,
        marker: String,
        text: String,
    },
    Table {
        rows: Vec<Vec<String>>,
        has_header: bool,
    },
    /// Relation of a chart part.
    Chart(String),
    /// Relation of a SmartArt data part.
    Diagram(String),
    /// Program of an embedded object.
    Object(String),
}

/// The kind of placeholder that a shape fills; `obj` where the file does not say.
pub(super) fn placeholder(shape: Element<'_>) -> Option<&str> {
    let properties = shape.children().find(|e| e.space() == Space::Presentation && e.name().starts_with("nv"))?;
    let holder = properties.child(Space::Presentation, "nvPr")?.child(Space::Presentation, "ph")?;
    Some(holder.attribute(Space::None, "type").unwrap_or("obj"))
}

impl Shapes {
    /// Takes up the shapes right inside `container`, groups with theirs.
    pub(super) fn read(&mut self, container: Element<'_>, budget: &mut Budget) {
        for shape in container.children() {
            match (shape.space(), shape.name()) {
                (Space::Presentation, "sp" | "cxnSp") => self.shape(shape),
                (Space::Presentation, "graphicFrame") => self.frame(shape, budget),
                (Space::Presentation, "pic") => self.has_picture |= drawing::is_large_picture(shape),
                (Space::Presentation, name) if name.starts_with("nv") || name.ends_with("Pr") => {}
                _ => self.read(shape, budget),
            }
        }
    }

    fn shape(&mut self, shape: Element<'_>) {
        let holder = placeholder(shape);
        let Some(body) = shape.child(Space::Presentation, "txBody") else { return };
        match holder {
            // What every slide repeats: date, footer, number.
            Some("dt" | "ftr" | "sldNum" | "hdr") => {}
            Some("title" | "ctrTitle") if self.title.is_none() => {
                let lines: Vec<String> = body.all(Space::Drawing, "p").map(drawing::paragraph).collect();
                self.title = Some(lines.join("\n"));
            }
            _ => self.body(body, matches!(holder, Some("body" | "obj"))),
        }
    }

    /// Paragraphs of a body. Those of a placeholder have bullets unless they say otherwise.
    fn body(&mut self, body: Element<'_>, has_bullets: bool) {
        let count = body.all(Space::Drawing, "p").filter(|p| !drawing::paragraph(*p).trim().is_empty()).count();
        // Numbers go on while paragraphs of the same level follow each other.
        let mut counters = [0i64; 9];
        for paragraph in body.all(Space::Drawing, "p") {
            let text = drawing::paragraph(paragraph);
            if text.trim().is_empty() {
                continue;
            }
            let properties = paragraph.child(Space::Drawing, "pPr");
            let level =
                properties.and_then(|p| p.attribute(Space::None, "lvl")?.parse::<usize>().ok()).unwrap_or(0).min(8);
            let of = |name| properties.and_then(|p| p.child(Space::Drawing, name));
            for deeper in counters.iter_mut().skip(level + 1) {
                *deeper = 0;
            }
            if let Some(auto) = of("buAutoNum") {
                let start = auto.attribute(Space::None, "startAt").and_then(|start| start.parse().ok()).unwrap_or(1);
                let mut number = start;
                if let Some(counter) = counters.get_mut(level) {
                    number = if *counter == 0 { start } else { counter.saturating_add(1) };
                    *counter = number;
                }
                let marker = marker(auto.attribute(Space::None, "type").unwrap_or_default(), number);
                self.blocks.push(Block::Item { level, marker, text });
                continue;
            }
            if let Some(counter) = counters.get_mut(level) {
                *counter = 0;
            }
            let is_item = of("buNone").is_none() && (of("buChar").is_some() || has_bullets && count > 1);
            self.blocks.push(if is_item {
                Block::Item { level, marker: String::new(), text }
            } else {
                Block::Paragraph(text)
            });
        }
    }

    fn frame(&mut self, frame: Element<'_>, budget: &mut Budget) {
        for element in frame.children() {
            match (element.space(), element.name()) {
                (Space::Drawing, "tbl") => self.table(element, budget),
                (Space::Chart, "chart") => {
                    self.blocks
                        .extend(element.attribute(Space::Relationships, "id").map(|id| Block::Chart(id.to_string())));
                }
                (Space::Diagram, "relIds") => {
                    self.blocks
                        .extend(element.attribute(Space::Relationships, "dm").map(|id| Block::Diagram(id.to_string())));
                }
                (Space::Presentation, "oleObj") => {
                    let program = element.attribute(Space::None, "progId").unwrap_or("unknown program");
                    self.blocks.push(Block::Object(program.to_string()));
                }
                _ => self.frame(element, budget),
            }
        }
    }

    /// Rows with the value of merged cells in every cell that they cover. One over the whole width is a title.
    fn table(&mut self, table: Element<'_>, budget: &mut Budget) {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for row in table.all(Space::Drawing, "tr") {
            let mut cells: Vec<String> = Vec::new();
            // Whether the first cell covers the whole width: a title among the rows.
            let mut is_title = true;
            for cell in row.all(Space::Drawing, "tc").take(COLUMNS) {
                let is = |name| cell.attribute(Space::None, name).is_some_and(|v| is_on(Some(v)));
                is_title &= cells.is_empty() || (is("hMerge") && !is("vMerge"));
                let merged = if is("vMerge") {
                    rows.last().and_then(|above| above.get(cells.len()))
                } else {
                    cells.last().filter(|_| is("hMerge"))
                };
                let text = match merged {
                    Some(text) => {
                        if budget.repeat(1, text.len()) {
                            text.clone()
                        } else {
                            String::new()
                        }
                    }
                    None if is("vMerge") || is("hMerge") => String::new(),
                    None => drawing::paragraphs(cell).join(" "),
                };
                cells.push(text);
            }
            match cells.first() {
                Some(title) if is_title && cells.len() > 1 && rows.is_empty() => {
                    self.blocks.push(Block::Paragraph(title.clone()));
                    continue;
                }
                _ => cells.truncate(if is_title { 1 } else { COLUMNS }),
            }
            rows.push(cells);
        }
        let flag = table.child(Space::Drawing, "tblPr").and_then(|p| p.attribute(Space::None, "firstRow"));
        let is_marked = flag.is_some_and(|v| is_on(Some(v)));
        let first = rows.first().map_or(&[][..], Vec::as_slice);
        let has_header = rows.len() > 1 && (is_marked || tabular::is_header(first, &rows[1..], false));
        self.blocks.push(Block::Table { rows, has_header });
    }
}

/// An automatic number (`ST_TextAutonumberScheme`).
fn marker(scheme: &str, number: i64) -> String {
    const ENDS: &[(&str, &str, &str)] =
        &[("ParenBoth", "(", ")"), ("ParenR", "", ")"), ("Period", "", "."), ("Plain", "", ""), ("Minus", "- ", " -")];
    let found = ENDS.iter().find_map(|(end, open, close)| Some((scheme.strip_suffix(end)?, *open, *close)));
    let (name, open, close) = found.unwrap_or((scheme, "", "."));
    let format = match name {
        "alphaLc" => "lowerLetter",
        "alphaUc" => "upperLetter",
        "romanLc" => "lowerRoman",
        "romanUc" => "upperRoman",
        "circleNumDb" | "circleNumWdBlack" | "circleNumWdWhite" => "decimalEnclosedCircle",
        "ea1Chs" | "ea1Cht" | "ea1JpnChs" => "chineseCountingThousand",
        "arabicDb" => "decimalFullWidth",
        _ => "decimal",
    };
    format!("{open}{}{close}", numerals::write(format, None, number))
}

/// Writes a block. Parts that it points to and that are damaged are named.
pub(super) fn write(
    block: Block,
    package: &mut Package<'_>,
    relations: &Relations,
    notation: &mut Notation,
    budget: &mut Budget,
) -> Result<()> {
    let part = match block {
        Block::Paragraph(text) => {
            notation.paragraph(&text);
            return Ok(());
        }
        Block::Item { level, marker, text } => {
            notation.item(level, &marker, &text);
            return Ok(());
        }
        Block::Table { rows, has_header } => {
            let bytes: usize = rows.iter().flatten().map(String::len).sum();
            budget.spend(bytes as u64)?;
            notation.table(&rows, has_header);
            return Ok(());
        }
        Block::Object(program) => {
            notation.skipped("an embedded object", format!("made by {program}; only its picture is on the slide"));
            return Ok(());
        }
        Block::Chart(id) | Block::Diagram(id) => relations.by_id(&id).map(|relation| relation.target.clone()),
    };
    let Some(part) = part else { return Ok(()) };
    match package.tree(&part, budget) {
        Ok(Some(tree)) => {
            let root = tree.root();
            for text in drawing::diagram(root) {
                notation.paragraph(&text);
            }
            let chart = drawing::chart(root);
            for title in &chart.titles {
                notation.paragraph(title);
            }
            notation.table(&chart.rows, true);
        }
        Ok(None) => {}
        Err(error) => {
            budget.check()?;
            notation.skipped(part, error.to_string());
        }
    }
    Ok(())
}

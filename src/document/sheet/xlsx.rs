//! Excel workbooks: SpreadsheetML (ISO/IEC 29500-1, 18) in a package, transitional or strict.

use std::collections::HashMap;

use super::format::Format;
use super::layout::{Cells, Merge};
use crate::document::budget::Budget;
use crate::document::drawing;
use crate::document::notation::Notation;
use crate::document::package::{Package, Relations};
use crate::document::xml::{self, Element, Event, Events, Space, Tag, is_on};
use crate::error::{Error, Kind, Result};

/// Last row and column that a sheet has.
const ROWS: u32 = 1 << 20;
const COLUMNS: u32 = 1 << 14;

/// What the cells of all sheets share.
#[derive(Default)]
struct Shared {
    strings: Strings,
    formats: Vec<Format>,
    /// Cell style to format.
    styles: Vec<usize>,
    since_1904: bool,
}

/// The shared strings, one after the other.
#[derive(Default)]
struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    fn get(&self, at: usize) -> Option<&str> {
        let from = if at == 0 { 0 } else { *self.ends.get(at - 1)? };
        self.text.get(from..*self.ends.get(at)?)
    }
}

/// Writes all sheets of a workbook.
///
/// # Errors
/// The package or the workbook is damaged or too large.
pub(super) fn read(package: &mut Package<'_>, main: &str, notation: &mut Notation, budget: &mut Budget) -> Result<()> {
    let relations = package.relations(main, budget)?;
    let workbook =
        package.tree(main, budget)?.ok_or_else(|| Error::new(Kind::Format, "the workbook is missing").place(main))?;
    let root = workbook.root();
    let mut shared = Shared::default();
    let properties = root.child(Space::Sheet, "workbookPr");
    shared.since_1904 = properties.and_then(|p| p.attribute(Space::None, "date1904")).is_some_and(|v| is_on(Some(v)));
    if let Some(part) = relations.by_kind("sharedStrings") {
        shared.strings = strings(package, part, budget)?;
    }
    if let Some(part) = relations.by_kind("styles")
        && let Err(error) = styles(package, part, &mut shared, budget)
    {
        notation.skipped(part, format!("numbers and dates are shown without their formats: {error}"));
    }
    let sheets = root.child(Space::Sheet, "sheets");
    for sheet in sheets.iter().flat_map(|sheets| sheets.all(Space::Sheet, "sheet")) {
        let name = sheet.attribute(Space::None, "name").unwrap_or("Sheet");
        let target = sheet.attribute(Space::Relationships, "id").and_then(|id| relations.by_id(id));
        super::begin(notation, name, sheet.attribute(Space::None, "state").is_some_and(|state| state != "visible"));
        let result = match target {
            Some(relation) => one_sheet(package, name, &relation.target, &shared, notation, budget),
            None => Err(Error::new(Kind::Format, "the workbook does not say where the sheet is")),
        };
        if let Err(error) = result {
            // Time and memory are those of the whole file; damage is that of the sheet.
            budget.check()?;
            if budget.left() < (1 << 20) {
                return Err(error);
            }
            notation.skipped(format!("sheet {name}"), error.to_string());
        }
    }
    Ok(())
}

fn strings(package: &mut Package<'_>, part: &str, budget: &mut Budget) -> Result<Strings> {
    let Some(bytes) = package.part(part, budget)? else { return Ok(Strings::default()) };
    let text = xml::decode(&bytes, part)?;
    let mut events = Events::new(&text, part);
    let mut out = Strings::default();
    // Names of the open elements: `s`tring item, `t`ext, `p`honetic reading, other.
    let mut open: Vec<u8> = Vec::new();
    let mut piece = String::new();
    while let Some(event) = events.next(budget)? {
        match event {
            Event::Start(tag) => open.push(match tag.name() {
                "si" => b's',
                "t" => b't',
                "rPh" => b'p',
                _ => b'o',
            }),
            Event::Text(text) if open.last() == Some(&b't') && !open.contains(&b'p') => piece.push_str(&text),
            Event::Text(_) => {}
            Event::End => {
                if open.pop() == Some(b's') {
                    out.text.push_str(&unescaped(&piece));
                    out.ends.push(out.text.len());
                    piece.clear();
                }
            }
        }
    }
    budget.spend((out.text.len() + out.ends.len() * size_of::<usize>()) as u64)?;
    Ok(out)
}

/// `_x000D_` and the like, by which SpreadsheetML writes characters that XML does not have.
fn unescaped(text: &str) -> String {
    if !text.contains("_x") {
        return text.to_string();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        out.push_str(rest.get(..at).unwrap_or_default());
        let code = rest.get(at + 2..at + 6).filter(|_| rest.get(at + 6..at + 7) == Some("_"));
        match code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32) {
            Some(c) => {
                if c != '\r' {
                    out.push(c);
                }
                rest = rest.get(at + 7..).unwrap_or_default();
            }
            None => {
                out.push_str("_x");
                rest = rest.get(at + 2..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn styles(package: &mut Package<'_>, part: &str, shared: &mut Shared, budget: &mut Budget) -> Result<()> {
    let Some(tree) = package.tree(part, budget)? else { return Ok(()) };
    let root = tree.root();
    let number = |e: Element<'_>| e.attribute(Space::None, "numFmtId").and_then(|id| id.parse::<u16>().ok());
    let mut codes: HashMap<u16, &str> = HashMap::new();
    if let Some(formats) = root.child(Space::Sheet, "numFmts") {
        for format in formats.all(Space::Sheet, "numFmt") {
            if let (Some(id), Some(code)) = (number(format), format.attribute(Space::None, "formatCode")) {
                codes.insert(id, code);
            }
        }
    }
    let mut known: HashMap<u16, usize> = HashMap::new();
    if let Some(styles) = root.child(Space::Sheet, "cellXfs") {
        for style in styles.all(Space::Sheet, "xf") {
            let id = number(style).unwrap_or(0);
            let at = *known.entry(id).or_insert_with(|| {
                shared.formats.push(match codes.get(&id) {
                    Some(code) if !code.is_empty() => Format::new(code),
                    _ => Format::builtin(id),
                });
                shared.formats.len() - 1
            });
            shared.styles.push(at);
        }
    }
    Ok(())
}

fn one_sheet(
    package: &mut Package<'_>,
    name: &str,
    part: &str,
    shared: &Shared,
    notation: &mut Notation,
    budget: &mut Budget,
) -> Result<()> {
    let mut cells = Cells::default();
    let relations = package.relations(part, budget)?;
    {
        let bytes =
            package.part(part, budget)?.ok_or_else(|| Error::new(Kind::Format, "the sheet is missing").place(part))?;
        let text = xml::decode(&bytes, part)?;
        let mut reading = Reading { shared, cells: &mut cells, row: 0, column: 0, without_result: 0 };
        reading.sheet(&mut Events::new(&text, part), budget)?;
        super::name_missing_results(notation, name, reading.without_result);
    }
    cells.write(notation, budget)?;
    drawings(package, &relations, notation, budget);
    let comments = relations.by_kind("comments").and_then(|part| package.tree(part, budget).ok().flatten());
    let count = comments.map_or(0, |tree| tree.root().descendants().filter(|e| e.is(Space::Sheet, "comment")).count());
    if count > 0 {
        notation.skipped(
            format!("comments of sheet {name}"),
            format!("{count} of reviewers, which are no part of the text"),
        );
    }
    Ok(())
}

/// Text boxes and charts that lie on the sheet.
fn drawings(package: &mut Package<'_>, relations: &Relations, notation: &mut Notation, budget: &mut Budget) {
    let parts = relations.0.iter().filter(|relation| relation.kind == "drawing" && !relation.external);
    for part in parts.map(|relation| relation.target.clone()) {
        let result = package.tree(&part, budget).and_then(|tree| Ok((tree, package.relations(&part, budget)?)));
        let (tree, inner) = match result {
            Ok((Some(tree), inner)) => (tree, inner),
            Ok((None, _)) => continue,
            Err(error) => {
                notation.skipped(part, error.to_string());
                continue;
            }
        };
        for text in drawing::paragraphs(tree.root()) {
            notation.paragraph(&text);
        }
        for relation in inner.0.iter().filter(|relation| relation.kind == "chart" && !relation.external) {
            match package.tree(&relation.target, budget) {
                Ok(Some(tree)) => {
                    let chart = drawing::chart(tree.root());
                    chart.titles.iter().for_each(|title| notation.paragraph(title));
                    notation.table(&chart.rows, true);
                }
                Ok(None) => {}
                Err(error) => notation.skipped(relation.target.clone(), error.to_string()),
            }
        }
    }
}

/// The cells of one sheet, from front to back.
struct Reading<'s> {
    shared: &'s Shared,
    cells: &'s mut Cells,
    /// Where the next row and cell are that do not say it.
    row: u32,
    column: u32,
    /// Formulas whose result the file does not have.
    without_result: usize,
}

/// A cell that is being read.
#[derive(Default)]
struct Current {
    kind: String,
    style: usize,
    value: String,
    inline: String,
    is_formula: bool,
}

impl Reading<'_> {
    fn sheet(&mut self, events: &mut Events<'_>, budget: &mut Budget) -> Result<()> {
        let mut open: Vec<u8> = Vec::new();
        let mut cell = Current::default();
        while let Some(event) = events.next(budget)? {
            match event {
                Event::Start(tag) => {
                    let kind = match tag.name() {
                        _ if tag.space != Space::Sheet => b'o',
                        "row" => self.begin_row(&tag),
                        "c" => self.begin_cell(&tag, &mut cell),
                        "v" => b'v',
                        "t" => b't',
                        "rPh" => b'p',
                        "f" => {
                            cell.is_formula = true;
                            b'o'
                        }
                        "mergeCell" => {
                            if let Some(merge) = tag.attribute("ref").as_deref().and_then(range) {
                                self.cells.merge(merge, budget)?;
                            }
                            b'o'
                        }
                        _ => b'o',
                    };
                    open.push(kind);
                }
                Event::Text(text) => match open.last() {
                    Some(b'v') => cell.value.push_str(&text),
                    Some(b't') if open.contains(&b'c') && !open.contains(&b'p') => cell.inline.push_str(&text),
                    _ => {}
                },
                Event::End => match open.pop() {
                    Some(b'c') => {
                        let text = self.shown(&cell);
                        self.without_result +=
                            usize::from(cell.is_formula && cell.value.is_empty() && cell.kind != "str");
                        self.cells.put(self.row, self.column, &text, budget)?;
                        self.column = self.column.saturating_add(1);
                    }
                    Some(b'r') => self.row = self.row.saturating_add(1),
                    _ => {}
                },
            }
        }
        Ok(())
    }

    fn begin_row(&mut self, tag: &Tag<'_>) -> u8 {
        if let Some(row) =
            tag.attribute("r").and_then(|row| row.parse::<u32>().ok()).filter(|row| (1..=ROWS).contains(row))
        {
            self.row = row - 1;
        }
        self.column = 0;
        b'r'
    }

    fn begin_cell(&mut self, tag: &Tag<'_>, cell: &mut Current) -> u8 {
        if let Some((row, column)) = tag.attribute("r").as_deref().and_then(place) {
            (self.row, self.column) = (row, column);
        }
        cell.value.clear();
        cell.inline.clear();
        cell.is_formula = false;
        cell.kind = tag.attribute("t").unwrap_or_default();
        cell.style = tag.attribute("s").and_then(|style| style.parse().ok()).unwrap_or(0);
        b'c'
    }

    fn shown(&self, cell: &Current) -> String {
        let at = self.shared.styles.get(cell.style).copied();
        let format = at.and_then(|at| self.shared.formats.get(at));
        let text = |text: &str| format.map_or_else(|| text.to_string(), |format| format.text(text));
        let value = cell.value.trim();
        match cell.kind.as_str() {
            "s" => value.parse().ok().and_then(|at| self.shared.strings.get(at)).map(text).unwrap_or_default(),
            "inlineStr" => text(&unescaped(&cell.inline)),
            "str" => text(&unescaped(&cell.value)),
            "b" => if value == "1" { "TRUE" } else { "FALSE" }.to_string(),
            "e" | "d" => value.to_string(),
            _ => match value.parse::<f64>() {
                Ok(number) => match format {
                    Some(format) => format.number(number, self.shared.since_1904),
                    None => super::decimal::general(number),
                },
                Err(_) => value.to_string(),
            },
        }
    }
}

/// `B3` as row and column from 0.
fn place(name: &str) -> Option<(u32, u32)> {
    let letters = name.len() - name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    let (letters, digits) = name.split_at_checked(letters)?;
    let mut column = 0u32;
    for letter in letters.bytes() {
        column = column.checked_mul(26)?.checked_add(u32::from(letter.to_ascii_uppercase() - b'A') + 1)?;
    }
    let row: u32 = digits.parse().ok()?;
    ((1..=ROWS).contains(&row) && (1..=COLUMNS).contains(&column)).then(|| (row - 1, column - 1))
}

fn range(name: &str) -> Option<Merge> {
    let (from, to) = name.split_once(':').unwrap_or((name, name));
    let ((top, left), (bottom, right)) = (place(from)?, place(to)?);
    Some(Merge { top, left, bottom, right })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_escapes_are_read() {
        assert_eq!(place("A1"), Some((0, 0)));
        assert_eq!(place("XFD1048576"), Some((1_048_575, 16_383)));
        assert_eq!((place("XFE1"), place("A0"), place("1"), place("é1")), (None, None, None, None));
        assert_eq!(unescaped("a_x000D__x000A_b_x41_一_x005F_"), "a\nb_x41_一_");
    }
}

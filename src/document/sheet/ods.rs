//! OpenDocument spreadsheets (ISO/IEC 26300): the texts of cells as the program last showed them.

use super::layout::{Cells, Merge};
use crate::document::budget::Budget;
use crate::document::notation::Notation;
use crate::document::package::Package;
use crate::document::xml::{Element, Space};
use crate::error::{Error, Kind, Result};

/// Repetitions of one row or cell that has text. Programs repeat empty ones to the end of the sheet.
const REPEATS: u32 = 1 << 20;
/// Places that a cell of a repeated row counts for: its row is as wide as the table, and says nothing new.
const AGAIN: usize = 64;

/// Writes all sheets.
///
/// # Errors
/// The package is damaged, encrypted or too large.
pub(super) fn read(package: &mut Package<'_>, notation: &mut Notation, budget: &mut Budget) -> Result<()> {
    let manifest = package.part("META-INF/manifest.xml", budget)?.unwrap_or_default();
    if manifest.windows(16).any(|window| window == b":encryption-data") {
        return Err(Error::new(Kind::Format, "the file is behind a password")
            .hint("save it without a password and index it again"));
    }
    let missing = || Error::new(Kind::Format, "not a spreadsheet").expected("tables in `content.xml`").found("none");
    let tree = package.tree("content.xml", budget)?.ok_or_else(missing)?;
    let body = tree.root().child(Space::OdfOffice, "body").and_then(|body| body.child(Space::OdfOffice, "spreadsheet"));
    for table in body.ok_or_else(missing)?.all(Space::OdfTable, "table") {
        super::begin(notation, table.attribute(Space::OdfTable, "name").unwrap_or("Sheet"), false);
        let mut sheet = Sheet { cells: Cells::default(), row: 0 };
        sheet.rows(table, budget)?;
        sheet.cells.write(notation, budget)?;
    }
    Ok(())
}

struct Sheet {
    cells: Cells,
    row: u32,
}

fn count(element: Element<'_>, name: &str) -> u32 {
    element.attribute(Space::OdfTable, name).and_then(|count| count.parse().ok()).unwrap_or(1).clamp(1, REPEATS)
}

impl Sheet {
    /// Rows, whatever groups they lie in.
    fn rows(&mut self, container: Element<'_>, budget: &mut Budget) -> Result<()> {
        for element in container.children().filter(|e| e.space() == Space::OdfTable) {
            match element.name() {
                "table-row" => {
                    let repeats = count(element, "number-rows-repeated");
                    let before = self.row;
                    for n in 0..repeats {
                        if n > 0 && budget.is_cut() || !self.cells(element, n > 0, budget)? {
                            break;
                        }
                        self.row = self.row.saturating_add(1);
                    }
                    self.row = before.saturating_add(repeats);
                }
                "table-column" | "shapes" | "table" => {}
                _ => self.rows(element, budget)?,
            }
        }
        Ok(())
    }

    /// The cells of a row, which may repeat the one before it; whether it has any text.
    fn cells(&mut self, row: Element<'_>, is_repeated: bool, budget: &mut Budget) -> Result<bool> {
        let mut column = 0u32;
        let mut any = false;
        for cell in row.children().filter(|e| e.space() == Space::OdfTable) {
            let repeats = count(cell, "number-columns-repeated");
            if cell.name() == "table-cell" {
                let mut text = String::new();
                for paragraph in cell.all(Space::OdfText, "p") {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    collect(paragraph, &mut text);
                }
                if !text.trim().is_empty() {
                    any = true;
                    for at in 0..repeats {
                        let places = if is_repeated { AGAIN } else { usize::from(at > 0) };
                        if places > 0 && !budget.repeat(places, text.len()) {
                            break;
                        }
                        self.cells.put(self.row, column.saturating_add(at), &text, budget)?;
                    }
                }
                let (across, down) = (count(cell, "number-columns-spanned"), count(cell, "number-rows-spanned"));
                if across > 1 || down > 1 {
                    let (bottom, right) = (self.row.saturating_add(down - 1), column.saturating_add(across - 1));
                    self.cells.merge(Merge { top: self.row, left: column, bottom, right }, budget)?;
                }
            }
            column = column.saturating_add(repeats);
        }
        Ok(any)
    }
}

fn collect(element: Element<'_>, out: &mut String) {
    element.pieces(&mut |piece| match piece {
        Ok(text) => out.push_str(text),
        Err(inner) => match (inner.space(), inner.name()) {
            (Space::OdfText, "s") => {
                let count = inner.attribute(Space::OdfText, "c").and_then(|count| count.parse().ok()).unwrap_or(1);
                out.extend(std::iter::repeat_n(' ', usize::min(count, 100)));
            }
            (Space::OdfText, "tab") => out.push(' '),
            (Space::OdfText, "line-break") => out.push('\n'),
            (Space::OdfText, "note") | (Space::OdfOffice, "annotation") => {}
            _ => collect(inner, out),
        },
    });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::package::tests::zipped;

    #[test]
    fn repetition_of_words_is_bounded() {
        let cell = "<a:table-cell a:number-columns-repeated='1000000'><t:p>x</t:p></a:table-cell>".repeat(40);
        let xml = format!(
            "<o:document-content xmlns:o='urn:oasis:names:tc:opendocument:xmlns:office:1.0' \
             xmlns:a='urn:oasis:names:tc:opendocument:xmlns:table:1.0' xmlns:t='urn:oasis:names:tc:opendocument:xmlns:text:1.0'>\
             <o:body><o:spreadsheet><a:table><a:table-row a:number-rows-repeated='1000000'>{cell}</a:table-row>\
             </a:table></o:spreadsheet></o:body></o:document-content>"
        );
        let bytes = zipped(&[("content.xml", &xml)]);
        let (mut notation, mut budget) = (Notation::new(), Budget::default());
        read(&mut Package::open(&bytes).unwrap(), &mut notation, &mut budget).unwrap();
        assert!(budget.is_cut() && notation.len() < 8 << 20);
    }

    #[test]
    fn repeated_and_merged_cells_are_read() {
        let xml = "<o:document-content xmlns:o='urn:oasis:names:tc:opendocument:xmlns:office:1.0' \
            xmlns:a='urn:oasis:names:tc:opendocument:xmlns:table:1.0' xmlns:t='urn:oasis:names:tc:opendocument:xmlns:text:1.0'>\
            <o:body><o:spreadsheet><a:table a:name='表'><a:table-row><a:table-cell><t:p>轴<t:span>号</t:span></t:p></a:table-cell>\
            <a:table-cell a:number-columns-repeated='2'><t:p>速<t:s/>度</t:p></a:table-cell></a:table-row>\
            <a:table-row a:number-rows-repeated='2'><a:table-cell/><a:table-cell><t:p>5</t:p></a:table-cell></a:table-row>\
            <a:table-row a:number-rows-repeated='1000000'><a:table-cell a:number-columns-repeated='1000'/></a:table-row>\
            </a:table></o:spreadsheet></o:body></o:document-content>";
        let bytes = zipped(&[("content.xml", xml)]);
        let mut notation = Notation::new();
        read(&mut Package::open(&bytes).unwrap(), &mut notation, &mut Budget::default()).unwrap();
        let expected = "# 表\n\n| 轴号 | 速 度 | 速 度 |\n| --- | --- | --- |\n| | 5 | |\n| | 5 | |\n";
        assert_eq!(notation.finish().text, expected);
    }
}

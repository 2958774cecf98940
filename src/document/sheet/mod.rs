//! Spreadsheets: Excel workbooks of both kinds and OpenDocument. Every sheet is a page and a chapter; cells say what the
//! program shows, formulas their last result.

mod clock;
mod decimal;
mod format;
mod layout;
mod ods;
mod places;
mod xls;
mod xlsx;

use super::budget::Budget;
use super::notation::{Extracted, Notation};
use super::ole;
use super::package::{self, Package, Properties};
use crate::error::{Error, Kind, Result};

/// Reads an `.xlsx`, `.xlsm`, `.xls` or `.ods` file.
///
/// # Errors
/// The file is damaged, encrypted, too large, of a kind that is not read, or has no text at all.
pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Extracted> {
    let mut notation = Notation::new();
    let mut properties = Properties::default();
    if ole::is_ole(bytes) {
        xls::read(bytes, &mut notation, budget)?;
    } else {
        let mut package = Package::open(bytes)?;
        if package.has("content.xml") && package.has("META-INF/manifest.xml") {
            ods::read(&mut package, &mut notation, budget)?;
        } else {
            let main = package.main("xl/workbook.xml", budget)?;
            if main.to_ascii_lowercase().ends_with(".bin") {
                return Err(Error::new(Kind::Format, "binary workbooks (.xlsb) are not read")
                    .hint("open it in Excel and save it as .xlsx"));
            }
            xlsx::read(&mut package, &main, &mut notation, budget)?;
            properties = package.properties(budget);
        }
    }
    if let Some(date) = properties.modified {
        notation.metadata("date", &date);
    }
    let mut out = notation.finish();
    out.title = properties.title.filter(|title| package::says(&out.text, title));
    let is_heading = |line: &str| line.is_empty() || line.starts_with("# ");
    if out.skipped.is_empty() && out.text.lines().all(is_heading) {
        return Err(Error::new(Kind::Format, "the workbook has no text").expected("cells").found("empty sheets"));
    }
    Ok(out)
}

/// Begins a sheet.
fn begin(notation: &mut Notation, name: &str, is_hidden: bool) {
    notation.page(name);
    notation.heading(1, &if is_hidden { format!("{name} (hidden)") } else { name.to_string() });
}

/// Formulas are not computed: where a program stored no result, something is missing.
fn name_missing_results(notation: &mut Notation, sheet: &str, count: usize) {
    if count > 0 {
        let reason = format!(
            "{count} formula(s) without a stored result; open the file in Excel or LibreOffice and save it as .xlsx"
        );
        notation.skipped(format!("sheet {sheet}"), reason);
    }
}

#[cfg(test)]
#[path = "sheet_tests.rs"]
mod tests;

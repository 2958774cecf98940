//! Reads HTML and XHTML pages (HTML Living Standard) as [`Notation`] text.
//!
//! Any bytes are a page, as they are for a browser: nothing is refused but what cannot be decoded. What a browser does not
//! show is left out, and so is the frame around the main text where the page marks it; both are named.

mod build;
mod charset;
mod head;
mod line;
mod mark;
mod name;
mod number;
mod select;
mod tree;
mod write;

pub(super) use line::raised;

#[cfg(test)]
mod tests;

use encoding_rs::Encoding;

use super::budget::Budget;
use super::notation::{Extracted, Notation};
use crate::error::{Error, Kind, Result};

/// Pages up to this size are read; numbers of nodes and places in the text have 32 bits.
const LARGEST: usize = 1 << 30;

/// Reads a page. `charset` is the encoding that someone says it has; without it the page and its bytes tell.
///
/// # Errors
/// The bytes decode in no encoding, or the page costs more than the budget.
pub(crate) fn read(bytes: &[u8], charset: Option<&'static Encoding>, budget: &mut Budget) -> Result<Extracted> {
    let (text, warning) = charset::decode(bytes, charset)?;
    let mut out = read_text(&text, budget)?;
    if let Some(warning) = warning {
        out.skipped.insert(0, warning);
    }
    Ok(out)
}

/// Reads a page that is decoded already.
pub(crate) fn read_text(text: &str, budget: &mut Budget) -> Result<Extracted> {
    if text.len() > LARGEST {
        return Err(Error::new(Kind::Format, "the page is too large").expected(format!("at most {} MB", LARGEST >> 20)));
    }
    // Attributes and texts are copied once into the tree.
    budget.spend(text.len() as u64)?;
    let parsed = build::parse(text, is_xml(text), budget)?;
    let selection = select::select(&parsed.tree, budget)?;
    let mut notation = Notation::new();
    head::write(&parsed.tree, |id| selection.left_out.contains(&id), &mut notation);
    for part in &selection.skipped {
        notation.skipped(part.place.clone(), part.reason.clone());
    }
    write::write(&parsed.tree, &selection, &mut notation, budget)?;
    if let Some((name, characters)) = parsed.swallowed.filter(|(_, characters)| *characters > 0) {
        notation.skipped("the end of the page", format!("a {name} that is never closed took {characters} characters"));
    }
    Ok(notation.finish())
}

/// True for XHTML, where a tag may close itself.
fn is_xml(text: &str) -> bool {
    let head = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    head.starts_with("<?xml")
}

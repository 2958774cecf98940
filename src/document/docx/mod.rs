//! Word documents: WordprocessingML (ISO/IEC 29500-1, 17) in a package, transitional or strict.
//!
//! Automatic numbers are written as Word displays them, because in regulations and manuals they are what people cite. The
//! text is the one of the accepted document: insertions stay, deletions and hidden text go.

mod blocks;
mod fields;
mod headings;
mod inline;
mod numbering;
pub(crate) mod numerals;
mod reader;
mod styles;
mod symbols;
mod table;
mod write;

use std::collections::HashMap;

use blocks::{Block, Role};
use reader::{Notes, Reader};

use super::budget::Budget;
use super::notation::{Extracted, Notation, PICTURES, one_line};
use super::package::{self, Package, Relations};
use super::xml::{Element, Space, Tree};
use crate::error::{Error, Kind, Result};

/// The parts beside the body.
#[derive(Default)]
struct Parts {
    styles: Option<Tree>,
    numbering: Option<Tree>,
    footnotes: Option<Tree>,
    endnotes: Option<Tree>,
    settings: Option<Tree>,
    comments: Option<Tree>,
}

/// Reads a `.docx` or `.docm` file.
///
/// # Errors
/// The package or its main part is damaged, too large, or has no text at all.
pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Extracted> {
    let mut notation = Notation::new();
    let mut package = Package::open(bytes)?;
    let main = package.main("word/document.xml", budget)?;
    let relations = package.relations(&main, budget)?;
    let tree = package.tree(&main, budget)?.ok_or_else(|| no_body(&main))?;
    let body = tree.root().child(Space::Word, "body").ok_or_else(|| no_body(&main))?;
    let parts = Parts::read(&mut package, &relations, budget, &mut notation);
    let properties = package.properties(budget);

    let mut reader = Reader {
        styles: parts.styles.as_ref().map(|tree| styles::Styles::read(tree.root())).unwrap_or_default(),
        numbering: parts.numbering.as_ref().map(|tree| numbering::Numbering::read(tree.root())).unwrap_or_default(),
        footnotes: notes(&parts, body, parts.footnotes.as_ref(), "footnote", "decimal"),
        endnotes: notes(&parts, body, parts.endnotes.as_ref(), "endnote", "lowerRoman"),
        package: &mut package,
        budget,
        relations,
        fields: fields::Fields::default(),
        contents: 0,
        tables: 0,
        carried: String::new(),
        waiting: Vec::new(),
        noted: Default::default(),
        pictures: 0,
        objects: Default::default(),
        skipped: Vec::new(),
    };
    let mut blocks = Vec::new();
    reader.blocks(body, &mut blocks)?;
    let (objects, skipped) = (std::mem::take(&mut reader.objects), std::mem::take(&mut reader.skipped));
    let pictures = reader.pictures;

    headings::promote(&mut blocks);
    write::Writer::new(&mut notation, budget).blocks(&blocks)?;
    if notation.len() == 0 {
        return Err(no_text(&objects));
    }
    for part in skipped {
        notation.skipped(part.place, part.reason);
    }
    if pictures > 0 {
        notation.skipped(format!("{pictures} large picture(s)"), PICTURES);
    }
    for (program, count) in objects {
        let by = if program.is_empty() { String::new() } else { format!(" made by {program}") };
        notation.skipped(
            format!("{count} embedded object(s)"),
            format!("an object{by}; only its picture is in the document"),
        );
    }
    if let Some(count) =
        parts.comments.map(|tree| tree.root().all(Space::Word, "comment").count()).filter(|&count| count > 0)
    {
        notation.skipped("comments", format!("{count} of reviewers, which are no part of the text"));
    }
    if let Some(date) = properties.modified {
        notation.metadata("date", &date);
    }
    let mut out = notation.finish();
    out.title = properties.title.filter(|title| package::says(&out.text, title)).or_else(|| title(&blocks));
    Ok(out)
}

impl Parts {
    /// A damaged part beside the body does not take the body with it, but is named.
    fn read(package: &mut Package<'_>, relations: &Relations, budget: &mut Budget, notation: &mut Notation) -> Self {
        let mut get = |kind: &str, lost: &str| {
            let name = relations.by_kind(kind)?;
            match package.tree(name, budget) {
                Ok(tree) => tree,
                Err(error) => {
                    notation.skipped(name, format!("{lost}: {error}"));
                    None
                }
            }
        };
        Self {
            styles: get("styles", "headings by style are missing"),
            numbering: get("numbering", "automatic numbers are missing"),
            footnotes: get("footnotes", "footnotes are missing"),
            endnotes: get("endnotes", "endnotes are missing"),
            settings: get("settings", "the format of note numbers is not known"),
            comments: get("comments", "comments are not counted"),
        }
    }
}

/// The notes of a part by id, and how they are numbered: by the settings, else by the last section.
fn notes<'t>(
    parts: &'t Parts,
    body: Element<'t>,
    tree: Option<&'t Tree>,
    name: &'static str,
    usual: &str,
) -> Notes<'t> {
    let group = format!("{name}Pr");
    let of_settings = parts.settings.as_ref().and_then(|tree| tree.root().child(Space::Word, &group));
    let of_section = body.child(Space::Word, "sectPr").and_then(|section| section.child(Space::Word, &group));
    let value = |name: &str| {
        let of = |group: Option<Element<'t>>| group?.child(Space::Word, name)?.attribute(Space::Word, "val");
        of(of_section).or_else(|| of(of_settings))
    };
    let mut by_id = HashMap::new();
    for note in tree.into_iter().flat_map(|tree| tree.root().all(Space::Word, name)) {
        if let Some(id) = note.attribute(Space::Word, "id") {
            by_id.insert(id.to_string(), note);
        }
    }
    Notes {
        notes: by_id,
        format: value("numFmt").unwrap_or(usual).to_string(),
        next: value("numStart").and_then(|start| start.parse().ok()).unwrap_or(1),
    }
}

/// The first title paragraph.
fn title(blocks: &[Block]) -> Option<String> {
    blocks.iter().find_map(|block| match block {
        Block::Paragraph(paragraph) if paragraph.role == Role::Title => Some(one_line(&paragraph.text)),
        Block::Paragraph(_) => None,
        Block::Table(table) => table.rows.iter().flat_map(|row| &row.cells).find_map(|cell| title(&cell.blocks)),
    })
}

fn no_body(main: &str) -> Error {
    Error::new(Kind::Format, "not a Word document").place(main).expected("a `w:body`").found("none")
}

fn no_text(objects: &std::collections::BTreeMap<String, usize>) -> Error {
    let found = if objects.is_empty() { "no text, perhaps only pictures" } else { "only embedded objects" };
    Error::new(Kind::Format, "the document has no text")
        .expected("paragraphs or tables")
        .found(found)
        .hint("if it is scanned, recognise its text first (OCR) and save that")
}

#[cfg(test)]
#[path = "docx_tests.rs"]
mod tests;

//! Presentations: PresentationML (ISO/IEC 29500-1, 19) in a package, transitional or strict. Every slide is a page and a
//! chapter under its title, in the order of the show.

mod shapes;

use super::budget::Budget;
use super::drawing;
use super::notation::{Extracted, Notation, PICTURES, one_line};
use super::package::{self, Package, Relations};
use super::xml::{Space, Tree, is_on};
use crate::error::{Error, Kind, Result};

/// Reads a `.pptx`, `.pptm` or `.ppsx` file.
///
/// # Errors
/// The package or its main part is damaged, too large, or has no text at all.
pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Extracted> {
    let mut notation = Notation::new();
    let mut package = Package::open(bytes)?;
    let main = package.main("ppt/presentation.xml", budget)?;
    let relations = package.relations(&main, budget)?;
    let not_one = || Error::new(Kind::Format, "not a presentation").place(main.clone());
    let tree = package.tree(&main, budget)?.ok_or_else(not_one)?;
    let root = tree.root();
    if !root.is(Space::Presentation, "presentation") {
        return Err(not_one());
    }
    let mut first_title = None;
    let mut has_text = false;
    let mut illustrated = Vec::new();
    let slides = root.child(Space::Presentation, "sldIdLst");
    for (at, slide) in slides.iter().flat_map(|list| list.all(Space::Presentation, "sldId")).enumerate() {
        budget.check()?;
        let number = at + 1;
        notation.page(number.to_string());
        let target = slide.attribute(Space::Relationships, "id").and_then(|id| relations.by_id(id));
        let missing = || Error::new(Kind::Format, "the slide is missing");
        let result = target
            .ok_or_else(missing)
            .and_then(|relation| one_slide(&mut package, &relation.target, number, &mut notation, budget));
        match result {
            Ok(slide) => {
                has_text |= slide.has_text;
                first_title = first_title.or(slide.title);
                illustrated.push(slide.has_picture.then(|| number.to_string()));
            }
            Err(error) => {
                budget.check()?;
                notation.skipped(format!("slide {number}"), error.to_string());
                illustrated.push(None);
            }
        }
    }
    notation.pictures("slide", illustrated.into_iter());
    let properties = package.properties(budget);
    if let Some(date) = properties.modified {
        notation.metadata("date", &date);
    }
    let mut out = notation.finish();
    out.title =
        properties.title.filter(|title| package::says(&out.text, title)).or(first_title).map(|title| one_line(&title));
    if !has_text && out.skipped.iter().all(|part| part.reason == PICTURES) {
        return Err(Error::new(Kind::Format, "the presentation has no text")
            .expected("slides with text")
            .found("only pictures or empty slides")
            .hint("recognise the text of its pictures first (OCR)"));
    }
    Ok(out)
}

/// What a slide brought.
struct Slide {
    title: Option<String>,
    has_text: bool,
    has_picture: bool,
}

fn one_slide(
    package: &mut Package<'_>,
    part: &str,
    number: usize,
    notation: &mut Notation,
    budget: &mut Budget,
) -> Result<Slide> {
    let missing = || Error::new(Kind::Format, "the slide is missing").place(part);
    let tree = package.tree(part, budget)?.ok_or_else(missing)?;
    let relations = package.relations(part, budget)?;
    let root = tree.root();
    let shapes = root.child(Space::Presentation, "cSld").and_then(|slide| slide.child(Space::Presentation, "spTree"));
    let mut found = shapes::Shapes::default();
    if let Some(shapes) = shapes {
        found.read(shapes, budget);
    }
    let has_picture = found.has_picture;
    let is_hidden = root.attribute(Space::None, "show").is_some_and(|show| !is_on(Some(show)));
    let title = found.title.take().filter(|title| !title.trim().is_empty());
    let heading = title.clone().unwrap_or_else(|| format!("Slide {number}"));
    let before = notation.len();
    notation.heading(1, &if is_hidden { format!("{heading} (hidden)") } else { heading });
    let after_heading = notation.len();
    for block in found.blocks {
        shapes::write(block, package, &relations, notation, budget)?;
    }
    notes(package, &relations, number, notation, budget);
    let has_text = title.is_some() || notation.len() > after_heading.max(before);
    Ok(Slide { title, has_text, has_picture })
}

/// The notes of the speaker.
fn notes(
    package: &mut Package<'_>,
    relations: &Relations,
    number: usize,
    notation: &mut Notation,
    budget: &mut Budget,
) {
    let Some(part) = relations.by_kind("notesSlide") else { return };
    let tree: Tree = match package.tree(part, budget) {
        Ok(Some(tree)) => tree,
        Ok(None) => return,
        Err(error) => return notation.skipped(format!("notes of slide {number}"), error.to_string()),
    };
    let bodies = tree.root().descendants().filter(|shape| shape.is(Space::Presentation, "sp"));
    let texts: Vec<String> =
        bodies.filter(|shape| shapes::placeholder(*shape) == Some("body")).flat_map(drawing::paragraphs).collect();
    if !texts.is_empty() {
        notation.paragraph(&format!("Notes: {}", texts.join("\n")));
    }
}

#[cfg(test)]
#[path = "pptx_tests.rs"]
mod tests;

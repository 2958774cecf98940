//! Text of PDF files (ISO 32000-1 and -2) that have a text layer.
//!
//! A PDF says where each character lies, not what belongs together. So the characters are collected with their places
//! ([`content`]), joined to segments of lines ([`segments`]), rid of running headers and footers ([`running`]: lines in
//! the margins that come back on at least three pages, up to their page number; they are left out without a mention), put
//! in the order of reading ([`columns`]) and joined to tables, paragraphs and headings ([`grids`], [`rows`], [`tables`],
//! [`paragraphs`], [`headings`]).
//!
//! What cannot be read is named: pages that are only an image, characters whose meaning the file does not tell, damaged
//! content, text outside the visible page.

mod characters;
mod columns;
mod composite;
mod content;
mod encodings;
mod font;
mod grids;
mod headings;
mod matrix;
mod outline;
mod paragraphs;
mod program;
mod rows;
mod rules;
mod running;
mod segments;
mod simple;
mod source;
mod tables;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::collections::HashMap;

use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use self::columns::Item;
use self::content::{Drawn, Fonts};
use self::grids::Grid;
use self::paragraphs::{Block, Paragraph};
use self::running::Sheet;
use self::segments::Segment;
use self::vocabulary::Vocabulary;
use super::notation::Notation;
use super::{Budget, Extracted};
use crate::error::{Error, Kind, Result};

/// A page without text on which at least so many lines and areas are painted shows something.
const FEWEST_SHAPES: usize = 20;

/// One direction of writing on a page, cut into segments and tables.
struct Layer {
    angle: i32,
    segments: Vec<Segment>,
    grids: Vec<Grid>,
}

/// What is kept of a page until all pages are known.
#[derive(Default)]
struct PageText {
    height: f64,
    layers: Vec<Layer>,
    has_text: bool,
    images: usize,
    /// The share of the page that the largest image covers.
    picture: f64,
    shapes: usize,
    /// Why something of it is missing.
    losses: Vec<String>,
}

/// Reads a PDF file.
///
/// # Errors
/// The file is no PDF or too damaged to have pages, is protected by a password, has images for all of its pages, or goes
/// beyond the budget.
pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Extracted> {
    source::measure_object_streams(bytes, budget)?;
    budget.spend(bytes.len() as u64)?;
    let pdf = open(bytes)?;
    let labels = outline::labels(&pdf);
    let mut fonts = Fonts::new();
    let mut pages = Vec::new();
    for page in pdf.pages().iter() {
        pages.push(page_text(content::run(page, &mut fonts, budget)?, budget)?);
    }
    let has_picture = |page: &PageText| page.images > 0 || page.shapes >= FEWEST_SHAPES;
    if pages.iter().all(|page| !page.has_text) && pages.iter().any(has_picture) {
        return Err(Error::new(Kind::Format, "the PDF has no text layer")
            .expected("a PDF with text")
            .found(format!("{} pages of images or drawings only", pages.len()))
            .hint("run OCR on it first, such as `ocrmypdf in.pdf out.pdf`, and index the result"));
    }
    remove_running_lines(&mut pages);
    let mut words = Vocabulary::default();
    for segment in pages.iter().flat_map(|page| &page.layers).flat_map(|layer| &layer.segments) {
        words.learn(&segment.text);
    }
    let mut notation = Notation::new();
    if let Some(title) = outline::title(&pdf, budget)? {
        notation.title(&title);
    }
    for (key, value) in outline::metadata(&pdf) {
        notation.metadata(key, &value);
    }
    let mut blocks = Vec::with_capacity(pages.len());
    for page in &mut pages {
        budget.check()?;
        blocks.push(page_blocks(std::mem::take(&mut page.layers), &words, budget));
    }
    tables::join_pages(&mut blocks);
    let levels = headings::levels(&blocks, &outline::outline(&pdf));
    let label = |n: usize| labels.get(n).cloned().unwrap_or_else(|| (n + 1).to_string());
    for (n, (page, blocks)) in pages.iter().zip(&blocks).enumerate() {
        let label = label(n);
        let place = format!("page {label}");
        notation.page(label);
        write_page(&mut notation, n, blocks, &levels, &words);
        if !page.has_text && page.images > 0 {
            notation.skipped(&place, "only an image: no text layer");
        } else if !page.has_text && page.shapes >= FEWEST_SHAPES {
            notation.skipped(&place, "only a drawing: no text layer");
        }
        for loss in &page.losses {
            notation.skipped(&place, loss);
        }
    }
    // An image behind a whole page is a scan with a text layer, or a background.
    let is_illustrated = |page: &PageText| page.has_text && (0.05..0.6).contains(&page.picture);
    let illustrated = pages.iter().enumerate().map(|(n, page)| is_illustrated(page).then(|| label(n)));
    notation.pictures("page", illustrated);
    if pages.iter().all(|page| !page.has_text) {
        notation.skipped("the file", format!("no text on any of its pages ({})", pages.len()));
    }
    if !has_end(bytes) {
        notation.skipped("the file", "its end is missing: it is cut off, so pages or characters may be lost");
    }
    if let Some(reason) = missing_pages(&pdf, pages.len()) {
        notation.skipped("the file", reason);
    }
    Ok(notation.finish())
}

fn open(bytes: &[u8]) -> Result<Pdf> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            Error::new(Kind::Format, "the PDF is protected by a password")
                .expected("a PDF that opens without a password")
                .hint("remove the password first, such as with `qpdf --decrypt --password=… in.pdf out.pdf`")
        }
        LoadPdfError::Decryption(_) => Error::new(Kind::Format, "the PDF is encrypted in a way that is not known")
            .expected("RC4 or AES with a password")
            .hint("save it again without encryption"),
        LoadPdfError::Invalid => Error::new(Kind::Format, "not a readable PDF")
            .expected("pages")
            .found("none that could be found, even without its table of objects")
            .hint("the file is cut off or damaged: copy it again, or repair it with `qpdf in.pdf out.pdf`"),
    })?;
    if pdf.pages().is_empty() {
        return Err(Error::new(Kind::Format, "the PDF has no pages").hint("the file is damaged: copy it again"));
    }
    Ok(pdf)
}

/// A whole file ends with `%%EOF`, give or take what mail programs and servers append.
fn has_end(bytes: &[u8]) -> bool {
    const TAIL: usize = 2048;
    let tail = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or(bytes);
    tail.windows(5).any(|window| window == b"%%EOF")
}

/// The number of pages that the file claims beyond those that were found.
fn missing_pages(pdf: &Pdf, found: usize) -> Option<String> {
    use hayro_syntax::object::Dict;
    let claimed = outline::catalog(pdf).get::<Dict<'_>>("Pages")?.get::<i64>("Count")?;
    let missing = usize::try_from(claimed).ok()?.checked_sub(found).filter(|&missing| missing > 0)?;
    Some(format!("{missing} of {claimed} pages cannot be read: the file is cut off or damaged"))
}

fn page_text(drawn: Drawn, budget: &mut Budget) -> Result<PageText> {
    let mut losses = Vec::new();
    for (font, count) in &drawn.lost {
        let of = if font.is_empty() { String::new() } else { format!(" of the font {font}") };
        losses.push(format!("{count} characters{of}: the file does not tell which they are"));
    }
    if drawn.outside > 0 {
        losses.push(format!("{} characters lie outside the visible page", drawn.outside));
    }
    if drawn.is_damaged {
        losses.push("part of the content is damaged".into());
    }
    let has_text = !drawn.glyphs.is_empty() || !drawn.lost.is_empty();
    let mut page = PageText {
        height: drawn.height,
        has_text,
        images: drawn.images,
        picture: drawn.picture,
        shapes: drawn.shapes,
        losses,
        layers: Vec::new(),
    };
    for (n, mut frame) in segments::frames(&drawn.glyphs).into_iter().enumerate() {
        budget.check()?;
        let grids = if n == 0 && frame.angle == 0 {
            grids::take_grids(&drawn.rules, &mut frame.pieces, budget)
        } else {
            Vec::new()
        };
        let segments = segments::segments(frame.pieces);
        page.layers.push(Layer { angle: frame.angle, segments, grids });
    }
    Ok(page)
}

fn remove_running_lines(pages: &mut [PageText]) {
    let mut sheets = Vec::new();
    for (number, page) in pages.iter_mut().enumerate() {
        for layer in &mut page.layers {
            let is_slanted = layer.angle % 90 != 0;
            if is_slanted || layer.angle == 0 {
                sheets.push(Sheet { page: number, height: page.height, is_slanted, segments: &mut layer.segments });
            }
        }
    }
    running::remove(&mut sheets);
}

fn page_blocks(layers: Vec<Layer>, words: &Vocabulary, budget: &mut Budget) -> Vec<Block> {
    let mut out = Vec::new();
    for layer in layers {
        let segments = layer.segments.into_iter().map(Item::Text);
        let items = layer.grids.into_iter().map(Item::Grid).chain(segments).collect();
        for region in columns::regions(items) {
            out.extend(paragraphs::paragraphs(rows::rows(region, budget), words));
        }
    }
    out
}

fn write_page(
    notation: &mut Notation,
    page: usize,
    blocks: &[Block],
    levels: &HashMap<(usize, usize), u8>,
    words: &Vocabulary,
) {
    let mut at = 0;
    while let Some(block) = blocks.get(at) {
        match block {
            Block::Table(table) => {
                table.titles.iter().for_each(|title| notation.paragraph(title));
                if table.joins {
                    notation.more_rows(&table.rows);
                } else {
                    notation.table(&table.rows, table.has_header);
                }
            }
            Block::Text(paragraph) => match levels.get(&(page, at)) {
                Some(&level) => {
                    let mut text = paragraph.text.clone();
                    // The lines of one heading in large type are paragraphs of their own until here.
                    while let Some(Block::Text(next)) = blocks.get(at + 1) {
                        if levels.get(&(page, at + 1)) != Some(&level) || !is_same_heading(paragraph, next) {
                            break;
                        }
                        paragraphs::join(&mut text, &next.text, words);
                        at += 1;
                    }
                    notation.heading(level, &text);
                }
                None => write_paragraph(notation, paragraph),
            },
        }
        at += 1;
    }
}

/// True when `next` is the next line of a heading: in the same type, close by and centred as well.
fn is_same_heading(first: &Paragraph, next: &Paragraph) -> bool {
    first.is_centred
        && next.is_centred
        && (first.size - next.size).abs() < 0.2
        && first.is_bold == next.is_bold
        && next.room < 0.6
        && first.item.is_none()
        && next.item.is_none()
}

fn write_paragraph(notation: &mut Notation, paragraph: &Paragraph) {
    match (paragraph.item, paragraphs::split_marker(&paragraph.text)) {
        (Some(depth), Some((marker, text))) => notation.item(depth, marker, text),
        _ => notation.paragraph(&paragraph.text),
    }
}

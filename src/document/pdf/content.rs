//! Runs the content streams of a page (ISO 32000-1, 7.8, 8 and 9) and notes where each character, ruled line and image
//! lies. Nothing is drawn: colours, clipping and shading are passed over.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction as Operator;
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Rect, Stream};
use hayro_syntax::page::{Page, Resources};

use super::characters::usual;
use super::font::Font;
use super::matrix::Matrix;
use super::rules::{Path, Rule};
use super::source::{text_of, unpack};
use crate::document::Budget;
use crate::error::Result;

/// Form XObjects that may lie inside each other.
const DEEPEST_FORM: usize = 24;
/// Form XObjects that a page may draw: forms that draw each other many times multiply.
const MOST_FORMS: usize = 100_000;
/// Graphics states that may be saved.
const DEEPEST_STATE: usize = 512;
/// What one character on a page counts for in the budget: about what it takes in memory.
const CHARACTER_BYTES: u64 = 64;

/// A character, or a ligature of several, on the page. Y grows downwards from the top of the visible page.
#[derive(Debug, Clone)]
pub(super) struct Glyph {
    pub(super) text: Rc<str>,
    /// Where its baseline begins and ends.
    pub(super) start: (f64, f64),
    pub(super) end: (f64, f64),
    /// Height of the font.
    pub(super) size: f64,
    pub(super) is_bold: bool,
    /// White space came before it in the content stream.
    pub(super) after_space: bool,
    /// Stands in a column of vertical writing: its start is the middle of its upper edge.
    pub(super) is_vertical: bool,
}

/// What one page shows.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) glyphs: Vec<Glyph>,
    pub(super) rules: Vec<Rule>,
    pub(super) images: usize,
    /// The share of the page that the largest image covers.
    pub(super) picture: f64,
    /// Lines and areas.
    pub(super) shapes: usize,
    /// Characters without a known meaning, by font.
    pub(super) lost: BTreeMap<String, usize>,
    /// Characters outside the visible page.
    pub(super) outside: usize,
    /// Part of the content could not be unpacked.
    pub(super) is_damaged: bool,
}

/// Fonts that were read, over all pages.
pub(super) type Fonts = HashMap<ObjectIdentifier, Rc<Font>>;

/// Runs a page with its annotations.
///
/// # Errors
/// The budget is used up.
pub(super) fn run(page: &Page<'_>, fonts: &mut Fonts, budget: &mut Budget) -> Result<Drawn> {
    let (width, height) = page.render_dimensions();
    let drawn = Drawn { width: f64::from(width), height: f64::from(height), ..Drawn::default() };
    let to_page = Matrix(page.initial_transform(true).as_coeffs());
    let state = State::new(to_page);
    let mut runner =
        Runner { drawn, fonts, budget, state, stack: Vec::new(), replaced: Vec::new(), space: None, forms: 0 };
    let content = runner.page_content(page)?;
    runner.stream(&content, page.resources(), 0)?;
    for annotation in page.raw().get::<Array<'_>>("Annots").unwrap_or_default().iter::<Dict<'_>>() {
        runner.annotation(&annotation, to_page)?;
    }
    Ok(runner.drawn)
}

#[derive(Clone)]
struct State {
    ctm: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_spacing: f64,
    word_spacing: f64,
    horizontal: f64,
    leading: f64,
    rise: f64,
    text: Matrix,
    line: Matrix,
}

impl State {
    fn new(ctm: Matrix) -> Self {
        Self {
            ctm,
            font: None,
            size: 0.0,
            character_spacing: 0.0,
            word_spacing: 0.0,
            horizontal: 1.0,
            leading: 0.0,
            rise: 0.0,
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
        }
    }

    fn move_line(&mut self, x: f64, y: f64) {
        self.line = Matrix::translation(x, y).then(self.line);
        self.text = self.line;
    }
}

/// An open marked-content sequence that may replace its characters (14.9.4).
struct Replaced {
    text: Option<String>,
    first: usize,
}

struct Runner<'r> {
    drawn: Drawn,
    fonts: &'r mut Fonts,
    budget: &'r mut Budget,
    state: State,
    stack: Vec<State>,
    replaced: Vec<Replaced>,
    /// Where white space that was shown last ends.
    space: Option<(f64, f64)>,
    forms: usize,
}

impl Runner<'_> {
    /// The content streams of a page as one.
    fn page_content(&mut self, page: &Page<'_>) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        let streams: Vec<Stream<'_>> = match page.raw().get::<Object<'_>>("Contents") {
            Some(Object::Stream(stream)) => vec![stream],
            Some(Object::Array(array)) => {
                let streams: Vec<Stream<'_>> = array.iter::<Stream<'_>>().collect();
                self.drawn.is_damaged = streams.len() < array.raw_iter().count();
                streams
            }
            Some(Object::Null(_)) | None => {
                self.drawn.is_damaged = page.raw().contains_key("Contents");
                Vec::new()
            }
            Some(_) => {
                self.drawn.is_damaged = true;
                Vec::new()
            }
        };
        for stream in streams {
            let unpacked = unpack(&stream, self.budget)?;
            self.drawn.is_damaged |= !unpacked.is_whole;
            content.extend_from_slice(&unpacked.data);
            content.push(b'\n');
        }
        Ok(content)
    }

    fn stream(&mut self, content: &[u8], resources: &Resources<'_>, depth: usize) -> Result<()> {
        let bottom = self.stack.len();
        let open = self.replaced.len();
        let mut path = Path::default();
        let mut operators = TypedIter::new(content);
        let mut count = 0usize;
        let mut is_in_text = false;
        let mut loaded: HashMap<Vec<u8>, Option<Rc<Font>>> = HashMap::new();
        while let Some(operator) = operators.next() {
            count += 1;
            if count.is_multiple_of(256) {
                self.budget.check()?;
            }
            match operator {
                Operator::SaveState(_) if self.stack.len() < DEEPEST_STATE => self.stack.push(self.state.clone()),
                Operator::RestoreState(_) if self.stack.len() > bottom => {
                    if let Some(state) = self.stack.pop() {
                        self.state = state;
                    }
                }
                Operator::Transform(m) => {
                    let m = [m.0, m.1, m.2, m.3, m.4, m.5].map(|n| n.as_f64());
                    self.state.ctm = Matrix(m).then(self.state.ctm);
                }
                Operator::EndText(_) => is_in_text = false,
                Operator::BeginText(_) => {
                    is_in_text = true;
                    self.state.text = Matrix::IDENTITY;
                    self.state.line = Matrix::IDENTITY;
                }
                Operator::TextFont(font) => {
                    self.state.size = font.1.as_f64();
                    self.state.font = match loaded.get(&**font.0) {
                        Some(font) => font.clone(),
                        None => {
                            let found = self.font(font.0, resources)?;
                            loaded.insert(font.0.to_vec(), found.clone());
                            found
                        }
                    };
                }
                Operator::CharacterSpacing(n) => self.state.character_spacing = n.0.as_f64(),
                Operator::WordSpacing(n) => self.state.word_spacing = n.0.as_f64(),
                Operator::HorizontalScaling(n) => self.state.horizontal = n.0.as_f64() / 100.0,
                Operator::TextLeading(n) => self.state.leading = n.0.as_f64(),
                Operator::TextRise(n) => self.state.rise = n.0.as_f64(),
                Operator::NextLine(n) => self.state.move_line(n.0.as_f64(), n.1.as_f64()),
                Operator::NextLineAndSetLeading(n) => {
                    self.state.leading = -n.1.as_f64();
                    self.state.move_line(n.0.as_f64(), n.1.as_f64());
                }
                Operator::SetTextMatrix(m) => {
                    self.state.line = Matrix([m.0, m.1, m.2, m.3, m.4, m.5].map(|n| n.as_f64()));
                    self.state.text = self.state.line;
                }
                Operator::NextLineUsingLeading(_) => self.state.move_line(0.0, -self.state.leading),
                Operator::ShowText(text) => self.show(text.0.as_bytes())?,
                Operator::NextLineAndShowText(text) => {
                    self.state.move_line(0.0, -self.state.leading);
                    self.show(text.0.as_bytes())?;
                }
                Operator::ShowTextWithParameters(text) => {
                    self.state.word_spacing = text.0.as_f64();
                    self.state.character_spacing = text.1.as_f64();
                    self.state.move_line(0.0, -self.state.leading);
                    self.show(text.2.as_bytes())?;
                }
                Operator::ShowTexts(parts) => {
                    for part in parts.0.iter::<Object<'_>>() {
                        match part {
                            Object::String(text) => self.show(text.as_bytes())?,
                            Object::Number(number) => self.kern(number.as_f64()),
                            _ => {}
                        }
                    }
                }
                Operator::BeginMarkedContent(_) => self.open(None),
                Operator::BeginMarkedContentWithProperties(mark) => {
                    let properties = match mark.1 {
                        Object::Dict(dict) => Some(dict.clone()),
                        Object::Name(name) => resources.properties.get::<Dict<'_>>(name),
                        _ => None,
                    };
                    self.open(properties.and_then(|dict| text_of(&dict, "ActualText")));
                }
                Operator::EndMarkedContent(_) if self.replaced.len() > open => self.close(),
                Operator::XObject(name) => match resources.get_x_object(name.0) {
                    Some(object) => self.x_object(&object, resources, depth)?,
                    None => self.drawn.is_damaged = true,
                },
                Operator::InlineImage(_) => self.image(),
                Operator::Fallback(_) => self.drawn.is_damaged = true,
                other => path.take(&other, self.state.ctm, &mut self.drawn.rules),
            }
        }
        self.drawn.shapes += path.painted;
        // A string or dictionary that never ends swallows what follows, up to the end of the text object and beyond.
        self.drawn.is_damaged |= is_in_text;
        while self.replaced.len() > open {
            self.close();
        }
        if self.stack.len() > bottom {
            self.stack.truncate(bottom + 1);
            if let Some(state) = self.stack.pop() {
                self.state = state;
            }
        }
        Ok(())
    }

    fn font(&mut self, name: &Name<'_>, resources: &Resources<'_>) -> Result<Option<Rc<Font>>> {
        let id = resources.fonts.get_ref(name).map(ObjectIdentifier::from);
        if let Some(font) = id.and_then(|id| self.fonts.get(&id)) {
            return Ok(Some(Rc::clone(font)));
        }
        let Some(dict) = resources.get_font(name) else { return Ok(None) };
        let font = Rc::new(Font::load(&dict, self.budget)?);
        if let Some(id) = id {
            self.fonts.insert(id, Rc::clone(&font));
        }
        Ok(Some(font))
    }

    /// Notes an image: it fills the unit square.
    fn image(&mut self) {
        self.drawn.images += 1;
        let (width, height) = (self.drawn.width, self.drawn.height);
        let [left, top, right, bottom] = self.state.ctm.bounds([0.0, 0.0, 1.0, 1.0]);
        let seen = (right.min(width) - left.max(0.0)).max(0.0) * (bottom.min(height) - top.max(0.0)).max(0.0);
        if width * height > 0.0 {
            self.drawn.picture = self.drawn.picture.max(seen / (width * height));
        }
    }

    fn x_object(&mut self, object: &Stream<'_>, resources: &Resources<'_>, depth: usize) -> Result<()> {
        match object.dict().get::<Name<'_>>("Subtype").as_deref() {
            Some(b"Image") => self.image(),
            Some(b"Form") if depth < DEEPEST_FORM => self.form(object, resources, depth)?,
            _ => {}
        }
        Ok(())
    }

    fn form(&mut self, object: &Stream<'_>, resources: &Resources<'_>, depth: usize) -> Result<()> {
        self.forms += 1;
        if self.forms > MOST_FORMS {
            self.drawn.is_damaged = true;
            return Ok(());
        }
        let content = unpack(object, self.budget)?;
        self.drawn.is_damaged |= !content.is_whole;
        let content = content.data;
        let saved = self.state.clone();
        self.state.ctm = matrix_of(object.dict()).then(saved.ctm);
        match object.dict().get::<Dict<'_>>("Resources") {
            Some(own) => self.stream(&content, &Resources::new(own), depth + 1)?,
            None => self.stream(&content, resources, depth + 1)?,
        }
        self.state = saved;
        Ok(())
    }

    /// The appearance of an annotation (12.5.5): filled-in form fields, stamps, typed notes.
    fn annotation(&mut self, annotation: &Dict<'_>, to_page: Matrix) -> Result<()> {
        const HIDDEN_OR_NO_VIEW: i32 = 1 << 1 | 1 << 5;
        let is_hidden = annotation.get::<i32>("F").is_some_and(|flags| flags & HIDDEN_OR_NO_VIEW != 0);
        let is_popup = annotation.get::<Name<'_>>("Subtype").is_some_and(|name| *name == *b"Popup");
        let Some(appearance) = annotation.get::<Dict<'_>>("AP").filter(|_| !is_hidden && !is_popup) else {
            return Ok(());
        };
        let stream = match appearance.get::<Object<'_>>("N") {
            Some(Object::Stream(stream)) => stream,
            Some(Object::Dict(states)) => {
                let state = annotation.get::<Name<'_>>("AS");
                let Some(stream) = state.and_then(|state| states.get::<Stream<'_>>(&*state)) else { return Ok(()) };
                stream
            }
            _ => return Ok(()),
        };
        let (Some(rect), Some(bounds)) = (annotation.get::<Rect>("Rect"), stream.dict().get::<Rect>("BBox")) else {
            return Ok(());
        };
        let [x0, y0, x1, y1] = matrix_of(stream.dict()).bounds([bounds.x0, bounds.y0, bounds.x1, bounds.y1]);
        let (width, height) = (x1 - x0, y1 - y0);
        if !(width > 0.0 && height > 0.0) {
            return Ok(());
        }
        let (sx, sy) = ((rect.x1 - rect.x0) / width, (rect.y1 - rect.y0) / height);
        let fit = Matrix([sx, 0.0, 0.0, sy, rect.x0 - x0 * sx, rect.y0 - y0 * sy]);
        self.state = State::new(fit.then(to_page));
        self.form(&stream, &Resources::new(Dict::default()), 0)
    }

    fn kern(&mut self, thousandths: f64) {
        let by = -thousandths / 1000.0 * self.state.size;
        let is_vertical = self.state.font.as_ref().is_some_and(|font| font.is_vertical);
        let (x, y) = if is_vertical { (0.0, by) } else { (by * self.state.horizontal, 0.0) };
        self.state.text = Matrix::translation(x, y).then(self.state.text);
    }

    fn show(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(font) = self.state.font.clone() else {
            *self.drawn.lost.entry(String::from("(missing)")).or_default() += bytes.len();
            return Ok(());
        };
        self.budget.spend(CHARACTER_BYTES * bytes.len() as u64)?;
        let state = &mut self.state;
        let drawn = &mut self.drawn;
        let mark = &mut self.space;
        font.decode(bytes, |shown| {
            let space = state.character_spacing + if shown.is_space_code { state.word_spacing } else { 0.0 };
            let across = shown.width * state.size;
            let to_page = state.text.then(state.ctm);
            let (extent, step) = if font.is_vertical {
                ((0.0, -across), (0.0, -across + space))
            } else {
                ((across * state.horizontal, 0.0), ((across + space) * state.horizontal, 0.0))
            };
            let start = to_page.apply(0.0, state.rise);
            let end = to_page.apply(extent.0, extent.1 + state.rise);
            let size = to_page.height() * (state.size * font.scale).abs();
            state.text = Matrix::translation(step.0, step.1).then(state.text);
            let is_placed = [start.0, start.1, end.0, end.1, size].iter().all(|n| n.is_finite()) && size > 0.01;
            match shown.text {
                Some(text) if text.trim().is_empty() => *mark = Some(end),
                _ if !is_placed || !drawn.contains(start, end) => drawn.outside += 1,
                Some(text) => {
                    let after_space = mark.take().is_some_and(|at| (at.0 - start.0).hypot(at.1 - start.1) < size);
                    drawn.glyphs.push(Glyph {
                        text,
                        start,
                        end,
                        size,
                        is_bold: font.is_bold,
                        after_space,
                        is_vertical: font.is_vertical,
                    });
                }
                None => {
                    *drawn.lost.entry(font.name.clone()).or_default() += 1;
                    *mark = Some(end);
                }
            }
        });
        Ok(())
    }

    fn open(&mut self, text: Option<String>) {
        // Sequences nested deeper than this cannot be told apart any more: none of them replaces anything.
        let text = text.filter(|_| self.replaced.len() < DEEPEST_STATE);
        self.replaced.push(Replaced { text, first: self.drawn.glyphs.len() });
    }

    fn close(&mut self) {
        let Some(Replaced { text: Some(text), first }) = self.replaced.pop() else { return };
        let glyphs = &mut self.drawn.glyphs;
        let (Some(begin), Some(last)) = (glyphs.get(first).cloned(), glyphs.last().cloned()) else { return };
        // A replacement for several lines has no one place: the characters themselves say where they are.
        let is_one_line = (begin.start.1 - last.end.1).abs() < begin.size || begin.start.0 == last.end.0;
        if first < glyphs.len() && is_one_line {
            glyphs.truncate(first);
            glyphs.push(Glyph { text: Rc::from(usual(text)), end: last.end, ..begin });
        }
    }
}

impl Drawn {
    /// True when a baseline lies on the page, with some tolerance.
    fn contains(&self, start: (f64, f64), end: (f64, f64)) -> bool {
        const NEAR: f64 = 2.0;
        let (x, y) = ((start.0 + end.0) / 2.0, (start.1 + end.1) / 2.0);
        (-NEAR..=self.width + NEAR).contains(&x) && (-NEAR..=self.height + NEAR).contains(&y)
    }
}

fn matrix_of(form: &Dict<'_>) -> Matrix {
    form.get::<[f64; 6]>("Matrix").map_or(Matrix::IDENTITY, Matrix)
}

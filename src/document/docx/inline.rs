//! Runs and what lies in them (ISO/IEC 29500-1, 17.3.2 and 17.3.3).

use super::reader::{Line, Reader};
use super::styles::toggle;
use super::symbols;
use crate::document::math;
use crate::document::xml::{Element, Space, is_on};
use crate::error::Result;

/// What the properties of a run say.
struct Face<'t> {
    hidden: bool,
    bold: bool,
    font: &'t str,
}

impl<'t> Reader<'t, '_, '_, '_> {
    /// All that is shown inside `container`.
    pub(super) fn inline(&mut self, container: Element<'t>, line: &mut Line) -> Result<()> {
        for element in container.children() {
            self.inline_one(element, line)?;
        }
        Ok(())
    }

    pub(super) fn inline_one(&mut self, element: Element<'t>, line: &mut Line) -> Result<()> {
        match (element.space(), element.name()) {
            (Space::Word, "r") => self.run(element, line),
            (
                Space::Word,
                "pPr" | "del" | "moveFrom" | "sdtPr" | "sdtEndPr" | "customXmlPr" | "smartTagPr" | "fldData",
            ) => Ok(()),
            (Space::Math, "oMath" | "oMathPara") => {
                let text = math::linear(element);
                self.put(&text, false, line);
                Ok(())
            }
            (Space::Word, "drawing" | "pict" | "object") => self.drawing(element, line),
            // A paragraph in a paragraph: only broken writers do that, and its text must not be lost.
            (Space::Word, "p" | "tbl") => {
                let mut inner = Line { hidden: line.hidden, bold: line.bold, ..Line::default() };
                self.inline(element, &mut inner)?;
                line.text.push(' ');
                line.text.push_str(&inner.text);
                line.after.append(&mut inner.after);
                line.notes.append(&mut inner.notes);
                Ok(())
            }
            _ => self.inline(element, line),
        }
    }

    fn run(&mut self, run: Element<'t>, line: &mut Line) -> Result<()> {
        let face = self.face(run, line);
        for element in run.children() {
            match (element.space(), element.name()) {
                (Space::Word, "fldChar") => self.field(element, &face, line),
                (Space::Word, "instrText") => self.fields.instruction(&element.text()),
                (Space::Word, "rPr" | "delText" | "delInstrText" | "annotationRef") => {}
                _ if face.hidden || !self.fields.shows() => {}
                (Space::Word, name) => self.piece(element, name, &face, line)?,
                (Space::Math, _) => self.put(&math::linear(element), face.bold, line),
                _ => self.drawing(element, line)?,
            }
        }
        Ok(())
    }

    fn piece(&mut self, element: Element<'t>, name: &str, face: &Face<'t>, line: &mut Line) -> Result<()> {
        match name {
            "t" => {
                let text = element.text();
                let is_plain = |c: char| c != '\u{ad}' && !('\u{f020}'..='\u{f0ff}').contains(&c);
                if text.chars().all(is_plain) {
                    self.put(&text, face.bold, line);
                } else {
                    let shown = text.chars().filter(|&c| c != '\u{ad}').map(|c| symbols::unicode(c, face.font));
                    self.put(&shown.collect::<String>(), face.bold, line);
                }
            }
            "tab" | "ptab" => self.put(" ", face.bold, line),
            "br" | "cr" => self.put("\n", face.bold, line),
            "noBreakHyphen" => self.put("-", face.bold, line),
            "sym" => {
                let of = |name| element.attribute(Space::Word, name).unwrap_or_default();
                let code = u32::from_str_radix(of("char"), 16).ok();
                // Old files leave the private area out.
                let code = code.map(|code| if (0x20..0x100).contains(&code) { code + 0xf000 } else { code });
                if let Some(c) = code.and_then(char::from_u32) {
                    self.put(symbols::unicode(c, of("font")).encode_utf8(&mut [0; 4]), face.bold, line);
                }
            }
            "footnoteReference" | "endnoteReference" => {
                let mark = self.note(element, name == "endnoteReference", line)?;
                self.put(&mark, face.bold, line);
            }
            "ruby" => {
                // The base is the text; its reading over it would tear words apart.
                if let Some(base) = element.child(Space::Word, "rubyBase") {
                    self.inline(base, line)?;
                }
            }
            "softHyphen"
            | "footnoteRef"
            | "endnoteRef"
            | "separator"
            | "continuationSeparator"
            | "commentReference"
            | "lastRenderedPageBreak"
            | "pgNum" => {}
            "drawing" | "pict" | "object" => self.drawing(element, line)?,
            _ => self.inline(element, line)?,
        }
        Ok(())
    }

    fn field(&mut self, element: Element<'t>, face: &Face<'t>, line: &mut Line) {
        match element.attribute(Space::Word, "fldCharType") {
            Some("begin") => self.fields.begin(form_field(element)),
            Some("separate") => self.fields.separate(),
            Some("end") => {
                if let Some(text) = self.fields.end().filter(|_| !face.hidden) {
                    self.put(&text, face.bold, line);
                }
            }
            _ => {}
        }
    }

    fn face(&mut self, run: Element<'t>, line: &Line) -> Face<'t> {
        let Some(properties) = run.child(Space::Word, "rPr") else {
            return Face { hidden: line.hidden, bold: line.bold, font: "" };
        };
        let style = properties.child(Space::Word, "rStyle").and_then(|style| style.attribute(Space::Word, "val"));
        let (hidden, bold) = style.map(|style| self.styles.character(style)).unwrap_or_default();
        let fonts = properties.child(Space::Word, "rFonts");
        let font = fonts.and_then(|f| f.attribute(Space::Word, "hAnsi").or_else(|| f.attribute(Space::Word, "ascii")));
        Face {
            hidden: toggle(properties, "vanish").or(hidden).unwrap_or(line.hidden),
            bold: toggle(properties, "b").or(bold).unwrap_or(line.bold),
            font: font.unwrap_or_default(),
        }
    }

    fn put(&mut self, text: &str, bold: bool, line: &mut Line) {
        if text.is_empty() || !self.fields.shows() {
            return;
        }
        line.text.push_str(text);
        self.fields.shown();
        if text.contains(|c: char| !c.is_whitespace()) {
            *(if bold { &mut line.has_bold } else { &mut line.has_plain }) = true;
        }
    }
}

/// What a form field shows: a box, or the chosen entry of a list.
fn form_field(begin: Element<'_>) -> Option<String> {
    let data = begin.child(Space::Word, "ffData")?;
    let value = |e: Element<'_>, name: &str| {
        e.child(Space::Word, name).map(|e| e.attribute(Space::Word, "val").map(str::to_string))
    };
    if let Some(check) = data.child(Space::Word, "checkBox") {
        let checked = value(check, "checked").or_else(|| value(check, "default"));
        let is_checked = checked.is_some_and(|value| is_on(value.as_deref()));
        return Some(if is_checked { "☒" } else { "☐" }.to_string());
    }
    let list = data.child(Space::Word, "ddList")?;
    let chosen = value(list, "result").or_else(|| value(list, "default")).flatten();
    let chosen: usize = chosen.and_then(|chosen| chosen.parse().ok()).unwrap_or(0);
    let entry = list.all(Space::Word, "listEntry").nth(chosen)?;
    entry.attribute(Space::Word, "val").map(str::to_string)
}

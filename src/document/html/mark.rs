//! Elements whose text changes as a whole: raised numbers, readings beside characters, fractions and roots.
//!
//! What a page shows by position would be lost on a line: 10 with a raised 3 is not 103, and a over b is not ab. MathML is
//! read as far as that goes (MathML Core: `mfrac`, `msup`, `msubsup`, `msqrt`, `mroot`); its other elements are read as they
//! follow each other.

use super::line::raised;
use super::tree::Id;
use super::write::Writer;

/// Formulas whose parts stand above, below or under a sign.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Fraction,
    Power,
    IndexedPower,
    Root,
}

/// How the text of an element changes when it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Raised,
    Reading,
    Ruby,
    Anchor,
    Formula(Form),
    /// A part of a formula, by its number from 1.
    Part(Form, usize),
    SquareRoot,
}

/// Where in the line such an element began.
pub(super) struct Mark {
    pub(super) id: Id,
    pub(super) at: usize,
    pub(super) kind: Kind,
    /// Elements in it so far.
    pub(super) children: usize,
    /// The readings of a ruby.
    pub(super) reading: String,
}

impl Writer<'_> {
    fn mark(&mut self, id: Id, kind: Kind) {
        self.marks.push(Mark { id, at: self.line.mark(), kind, children: 0, reading: String::new() });
    }

    /// Begins elements whose text is changed as a whole when they end.
    pub(super) fn enter_mark(&mut self, id: Id, name: &str) {
        if let Some(mark) = self.marks.last_mut()
            && let Kind::Formula(of) = mark.kind
            && self.tree.parent(id) == Some(mark.id)
        {
            mark.children += 1;
            let part = mark.children;
            self.mark(id, Kind::Part(of, part));
        }
        match name {
            "sup" => self.mark(id, Kind::Raised),
            "rt" => self.mark(id, Kind::Reading),
            "ruby" => self.mark(id, Kind::Ruby),
            "a" if self.tree.attribute(id, "href").is_some_and(|href| href.starts_with('#')) => {
                self.mark(id, Kind::Anchor)
            }
            "mfrac" => self.mark(id, Kind::Formula(Form::Fraction)),
            "msup" => self.mark(id, Kind::Formula(Form::Power)),
            "msubsup" => self.mark(id, Kind::Formula(Form::IndexedPower)),
            "mroot" => self.mark(id, Kind::Formula(Form::Root)),
            "msqrt" => self.mark(id, Kind::SquareRoot),
            _ => {}
        }
    }

    pub(super) fn leave_marks(&mut self, id: Id) {
        while let Some(mark) = self.marks.pop_if(|mark| mark.id == id) {
            if !self.line.verbatim {
                self.leave_mark(mark);
            }
        }
    }

    fn leave_mark(&mut self, mark: Mark) {
        let grouped = |text: &str| {
            let text = text.trim();
            if text.chars().all(|c| c.is_alphanumeric() || c == '.') { text.to_string() } else { format!("({text})") }
        };
        match mark.kind {
            Kind::Raised => self.line.change(mark.at, raised),
            Kind::Reading => {
                let reading = self.line.cut(mark.at);
                match self.marks.iter_mut().rev().find(|mark| mark.kind == Kind::Ruby) {
                    Some(ruby) => ruby.reading.push_str(reading.trim()),
                    None => self.line.push(&reading),
                }
            }
            Kind::Ruby if !mark.reading.is_empty() => self.line.push(&format!("({})", mark.reading)),
            // The sign that links to the heading it stands in.
            Kind::Anchor => {
                let is_sign = |text: &str| matches!(text.trim(), "¶" | "#" | "§" | "🔗" | "\u{f0c1}" | "⚓");
                self.line.change(mark.at, |text| if is_sign(text) { String::new() } else { text.to_string() });
            }
            Kind::Part(Form::Fraction, 1) => self.line.change(mark.at, |text| format!("{}/", grouped(text))),
            Kind::Part(Form::Fraction, 2) | Kind::Part(Form::Root, 1) => self.line.change(mark.at, grouped),
            Kind::Part(Form::Power, 2) | Kind::Part(Form::IndexedPower, 3) => self.line.change(mark.at, |text| {
                let high = raised(text.trim());
                if high == text.trim() { format!("^{}", grouped(text)) } else { high }
            }),
            Kind::Part(Form::Root, 2) => self.line.change(mark.at, |text| format!("^(1/{})", grouped(text))),
            Kind::SquareRoot => self.line.change(mark.at, |text| format!("√{}", grouped(text))),
            _ => {}
        }
    }
}

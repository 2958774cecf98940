//! Repair by rule: what structure proves about a statement is put into it before the gates look at it.
//!
//! Three things a reader of the lone statement would miss are put back, each from words of the document: the place that 前款 or
//! 本条 means (`citation`), the full name behind 该设备 or `the device` (`name`), and the fault, label or lead-in
//! that a list item stands under (`topic`). A rule speaks only where the text leaves one reading; everything else is left to
//! the gates, and the repaired statement is gated like any other.

mod citation;
mod name;
mod split;
mod topic;

pub(crate) use citation::citations;
pub(crate) use split::{joins_facts, split};

use std::collections::HashSet;

use crate::document::Span;
use crate::proposition::gates::refers;
use crate::proposition::lexis::{Folded, is_ideograph};
use crate::proposition::source::Source;

/// A statement after repair.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Repaired {
    pub(crate) statement: String,
    /// Places of the passage that what was put in comes from.
    pub(crate) antecedents: Vec<Span>,
    /// Names of the rules that spoke.
    pub(crate) rules: Vec<&'static str>,
    /// The statement is the whole sentence said again: no model chose what to say.
    pub(crate) whole: bool,
}

impl Repaired {
    fn apply(&mut self, rule: &'static str, change: Option<(String, Vec<Span>)>) {
        if let Some((statement, places)) = change {
            self.statement = statement;
            self.antecedents.extend(places);
            if !self.rules.contains(&rule) {
                self.rules.push(rule);
            }
        }
    }
}

/// Repairs a statement written for sentence `index`. Without a rule that speaks the statement comes back as it was, but for
/// its own number and a joining word at its beginning.
pub(crate) fn repair(statement: &str, index: usize, source: &Source) -> Repaired {
    let mut out = Repaired { statement: unnumbered(statement, index, source), ..Repaired::default() };
    let change = without_pointer(&out.statement);
    out.apply("pointer", change.map(|s| (s, Vec::new())));
    let change = citation::restore(&out.statement, index, source);
    out.apply("citation", change);
    if refers(&out.statement) || out.statement.is_ascii() || !out.statement.chars().any(is_ideograph) {
        let change = name::restore(&out.statement, index, source);
        out.apply("name", change);
    }
    let change = topic::restore(&out.statement, index, source);
    out.apply("topic", change);
    out
}

/// Takes the number of an article or list item, and a joining word with its comma, off the front.
fn unnumbered(statement: &str, index: usize, source: &Source) -> String {
    let place = &source.frame.places[index];
    let own = &source.sentences[index];
    let marks: String = own.original.chars().take(place.marks).collect();
    let mut rest = statement.trim();
    let number = marks.trim();
    let label: String = own.original.chars().skip(place.marks).take(place.label).collect();
    if !number.is_empty() && number.chars().any(char::is_alphanumeric) {
        rest = rest.strip_prefix(number).map_or(rest, str::trim_start);
    }
    // The label comes back, if it is needed, as the topic.
    if !label.trim().is_empty() && (source.frame.topic.is_some() || topic::is_particular(&label)) {
        rest = rest.strip_prefix(label.trim()).filter(|r| !r.trim().is_empty()).map_or(rest, str::trim_start);
    }
    for word in JOINING {
        if let Some(tail) = rest.strip_prefix(word)
            && let Some(tail) = tail.strip_prefix(['，', ',']).or_else(|| tail.strip_prefix(", "))
        {
            return capital(tail.trim_start());
        }
    }
    rest.to_owned()
}

/// Words that tie a sentence to the one before and say nothing without it.
const JOINING: &[&str] = &[
    "此外",
    "另外",
    "因此",
    "因而",
    "同时",
    "同時",
    "而且",
    "并且",
    "並且",
    "However",
    "Therefore",
    "In addition",
    "Additionally",
    "Also",
    "Moreover",
    "Furthermore",
];

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// Clauses that only point at a picture or a table: `如下图所示`, `见下表`.
fn without_pointer(statement: &str) -> Option<String> {
    const POINTERS: &[&str] = &[
        "如下图所示",
        "如下圖所示",
        "如上图所示",
        "如下表所示",
        "如上表所示",
        "如下图",
        "见下图",
        "見下圖",
        "见下表",
        "见上图",
        "参见下图",
        "如下所示",
        "as shown below",
        "as shown above",
        "see below",
        "see above",
    ];
    let body = statement.trim_end_matches(['。', '.', '：', ':', '；', ';']);
    for pointer in POINTERS {
        // As the last clause, or in brackets.
        for (open, close) in [("，", ""), (",", ""), (", ", ""), ("（", "）"), ("(", ")"), (" (", ")")] {
            let clause = format!("{open}{pointer}{close}");
            if close.is_empty() {
                if let Some(kept) = body.strip_suffix(&clause).filter(|k| k.chars().count() >= 4) {
                    let stop = if kept.chars().any(is_ideograph) { "。" } else { "." };
                    return Some(format!("{}{stop}", kept.trim_end()));
                }
            } else if statement.contains(&clause) {
                return Some(statement.replace(&clause, ""));
            }
        }
    }
    None
}

/// True when the statement says only words of its own sentence: nothing was restored in it yet.
fn is_bare(statement: &Folded, index: usize, source: &Source) -> bool {
    let terms = crate::proposition::lexis::terms(statement);
    let own: &HashSet<String> = &source.sentences[index].set;
    let foreign = terms.iter().filter(|t| !own.contains(&t.key)).count();
    // A word that joins, or an ending, makes a few new pairs.
    foreign * 4 <= terms.len()
}

#[cfg(test)]
mod tests;

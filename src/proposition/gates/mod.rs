//! The gates: each looks at one way in which a written statement can be wrong.
//!
//! A gate has a stable name in kebab case and tells what it saw. Gates reject what is wrong to show to a person at a
//! machine, and send to review what may be right but cannot be proved by the text. They never change a statement.

mod antecedent;
mod condition;
mod content;
mod exchange;
mod form;
mod lead_in;
mod modal;
mod modality;
mod name;
mod neighbour;
mod number;
mod opposite;
mod order;
mod quantifier;
mod reference;
#[cfg(test)]
mod wrong_tests;

pub(crate) use content::support;
pub(crate) use modal::{Force, Modal, modals};
pub(crate) use reference::refers;

use std::collections::{HashMap, HashSet};

use crate::document::Span;
use crate::proposition::evidence::{Alignment, align};
use crate::proposition::lexis::{Folded, Term, Token, is_chinese, term_set, terms, tokens};
use crate::proposition::quantity::{Quantity, quantities};
use crate::proposition::source::{SentenceView, Source};

/// What a finding means for the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Searchable, but a person should look.
    Review,
    /// Not searchable.
    Reject,
}

/// What a gate saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Name of the gate.
    pub(crate) gate: &'static str,
    /// The words it is about.
    pub(crate) detail: String,
    /// What follows.
    pub(crate) verdict: Verdict,
}

impl Finding {
    fn reject(gate: &'static str, detail: impl Into<String>) -> Self {
        Self { gate, detail: detail.into(), verdict: Verdict::Reject }
    }

    fn review(gate: &'static str, detail: impl Into<String>) -> Self {
        Self { gate, detail: detail.into(), verdict: Verdict::Review }
    }
}

/// A statement under examination.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) statement: &'a str,
    pub(crate) original: Vec<char>,
    pub(crate) folded: Folded,
    pub(crate) tokens: Vec<Token>,
    pub(crate) terms: Vec<Term>,
    pub(crate) set: HashSet<String>,
    pub(crate) quantities: Vec<Quantity>,
    pub(crate) chinese: bool,
    pub(crate) own: &'a SentenceView,
    /// Index of the own sentence.
    pub(crate) index: usize,
    pub(crate) alignment: Alignment,
    /// Places that a rule took words from: what is said again there was meant to be.
    pub(crate) restored: Vec<Span>,
}

impl<'a> Candidate<'a> {
    /// Prepares `statement`, written for sentence `index` of `source`. `said` as in [`align`].
    pub(crate) fn new(statement: &'a str, index: usize, source: &'a Source, said: &HashMap<String, usize>) -> Self {
        let folded = Folded::new(statement);
        let cited = source.cited(&folded);
        let terms = terms(&folded);
        let set = term_set(&terms);
        let own = &source.sentences[index];
        let alignment = align(&set, own, source, said);
        Self {
            original: statement.chars().collect(),
            tokens: tokens(&folded),
            quantities: quantities(&folded)
                .into_iter()
                .filter(|q| !cited.iter().any(|c| c.start <= q.start && q.end <= c.end))
                .collect(),
            chinese: is_chinese(statement),
            statement,
            folded,
            terms,
            set,
            own,
            index,
            alignment,
            restored: Vec::new(),
        }
    }
}

/// Runs all gates. Malformed statements are not looked at further.
pub(crate) fn examine(candidate: &Candidate<'_>, source: &Source) -> Vec<Finding> {
    let form = form::check(candidate, source);
    if !form.is_empty() {
        return form;
    }
    let mut findings: Vec<Finding> = reference::check(candidate).into_iter().collect();
    findings.extend(number::check(candidate, source));
    findings.extend(name::check(candidate, source));
    findings.extend(modality::check(candidate, source));
    findings.extend(condition::check(candidate));
    findings.extend(antecedent::check(candidate, source));
    findings.extend(opposite::check(candidate, source));
    findings.extend(order::check(candidate, source));
    findings.extend(quantifier::check(candidate, source));
    findings.extend(exchange::check(candidate, source));
    findings.extend(content::check(candidate, source));
    findings.extend(lead_in::check(candidate, source));
    findings.extend(neighbour::check(candidate, source));
    findings
}

/// True for statements so long, or so empty, that preparing them would be waste. Bounds the work on hostile output.
pub(crate) fn hopeless(statement: &str) -> Option<Finding> {
    /// No sentence that goes to the model is longer than 600 characters; restored names add a few dozen.
    const LIMIT: usize = 1200;
    if statement.chars().nth(LIMIT).is_some() {
        return Some(Finding::reject("too-long", format!("more than {LIMIT} characters")));
    }
    (!statement.chars().any(char::is_alphanumeric)).then(|| Finding::reject("too-short", "no words"))
}

#[cfg(test)]
pub(crate) mod testing {
    //! A passage to try gates on.
    use super::*;
    use crate::proposition::{Passage, Sentence, SentenceKind};

    /// Runs one gate function on `statement` as written for sentence `index` of `sentences`, under `title`.
    pub(crate) fn gates_that_speak(
        title: &str,
        sentences: &[&str],
        index: usize,
        statement: &str,
    ) -> Vec<(String, Verdict)> {
        let mut text = String::new();
        let mut spans = Vec::new();
        for sentence in sentences {
            let start = text.chars().count();
            text.push_str(sentence);
            spans.push(Sentence {
                span: crate::document::Span::new(start, text.chars().count()),
                kind: SentenceKind::Prose,
            });
            text.push(' ');
        }
        let passage = Passage::new(title, &[], &text, &spans);
        let source = Source::new(&passage);
        let candidate = Candidate::new(statement, index, &source, &HashMap::new());
        examine(&candidate, &source).into_iter().map(|f| (f.gate.to_owned(), f.verdict)).collect()
    }

    /// The names of the gates that reject.
    pub(crate) fn rejections(title: &str, sentences: &[&str], index: usize, statement: &str) -> Vec<String> {
        gates_that_speak(title, sentences, index, statement)
            .into_iter()
            .filter(|(_, v)| *v == Verdict::Reject)
            .map(|(g, _)| g)
            .collect()
    }
}

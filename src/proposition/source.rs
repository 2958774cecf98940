//! A passage prepared for comparison: folded once, asked many times.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::document::Span;
use crate::proposition::Passage;
use crate::proposition::clause::clauses;
use crate::proposition::gates::{Modal, modals};
use crate::proposition::lexis::{Folded, Term, is_chinese, term_set, terms};
use crate::proposition::quantity::{Quantity, quantities};

/// A sentence of the passage.
#[derive(Debug)]
pub(crate) struct SentenceView {
    /// Code points of the passage.
    pub(crate) span: Span,
    /// The sentence alone, folded.
    pub(crate) folded: Folded,
    pub(crate) terms: Vec<Term>,
    pub(crate) set: HashSet<String>,
    pub(crate) quantities: Vec<Quantity>,
    /// Folded characters of the sentence.
    pub(crate) clauses: Vec<Range<usize>>,
    pub(crate) chinese: bool,
}

impl SentenceView {
    fn new(text: &str, span: Span) -> Self {
        let folded = Folded::new(text);
        let terms = terms(&folded);
        Self {
            span,
            set: term_set(&terms),
            quantities: quantities(&folded),
            clauses: clauses(&folded),
            chinese: is_chinese(text),
            terms,
            folded,
        }
    }

    /// The terms that lie in a range of folded characters.
    pub(crate) fn terms_in(&self, range: &Range<usize>) -> impl Iterator<Item = &Term> {
        let range = range.clone();
        self.terms.iter().filter(move |t| range.start <= t.start && t.end <= range.end)
    }
}

/// Everything a statement of the passage may draw on.
#[derive(Debug)]
pub(crate) struct Source {
    /// The passage, folded.
    pub(crate) body: Folded,
    /// Title and headings, folded, set apart by spaces.
    pub(crate) heads: Folded,
    pub(crate) head_quantities: Vec<Quantity>,
    pub(crate) body_quantities: Vec<Quantity>,
    /// Negations and modals of the passage, of both languages.
    pub(crate) body_modals: Vec<Modal>,
    /// The same of title and headings.
    pub(crate) head_modals: Vec<Modal>,
    pub(crate) sentences: Vec<SentenceView>,
    /// Terms of passage, headings and title.
    pub(crate) vocabulary: HashSet<String>,
    /// Single characters of the same.
    pub(crate) letters: HashSet<char>,
    /// In how many sentences a term stands.
    frequency: HashMap<String, usize>,
}

impl Source {
    /// Prepares a passage; linear in its length.
    pub(crate) fn new(passage: &Passage<'_>) -> Self {
        let body = Folded::new(passage.text);
        let mut heads = passage.title.to_owned();
        for heading in passage.heading_path {
            heads.push_str("\n\n");
            heads.push_str(heading);
        }
        let heads = Folded::new(&heads);
        let chars: Vec<char> = passage.text.chars().collect();
        let sentences: Vec<SentenceView> = passage
            .sentences
            .iter()
            .map(|s| {
                let end = s.span.end.min(chars.len());
                let text: String = chars[s.span.start.min(end)..end].iter().collect();
                SentenceView::new(&text, s.span)
            })
            .collect();
        let mut vocabulary = term_set(&terms(&body));
        vocabulary.extend(term_set(&terms(&heads)));
        let letters = body.chars.iter().chain(&heads.chars).copied().collect();
        let mut frequency = HashMap::new();
        for sentence in &sentences {
            for key in &sentence.set {
                *frequency.entry(key.clone()).or_insert(0) += 1;
            }
        }
        let body_quantities = quantities(&body);
        let both = |text: &Folded| [modals(text, true), modals(text, false)].concat();
        let (body_modals, head_modals) = (both(&body), both(&heads));
        Self {
            head_quantities: quantities(&heads),
            body_quantities,
            body_modals,
            head_modals,
            body,
            heads,
            sentences,
            vocabulary,
            letters,
            frequency,
        }
    }

    /// How much a term tells sentences of this passage apart: 1 for one that stands in a single sentence, falling with
    /// the number of sentences that share it (inverse document frequency).
    pub(crate) fn weight(&self, key: &str) -> f32 {
        let df = self.frequency.get(key).copied().unwrap_or(1).max(1) as f32;
        1.0 / (1.0 + df.ln())
    }
}

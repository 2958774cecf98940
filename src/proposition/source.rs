//! A passage prepared for comparison: folded once, asked many times.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::document::Span;
use crate::proposition::Passage;
use crate::proposition::clause::clauses;
use crate::proposition::frame::Frame;
use crate::proposition::gates::{Modal, modals};
use crate::proposition::lexis::{Folded, Term, is_chinese, term_set, terms};
use crate::proposition::quantity::{Quantity, quantities};
use crate::proposition::repair::citations;

/// A sentence of the passage.
#[derive(Debug)]
pub(crate) struct SentenceView {
    /// Code points of the passage.
    pub(crate) span: Span,
    /// The sentence as written.
    pub(crate) original: String,
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
            original: text.to_owned(),
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
    /// Title, headings, full names and the text in front, folded, set apart by spaces.
    pub(crate) heads: Folded,
    pub(crate) head_quantities: Vec<Quantity>,
    pub(crate) body_quantities: Vec<Quantity>,
    /// Negations and modals of the passage, of both languages.
    pub(crate) body_modals: Vec<Modal>,
    /// The same of title and headings.
    pub(crate) head_modals: Vec<Modal>,
    pub(crate) sentences: Vec<SentenceView>,
    /// What stands above each sentence.
    pub(crate) frame: Frame,
    pub(crate) heading_path: Vec<String>,
    /// Full names of the document that the passage uses in a shorter form.
    pub(crate) names: Vec<String>,
    /// The text in front of the passage, where it opens with a back reference.
    pub(crate) before: String,
    /// The passage as written.
    chars: Vec<char>,
    /// Paragraphs of the articles at hand, as they may be cited.
    citations: Vec<Vec<char>>,
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
        // Full names and the text in front may be drawn on like headings.
        for part in passage.names.iter().map(String::as_str).chain([passage.before]).filter(|p| !p.is_empty()) {
            heads.push_str("\n\n");
            heads.push_str(part);
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
        let frame = Frame::new(passage);
        let citations = citations(&frame.articles).iter().map(|c| Folded::new(c).chars).collect();
        Self {
            head_quantities: quantities(&heads),
            body_quantities,
            body_modals,
            head_modals,
            body,
            heads,
            sentences,
            frame,
            heading_path: passage.heading_path.to_vec(),
            names: passage.names.to_vec(),
            before: passage.before.to_owned(),
            chars,
            citations,
            vocabulary,
            letters,
            frequency,
        }
    }

    /// The words of a range of the passage.
    pub(crate) fn slice(&self, span: Span) -> String {
        let end = span.end.min(self.chars.len());
        self.chars[span.start.min(end)..end].iter().collect()
    }

    /// Where a folded statement cites a paragraph of an article at hand: its number is counted, not copied.
    pub(crate) fn cited(&self, statement: &Folded) -> Vec<Range<usize>> {
        let places = |c: &Vec<char>| -> Vec<Range<usize>> {
            statement.find_all(c, 0..statement.len()).map(|at| at..at + c.len()).collect()
        };
        self.citations.iter().flat_map(places).collect()
    }

    /// How much a term tells sentences of this passage apart: 1 for one that stands in a single sentence, falling with
    /// the number of sentences that share it (inverse document frequency).
    pub(crate) fn weight(&self, key: &str) -> f32 {
        let df = self.frequency.get(key).copied().unwrap_or(1).max(1) as f32;
        1.0 / (1.0 + df.ln())
    }
}

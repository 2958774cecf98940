//! Which units and sentences of a section speak for it, by the terms they share with the question.

use std::collections::HashSet;

use super::phrase::quoted;
use crate::document::{Format, Span};
use crate::error::Result;
use crate::index::LexicalIndex;
use crate::index::terms::{Term, TermKind, query_terms, terms};
use crate::proposition::{has_code, sentences};

/// Sentences of a section that share at least this much of what the best one shares are highlighted too.
const NEAR_BEST: f32 = 0.8;
/// Sentences highlighted where a unit is a whole section.
const MAX_SENTENCES: usize = 2;

/// The terms of a question and what each is worth.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) terms: Vec<Term>,
    weights: Vec<f32>,
    total: f32,
    /// It names a code that stands somewhere in the index.
    pub(super) names_code: bool,
    /// What stands in quotation marks, see [`quoted`].
    pub(super) phrases: Vec<String>,
}

impl Question {
    pub(super) fn new(query: &str, lexical: &LexicalIndex) -> Result<Self> {
        let terms = query_terms(query);
        let words = terms.iter().any(|term| term.kind != TermKind::Single);
        let mut weights = Vec::with_capacity(terms.len());
        for term in &terms {
            // Single characters only matter where there is nothing longer.
            weights.push(if words && term.kind == TermKind::Single { 0.0 } else { lexical.idf(term)? });
        }
        let total = weights.iter().sum();
        let digits = |term: &Term| term.text.chars().filter(char::is_ascii_digit).count();
        let mut names_code = false;
        if has_code(query) {
            for term in terms.iter().filter(|term| digits(term) >= 3) {
                names_code |= lexical.frequency(term)? > 0;
            }
        }
        Ok(Self { terms, weights, total, names_code, phrases: quoted(query) })
    }

    /// About what BM25 gives a section that holds every term once or twice.
    pub(super) fn full_bm25(&self) -> f32 {
        1.5 * self.total
    }

    /// The share of the question's terms, weighted by their rarity, that `text` holds.
    pub(super) fn overlap(&self, text: &str) -> f32 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let held: HashSet<(String, TermKind)> = terms(text).into_iter().map(|term| (term.text, term.kind)).collect();
        let shared: f32 = self
            .terms
            .iter()
            .zip(&self.weights)
            .filter(|(term, _)| held.contains(&(term.text.clone(), term.kind)))
            .map(|(_, weight)| weight)
            .sum();
        (shared / self.total).clamp(0.0, 1.0)
    }

    /// The sentences of `text` (which starts at code point `start` of the document) that share most with the question;
    /// none when nothing is shared.
    pub(super) fn best_sentences(&self, text: &str, start: usize, format: Format) -> Vec<Span> {
        let chars: Vec<(usize, char)> = text.char_indices().collect();
        let byte = |at: usize| chars.get(at).map_or(text.len(), |&(byte, _)| byte);
        let mut scored: Vec<(f32, Span)> = sentences(text, format)
            .into_iter()
            .map(|sentence| (self.overlap(&text[byte(sentence.span.start)..byte(sentence.span.end)]), sentence.span))
            .filter(|(overlap, _)| *overlap > 0.0)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let best = scored.first().map_or(0.0, |scored| scored.0);
        scored
            .into_iter()
            .take(MAX_SENTENCES)
            .filter(|(overlap, _)| *overlap >= NEAR_BEST * best)
            .map(|(_, span)| span.shifted(start))
            .collect()
    }
}

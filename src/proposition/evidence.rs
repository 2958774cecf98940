//! Where a statement comes from: the clause of its sentence, and the places its restored names were taken from.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::document::Span;
use crate::proposition::lexis::{Folded, Term, TokenKind, is_content, is_ideograph, tokens};
use crate::proposition::source::{SentenceView, Source};

/// The part of its sentence that a statement says again.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Alignment {
    /// Folded characters of the sentence, on clause bounds, trimmed of separators.
    pub(crate) range: Range<usize>,
    /// The same with the clauses around it that the statement also says: what is shown as evidence.
    pub(crate) evidence: Range<usize>,
    /// Share of the part's weighted terms that the statement carries.
    pub(crate) carried: f32,
    /// Share of the statement's weighted terms that the part holds.
    pub(crate) held: f32,
}

/// Square of the weight of recall in the F measure: below 1, so that words of a clause that the statement lacks cost more than
/// words of the statement that stand elsewhere.
const BETA: f32 = 0.5;

/// How fast a term loses weight with each earlier statement that holds it.
const SAID: f32 = 3.0;

/// Aligns statement terms to the smallest run of clauses that fits best (highest F measure over weighted terms).
///
/// `said` counts, for each term, the earlier statements of the same sentence that hold it: what an earlier statement has
/// said already, such as a shared subject, points less strongly at its clause than what is new.
pub(crate) fn align(
    set: &HashSet<String>,
    sentence: &SentenceView,
    source: &Source,
    said: &HashMap<String, usize>,
) -> Alignment {
    let weight = |key: &str| source.weight(key) / (1.0 + SAID * said.get(key).copied().unwrap_or(0) as f32);
    let total: f32 = sum(set.iter().filter(|k| sentence.set.contains(*k)).map(|k| weight(k)));
    let all: f32 = sum(set.iter().map(|k| weight(k))).max(f32::MIN_POSITIVE);
    let n = sentence.clauses.len();
    let mut best: Option<(f32, Alignment)> = None;
    // A sentence is short (the segmenter cuts at 600 characters), so all runs of clauses can be tried.
    for first in 0..n.min(64) {
        for last in first..n.min(first + 64) {
            let range = sentence.clauses[first].start..sentence.clauses[last].end;
            let mut seen = HashSet::new();
            let (mut inside, mut common) = (0.0, 0.0);
            for term in sentence.terms_in(&range) {
                if !points_back(&term.key) && seen.insert(term.key.as_str()) {
                    let w = weight(&term.key);
                    inside += w;
                    if set.contains(&term.key) {
                        common += w;
                    }
                }
            }
            if common <= 0.0 {
                continue;
            }
            let (carried, recall) = (common / inside, common / total.max(f32::MIN_POSITIVE));
            let fit = (1.0 + BETA) * carried * recall / (BETA * carried + recall);
            if best.as_ref().is_none_or(|(score, _)| fit > score + 1e-6) {
                best = Some((fit, Alignment { evidence: range.clone(), range, carried, held: common / all }));
            }
        }
    }
    let mut alignment = best.map_or(
        Alignment { range: 0..sentence.folded.len(), evidence: 0..sentence.folded.len(), carried: 0.0, held: 0.0 },
        |b| b.1,
    );
    alignment.evidence = trim(&sentence.folded, widened(alignment.range.clone(), set, sentence));
    alignment.range = trim(&sentence.folded, alignment.range);
    alignment
}

/// Takes in the clauses on both sides that the statement says as well, such as a condition that it shares with an earlier
/// statement, or a name in another word's place between two such clauses.
fn widened(range: Range<usize>, set: &HashSet<String>, sentence: &SentenceView) -> Range<usize> {
    /// Share of a clause's terms that counts as said.
    const SAID: f32 = 0.6;
    let said = |clause: &Range<usize>| {
        let terms: Vec<&Term> = sentence.terms_in(clause).filter(|t| !points_back(&t.key)).collect();
        let held = terms.iter().filter(|t| set.contains(&t.key)).count();
        (terms.len(), held as f32 >= SAID * terms.len().max(1) as f32)
    };
    let mut out = range.clone();
    for clause in sentence.clauses.iter().rev().filter(|c| c.end <= range.start) {
        match said(clause) {
            (_, true) => out.start = clause.start,
            (0 | 1, false) => {}
            _ => break,
        }
    }
    for clause in sentence.clauses.iter().filter(|c| c.start >= range.end) {
        match said(clause) {
            (_, true) => out.end = clause.end,
            (0 | 1, false) => {}
            _ => break,
        }
    }
    out
}

/// A pair with a pronoun: a statement says a name in its place.
pub(crate) fn points_back(key: &str) -> bool {
    key.chars().any(|c| matches!(c, '它' | '其' | '该' | '該' | '此' | '这' | '這'))
}

/// A sum that does not depend on the order of a hash set: the terms are few and their weights take few values, so adding
/// them sorted gives the same rounding on every run.
fn sum(weights: impl Iterator<Item = f32>) -> f32 {
    let mut weights: Vec<f32> = weights.collect();
    weights.sort_by(f32::total_cmp);
    weights.into_iter().sum()
}

/// Takes separators and white space off both ends; a closing full stop stays.
fn trim(folded: &Folded, range: Range<usize>) -> Range<usize> {
    let edge = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '，' | '；' | '、' | '-' | '*' | '|' | '•');
    let (mut start, mut end) = (range.start, range.end.min(folded.len()));
    while start < end && edge(folded.chars[start]) && !sign(folded, start) {
        start += 1;
    }
    while end > start && edge(folded.chars[end - 1]) {
        end -= 1;
    }
    start..end
}

fn sign(folded: &Folded, at: usize) -> bool {
    folded.chars[at] == '-' && folded.chars.get(at + 1).is_some_and(char::is_ascii_digit)
}

/// The aligned part as code points of the passage, without inner clauses that the statement passes over.
pub(crate) fn spans(
    sentence: &SentenceView,
    range: &Range<usize>,
    set: &HashSet<String>,
    source: &Source,
) -> Vec<Span> {
    /// Share of an inner clause that must be carried for it to be evidence.
    const PASSED_OVER: f32 = 0.25;
    let inside: Vec<&Range<usize>> =
        sentence.clauses.iter().filter(|c| c.start < range.end && c.end > range.start).collect();
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (i, clause) in inside.iter().enumerate() {
        let inner = i > 0 && i + 1 < inside.len() && sentence.terms_in(clause).nth(1).is_some();
        if inner && coverage(sentence.terms_in(clause), set, source) < PASSED_OVER {
            continue;
        }
        let piece = clause.start.max(range.start)..clause.end.min(range.end);
        match parts.last_mut() {
            Some(last) if last.end == piece.start => last.end = piece.end,
            _ => parts.push(piece),
        }
    }
    let many = parts.len() > 1;
    let spans: Vec<Span> = parts
        .into_iter()
        .map(|part| if many { trim(&sentence.folded, part) } else { part })
        .filter(|part| part.start < part.end)
        .filter_map(|part| {
            sentence.folded.span(part.start, part.end).shifted(sentence.span.start).intersect(sentence.span)
        })
        .collect();
    if spans.is_empty() { vec![sentence.span] } else { spans }
}

/// Shortest stretch of ideographs that counts as a restored name.
const NAME: usize = 2;

/// Ranges of the passage that the statement's restored words were taken from: for each stretch of the statement that its
/// sentence does not hold, the nearest earlier place of its longest match outside the sentence, or else the nearest later one.
pub(crate) fn antecedents(statement: &Folded, own: &SentenceView, source: &Source) -> Vec<Span> {
    let body = &source.body;
    let (own_start, own_end) = (body.position(own.span.start), body.position(own.span.end));
    let mut out: Vec<Span> = Vec::new();
    for token in tokens(statement) {
        match token.kind {
            TokenKind::Han => {
                let mut i = token.start;
                while i < token.end {
                    let Some(len) = restored(statement, own, i, token.end) else {
                        i += 1;
                        continue;
                    };
                    // A pair at the edge holds one character of its own sentence: only what lies between was put in.
                    let (first, last) = (i + usize::from(i > token.start), i + len - usize::from(i + len < token.end));
                    let inner = last.saturating_sub(first);
                    if inner < NAME {
                        i += len.max(1);
                        continue;
                    }
                    i = first;
                    let (mut take, mut place) = (inner, None);
                    while take >= NAME {
                        place = nearest(body, &statement.chars[i..i + take], own_start, own_end);
                        if place.is_some() {
                            break;
                        }
                        take -= 1;
                    }
                    match place {
                        Some(at) => {
                            out.push(body.span(at, at + take));
                            i += take;
                        }
                        None => i += 1,
                    }
                }
            }
            TokenKind::Word | TokenKind::Code | TokenKind::Number => {
                let needle = &statement.chars[token.start..token.end];
                let function = crate::proposition::lexis::terms(&Folded::new(&needle.iter().collect::<String>()));
                if !own.folded.contains(needle)
                    && !function.is_empty()
                    && let Some(at) = nearest(body, needle, own_start, own_end)
                {
                    out.push(body.span(at, at + needle.len()));
                }
            }
            TokenKind::Unit => {}
        }
    }
    merge(out, source)
}

/// Length of the stretch at `i` whose pairs are missing from the own sentence; `None` if the pair at `i` is there.
fn restored(statement: &Folded, own: &SentenceView, i: usize, end: usize) -> Option<usize> {
    let foreign = |k: usize| k + 1 < end && !own.set.contains(&statement.text(k, k + 2));
    if !foreign(i) {
        return None;
    }
    let mut k = i;
    while foreign(k) {
        k += 1;
    }
    Some(k + 1 - i)
}

/// Folded position of the occurrence of `needle` outside `own_start..own_end` that is nearest before it, else nearest after.
fn nearest(body: &Folded, needle: &[char], own_start: usize, own_end: usize) -> Option<usize> {
    let n = needle.len();
    if n == 0 || n > body.len() {
        return None;
    }
    let word = !is_ideograph(needle[0]);
    let fits = |at: &usize| {
        body.chars[*at..*at + n] == *needle
            && (!word
                || ((*at == 0 || !crate::proposition::lexis::is_wordlike(body.chars[*at - 1]))
                    && body.chars.get(*at + n).is_none_or(|&c| !crate::proposition::lexis::is_wordlike(c))))
    };
    let last = body.len() - n;
    let earlier = own_start.checked_sub(n).and_then(|top| (0..=top.min(last)).rev().find(|at| fits(at)));
    earlier.or_else(|| (own_end..=last).find(|at| fits(at)))
}

/// Sorts, joins what touches or is separated by a space or function character only, and keeps the ranges inside the text.
fn merge(mut spans: Vec<Span>, source: &Source) -> Vec<Span> {
    spans.retain(|s| !s.is_empty());
    spans.sort();
    let mut out: Vec<Span> = Vec::new();
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start <= last.end + 1 && bridge(source, last.end, span.start) => {
                last.end = last.end.max(span.end);
            }
            _ => out.push(span),
        }
    }
    out
}

fn bridge(source: &Source, from: usize, to: usize) -> bool {
    let (a, b) = (source.body.position(from), source.body.position(to));
    a >= b || source.body.chars[a..b].iter().all(|c| c.is_whitespace() || is_content(*c))
}

/// Share of `part`'s weighted terms that stand in `whole`; 1 for a part without terms.
pub(crate) fn coverage<'t>(part: impl Iterator<Item = &'t Term>, whole: &HashSet<String>, source: &Source) -> f32 {
    let (mut total, mut common) = (0.0, 0.0);
    let mut seen = HashSet::new();
    for term in part {
        if seen.insert(term.key.as_str()) {
            let w = source.weight(&term.key);
            total += w;
            if whole.contains(&term.key) {
                common += w;
            }
        }
    }
    if total > 0.0 { common / total } else { 1.0 }
}

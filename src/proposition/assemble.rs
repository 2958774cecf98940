//! From what the model wrote to units: the gates decide, and no sentence is lost.
//!
//! Every sentence ends as one of: statements that carry it, its own text as a `sentence` unit, or an entry in the ledger that
//! says why it needs none (a heading that is part of every unit's heading path, a line without words).

pub(super) mod review;

use std::collections::{HashMap, HashSet};

use crate::document::Span;
use crate::proposition::clause::label_len;
use crate::proposition::compound::name_compounds;
use crate::proposition::confidence::{LOW_CONFIDENCE, REVIEW_BELOW, Signals, confidence};
use crate::proposition::contents;
use crate::proposition::entities::entities;
use crate::proposition::evidence::{antecedents, coverage, spans};
use crate::proposition::gates::{Candidate, Finding, Verdict, examine, hopeless, modals, refers, support};
use crate::proposition::ledger::{Outcome, SentenceOutcome};
use crate::proposition::lexis::{Folded, TokenKind, identity, is_content, term_set, terms, tokens};
use crate::proposition::line::{CONTENTS, LABEL, is_label, marker_len, says_nothing, without_comments};
use crate::proposition::links::targets;
use crate::proposition::quantity::{Quantity, quantities};
use crate::proposition::repair::{Repaired, joins_facts, repair, split};
use crate::proposition::source::{SentenceView, Source};
use crate::proposition::table::{self, Row};
use crate::proposition::tidy::{squeeze, tidy};
use crate::proposition::time::anchor_units;
use crate::proposition::{Passage, Reason, Sentence, SentenceKind, SentenceYield, Status, Unit, UnitKind};
use crate::section::sentence::ends;

/// Share of a sentence's words that its statements must carry together; below it the sentence itself is kept too.
const MIN_COVERAGE: f32 = 0.6;
/// The same where a limit ended the output: then what is missing may stand in what was never written.
const MIN_COVERAGE_CUT: f32 = 0.85;
/// Stands for the probability of a statement that rules made from the source's own words.
const RULE: f32 = 0.95;

/// The units of a passage and the account of its sentences.
#[derive(Debug, Clone, Default)]
pub struct Assembly {
    /// By sentence, then as written; a verbatim unit follows the statements of its sentence. Rejected ones are kept.
    pub units: Vec<Unit>,
    /// Sentences that no searchable unit covers and that the ledger does not excuse: empty unless something is wrong.
    pub uncovered: Vec<Span>,
    /// What became of each sentence, in order.
    pub ledger: Vec<SentenceOutcome>,
}

/// The sentences of a passage as they stand, without statements. Ranges count code points of `passage.text`.
pub fn verbatim(passage: &Passage<'_>) -> Assembly {
    build(passage, &[], None)
}

/// Judges what the model wrote for a passage, repairs by rule what can be repaired, and fills every gap with the sentence
/// itself. `yields[i]` belongs to `passage.sentences[i]`; `None`, or a missing entry, is a sentence that was not sent to the
/// model, which rules alone may make readable. Never fails, whatever the yields hold. Ranges count code points of
/// `passage.text`.
pub fn assemble(passage: &Passage<'_>, yields: &[Option<SentenceYield>]) -> Assembly {
    build(passage, yields, Some(Source::new(passage)))
}

fn build(passage: &Passage<'_>, yields: &[Option<SentenceYield>], source: Option<Source>) -> Assembly {
    let chars: Vec<char> = passage.text.chars().collect();
    let rows = if source.is_some() { table::rows(passage, &chars) } else { HashMap::new() };
    let mut work = Work { passage, chars, rows, units: Vec::new(), seen: HashMap::new(), verbatim: HashMap::new() };
    let mut ledger = Vec::with_capacity(passage.sentences.len());
    let lists = if source.is_some() { contents::lists(passage, &work.chars) } else { HashMap::new() };
    let mut listed = 0;
    for (i, sentence) in passage.sentences.iter().enumerate() {
        if let Some(list) = lists.get(&i) {
            work.add_contents(&passage.sentences[list.clone()]);
            listed = list.end;
        }
        if i < listed {
            ledger.push(SentenceOutcome {
                sentence: *sentence,
                outcome: Outcome::Fallback { reason: CONTENTS.to_owned() },
            });
            continue;
        }
        let outcome = match (yields.get(i).and_then(Option::as_ref), &source) {
            (Some(written), Some(source)) => work.judge(i, sentence, written, source),
            (_, source) => work.keep(i, sentence, source.as_ref()),
        };
        ledger.push(SentenceOutcome { sentence: *sentence, outcome });
    }
    work.keep_lone_headings(&mut ledger);
    name_compounds(&mut work.units, passage);
    // After all gates: the number beside a time word is not in the text, the date of the document answers for it.
    anchor_units(&mut work.units, passage.date);
    let uncovered = uncovered(&work.units, &ledger);
    Assembly { units: work.units, uncovered, ledger }
}

struct Work<'a> {
    passage: &'a Passage<'a>,
    chars: Vec<char>,
    /// What a rule makes of table rows, by the start of their sentence.
    rows: HashMap<usize, Row>,
    units: Vec<Unit>,
    /// Identity of a searchable statement -> its unit.
    seen: HashMap<String, usize>,
    /// Statement of a unit that was written by rule or is a sentence as it stands -> its unit.
    verbatim: HashMap<String, usize>,
}

impl Work<'_> {
    fn slice(&self, span: Span) -> String {
        let end = span.end.min(self.chars.len());
        self.chars[span.start.min(end)..end].iter().collect()
    }

    /// A sentence that the model has not seen.
    fn keep(&mut self, index: usize, sentence: &Sentence, source: Option<&Source>) -> Outcome {
        let text = self.slice(sentence.span);
        if let Some(reason) = says_nothing(&text) {
            return Outcome::Skipped { reason: reason.to_owned() };
        }
        if sentence.kind == SentenceKind::Heading && self.is_in_path(&text) {
            return Outcome::Heading;
        }
        if is_label(&text) {
            return Outcome::Skipped { reason: LABEL.to_owned() };
        }
        let reason = "not sent to the model".to_owned();
        if let Some(source) = source
            && matches!(sentence.kind, SentenceKind::Prose | SentenceKind::ListItem)
        {
            let mut said = Said::default();
            if let Some(rules) = self.by_rule(index, source, &mut said) {
                return Outcome::Repaired { count: said.good.len(), rules, reason };
            }
        }
        match self.rows.remove(&sentence.span.start) {
            Some(Row::Header) => return Outcome::Skipped { reason: "table header".to_owned() },
            Some(Row::Statement(unit)) => self.add_exact(unit),
            None => self.add_verbatim(sentence),
        }
        match sentence.kind {
            SentenceKind::TableRow => Outcome::TableRow,
            _ => Outcome::Fallback { reason },
        }
    }

    /// A heading that title or heading path repeat is searched with every unit of its section.
    fn is_in_path(&self, text: &str) -> bool {
        let key = identity(text);
        // The path must say all of it: words in front of what it repeats may turn it around (`Do not install`, under `Install`).
        let same = |other: &str| identity(other).ends_with(&key);
        !key.is_empty() && (same(self.passage.title) || self.passage.heading_path.iter().any(|h| same(h)))
    }

    /// Judges the statements of one sentence.
    fn judge(&mut self, index: usize, sentence: &Sentence, written: &SentenceYield, source: &Source) -> Outcome {
        let text = self.slice(sentence.span);
        if let Some(reason) = says_nothing(&text) {
            return Outcome::Skipped { reason: reason.to_owned() };
        }
        if is_label(&text) && written.propositions.is_empty() {
            return Outcome::Skipped { reason: LABEL.to_owned() };
        }
        let own = &source.sentences[index];
        let mut said = Said::default();
        let mut heard = HashSet::new();
        for raw in &written.propositions {
            let statement = tidy(&raw.statement, self.passage.title);
            // A model that loops says the same again; once is enough for the record.
            if !heard.insert(statement.clone()) {
                continue;
            }
            if let Some(finding) = hopeless(&statement) {
                self.units.push(rejected(&statement, sentence.span, &[finding]));
                continue;
            }
            for statement in apart(&statement) {
                match self.best_form(&statement, raw.probability, index, source, &said) {
                    Ok(units) => units.into_iter().for_each(|unit| self.admit(unit, &mut said)),
                    Err(refused) => self.units.push(*refused),
                }
            }
        }
        let missing = if written.propositions.is_empty() {
            Some("the model wrote nothing".to_owned())
        } else if said.good.is_empty() {
            Some("no statement passed the gates".to_owned())
        } else {
            let least = if written.truncated { MIN_COVERAGE_CUT } else { MIN_COVERAGE };
            left_out(own, &said.good, &said.carried, least, source)
        };
        match missing {
            None => Outcome::Propositions { count: said.good.len() },
            Some(reason) => match self.by_rule(index, source, &mut said) {
                Some(rules) => Outcome::Repaired { count: said.good.len(), rules, reason },
                None => {
                    self.add_verbatim(sentence);
                    Outcome::Fallback { reason }
                }
            },
        }
    }

    /// The units that a statement becomes: repaired and taken apart, or only repaired, or as it was written, whichever passes
    /// the gates first. `Err` holds the unit that was refused.
    fn best_form(
        &self,
        statement: &str,
        probability: f32,
        index: usize,
        source: &Source,
        said: &Said,
    ) -> Result<Vec<Unit>, Box<Unit>> {
        let repaired = repair(statement, index, source);
        let parts = split(&repaired.statement);
        let mut refused = None;
        let judge = |text: &str, repaired: &Repaired, counts: &HashMap<String, usize>| {
            let candidate = Candidate::new(text, index, source, counts);
            judge_one(candidate, probability, repaired, source)
        };
        if parts.len() > 1 {
            let units = judge_parts(&parts, &said.counts, |part, counts| judge(part, &repaired, counts));
            if units.iter().all(|u| u.status == Status::Accepted) {
                return Ok(units);
            }
        }
        let plain = Repaired { statement: statement.to_owned(), ..Repaired::default() };
        let changed = repaired.statement != plain.statement;
        for form in [Some(&repaired), changed.then_some(&plain)].into_iter().flatten() {
            let unit = judge(&form.statement, form, &said.counts);
            if unit.is_searchable() {
                return Ok(vec![unit]);
            }
            refused.get_or_insert(unit);
        }
        Err(Box::new(refused.unwrap_or_else(|| rejected(statement, source.sentences[index].span, &[]))))
    }

    /// Adds an accepted unit, or its place to the unit that says the same already.
    fn admit(&mut self, mut unit: Unit, said: &mut Said) {
        let key = identity(&unit.statement);
        let words = term_set(&terms(&Folded::new(&unit.statement)));
        said.carried.extend(words.iter().cloned());
        said.good.push(unit.statement.clone());
        if let Some(&earlier) = self.seen.get(&key) {
            // Said before: the earlier unit gains this evidence, so that the sentence counts as covered.
            let evidence = unit.evidence.clone();
            unit.status = Status::Rejected;
            unit.reasons.push(Reason { gate: "duplicate".to_owned(), detail: unit.statement.clone() });
            add_evidence(&mut self.units[earlier], &evidence);
        } else {
            self.seen.insert(key, self.units.len());
            for word in words {
                *said.counts.entry(word).or_insert(0) += 1;
            }
        }
        self.units.push(unit);
    }

    /// Makes the sentence itself readable alone by rule. `None` if no rule speaks or what comes of it does not pass the gates.
    fn by_rule(&mut self, index: usize, source: &Source, said: &mut Said) -> Option<Vec<String>> {
        let own = &source.sentences[index];
        let plain = squeeze(&own.original);
        let text = tidy(&plain, self.passage.title);
        let mut repaired = Repaired { whole: true, ..repair(&text, index, source) };
        if text.contains('《') && !plain.contains('《') {
            repaired.rules.push("title");
        }
        let parts = split(&repaired.statement);
        if repaired.rules.is_empty() && parts.len() < 2 {
            return None;
        }
        let fresh = HashMap::new();
        let judge = |part: &str, counts: &HashMap<String, usize>| {
            judge_one(Candidate::new(part, index, source, counts), RULE, &repaired, source)
        };
        let mut units = judge_parts(&parts, &fresh, judge);
        if !units.iter().all(|u| u.status == Status::Accepted) {
            units = vec![judge(&repaired.statement, &fresh)];
        }
        let mut rules: Vec<String> = repaired.rules.iter().map(|r| (*r).to_owned()).collect();
        if units.len() > 1 {
            rules.push("split".to_owned());
        }
        if rules.is_empty() || !units.iter().all(|u| u.status == Status::Accepted) {
            return None;
        }
        for unit in &mut units {
            // The words are the sentence's own but for those that a rule put in, and it knows from where.
            unit.antecedents = union(repaired.antecedents.clone());
        }
        if let [unit] = units.as_mut_slice() {
            // One statement for the whole sentence: all of it is evidence.
            unit.evidence = vec![Span::new(own.span.start + source.frame.places[index].marks, own.span.end)];
        }
        let good: Vec<String> = units.iter().map(|u| u.statement.clone()).collect();
        let carried = good.iter().flat_map(|g| term_set(&terms(&Folded::new(g)))).collect();
        if left_out(own, &good, &carried, MIN_COVERAGE, source).is_some() {
            return None;
        }
        for unit in units {
            self.admit(unit, said);
        }
        Some(rules)
    }

    /// Adds the sentence itself; one that stands in the passage twice is one unit with two places.
    fn add_verbatim(&mut self, sentence: &Sentence) {
        let text = self.slice(sentence.span);
        let marks = if sentence.kind == SentenceKind::Verbatim { 0 } else { marker_len(&text) };
        let evidence = Span::new(sentence.span.start + marks, sentence.span.end.min(self.chars.len()));
        let kept: String = text.chars().skip(marks).collect();
        let statement = match sentence.kind {
            SentenceKind::Verbatim => kept,
            _ => squeeze(&without_comments(&self.without_quote_marks(sentence.span, kept))),
        };
        let mut unit = Unit::verbatim(UnitKind::Sentence, statement, evidence);
        unit.entities = entities(&unit.statement);
        self.add_exact(unit);
    }

    /// `text`, which begins at `span`, without the `>` in front of the lines after its first where it stands in a block quote:
    /// inside a statement they read as an operator.
    fn without_quote_marks(&self, span: Span, text: String) -> String {
        let Some((first, rest)) = text.split_once('\n') else { return text };
        let start = self.chars[..span.start].iter().rposition(|&c| c == '\n').map_or(0, |at| at + 1);
        if self.chars[start..].iter().find(|c| !c.is_whitespace()) != Some(&'>') {
            return text;
        }
        let bare = |line: &str| format!("\n{}", line.trim_start_matches(['>', ' ', '\t']));
        std::iter::once(first.to_owned()).chain(rest.split('\n').map(bare)).collect()
    }

    /// Adds the entries of a contents list as one unit.
    fn add_contents(&mut self, entries: &[Sentence]) {
        let [first, .., last] = entries else { return };
        let place = Span::new(first.span.start, last.span.end.min(self.chars.len()));
        let mut unit = Unit::verbatim(UnitKind::Sentence, self.slice(place), place);
        unit.entities = entities(&unit.statement);
        self.add_exact(unit);
    }

    /// Adds a unit; one whose statement is there to the letter gives it its place instead.
    fn add_exact(&mut self, unit: Unit) {
        if let Some(&earlier) = self.verbatim.get(&unit.statement) {
            add_evidence(&mut self.units[earlier], &unit.evidence);
            return;
        }
        self.verbatim.insert(unit.statement.clone(), self.units.len());
        self.units.push(unit);
    }

    /// A passage of headings and labels only is still found: then they are units.
    fn keep_lone_headings(&mut self, ledger: &mut [SentenceOutcome]) {
        if self.units.iter().any(Unit::is_searchable) {
            return;
        }
        for entry in ledger {
            let label = matches!(&entry.outcome, Outcome::Skipped { reason } if reason == LABEL);
            if entry.outcome == Outcome::Heading || label {
                self.add_verbatim(&entry.sentence);
                entry.outcome = Outcome::Fallback { reason: "nothing else is here".to_owned() };
            }
        }
    }
}

/// Judges the parts of a statement one after the other: what an earlier part says points less strongly at its clause.
fn judge_parts(
    parts: &[String],
    counts: &HashMap<String, usize>,
    judge: impl Fn(&str, &HashMap<String, usize>) -> Unit,
) -> Vec<Unit> {
    let mut counts = counts.clone();
    let mut units = Vec::with_capacity(parts.len());
    for part in parts {
        units.push(judge(part, &counts));
        for word in term_set(&terms(&Folded::new(part))) {
            *counts.entry(word).or_insert(0) += 1;
        }
    }
    units
}

/// The sentences of a written statement: a model that is carried away writes several.
fn apart(statement: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut from = 0;
    ends(statement, false, |end| {
        out.push(statement[from..end].trim().to_owned());
        from = end;
    });
    out.push(statement[from..].trim().to_owned());
    out.retain(|s| s.chars().any(is_content));
    out
}

/// Evidence that begins behind the label of its line takes the label in: it says what the rest is about.
fn with_label(evidence: &mut [Span], index: usize, source: &Source) {
    let place = &source.frame.places[index];
    let start = source.sentences[index].span.start + place.marks;
    if let Some(first) = evidence.first_mut()
        && place.label > 0
        && first.start <= start + place.label + 1
        && first.start > start
    {
        first.start = start;
    }
}

/// What has been said of a sentence so far.
#[derive(Default)]
struct Said {
    good: Vec<String>,
    /// Terms of the searchable statements.
    carried: HashSet<String>,
    /// How many statements hold a term.
    counts: HashMap<String, usize>,
}

fn judge_one(mut candidate: Candidate<'_>, probability: f32, repaired: &Repaired, source: &Source) -> Unit {
    candidate.restored.clone_from(&repaired.antecedents);
    let candidate = &candidate;
    let own = candidate.own;
    let findings = examine(candidate, source);
    let mut evidence = spans(own, &candidate.alignment.evidence, &candidate.set, source);
    with_label(&mut evidence, candidate.index, source);
    if findings.iter().any(|f| f.verdict == Verdict::Reject) {
        return Unit { evidence, ..rejected(candidate.statement, own.span, &findings) };
    }
    let confidence = confidence(Signals {
        probability,
        support: support(candidate, source).0,
        // Other words in the place of a short name are no words left out.
        carried: if repaired.whole { 1.0 } else { candidate.alignment.carried },
        doubts: findings.len(),
    });
    let mut reasons = reasons(&findings);
    if confidence < REVIEW_BELOW && reasons.is_empty() {
        reasons.push(Reason { gate: LOW_CONFIDENCE.to_owned(), detail: format!("{confidence:.2}") });
    }
    let status = if confidence < REVIEW_BELOW || !findings.is_empty() { Status::Review } else { Status::Accepted };
    if joins_facts(candidate.statement) {
        reasons.push(Reason { gate: "joins-facts".to_owned(), detail: "one sentence for several facts".to_owned() });
    }
    if !repaired.rules.is_empty() {
        reasons.push(Reason { gate: "repaired".to_owned(), detail: repaired.rules.join(", ") });
    }
    let mut places = antecedents(&candidate.folded, own, source);
    places.extend(repaired.antecedents.iter().copied());
    Unit {
        statement: candidate.statement.to_owned(),
        kind: UnitKind::Proposition,
        status,
        confidence,
        evidence,
        antecedents: union(places),
        entities: entities(candidate.statement),
        reasons,
    }
}

fn reasons(findings: &[Finding]) -> Vec<Reason> {
    findings.iter().map(|f| Reason { gate: f.gate.to_owned(), detail: f.detail.clone() }).collect()
}

fn rejected(statement: &str, place: Span, findings: &[Finding]) -> Unit {
    Unit {
        statement: statement.to_owned(),
        kind: UnitKind::Proposition,
        status: Status::Rejected,
        confidence: 0.0,
        evidence: vec![place],
        antecedents: Vec::new(),
        entities: Vec::new(),
        reasons: reasons(findings),
    }
}

/// Sorted and without overlaps.
fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort();
    let mut out: Vec<Span> = Vec::new();
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => out.push(span),
        }
    }
    out
}

fn add_evidence(unit: &mut Unit, more: &[Span]) {
    for span in more {
        if !unit.evidence.contains(span) {
            unit.evidence.push(*span);
        }
    }
    unit.evidence.sort();
}

/// What of the sentence no statement carries: too many of its words, a number, a code, or a negation or modal.
fn left_out(
    own: &SentenceView,
    good: &[String],
    carried: &HashSet<String>,
    least: f32,
    source: &Source,
) -> Option<String> {
    let label = label_len(&own.folded);
    let links = targets(&own.folded);
    let short = short_names(&own.folded);
    let silent = |at: usize| at < label || links.iter().chain(&short).any(|l| l.contains(&at));
    let share = coverage(own.terms.iter().filter(|t| !silent(t.start)), carried, source);
    if share < least {
        return Some(format!("its statements carry too few of its words: {:.0} %", share * 100.0));
    }
    let all = Folded::new(&good.join("\n"));
    let numbers: HashSet<String> = quantities(&all).into_iter().map(|q| q.number).collect();
    let missing =
        |q: &&Quantity| !silent(q.start) && !is_cross_reference(&own.folded, q) && !numbers.contains(&q.number);
    if let Some(q) = own.quantities.iter().find(missing) {
        return Some(format!("no statement carries: {}", own.folded.text(q.start, q.end)));
    }
    for token in tokens(&own.folded).iter().filter(|t| !silent(t.start) && t.kind == TokenKind::Code) {
        if !all.contains(&own.folded.chars[token.start..token.end]) {
            return Some(format!("no statement carries: {}", own.folded.text(token.start, token.end)));
        }
    }
    for modal in modals(&own.folded, own.chinese) {
        let word: Vec<char> = modal.word.chars().collect();
        if !all.contains(&word) {
            return Some(format!("no statement carries: {}", modal.word));
        }
    }
    let present = term_set(&terms(&all));
    for clause in own.clauses.iter().filter(|c| c.start >= label) {
        let inside = own.terms_in(clause).filter(|t| !silent(t.start)).count();
        let text = own.folded.text(clause.start, clause.end);
        // What only points elsewhere is resolved in other words.
        let points = inside <= 10 && refers(&text);
        if inside >= 4 && !points && coverage(own.terms_in(clause), &present, source) < MIN_COVERAGE / 2.0 {
            return Some(format!("no statement carries: {}", text.trim()));
        }
    }
    None
}

/// `本条第一款` and `前款`: numbers that only point elsewhere in the document.
fn is_cross_reference(text: &Folded, quantity: &Quantity) -> bool {
    let at = quantity.start.saturating_sub(1);
    text.has(at, "第") && ["本条", "本條", "本款", "本法", "前条"].iter().any(|w| text.ends(at, w))
}

/// `该设备`: a statement says the full name in its place.
fn short_names(text: &Folded) -> Vec<std::ops::Range<usize>> {
    let determiners =
        [("该", 3), ("該", 3), ("这个", 4), ("這個", 4), ("这些", 4), ("這些", 4), ("这种", 4), ("上述", 4)];
    let at = |i: usize| determiners.iter().find(|(word, _)| text.has(i, word)).map(|(_, len)| i..i + len);
    (0..text.len()).filter_map(at).collect()
}

/// Sentences without a searchable unit that the ledger does not excuse.
fn uncovered(units: &[Unit], ledger: &[SentenceOutcome]) -> Vec<Span> {
    let mut covered: Vec<Span> = units.iter().filter(|u| u.is_searchable()).flat_map(|u| u.evidence.clone()).collect();
    covered.sort();
    ledger
        .iter()
        .filter(|entry| !matches!(entry.outcome, Outcome::Heading | Outcome::Skipped { .. }))
        .map(|entry| entry.sentence.span)
        .filter(|sentence| {
            let from = covered.partition_point(|s| s.start < sentence.start);
            let hit =
                covered[from..].iter().take_while(|s| s.start < sentence.end).any(|s| sentence.intersect(*s).is_some());
            !hit && !covered[..from].iter().any(|s| sentence.intersect(*s).is_some())
        })
        .collect()
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;

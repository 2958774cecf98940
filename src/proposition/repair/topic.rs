//! The fault, label or lead-in that a line stands under, put in front of it.

use crate::document::Span;
use crate::proposition::frame::{Above, has_code};
use crate::proposition::lexis::{Folded, TokenKind, is_ideograph, term_set, terms, tokens};
use crate::proposition::links::spoken;
use crate::proposition::source::Source;

use super::is_bare;

/// Share of the topic's words with which a statement counts as naming it already.
const NAMED: f32 = 0.4;

/// Puts the topic in front of a statement that lacks it; `None` where nothing is missing.
pub(super) fn restore(statement: &str, index: usize, source: &Source) -> Option<(String, Vec<Span>)> {
    let place = &source.frame.places[index];
    let folded = Folded::new(statement);
    if !is_bare(&folded, index, source) {
        return None;
    }
    let above: Vec<&Above> = place.above.iter().chain(&place.own).filter(|a| !names_label(&folded, a)).collect();
    let labels: Vec<&Above> = above.iter().copied().filter(|a| a.is_label).collect();
    // A label that names something, `Run 模式` and not 说明, says what its lines are about.
    let particular = labels.iter().rfind(|l| is_particular(&l.text)).copied();
    // An item completes the lead-in right above it.
    let lead_in = above.last().copied().filter(|a| !a.is_label && place.begins && particular.is_none());
    let mut places = Vec::new();
    let mut core = statement.to_owned();
    if let Some(front) = lead_in.or(particular) {
        places.push(front.span);
        core = joined(&front.text, &core);
    }
    if let Some(topic) = source.frame.topic.as_ref().filter(|t| !names(&Folded::new(&core), &t.name)) {
        let rest: Vec<&Above> = labels.into_iter().filter(|l| Some(l.span) != particular.map(|p| p.span)).collect();
        let mut below: Vec<&str> = topic.below.iter().map(String::as_str).collect();
        below.extend(rest.iter().map(|l| l.text.as_str()));
        places.extend(rest.iter().map(|l| l.span));
        below.retain(|b| !topic.name.contains(b));
        let name = match (below.is_empty(), topic.name.chars().any(is_ideograph)) {
            (true, _) => topic.name.clone(),
            (false, true) => format!("{}（{}）", topic.name, below.join("，")),
            (false, false) => format!("{} ({})", topic.name, below.join(", ")),
        };
        core = joined(&name, &core);
    }
    (core != statement).then_some((core, places))
}

/// True when the statement carries the code of `name`, or its words and no other code: a line that points at another fault
/// shares words with this one. Where a link leads is not said.
fn names(statement: &Folded, name: &str) -> bool {
    let statement = &Folded::new(&spoken(&statement.text(0, statement.len())));
    let name = Folded::new(name);
    let codes = codes(&name);
    if codes.iter().any(|code| statement.contains_word(code)) {
        return true;
    }
    if !codes.is_empty() && has_code(&statement.text(0, statement.len())) {
        return false;
    }
    let words = term_set(&terms(&name));
    let said = term_set(&terms(statement));
    let shared = words.iter().filter(|w| said.contains(*w)).count();
    shared as f32 >= NAMED * words.len() as f32
}

/// The same for a label or lead-in. A label's Latin words and codes must be there: `VAC 电源` is not any 电源.
fn names_label(statement: &Folded, label: &Above) -> bool {
    let text = Folded::new(&label.text);
    let latin = tokens(&text).into_iter().filter(|t| matches!(t.kind, TokenKind::Code | TokenKind::Word));
    let lacks = latin.map(|t| &text.chars[t.start..t.end]).any(|word| !statement.contains_word(word));
    names(statement, &label.text) && !(label.is_label && is_particular(&label.text) && lacks)
}

/// The codes and long numbers of a text.
fn codes(text: &Folded) -> Vec<&[char]> {
    let tokens = tokens(text).into_iter();
    let named = tokens.filter(|t| matches!(t.kind, TokenKind::Code | TokenKind::Number));
    let codes = named.map(|t| &text.chars[t.start..t.end]);
    codes.filter(|code| code.iter().filter(|c| c.is_ascii_digit()).count() >= 3).collect()
}

/// A label that names something: ideographs with a Latin word or a number.
pub(super) fn is_particular(label: &str) -> bool {
    label.chars().any(is_ideograph) && label.chars().any(|c| c.is_ascii_alphanumeric())
}

/// `lead: statement` with the punctuation of its script.
fn joined(lead: &str, statement: &str) -> String {
    if lead.chars().any(is_ideograph) || statement.chars().any(is_ideograph) {
        format!("{lead}：{statement}")
    } else {
        format!("{lead}: {statement}")
    }
}

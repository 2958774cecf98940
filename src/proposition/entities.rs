//! Names, codes and quantities of a statement, for display and filtering.

use crate::document::Span;
use crate::proposition::lexis::{Folded, TokenKind, is_wordlike, tokens};
use crate::proposition::quantity::quantities;

/// Longest quoted stretch that counts as a name, in characters.
const MAX_QUOTED: usize = 30;

/// Codes and model names, Latin names, numbers with their units, and quoted names, in order of appearance, each once,
/// as written. In an English statement a word counts as a name when it has a capital that does not open the statement.
pub fn entities(statement: &str) -> Vec<String> {
    let folded = Folded::new(statement);
    let original: Vec<char> = statement.chars().collect();
    let chinese = crate::proposition::lexis::is_chinese(statement);
    let slice = |start: usize, end: usize| -> String {
        let span = folded.span(start, end);
        original[span.start..span.end].iter().collect()
    };
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    for (i, token) in tokens(&folded).into_iter().enumerate() {
        let text = slice(token.start, token.end);
        let capital = text.chars().any(char::is_uppercase);
        let name = match token.kind {
            TokenKind::Code => true,
            TokenKind::Word => (chinese && token.end - token.start > 1) || (capital && i > 0),
            _ => false,
        };
        if name {
            match found.last_mut() {
                // `Automation Runtime` is one name.
                Some(last)
                    if token.kind == TokenKind::Word
                        && capital
                        && last.1 + 1 == token.start
                        && folded.chars[last.1] == ' ' =>
                {
                    last.1 = token.end;
                    last.2 = slice(last.0, token.end);
                }
                _ => found.push((token.start, token.end, text)),
            }
        }
    }
    for q in quantities(&folded) {
        found.push((q.start, q.end, slice(q.start, q.end)));
    }
    let mut at = 0;
    while at < original.len() {
        let close = match original[at] {
            '“' => '”',
            '「' => '」',
            '『' => '』',
            '《' => '》',
            '"' => '"',
            _ => {
                at += 1;
                continue;
            }
        };
        match original[at + 1..].iter().take(MAX_QUOTED + 1).position(|&c| c == close) {
            Some(len) if len > 0 => {
                let name: String = original[at + 1..at + 1 + len].iter().collect();
                let start = folded.position(at + 1);
                found.push((start, folded.position(at + 1 + len), name.trim().to_owned()));
                at += len + 2;
            }
            _ => at += 1,
        }
    }
    found.sort();
    let mut out: Vec<String> = Vec::new();
    for (_, _, name) in found {
        if !name.is_empty() && !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// Where the entities of units stand in the text that the units come from.
#[derive(Debug)]
pub struct EntityPlaces {
    text: Folded,
    offset: usize,
}

impl EntityPlaces {
    /// Prepares `text`, whose first character is code point `offset` of the text that spans count.
    pub fn new(text: &str, offset: usize) -> Self {
        Self { text: Folded::new(text), offset }
    }

    /// For each entity the place of the text that the unit most likely means: in its evidence, else among its antecedents, else
    /// the first; `None` for one that stands only in a heading or the title.
    pub fn of(&self, entities: &[String], evidence: &[Span], antecedents: &[Span]) -> Vec<Option<Span>> {
        entities.iter().map(|entity| self.place(entity, evidence, antecedents)).collect()
    }

    fn place(&self, entity: &str, evidence: &[Span], antecedents: &[Span]) -> Option<Span> {
        let needle = Folded::new(entity).chars;
        let n = needle.len();
        if n == 0 || n > self.text.len() {
            return None;
        }
        let chars = &self.text.chars;
        let ends = |at: usize, other: Option<&char>| {
            // `E-01` does not stand in `E-011`.
            !is_wordlike(chars[at]) || !other.is_some_and(|c| is_wordlike(*c))
        };
        let found: Vec<Span> = self
            .text
            .find_all(&needle, 0..self.text.len())
            .filter(|&at| ends(at, at.checked_sub(1).map(|b| &chars[b])) && ends(at + n - 1, chars.get(at + n)))
            .map(|at| self.text.span(at, at + n).shifted(self.offset))
            .collect();
        let inside = |spans: &[Span]| found.iter().copied().find(|f| spans.iter().any(|s| s.contains(*f)));
        inside(evidence).or_else(|| inside(antecedents)).or_else(|| found.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_quantities_names_and_quotes_are_found() {
        assert_eq!(
            entities("BX-9000 报 ERR-9801 时，油温应低于 65 ℃，点击“复位”。"),
            ["BX-9000", "ERR-9801", "65 ℃", "复位"]
        );
        assert_eq!(
            entities("The pump of the HX-40 runs Automation Runtime at 24V."),
            ["HX-40", "Automation Runtime", "24V"]
        );
        assert!(entities("").is_empty());
    }

    #[test]
    fn an_entity_is_found_where_the_unit_took_it_from() {
        let text = "E-011 停机。E-01 停机。E-01 复位。";
        let places = EntityPlaces::new(text, 100);
        let names = ["E-01".to_owned(), "X-9".to_owned()];
        assert_eq!(places.of(&names, &[Span::new(117, 125)], &[]), [Some(Span::new(117, 121)), None]);
        assert_eq!(places.of(&names, &[], &[]), [Some(Span::new(109, 113)), None]);
    }
}

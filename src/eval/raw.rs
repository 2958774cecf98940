//! The model's own statements, unjudged: what extraction would be without gates and rules.

use crate::document::Span;
use crate::proposition::{Passage, SentenceKind, SentenceYield, Status, Unit, UnitKind};

/// Every statement that was written as an accepted proposition of its sentence, with the model's own probability as
/// confidence, and the sentences of running text for which nothing was written. Ranges count code points of the passage.
pub fn raw_units(passage: &Passage<'_>, yields: &[Option<SentenceYield>]) -> (Vec<Unit>, Vec<Span>) {
    let (mut units, mut uncovered) = (Vec::new(), Vec::new());
    for (n, sentence) in passage.sentences.iter().enumerate() {
        let written = yields.get(n).and_then(Option::as_ref).map_or(&[][..], |y| &y.propositions);
        if written.is_empty() && sentence.kind == SentenceKind::Prose {
            uncovered.push(sentence.span);
        }
        units.extend(written.iter().map(|raw| Unit {
            statement: raw.statement.clone(),
            kind: UnitKind::Proposition,
            status: Status::Accepted,
            confidence: if raw.probability.is_nan() { 0.0 } else { raw.probability.clamp(0.0, 1.0) },
            evidence: vec![sentence.span],
            antecedents: Vec::new(),
            entities: Vec::new(),
            reasons: Vec::new(),
        }));
    }
    (units, uncovered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Format;
    use crate::proposition::{RawProposition, sentences};

    #[test]
    fn what_was_written_stands_unjudged_and_what_was_not_is_named() {
        let text = "油泵停止。该阀打开。";
        let sentences = sentences(text, Format::Markdown);
        let raw = RawProposition { statement: "编造 99 MPa".into(), probability: 0.5 };
        let yields = [Some(SentenceYield { propositions: vec![raw], truncated: false })];
        let (units, uncovered) = raw_units(&Passage::new("", &[], text, &sentences), &yields);
        assert_eq!((units[0].statement.as_str(), units[0].status), ("编造 99 MPa", Status::Accepted));
        assert_eq!(units[0].evidence, [sentences[0].span]);
        assert_eq!(uncovered, [sentences[1].span]);
    }
}

//! Lead-ins: an item of a list says what its lead-in says of it, and nothing that another list says.
//!
//! `不得有下列行为：（一）…` forbids each item. A statement of the item that takes its words from elsewhere, or leaves out the 不得,
//! turns the list into its opposite.

use super::modal::same;
use super::{Candidate, Finding, modals};
use crate::proposition::lexis::{Folded, Term, term_set, terms};
use crate::proposition::source::Source;

/// Share of the restored words that must stand in the lead-in or above.
const FROM_ABOVE: f32 = 0.5;
/// Fewest restored words that can be judged.
const MIN_TERMS: usize = 3;

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let place = &source.frame.places[candidate.index];
    // `Run 模式：…`: an item with a label of its own is a list's entry, not the end of its lead-in.
    let lead_in = place.above.last().filter(|a| !a.is_label && place.begins && place.own.is_none())?;
    let above = Folded::new(&lead_in.text);
    let said = term_set(&terms(&above));
    let own = &candidate.own.set;
    let foreign: Vec<&Term> = candidate.terms.iter().filter(|t| !own.contains(&t.key)).collect();
    if foreign.len() < MIN_TERMS {
        // The item as it stands: whatever is done about its lead-in is done by rule.
        return None;
    }
    let heads = |key: &str| source.heads.contains(&key.chars().collect::<Vec<_>>());
    let known = foreign.iter().filter(|t| said.contains(&t.key) || heads(&t.key)).count();
    if (known as f32) < FROM_ABOVE * foreign.len() as f32 {
        return Some(Finding::reject("lead-in", format!("not what `{}` says", lead_in.text)));
    }
    // A demand or a ban of the lead-in holds for each item.
    let here = modals(&candidate.folded, candidate.own.chinese);
    let carried = |word: &str| {
        candidate.folded.contains(&word.chars().collect::<Vec<_>>()) || here.iter().any(|m| same(m.word, word))
    };
    let excepts = lead_in.text.contains("除外").then_some("除外");
    let demands = modals(&above, candidate.own.chinese).into_iter().map(|m| m.word).chain(excepts);
    let missing = demands.into_iter().find(|word| !carried(word));
    missing.map(|word| Finding::reject("lead-in", format!("without its `{word}`")))
}

#[cfg(test)]
mod tests {
    use crate::document::Format;
    use crate::proposition::{Passage, RawProposition, SentenceYield, UnitKind, assemble, sentences};

    const TEXT: &str = "操作人员不得实施下列行为：\n\n（一）停用报警器；\n\n（二）拆除防护罩。\n\n有下列情形之一的，厂家不承担责任：\n\n（一）设备被改装；\n\n（二）润滑油不符合要求。\n";

    /// The searchable statements of the sentence that holds `part` when the model writes `statement` for it.
    fn kept(part: &str, statement: &str) -> Vec<String> {
        let found = sentences(TEXT, Format::Markdown);
        let chars: Vec<char> = TEXT.chars().collect();
        let yields: Vec<Option<SentenceYield>> = found
            .iter()
            .map(|s| {
                let own: String = chars[s.span.start..s.span.end].iter().collect();
                own.contains(part).then(|| SentenceYield {
                    propositions: vec![RawProposition { statement: statement.to_owned(), probability: 0.99 }],
                    truncated: false,
                })
            })
            .collect();
        let units = assemble(&Passage::new("", &[], TEXT, &found), &yields).units;
        let about = |u: &&crate::proposition::Unit| u.is_searchable() && u.statement.contains(part);
        units.iter().filter(about).filter(|u| u.kind == UnitKind::Proposition).map(|u| u.statement.clone()).collect()
    }

    #[test]
    fn a_forbidden_act_is_not_given_the_words_of_another_list() {
        let right = "操作人员不得实施下列行为：拆除防护罩。";
        assert_eq!(kept("拆除防护罩", "拆除防护罩，厂家不承担责任。"), [right]);
        assert_eq!(kept("拆除防护罩", "操作人员实施拆除防护罩行为。"), [right]);
        assert_eq!(kept("拆除防护罩", "操作人员不得实施拆除防护罩的行为。"), ["操作人员不得实施拆除防护罩的行为。"]);
    }
}

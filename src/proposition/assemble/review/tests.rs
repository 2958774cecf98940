//! What decisions do to the units of a passage.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::proposition::RawProposition;

const TEXT: &str = "主轴温度超过75℃时，控制器报 ERR-9801，主轴停止。该报警不得在主轴停稳前复位。";
const FIRST: Span = Span { start: 0, end: 30 };

fn with_passage<T>(ask: impl Fn(&Passage<'_>) -> T) -> T {
    let sentences = crate::proposition::sentences(TEXT, crate::document::Format::Markdown);
    assert_eq!((sentences.len(), sentences[0].span), (2, FIRST));
    let headings = ["3.1 温度".to_owned()];
    ask(&Passage::new("BX-9000 操作手册", &headings, TEXT, &sentences))
}

fn written(statements: &[&str]) -> Option<SentenceYield> {
    let propositions =
        statements.iter().map(|s| RawProposition { statement: (*s).to_owned(), probability: 0.95 }).collect();
    Some(SentenceYield { propositions, truncated: false })
}

const ALARM: &str = "主轴温度超过75℃时，控制器报 ERR-9801。";
const STOP: &str = "主轴温度超过75℃时，主轴停止。";
const RESET: &str = "ERR-9801 报警不得在主轴停稳前复位。";

fn assembled(passage: &Passage<'_>) -> Assembly {
    let assembly = assemble(passage, &[written(&[ALARM, STOP]), written(&[RESET])]);
    assert!(assembly.units.iter().all(|u| u.kind == UnitKind::Proposition && u.is_searchable()), "{assembly:#?}");
    assembly
}

fn decision(assembly: &Assembly, of: &str, verdict: Verdict, statement: &str) -> Decision {
    let at = assembly.units.iter().position(|unit| unit.statement == of).unwrap();
    Decision {
        unit: unit_keys(&assembly.units)[at].clone(),
        verdict,
        statement: statement.to_owned(),
        place: assembly.units[at].evidence[0],
    }
}

fn decided(of: &str, verdict: Verdict, statement: &str) -> (Assembly, Assembly, Applied) {
    with_passage(|passage| {
        let before = assembled(passage);
        let mut after = before.clone();
        let applied = apply_decisions(passage, &mut after, &[decision(&before, of, verdict, statement)]);
        (before, after, applied)
    })
}

fn searchable(assembly: &Assembly) -> Vec<&str> {
    assembly.units.iter().filter(|unit| unit.is_searchable()).map(|unit| unit.statement.as_str()).collect()
}

#[test]
fn a_rejected_statement_goes_and_its_sentence_is_searched_as_it_stands() {
    let (before, after, applied) = decided(STOP, Verdict::Rejected, STOP);
    let sentence: String = TEXT.chars().take(FIRST.end).collect();
    assert_eq!(searchable(&after), [ALARM, &sentence, RESET]);
    assert!(matches!(&after.ledger[0].outcome, Outcome::Fallback { reason } if reason.contains("a person")));
    assert_eq!(after.ledger[1], before.ledger[1]);
    assert_eq!((after.uncovered.len(), applied.keys.len()), (0, after.units.len()));
    let (_, only, _) = decided(RESET, Verdict::Rejected, RESET);
    assert!(searchable(&only).contains(&"该报警不得在主轴停稳前复位。"));
    assert!(matches!(&only.ledger[1].outcome, Outcome::Fallback { reason } if reason.contains("a person")));
}

#[test]
fn an_edited_statement_takes_the_place_of_the_old_one_and_keeps_its_key() {
    let new = "当主轴温度超过75℃时，主轴停止。";
    let (before, after, applied) = decided(STOP, Verdict::Edited, new);
    assert_eq!(searchable(&after), [ALARM, new, RESET]);
    assert_eq!(applied.keys, unit_keys(&before.units));
    let unit = &after.units[1];
    assert_eq!((unit.status, unit.reasons.last().unwrap().gate.as_str()), (Status::Accepted, REVIEWED));
    assert!(unit.reasons.last().unwrap().detail.contains(STOP));
    // What the new statement leaves out is searched verbatim.
    let (_, shorter, _) = decided(RESET, Verdict::Edited, "ERR-9801 报警在主轴停稳前不得复位。");
    assert!(matches!(shorter.ledger[1].outcome, Outcome::Propositions { count: 1 }));
    let (_, shorter, _) = decided(ALARM, Verdict::Edited, "主轴温度超过75℃时，控制器报警。");
    assert!(
        matches!(&shorter.ledger[0].outcome, Outcome::Fallback { reason } if reason.contains("err-9801")),
        "{:?}",
        shorter.ledger
    );
}

#[test]
fn gates_stand_above_a_person() {
    with_passage(|passage| {
        for (place, statement) in
            [(24, "主轴温度超过85℃时，主轴停止。"), (34, "ERR-9801 报警可以在主轴停稳前复位。"), (24, "")]
        {
            let unit = judge_statement(passage, Span::new(place, place + 4), statement);
            assert!(unit.status == Status::Rejected && !unit.reasons.is_empty(), "{unit:?}");
        }
        assert_eq!(judge_statement(passage, Span::new(24, 30), STOP).status, Status::Accepted);
        assert_eq!(judge_statement(passage, Span::new(900, 901), STOP).status, Status::Rejected);
    });
    let wrong = "主轴温度超过85℃时，主轴停止。";
    let (before, after, applied) = decided(STOP, Verdict::Edited, wrong);
    assert_eq!((searchable(&after), applied.refused.len()), (searchable(&before), 1));
}

#[test]
fn what_a_person_vouched_for_stays_when_another_model_does_not_write_it() {
    with_passage(|passage| {
        let before = assembled(passage);
        let decisions = [
            decision(&before, STOP, Verdict::Accepted, STOP),
            decision(&before, ALARM, Verdict::Rejected, ALARM),
            decision(&before, RESET, Verdict::Edited, "在主轴停稳前，ERR-9801 报警不得复位。"),
        ];
        let mut other = assemble(passage, &[written(&[]), None]);
        let applied = apply_decisions(passage, &mut other, &decisions);
        assert_eq!((applied.refused.len(), applied.keys.len()), (0, other.units.len()));
        let found = searchable(&other);
        assert!(found.contains(&STOP) && found.contains(&"在主轴停稳前，ERR-9801 报警不得复位。"), "{found:?}");
        assert!(!found.contains(&ALARM));
        assert!(other.units.windows(2).all(|pair| pair[0].evidence[0].start <= pair[1].evidence[0].start + FIRST.end));
        assert_eq!(other.uncovered, []);
    });
}

#[test]
fn decisions_give_the_same_units_in_any_order_and_twice() {
    with_passage(|passage| {
        let before = assembled(passage);
        let mut decisions = vec![
            decision(&before, STOP, Verdict::Rejected, STOP),
            decision(&before, ALARM, Verdict::Rejected, ALARM),
            decision(&before, RESET, Verdict::Accepted, RESET),
        ];
        let apply = |decisions: &[Decision]| {
            let mut assembly = before.clone();
            let keys = apply_decisions(passage, &mut assembly, decisions).keys;
            (assembly.units, assembly.ledger, keys)
        };
        let once = apply(&decisions);
        decisions.reverse();
        assert_eq!(apply(&decisions), once);
        let keys: BTreeSet<&String> = once.2.iter().collect();
        assert_eq!(keys.len(), once.2.len(), "keys name one unit each");
    });
}

#[test]
fn an_edit_that_says_what_another_unit_says_is_one_unit_for_both() {
    let (_, after, _) = decided(STOP, Verdict::Edited, ALARM);
    assert_eq!(searchable(&after).iter().filter(|statement| **statement == ALARM).count(), 1);
    assert!(matches!(after.ledger[0].outcome, Outcome::Fallback { .. }), "主轴停止 is said by no statement any more");
}

#[test]
fn the_threshold_moves_only_what_waits_for_its_confidence() {
    let mut unit = Unit::verbatim(UnitKind::Proposition, "油泵停止。", Span::new(0, 5));
    unit.confidence = 0.6;
    let mut doubted = unit.clone();
    doubted.status = Status::Review;
    doubted.reasons.push(Reason { gate: "atomic".into(), detail: String::new() });
    let mut units = [unit.clone(), doubted.clone(), Unit::verbatim(UnitKind::Sentence, "油泵停止。", Span::new(0, 5))];
    set_threshold(&mut units, 0.7);
    assert_eq!(units.each_ref().map(|unit| unit.status), [Status::Review, Status::Review, Status::Accepted]);
    set_threshold(&mut units, 0.55);
    assert_eq!(units[..2], [unit, doubted]);
}

#[test]
fn whatever_is_decided_nothing_is_lost() {
    const SENTENCES: &[&str] = &[
        "主轴温度超过75℃时，控制器报 ERR-9801，主轴停止。",
        "该报警不得在主轴停稳前复位。",
        "The guard must not be opened while the BX-9000 runs at 3,000 rpm.",
        "油泵停止后应关闭进油阀。",
        "----",
        "𝄞 ① ½ ㎜",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % below.max(1)
    };
    let headings = ["第三章 报警".to_owned()];
    for _ in 0..300 {
        let (mut text, mut sentences) = (String::new(), Vec::new());
        for _ in 0..next(5) {
            let start = text.chars().count();
            text += SENTENCES[next(SENTENCES.len())];
            let kind = [SentenceKind::Prose, SentenceKind::Prose, SentenceKind::TableRow][next(3)];
            sentences.push(Sentence { span: Span::new(start, text.chars().count()), kind });
            text.push('\n');
        }
        let passage = Passage::new("BX-9000 操作手册", &headings, &text, &sentences);
        let yields: Vec<Option<SentenceYield>> = sentences
            .iter()
            .map(|_| (next(4) > 0).then(|| written(&[SENTENCES[next(6)], ALARM, RESET][..next(4)]).unwrap()))
            .collect();
        let mut assembly = assemble(&passage, &yields);
        let keys = unit_keys(&assembly.units);
        let decisions: Vec<Decision> = (0..next(6))
            .map(|_| {
                let start = next(text.chars().count() + 3);
                Decision {
                    unit: keys.get(next(keys.len() + 1)).cloned().unwrap_or_else(|| "0123456789ab".to_owned()),
                    verdict: [Verdict::Accepted, Verdict::Edited, Verdict::Rejected][next(3)],
                    statement: [SENTENCES[next(6)], STOP, "", "\u{0}\n", "主轴温度为 66℃。"][next(5)].to_owned(),
                    place: Span::new(start, start + next(9)),
                }
            })
            .collect();
        let applied = apply_decisions(&passage, &mut assembly, &decisions);
        let distinct: BTreeSet<&String> = applied.keys.iter().collect();
        assert_eq!((distinct.len(), applied.keys.len()), (assembly.units.len(), assembly.units.len()));
        assert_eq!((assembly.uncovered.len(), assembly.ledger.len()), (0, sentences.len()));
        let length = text.chars().count();
        let ranges = assembly.units.iter().flat_map(|unit| unit.evidence.iter().chain(&unit.antecedents));
        assert!(ranges.into_iter().all(|span| span.end <= length), "{:#?}", assembly.units);
        assert!(assembly.units.iter().all(|unit| !unit.is_searchable() || !unit.statement.contains("66")));
        for entry in &assembly.ledger {
            let covered = assembly.units.iter().filter(|unit| unit.is_searchable());
            let covered = covered.flat_map(|unit| &unit.evidence).any(|e| e.intersect(entry.sentence.span).is_some());
            assert!(covered || matches!(entry.outcome, Outcome::Heading | Outcome::Skipped { .. }), "{entry:?}");
        }
    }
}

//! Properties of the assembly over hostile output.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::proposition::RawProposition;

/// Sentences with their kinds, joined by line breaks.
fn passage_of(parts: &[(&str, SentenceKind)]) -> (String, Vec<Sentence>) {
    let mut text = String::new();
    let mut sentences = Vec::new();
    for (part, kind) in parts {
        let start = text.chars().count();
        text.push_str(part);
        sentences.push(Sentence { span: Span::new(start, text.chars().count()), kind: *kind });
        text.push('\n');
    }
    (text, sentences)
}

fn written(statements: &[&str]) -> Option<SentenceYield> {
    Some(SentenceYield {
        propositions: statements
            .iter()
            .map(|s| RawProposition { statement: (*s).to_owned(), probability: 0.95 })
            .collect(),
        truncated: false,
    })
}

fn run(parts: &[(&str, SentenceKind)], yields: &[Option<SentenceYield>]) -> Assembly {
    let (text, sentences) = passage_of(parts);
    let headings = ["第三章 报警".to_owned()];
    assemble(&Passage::new("BX-9000 操作手册", &headings, &text, &sentences), yields)
}

const P: SentenceKind = SentenceKind::Prose;

#[test]
fn faithful_statements_replace_their_sentence_and_point_at_their_clause() {
    let parts = [("主轴温度超过75℃时，控制器报 ERR-9801，主轴停止。", P), ("该报警不得在主轴停稳前复位。", P)];
    let out = run(
        &parts,
        &[
            written(&["主轴温度超过75℃时，控制器报 ERR-9801。", "主轴温度超过75℃时，主轴停止。"]),
            written(&["ERR-9801 报警不得在主轴停稳前复位。"]),
        ],
    );
    assert!(out.units.iter().all(|u| u.kind == UnitKind::Proposition && u.is_searchable()), "{:#?}", out.units);
    assert_eq!(out.ledger[0].outcome, Outcome::Propositions { count: 2 });
    let (text, sentences) = passage_of(&parts);
    let chars: Vec<char> = text.chars().collect();
    let slice = |s: Span| chars[s.start..s.end].iter().collect::<String>();
    let second: Vec<String> = out.units[1].evidence.iter().map(|s| slice(*s)).collect();
    assert_eq!(second, ["主轴温度超过75℃时", "主轴停止。"]);
    assert_eq!(slice(out.units[2].evidence[0]), "该报警不得在主轴停稳前复位。");
    assert!(out.units[2].antecedents.iter().any(|s| slice(*s).contains("ERR-9801")));
    assert!(out.units[2].antecedents.iter().all(|s| s.end <= sentences[0].span.end));
}

#[test]
fn a_sentence_whose_number_or_negation_no_statement_carries_is_kept_verbatim() {
    let parts = [("油箱容积为40升，油温不得高于60℃。", P)];
    let out = run(&parts, &[written(&["油箱容积为40升。"])]);
    assert_eq!(out.units.len(), 2);
    assert_eq!(out.units[1].kind, UnitKind::Sentence);
    assert!(matches!(out.ledger[0].outcome, Outcome::Fallback { .. }));
}

#[test]
fn a_duplicate_is_rejected_and_its_sentence_stays_covered() {
    let parts = [("可以通过热重启退出该模式。", P), ("可以通过热重启退出该模式。", P)];
    let out = run(&parts, &[written(&["可以通过热重启退出报警模式。"]), written(&["可以通过热重启退出报警模式。"])]);
    assert_eq!(out.units[0].evidence.len(), 2);
    assert_eq!(out.units.last().unwrap().status, Status::Rejected);
    assert!(out.uncovered.is_empty());
    let verbatim = run(&parts, &[None, None]);
    assert_eq!((verbatim.units.len(), verbatim.units[0].evidence.len()), (1, 2));
}

#[test]
fn headings_are_searched_with_their_section_or_alone_when_nothing_else_is_there() {
    let parts = [("# 第三章 报警", SentenceKind::Heading), ("主轴报警后应停机。", P), ("----", SentenceKind::Verbatim)];
    let out = run(&parts, &[None, None, None]);
    assert_eq!(out.ledger[0].outcome, Outcome::Heading);
    assert!(matches!(out.ledger[2].outcome, Outcome::Skipped { .. }));
    assert_eq!(out.units.len(), 1);
    let alone = run(&parts[..1], &[None]);
    assert_eq!(alone.units[0].statement, "第三章 报警");
    let foreign = run(&[("## 附注", SentenceKind::Heading), ("主轴报警后应停机。", P)], &[None, None]);
    assert_eq!(foreign.units.len(), 2);
}

#[test]
fn a_page_number_is_named_in_the_ledger_and_not_searched() {
    let out = run(&[("主轴报警后应停机。", P), ("- 33 -", SentenceKind::ListItem), ("- 33", P)], &[None, None, None]);
    assert_eq!(out.ledger[1].outcome, Outcome::Skipped { reason: "a page number".to_owned() });
    assert_eq!((out.units.len(), out.uncovered.len()), (2, 0));
}

#[test]
fn an_account_of_every_sentence_can_be_written_and_read() {
    let out = run(&[("主轴报警后应停机。", P)], &[None]);
    let json = serde_json::to_string(&out.ledger).unwrap();
    assert_eq!(serde_json::from_str::<Vec<SentenceOutcome>>(&json).unwrap(), out.ledger);
}

/// Small deterministic generator (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below.max(1)
    }
}

const SENTENCES: &[&str] = &[
    "主轴温度超过75℃时，控制器报 ERR-9801，主轴停止。",
    "该报警不得在主轴停稳前复位；复位后应当等待30秒。",
    "| 参数 | 值 |",
    "The guard must not be opened while the BX-9000 runs at 3,000 rpm.",
    "It stops within 5 seconds, and the lamp turns red.",
    "其中两个端子（24V和GND）为内部电源。",
    "----",
    "- 检查油位",
    "処理は十分に注意すること。",
    "第三十六条 违法行为在二年内未被发现的，不再给予行政处罚。",
    "   ",
    "𝄞 ﷺ ＥＲＲ－９８０１ ½ ㎜ ①",
];

fn hostile(random: &mut Random) -> String {
    let pieces = [
        "主轴", "75", "℃", "ERR-", "9801", "不得", "It", " must ", "，", "。", "《", "“", "\"", "[\"", "\u{0}", "该",
        "其", "—", "½", "𝄞", "\n", "-", ".",
    ];
    match random.next(7) {
        0 => String::new(),
        1 => SENTENCES[random.next(SENTENCES.len())].to_owned(),
        2 => SENTENCES[random.next(SENTENCES.len())].replace(['7', '3', '5'], "8"),
        3 => "主轴停止，".repeat(random.next(2500)),
        4 => char::from_u32(random.next(0x2ffff) as u32).map(String::from).unwrap_or_default().repeat(random.next(40)),
        _ => (0..random.next(30)).map(|_| pieces[random.next(pieces.len())]).collect(),
    }
}

#[test]
fn whatever_the_model_writes_nothing_is_lost_and_nothing_invented_is_searchable() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..600 {
        let count = random.next(6);
        let parts: Vec<(&str, SentenceKind)> = (0..count)
            .map(|_| {
                let kinds = [
                    P,
                    P,
                    SentenceKind::Heading,
                    SentenceKind::TableRow,
                    SentenceKind::Verbatim,
                    SentenceKind::ListItem,
                ];
                (SENTENCES[random.next(SENTENCES.len())], kinds[random.next(kinds.len())])
            })
            .collect();
        // One entry fewer or more than there are sentences must not matter either.
        let yields: Vec<Option<SentenceYield>> = (0..(count + random.next(3)).saturating_sub(1))
            .map(|_| {
                (random.next(4) > 0).then(|| SentenceYield {
                    propositions: (0..random.next(5))
                        .map(|_| RawProposition {
                            statement: hostile(&mut random),
                            probability: [0.9, f32::NAN, -1.0, 7.0][random.next(4)],
                        })
                        .collect(),
                    truncated: random.next(5) == 0,
                })
            })
            .collect();
        let (text, sentences) = passage_of(&parts);
        let headings = ["第三章 报警".to_owned()];
        let passage = Passage::new("BX-9000 操作手册", &headings, &text, &sentences);
        let out = assemble(&passage, &yields);
        let length = text.chars().count();
        assert_eq!(out.uncovered, []);
        assert_eq!(out.ledger.len(), sentences.len());
        let source = Folded::new(&format!("{text}\nBX-9000 操作手册\n第三章 报警"));
        for unit in &out.units {
            assert!((0.0..=1.0).contains(&unit.confidence));
            assert!(
                unit.evidence.iter().chain(&unit.antecedents).all(|s| s.start < s.end && s.end <= length),
                "{unit:?}"
            );
            if unit.is_searchable() && unit.kind == UnitKind::Proposition {
                let folded = Folded::new(&unit.statement);
                for token in tokens(&folded) {
                    if matches!(token.kind, TokenKind::Code | TokenKind::Number) {
                        assert!(source.contains(&folded.chars[token.start..token.end]), "{unit:?}");
                    }
                }
            }
        }
        // Each sentence with words has a searchable unit inside it, or a ledger entry that says why not.
        for entry in &out.ledger {
            let covered = out
                .units
                .iter()
                .filter(|u| u.is_searchable())
                .any(|u| u.evidence.iter().any(|e| e.intersect(entry.sentence.span).is_some()));
            assert!(covered || matches!(entry.outcome, Outcome::Heading | Outcome::Skipped { .. }), "{entry:?}");
        }
    }
}

#[test]
fn spans_that_leave_the_text_do_no_harm() {
    let sentences = [Sentence { span: Span::new(3, 900), kind: P }, Sentence { span: Span::new(50, 60), kind: P }];
    let passage = Passage::new("", &[], "油泵停止。", &sentences);
    let out = assemble(&passage, &[written(&["油泵停止运转"]), written(&["油泵停止运转"])]);
    assert!(out.units.iter().flat_map(|u| &u.evidence).all(|s| s.end <= 5));
}

#[test]
fn a_short_sentence_about_the_device_is_made_readable_without_a_model() {
    let text = "该设备不得空载。首次启动前应加油。";
    let sentences = crate::proposition::sentences(text, crate::document::Format::Markdown);
    let units = assemble(&Passage::new("XH-500 液压冲床操作手册", &[], text, &sentences), &[]).units;
    assert_eq!(units[0].statement, "XH-500 液压冲床不得空载。");
    assert_eq!((units[0].kind, units[0].status), (UnitKind::Proposition, Status::Accepted));
}

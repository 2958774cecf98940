//! Decisions of people, with a made-up model and embedder.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use super::tests::{Echo, LETTERS, Letters, content, write};
use super::*;
use crate::proposition::{REVIEWED, Status, UnitKind, Verdict};
use crate::store::{Reader, ReviewFilter, ReviewItem, section_key};

const TEXT: &str =
    "# 压机手册\n\n## 报警\n\n油温超过65℃时，系统报警。油泵停止后应关闭进油阀。\n\n## 维护\n\n滤芯每月更换一次。\n";
const HOT: &str = "油温超过65℃时，系统报警。";
const VALVE: &str = "油泵停止后应关闭进油阀。";
const FILTER: &str = "滤芯每月更换一次。";

/// An index of one document, all of whose statements wait for review.
struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { dir: tempfile::tempdir().unwrap() };
        write(&home.docs(), "a.md", TEXT);
        home.index();
        home
    }

    fn docs(&self) -> PathBuf {
        self.dir.path().join("docs")
    }

    fn at(&self) -> PathBuf {
        self.dir.path().join("index")
    }

    fn options(&self) -> IndexOptions {
        IndexOptions { review_below: 0.99, ..IndexOptions::new(self.at(), vec![self.docs()]) }
    }

    fn index(&self) -> IndexSummary {
        self.index_with(&self.options(), Some(&mut Echo::default())).unwrap()
    }

    fn index_with(&self, options: &IndexOptions, echo: Option<&mut Echo>) -> Result<IndexSummary> {
        let interrupt = echo.as_ref().and_then(|e| e.stop_after.clone()).map_or_else(Interrupt::new, |s| s.1);
        index(options, echo.map(|e| e as &mut dyn Extractor), &LETTERS, &mut |_| {}, &interrupt)
    }

    fn reader(&self) -> Reader {
        Reader::open(&self.at()).unwrap()
    }

    fn items(&self, decided: bool) -> Vec<ReviewItem> {
        let mut items = Vec::new();
        let filter = ReviewFilter { decided, ..ReviewFilter::default() };
        let each = |item: &ReviewItem| {
            items.push(item.clone());
            Ok(())
        };
        self.reader().working_view().for_each_review(&filter, each).unwrap();
        items
    }

    /// The identifier of the unit with this statement.
    fn id(&self, statement: &str) -> String {
        let reader = self.reader();
        let mut found = Vec::new();
        reader
            .view()
            .for_each_section(|_, section| {
                found.extend(
                    reader
                        .view()
                        .units(section.row)?
                        .into_iter()
                        .filter(|unit| unit.unit.statement == statement && unit.unit.kind == UnitKind::Proposition),
                );
                Ok(())
            })
            .unwrap();
        found.first().map(|unit| unit.id.clone()).unwrap()
    }

    fn decide(&self, statement: &str, ruling: Ruling<'_>) -> Result<ReviewSummary> {
        review(&self.at(), &[self.id(statement)], ruling, &LETTERS, &mut |_| {}, &Interrupt::new())
    }

    /// Kind, status and statement of every unit of the published generation.
    fn units(&self) -> Vec<(UnitKind, Status, String)> {
        let reader = self.reader();
        let mut units = Vec::new();
        reader
            .view()
            .for_each_section(|_, section| {
                for unit in reader.view().units(section.row)? {
                    units.push((unit.unit.kind, unit.unit.status, unit.unit.statement));
                }
                Ok(())
            })
            .unwrap();
        units
    }

    fn has(&self, kind: UnitKind, status: Status, statement: &str) -> bool {
        self.units().contains(&(kind, status, statement.to_owned()))
    }

    fn stale(&self) -> usize {
        self.reader().working_view().stale_decisions().unwrap().len()
    }
}

const EDITED: &str = "油泵停止后，应关闭进油阀。";

/// One statement accepted, one edited, one rejected.
fn decided() -> Home {
    let home = Home::new();
    assert_eq!(home.items(false).len(), 3);
    for (statement, ruling) in [(HOT, Ruling::Accept), (VALVE, Ruling::Edit(EDITED)), (FILTER, Ruling::Reject)] {
        let summary = home.decide(statement, ruling).unwrap();
        assert_eq!((summary.changed, summary.waiting, summary.generation.is_some()), (1, 0, true), "{statement}");
    }
    home
}

fn in_effect(home: &Home) {
    use UnitKind::{Proposition, Sentence};
    assert!(home.has(Proposition, Status::Accepted, HOT), "{:?}", home.units());
    assert!(home.has(Proposition, Status::Accepted, EDITED), "{:?}", home.units());
    assert!(!home.units().iter().any(|unit| unit.0 == Proposition && unit.1 != Status::Rejected && unit.2 == FILTER));
    assert!(home.has(Sentence, Status::Accepted, FILTER), "{:?}", home.units());
    let generation = home.reader().require_generation().unwrap().number;
    crate::index::verify_generation(&crate::store::generation_dir(&home.at(), generation)).unwrap();
}

#[test]
fn decisions_take_effect_and_the_rejected_sentence_is_searched_as_it_stands() {
    let home = decided();
    in_effect(&home);
    assert!(home.has(UnitKind::Proposition, Status::Rejected, FILTER));
    assert_eq!((home.items(false).len(), home.items(true).len(), home.stale()), (0, 3, 0));
    let reader = home.reader();
    let summary = reader.view().ledger_summary().unwrap();
    assert_eq!((summary.uncovered, summary.propositions, summary.verbatim), (0, 2, 1));
    assert_eq!(summary.verbatim_because[0].reason, "a person rejected a statement");
    assert_eq!(summary.verbatim_by_gate[0].reason, REVIEWED);
}

#[test]
fn decisions_survive_indexing_again_renaming_and_another_extractor() {
    let home = decided();
    let before = content(&home.at());
    let again = home.index();
    assert_eq!((again.generation, content(&home.at())), (None, before.clone()));
    // Other settings make every unit anew.
    let options = IndexOptions { review_below: 0.98, ..home.options() };
    assert_eq!(home.index_with(&options, Some(&mut Echo::default())).unwrap().sections, 2);
    in_effect(&home);
    assert_eq!(content(&home.at()), before, "identifiers stay");
    fs::rename(home.docs().join("a.md"), home.docs().join("b.md")).unwrap();
    home.index();
    in_effect(&home);
    home.index_with(&home.options(), None).unwrap();
    assert!(home.has(UnitKind::Proposition, Status::Accepted, HOT), "{:?}", home.units());
    assert!(home.has(UnitKind::Proposition, Status::Accepted, EDITED));
    assert_eq!(home.items(false).len(), 0);
}

#[test]
fn a_decision_holds_no_longer_when_the_text_of_its_section_changes_and_is_told() {
    let home = decided();
    write(&home.docs(), "a.md", &TEXT.replace("每月更换一次", "每月更换一次，不得清洗"));
    home.index();
    assert_eq!(home.stale(), 1, "the other section's decisions stay in effect");
    assert!(home.has(UnitKind::Proposition, Status::Accepted, EDITED));
    let waiting = home.items(false);
    assert_eq!(waiting.len(), 1);
    assert!(waiting[0].unit.unit.statement.contains("不得清洗"));
    write(&home.docs(), "a.md", TEXT);
    home.index();
    in_effect(&home);
    assert_eq!(home.stale(), 0);
}

#[test]
fn an_edit_that_a_gate_refuses_is_an_error_and_changes_nothing() {
    let home = Home::new();
    let before = content(&home.at());
    for (statement, wrong) in [(HOT, "油温超过75℃时，系统报警。"), (VALVE, "")] {
        let error = home.decide(statement, Ruling::Edit(wrong)).unwrap_err().to_string();
        assert!(error.contains("a gate refuses") && error.contains("hint: "), "{error}");
    }
    assert_eq!((content(&home.at()), home.items(true).len()), (before, 3));
    let ids = [home.id(HOT), format!("{}x", home.id(VALVE))];
    let error = review(&home.at(), &ids, Ruling::Accept, &LETTERS, &mut |_| {}, &Interrupt::new()).unwrap_err();
    assert!(error.is_missing());
    assert!(home.reader().view().decisions().unwrap().is_empty(), "one unknown unit, and nothing is decided");
}

#[test]
fn a_decision_can_be_changed_and_the_same_one_is_no_change() {
    let home = decided();
    assert_eq!(home.decide(FILTER, Ruling::Reject).unwrap().changed, 0);
    assert_eq!(home.decide(FILTER, Ruling::Accept).unwrap().changed, 1);
    assert!(home.has(UnitKind::Proposition, Status::Accepted, FILTER));
    assert!(!home.has(UnitKind::Sentence, Status::Accepted, FILTER), "the statement carries its sentence again");
    // An edited unit is found by the identifier that it had before.
    assert_eq!(home.decide(EDITED, Ruling::Edit(VALVE)).unwrap().changed, 1);
    assert!(home.has(UnitKind::Proposition, Status::Accepted, VALVE));
    let decisions = home.reader().view().decisions().unwrap();
    assert_eq!(decisions.iter().filter(|row| row.decision.verdict == Verdict::Accepted).count(), 3);
    assert!(decisions.iter().all(|row| row.original == row.decision.statement));
}

#[test]
fn a_review_that_is_killed_after_its_decision_is_finished_by_the_next_run() {
    for by_review in [true, false] {
        let home = Home::new();
        let before = content(&home.at());
        let (item, other) = {
            let mut items = home.items(false).into_iter();
            (items.next().unwrap(), items.last().unwrap())
        };
        let row = crate::store::DecisionRow {
            section: section_key(&item.section.heading_path, &item.section.text),
            decision: crate::proposition::Decision {
                unit: item.unit.key.clone(),
                verdict: Verdict::Rejected,
                statement: item.unit.unit.statement.clone(),
                place: crate::document::Span::new(0, item.section.span.len()),
            },
            original: item.unit.unit.statement.clone(),
            path: "a.md".into(),
            heading_path: item.section.heading_path.clone(),
            made: 0,
        };
        let mut writer = Writer::open_or_create(&home.at()).unwrap();
        let busy = home.decide(&other.unit.unit.statement, Ruling::Accept).unwrap_err();
        assert!(busy.is_busy());
        writer.decide(&[row], &[(&item.section.heading_path, &item.section.text)]).unwrap();
        drop(writer);
        assert_eq!(content(&home.at()), before, "readers see the old generation");
        if by_review {
            home.decide(&other.unit.unit.statement, Ruling::Accept).unwrap();
        } else {
            let mut echo = Echo::default();
            home.index_with(&home.options(), Some(&mut echo)).unwrap();
            assert_eq!(echo.passages, 0, "no model is asked again");
        }
        assert!(home.has(UnitKind::Proposition, Status::Rejected, &item.unit.unit.statement));
        assert!(home.has(UnitKind::Sentence, Status::Accepted, &item.unit.unit.statement));
    }
}

#[test]
fn a_decision_holds_for_equal_sections_and_for_documents_that_come_back() {
    let home = Home::new();
    write(&home.docs(), "sub/copy.md", TEXT);
    home.index();
    fs::remove_file(home.docs().join("sub/copy.md")).unwrap();
    home.index();
    home.decide(FILTER, Ruling::Reject).unwrap();
    write(&home.docs(), "sub/copy.md", TEXT);
    let mut echo = Echo::default();
    home.index_with(&home.options(), Some(&mut echo)).unwrap();
    assert_eq!(echo.passages, 0);
    let rejected = home.units().into_iter().filter(|unit| unit.1 == Status::Rejected && unit.2 == FILTER);
    assert_eq!(rejected.count(), 2);
    let summary = home.decide(VALVE, Ruling::Accept).unwrap();
    assert_eq!((summary.changed, summary.sections), (1, 2));
}

#[test]
fn decisions_wait_for_an_interrupted_run_and_take_effect_with_it() {
    let home = Home::new();
    for i in 0..9 {
        write(&home.docs(), &format!("{i}.md"), &format!("# 手册{i}\n\n第{i}号油泵停止后应关闭进油阀。\n"));
    }
    let mut echo = Echo { stop_after: Some((1, Interrupt::new())), ..Echo::default() };
    assert!(home.index_with(&home.options(), Some(&mut echo)).unwrap_err().is_interrupted());
    let summary = home.decide(FILTER, Ruling::Reject).unwrap();
    assert!(summary.waiting > 0 && summary.generation.is_none());
    home.index();
    assert!(home.has(UnitKind::Sentence, Status::Accepted, FILTER));
}

#[test]
fn the_sources_own_words_are_not_reviewed() {
    let home = decided();
    let reader = home.reader();
    let mut verbatim = None;
    let each = |unit: crate::store::SearchableUnit<'_>| {
        if unit.kind == UnitKind::Sentence {
            verbatim = Some(unit.unit);
        }
        Ok(())
    };
    reader.view().for_each_unit(each).unwrap();
    let id = reader.view().unit(verbatim.unwrap()).unwrap().id;
    let error = review(&home.at(), &[id], Ruling::Reject, &LETTERS, &mut |_| {}, &Interrupt::new()).unwrap_err();
    assert!(error.to_string().contains("the source's own words"));
    let nowhere = home.dir.path().join("nowhere");
    assert!(review(&nowhere, &[], Ruling::Accept, &LETTERS, &mut |_| {}, &Interrupt::new()).is_err());
    assert!(!nowhere.exists(), "a review makes no index");
}

#[test]
fn the_embedder_is_loaded_only_when_something_is_embedded() {
    let home = Home::new();
    let loads = Cell::new(0);
    let decide = |statement: &str, ruling: Ruling<'_>, name: &'static str| {
        let load = |_: &str| {
            loads.set(loads.get() + 1);
            Ok(Letters { name })
        };
        let generation = home.reader().require_generation()?.clone();
        let embedder = OnDemand::new(generation, load);
        review(&home.at(), &[home.id(statement)], ruling, &embedder, &mut |_| {}, &Interrupt::new())
    };
    // The sentence of a rejected statement that repeats it to the letter is embedded already.
    decide(HOT, Ruling::Accept, LETTERS.name).unwrap();
    decide(FILTER, Ruling::Reject, LETTERS.name).unwrap();
    assert_eq!(loads.get(), 0);
    assert!(home.has(UnitKind::Sentence, Status::Accepted, FILTER));
    let error = decide(VALVE, Ruling::Edit(EDITED), "other letters").unwrap_err();
    assert!(error.to_string().contains("another embedder"), "{error}");
    home.index();
    assert!(home.has(UnitKind::Proposition, Status::Accepted, EDITED));
    let again = decide(HOT, Ruling::Edit("系统在油温超过65℃时报警。"), LETTERS.name).unwrap();
    assert_eq!(again.embedded, 1);
    assert_eq!(loads.get(), 2);
}

#[test]
fn the_ledger_names_every_sentence_once() {
    let home = Home::new();
    let table = "| 参数 | 值 |\n|---|---|\n| 压力 | 25 MPa |\n";
    write(
        &home.docs(),
        "b.md",
        &format!("# 表\n\n{table}\n```\nG01 X0\n```\n\n- 关闭\n- 检查油位\n\n----\n\n其转速为 1450 r/min。\n"),
    );
    write(&home.docs(), "c.txt", "1 Scope\n\nIt must not run. The pump runs at 3.5 bar.\n");
    home.index();
    let reader = home.reader();
    let view = reader.view();
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    view.for_each_section(|document, section| {
        let format = super::units::format_of(&document.format);
        let sentences = crate::proposition::sentences(&section.text, format);
        expected.extend(sentences.iter().map(|s| (document.path.clone(), s.span.shifted(section.span.start))));
        Ok(())
    })
    .unwrap();
    view.for_each_sentence(|entry| {
        assert!(!entry.uncovered);
        found.push((entry.document.path.clone(), entry.range));
        Ok(())
    })
    .unwrap();
    assert_eq!(found, expected);
    let sum = view.ledger_summary().unwrap();
    assert_eq!(sum.sentences, expected.len());
    assert_eq!(sum.sentences, sum.propositions + sum.verbatim + sum.table_rows + sum.headings + sum.skipped);
    assert_eq!(sum.verbatim, sum.verbatim_because.iter().map(|count| count.count).sum::<usize>());
    assert_eq!(sum.skipped, sum.skipped_because.iter().map(|count| count.count).sum::<usize>());
    assert!(sum.propositions > 0 && sum.verbatim > 0 && sum.table_rows > 0 && sum.headings > 0 && sum.skipped > 0);
}

#[test]
fn a_filter_leaves_only_its_documents_and_sections() {
    let home = Home::new();
    write(&home.docs(), "sub/b.md", "# 泵\n\n主油泵每天检查一次。\n");
    home.index();
    let ask = |filter: ReviewFilter| -> Result<Vec<String>> {
        let mut found = Vec::new();
        home.reader().view().for_each_review(&filter, |item| {
            found.push(item.document.path.clone());
            Ok(())
        })?;
        Ok(found)
    };
    let path = crate::document::PathPattern::new("sub/*").unwrap();
    assert_eq!(ask(ReviewFilter { path: Some(path), ..ReviewFilter::default() }).unwrap(), ["sub/b.md"]);
    let section = home.items(false)[0].section.id.clone();
    assert_eq!(ask(ReviewFilter { section: Some(section), ..ReviewFilter::default() }).unwrap(), ["a.md", "a.md"]);
    assert!(ask(ReviewFilter { section: Some("x".into()), ..ReviewFilter::default() }).unwrap_err().is_missing());
}

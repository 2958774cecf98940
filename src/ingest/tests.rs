//! The write path with a made-up model and embedder.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use super::*;
use crate::proposition::{Passage, RawProposition, SentenceKind, SentenceYield, UnitKind};
use crate::store::Reader;

mod context;

/// Writes each prose sentence back as its own statement, and counts how often it is asked.
#[derive(Default)]
pub(super) struct Echo {
    pub(super) passages: usize,
    /// The sentences that it was asked about.
    pub(super) asked: Vec<String>,
    /// Raises the flag after so many passages.
    pub(super) stop_after: Option<(usize, Interrupt)>,
}

impl Extractor for Echo {
    fn fingerprint(&self) -> String {
        "echo 1".to_owned()
    }

    /// Two for every character.
    fn tokens(&self) -> u64 {
        self.asked.iter().map(|sentence| 2 * sentence.chars().count() as u64).sum()
    }

    fn extract_each(
        &mut self,
        passages: &[Passage<'_>],
        done: &mut dyn FnMut(usize, Vec<Option<SentenceYield>>) -> Result<()>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        for (i, p) in passages.iter().enumerate() {
            if stop() {
                return Err(Error::new(Kind::Interrupted, "stopped"));
            }
            self.passages += 1;
            let chars: Vec<char> = p.text.chars().collect();
            let mut yields = Vec::new();
            for (at, s) in p.sentences.iter().enumerate() {
                let asked = s.kind == SentenceKind::Prose && !p.keeps(at);
                yields.push(asked.then(|| {
                    let statement: String = chars[s.span.start..s.span.end].iter().collect();
                    self.asked.push(statement.clone());
                    let propositions = vec![RawProposition { statement, probability: 0.9 }];
                    SentenceYield { propositions, truncated: false }
                }));
            }
            done(i, yields)?;
            if let Some((after, interrupt)) = &self.stop_after
                && self.passages >= *after
            {
                interrupt.raise();
            }
        }
        Ok(())
    }
}

/// Letter counts as a vector; texts over 400 characters count as cut.
pub(super) struct Letters {
    pub(super) name: &'static str,
}

impl PassageEmbedder for Letters {
    fn fingerprint(&self) -> String {
        self.name.to_owned()
    }

    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn dimension(&self) -> usize {
        16
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Embedded> {
        let mut out = Embedded { dimension: 16, ..Embedded::default() };
        for (i, text) in texts.iter().enumerate() {
            let mut v = [0.1_f32; 16];
            for c in text.chars() {
                v[c as usize % 16] += 1.0;
            }
            let norm = v.iter().map(|x| x * x).sum::<f32>().sqrt();
            out.vectors.extend(v.iter().map(|x| x / norm));
            if text.chars().count() > 400 {
                out.truncated.push(i);
            }
        }
        Ok(out)
    }
}

pub(super) const LETTERS: Letters = Letters { name: "letters" };

pub(super) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn manual(folder: &Path) {
    write(
        folder,
        "a.md",
        "# 压机手册\n\n## 报警\n\n油温超过65℃时，系统报警。油泵停止后应关闭进油阀。\n\n## 维护\n\n滤芯每月更换一次。\n",
    );
    write(folder, "子 目录/b.md", "# Press\n\n## Safety\n\nThe guard must not be opened while the press runs.\n");
    write(folder, ".hidden.md", "# hidden\n\nnothing to see here at all.\n");
    write(folder, "photo.png", "not text");
}

fn go(index_dir: &Path, paths: &[&Path], echo: Option<&mut Echo>) -> (Result<IndexSummary>, Vec<Progress>) {
    let options = IndexOptions::new(index_dir, paths.iter().map(|p| p.to_path_buf()).collect());
    let mut events = Vec::new();
    let interrupt = echo.as_ref().and_then(|e| e.stop_after.clone()).map_or_else(Interrupt::new, |s| s.1);
    let result = index(&options, echo.map(|e| e as &mut dyn Extractor), &LETTERS, &mut |e| events.push(e), &interrupt);
    (result, events)
}

/// Path, identifier, statement and evidence of every searchable unit, and the published generation.
pub(super) fn content(index_dir: &Path) -> Vec<String> {
    let reader = Reader::open(index_dir).unwrap();
    let view = reader.view();
    let mut units = Vec::new();
    view.for_each_unit(|u| {
        units.push(u.unit);
        Ok(())
    })
    .unwrap();
    units
        .into_iter()
        .map(|row| {
            let unit = view.unit(row).unwrap();
            format!("{} {:?} {:?}", unit.id, unit.unit.statement, unit.unit.evidence)
        })
        .collect()
}

#[test]
fn a_folder_becomes_units_whose_evidence_is_the_documents_text() {
    let dir = tempfile::tempdir().unwrap();
    let (docs, at) = (dir.path().join("文档"), dir.path().join("index"));
    manual(&docs);
    let mut echo = Echo::default();
    let (summary, events) = go(&at, &[&docs], Some(&mut echo));
    let summary = summary.unwrap();
    assert_eq!((summary.files, summary.failed, summary.changed, summary.generation), (2, 0, 2, Some(1)));
    assert!(matches!(events.last(), Some(Progress::Published { generation: 1 })));
    let reader = Reader::open(&at).unwrap();
    let view = reader.view();
    let paths: Vec<String> = view.documents().unwrap().into_iter().map(|d| d.path).collect();
    assert_eq!(paths, ["a.md", "子 目录/b.md"]);
    let mut seen = 0;
    view.for_each_unit(|u| {
        let text: Vec<char> = view.text(u.document)?.chars().collect();
        let unit = view.unit(u.unit)?.unit;
        let span = unit.evidence[0];
        let evidence: String = text[span.start..span.end].iter().collect();
        assert!(unit.statement.contains(evidence.trim_end_matches('。')), "{evidence} | {}", unit.statement);
        seen += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, summary.units);
    crate::index::verify_generation(&crate::store::generation_dir(&at, 1)).unwrap();
}

#[test]
fn nothing_changed_makes_no_generation_and_one_change_asks_for_one_section() {
    let dir = tempfile::tempdir().unwrap();
    let (docs, at) = (dir.path().join("docs"), dir.path().join("index"));
    manual(&docs);
    let mut echo = Echo::default();
    go(&at, &[&docs], Some(&mut echo)).0.unwrap();
    let asked = echo.passages;
    let again = go(&at, &[&docs], Some(&mut echo)).0.unwrap();
    assert_eq!((again.generation, again.unchanged, echo.passages), (None, 2, asked));
    write(&docs, "子 目录/b.md", "# Press\n\n## Safety\n\nThe guard must not be opened while the press is hot.\n");
    let changed = go(&at, &[&docs], Some(&mut echo)).0.unwrap();
    assert_eq!((changed.generation, changed.changed, echo.passages), (Some(2), 1, asked + 1));
}

#[test]
fn vanished_files_are_deleted_and_come_back_without_being_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let (docs, at) = (dir.path().join("docs"), dir.path().join("index"));
    manual(&docs);
    let mut echo = Echo::default();
    go(&at, &[&docs], Some(&mut echo)).0.unwrap();
    let (before, asked) = (content(&at), echo.passages);
    let text = fs::read_to_string(docs.join("a.md")).unwrap();
    fs::remove_file(docs.join("a.md")).unwrap();
    let gone = go(&at, &[&docs], Some(&mut echo)).0.unwrap();
    assert_eq!((gone.deleted, gone.generation), (1, Some(2)));
    assert!(content(&at).len() < before.len());
    write(&docs, "a.md", &text);
    go(&at, &[&docs], Some(&mut echo)).0.unwrap();
    assert_eq!((content(&at), echo.passages), (before, asked));
}

#[test]
fn files_outside_the_named_paths_are_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two, at) = (dir.path().join("one"), dir.path().join("two"), dir.path().join("index"));
    write(&one, "x.md", "# X\n\n油泵停止后应关闭进油阀。\n");
    write(&two, "y.md", "# Y\n\n滤芯每月更换一次。\n");
    go(&at, &[&one], None).0.unwrap();
    fs::remove_file(one.join("x.md")).unwrap();
    let summary = go(&at, &[&two], None).0.unwrap();
    assert_eq!((summary.deleted, summary.units), (0, 2));
}

#[test]
fn an_interrupted_run_keeps_its_work_and_ends_in_the_same_index() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    for i in 0..9 {
        write(&docs, &format!("{i}.md"), &format!("# 手册{i}\n\n第{i}号油泵停止后应关闭进油阀，压力低于{i}.5MPa。\n"));
    }
    let straight = dir.path().join("straight");
    let mut echo = Echo::default();
    go(&straight, &[&docs], Some(&mut echo)).0.unwrap();
    let asked = echo.passages;

    let broken = dir.path().join("broken");
    let mut echo = Echo { stop_after: Some((1, Interrupt::new())), ..Echo::default() };
    assert!(go(&broken, &[&docs], Some(&mut echo)).0.unwrap_err().is_interrupted());
    assert!(echo.passages > 0 && echo.passages < asked);
    echo.stop_after = None;
    go(&broken, &[&docs], Some(&mut echo)).0.unwrap();
    assert_eq!(echo.passages, asked);
    assert_eq!(content(&straight), content(&broken));
}

#[test]
fn a_faulty_file_does_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let (docs, at) = (dir.path().join("docs"), dir.path().join("index"));
    manual(&docs);
    fs::write(docs.join("bad.md"), [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 1]).unwrap();
    write(&docs, "empty.md", "");
    write(&docs, "headings.md", "# 目录\n\n## 第一章 概述\n");
    let missing = dir.path().join("missing");
    let (summary, events) = go(&at, &[&docs, &missing], None);
    let summary = summary.unwrap();
    assert_eq!((summary.failed, summary.generation), (2, Some(1)));
    let failed: Vec<&str> = events
        .iter()
        .filter_map(|e| if let Progress::Failed { path, .. } = e { Some(path.as_str()) } else { None })
        .collect();
    assert_eq!(failed.len(), 2);
    assert!(failed[0].ends_with("missing") && failed[1] == "bad.md");
    assert!(content(&at).iter().any(|u| u.contains("第一章 概述")));
}

#[test]
fn a_run_whose_paths_are_all_missing_is_an_error_and_makes_no_index() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("index");
    assert!(go(&at, &[&dir.path().join("missing")], None).0.unwrap_err().is_missing());
    assert!(!at.exists());
}

#[test]
fn an_empty_folder_makes_an_empty_index() {
    let dir = tempfile::tempdir().unwrap();
    let (docs, at) = (dir.path().join("docs"), dir.path().join("index"));
    fs::create_dir(&docs).unwrap();
    let summary = go(&at, &[&docs], None).0.unwrap();
    assert_eq!((summary.units, summary.generation), (0, Some(1)));
    assert!(content(&at).is_empty());
}

#[test]
fn two_files_with_one_path_are_not_mixed_up() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two, at) = (dir.path().join("one"), dir.path().join("two"), dir.path().join("index"));
    write(&one, "x.md", "# X\n\n油泵停止后应关闭进油阀。\n");
    write(&two, "x.md", "# X\n\n滤芯每月更换一次。\n");
    let together = go(&at, &[&one, &two], None).0.unwrap();
    assert_eq!((together.failed, together.units), (1, 1));
    let later = go(&at, &[&two], None).0.unwrap();
    assert_eq!((later.failed, later.generation), (1, None));
    // A folder that was moved is the same folder.
    fs::remove_file(one.join("x.md")).unwrap();
    let moved = go(&at, &[&two], None).0.unwrap();
    assert_eq!((moved.failed, moved.changed), (0, 1));
}

#[test]
fn another_embedder_or_unit_makes_a_new_generation() {
    let dir = tempfile::tempdir().unwrap();
    let (docs, at) = (dir.path().join("docs"), dir.path().join("index"));
    manual(&docs);
    go(&at, &[&docs], None).0.unwrap();
    let options = IndexOptions::new(&at, vec![docs.clone()]);
    let other = Letters { name: "other letters" };
    let summary = index(&options, None, &other, &mut |_| {}, &Interrupt::new()).unwrap();
    assert_eq!((summary.generation, summary.sections), (Some(2), 0));
    for (unit, number) in [(UnitKind::Section, 3), (UnitKind::Fixed, 4), (UnitKind::Sentence, 5)] {
        let options = IndexOptions { unit, ..IndexOptions::new(&at, vec![docs.clone()]) };
        let summary = index(&options, None, &LETTERS, &mut |_| {}, &Interrupt::new()).unwrap();
        assert_eq!(summary.generation, Some(number));
        assert!(summary.units > 0);
    }
}

#[test]
fn sections_left_by_a_run_with_other_settings_do_not_block_publishing() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two, at) = (dir.path().join("one"), dir.path().join("two"), dir.path().join("index"));
    for i in 0..9 {
        write(&one, &format!("{i}.md"), &format!("# 手册{i}\n\n第{i}号油泵停止后应关闭进油阀。\n"));
    }
    write(&two, "y.md", "# Y\n\n滤芯每月更换一次。\n");
    let mut echo = Echo { stop_after: Some((1, Interrupt::new())), ..Echo::default() };
    assert!(go(&at, &[&one], Some(&mut echo)).0.is_err());
    let summary = go(&at, &[&two], None).0.unwrap();
    assert_eq!((summary.generation, summary.units), (Some(1), 10));
    // Named again with the first settings, everything is as if nothing had come between.
    echo.stop_after = None;
    go(&at, &[&one], Some(&mut echo)).0.unwrap();
    let straight = dir.path().join("straight");
    go(&straight, &[&two], None).0.unwrap();
    go(&straight, &[&one], Some(&mut Echo::default())).0.unwrap();
    assert_eq!(content(&at), content(&straight));
}

#[test]
fn texts_cut_by_the_embedder_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let (docs, at) = (dir.path().join("docs"), dir.path().join("index"));
    write(&docs, "long.md", &format!("# 长\n\n{}。\n", "油泵停止后应关闭进油阀".repeat(50)));
    let (summary, events) = go(&at, &[&docs], None);
    summary.unwrap();
    assert!(events.iter().any(|e| matches!(e, Progress::Warning { path, .. } if path == "long.md")));
}

#[test]
fn a_unit_is_embedded_before_its_context_and_without_the_targets_of_links() {
    let path = ["第三章".to_owned(), "3.1 报警".to_owned()];
    assert_eq!(embedding_text("手册", &path, "主轴停机。"), "主轴停机。\n3.1 报警\n手册");
    assert_eq!(embedding_text("手册", &path, "3.1 报警：停机。"), "3.1 报警：停机。\n手册");
    assert_eq!(embedding_text("手册", &[], "手册的用途"), "手册的用途");
    assert_eq!(embedding_text("", &[], "见 [5032](#5032超限)。"), "见 5032。");
    let row = "<tr><td>5032</td><td>压力 &lt; 6 bar<br>设 <value></td></tr>";
    assert_eq!(embedding_text("", &[], row), "5032 压力 < 6 bar 设 <value>");
    let contents = "- [5031 欠压](#a)\n- [5032 超限](#b)\n- [5033 过热](#c)";
    assert_eq!(embedding_text("手册", &path, contents), "- 5031 欠压\n- 5032 超限\n- 5033 过热");
}

/// A page listed `7404` first of all, because its entry in the contents list repeats the heading and nothing else.
#[test]
fn the_entries_of_a_contents_list_are_one_unit_that_covers_them_all() {
    let dir = tempfile::tempdir().unwrap();
    let (docs, at) = (dir.path().join("docs"), dir.path().join("index"));
    let list = "- [7403 写入错误](#7403)\n- [7404 参数不可用](#7404)\n\t- [应用案例](#case)\n1. [附录](#annex)";
    write(&docs, "a.md", &format!("# 目录\n\n{list}\n\n# 7404 参数不可用\n\n尚未下载。另见 [7403](#7403)。\n"));
    go(&at, &[&docs], None).0.unwrap();
    let reader = Reader::open(&at).unwrap();
    let view = reader.view();
    let document = view.documents().unwrap()[0].row;
    let sections = view.sections(document).unwrap();
    let units = view.units(sections[0].row).unwrap();
    assert_eq!(units.len(), 1);
    assert_eq!(units[0].unit.statement, list);
    assert!(view.units(sections[1].row).unwrap().iter().any(|u| u.unit.statement.contains("[7403](#7403)")));
    assert!(sections.iter().all(|s| s.uncovered.is_empty()));
}

//! What readers and an interrupted writer rely on.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use crate::document::Span;
use crate::proposition::{Status, Unit, UnitKind};
use crate::store::{
    GenerationRow, NewDocument, NewSection, Reader, Replaced, SectionDone, SectionState, View, Writer, embedding_key,
    generation_dir,
};

fn put(writer: &mut Writer, path: &str, texts: &[&str]) -> Replaced {
    let mut at = 0;
    let headings = ["章".to_owned()];
    let sections: Vec<NewSection<'_>> = texts
        .iter()
        .map(|text| {
            let span = Span::new(at, at + text.chars().count());
            at = span.end;
            let input_hash = *blake3::hash(text.as_bytes()).as_bytes();
            NewSection { span, heading_path: &headings, text, context: "", input_hash }
        })
        .collect();
    let document = NewDocument {
        path,
        root: "root",
        title: "标题",
        date: None,
        content_hash: *blake3::hash(texts.concat().as_bytes()).as_bytes(),
        encoding: "UTF-8",
        format: "markdown",
        chars: at,
        pages: "[]",
    };
    writer.replace_document(&document, &sections).unwrap()
}

/// Stands for extraction: a searchable unit for the whole text, and a rejected one.
fn extract(writer: &mut Writer, limit: usize) -> usize {
    let pending: Vec<i64> = writer.view().pending().unwrap().into_iter().take(limit).collect();
    for &row in &pending {
        let text = writer.view().section(row).unwrap().text;
        let whole = Span::new(0, text.chars().count());
        let mut rejected = Unit::verbatim(UnitKind::Proposition, "rejected", whole);
        (rejected.status, rejected.confidence) = (Status::Rejected, f32::NAN);
        let units = [Unit::verbatim(UnitKind::Sentence, text, whole), rejected];
        let done = SectionDone { section: row, units: &units, ..SectionDone::default() };
        writer.commit_sections(&[done]).unwrap();
    }
    pending.len()
}

fn publish(writer: &mut Writer) {
    let number = writer.next_generation();
    std::fs::create_dir_all(generation_dir(writer.dir(), number)).unwrap();
    let row = GenerationRow {
        number,
        vectors: 0,
        dimension: 0,
        unit: "sentence".into(),
        embedder: "e".into(),
        embedder_name: "e".into(),
        created: 0,
    };
    writer.publish(&row).unwrap();
}

/// Everything that a search can see, without row numbers.
fn picture(view: View<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    view.for_each_section(|document, section| {
        lines.push(format!("{} {} {:?} {}", document.path, section.id, section.span, section.text));
        for unit in view.units(section.row)? {
            lines.push(format!("{} {:?}", unit.id, unit.unit));
        }
        Ok(())
    })
    .unwrap();
    lines
}

fn statements(view: View<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    view.for_each_unit(|unit| {
        assert_eq!((unit.title, unit.heading_path), ("标题", &["章".to_owned()][..]));
        lines.push(unit.statement.to_owned());
        Ok(())
    })
    .unwrap();
    lines
}

fn fresh() -> (tempfile::TempDir, Writer) {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open_or_create(dir.path()).unwrap();
    (dir, writer)
}

#[test]
fn readers_see_the_published_generation_whole_while_the_next_one_is_made() {
    let (dir, mut writer) = fresh();
    put(&mut writer, "a", &["一。", "二。"]);
    put(&mut writer, "b", &["三。"]);
    assert!(Reader::open(dir.path()).unwrap().require_generation().unwrap_err().is_missing());
    extract(&mut writer, 9);
    publish(&mut writer);
    let before = Reader::open(dir.path()).unwrap();
    let old = picture(before.view());
    assert_eq!(statements(before.view()), ["一。", "二。", "三。"]);

    let replaced = put(&mut writer, "a", &["零。", "二。"]);
    assert_eq!((replaced.kept, replaced.pending), (1, 1));
    let gone = writer.view().document_by_path("b").unwrap().unwrap().row;
    assert_eq!(writer.delete_documents(&[gone]).unwrap(), 1);
    assert_eq!(picture(Reader::open(dir.path()).unwrap().view()), old);
    assert!(writer.has_unpublished().unwrap());
    extract(&mut writer, 9);
    let between = Reader::open(dir.path()).unwrap();
    assert_eq!(picture(between.view()), old);

    publish(&mut writer);
    assert!(!writer.has_unpublished().unwrap());
    assert_eq!(picture(before.view()), old, "a snapshot does not change under its holder");
    assert_eq!(picture(between.view()), old);
    assert_eq!(statements(Reader::open(dir.path()).unwrap().view()), ["零。", "二。"]);
    assert!(!generation_dir(dir.path(), 1).exists() && generation_dir(dir.path(), 2).exists());
}

#[test]
fn an_interrupted_run_continues_and_ends_like_an_undisturbed_one() {
    let texts = ["甲。", "乙。", "甲。", "丙。"];
    let (_keep, mut undisturbed) = fresh();
    put(&mut undisturbed, "b", &texts);
    put(&mut undisturbed, "a", &["x"]);
    extract(&mut undisturbed, 9);

    let (dir, mut writer) = fresh();
    put(&mut writer, "b", &texts[..2]);
    assert_eq!(extract(&mut writer, 1), 1);
    drop(writer);
    let mut writer = Writer::open_or_create(dir.path()).unwrap();
    put(&mut writer, "a", &["x"]);
    let replaced = put(&mut writer, "b", &texts);
    assert_eq!((replaced.kept, replaced.pending), (1, 3));
    extract(&mut writer, 2);
    drop(writer);
    let mut writer = Writer::open_or_create(dir.path()).unwrap();
    assert_eq!(extract(&mut writer, 9), 2);
    assert_eq!(picture(writer.view()), picture(undisturbed.view()));
    assert_eq!(statements(writer.view()), ["x", "甲。", "乙。", "甲。", "丙。"]);
}

#[test]
fn a_section_that_only_moved_keeps_its_units_and_their_ranges_move_along() {
    let (_dir, mut writer) = fresh();
    put(&mut writer, "a", &["一。"]);
    extract(&mut writer, 9);
    publish(&mut writer);
    let replaced = put(&mut writer, "a", &["新的。", "一。"]);
    assert_eq!((replaced.kept, replaced.pending), (1, 1));
    let sections = writer.view().sections(replaced.document).unwrap();
    assert_eq!(sections[1].state, SectionState::Done);
    let units = writer.view().units(sections[1].row).unwrap();
    assert_eq!(units[0].unit.evidence, [Span::new(3, 5)]);
    assert_eq!(units[0].id, format!("{}.{}", sections[1].id, units[0].key));
    assert_eq!(writer.view().text(replaced.document).unwrap(), "新的。一。");
}

#[test]
fn a_document_that_comes_back_needs_no_extraction() {
    let (_dir, mut writer) = fresh();
    put(&mut writer, "a", &["一。"]);
    extract(&mut writer, 9);
    publish(&mut writer);
    let row = writer.view().document_by_path("a").unwrap().unwrap().row;
    writer.delete_documents(&[row]).unwrap();
    publish(&mut writer);
    assert!(writer.view().documents().unwrap().is_empty());
    assert_eq!(writer.view().counts().unwrap().deleted_documents, 1);
    assert_eq!(put(&mut writer, "a", &["一。"]).kept, 1);
    publish(&mut writer);
    let counts = writer.view().counts().unwrap();
    assert_eq!((counts.documents, counts.deleted_documents, counts.sections), (1, 0, 1));
    assert_eq!(counts.units.iter().map(|units| units.count).sum::<usize>(), 2);
}

#[test]
fn a_second_writer_is_refused_and_an_unfinished_generation_is_not_published() {
    let (dir, mut writer) = fresh();
    assert!(Writer::open_or_create(dir.path()).unwrap_err().is_busy());
    put(&mut writer, "a", &["一。"]);
    let row = GenerationRow {
        number: 1,
        vectors: 0,
        dimension: 0,
        unit: String::new(),
        embedder: String::new(),
        embedder_name: String::new(),
        created: 0,
    };
    assert!(writer.publish(&row).is_err());
    drop(writer);
    Writer::open_or_create(dir.path()).unwrap();
}

#[test]
fn caches_give_back_what_they_got_and_only_for_the_same_key() {
    let (dir, mut writer) = fresh();
    let (a, b) = (embedding_key("e", "一"), embedding_key("e", "二"));
    assert_ne!(a, embedding_key("e一", ""));
    writer.put_embeddings([(a, &[0.5f32, -0.25][..])]).unwrap();
    writer.put_extraction(&b, "[]").unwrap();
    drop(writer);
    let writer = Writer::open_or_create(dir.path()).unwrap();
    assert_eq!(writer.embedding(&a, 2).unwrap(), Some(vec![0.5, -0.25]));
    assert_eq!((writer.embedding(&a, 3).unwrap(), writer.embedding(&b, 2).unwrap()), (None, None));
    assert_eq!((writer.extraction(&b).unwrap().as_deref(), writer.extraction(&a).unwrap()), (Some("[]"), None));
}

#[test]
fn an_index_without_its_log_opens_where_nothing_can_be_written() {
    let (dir, mut writer) = fresh();
    put(&mut writer, "a", &["一。"]);
    extract(&mut writer, 9);
    publish(&mut writer);
    drop(writer);
    let read_only = |path: &Path, yes: bool| {
        let mut permissions = std::fs::metadata(path).unwrap().permissions();
        permissions.set_readonly(yes);
        std::fs::set_permissions(path, permissions).unwrap();
    };
    read_only(dir.path(), true);
    read_only(&dir.path().join("mingti.db"), true);
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(statements(reader.view()), ["一。"]);
    reader.integrity().unwrap();
    #[allow(clippy::permissions_set_readonly_false)]
    read_only(dir.path(), false);
}

#[test]
fn extractions_that_no_section_uses_go_when_they_take_too_much() {
    let (_dir, mut writer) = fresh();
    put(&mut writer, "a", &["一。"]);
    let row = writer.view().pending().unwrap()[0];
    let recipe = crate::store::Recipe { extraction: Some([7; 32]), ..Default::default() };
    writer.commit_sections(&[SectionDone { section: row, recipe, ..SectionDone::default() }]).unwrap();
    for key in [7, 8, 9] {
        writer.put_extraction(&[key; 32], "“一。”").unwrap();
    }
    let size = "“一。”".len() as u64;
    assert_eq!(writer.view().extraction_bytes().unwrap(), 3 * size);
    assert_eq!(writer.trim_extractions(2 * size).unwrap(), 0);
    assert_eq!(writer.trim_extractions(2 * size - 1).unwrap(), 2 * size);
    assert_eq!(writer.view().extraction_bytes().unwrap(), size);
    assert!(writer.extraction(&[7; 32]).unwrap().is_some() && writer.extraction(&[8; 32]).unwrap().is_none());
}

#[test]
fn entities_are_looked_up_in_sections_that_were_taken_over_too() {
    let (dir, mut writer) = fresh();
    put(&mut writer, "a", &["一。"]);
    let row = writer.view().pending().unwrap()[0];
    let mut unit = Unit::verbatim(UnitKind::Sentence, "Ｅ-1 与 e-1", Span::new(0, 2));
    unit.entities = vec!["Ｅ-1".into(), "e-1".into()];
    let recipe = crate::store::Recipe { extraction: Some([7; 32]), ..Default::default() };
    let done = SectionDone { section: row, units: &[unit], recipe, ..SectionDone::default() };
    writer.commit_sections(&[done]).unwrap();
    publish(&mut writer);
    let found = |view: View<'_>, name: &str| view.units_with_entities(&[name.to_owned()]).unwrap();
    let first = found(Reader::open(dir.path()).unwrap().view(), "E-1");
    assert_eq!(first.len(), 1);
    let replaced = put(&mut writer, "a", &["一。", "二。"]);
    extract(&mut writer, 9);
    let section = writer.view().sections(replaced.document).unwrap().remove(0);
    assert_eq!(section.recipe, Some(recipe));
    let second = found(writer.view(), "e-1");
    assert_eq!(second, [(writer.view().units(section.row).unwrap()[0].row, section.row)]);
    assert_eq!(found(Reader::open(dir.path()).unwrap().view(), "e-1"), first);
    publish(&mut writer);
    assert_eq!(found(Reader::open(dir.path()).unwrap().view(), "e-1"), second);
    assert!(found(writer.view(), "e").is_empty() && writer.view().units_with_entities(&[]).unwrap().is_empty());
}

//! What a section takes from the rest of its document, tiers, cheap mode, dates.

use super::*;
use crate::store::Writer;

/// Runs with `options` over `docs` and gives the sentences that were asked about.
fn asked(options: &IndexOptions) -> (IndexSummary, Vec<String>) {
    let mut echo = Echo::default();
    let summary = index(options, Some(&mut echo), &LETTERS, &mut |_| {}, &Interrupt::new()).unwrap();
    (summary, echo.asked)
}

fn statements(index_dir: &Path) -> Vec<String> {
    let reader = Reader::open(index_dir).unwrap();
    let mut out = Vec::new();
    reader
        .view()
        .for_each_unit(|u| {
            out.push(u.statement.to_owned());
            Ok(())
        })
        .unwrap();
    out
}

fn manual(pump: &str, cooler: &str, filter: &str) -> String {
    format!(
        "# 手册\n\n## 1 油泵\n\n油泵停止后应关闭进油阀。{pump}\n\n## 2 检修\n\n该设备断电后方可检修。\n\n\
         ## 3 冷却\n\n### 3.1 冷却器\n\n{cooler}\n\n### 3.2 滤芯\n\n{filter}\n"
    )
}

const PUMP: &str = "油泵的压力为 2 MPa。";
const COOLER: &str = "冷却器每三个月清洗一次。";
const FILTER: &str = "滤芯每月更换一次。";

#[test]
fn editing_a_sentence_asks_again_for_its_section_and_for_one_that_points_back_at_it() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    let options = IndexOptions::new(dir.path().join("index"), vec![docs.clone()]);
    let edit = |text: String| {
        write(&docs, "a.md", &text);
        asked(&options)
    };
    assert_eq!(edit(manual(PUMP, COOLER, FILTER)).1.len(), 5);
    // Nothing points at the filter.
    assert_eq!(edit(manual(PUMP, COOLER, "滤芯每周更换一次。")).1, ["滤芯每周更换一次。"]);
    // Section 2 opens with 该设备, so what it means may have changed with section 1.
    let (summary, sentences) = edit(manual("油泵的压力为 3 MPa。", COOLER, "滤芯每周更换一次。"));
    assert_eq!(sentences, ["油泵停止后应关闭进油阀。", "油泵的压力为 3 MPa。", "该设备断电后方可检修。"]);
    assert_eq!((summary.sections, summary.cached), (2, 0));
    // Back again: every answer is known.
    let (summary, sentences) = edit(manual(PUMP, COOLER, FILTER));
    assert_eq!((summary.sections, summary.cached, sentences.len()), (3, 3, 0));
    assert_eq!((summary.model.cached_sentences, summary.model.asked_sentences), (4, 0));
}

#[test]
fn a_changed_heading_asks_again_for_the_sections_beneath_it() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    let options = IndexOptions::new(dir.path().join("index"), vec![docs.clone()]);
    write(&docs, "a.md", &manual(PUMP, COOLER, FILTER));
    asked(&options);
    write(&docs, "a.md", &manual(PUMP, COOLER, FILTER).replace("## 3 冷却\n", "## 3 冷却系统\n"));
    assert_eq!(asked(&options).1, [COOLER, FILTER]);
}

#[test]
fn a_full_name_that_changes_asks_again_where_it_is_shortened() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    let options = IndexOptions::new(dir.path().join("index"), vec![docs.clone()]);
    let text = |model: &str| {
        format!(
            "# 手册\n\n## 1 概述\n\n{model} 液压冲床有三个油泵。\n\n## 2 阀门\n\n阀门应每月检查。\n\n## 3 润滑\n\n冲床应每月润滑。\n"
        )
    };
    write(&docs, "a.md", &text("XH-500"));
    asked(&options);
    write(&docs, "a.md", &text("XH-600"));
    assert_eq!(asked(&options).1, ["XH-600 液压冲床有三个油泵。", "冲床应每月润滑。"]);
}

#[test]
fn time_words_follow_the_date_and_only_their_sections_depend_on_it() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    let mut options = IndexOptions::new(dir.path().join("index"), vec![docs.clone()]);
    write(&docs, "a 2024-05.md", "# 记录\n\n## 1\n\n油泵去年更换了密封件。\n\n## 2\n\n滤芯每月更换一次。\n");
    let (_, sentences) = asked(&options);
    assert_eq!(sentences.len(), 2);
    assert!(statements(&options.index).contains(&"油泵去年（2023年）更换了密封件。".to_owned()));
    options.date = "2020".parse().ok();
    assert_eq!(asked(&options).1, ["油泵去年更换了密封件。"]);
    assert!(statements(&options.index).contains(&"油泵去年（2019年）更换了密封件。".to_owned()));
    let reader = Reader::open(&options.index).unwrap();
    assert_eq!(reader.view().documents().unwrap()[0].date, options.date);
}

#[test]
fn tiers_give_documents_their_own_units_and_unlisted_ones_those_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    write(&docs, "log/a.md", "# 记录\n\n油泵停止后应关闭进油阀。滤芯每月更换一次。\n");
    write(&docs, "manual/b.md", "---\ntype: manual\n---\n# 手册\n\n油泵停止后应关闭进油阀。\n");
    write(&docs, "c.md", "# 其他\n\n滤芯每月更换一次。\n");
    let section = Tier { glob: Some("log/**".to_owned()), unit: Some(UnitKind::Section), ..Tier::default() };
    let manual = Tier {
        front_matter: [("type".to_owned(), "manual".to_owned())].into(),
        unit: Some(UnitKind::Proposition),
        ..Tier::default()
    };
    let mut options = IndexOptions {
        unit: UnitKind::Sentence,
        tiers: vec![section, manual],
        ..IndexOptions::new(dir.path().join("index"), vec![docs.clone()])
    };
    let (summary, sentences) = asked(&options);
    assert_eq!((sentences.len(), summary.units), (1, 4));
    let kinds = || {
        let reader = Reader::open(&options.index).unwrap();
        let mut kinds = Vec::new();
        reader
            .view()
            .for_each_unit(|u| {
                kinds.push(u.kind);
                Ok(())
            })
            .unwrap();
        kinds
    };
    use UnitKind::{Proposition, Section, Sentence};
    // A document's front matter is searched verbatim.
    assert_eq!(kinds(), [Sentence, Section, Sentence, Proposition]);
    // The rules are a part of what makes a document what it is.
    options.tiers.clear();
    let (summary, sentences) = asked(&options);
    assert_eq!((summary.changed, summary.unchanged, sentences.len()), (3, 0, 0));
    let faulty = IndexOptions { tiers: vec![Tier { glob: Some("a[".into()), ..Tier::default() }], ..options };
    let error = index(&faulty, None, &LETTERS, &mut |_| {}, &Interrupt::new()).unwrap_err();
    assert!(error.to_string().contains("tier 1"), "{error}");
}

#[test]
fn cheap_mode_asks_only_where_it_helps_and_tells_what_it_saved() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    let mut options = IndexOptions::new(dir.path().join("index"), vec![docs.clone()]);
    options.mode = Effort::Cheap;
    write(&docs, "a.md", "# 手册\n\n油泵的工作压力为 2 MPa。其油温不得超过 65 ℃。\n");
    let (summary, sentences) = asked(&options);
    assert_eq!(sentences, ["其油温不得超过 65 ℃。"]);
    let used = summary.model;
    assert_eq!((used.asked_sentences, used.kept_sentences, used.cached_sentences), (1, 1, 0));
    assert_eq!((used.asked_chars, used.kept_chars, used.tokens), (13, 15, 26));
    assert_eq!(used.tokens_avoided(), Some(30));
    assert!(statements(&options.index).contains(&"油泵的工作压力为 2 MPa。".to_owned()));
    assert_eq!(ModelUse::of_index(&Reader::open(&options.index).unwrap().view()).unwrap(), used);
    // Asked in full the kept sentence goes to the model too; the sums of both runs are kept.
    options.mode = Effort::Full;
    let (summary, sentences) = asked(&options);
    assert_eq!(sentences.len(), 2);
    let sum = ModelUse::of_index(&Reader::open(&options.index).unwrap().view()).unwrap();
    assert_eq!((sum.tokens, sum.asked_sentences), (used.tokens + summary.model.tokens, 3));
}

#[test]
fn sections_without_settings_of_an_older_version_are_planned_anew() {
    let dir = tempfile::tempdir().unwrap();
    let docs = dir.path().join("docs");
    let options = IndexOptions::new(dir.path().join("index"), vec![docs.clone()]);
    write(&docs, "a.md", &manual(PUMP, COOLER, FILTER));
    let mut echo = Echo { stop_after: Some((1, Interrupt::new())), ..Echo::default() };
    assert!(go(&options.index, &[&docs], Some(&mut echo)).0.is_err());
    drop(Writer::open_or_create(&options.index).unwrap());
    let database = options.index.join(crate::store::DATABASE_FILE);
    rusqlite::Connection::open(database).unwrap().execute("UPDATE section SET context = ''", []).unwrap();
    let (summary, _) = asked(&options);
    assert_eq!(summary.generation, Some(1));
    let straight = IndexOptions::new(dir.path().join("straight"), vec![docs]);
    asked(&straight);
    assert_eq!(content(&options.index), content(&straight.index));
}

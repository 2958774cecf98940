//! Tiers, dates and cheap mode on the command line.

use std::fs;

use super::support::{Home, Run};

#[test]
fn tiers_of_the_settings_file_choose_the_unit_by_document() {
    let home = Home::new();
    home.write("log/a.md", "# 记录\n\n主轴温度过高。冷却泵已更换。\n");
    home.write("b.md", "# 手册\n\n主轴温度不得高于 75 ℃。\n");
    fs::write(home.path().join("mingti.toml"), "[[tier]]\nglob = \"log/**\"\nunit = \"section\"\n").unwrap();
    let lines = Run::of(home.indexing(&[&home.docs()]).arg("--json")).ends(0).lines();
    let last = lines.last().unwrap();
    assert_eq!((&last["type"], &last["units"]), (&"summary".into(), &2.into()), "{last}");
    assert!(last["model"]["tokens"] == 0 && last["tokens_avoided"].is_null(), "{last}");
    let found = home.search(&["主轴温度", "--json", "--mode", "lexical"]).ends(0).object();
    let unit = |path: &str| {
        let results = found["results"].as_array().unwrap().iter();
        let result = results.clone().find(|result| result["document"]["path"] == path).unwrap();
        result["propositions"][0]["unit"].clone()
    };
    assert_eq!((unit("log/a.md"), unit("b.md")), ("section".into(), "sentence".into()));
    let status = Run::of(home.mingti().args(["status", "--json"])).ends(0).object();
    assert_eq!(status["model"]["asked_sentences"], 0);
}

#[test]
fn a_faulty_tier_and_a_faulty_date_are_named() {
    let home = Home::new();
    let document = home.write("a.md", "# 手册\n\n主轴停机。\n");
    let dated = |date: &str| Run::of(home.indexing(&[&document]).args(["--date", date]));
    dated("2024-13").ends(2);
    assert!(dated("May").ends(2).stderr.contains("YYYY-MM-DD"));
    fs::write(home.path().join("mingti.toml"), "[[tier]]\npath = \"log/**\"\n").unwrap();
    dated("2024").fails_naming(&["mingti.toml", "line 2", "`path`", "glob"]);
    fs::write(home.path().join("mingti.toml"), "[[tier]]\nunit = \"fixed\"\n").unwrap();
    dated("2024").fails_naming(&["mingti.toml", "tier 1", "fixed"]);
}

#[test]
fn time_words_of_verbatim_sentences_are_marked_and_stay() {
    let home = Home::new();
    let document = home.write("a.md", "# 记录\n\n主轴去年更换。\n");
    let extract = |date: &[&str]| {
        let mut command = home.mingti();
        command.args(["extract", "--extractor", "none", "--json"]).arg(&document).args(date);
        Run::of(&mut command).ends(0).object()["units"][0].clone()
    };
    let unit = extract(&[]);
    assert_eq!((&unit["statement"], &unit["status"]), (&"主轴去年更换。".into(), &"accepted".into()), "{unit}");
    assert_eq!(unit["reasons"][0]["gate"], "time-not-anchored");
    let unit = extract(&["--date", "2024"]);
    assert_eq!(
        (&unit["statement"], &unit["reasons"][0]["detail"]),
        (&"主轴去年更换。".into(), &"去年（2023年）".into())
    );
}

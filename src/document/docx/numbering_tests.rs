#![allow(clippy::unwrap_used)]
use super::*;
use crate::document::budget::Budget;
use crate::document::xml::Tree;

fn level(at: usize, format: &str, text: &str, more: &str) -> String {
    format!(
        "<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{format}'/><w:lvlText w:val='{text}'/>{more}</w:lvl>"
    )
}

fn numbering(inner: &str) -> Numbering {
    let xml = format!(
        "<w:numbering xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'>{inner}</w:numbering>"
    );
    Numbering::read(Tree::parse(&xml, "numbering", &mut Budget::default()).unwrap().root())
}

fn law() -> String {
    let levels = [
        level(0, "chineseCountingThousand", "第%1章", ""),
        level(1, "chineseCountingThousand", "第%2条", "<w:lvlRestart w:val='0'/>"),
        level(2, "decimal", "%1.%3", "<w:isLgl/><w:suff w:val='nothing'/>"),
        level(3, "bullet", "\u{f0b7}", ""),
    ];
    format!(
        "<w:abstractNum w:abstractNumId='0'>{}</w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>\
         <w:num w:numId='2'><w:abstractNumId w:val='0'/><w:lvlOverride w:ilvl='0'><w:startOverride w:val='7'/>\
         </w:lvlOverride></w:num>",
        levels.concat()
    )
}

#[test]
fn articles_count_through_the_chapters() {
    let mut numbering = numbering(&law());
    let mut numbers = Vec::new();
    for level in [0, 1, 1, 2, 0, 1, 2, 2] {
        numbers.push(numbering.next("1", level).unwrap().text);
    }
    assert_eq!(numbers, ["第一章", "第一条", "第二条", "1.1", "第二章", "第三条", "2.1", "2.2"]);
}

#[test]
fn an_instance_starts_once_where_it_says_and_shares_the_counters() {
    let mut numbering = numbering(&law());
    let numbers: Vec<String> = ["1", "2", "2", "1"].iter().map(|num| numbering.next(num, 0).unwrap().text).collect();
    assert_eq!(numbers, ["第一章", "第七章", "第八章", "第九章"]);
}

#[test]
fn marks_of_lists_are_told_from_numbers_of_articles() {
    let mut numbering = numbering(&law());
    let bullet = numbering.next("1", 3).unwrap();
    assert_eq!((bullet.text.as_str(), bullet.is_item), ("", true));
    assert!(!numbering.next("1", 1).unwrap().is_item);
    assert_eq!(numbering.next("1", 2).unwrap().suffix, "");
    for mark in ["%1.", "（%2）", "%1）", "%3、", "——"] {
        assert!(is_mark(mark), "{mark}");
    }
    for number in ["%1.%2", "第%1条", "注%1：", "附录 %1", ""] {
        assert!(!is_mark(number), "{number}");
    }
}

#[test]
fn style_gives_the_level_that_is_bound_to_it() {
    let inner = "<w:abstractNum w:abstractNumId='3'><w:styleLink w:val='list'/><w:lvl w:ilvl='1'><w:pStyle w:val='two'/>\
        <w:lvlText w:val='%2'/></w:lvl></w:abstractNum>\
        <w:abstractNum w:abstractNumId='4'><w:numStyleLink w:val='list'/></w:abstractNum>\
        <w:num w:numId='5'><w:abstractNumId w:val='4'/></w:num>";
    let mut numbering = numbering(inner);
    let style = Resolved {
        num: Some("5".to_string()),
        chain: vec!["own".to_string(), "two".to_string()],
        ..Resolved::default()
    };
    assert_eq!(numbering.place(None, &style), Some(("5".to_string(), 1)));
    assert_eq!(numbering.next("5", 1).unwrap().text, "0");
    assert_eq!(numbering.next("none", 0), None);
}

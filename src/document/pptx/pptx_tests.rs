#![allow(clippy::unwrap_used)]
use super::*;
use crate::document::package::tests::zipped;

const NS: &str = "xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main' \
    xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main' \
    xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'";

fn pptx(slides: &[(&str, &str)]) -> Result<Extracted> {
    let rels = |inner: &str| {
        format!(
            "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{inner}</Relationships>"
        )
    };
    let mut parts =
        vec![("_rels/.rels".to_string(), rels("<Relationship Id='r' Type='t/officeDocument' Target='a/main.xml'/>"))];
    let (mut list, mut pointers) = (String::new(), String::new());
    for (n, (shapes, notes)) in slides.iter().enumerate() {
        // The parts are numbered against the order of the show.
        let name = format!("s{}", slides.len() - n);
        list.push_str(&format!("<p:sldId id='{n}' r:id='{name}'/>"));
        pointers.push_str(&format!("<Relationship Id='{name}' Type='t/slide' Target='{name}.xml'/>"));
        parts.push((
            format!("a/{name}.xml"),
            format!("<p:sld {NS}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"),
        ));
        if !notes.is_empty() {
            let pointer = rels(&format!("<Relationship Id='n' Type='t/notesSlide' Target='n{name}.xml'/>"));
            parts.push((format!("a/_rels/{name}.xml.rels"), pointer));
            parts.push((
                format!("a/n{name}.xml"),
                format!("<p:notes {NS}>{}</p:notes>", shape("<p:ph type='body'/>", notes)),
            ));
        }
    }
    parts.push((
        "a/main.xml".to_string(),
        format!("<p:presentation {NS}><p:sldIdLst>{list}</p:sldIdLst></p:presentation>"),
    ));
    parts.push(("a/_rels/main.xml.rels".to_string(), rels(&pointers)));
    let parts: Vec<(&str, &str)> = parts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    read(&zipped(&parts), &mut Budget::default())
}

fn shape(holder: &str, paragraphs: &str) -> String {
    format!("<p:sp><p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>")
}

fn p(properties: &str, text: &str) -> String {
    format!("<a:p><a:pPr {properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>")
}

#[test]
fn slides_come_in_the_order_of_the_show_with_titles_lists_and_notes() {
    let list = [
        p(">", "断电"),
        p("lvl='1'>", "挂牌"),
        p("><a:buAutoNum type='arabicParenR'/>", "一步"),
        p("><a:buAutoNum type='arabicParenR'/>", "二步"),
    ];
    let group = format!("<p:grpSp><p:nvGrpSpPr/>{}</p:grpSp>", shape("", &p(">", "组内")));
    let first = shape("<p:ph type='body'/>", &list.concat())
        + &shape("<p:ph type='title'/>", &p(">", "检修"))
        + &group
        + &shape("<p:ph type='sldNum'/>", &p(">", "7"));
    let out = pptx(&[(&first, &p(">", "慢讲")), (&shape("", &p(">", "完")), "")]).unwrap();
    let expected = "# 检修\n\n- 断电\n  - 挂牌\n- 1) 一步\n- 2) 二步\n\n组内\n\nNotes: 慢讲\n\n# Slide 2\n\n完\n";
    assert_eq!(out.text, expected);
    let labels: Vec<&str> = out.pages.iter().map(|page| page.label.as_str()).collect();
    assert_eq!((labels, out.title.as_deref()), (vec!["1", "2"], Some("检修")));
}

#[test]
fn slides_with_large_pictures_are_named_since_words_in_them_are_not_read() {
    let picture = |cm: u32| {
        let length = 360_000 * cm;
        format!("<p:pic><p:spPr><a:xfrm><a:ext cx='{length}' cy='{length}'/></a:xfrm></p:spPr></p:pic>")
    };
    let text = shape("", &p(">", "说明"));
    let out = pptx(&[(&picture(20), ""), (&(picture(20) + &text), ""), (&(picture(2) + &text), "")]).unwrap();
    let named: Vec<(&str, &str)> = out.skipped.iter().map(|part| (&*part.place, &*part.reason)).collect();
    assert_eq!(named, [("slides 1–2", PICTURES)]);
    let error = pptx(&[(&picture(20), "")]).unwrap_err();
    assert!(error.to_string().contains("no text"), "{error}");
}

#[test]
fn tables_repeat_merged_cells() {
    let tc = |more: &str, text: &str| format!("<a:tc {more}><a:txBody>{}</a:txBody></a:tc>", p(">", text));
    let rows = [
        tc("gridSpan='2'", "轴") + &tc("hMerge='1'", "") + &tc("", "值"),
        tc("rowSpan='2'", "X") + &tc("", "a") + &tc("", "1"),
        tc("vMerge='1'", "") + &tc("", "b") + &tc("", "2"),
        tc("gridSpan='3'", "备件") + &tc("hMerge='1'", "").repeat(2),
    ];
    let title = tc("gridSpan='3'", "参数") + &tc("hMerge='1'", "").repeat(2);
    let rows = std::iter::once(&title).chain(&rows);
    let rows: String = rows.map(|row| format!("<a:tr>{row}</a:tr>")).collect();
    let frame = format!(
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow='1'/>{rows}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    );
    let out = pptx(&[(&frame, "")]).unwrap();
    let table = "| 轴 | 轴 | 值 |\n| --- | --- | --- |\n| X | a | 1 |\n| X | b | 2 |\n| 备件 |\n";
    assert_eq!(out.text, format!("# Slide 1\n\n参数\n\n{table}"));
}

#[test]
fn merged_cells_keep_within_bounds_and_nested_tables_are_said_once() {
    let tc = |more: &str, text: &str| format!("<a:tc {more}><a:txBody>{text}</a:txBody></a:tc>");
    let table = |rows: &str| format!("<a:tbl>{rows}</a:tbl>");
    let frame = |table: &str| format!("<p:graphicFrame><a:graphic>{table}</a:graphic></p:graphicFrame>");
    let first = format!("<a:tr>{}</a:tr>", tc("rowSpan='9'", &p(">", &"x".repeat(200_000))));
    let next = format!("<a:tr>{}{}</a:tr>", tc("vMerge='1'", ""), tc("", &p(">", "y")));
    let out = pptx(&[(&frame(&table(&(first + &next.repeat(2000)))), "")]).unwrap();
    assert!(out.text.len() < 32 << 20 && out.text.matches('y').count() == 2000);
    let mut inner = p(">", "innen");
    for _ in 0..40 {
        inner = table(&format!("<a:tr>{}</a:tr>", tc("", &inner)));
    }
    assert_eq!(pptx(&[(&frame(&inner), "")]).unwrap().text.matches("innen").count(), 1);
}

#[test]
fn a_presentation_of_pictures_is_an_error() {
    assert!(pptx(&[("<p:pic/>", "")]).unwrap_err().to_string().contains("no text"));
}

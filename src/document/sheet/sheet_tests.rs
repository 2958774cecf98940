#![allow(clippy::unwrap_used)]
use super::*;
use crate::document::package::tests::zipped;

const S: &str = "xmlns='http://purl.oclc.org/ooxml/spreadsheetml/main' \
                 xmlns:r='http://purl.oclc.org/ooxml/officeDocument/relationships'";

fn xlsx(rows: &str, more: &str) -> Result<Extracted> {
    let rels = |inner: &str| {
        format!(
            "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{inner}</Relationships>"
        )
    };
    let to =
        |id: &str, kind: &str, target: &str| format!("<Relationship Id='{id}' Type='t/{kind}' Target='{target}'/>");
    let book = format!(
        "<workbook {S}><sheets><sheet name='参数' r:id='a'/><sheet name='旧' state='hidden' r:id='b'/></sheets></workbook>"
    );
    let strings =
        format!("<sst {S}><si><t>轴</t><rPh><t>zhou</t></rPh></si><si><r><t>速</t></r><r><t>度</t></r></si></sst>");
    let styles = format!(
        "<styleSheet {S}><numFmts><numFmt numFmtId='200' formatCode='yyyy\"年\"m\"月\"d\"日\"'/></numFmts>\
         <cellXfs><xf numFmtId='0'/><xf numFmtId='10'/><xf numFmtId='200'/></cellXfs></styleSheet>"
    );
    let sheet = format!("<worksheet {S}><sheetData>{rows}</sheetData>{more}</worksheet>");
    let old = format!(
        "<worksheet {S}><sheetData><row><c t='inlineStr'><is><t>旧值</t></is></c></row></sheetData></worksheet>"
    );
    let pointers = [
        to("a", "worksheet", "x.xml"),
        to("b", "worksheet", "y.xml"),
        to("c", "styles", "z.xml"),
        to("d", "sharedStrings", "w.xml"),
    ];
    let bytes = zipped(&[
        ("_rels/.rels", &rels(&to("r", "officeDocument", "book/b.xml"))),
        ("book/b.xml", &book),
        ("book/_rels/b.xml.rels", &rels(&pointers.concat())),
        ("book/x.xml", &sheet),
        ("book/y.xml", &old),
        ("book/z.xml", &styles),
        ("book/w.xml", &strings),
    ]);
    read(&bytes, &mut Budget::default())
}

#[test]
fn cells_say_what_is_shown_and_hidden_sheets_are_named() {
    let rows = "<row r='2'><c r='A2' t='s'><v>0</v></c><c r='B2' t='s'><v>1</v></c><c t='str'><f>A1</f><v>结果</v></c></row>\
        <row r='3'><c r='A3' t='b'><v>1</v></c><c r='B3' s='1'><v>0.125</v></c><c r='C3' s='2'><v>45000</v></c></row>\
        <row><c t='e'><v>#N/A</v></c><c><v>0.30000000000000004</v></c></row>";
    let out = xlsx(rows, "<mergeCells><mergeCell ref='C3:C4'/></mergeCells>").unwrap();
    let expected = "# 参数\n\n| 轴 | 速度 | 结果 |\n| --- | --- | --- |\n| TRUE | 12.50% | 2023年3月15日 |\n\
                    | #N/A | 0.3 | 2023年3月15日 |\n\n# 旧 (hidden)\n\n旧值\n";
    assert_eq!(out.text, expected);
    let labels: Vec<&str> = out.pages.iter().map(|page| page.label.as_str()).collect();
    assert_eq!(labels, ["参数", "旧"]);
}

#[test]
fn a_damaged_sheet_is_named_and_the_others_are_read() {
    let out = xlsx("<row>", "").unwrap();
    assert_eq!(out.skipped.first().unwrap().place, "sheet 参数");
    assert!(out.text.ends_with("旧值\n"));
}

#[test]
fn formulas_without_a_result_are_named() {
    let out = xlsx("<row><c><f>1+1</f></c><c><f>2</f><v>2</v></c></row>", "").unwrap();
    assert!(out.skipped.first().unwrap().reason.starts_with("1 formula(s)"));
}

//! Workbooks.

use super::office::pointers;
use crate::input::{Input, Packing, Part, Role};

pub(crate) fn xlsx() -> Vec<Input> {
    const S: &str = "xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main' \
        xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'";
    let rows = "<row r='2'><c r='A2' t='s'><v>0</v></c><c r='B2' t='s'><v>1</v></c><c t='str'><f>A1</f><v>结果</v></c></row>\
        <row r='3'><c r='A3' t='b'><v>1</v></c><c r='B3' s='1'><v>0.125</v></c><c r='C3' s='2'><v>45000</v></c></row>\
        <row r='4'><c t='e'><v>#N/A</v></c><c s='3'><v>-1234.5</v></c><c s='4'><v>0.3333</v></c><c s='5'><v>1.5</v></c></row>\
        <row><c t='inlineStr'><is><t>内</t></is></c><c t='d'><v>2024-05-01</v></c><c><f>1+1</f></c></row>";
    let formats = [
        (200, "yyyy\"年\"m\"月\"d\"日\""),
        (201, "#,##0.00;[Red](#,##0.00);\"零\";@\"文\""),
        (202, "# ?/?"),
        (203, "[h]:mm:ss.00 AM/PM"),
    ];
    let formats: String = formats
        .iter()
        .map(|(id, code)| format!("<numFmt numFmtId='{id}' formatCode='{}'/>", code.replace('"', "&quot;")))
        .collect();
    let styles = format!(
        "<styleSheet {S}><numFmts>{formats}</numFmts><cellXfs><xf numFmtId='0'/><xf numFmtId='10'/><xf numFmtId='200'/><xf numFmtId='201'/>\
         <xf numFmtId='202'/><xf numFmtId='203'/></cellXfs></styleSheet>"
    );
    vec![Input::zip(&[
        ("_rels/.rels", &pointers(&[("r", "officeDocument", "xl/workbook.xml")])),
        (
            "xl/workbook.xml",
            &format!(
                "<workbook {S}><workbookPr date1904='0'/><sheets><sheet name='参数' r:id='a'/><sheet name='旧' state='hidden' r:id='b'/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            &pointers(&[
                ("a", "worksheet", "x.xml"),
                ("b", "worksheet", "y.xml"),
                ("c", "styles", "z.xml"),
                ("d", "sharedStrings", "w.xml"),
            ]),
        ),
        (
            "xl/x.xml",
            &format!(
                "<worksheet {S}><sheetData>{rows}</sheetData><mergeCells><mergeCell ref='C3:C4'/></mergeCells></worksheet>"
            ),
        ),
        (
            "xl/y.xml",
            &format!(
                "<worksheet {S}><sheetData><row><c t='inlineStr'><is><t>旧值</t></is></c></row></sheetData></worksheet>"
            ),
        ),
        ("xl/z.xml", &styles),
        (
            "xl/w.xml",
            &format!(
                "<sst {S}><si><t>轴</t><rPh><t>zhou</t></rPh></si><si><r><t>速</t></r><r><t>度</t></r></si></sst>"
            ),
        ),
    ])]
}

pub(crate) fn ods() -> Vec<Input> {
    let xml = "<office:document-content xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' \
        xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0' xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0'>\
        <office:body><office:spreadsheet><table:table table:name='表'><table:table-row><table:table-cell><text:p>轴<text:span>号</text:span></text:p></table:table-cell>\
        <table:table-cell table:number-columns-repeated='2'><text:p>速<text:s text:c='2'/>度<text:line-break/>b</text:p><text:p>c</text:p></table:table-cell></table:table-row>\
        <table:table-row-group><table:table-row table:number-rows-repeated='2'><table:table-cell/><table:table-cell table:number-columns-spanned='2' \
        table:number-rows-spanned='1'><text:p>5</text:p></table:table-cell><table:covered-table-cell/></table:table-row></table:table-row-group>\
        <table:table-row table:number-rows-repeated='1000000'><table:table-cell table:number-columns-repeated='1000'/></table:table-row></table:table>\
        <table:table table:name='B'><table:table-row><table:table-cell><text:p>x</text:p><office:annotation><text:p>n</text:p></office:annotation></table:table-cell>\
        </table:table-row></table:table></office:spreadsheet></office:body></office:document-content>";
    vec![Input::zip(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest:manifest xmlns:manifest='m'><manifest:file-entry/></manifest:manifest>"),
        ("content.xml", xml),
    ])]
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn workbook(records: Vec<(u16, Vec<u8>)>) -> Input {
    let parts = records.into_iter().map(|(kind, bytes)| Part { role: Role::Record(kind), bytes }).collect();
    Input { packing: Packing::Workbook, parts }
}

pub(crate) fn xls() -> Vec<Input> {
    let number = |value: f64| value.to_le_bytes().to_vec();
    let cell = |row: u8, column: u8, style: u8, rest: &[u8]| [&[row, 0, column, 0, style, 0], rest].concat();
    let eight = vec![
        (0x0809, vec![0, 6, 5, 0]),
        (0x0042, vec![0xb0, 4]),
        (0x0022, vec![0, 0]),
        (0x041e, [&[200, 0, 10, 0, 0], b"yyyy\"x\"m;@".as_slice()].concat()),
        (0x00e0, vec![0, 0, 0, 0]),
        (0x00e0, vec![0, 0, 10, 0]),
        (0x00e0, vec![0, 0, 200, 0]),
        (0x0085, [&[0, 0, 0, 0, 0, 0, 1, 1], wide("表").as_slice()].concat()),
        (0x0085, [&[0, 0, 0, 0, 1, 0, 1, 0], b"B".as_slice()].concat()),
        // Two strings: one that goes on in the next record, one with runs and phonetic data.
        (0x00fc, [&[2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 1], wide("一").as_slice()].concat()),
        (0x003c, b"\x00bc\x02\x00\x0d\x01\x00\x04\x00\x00\x00\x35\x75\x3a\x67\x00\x00\x00\x00zzzz".to_vec()),
        (0x000a, Vec::new()),
        (0x0809, vec![0, 6, 16, 0]),
        (0x00fd, cell(0, 0, 0, &[0, 0, 0, 0])),
        (0x00fd, cell(0, 1, 0, &[1, 0, 0, 0])),
        (0x027e, cell(1, 0, 1, &(12u32 << 2 | 3).to_le_bytes())),
        (0x00bd, [&[1, 0, 1, 0], [1u8, 0, 0, 0, 0xf0, 0x3f].repeat(3).as_slice(), &[3, 0]].concat()),
        (0x0203, cell(2, 0, 2, &number(45000.25))),
        (0x0006, cell(2, 1, 0, &[0, 0, 0, 0, 0, 0, 0xff, 0xff])),
        (0x0207, [&[1, 0, 1], wide("果").as_slice()].concat()),
        (0x0006, cell(3, 0, 1, &number(0.5))),
        (0x0205, cell(3, 1, 0, &[7, 1])),
        (0x0204, cell(4, 0, 0, b"\x02\x00\x00ab")),
        (0x00e5, vec![1, 0, 3, 0, 4, 0, 0, 0, 1, 0]),
        (0x000a, Vec::new()),
        (0x0809, vec![0, 6, 16, 0]),
        (0x0204, cell(0, 0, 0, b"\x01\x00\x00x")),
        (0x000a, Vec::new()),
    ];
    let five = vec![
        (0x0809, vec![0, 5, 5, 0]),
        (0x0042, vec![0xa8, 3]),
        (0x041e, [&[200, 0, 4], b"0.00".as_slice()].concat()),
        (0x00e0, vec![0, 0, 200, 0]),
        (0x0085, b"\0\0\0\0\0\0\x04\xb1\xed\xb1\xed".to_vec()),
        (0x000a, Vec::new()),
        (0x0809, vec![0, 5, 16, 0]),
        (0x0204, cell(0, 0, 0, b"\x04\x00\xb5\xe7\xbb\xfa")),
        (0x0203, cell(1, 0, 0, &number(-1.5e10))),
        (0x00d6, cell(1, 1, 0, b"\x02\x00ab\x01\x00\x00")),
        (0x000a, Vec::new()),
    ];
    vec![workbook(eight), workbook(five), Input::plain(*include_bytes!("book.xls"))]
}

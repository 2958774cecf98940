#![allow(clippy::unwrap_used)]
use super::*;
use crate::document::package::tests::zipped;

const W: &str = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main' \
    xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships' \
    xmlns:wps='http://schemas.microsoft.com/office/word/2010/wordprocessingShape' xmlns:v='urn:schemas-microsoft-com:vml' \
    xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'";

/// A document whose parts have unusual names, so that only the pointers lead to them.
fn docx(body: &str, parts: &[(&str, &str)]) -> Result<Extracted> {
    let ns = "xmlns='http://schemas.openxmlformats.org/package/2006/relationships'";
    let rels = format!(
        "<Relationships {ns}><Relationship Id='r' Type='t/officeDocument' Target='odd/main.xml'/></Relationships>"
    );
    let mut pointers = format!("<Relationships {ns}>");
    let mut all = vec![
        ("_rels/.rels".to_string(), rels),
        ("odd/main.xml".to_string(), format!("<w:document {W}><w:body>{body}</w:body></w:document>")),
    ];
    for (kind, inner) in parts {
        pointers.push_str(&format!("<Relationship Id='{kind}' Type='t/{kind}' Target='p/{kind}.bin'/>"));
        all.push((format!("odd/p/{kind}.bin"), format!("<w:{kind} {W}>{inner}</w:{kind}>")));
    }
    all.push(("odd/_rels/main.xml.rels".to_string(), pointers + "</Relationships>"));
    let all: Vec<(&str, &str)> = all.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    read(&zipped(&all), &mut Budget::default())
}

fn text(body: &str) -> String {
    docx(body, &[]).unwrap().text
}

fn p(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn headings_carry_their_numbers_by_style_and_articles_stand_before_their_text() {
    let styles = "<w:style w:type='paragraph' w:styleId='2'><w:name w:val='heading 1'/><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr>\
        <w:outlineLvl w:val='0'/></w:pPr></w:style><w:style w:type='paragraph' w:styleId='t'><w:name w:val='章'/><w:basedOn w:val='2'/></w:style>";
    let numbering = "<w:abstractNum w:abstractNumId='7'><w:lvl w:ilvl='0'><w:start w:val='1'/><w:numFmt w:val='chineseCounting'/>\
        <w:lvlText w:val='第%1章'/><w:pStyle w:val='2'/></w:lvl><w:lvl w:ilvl='1'><w:start w:val='1'/><w:numFmt w:val='chineseCounting'/>\
        <w:lvlText w:val='第%2条'/></w:lvl><w:lvl w:ilvl='2'><w:start w:val='1'/><w:numFmt w:val='decimal'/><w:lvlText w:val='（%3）'/></w:lvl>\
        </w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num>";
    let at = |level: u8| format!("<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr>");
    let body = [
        p("<w:pStyle w:val='2'/>", "总则"),
        p(&at(1), "设备应当接地。"),
        p(&at(2), "断电；"),
        p(&at(2), "挂牌。"),
        p("<w:pStyle w:val='t'/>", "操作"),
        p(&at(1), "操作前应当检查。"),
        p("<w:outlineLvl w:val='1'/>", "直接的标题"),
        p("<w:pStyle w:val='2'/><w:numPr><w:numId w:val='0'/></w:numPr>", "附件"),
    ];
    let out = docx(&body.concat(), &[("styles", styles), ("numbering", numbering)]).unwrap();
    let expected = "# 第一章 总则\n\n第一条 设备应当接地。\n\n- （1） 断电；\n- （2） 挂牌。\n\n# 第二章 操作\n\n第一条 操作前应当检查。\n\n\
                    ## 直接的标题\n\n# 附件\n";
    assert_eq!(out.text, expected);
}

#[test]
fn runs_show_what_word_shows() {
    let body = "<w:p><w:r><w:t xml:space='preserve'>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d\u{ad}e</w:t>\
        <w:softHyphen/><w:sym w:font='Symbol' w:char='F06D'/><w:sym w:font='Wingdings 2' w:char='F052'/></w:r>\
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText>\
        </w:r></w:del><w:moveFrom><w:r><w:t>from</w:t></w:r></w:moveFrom><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink>\
        <w:sdt><w:sdtPr><w:alias/></w:sdtPr><w:sdtContent><w:r><w:t>控件</w:t></w:r></w:sdtContent></w:sdt>\
        <w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:fldChar w:fldCharType='separate'/></w:r>\
        <w:r><w:t>7</w:t></w:r><w:r><w:fldChar w:fldCharType='end'/></w:r><w:fldSimple w:instr='DATE'><w:r><w:t>今</w:t></w:r></w:fldSimple>\
        <w:smartTag><w:r><w:t>x</w:t></w:r></w:smartTag></w:p>";
    assert_eq!(text(body), "a b\nc-deμ☑newlink控件7今x\n");
}

#[test]
fn a_deleted_paragraph_end_joins_two_paragraphs() {
    let body = p("<w:rPr><w:del/></w:rPr>", "设备应当") + &p("", "接地。");
    assert_eq!(text(&body), "设备应当接地。\n");
}

#[test]
fn large_pictures_are_named_since_words_in_them_are_not_read() {
    let picture = |cm: u32| {
        format!(
            "<w:p><w:r><w:t>见图</w:t></w:r><w:r><w:drawing><pic:pic xmlns:pic='x' \
             xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'><pic:spPr><a:xfrm>\
             <a:ext cx='{0}' cy='{0}'/></a:xfrm></pic:spPr></pic:pic></w:drawing></w:r></w:p>",
            360_000 * cm
        )
    };
    let out = docx(&(picture(2) + &picture(8) + &picture(9)), &[]).unwrap();
    let named: Vec<(&str, &str)> = out.skipped.iter().map(|part| (&*part.place, &*part.reason)).collect();
    assert_eq!(named, [("2 large picture(s)", PICTURES)]);
}

#[test]
fn text_boxes_are_read_once_and_charts_and_objects_do_not_get_lost() {
    let inner = p("", "框内");
    let body = format!(
        "<w:p><w:r><w:t>外</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx><w:txbxContent>{inner}\
         </w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>{inner}</w:txbxContent>\
         </v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r><w:r><w:object><o:OLEObject ProgID='Visio.Drawing.15' \
         xmlns:o='urn:schemas-microsoft-com:office:office'/></w:object></w:r></w:p>"
    );
    let out = docx(&body, &[]).unwrap();
    assert_eq!(out.text, "外\n\n框内\n");
    assert_eq!(out.skipped.len(), 1);
    assert!(out.skipped.first().unwrap().reason.contains("Visio.Drawing.15"));
}

fn tc(properties: &str, text: &str) -> String {
    format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p("", text))
}

#[test]
fn merged_cells_say_their_value_in_every_row_and_column() {
    let (start, on) = ("<w:vMerge w:val='restart'/>", "<w:vMerge/>");
    let rows = [
        tc("<w:gridSpan w:val='3'/>", "表1 速度"),
        tc(start, "轴") + &tc("<w:gridSpan w:val='2'/>", "速度"),
        tc(on, "") + &tc("", "最小") + &tc("", "最大"),
        tc(start, "X") + &tc("", "1") + &tc("", "5"),
        tc(on, "") + &tc("<w:gridSpan w:val='2'/>", "停"),
        tc("<w:gridSpan w:val='3'/>", "备件"),
    ];
    let rows: String = rows.iter().map(|row| format!("<w:tr>{row}</w:tr>")).collect();
    let expected =
        "表1 速度\n\n| 轴 | 速度 最小 | 速度 最大 |\n| --- | --- | --- |\n| X | 1 | 5 |\n| X | 停 | 停 |\n| 备件 |\n";
    assert_eq!(text(&format!("<w:tbl>{rows}</w:tbl>")), expected);
}

#[test]
fn marked_headers_count_and_frames_and_inner_tables_keep_their_text() {
    let marked = format!(
        "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
        tc("", "1"),
        tc("", "2"),
        tc("", "a"),
        tc("", "b")
    );
    assert_eq!(text(&marked), "| 1 | 2 |\n| --- | --- |\n| a | b |\n");
    let frame = format!("<w:tbl><w:tr><w:tc>{}{marked}</w:tc></w:tr></w:tbl>", p("<w:outlineLvl w:val='0'/>", "框"));
    assert!(text(&frame).starts_with("# 框\n\n| 1 | 2 |"));
    let nested = format!("<w:tbl><w:tr>{}<w:tc>{}{marked}</w:tc></w:tr></w:tbl>", tc("", "外"), p("", "见下"));
    assert_eq!(text(&nested), "| 外 | 见下 |\n\n| 1 | 2 |\n| --- | --- |\n| a | b |\n");
}

#[test]
fn notes_follow_their_paragraph_with_their_mark() {
    let reference =
        |id: u8| format!("<w:p><w:r><w:t>正文</w:t></w:r><w:r><w:footnoteReference w:id='{id}'/></w:r></w:p>");
    let notes = format!(
        "<w:footnote w:id='0'>{}</w:footnote><w:footnote w:id='2'>{}</w:footnote>",
        p("", "分隔"),
        p("", "脚注")
    );
    let settings = "<w:footnotePr><w:numFmt w:val='decimalEnclosedCircle'/></w:footnotePr>";
    let out = docx(&(reference(2) + &p("", "后")), &[("footnotes", &notes), ("settings", settings)]).unwrap();
    assert_eq!(out.text, "正文[①]\n\n[①] 脚注\n\n后\n");
}

#[test]
fn contents_are_no_headings_and_comments_are_counted() {
    let field = |kind: &str| format!("<w:r><w:fldChar w:fldCharType='{kind}'/></w:r>");
    let heading = "<w:pPr><w:outlineLvl w:val='0'/></w:pPr>";
    let body = format!(
        "<w:p>{heading}{}<w:r><w:instrText>TOC \\o</w:instrText></w:r>{}<w:r><w:t>一 1</w:t></w:r></w:p>\
         <w:p>{heading}<w:r><w:t>二 2</w:t></w:r>{}</w:p>{}",
        field("begin"),
        field("separate"),
        field("end"),
        p("<w:outlineLvl w:val='0'/>", "一")
    );
    let out = docx(&body, &[("comments", "<w:comment w:id='0'/>")]).unwrap();
    assert_eq!(out.text, "一 1\n\n二 2\n\n# 一\n");
    assert_eq!(out.skipped.first().unwrap().place, "comments");
}

#[test]
fn numbers_of_notes_and_merged_cells_keep_within_bounds() {
    let settings = "<w:footnotePr><w:numStart w:val='9223372036854775807'/></w:footnotePr>";
    let reference = "<w:p><w:r><w:t>x</w:t></w:r><w:r><w:footnoteReference w:id='1'/></w:r></w:p>";
    assert!(docx(&reference.repeat(3), &[("settings", settings)]).unwrap().text.contains("[9223372036854775807]"));
    let long = "x".repeat(200_000);
    let row = |cell: String| format!("<w:tr>{cell}{}</w:tr>", tc("", "y"));
    let first = row(tc("<w:gridSpan w:val='256'/><w:vMerge w:val='restart'/>", &long));
    let next = row(tc("<w:gridSpan w:val='256'/><w:vMerge/>", ""));
    let far = format!("<w:tr><w:trPr><w:gridBefore w:val='256'/></w:trPr>{}</w:tr>", tc("", "z"));
    let out = text(&format!("<w:tbl>{first}{}{}</w:tbl>", next.repeat(2000), far.repeat(9000)));
    assert!(out.len() < 32 << 20, "{}", out.len());
    assert_eq!((out.matches('y').count(), out.matches('z').count()), (2001, 9000));
}

#[test]
fn no_text_or_a_broken_part_is_said() {
    let error = docx("<w:p><w:r><w:drawing/></w:r></w:p>", &[]).unwrap_err().to_string();
    assert!(error.contains("no text") && error.contains("OCR"), "{error}");
    let out = docx(&p("", "正文"), &[("numbering", "<w:abstractNum>")]).unwrap();
    assert!(out.skipped.first().unwrap().reason.contains("automatic numbers are missing"));
}

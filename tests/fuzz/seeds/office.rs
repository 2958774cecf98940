//! Documents, presentations and books.

use crate::input::Input;

const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

/// A part that points to others: their ids, kinds and places.
pub(crate) fn pointers(to: &[(&str, &str, &str)]) -> String {
    let mut out = format!("<?xml version='1.0'?><Relationships xmlns='{RELATIONSHIPS}'>");
    for (id, kind, target) in to {
        out.push_str(&format!("<Relationship Id='{id}' Type='t/{kind}' Target='{target}'/>"));
    }
    out + "</Relationships>"
}

const PROPERTIES: &str = "<cp:coreProperties xmlns:cp='c' xmlns:dc='http://purl.org/dc/elements/1.1/' \
    xmlns:dcterms='http://purl.org/dc/terms/'><dc:title>泵 手册</dc:title><dcterms:modified>2024-05-01T00:00:00Z</dcterms:modified></cp:coreProperties>";

const CHART: &str = "<c:chartSpace xmlns:c='http://schemas.openxmlformats.org/drawingml/2006/chart' \
    xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>温升</a:t></a:r></a:p></c:rich></c:tx></c:title>\
    <c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>电机</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>\
    <c:pt idx='0'><c:v>1 h</c:v></c:pt><c:pt idx='1'><c:v>2 h</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>\
    <c:pt idx='0'><c:v>40</c:v></c:pt><c:pt idx='1'><c:v>55</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:chart></c:chartSpace>";

const WORD: &str = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main' \
    xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships' \
    xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math' \
    xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main' xmlns:c='http://schemas.openxmlformats.org/drawingml/2006/chart' \
    xmlns:wps='http://schemas.microsoft.com/office/word/2010/wordprocessingShape' xmlns:v='urn:schemas-microsoft-com:vml' \
    xmlns:o='urn:schemas-microsoft-com:office:office' xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'";

fn paragraph(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>{text}</w:t></w:r></w:p>")
}

fn word(body: &str) -> Input {
    let styles = "<w:style w:type='paragraph' w:styleId='2'><w:name w:val='heading 1'/><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr>\
        <w:outlineLvl w:val='0'/></w:pPr></w:style><w:style w:type='paragraph' w:styleId='t'><w:name w:val='章'/><w:basedOn w:val='2'/></w:style>\
        <w:style w:type='character' w:styleId='h'><w:rPr><w:vanish/></w:rPr></w:style>";
    let numbering = "<w:abstractNum w:abstractNumId='7'><w:lvl w:ilvl='0'><w:start w:val='1'/><w:numFmt w:val='chineseCounting'/>\
        <w:lvlText w:val='第%1章'/><w:pStyle w:val='2'/></w:lvl><w:lvl w:ilvl='1'><w:start w:val='1'/><w:numFmt w:val='upperRoman'/>\
        <w:lvlText w:val='%1.%2'/></w:lvl><w:lvl w:ilvl='2'><w:start w:val='1'/><w:numFmt w:val='upperLetter'/><w:lvlText w:val='（%3）'/><w:isLgl/></w:lvl>\
        </w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='7'/><w:lvlOverride w:ilvl='2'><w:startOverride w:val='5'/></w:lvlOverride></w:num>";
    let notes =
        format!("<w:footnote w:id='0'>{0}</w:footnote><w:footnote w:id='2'>{0}</w:footnote>", paragraph("", "脚注"));
    let part = |name: &str, inner: &str| format!("<w:{name} {WORD}>{inner}</w:{name}>");
    let kinds = ["styles", "numbering", "footnotes", "settings", "comments", "chart"];
    let targets: Vec<String> = kinds.iter().map(|kind| format!("{kind}.xml")).collect();
    let to: Vec<(&str, &str, &str)> =
        kinds.iter().zip(&targets).map(|(&kind, target)| (kind, kind, target.as_str())).collect();
    Input::zip(&[
        ("[Content_Types].xml", "<Types/>"),
        (
            "_rels/.rels",
            &pointers(&[("r", "officeDocument", "word/document.xml"), ("p", "core-properties", "docProps/core.xml")]),
        ),
        ("docProps/core.xml", PROPERTIES),
        ("word/document.xml", &format!("<?xml version='1.0'?><w:document {WORD}><w:body>{body}</w:body></w:document>")),
        ("word/_rels/document.xml.rels", &pointers(&to)),
        ("word/styles.xml", &part("styles", styles)),
        ("word/numbering.xml", &part("numbering", numbering)),
        ("word/footnotes.xml", &part("footnotes", &notes)),
        (
            "word/settings.xml",
            &part("settings", "<w:footnotePr><w:numFmt w:val='decimalEnclosedCircle'/></w:footnotePr>"),
        ),
        ("word/comments.xml", &part("comments", "<w:comment w:id='0'/>")),
        ("word/chart.xml", CHART),
    ])
}

pub(crate) fn docx() -> Vec<Input> {
    let at = |level: u8| format!("<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr>");
    let numbered = [
        paragraph("<w:pStyle w:val='2'/>", "总则"),
        paragraph(&at(1), "设备应当接地。"),
        paragraph(&at(2), "断电；"),
        paragraph(&at(2), "挂牌。"),
        paragraph("<w:pStyle w:val='t'/>", "操作"),
        paragraph("<w:outlineLvl w:val='1'/><w:rPr><w:del/></w:rPr>", "直接的标题"),
    ];
    let cell =
        |properties: &str, text: &str| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", paragraph("", text));
    let (start, on) = ("<w:vMerge w:val='restart'/>", "<w:vMerge/>");
    let rows = [
        cell("<w:gridSpan w:val='3'/>", "表1 速度"),
        cell(start, "轴") + &cell("<w:gridSpan w:val='2'/>", "速度"),
        cell(on, "") + &cell("", "最小") + &cell("", "最大"),
        format!("<w:trPr><w:gridBefore w:val='1'/></w:trPr>{}", cell("", "1") + &cell("", "5")),
    ];
    let table: String = rows.iter().map(|row| format!("<w:tr>{row}</w:tr>")).collect();
    let table = format!("<w:tbl>{table}</w:tbl>");
    let nested = format!(
        "<w:tbl><w:tr>{}<w:tc>{}{table}</w:tc></w:tr><w:tr>{}</w:tr></w:tbl>",
        cell("", "外"),
        paragraph("", "见下"),
        cell("", "x")
    );
    let field = |kind: &str| format!("<w:r><w:fldChar w:fldCharType='{kind}'/></w:r>");
    let inline = format!(
        "<w:p><w:r><w:t xml:space='preserve'>a </w:t><w:tab/><w:br/><w:sym w:font='Symbol' w:char='F06D'/></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins>\
         <w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink>{}<w:r><w:instrText>TOC \\o</w:instrText></w:r>{}\
         <w:r><w:t>7</w:t></w:r>{}<w:sdt><w:sdtContent><w:r><w:t>控件</w:t></w:r></w:sdtContent></w:sdt><w:r><w:footnoteReference w:id='2'/></w:r>\
         <m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f><m:rad><m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad></m:oMath></w:p>",
        field("begin"),
        field("separate"),
        field("end")
    );
    let inner = paragraph("", "框内");
    let boxes = format!(
        "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx><w:txbxContent>{inner}</w:txbxContent></wps:txbx></w:drawing></mc:Choice>\
         <mc:Fallback><w:pict><v:textbox><w:txbxContent>{inner}</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>\
         <w:r><w:object><o:OLEObject ProgID='Visio.Drawing.15'/></w:object></w:r><w:r><w:drawing><c:chart r:id='chart'/></w:drawing></w:r></w:p>"
    );
    vec![
        word(&numbered.concat()),
        word(&(table + &inline)),
        word(&(nested + &boxes)),
        word(&(numbered.concat() + &inline + &boxes)),
    ]
}

pub(crate) fn pptx() -> Vec<Input> {
    const NS: &str = "xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main' xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main' \
        xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships' xmlns:c='http://schemas.openxmlformats.org/drawingml/2006/chart'";
    let text =
        |properties: &str, text: &str| format!("<a:p><a:pPr {properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>");
    let shape = |holder: &str, inner: &str| {
        format!("<p:sp><p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:txBody>{inner}</p:txBody></p:sp>")
    };
    let slide = |shapes: &str| format!("<p:sld {NS}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>");
    let list = [
        text(">", "断电"),
        text("lvl='1'>", "挂牌"),
        text("><a:buAutoNum type='arabicParenR' startAt='3'/>", "一步"),
        text("><a:buNone/>", "无"),
    ];
    let first = shape("<p:ph type='title'/>", &text(">", "检修"))
        + &shape("<p:ph type='body'/>", &list.concat())
        + &format!("<p:grpSp><p:nvGrpSpPr/>{}</p:grpSp>", shape("", &text(">", "组内")))
        + &shape("<p:ph type='sldNum'/>", &text(">", "7"));
    let cell = |more: &str, inner: &str| format!("<a:tc {more}><a:txBody>{}</a:txBody></a:tc>", text(">", inner));
    let rows = [
        cell("gridSpan='2'", "轴") + &cell("hMerge='1'", "") + &cell("", "值"),
        cell("rowSpan='2'", "X") + &cell("", "a") + &cell("", "1"),
        cell("vMerge='1'", "") + &cell("", "b") + &cell("", "2"),
    ];
    let rows: String = rows.iter().map(|row| format!("<a:tr>{row}</a:tr>")).collect();
    let second = format!(
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow='1'/>{rows}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>\
         <p:graphicFrame><a:graphic><a:graphicData><c:chart r:id='c'/></a:graphicData></a:graphic></p:graphicFrame><p:pic/>"
    );
    let notes = format!(
        "<p:notes {NS}><p:cSld><p:spTree>{}</p:spTree></p:cSld></p:notes>",
        shape("<p:ph type='body'/>", &text(">", "慢讲"))
    );
    vec![Input::zip(&[
        (
            "_rels/.rels",
            &pointers(&[
                ("r", "officeDocument", "ppt/presentation.xml"),
                ("p", "core-properties", "docProps/core.xml"),
            ]),
        ),
        ("docProps/core.xml", PROPERTIES),
        (
            "ppt/presentation.xml",
            &format!(
                "<p:presentation {NS}><p:sldIdLst><p:sldId id='1' r:id='s1'/><p:sldId id='2' r:id='s2'/></p:sldIdLst></p:presentation>"
            ),
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            &pointers(&[("s1", "slide", "slides/a.xml"), ("s2", "slide", "slides/b.xml")]),
        ),
        ("ppt/slides/a.xml", &slide(&first)),
        ("ppt/slides/b.xml", &slide(&second)),
        ("ppt/slides/_rels/a.xml.rels", &pointers(&[("n", "notesSlide", "../notes.xml")])),
        ("ppt/slides/_rels/b.xml.rels", &pointers(&[("c", "chart", "../chart.xml")])),
        ("ppt/notes.xml", &notes),
        ("ppt/chart.xml", CHART),
    ])]
}

pub(crate) fn epub() -> Vec<Input> {
    let package = "<?xml version='1.0'?><package><metadata xmlns:dc='x'><dc:title>水泵 手册</dc:title><dc:creator>张三</dc:creator><dc:date>2024-05-01</dc:date>\
        <meta property='dcterms:modified'>2024-06-01T00:00:00Z</meta></metadata><manifest><item id='a' href='../a.xhtml' media-type='application/xhtml+xml'/>\
        <item id='b' href='text/b%20c.xhtml' media-type='application/xhtml+xml'/><item id='n' href='nav.xhtml' properties='nav'/>\
        <item id='i' href='i.png' media-type='image/png'/></manifest><spine><itemref idref='n'/><itemref idref='a'/><itemref idref='b'/><itemref idref='i'/>\
        <itemref idref='gone'/></spine></package>";
    vec![Input::zip(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            "<?xml version='1.0'?><container><rootfiles><rootfile full-path='OEBPS/a.opf'/></rootfiles></container>",
        ),
        ("META-INF/encryption.xml", "<encryption><enc:CipherReference URI='OEBPS/e.xhtml'/></encryption>"),
        ("OEBPS/a.opf", package),
        (
            "a.xhtml",
            "<?xml version='1.0'?><html><head><title/></head><body><h1>一</h1><a id='x'/><p>甲</p><table><tr><td>1<td>2<tr><td>3<td>4</table></body></html>",
        ),
        ("OEBPS/text/b c.xhtml", "<html><body><h1>二</h1><p>乙</p><ul><li>丙</li></ul></body></html>"),
    ])]
}

//! Whole files, built here object by object.

#![allow(clippy::unwrap_used)]

use super::*;

/// A PDF of `objects`, numbered from 1; the first is the catalog. Without `index` it has no table of objects.
fn file(objects: &[Vec<u8>], trailer: &str, index: bool) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut offsets = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        out.extend_from_slice(format!("{} 0 obj\n", n + 1).as_bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let start = out.len();
    if index {
        out.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
        for offset in offsets {
            out.extend_from_slice(format!("{offset:010} 00000 n \n").as_bytes());
        }
    }
    let size = objects.len() + 1;
    out.extend_from_slice(
        format!("trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n").as_bytes(),
    );
    out
}

fn stream(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut out = format!("<<{dictionary}/Length {}>>stream\n", data.len()).into_bytes();
    out.extend_from_slice(data);
    out.extend_from_slice(b"\nendstream");
    out
}

/// A file with one page per content stream. Font `F` is object 3, `G` object 4, and `more` follow from object 5.
fn pages(contents: &[&str], fonts: [&str; 2], more: &[Vec<u8>]) -> Vec<u8> {
    let first = 5 + more.len();
    let kids: Vec<String> = (0..contents.len()).map(|n| format!("{} 0 R", first + 2 * n)).collect();
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Count {}/Kids[{}]>>", contents.len(), kids.join(" ")).into_bytes(),
    ];
    objects.extend(fonts.map(|font| font.as_bytes().to_vec()));
    objects.extend_from_slice(more);
    for (n, content) in contents.iter().enumerate() {
        objects.push(
            format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {} 0 R\
                 /Resources<</Font<</F 3 0 R/G 4 0 R>>/XObject<</X 5 0 R>>>>>>",
                first + 2 * n + 1
            )
            .into_bytes(),
        );
        objects.push(stream("", content.as_bytes()));
    }
    file(&objects, "", true)
}

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
const BOLD: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>";

fn simple(contents: &[&str]) -> Extracted {
    read(&pages(contents, [HELVETICA, BOLD], &[]), &mut Budget::default()).unwrap()
}

/// One line of text at a place.
fn line(text: &str, x: u32, y: u32) -> String {
    format!("BT /F 10 Tf {x} {y} Td ({text}) Tj ET\n")
}

#[test]
fn text_is_read_with_headings_pages_and_without_running_lines() {
    let page = |n: u32, body: &str| {
        format!(
            "{}BT /G 16 Tf 50 700 Td ({n} Part) Tj ET\n{}{}{}",
            line("ACME manual", 50, 780),
            line(body, 50, 670),
            line("and checked twice before use.", 50, 657),
            line(&format!("Page {n} of 3"), 280, 20)
        )
    };
    let bodies = ["The pump is to be earthed", "The valve is to be closed", "The drive is to be cooled"];
    let contents: Vec<String> = bodies.iter().zip(1..).map(|(body, n)| page(n, body)).collect();
    let out = simple(&contents.iter().map(String::as_str).collect::<Vec<_>>());
    let expected: String = bodies
        .iter()
        .zip(1..)
        .map(|(body, n)| format!("# {n} Part\n\n{body} and checked twice before use.\n"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(out.text, expected);
    assert_eq!(out.pages.iter().map(|page| page.label.as_str()).collect::<Vec<_>>(), ["1", "2", "3"]);
    assert!(out.skipped.is_empty());
}

fn composite(encoding: &str, ordering: &str) -> String {
    format!(
        "<</Type/Font/Subtype/Type0/BaseFont/SimSun/Encoding/{encoding}/DescendantFonts[<</Type/Font\
         /Subtype/CIDFontType2/BaseFont/SimSun/CIDSystemInfo<</Registry(Adobe)/Ordering({ordering})/Supplement 0>>>>]>>"
    )
}

#[test]
fn chinese_fonts_without_a_unicode_map_are_read() {
    for (encoding, ordering, hex) in [
        ("GBK-EUC-H", "GB1", "b5e7bbfa4531"),
        ("GB-EUC-H", "GB1", "b5e7bbfa4531"),
        ("GBKp-EUC-H", "GB1", "b5e7bbfa4531"),
        ("GBK2K-H", "GB1", "b5e7bbfa4531"),
        ("UniGB-UCS2-H", "GB1", "7535673a00450031"),
        ("UniGB-UTF16-H", "GB1", "7535673a00450031"),
        ("Identity-H", "GB1", "05c8080f00260012"),
        ("UniCNS-UCS2-H", "CNS1", "7535673a00450031"),
        ("ETen-B5-H", "CNS1", "b971beF74531"),
    ] {
        let font = composite(encoding, ordering);
        let content = format!("BT /F 10 Tf 50 700 Td <{hex}> Tj ET");
        let out = read(&pages(&[&content], [&font, BOLD], &[]), &mut Budget::default()).unwrap();
        let expected = if encoding == "ETen-B5-H" { "電機E1" } else { "电机E1" };
        assert_eq!((out.text.trim(), out.skipped.len()), (expected, 0), "{encoding}");
    }
}

#[test]
fn characters_that_mean_nothing_are_counted_and_never_guessed() {
    let font = composite("Identity-H", "Identity");
    let content = format!("BT /F 10 Tf 50 700 Td <00410042> Tj ET {}", "BT /G 10 Tf 50 600 Td (known) Tj ET");
    let out = read(&pages(&[&content], [&font, BOLD], &[]), &mut Budget::default()).unwrap();
    assert_eq!(out.text, "known\n");
    assert_eq!(out.skipped[0].place, "page 1");
    assert!(out.skipped[0].reason.starts_with("2 characters of the font SimSun"), "{:?}", out.skipped);
}

#[test]
fn unicode_maps_differences_and_ligatures_are_followed() {
    let map = b"1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfchar <41> <00660066> <42> <2f42> endbfchar";
    let mapped = "<</Type/Font/Subtype/Type1/BaseFont/Some/ToUnicode 5 0 R>>";
    let named = "<</Type/Font/Subtype/Type1/BaseFont/Some/Encoding<</Differences[65/fi/uni6CF5/Omega]>>>>";
    let content = "BT /F 10 Tf 50 700 Td (AB) Tj /G 10 Tf 0 -30 Td (ABC) Tj ET";
    let out = read(&pages(&[content], [mapped, named], &[stream("", map)]), &mut Budget::default()).unwrap();
    assert_eq!(out.text, "ff文\n\nfi泵Ω\n");
}

#[test]
fn forms_are_entered_and_circles_of_them_end() {
    let form = stream(
        "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Matrix[1 0 0 1 0 -100]/Resources<</Font<</F 3 0 R>>/XObject<</X 5 0 R>>>>",
        b"BT /F 10 Tf 50 700 Td (inside) Tj ET /X Do",
    );
    let out = read(&pages(&["/X Do"], [HELVETICA, BOLD], &[form]), &mut Budget::default()).unwrap();
    assert!(out.text.starts_with("inside\n"));
}

#[test]
fn actual_text_replaces_what_is_drawn() {
    let content = "BT /F 10 Tf 50 700 Td /Span <</ActualText (spelled)>> BDC (sp3113d) Tj EMC ( out) Tj ET";
    assert_eq!(simple(&[content]).text, "spelled out\n");
}

#[test]
fn a_page_without_a_text_layer_is_named_and_a_file_of_them_is_an_error() {
    let image = stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", b"x");
    let text = line("text", 50, 700);
    let bytes = pages(&[&text, "/X Do"], [HELVETICA, BOLD], std::slice::from_ref(&image));
    let out = read(&bytes, &mut Budget::default()).unwrap();
    assert_eq!(
        out.skipped,
        [crate::document::Skipped { place: "page 2".into(), reason: "only an image: no text layer".into() }]
    );
    let error = read(&pages(&["/X Do"], [HELVETICA, BOLD], &[image]), &mut Budget::default()).unwrap_err();
    assert!(error.to_string().contains("no text layer") && error.to_string().contains("OCR"));
}

#[test]
fn pages_with_large_pictures_are_named_since_words_in_them_are_not_read() {
    let image = stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", b"x");
    let text = line("text", 50, 700);
    let with = |size: &str| format!("{text} q {size} 50 300 cm /X Do Q");
    let (logo, table) = (with("100 0 0 60"), with("500 0 0 100"));
    let scan = format!("{text} q 600 0 0 800 0 0 cm /X Do Q");
    let bytes = pages(&[&table, &logo, &table, &table, &scan], [HELVETICA, BOLD], std::slice::from_ref(&image));
    let out = read(&bytes, &mut Budget::default()).unwrap();
    let named: Vec<(&str, &str)> = out.skipped.iter().map(|part| (&*part.place, &*part.reason)).collect();
    assert_eq!(named, [("pages 1, 3–4", "pictures: words in them are not read")]);
}

#[test]
fn a_lost_table_of_objects_is_rebuilt_and_a_cut_is_named() {
    let whole = pages(&[&line("still here", 50, 700)], [HELVETICA, BOLD], &[]);
    let table = whole.windows(5).position(|w| w == b"xref\n").unwrap();
    let out = read(&whole[..table], &mut Budget::default()).unwrap();
    assert_eq!(out.text, "still here\n");
    assert!(out.skipped.iter().any(|part| part.place == "the file" && part.reason.contains("cut off")));
    let error = read(b"%PDF-1.4\nnothing", &mut Budget::default()).unwrap_err();
    assert!(error.to_string().contains("not a readable PDF"), "{error}");
}

#[test]
fn a_damaged_content_stream_is_named() {
    use std::io::Write;
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all((line("first", 50, 700) + &line("second", 50, 600)).as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let objects = |data: &[u8]| {
        vec![
            b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
            b"<</Type/Pages/Count 1/Kids[3 0 R]>>".to_vec(),
            format!("<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F {HELVETICA}>>>>>>").into_bytes(),
            stream("/Filter/FlateDecode", data),
        ]
    };
    let out = read(&file(&objects(&packed), "", true), &mut Budget::default()).unwrap();
    assert_eq!((out.text.as_str(), out.skipped.len()), ("first\n\nsecond\n", 0));
    let out = read(&file(&objects(&packed[..packed.len() - 12]), "", true), &mut Budget::default()).unwrap();
    assert_eq!(out.skipped.first().map(|part| part.reason.as_str()), Some("part of the content is damaged"));
}

#[test]
fn title_date_labels_and_outline_are_taken_from_the_file() {
    let objects = [
        "<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R/PageLabels<</Nums[0<</S/r/St 3>>]>>>>".to_string(),
        "<</Type/Pages/Count 1/Kids[3 0 R]>>".into(),
        format!("<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F {HELVETICA}>>>>>>"),
        String::new(),
        "<</Title(Wiring)/Parent 6 0 R/Dest[3 0 R/Fit]>>".into(),
        "<</First 5 0 R/Last 5 0 R>>".into(),
        "<</Title<FEFF624B518C>/ModDate(D:20240203040506Z)/Author(Li)>>".into(),
    ];
    let mut objects: Vec<Vec<u8>> = objects.into_iter().map(String::into_bytes).collect();
    objects[3] = stream("", (line("Wiring", 50, 700) + &line("Connect the wires as shown.", 50, 670)).as_bytes());
    let out = read(&file(&objects, "/Info 7 0 R", true), &mut Budget::default()).unwrap();
    assert_eq!(out.text, "# Wiring\n\nConnect the wires as shown.\n");
    assert_eq!((out.title.as_deref(), out.pages[0].label.as_str()), (Some("手册"), "iii"));
    assert_eq!(out.metadata, [("date".into(), "2024-02-03".into()), ("author".into(), "Li".into())]);
}

#[test]
fn ruled_cells_are_a_table_and_a_frame_around_text_is_none() {
    let mut content = String::from("0.5 w\n");
    for y in [700, 680, 660] {
        content += &format!("50 {y} m 350 {y} l S\n");
    }
    for x in [50, 150, 350] {
        content += &format!("{x} 660 m {x} 700 l S\n");
    }
    content += &(line("Code", 55, 686) + &line("Meaning", 155, 686));
    content += &(line("E01", 55, 666) + &line("too hot", 155, 666));
    content += "40 560 300 60 re S\n";
    content += &line("a note in a frame", 60, 590);
    let out = simple(&[&content]);
    assert_eq!(out.text, "| Code | Meaning |\n| --- | --- |\n| E01 | too hot |\n\na note in a frame\n");
}

#[test]
fn a_password_is_named_as_the_reason() {
    let objects: Vec<Vec<u8>> = [
        "<</Type/Catalog/Pages 2 0 R>>".to_string(),
        "<</Type/Pages/Count 1/Kids[3 0 R]>>".into(),
        "<</Type/Page/Parent 2 0 R>>".into(),
        format!("<</Filter/Standard/V 1/R 2/P -4/O<{}>/U<{}>>>", "11".repeat(32), "22".repeat(32)),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect();
    let error = read(&file(&objects, "/Encrypt 4 0 R/ID[<00><00>]", true), &mut Budget::default()).unwrap_err();
    assert!(error.to_string().contains("protected by a password") && error.to_string().contains("hint"), "{error}");
}

#[test]
fn a_small_budget_ends_the_reading() {
    let bytes = pages(&[&line("text", 50, 700)], [HELVETICA, BOLD], &[]);
    let mut budget = Budget::new(std::time::Duration::from_secs(60), 100);
    assert!(read(&bytes, &mut budget).unwrap_err().to_string().contains("unpacks to too much"));
}

#[test]
fn rows_that_no_page_has_are_damage_of_their_stream() {
    let rest = line("rest", 50, 700);
    for parameters in ["/Predictor 12/Colors 9/BitsPerComponent 99", "/Predictor 2/BitsPerComponent 16/Columns 0"] {
        for around in [["<<", ">>"], ["[null<<", ">>]"]] {
            let [open, close] = around;
            let objects = vec![
                b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
                b"<</Type/Pages/Count 1/Kids[3 0 R]>>".to_vec(),
                format!("<</Type/Page/Parent 2 0 R/Contents[4 0 R 5 0 R]/Resources<</Font<</F {HELVETICA}>>>>>>")
                    .into_bytes(),
                stream(
                    &format!("/Filter[/ASCIIHexDecode/LZWDecode]/DecodeParms{open}{parameters}{close}"),
                    b"800b6050220c0c8501>",
                ),
                stream("", rest.as_bytes()),
            ];
            let out = read(&file(&objects, "", true), &mut Budget::default()).unwrap();
            assert_eq!(out.text, "rest\n");
            let is_single = open == "<<";
            // Parameters that are no list do not count for a list of filters.
            assert!(is_single || !out.skipped.is_empty(), "{:?}", out.skipped);
        }
    }
}

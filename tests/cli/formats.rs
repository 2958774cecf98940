//! Documents that are no text files, through the program: what is read, what is refused, and what ranges count in.

use std::fs;
use std::io::Write;

use serde_json::Value;

use super::support::{Home, Run};

/// A PDF of one page for each text, in a font that every reader knows.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (n, text) in pages.iter().enumerate() {
        let drawn = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * n
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()));
    }
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", n + 1).into_bytes());
    }
    let start = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).into_bytes());
    for offset in offsets {
        file.extend(format!("{offset:010} 00000 n \n").into_bytes());
    }
    let trailer = format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1);
    file.extend(trailer.into_bytes());
    file
}

fn docx(paragraphs: &[(&str, &str)]) -> Vec<u8> {
    let body: String = paragraphs
        .iter()
        .map(|(style, text)| {
            format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
        })
        .collect();
    let word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let parts = [
        (
            "[Content_Types].xml",
            format!(
                "<Types xmlns=\"{package}/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/></Types>"
            ),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{package}/relationships\"><Relationship Id=\"r1\" Type=\"{office}/officeDocument\" Target=\"word/document.xml\"/></Relationships>"
            ),
        ),
        ("word/document.xml", format!("<w:document xmlns:w=\"{word}\"><w:body>{body}</w:body></w:document>")),
        (
            "word/_rels/document.xml.rels",
            format!(
                "<Relationships xmlns=\"{package}/relationships\"><Relationship Id=\"r1\" Type=\"{office}/styles\" Target=\"styles.xml\"/></Relationships>"
            ),
        ),
        (
            "word/styles.xml",
            format!(
                "<w:styles xmlns:w=\"{word}\"><w:style w:type=\"paragraph\" w:styleId=\"H\"><w:name w:val=\"heading 1\"/><w:pPr><w:outlineLvl w:val=\"0\"/></w:pPr></w:style></w:styles>"
            ),
        ),
    ];
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in parts {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn run(home: &Home, args: &[&str]) -> Run {
    Run::of(home.mingti().args(args))
}

fn documents() -> Home {
    let home = Home::new();
    let put = |name: &str, bytes: &[u8]| {
        fs::create_dir_all(home.docs()).unwrap();
        fs::write(home.docs().join(name), bytes).unwrap();
    };
    put(
        "press.pdf",
        &pdf(&["The press stands on concrete.", "The main valve opens at 16 bar.", "Grease the spindle weekly."]),
    );
    put(
        "规程.docx",
        &docx(&[
            ("H", "第一章 总则"),
            ("N", "操作人员应当持证上岗。"),
            ("H", "第二章 停机"),
            ("N", "停机前应当卸压至零。"),
        ]),
    );
    put("alarms.csv", "代码,含义,处理\nE-101,油温过高,检查冷却器\nE-102,油位过低,补充液压油\n".as_bytes());
    put("page.html", "<html><head><meta charset=utf-8><title>泵站</title></head><body><h2>泄漏</h2><p>发现泄漏时应立即关闭三号阀。</p></body></html>".as_bytes());
    put("old.rtf", b"{\\rtf1\\ansi The guard is closed.}");
    put("empty.pdf", b"%PDF-1.4\nno objects at all");
    home
}

#[test]
fn documents_of_every_kind_are_found_with_their_pages_and_ranges_count_in_the_extracted_text() {
    let home = documents();
    let said = home.index_docs().ends(2).stderr;
    let reminder = said.split("not in the index:").nth(1).unwrap();
    assert!(reminder.contains("old.rtf") && reminder.contains("empty.pdf"), "{said}");
    for (query, path, page, words) in [
        ("at how many bar does the main valve open", "press.pdf", Some("2"), "16 bar"),
        ("停机前要做什么", "规程.docx", None, "卸压至零"),
        ("E-102", "alarms.csv", None, "油位过低"),
        ("发现泄漏怎么办", "page.html", None, "三号阀"),
    ] {
        let response = home.search(&[query, "--json"]).ends(0).object();
        let first = &response["results"][0];
        assert_eq!(first["document"]["path"], path, "{query}");
        // The section begins on the first page, the answer stands on the second.
        assert_eq!(first.get("page").and_then(Value::as_str), page, "{query}");
        assert_eq!(first["section"].get("page").and_then(Value::as_str), page.map(|_| "1"), "{query}");
        let text = first["text"].as_str().unwrap();
        assert!(text.contains(words), "{text}");
        let whole = run(&home, &["status", "--text", path]).ends(0).stdout;
        let range = |value: &Value| value[0].as_u64().unwrap() as usize..value[1].as_u64().unwrap() as usize;
        let slice =
            |range: std::ops::Range<usize>| whole.chars().skip(range.start).take(range.len()).collect::<String>();
        assert_eq!(slice(range(&first["text_range"])), text);
        let marked: String = first["highlights"].as_array().unwrap().iter().map(|h| slice(range(h))).collect();
        assert!(marked.contains(words), "{marked}");
    }
    // What is unchanged is not read again, what failed is told again.
    let again = Run::of(home.indexing(&[&home.docs()]).arg("--json")).ends(2).stdout;
    let last: Value = serde_json::from_str(again.lines().last().unwrap()).unwrap();
    assert_eq!((&last["unchanged"], &last["changed"], &last["failed"]), (&4.into(), &0.into(), &2.into()));
    let named: Vec<&str> =
        last["not_indexed"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(named, ["empty.pdf", "old.rtf"]);
    assert!(last["not_indexed"][1]["error"].as_str().unwrap().contains("hint: "));
}

#[test]
fn pieces_of_every_splitter_tile_the_text_and_windows_overlap_as_asked() {
    let home = documents();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/heads");
    let long = "主轴每周加油一次。油位应当在两线之间。".repeat(40);
    fs::write(home.docs().join("long.md"), format!("# 主轴\n\n{long}\n\n# 液压\n\n{long}\n")).unwrap();
    let path = home.docs().join("long.md");
    let path = path.to_str().unwrap();
    let nsp = format!("{model}/nsp");
    let cross = format!("{model}/cross_segment");
    let sequence = format!("{model}/document_segmentation");
    let whole: String = fs::read_to_string(path).unwrap();
    let splitters: [&[&str]; 7] = [
        &["headings"],
        &["fixed", "--split-size", "100"],
        &["recursive", "--split-size", "200"],
        &["semantic"],
        &["nsp", "--split-model", &nsp],
        &["cross-segment", "--split-model", &cross],
        &["seqmodel", "--split-model", &sequence],
    ];
    for splitter in splitters {
        let args = [&["split", path, "--json", "--split"], splitter].concat();
        let out = run(&home, &args).ends(0).stdout;
        let pieces: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let text: String = pieces.iter().map(|piece| piece["text"].as_str().unwrap()).collect();
        assert!(text == whole && pieces.len() > 1, "{splitter:?}: {} pieces", pieces.len());
    }
    let out = run(&home, &["split", path, "--json", "--split", "fixed", "--split-size", "100", "--overlap", "30"]);
    let second: Value = serde_json::from_str(out.ends(0).stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["range"], serde_json::json!([70, 170]));
    let missing = run(&home, &["split", path, "--split", "nsp"]).ends(2).stderr;
    assert!(missing.contains("--split-model"), "{missing}");
    let docs = home.docs();
    let scored = run(&home, &["eval", "split", docs.to_str().unwrap(), "--split", "recursive", "--json"]).stdout;
    let scored: Value = serde_json::from_str(&scored).unwrap();
    assert!((0.0..=1.0).contains(&scored["pk"].as_f64().unwrap()) && scored["documents"].as_u64().unwrap() >= 5);
}

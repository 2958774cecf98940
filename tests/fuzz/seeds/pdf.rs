//! PDF files.

use crate::input::{Input, Packing, Part, Role};
use crate::pack::deflated;

/// A PDF file object by object, the catalog first.
struct File(Vec<Part>);

impl File {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn object(mut self, value: &str) -> Self {
        self.0.push(Part { role: Role::Object, bytes: value.as_bytes().to_vec() });
        self
    }

    fn stream(self, dictionary: &str, data: impl Into<Vec<u8>>) -> Self {
        let mut file = self.object(&format!("<<{dictionary}>>"));
        file.0.push(Part { role: Role::Stream, bytes: data.into() });
        file
    }

    fn done(mut self, trailer: &str) -> Input {
        self.0.push(Part { role: Role::Trailer, bytes: format!("/Root 1 0 R{trailer}").into_bytes() });
        Input { packing: Packing::Pdf, parts: self.0 }
    }
}

const PACKED: &str = "/Filter/FlateDecode";
const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
const BOLD: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>";

/// A page whose contents are the object `contents`, with the fonts `F` and `G`, objects 3 and 4, and the form `X`, object 5.
fn page(contents: usize, more: &str) -> String {
    format!(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {contents} 0 R/Resources<</Font<</F 3 0 R/G 4 0 R>>/XObject<</X 5 0 R>>>>{more}>>"
    )
}

fn line(text: &str, x: u32, y: u32) -> String {
    format!("BT /F 10 Tf {x} {y} Td ({text}) Tj ET\n")
}

/// Headings, running lines, a table with rules, an outline, labels of pages, a title.
fn manual() -> Input {
    let body = |n: usize| {
        format!(
            "{}BT /G 16 Tf 50 700 Td ({n} Part) Tj ET\n{}{}{}",
            line("ACME manual", 50, 780),
            line("The pump is to be earthed", 50, 670),
            line("and checked twice before use.", 50, 657),
            line(&format!("Page {n} of 3"), 280, 20)
        )
    };
    let mut table = String::from("0.5 w\n");
    for y in [600, 580, 560] {
        table += &format!("50 {y} m 350 {y} l S\n");
    }
    for x in [50, 150, 350] {
        table += &format!("{x} 560 m {x} 600 l S\n");
    }
    table += &(line("Code", 55, 586) + &line("Meaning", 155, 586) + &line("E01", 55, 566) + &line("too hot", 155, 566));
    File::new()
        .object("<</Type/Catalog/Pages 2 0 R/Outlines 12 0 R/PageLabels<</Nums[0<</S/r/St 3>>1<</S/D/P(A-)>>]>>>>")
        .object("<</Type/Pages/Count 3/Kids[6 0 R 8 0 R 10 0 R]>>")
        .object(HELVETICA)
        .object(BOLD)
        .stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", "")
        .object(&page(7, ""))
        .stream(PACKED, body(1) + &table)
        .object(&page(9, "/Rotate 90"))
        .stream("", body(2))
        .object(&page(11, "/CropBox[0 0 600 790]"))
        .stream(PACKED, body(3))
        .object("<</First 13 0 R/Last 14 0 R/Count 2>>")
        .object("<</Title(1 Part)/Parent 12 0 R/Next 14 0 R/Dest[6 0 R/XYZ 0 700 0]>>")
        .object("<</Title<FEFF624B518C>/Parent 12 0 R/Prev 13 0 R/A<</S/GoTo/D[8 0 R/Fit]>>>>")
        .object("<</Title<FEFF624B518C>/ModDate(D:20240203040506Z)/Author(Li)>>")
        .done("/Info 15 0 R")
}

/// One page with two fonts, an object `X` and more objects from 8 on.
fn single(fonts: [&str; 2], form: (&str, &str), contents: &str, more: &[(&str, &[u8])]) -> Input {
    let mut file = File::new()
        .object("<</Type/Catalog/Pages 2 0 R>>")
        .object("<</Type/Pages/Count 1/Kids[6 0 R]>>")
        .object(fonts[0])
        .object(fonts[1])
        .stream(form.0, form.1)
        .object(&page(7, ""))
        .stream(PACKED, contents);
    for (dictionary, data) in more {
        file = file.stream(dictionary, *data);
    }
    file.done("")
}

fn composite(encoding: &str, ordering: &str, more: &str) -> String {
    format!(
        "<</Type/Font/Subtype/Type0/BaseFont/SimSun/Encoding/{encoding}/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/SimSun\
         /CIDSystemInfo<</Registry(Adobe)/Ordering({ordering})/Supplement 0>>/W[0[500 600]5 9 700]{more}>>]>>"
    )
}

/// A file with a cross-reference stream and an object stream, as newer programs write.
fn compressed() -> Input {
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        &page(5, "").replace("3 0 R", "4 0 R"),
        HELVETICA,
    ];
    let (mut index, mut values) = (String::new(), String::new());
    for (n, object) in objects.iter().enumerate() {
        index += &format!("{} {} ", n + 1, values.len());
        values += object;
        values.push(' ');
    }
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    let packed = deflated((index.clone() + &values).as_bytes());
    let contents = line("in streams", 50, 700).into_bytes();
    for (number, dictionary, data) in
        [(5, String::new(), contents), (6, format!("/Type/ObjStm/N 4/First {}{PACKED}", index.len()), packed)]
    {
        places.push(out.len() as u32);
        out.extend(format!("{number} 0 obj<<{dictionary}/Length {}>>stream\n", data.len()).bytes());
        out.extend(data);
        out.extend(b"\nendstream endobj\n");
    }
    let start = out.len() as u32;
    let mut table = vec![0, 0, 0, 0, 0, 0, 0];
    (0..4u8).for_each(|n| table.extend([2, 0, 0, 0, 6, 0, n]));
    for place in [places[0], places[1], start] {
        table.push(1);
        table.extend(place.to_be_bytes());
        table.extend([0, 0]);
    }
    out.extend(format!("7 0 obj<</Type/XRef/Size 8/W[1 4 2]/Root 1 0 R/Length {}>>stream\n", table.len()).bytes());
    out.extend(table);
    out.extend(format!("\nendstream endobj\nstartxref\n{start}\n%%EOF\n").bytes());
    Input::plain(out)
}

pub(crate) fn files() -> Vec<Input> {
    let none = ("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", "x");
    let form = (
        "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Matrix[1 0 0 1 0 -100]/Resources<</Font<</F 3 0 R>>/XObject<</X 5 0 R>>>>",
        "BT /F 10 Tf 50 700 Td (inside) Tj ET /X Do",
    );
    let map = b"/CIDInit /ProcSet findresource begin 1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfchar <41> <00660066> <42> <2f42> endbfchar \
        2 beginbfrange <43> <45> <0041> <46> <47> [<0061> <0062>] endbfrange endcmap";
    let cmap = b"/WMode 1 def 1 begincodespacerange <0000> <ffff> endcodespacerange 1 begincidrange <0000> <ffff> 0 endcidrange 1 begincidchar <0041> 5 endcidchar";
    let mapped = "<</Type/Font/Subtype/Type1/BaseFont/Some/FirstChar 65/Widths[500 600 700]/ToUnicode 8 0 R>>";
    let named = "<</Type/Font/Subtype/Type1/BaseFont/Some/Encoding<</BaseEncoding/MacRomanEncoding/Differences[65/fi/uni6CF5/Omega/g17]>>>>";
    let embedded = "<</Type/Font/Subtype/TrueType/BaseFont/M/FontDescriptor<</Flags 4/FontFile2 8 0 R>>>>";
    let compact = "<</Type/Font/Subtype/Type1/BaseFont/M/FontDescriptor<</Flags 4/FontFile3 9 0 R>>>>";
    let drawn = "<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[0.1 0 0 0.1 0 0]/CharProcs<</a 8 0 R>>/Encoding<</Differences[65/a]>>/FirstChar 65/LastChar 65/Widths[9]>>";
    let with_program =
        composite("Identity-H", "Identity", "/FontDescriptor<</Flags 4/FontFile2 8 0 R>>/CIDToGIDMap/Identity");
    let with_cmap = composite("X", "Japan1", "").replace("/Encoding/X", "/Encoding 8 0 R");
    let font = include_bytes!("font.ttf");
    let two = "BT /F 10 Tf 50 700 Td (ABC) Tj /G 12 Tf 0 -30 Td [(AB) -300 (C)] TJ T* <00010002> ' ET";
    let hex = "BT /F 10 Tf 50 700 Td <b5e7bbfa4531> Tj /G 10 Tf 0 -30 Td <7535673a00450031> Tj ET";
    let marked = "q 1 0 0 1 5 5 cm BT /F 10 Tf 50 700 Td /Span <</ActualText (spelled)>> BDC (sp3113d) Tj EMC ( out) Tj 2 Tr (x) Tj ET Q /X Do BI /W 1 /H 1 /BPC 8 /CS /G ID x EI \
        BT 0 1 -1 0 300 300 Tm (up) Tj 50 Tz 3 Tc 2 Tw 9 TL (wide) ' 1 1 (a) \" ET 40 560 300 60 re f";
    let text = line("filtered", 50, 700);
    let hexed: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let run = [&[text.len() as u8 - 1], text.as_bytes(), &[128]].concat();
    let filtered = File::new()
        .object("<</Type/Catalog/Pages 2 0 R>>")
        .object("<</Type/Pages/Count 1/Kids[6 0 R]>>")
        .object(HELVETICA)
        .object(BOLD)
        .stream(form.0, form.1)
        .object(&page(7, "").replace("7 0 R", "[7 0 R 8 0 R 9 0 R 10 0 R]"))
        .stream("/Filter/ASCIIHexDecode", hexed + ">")
        .stream("/Filter[/RunLengthDecode]", run)
        .stream(
            "/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 4>>",
            "\0BT /\0F 9 \0Tf 5\x000 60\0 Td \0(p) \0Tj E\0T   ",
        )
        .stream("/Filter/LZWDecode", *b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01")
        .done("");
    vec![
        manual(),
        single([HELVETICA, BOLD], form, marked, &[]),
        single([&composite("GBK-EUC-H", "GB1", ""), &composite("UniGB-UCS2-H", "GB1", "/DW 900")], none, hex, &[]),
        single(
            [&composite("Identity-H", "GB1", ""), &composite("UniJIS-UTF16-V", "Japan1", "/DW2[880 -1000]")],
            none,
            hex,
            &[],
        ),
        single([mapped, named], none, two, &[("", map)]),
        single([embedded, compact], none, two, &[(PACKED, font), ("/Subtype/Type1C", include_bytes!("font.cff"))]),
        single([&with_program, &with_cmap], none, two, &[(PACKED, font)]),
        single([&with_cmap, &with_program], none, two, &[("/Type/CMap/CMapName/X", cmap)]),
        single([drawn, HELVETICA], none, two, &[("", b"9 0 d0 0 0 9 9 re f")]),
        filtered,
        compressed(),
        Input::plain(*include_bytes!("plain.pdf")),
        Input::plain(*include_bytes!("locked.pdf")),
    ]
}

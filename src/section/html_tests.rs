//! HTML inside Markdown, piece by piece.

use crate::document::Format;
use crate::section::blocks::Block::{self, *};
use crate::section::blocks::pieces;

fn read(text: &str) -> Vec<(Block, &str)> {
    pieces(text, Format::Markdown).into_iter().map(|p| (p.block, &text[p.start..p.end])).collect()
}

#[test]
fn rows_of_a_table_are_rows() {
    let text = "<table border=\"1\">\n<caption>报警</caption>\n  <thead><tr><th>码</th><th>含义</th></tr></thead>\n  <tr>\n    <td>5011</td>\n\n    <td>过热；停机。</td>\n  </tr>\n\n  <TR><td>5012<td>x = f(1)\n  <tr><td></td></tr>\n</table>后文。\n";
    let expected = [
        (Verbatim, "<table border=\"1\">"),
        (Verbatim, "<caption>"),
        (Prose, "报警"),
        (Verbatim, "</caption>"),
        (Verbatim, "<thead>"),
        (Row, "<tr><th>码</th><th>含义</th></tr>"),
        (Verbatim, "</thead>"),
        (Row, "<tr>\n    <td>5011</td>\n\n    <td>过热；停机。</td>\n  </tr>"),
        (Row, "<TR><td>5012<td>x = f(1)"),
        (Verbatim, "<tr><td></td></tr>"),
        (Verbatim, "</table>"),
        (Prose, "后文。"),
    ];
    assert_eq!(read(text), expected);
    // A section may begin inside of a table.
    let from = text.find("<TR>").unwrap_or(0);
    assert_eq!(read(&text[from..])[0], (Row, "<TR><td>5012<td>x = f(1)"));
}

#[test]
fn blocks_of_markdown_in_a_cell_are_read_as_such() {
    let text = "<table><tr><td>\n\n```rust\nlet a = 1;\n```\n\n</td><td>\n\n停机。\n\n</td></tr></table>\n";
    let expected = [
        (Verbatim, "<table>"),
        (Verbatim, "<tr><td>"),
        (Verbatim, "```rust\nlet a = 1;\n```"),
        (Verbatim, "</td><td>"),
        (Prose, "停机。"),
        (Verbatim, "</td></tr></table>"),
    ];
    assert_eq!(read(text), expected);
}

#[test]
fn tags_that_part_text_stand_apart_from_it() {
    for (text, expected) in [
        (
            "<p align=\"center\"><b>高压危险。先验电。</b></p>\n",
            &[
                (Verbatim, "<p align=\"center\"><b>"),
                (Prose, "高压危险。"),
                (Prose, "先验电。"),
                (Verbatim, "</b></p>"),
            ][..],
        ),
        (
            "<details>\n<summary>展开</summary>\n说明一行\n接着写完。\n</details>\n",
            &[
                (Verbatim, "<details>"),
                (Verbatim, "<summary>"),
                (Prose, "展开"),
                (Verbatim, "</summary>"),
                (Prose, "说明一行\n接着写完。"),
                (Verbatim, "</details>"),
            ],
        ),
        (
            "现象：不转<br>原因：断线，<br/>\n端子松动\n",
            &[(Prose, "现象：不转"), (Verbatim, "<br>"), (Prose, "原因：断线，<br/>\n端子松动")],
        ),
        (
            "<ul>\n  <li>断电</li>\n  <li>验电后挂牌，然后作业。</li>\n</ul>\n",
            &[
                (Verbatim, "<ul>"),
                (Verbatim, "<li>"),
                (Item, "断电"),
                (Verbatim, "</li>"),
                (Verbatim, "<li>"),
                (Prose, "验电后挂牌，然后作业。"),
                (Verbatim, "</li>"),
                (Verbatim, "</ul>"),
            ],
        ),
        (
            "<dl>\n<dt>限值</dt>\n<dd>5 A</dd>\n<dt>周期</dt><dd>10 s</dd>\n</dl>\n",
            &[
                (Verbatim, "<dl>"),
                (Verbatim, "<dt>"),
                (Prose, "限值</dt>\n<dd>5 A</dd>"),
                (Verbatim, "<dt>"),
                (Prose, "周期</dt><dd>10 s</dd>"),
                (Verbatim, "</dl>"),
            ],
        ),
        ("> <p>引用。</p>\n", &[(Verbatim, "> <p>"), (Prose, "引用。"), (Verbatim, "</p>")]),
        ("按 <kbd>Ctrl</kbd> 键，H<sub>2</sub>O。\n", &[(Prose, "按 <kbd>Ctrl</kbd> 键，H<sub>2</sub>O。")]),
        ("将 <value> 设为 <p> 或 `<br>`。\n", &[(Prose, "将 <value> 设为 <p> 或 `<br>`。")]),
        ("<a\n  href=\"x\"\n>链接</a>说明。\n", &[(Prose, "<a\n  href=\"x\"\n>链接</a>说明。")]),
        ("- a `<p>`\n- `<b x>`\n- \\<b c>\n", &[(Item, "- a `<p>`"), (Item, "- `<b x>`"), (Item, "- \\<b c>")]),
        (
            "<p><code>a</code>、<b>b</b>。</p>\n",
            &[(Verbatim, "<p>"), (Prose, "<code>a</code>、<b>b</b>。"), (Verbatim, "</p>")],
        ),
        ("- <b>a</b>\n  — <br>b\n", &[(Item, "- <b>a</b>\n  —"), (Verbatim, "<br>"), (Prose, "b")]),
        ("<a href=x><img\n  alt=\"crate\"\n/></a>\n", &[(Verbatim, "<a href=x><img\n  alt=\"crate\"\n/></a>")]),
        ("<p>&nbsp;</p>\n", &[(Verbatim, "<p>"), (Verbatim, "&nbsp;"), (Verbatim, "</p>")]),
        (
            "<div><pre>\na; b. C\n</pre></div>\n",
            &[(Verbatim, "<div>"), (Verbatim, "<pre>\na; b. C\n</pre>"), (Verbatim, "</div>")],
        ),
        ("| a<br>b | c |\n|--|--|\n", &[(Row, "| a<br>b | c |"), (Verbatim, "|--|--|")]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn headings_in_html_are_headings() {
    let text = "<div align=\"center\"><h1>泵\n手册</h1></div>\n正文<h2>不是</h2>\n- 项\n  <h2>不是</h2>\n";
    let expected = [
        (Verbatim, "<div align=\"center\">"),
        (Heading, "<h1>泵\n手册</h1>"),
        (Verbatim, "</div>"),
        (Prose, "正文<h2>不是"),
        (Verbatim, "</h2>"),
        (Item, "- 项"),
        (Verbatim, "<h2>"),
        (Prose, "不是"),
        (Verbatim, "</h2>"),
    ];
    assert_eq!(read(text), expected);
}

#[test]
fn pictures_that_are_described_are_read() {
    for text in [
        "![接线图](x.png)",
        "- ![Main switch of the pump](a.png)",
        "<img src=\"x.png\" alt=\"接线图\">",
        "<img\n  src=\"x.png\"\n  alt=\"接线图\"/>",
    ] {
        assert_eq!(read(&format!("上文\n{text}\n下文\n")), [(Prose, "上文"), (Prose, text), (Prose, "下文")]);
    }
    assert_eq!(read("[![接线图](a.png)](b.png)"), [(Prose, "[![接线图](a.png)](b.png)")]);
    let text = "<p align=\"center\"><img alt=\"接线图\" src=\"x.png\"></p>\n";
    assert_eq!(read(text)[1], (Prose, "<img alt=\"接线图\" src=\"x.png\">"));
    for text in ["![zigzag](img/zigzag.png)", "[![Build Status](a.svg)](b)", "<img src=\"x.png\">"] {
        assert_eq!(read(text), [(Verbatim, text)]);
    }
}

#[test]
fn hostile_html_takes_linear_time() {
    for unit in [
        "<tr>",
        "<tr>\n",
        "<tr>\n\n",
        "<table>",
        "<p>a",
        "<br>a",
        "<h1>a",
        "<h1>a</h1>",
        "<!--\n",
        "<p><!--",
        "<pre>\n",
        "<a\n",
        "<a '\"",
        "<p>`",
        "<p>``a`",
        "<li",
        "![a](",
        "!!! a\n",
        ":::\n",
        "#一\n",
        "a</p>",
        "<p><b>",
        "<p><b></b>",
        "</b>",
        "`<",
        "``` `",
        "</tr><tr>\n```\n",
    ] {
        let text = unit.repeat(100_000 / unit.len());
        let mut at = 0;
        for piece in pieces(&text, Format::Markdown) {
            assert!(text[at..piece.start].trim().is_empty(), "{unit}");
            at = piece.end;
        }
        crate::document::markdown::headings(&text);
    }
}

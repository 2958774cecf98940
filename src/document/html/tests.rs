//! Whole pages.

#![allow(clippy::unwrap_used)]
use super::*;

fn page(html: &str) -> Extracted {
    read(html.as_bytes(), None, &mut Budget::default()).unwrap()
}

#[test]
fn blocks_become_notation() {
    for (html, expected) in [
        (
            "<h2>第一章 <a href='#x'>¶</a></h2><p>设备 应当\n接地。<br>否则停机",
            "## 第一章\n\n设备 应当接地。\n否则停机\n",
        ),
        ("<ol start=3 type=a><li>x<li value=9><p>y</p><p>z</p><ul><li>w</ul></ol>", "- c. x\n- i. y\n\n  z\n  - w\n"),
        ("<dl><dt>E01<dd>过热</dl>", "- E01\n  - 过热\n"),
        ("<pre>\n a &lt;b\n  c</pre>", "```\n a <b\n  c\n```\n"),
        ("<figure><img src=a.png alt='泵'><figcaption>泵</figcaption></figure>", "泵\n"),
        ("10<sup>3</sup> m<sup>2</sup>, 1<sup>st</sup>, H<sub>2</sub>O", "10³ m², 1st, H2O\n"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>", "漢字(kanji)\n"),
        (
            "<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac><msup><mi>x</mi><mn>2</mn></msup></math>",
            "(a+b)/cx²\n",
        ),
        ("<details><summary>更多</summary>内容</details>", "更多\n\n内容\n"),
        ("a<select><option>1</select><script>x</script><template>y</template>b", "a b\n"),
        ("甲<input>乙<button>丙</button>丁", "甲 乙 丙 丁\n"),
        ("<blockquote><p>x</blockquote>a &amp; b&nbsp;c &#20013;", "x\n\na & b\u{a0}c 中\n"),
        ("<li>a<li>b", "- a\n- b\n"),
        ("<ol><li><h3>断电</h3>拉闸</ol>", "### 1. 断电\n\n拉闸\n"),
    ] {
        assert_eq!(page(html).text, expected, "{html}");
    }
}

#[test]
fn tables_of_data_keep_their_rows() {
    let html = "<table><caption>参数</caption><thead><tr><th rowspan=2>型号<th colspan=2>电流<tr><th>min<th>max</thead>\
                <tr><td rowspan=2>A<td>1<td>2<br>3<tr><td colspan=2><p>x</p><p>y</p></table>";
    let expected = "参数\n\n| 型号 | 电流 min | 电流 max |\n| --- | --- | --- |\n| A | 1 | 2 3 |\n| A | x y | x y |\n";
    assert_eq!(page(html).text, expected);
    let inner = "<table><tr><th>a<th>b<tr><td>1<td><table><tr><th>c<th>d<tr><td>2<td>3</table></table>";
    assert_eq!(page(inner).text, "| a | b |\n| --- | --- |\n| 1 | c d; 2 3 |\n");
    let bold = "<table><tr><td><b>代码</b><td><b>原因</b><tr><td>E1<td>过热</table>";
    assert_eq!(page(bold).text, "| 代码 | 原因 |\n| --- | --- |\n| E1 | 过热 |\n");
}

#[test]
fn tables_that_arrange_are_paragraphs_and_strays_are_kept() {
    let html = "<table><tr><td><h1>t</h1><td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>";
    assert_eq!(page(html).text, "# t\n\n| a | b |\n| c | d |\n");
    let stray = "<table>x<tr>y<td>a<td>b<tr><td>c<td>d</table>";
    assert_eq!(page(stray).text, "x\n\ny\n\n| a | b |\n| c | d |\n");
}

#[test]
fn what_is_left_out_is_named() {
    let out = page(
        "<title>泵 - 手册</title><meta name=date content=2024-05-01><nav><a href=x>目录</a></nav><div>旁注</div>\
         <main><h1>泵</h1><p>泵的维护说明，每三个月进行一次检查，并记录结果，记录保存三年，由负责人签字确认后归档。</p><p hidden>藏</p>\
         <img src=a.png></main><div role=contentinfo>版权</div>",
    );
    assert!(out.text.starts_with("旁注\n\n# 泵\n\n泵的维护"), "{}", out.text);
    assert_eq!(out.title.as_deref(), Some("泵"));
    assert_eq!(out.metadata, [("date".to_string(), "2024-05-01".to_string())]);
    let places: Vec<&str> = out.skipped.iter().map(|part| part.place.as_str()).collect();
    assert_eq!(places, ["navigation", "page footer", "hidden parts", "1 pictures"]);
    let out = page(
        "a<select><option>型号一<option>二</select><textarea>缺省</textarea><noscript><img src=x></noscript><noscript>请启用 <b>脚本</b></noscript>",
    );
    let said: Vec<String> = out.skipped.iter().map(|part| format!("{}: {}", part.place, part.reason)).collect();
    let expected = [
        "fields of forms: choices and default texts are not read (2 parts, 6 characters)",
        "fallback texts: shown only where scripts, frames or media do not work (1 parts, 5 characters)",
    ];
    assert_eq!(said, expected);
    let all = page("<nav>目录</nav><p>正文</p><!-- never closed <p>x");
    assert_eq!(all.text, "目录\n\n正文\n");
    assert_eq!(all.skipped.len(), 1);
}

#[test]
fn xhtml_closes_elements_in_their_tags() {
    let html = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/><script src='x'/></head>\
                <body><a id='x'/><p/>一<h:b xmlns:h='x'>二</h:b></body></html>";
    assert_eq!(page(html).text, "一二\n");
}

#[test]
fn hostile_pages_take_linear_time() {
    let start = std::time::Instant::now();
    for html in [
        "<div>".repeat(20_000),
        "<p><b>".repeat(20_000),
        "<table><td>".repeat(10_000),
        "<ul><li>x".repeat(10_000),
        "<".repeat(400_000),
        "</p></b></x>".repeat(20_000),
        "<tr><td rowspan=0 colspan=99>x".repeat(20_000),
        format!("<table>{}", "<tr><td rowspan=0 colspan=99>x".repeat(4_000)),
        format!("<table><tr>{}{}", "<td rowspan=0>x".repeat(20_000), "<tr>".repeat(4_000)),
        "<ruby>a<rt>b".repeat(10_000),
        "<nav><a>".repeat(10_000) + "<main>",
        "<article>".repeat(10_000) + "x",
        "<div hidden>".repeat(10_000) + "x",
        "<a ".repeat(100_000),
        format!("<a {}>", "x=1 ".repeat(100_000)),
        "<svg><p>".repeat(10_000),
        "<select><option>x".repeat(10_000),
        "&".repeat(400_000),
        "<!--".repeat(100_000),
        "<math><msup>".repeat(10_000),
    ] {
        let one = std::time::Instant::now();
        let _ = read(html.as_bytes(), None, &mut Budget::default());
        assert!(one.elapsed().as_secs() < 10, "{}", &html[..40.min(html.len())]);
    }
    assert!(start.elapsed().as_secs() < 100);
}

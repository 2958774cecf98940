//! Text files and files of text with marks.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, GB18030, ISO_2022_JP, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

use crate::input::Input;

fn all(texts: &[&str]) -> Vec<Input> {
    texts.iter().map(|text| Input::plain(*text)).collect()
}

pub(crate) fn markdown() -> Vec<Input> {
    all(&[
        "---\ntitle: \"泵 手册\"\ndate: 2024-05-01\ntags: [a, 'b']\nmodels:\n  - XH-500\n---\n\n# 泵\n\n正文。温度不得高于 85 ℃！\n\n## 原因\n\n- 断电；\n  - 挂牌\n\n## 处理\n\n1. 停机\n2. 检查\n",
        "Manual\n======\n\nScope\n-----\n\n| Code | Cause |\n| --- | :-: |\n| E1 | too \\| hot |\n\n```c\nx = 1;\n```\n\n> quoted\n\n<div>\nraw\n</div>\n\n<!-- note -->\n\n[a](b \"c\") ![d](e) `f` **g** *h* ~~i~~\n",
        "# 第一章 总则\r\n\r\n第一条 设备应当接地。操作人员应当持证；无证不得操作。\r\n\r\n（一）断电；\r\n\r\n# 第二章 附则\r\n\r\n第二条 自公布之日起施行。\r\n",
        "# a\n\n## 原因\n\nx\n\n# b\n\n## 原因\n\ny\n\n# c\n\n## 原因\n\nz\n",
    ])
}

pub(crate) fn plain() -> Vec<Input> {
    all(&[
        "BX-9000 操作手册\n\n目录\n\n第一章 概述........1\n第二章 维护........12\n\n第一章 概述\n\n1.1 范围\n本手册适用于 BX-9000。2024年5月1日修订。\n\n（一）断电；\n（二）挂牌。\n\n第二章 维护\n第一条 每 3 个月清洗一次；水温不得高于 28 ℃。\n",
        "1.\tFEES\r\n1.1\tGeneral\r\n1.1.1\tTiming\r\nThe fee must be paid within 20 days, e.g. in cash. See Article 3.\r\n1.1.2\tLate\r\nInterest is due.\r\n\r\nCHAPTER IV\r\nMaintenance\r\n",
        "a\tb\tc\n1\t2\t3\n\n    indented\n\nMAINTENANCE\n\n- one\n- two\n",
        "一、概述\u{3000}\u{3000}段落。\r\u{3000}\u{3000}另一段…\r二、安全\r",
    ])
}

pub(crate) fn encodings() -> Vec<Input> {
    let simplified = "主轴报警温度为 85 ℃。\r\n超过该温度时，设备自动停机。\n";
    let traditional = "主軸警報溫度為攝氏八十五度。超過該溫度時，設備會自動停機，請聯絡維修人員。";
    let japanese = "この装置は必ず接地してください。温度が高いときは停止します。";
    let korean = "이 장치는 반드시 접지해야 합니다. 온도가 높으면 멈춥니다. 점검 후 다시 켜십시오.";
    let russian = "Насос должен быть заземлён. При высокой температуре он остановится автоматически.";
    let western = "The caf\u{e9} is closed \u{2013} \u{201c}come back tomorrow\u{201d}, the na\u{ef}ve owner said.";
    let utf16 = |text: &str, order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let utf32 = |text: &str, order: fn(u32) -> [u8; 4]| text.chars().flat_map(|c| order(c.into())).collect::<Vec<u8>>();
    let marked = |mark: &[u8], body: Vec<u8>| [mark, &body].concat();
    let mut files = vec![
        simplified.as_bytes().to_vec(),
        marked(b"\xef\xbb\xbf", simplified.as_bytes().to_vec()),
        marked(b"\xff\xfe", utf16(simplified, u16::to_le_bytes)),
        marked(b"\xfe\xff", utf16(simplified, u16::to_be_bytes)),
        utf16(simplified, u16::to_le_bytes),
        utf16(western, u16::to_be_bytes),
        marked(b"\xff\xfe\0\0", utf32(simplified, u32::to_le_bytes)),
        utf32(western, u32::to_be_bytes),
    ];
    for (text, encoding) in [
        (simplified, GB18030),
        ("产品名称：㐂𠮷牌水泵，型号一。", GB18030),
        (traditional, BIG5),
        (japanese, SHIFT_JIS),
        (japanese, EUC_JP),
        (japanese, ISO_2022_JP),
        (korean, EUC_KR),
        (russian, WINDOWS_1251),
        (western, WINDOWS_1252),
    ] {
        files.push(encoding.encode(text).0.into_owned());
    }
    files.into_iter().map(Input::plain).collect()
}

pub(crate) fn rst() -> Vec<Input> {
    all(&[
        "====\n手册\n====\n\n:date: 2024-05-01\n:author: x\n\n安装\n====\n\n1. 电源\n-------\n正文 **粗** `a <b>`_ :ref:`c`。\n\n维护\n====\n",
        "+--------+-----------+\n| 分类   | 处理方式  |\n+========+===========+\n| 错误   | 1.检查;   |\n+        +-----------+\n|        | 2.重启    |\n+--------+-----------+\n| 共同               |\n+--------+-----------+\n",
        "=====  =====  ====\n  Inputs      Out\n------------  ----\nA      B      C\n=====  =====  ====\n0      1      x\n              y\n2      3      z\n=====  =====  ====\n",
        ".. list-table:: 参数\n   :header-rows: 1\n\n   * - a\n     - **b**\n   * - c\n     - 0.47\n\n       mm\n\n.. csv-table::\n   :header: \"代码\", 原因\n\n   1, \"a, b\"\n",
        ".. |x| replace:: XH-500\n\n.. warning::\n   |x| 有高压。\n\n.. figure:: a.png\n   :alt: 泵\n\n   图 1\n\n.. toctree::\n\n   a\n\n.. [1] 脚注\n\n.. _t:\n\n.. 注释\n",
        "- 断电；\n- 挂牌\n  上锁\n\n  1. 一\n  2. 二\n\n术语\n  解释\n\n示例::\n\n  a = 1\n    b\n\n.. code-block:: c\n   :linenos:\n\n   x;\n\n-a  option\n\n| line\n| block\n\n>>> 1\n1\n",
    ])
}

pub(crate) fn html() -> Vec<Input> {
    let mut pages = all(&[
        "<!doctype html><html><head><meta charset=utf-8><title>泵 - 手册</title><meta name=date content=2024-05-01></head><body><nav><a href=x>目录</a></nav><main><h1>泵</h1><p>泵的维护说明，每三个月检查一次，并记录结果，记录保存三年，由负责人签字确认后归档。<p hidden>藏</p><img src=a.png alt='图'></main><footer>版权</footer>",
        "<table><caption>参数</caption><thead><tr><th rowspan=2>型号<th colspan=2>电流<tr><th>min<th>max</thead><tr><td rowspan=2>A<td>1<td>2<br>3<tr><td colspan=2><p>x</p><table><tr><td>c<td>d<tr><td>e<td>f</table></table>",
        "<ol start=3 type=i><li>x<li value=9><p>y</p><p>z</p><ul><li>w</ul></ol><dl><dt>E01<dd>过热</dl><pre>\n a &lt;b\n  c</pre><blockquote>q</blockquote>",
        "10<sup>3</sup> H<sub>2</sub>O <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby><math><mfrac><mrow><mi>a</mi><mo>+</mo></mrow><mi>c</mi></mfrac><msup><mi>x</mi><mn>2</mn></msup></math><svg><text>t</text></svg>",
        "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/><script src='x'/></head><body><a id='x'/><p/>一<h:b xmlns:h='x'>二</h:b><![CDATA[<三>]]></body></html>",
        "<details><summary>更多</summary>内容</details><figure><img src=a alt='泵'><figcaption>泵</figcaption></figure>a<select><option>1<option selected>2</select><textarea>t</textarea><template>y</template><script>if (a<b) x</script><!-- c -->&amp;&#20013;&nbsp;",
    ]);
    let chinese = "<html><head><meta charset=gb2312></head><body><h2>第一章</h2><p>设备应当接地。</body>";
    pages.push(Input::plain(GB18030.encode(chinese).0.into_owned()));
    pages
}

pub(crate) fn csv() -> Vec<Input> {
    all(&[
        "代码,原因,处理\r\nE1,过热,停机\r\nE2,过流,\"检查,\r\n\"\"断电\"\"\"\r\n",
        "参数表,,\n名称,值,单位\n电压,380\n电流,5,A,注\n,,\n",
        "sep=;\r\na;b\r\n1,5;2,5\r\n",
        "a\tb\n1\t2\n5\"\t3\n",
        "on|off\non|on\n",
    ])
}

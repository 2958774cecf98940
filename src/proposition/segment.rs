//! The sentences of a passage, as ranges.

use crate::document::{Format, Span};
use crate::proposition::{Sentence, SentenceKind};
use crate::section::blocks::{self, Block};

/// The sentences of `text`, in order and disjoint, in code points of `text`.
///
/// Every character that is no white space lies in exactly one sentence; spans carry no white space at their ends. List
/// markers, quotes and closing brackets belong to their sentence. A sentence of more than 600 characters is cut at clauses,
/// code at lines. Linear in the length of `text`, which may be any fragment of a document.
pub fn sentences(text: &str, format: Format) -> Vec<Sentence> {
    let (mut byte, mut chars) = (0, 0);
    let mut count = |to: usize| {
        chars += text[byte..to].chars().count();
        byte = to;
        chars
    };
    blocks::pieces(text, format)
        .into_iter()
        .map(|piece| {
            let span = Span::new(count(piece.start), count(piece.end));
            let kind = match piece.block {
                Block::Prose => SentenceKind::Prose,
                Block::Item => SentenceKind::ListItem,
                Block::Row => SentenceKind::TableRow,
                Block::Heading => SentenceKind::Heading,
                Block::Verbatim => SentenceKind::Verbatim,
            };
            Sentence { span, kind }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, format: Format) -> Vec<(SentenceKind, String)> {
        let chars: Vec<char> = text.chars().collect();
        sentences(text, format)
            .into_iter()
            .map(|s| (s.kind, chars[s.span.start..s.span.end].iter().collect()))
            .collect()
    }

    /// Every visible character in exactly one sentence, in order, no white space at the ends.
    fn check(text: &str, format: Format) {
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        for sentence in sentences(text, format) {
            let span = sentence.span;
            assert!(span.start >= at && !span.is_empty(), "{text:?}");
            assert!(chars[at..span.start].iter().all(|c| c.is_whitespace()), "{text:?}");
            assert!(!chars[span.start].is_whitespace() && !chars[span.end - 1].is_whitespace(), "{text:?}");
            assert!(span.len() <= 600);
            at = span.end;
        }
        assert!(chars[at..].iter().all(|c| c.is_whitespace()), "{text:?}");
    }

    #[test]
    fn every_visible_character_lies_in_exactly_one_sentence() {
        const PARTS: &[&str] = &[
            "主轴停机。",
            "第三条 应当",
            "（一）",
            "1.2 ",
            "e.g. ",
            "3.5 mm",
            "\n",
            "\r\n",
            "\r",
            "\n\n",
            "\t",
            "    ",
            "- ",
            "| a |",
            "|--|\n",
            "```\n",
            "# ",
            "。",
            "；",
            ";",
            ".",
            "…",
            "**",
            "`",
            "(",
            ")",
            "（",
            "[x](y)",
            "<!--",
            "-->",
            "<p>",
            "---\n",
            "===\n",
            "\u{3000}",
            "“",
            "”",
            "\"",
            "Then ",
            "𠮷",
            ">",
            "~~~\n",
            "a: b\n",
            "现象：",
            "<pre>",
            "&amp;",
            "A. B. C",
            "$$\n",
            "\\[",
            "\\end{x}",
            "\\begin{x}",
            "+--+\n",
            "+ a --+\n",
            "____",
            "电话：1",
            " ...... 3\n",
            "x = y\n",
            "    a(b);\n",
            "<tr>",
            "</tr>",
            "<td>",
            "<table>\n",
            "</table>",
            "<h2>",
            "</h2>",
            "<br>",
            "<li>",
            "<img alt=\"接线图\"",
            "<img alt=\"接线图\">",
            "![接线图](x)",
            "!!! note \"高压\"\n",
            "???+ tip\n",
            "::: warning\n",
            "[!NOTE]",
            "#没有空格\n",
            "##",
            "+++\n",
            "a = 1\n",
            "</pre>",
            "<div>",
            "</p>",
            "{% x %}\n",
            "\\",
        ];
        let mut state = 0x1234_5678_9abc_def1u64;
        for _ in 0..4000 {
            let mut text = String::new();
            for _ in 0..state % 40 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                text.push_str(PARTS[(state >> 20) as usize % PARTS.len()]);
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            check(&text, Format::Markdown);
            check(&text, Format::PlainText);
        }
        for unit in ["设", "设备，", "a ", "a", "设备。"] {
            check(&unit.repeat(5000), Format::Markdown);
        }
    }

    #[test]
    fn kinds_follow_the_markup() {
        use SentenceKind::*;
        let text = "## 5011：负限位\r\n\r\n- **原因**：\r\n  - 限位开关断开。请检查！\r\n- 接线\r\n\r\n| 码 | 值 |\r\n|---|---|\r\n\r\n![图](a.png)\r\n";
        let expected = [
            (Heading, "## 5011：负限位"),
            (ListItem, "- **原因**："),
            (Prose, "- 限位开关断开。"),
            (Prose, "请检查！"),
            (ListItem, "- 接线"),
            (TableRow, "| 码 | 值 |"),
            (Verbatim, "|---|---|"),
            (Verbatim, "![图](a.png)"),
        ];
        assert_eq!(kinds(text, Format::Markdown), expected.map(|(kind, text)| (kind, text.to_string())));
    }
}

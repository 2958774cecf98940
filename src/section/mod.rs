//! From a [`Document`] to sections that tile it.

pub(crate) mod blocks;
mod boundary;
mod callout;
mod classify;
mod fixed;
mod heading;
mod html;
mod long;
mod markdown;
mod matter;
mod numbering;
mod outline;
mod pack;
mod plain;
mod recursive;
mod semantic;
pub(crate) mod sentence;
mod splitting;
mod tiling;
mod window;

pub use boundary::{BoundaryScorer, CrossSegmentSplitter, NextSentenceSplitter, Pair, Window};
pub use fixed::FixedSplitter;
pub use heading::HeadingSplitter;
pub use recursive::{CJK_SEPARATORS, Keep, RecursiveSplitter, SEPARATORS};
pub use semantic::{Breakpoint, SemanticSplitter, TextEmbedder};
pub use splitting::{SplitKind, SplitOptions, Splitting};
pub use tiling::sentence_spans;
pub use window::{Advance, HierarchicalScorer, HierarchicalSplitter, SequenceSplitter};

pub(crate) use classify::is_table_rule;
pub(crate) use matter::is_contents_entry;

use crate::document::{Document, Span};
use crate::error::Result;

/// A stretch of a document under one heading. The sections of a document tile it: concatenated they give its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Code points of the document, including headings, blank lines and line endings.
    pub span: Span,
    /// Titles of the enclosing headings, outermost first, without numbering removed and without the document title.
    pub heading_path: Vec<String>,
}

/// A way to cut a document into sections.
pub trait Splitter {
    /// The sections of `document`, in order. They tile its text: the first starts at 0, each starts where the one before
    /// ends, the last ends at the end, and none is empty. An empty document has none.
    fn split(&self, document: &Document) -> Vec<Section>;
}

/// A way to cut a document between its sentences with the help of a model, which may fail.
pub trait ModelSplitter<M: ?Sized> {
    /// The indices of the sentences after which a section ends, ascending; the last sentence is not among them.
    ///
    /// # Errors
    /// The model fails or answers with something else than was asked for.
    fn breaks(&self, sentences: &[&str], model: &M) -> Result<Vec<usize>>;

    /// The sections of `document` between its [`sentence_spans`]; they tile it as those of [`Splitter::split`] do.
    ///
    /// # Errors
    /// As for [`ModelSplitter::breaks`].
    fn split_with(&self, document: &Document, model: &M) -> Result<Vec<Section>> {
        tiling::by_sentences(self, document, model)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::Format;

    /// Deterministic noise.
    struct Noise(u64);

    impl Noise {
        fn below(&mut self, bound: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % bound as u64) as usize
        }

        fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
            from[self.below(from.len())]
        }

        /// A document of headings, sentences, lists, tables, code, long lines and stray marks.
        fn document(&mut self, ending: &str) -> String {
            const LINES: &[&str] = &[
                "# 手册",
                "## 第一章 总则",
                "### 1.2 Scope",
                "第二章 维护",
                "第三条 设备应当接地。操作人员应当持证；无证不得操作。",
                "1.1\tTitle",
                "1.1.2 note",
                "一、概述",
                "（一）断电；",
                "- 关闭电源",
                "    - 如果温度过高，则停机。",
                "1. Turn it off.",
                "| a | b |",
                "|---|---|",
                "a\tb\tc",
                "```",
                "---",
                "===",
                "> 引用。",
                "<!--",
                "-->",
                "<div>",
                "[链接](#a)",
                "",
                "",
                "",
                "The pump runs at 3.5 bar, e.g. at night. It stops.",
                "   ",
                "\u{3000}\u{3000}段落。",
                "MAINTENANCE",
                "…",
                "（（（",
                "**重点**：注意！",
                "`a.b",
                "\"Yes.\"",
                "!",
                "。",
                "𠮷\u{200e}é",
                "title: x",
                "+++",
                "title = \"x\"",
                "!!! warning \"高压\"",
                "    先断电，再验电。",
                "      f(x);",
                "??? note",
                "::: danger",
                ":::",
                "> [!WARNING]",
                "#没有空格",
                "##（一）接线",
                "#标签 #标签",
                "<h2>安装</h2>",
                "<h1 align=\"center\">",
                "</h1>",
                "<table>",
                "<tr><td>过热</td><td>停机。</td></tr>",
                "<tr>",
                "</td></tr>",
                "</table>",
                "<p align=\"center\"><b>文字</b></p>",
                "<details><summary>展开</summary>",
                "第一行<br>第二行",
                "<img src=\"a.png\" alt=\"接线图\">",
                "<img",
                "alt=\"接线图\" />",
                "![接线图](x.png)",
                "<li>项",
                "<pre>",
                "</pre>",
                "{% hint %}",
            ];
            let mut out = String::new();
            for _ in 0..self.below(60) {
                out.push_str(self.pick(LINES));
                if self.below(12) == 0 {
                    let word = self.pick(&["电机过热时应立即停机，", "the belt is worn, ", "x", "检查。", "A. "]);
                    out.push_str(&word.repeat(self.below(400)));
                }
                out.push_str(if self.below(20) == 0 { "" } else { ending });
            }
            out
        }
    }

    fn tile(document: &Document, sections: &[Section]) {
        let mut at = 0;
        let mut whole = String::new();
        for section in sections {
            assert_eq!(section.span.start, at, "{:?}", document.text.as_str());
            assert!(!section.span.is_empty());
            whole.push_str(document.text.slice(section.span));
            at = section.span.end;
        }
        assert_eq!(at, document.text.chars());
        assert_eq!(whole, document.text.as_str());
    }

    #[test]
    fn sections_reassemble_any_text() {
        let mut noise = Noise(0x2545_f491_4f6c_dd1d);
        for round in 0..400 {
            let text = noise.document(["\n", "\r\n", "\r"][round % 3]);
            for format in [Format::Markdown, Format::PlainText] {
                let document = Document::from_text("a.md", text.clone(), format);
                tile(&document, &HeadingSplitter::default().split(&document));
                tile(&document, &HeadingSplitter { min: 20, max: 60 }.split(&document));
                let size = 1 + round % 50;
                tile(&document, &FixedSplitter { size, overlap: size / 2 }.split(&document));
                tile(&document, &FixedSplitter { size, overlap: 0 }.split_by(&document, &str::len));
                tile(&document, &RecursiveSplitter { size, overlap: 3, ..Default::default() }.split(&document));
                tile(&document, &RecursiveSplitter::cjk(size, 0).split(&document));
                let neither = RecursiveSplitter { keep: Keep::Neither, ..RecursiveSplitter::cjk(size, 0) };
                tile(&document, &neither.split(&document));
                let spans = sentence_spans(&document);
                let sentences = spans.into_iter().map(|span| Section { span, heading_path: Vec::new() });
                tile(&document, &sentences.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn no_section_cuts_a_sentence() {
        let mut noise = Noise(77);
        for _ in 0..100 {
            let mut text = String::from("# 手册\n\n");
            for _ in 0..noise.below(300) {
                let long = noise.below(30);
                text.push_str(&"设备".repeat(long + 1));
                text.push_str(noise.pick(&["。", "！", "；", "。\n\n", "。\n\n## 检修\n\n", "。\n- "]));
            }
            let document = Document::from_text("a.md", text, Format::Markdown);
            for section in HeadingSplitter::default().split(&document) {
                let end = document.text.slice(section.span).trim_end();
                assert!(
                    end.ends_with(['。', '！', '；', '-'])
                        || section.span.end == document.text.chars()
                        || end.ends_with("## 检修"),
                    "{end}"
                );
                assert!(section.span.len() <= 1500 + 70);
            }
        }
    }

    #[test]
    fn one_endless_line_is_cut_into_sections_too() {
        for unit in ["a", "设备停机。", "设备，", "word ", "(", "["] {
            let document = Document::from_text("a.md", unit.repeat(100_000 / unit.len()), Format::Markdown);
            let sections = HeadingSplitter::default().split(&document);
            tile(&document, &sections);
            assert!(sections.iter().all(|section| section.span.len() <= 1800), "{unit}");
        }
    }

    #[test]
    fn a_text_of_twenty_megabytes_is_split() {
        let paragraph = "主轴报警温度为 85 ℃。超过时设备停机，应当检查冷却系统；确认正常后方可复位。\n\n";
        let text = paragraph.repeat(20 * (1 << 20) / paragraph.len());
        for format in [Format::Markdown, Format::PlainText] {
            let document = Document::from_text("big", text.clone(), format);
            tile(&document, &HeadingSplitter::default().split(&document));
        }
    }
}

//! A text as a sequence of pieces: sentences of running text, list items, table rows, headings, verbatim blocks.
//!
//! Works line by line, so that any fragment of a document can be read: a section may start in the middle of a list. Every
//! character that is no white space lies in exactly one piece. Linear in the length of the text.

use super::classify::is_sentence;
use super::long::{self, Body};
use super::sentence;
use crate::document::{Format, Line};

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// A sentence of running text.
    Prose,
    /// A sentence or phrase of a list item.
    Item,
    /// A row of a table.
    Row,
    /// A heading.
    Heading,
    /// Code, links, comments, rules.
    Verbatim,
}

/// How good a place the start of a piece is to begin a section; the better, the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cut {
    /// In the middle of a word.
    Anywhere,
    /// Inside a sentence, after a clause or a word.
    Clause,
    /// Inside a paragraph, after a sentence.
    Sentence,
    /// A line of code or of a table.
    Row,
    /// An item of an inner list, a line of a paragraph.
    Nested,
    /// An item of an outer list.
    Item,
    /// A paragraph.
    Paragraph,
    /// A heading, an article, a numbered rule.
    Entry,
}

/// A stretch of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// First byte that is no white space.
    pub(crate) start: usize,
    /// One past the last byte that is no white space.
    pub(crate) end: usize,
    /// Where a cut before the piece would be made: its start, or the start of its line.
    pub(crate) line: usize,
    /// What it is.
    pub(crate) block: Block,
    /// How good a cut before it is.
    pub(crate) cut: Cut,
}

/// The pieces of `text`, in order.
pub(crate) fn pieces(text: &str, format: Format) -> Vec<Piece> {
    let mut reader = Reader {
        text,
        format,
        pieces: Vec::new(),
        run: None,
        blank: true,
        margin: 0,
        in_table: false,
        unclosed: Vec::new(),
    };
    match format {
        Format::Markdown => reader.markdown(),
        Format::PlainText => reader.plain(),
    }
    reader.flush();
    reader.pieces
}

/// Lines gathered for one paragraph or list item.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) line: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) block: Block,
    pub(super) cut: Cut,
}

/// What has been read of a text. How its lines are read is the job of the formats.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) format: Format,
    pub(super) pieces: Vec<Piece>,
    pub(super) run: Option<Run>,
    /// True after a blank line and at the start.
    pub(super) blank: bool,
    /// The column in which the text of the open list item or callout begins; code is indented four further.
    pub(super) margin: usize,
    /// True between `<table>` and `</table>`, where indentation is no code.
    pub(super) in_table: bool,
    /// Closing marks that do not stand in the rest of the text.
    pub(super) unclosed: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    pub(super) fn content(&self, line: &Line) -> &'a str {
        &self.text[line.start..line.end]
    }

    /// Byte range of `range` without surrounding white space.
    pub(super) fn trimmed(&self, start: usize, end: usize) -> (usize, usize) {
        let raw = &self.text[start..end];
        let start = start + (raw.len() - raw.trim_start().len());
        (start, start + raw.trim().len())
    }

    /// Whether the open run is a numbered item.
    pub(super) fn is_numbered(&self) -> bool {
        self.run.is_some_and(|run| {
            run.block == Block::Item
                && self.text[run.start..run.end].trim_start().starts_with(|c: char| c.is_ascii_digit())
        })
    }

    pub(super) fn paragraph_cut(&self) -> Cut {
        if self.blank { Cut::Paragraph } else { Cut::Nested }
    }

    pub(super) fn begin(&mut self, line: &Line, block: Block, cut: Cut) {
        self.flush();
        self.run = Some(Run { line: line.start, start: line.start, end: line.end, block, cut });
    }

    pub(super) fn single(&mut self, line: &Line, block: Block, cut: Cut) {
        let (start, end) = self.trimmed(line.start, line.end);
        self.push(Piece { start, end, line: line.start, block, cut }, Cut::Clause);
        self.blank = false;
    }

    /// A block that is kept as it stands; long ones are cut at lines.
    pub(super) fn verbatim(&mut self, start: usize, end: usize, cut: Cut) {
        let (first, last) = self.trimmed(start, end);
        if first < last {
            self.push(Piece { start: first, end: last, line: start, block: Block::Verbatim, cut }, Cut::Row);
        }
        self.blank = false;
    }

    /// Ends the open run: its sentences become pieces.
    pub(super) fn flush(&mut self) {
        let Some(run) = self.run.take() else { return };
        let (start, end) = self.trimmed(run.start, run.end);
        if start == end {
            return;
        }
        let body = &self.text[start..end];
        let mut cuts: Vec<usize> = Vec::new();
        if run.block != Block::Heading {
            sentence::ends(body, self.format == Format::Markdown, |at| cuts.push(start + at));
        }
        cuts.push(end);
        let block = match run.block {
            Block::Item if cuts.len() > 1 || is_sentence(body) => Block::Prose,
            block => block,
        };
        let (mut from, mut line, mut cut) = (start, run.line, run.cut);
        for to in cuts {
            let (start, end) = self.trimmed(from, to);
            if start < end {
                self.push(Piece { start, end, line, block, cut }, Cut::Clause);
                (line, cut) = (to, Cut::Sentence);
            }
            from = to;
        }
    }

    /// Adds a piece, cut if it is too long.
    pub(super) fn push(&mut self, piece: Piece, inner: Cut) {
        let mut piece = Piece { line: if piece.cut <= Cut::Sentence { piece.start } else { piece.line }, ..piece };
        let body = match piece.block {
            _ if inner == Cut::Row => Body::Lines,
            Block::Prose | Block::Item => Body::Prose,
            _ => Body::Line,
        };
        while let Some((at, clean)) = long::cut(&self.text[piece.start..piece.end], body) {
            let (start, end) = self.trimmed(piece.start, piece.start + at);
            self.pieces.push(Piece { start, end, ..piece });
            let (start, _) = self.trimmed(piece.start + at, piece.end);
            piece = Piece { start, line: start, cut: if clean { inner } else { Cut::Anywhere }, ..piece };
        }
        self.pieces.push(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: Format) -> Vec<(Block, &str)> {
        pieces(text, format).into_iter().map(|p| (p.block, &text[p.start..p.end])).collect()
    }

    fn markdown(text: &str) -> Vec<(Block, &str)> {
        read(text, Format::Markdown)
    }

    fn plain(text: &str) -> Vec<(Block, &str)> {
        read(text, Format::PlainText)
    }

    #[test]
    fn markdown_blocks_are_told_apart() {
        use Block::*;
        let text = "---\ntitle: x\n---\n# 5001：超限\n\n- **描述**：\n    - 如果位置大于限制，则报错。\n    - 参数错误\n- [目录](#a)\n\n| 码 | 含义 |\n|---|---|\n| 1 | 过流 |\n\n```sh\na; b. C\n\n# x\n```\n<!-- 注 -->\n段落一行\n接着写完。第二句\n\n标题\n---\n";
        assert_eq!(
            markdown(text),
            vec![
                (Verbatim, "---\ntitle: x\n---"),
                (Heading, "# 5001：超限"),
                (Item, "- **描述**："),
                (Prose, "- 如果位置大于限制，则报错。"),
                (Item, "- 参数错误"),
                (Verbatim, "- [目录](#a)"),
                (Row, "| 码 | 含义 |"),
                (Verbatim, "|---|---|"),
                (Row, "| 1 | 过流 |"),
                (Verbatim, "```sh\na; b. C\n\n# x\n```"),
                (Verbatim, "<!-- 注 -->"),
                (Prose, "段落一行\n接着写完。"),
                (Prose, "第二句"),
                (Heading, "标题\n---"),
            ]
        );
    }

    #[test]
    fn other_matter_is_kept_as_it_stands() {
        use Block::*;
        let text = "目录\n\n1 概述 ........ 3\n2 安装 ........ 12\n\n$$\nP = F v\n$$\n\n    sudo make flash;\n\n    reboot -f; sync\n\n电话：0755-123\n\n- 断开电源。\n\n    此时 LED = 0（熄灭）。\n\n+--+--+\n| a| b|\n+ c+--+\n功率为\nP = F v\n<table>\n<tr><td>油压</td></tr>\n\n</table>\n";
        let expected = [
            (Prose, "目录"),
            (Verbatim, "1 概述 ........ 3"),
            (Verbatim, "2 安装 ........ 12"),
            (Verbatim, "$$\nP = F v\n$$"),
            (Verbatim, "sudo make flash;"),
            (Verbatim, "reboot -f; sync"),
            (Verbatim, "电话：0755-123"),
            (Prose, "- 断开电源。"),
            (Prose, "此时 LED = 0（熄灭）。"),
            (Verbatim, "+--+--+"),
            (Row, "| a| b|"),
            (Row, "+ c+--+"),
            (Prose, "功率为\nP = F v"),
            (Verbatim, "<table>"),
            (Row, "<tr><td>油压</td></tr>"),
            (Verbatim, "</table>"),
        ];
        assert_eq!(markdown(text), expected);
        let found = plain("电话：0755-123\n功率按下式计算：\nP = F · v\n1 概述 ........ 3\n");
        assert_eq!(found.iter().map(|(block, _)| *block).collect::<Vec<_>>(), [Verbatim, Prose, Verbatim, Verbatim]);
    }

    #[test]
    fn hard_breaks_and_fields_end_a_line() {
        use Block::*;
        assert_eq!(
            markdown("现象：电机不转\n原因：驱动未使能\n"),
            vec![(Prose, "现象：电机不转"), (Prose, "原因：驱动未使能")]
        );
        assert_eq!(markdown("第一行  \n第二行\n"), vec![(Prose, "第一行"), (Prose, "第二行")]);
        assert_eq!(markdown("> 引用一句。\n> 第二句。\n"), vec![(Prose, "> 引用一句。"), (Prose, "> 第二句。")]);
    }

    #[test]
    fn callouts_stand_apart_from_what_they_mark() {
        use Block::*;
        let text = "正文。\n!!! warning \"高压\"\n    断开电源，\n    再验电。\n\n    x = f(1);\n\n        y = f(2);\n\n??? note\n    说明。\n\n::: danger 危险\n勿动。\n:::\n\n> [!WARNING]\n> 当心。\n\n!!! tip \"先验电，后作业。\"\n\n    z = f(3);\n\n结束\n\n    z = f(4);\n";
        let expected = [
            (Prose, "正文。"),
            (Verbatim, "!!! warning \"高压\""),
            (Prose, "断开电源，\n    再验电。"),
            (Prose, "x = f(1);"),
            (Verbatim, "y = f(2);"),
            (Verbatim, "??? note"),
            (Prose, "说明。"),
            (Verbatim, "::: danger 危险"),
            (Prose, "勿动。"),
            (Verbatim, ":::"),
            (Verbatim, "> [!WARNING]"),
            (Prose, "> 当心。"),
            (Verbatim, "!!! tip"),
            (Prose, "\"先验电，后作业。\""),
            (Prose, "z = f(3);"),
            (Prose, "结束"),
            (Verbatim, "z = f(4);"),
        ];
        assert_eq!(markdown(text), expected);
        let body = "!!! note\n\n    Use the lever (see figure 3) to open it\n\n    echo $x\n\nEnd\n";
        let found: Vec<Block> = markdown(body).into_iter().map(|(block, _)| block).collect();
        assert_eq!(found, [Verbatim, Prose, Prose, Prose]);
    }

    #[test]
    fn code_is_indented_further_than_the_list_around_it() {
        use Block::*;
        for (text, block) in [
            ("- a\n- b\n\n| t |\n|---|\n\n    f(x);\n", Verbatim),
            ("1.2 Setup\n\n    f(x);\n", Verbatim),
            ("- a\n```\nx\n```\n\n    f(x);\n", Verbatim),
            ("- a\n\n[A](#a)\n\n    f(x);\n", Verbatim),
            ("- a\n\n      f(x);\n", Verbatim),
            ("- a\n  - b\n\n  c\n\n      f(x);\n", Verbatim),
            ("- a\n\n    f(x);\n", Prose),
            ("1. A\n\n   b\n\n     f(x);\n", Prose),
            ("<table>\n\n    f(x);\n", Prose),
            ("1. turn it off\n\n    f(x);\n", Prose),
            ("=== \"Windows\"\n\n    f(x);\n", Prose),
            ("=== \"Windows\"\n\n        f(x);\n", Verbatim),
            ("[^1]: See below.\n\n    f(x);\n", Prose),
            ("Pump\n:   A machine.\n\n    f(x);\n", Prose),
        ] {
            let found = markdown(text);
            assert_eq!(found.last(), Some(&(block, "f(x);")), "{text}");
        }
    }

    #[test]
    fn numbered_items_in_small_letters_are_items() {
        let found = markdown("Steps:\n1. turn the lever\n2. open the guard\n");
        assert_eq!(found[1..], [(Block::Item, "1. turn the lever"), (Block::Item, "2. open the guard")]);
        let wrapped = "The pump described in chapter\n2. of this manual runs.\n";
        assert_eq!(markdown(wrapped).len(), 1);
        assert_eq!(plain("1. turn the lever\n2. open the guard\n").len(), 2);
    }

    #[test]
    fn fences_open_behind_list_marks_and_end_with_their_quote() {
        use Block::*;
        let text = "1. ```sh\n   f; g\n   ```\n\n正文。\n";
        assert_eq!(markdown(text), [(Verbatim, "1. ```sh\n   f; g\n   ```"), (Prose, "正文。")]);
        let text = "> ```\n> f; g\n\n正文。\n";
        assert_eq!(markdown(text), [(Verbatim, "> ```\n> f; g"), (Prose, "正文。")]);
    }

    #[test]
    fn rows_without_bars_at_their_ends_are_rows_in_the_middle_of_a_table_too() {
        use Block::*;
        let rows = [(Row, "E1 | 过热"), (Row, "E2 | 过流"), (Prose, "完。")];
        assert_eq!(markdown("E1 | 过热\nE2 | 过流\n\n完。\n"), rows);
        let whole = markdown("码 | 义\n:-: | -\nE1 | 过热\nE2 | 过流\n\n完。\n");
        assert_eq!((whole[1], &whole[2..]), ((Verbatim, ":-: | -"), &rows[..]));
    }

    #[test]
    fn headings_need_no_space_before_chinese() {
        use Block::*;
        assert_eq!(markdown("#手册\n##概述\n正文。\n"), [(Heading, "#手册"), (Heading, "##概述"), (Prose, "正文。")]);
        assert_eq!(markdown("# 手册\n\n文。\n\n#液压\n")[2], (Prose, "#液压"));
    }

    #[test]
    fn statutory_items_are_sentences_of_their_own() {
        let text = "第一条 有下列情形之一的，处罚款：\n\n（一）发生一般事故的，处三十万元以上的罚款；\n\n（二）发生较大事故的，处一百万元以上的罚款。\n";
        for format in [Format::Markdown, Format::PlainText] {
            let found = read(text, format);
            assert_eq!(found.len(), 3);
            assert!(found.iter().all(|(block, _)| *block == Block::Prose));
            assert!(found[1].1.starts_with("（一）") && found[1].1.ends_with("罚款；"));
        }
    }

    #[test]
    fn wrapped_plain_text_is_joined_and_short_lines_are_not() {
        use Block::*;
        let text = "The spindle must be stopped before the guard is opened, because\nthe tool keeps turning for a while. Wait until the lamp is\ngreen.\nParts list\nGuard\n";
        assert_eq!(
            plain(text),
            vec![
                (
                    Prose,
                    "The spindle must be stopped before the guard is opened, because\nthe tool keeps turning for a while."
                ),
                (Prose, "Wait until the lamp is\ngreen."),
                (Prose, "Parts list"),
                (Prose, "Guard"),
            ]
        );
        let rules = "1.1\tScope\r\nThe rules apply.\r\n(a)\tto all persons; and\r\n(b)\tto firms.\r\nA\t1\t2\r\n";
        let found = plain(rules);
        assert_eq!(found[0], (Heading, "1.1\tScope"));
        assert_eq!(found[2], (Prose, "(a)\tto all persons; and"));
        assert_eq!(found[4], (Row, "A\t1\t2"));
    }

    #[test]
    fn links_inside_a_wrapped_paragraph_belong_to_it() {
        let text = "- If using a board, use a\n  [good supply](https://a.example/b)\n  for it.\n\n[Contents](#c)\n\n- [A](#a)\n";
        let found = markdown(text);
        assert_eq!(
            found[0],
            (Block::Prose, "- If using a board, use a\n  [good supply](https://a.example/b)\n  for it.")
        );
        assert!(found[1..].iter().all(|(block, _)| *block == Block::Verbatim) && found.len() == 3);
    }

    #[test]
    fn long_sentences_are_cut_at_clauses() {
        let clause = "当温度超过限值时设备应停机，";
        let text = clause.repeat(200);
        for piece in pieces(&text, Format::Markdown) {
            let piece = &text[piece.start..piece.end];
            assert!(piece.chars().count() <= long::LONGEST && piece.ends_with('，'));
        }
        let code = format!("```\n{}```\n", "let x = 1;\n".repeat(200));
        assert!(
            pieces(&code, Format::Markdown)
                .iter()
                .all(|p| p.block == Block::Verbatim && p.end - p.start <= long::LONGEST)
        );
    }
}

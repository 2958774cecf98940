//! A text as a sequence of pieces: sentences of running text, list items, table rows, headings, verbatim blocks.
//!
//! Works line by line, so that any fragment of a document can be read: a section may start in the middle of a list. Every
//! character that is no white space lies in exactly one piece. Linear in the length of the text.

use super::classify::{
    columns, fence, html_close, is_atx, is_definition, is_empty_html, is_field, is_links_only, is_rule, is_sentence,
    is_setext, is_table_rule, starter,
};
use super::long::{self, Body};
use super::matter::{is_formula, is_grid, is_indented, is_indented_code, is_verbatim_line, math_block};
use super::{outline, sentence};
use crate::document::{Format, Line, front_matter, text_lines};

/// Plain-text lines wider than this are not wrapped by hand: each is a paragraph.
const WRAPPED: usize = 160;

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
    let mut reader = Reader { text, format, pieces: Vec::new(), run: None, blank: true, in_list: false };
    match format {
        Format::Markdown => reader.markdown(),
        Format::PlainText => reader.plain(),
    }
    reader.flush();
    reader.pieces
}

/// Lines gathered for one paragraph or list item.
#[derive(Clone, Copy)]
struct Run {
    line: usize,
    start: usize,
    end: usize,
    block: Block,
    cut: Cut,
}

struct Reader<'a> {
    text: &'a str,
    format: Format,
    pieces: Vec<Piece>,
    run: Option<Run>,
    /// True after a blank line and at the start.
    blank: bool,
    /// True under a list item, where indentation is no code.
    in_list: bool,
}

impl<'a> Reader<'a> {
    fn content(&self, line: &Line) -> &'a str {
        &self.text[line.start..line.end]
    }

    /// Byte range of `range` without surrounding white space.
    fn trimmed(&self, start: usize, end: usize) -> (usize, usize) {
        let raw = &self.text[start..end];
        let start = start + (raw.len() - raw.trim_start().len());
        (start, start + raw.trim().len())
    }

    fn markdown(&mut self) {
        let mut lines = text_lines(self.text).peekable();
        if let Some(front) = front_matter(self.text) {
            self.verbatim(front.start, front.end, Cut::Entry);
            while lines.peek().is_some_and(|line| line.start < front.end) {
                lines.next();
            }
        }
        let mut in_table = false;
        let mut open_comments = true;
        while let Some(line) = lines.next() {
            let content = self.content(&line);
            let trimmed = content.trim();
            let bare = trimmed.trim_start_matches(['>', ' ']);
            if bare.is_empty() && !trimmed.starts_with('>') {
                self.flush();
                (self.blank, in_table) = (true, false);
                continue;
            }
            if let Some(fence) = fence(bare) {
                self.flush();
                let mut end = line.end;
                for inner in lines.by_ref() {
                    end = inner.end;
                    let inner = self.content(&inner).trim().trim_start_matches(['>', ' ']);
                    if inner.starts_with(fence) && inner.trim_start_matches(&fence[..1]).is_empty() {
                        break;
                    }
                }
                let cut = self.paragraph_cut();
                self.verbatim(line.start, end, cut);
                continue;
            }
            if let Some(close) = html_close(bare).filter(|_| open_comments) {
                let from = line.start + content.find('<').unwrap_or(0);
                match self.text[from + 1..].find(close) {
                    Some(at) => {
                        self.flush();
                        let stop = from + 1 + at + close.len();
                        let mut last = line;
                        while last.end < stop {
                            match lines.next() {
                                Some(next) => last = next,
                                None => break,
                            }
                        }
                        let cut = self.paragraph_cut();
                        // Text behind a comment on its last line stays text.
                        if self.text[stop.min(last.end)..last.end].trim().is_empty() {
                            self.verbatim(line.start, last.end, cut);
                        } else {
                            self.verbatim(line.start, stop, cut);
                            self.run = Some(Run {
                                line: stop,
                                start: stop,
                                end: last.end,
                                block: Block::Prose,
                                cut: Cut::Nested,
                            });
                        }
                        continue;
                    }
                    None => open_comments = false,
                }
            }
            let block = math_block(&self.text[line.start..]).map(|len| line.start + len);
            if let Some(end) = block.or_else(|| self.code_end(&line)) {
                self.flush();
                while lines.peek().is_some_and(|next| next.start < end) {
                    lines.next();
                }
                let cut = self.paragraph_cut();
                self.verbatim(line.start, end, cut);
                continue;
            }
            let next = lines.peek().map(|next| self.content(next).trim());
            if is_atx(content) {
                self.flush();
                self.in_list = false;
                self.single(&line, Block::Heading, Cut::Entry);
            } else if self.run.is_some_and(|run| run.block == Block::Prose) && is_setext(content) {
                if let Some(run) = &mut self.run {
                    (run.end, run.block, run.cut) = (line.end, Block::Heading, Cut::Entry);
                }
                self.flush();
            } else if is_rule(bare) && !(in_table && bare.contains('|')) {
                self.flush();
                self.single(&line, Block::Verbatim, Cut::Nested);
            } else if bare.contains('|') && (in_table || bare.starts_with('|') || next.is_some_and(is_table_rule)) {
                self.flush();
                let cut = if in_table { Cut::Row } else { self.paragraph_cut() };
                let block = if is_table_rule(bare) { Block::Verbatim } else { Block::Row };
                self.single(&line, block, cut);
                in_table = true;
                continue;
            } else if is_grid(bare) {
                self.flush();
                let cut = self.paragraph_cut();
                self.single(&line, Block::Row, cut);
            } else if self.is_verbatim_block(bare, next)
                || (self.run.is_none() && is_definition(bare))
                || is_empty_html(bare)
            {
                self.flush();
                let cut = if self.blank { Cut::Paragraph } else { Cut::Nested };
                self.single(&line, Block::Verbatim, cut);
            } else {
                self.markdown_text(&line, bare);
            }
            in_table = false;
        }
    }

    /// A line of links, an address, a formula: as an item or a paragraph of its own, not as a line of a wrapped paragraph.
    fn is_verbatim_block(&self, bare: &str, next: Option<&str>) -> bool {
        let kept = |line: &str| is_links_only(line) || is_verbatim_line(line) || is_formula(line);
        let ends = next.is_none_or(|n| n.is_empty() || starter(n, 0, false).is_some() || kept(n));
        let marked = bare.starts_with(['-', '*', '+', '!', '|']);
        (marked && is_links_only(bare)) || (ends && (marked || self.run.is_none()) && kept(bare))
    }

    /// The end of the indented code that starts with `line`: after an empty line and outside a list.
    fn code_end(&self, line: &Line) -> Option<usize> {
        if self.in_list || !self.blank || self.run.is_some() || !is_indented_code(self.content(line)) {
            return None;
        }
        let inside = |line: &Line| is_indented(self.content(line)) && !self.content(line).trim().is_empty();
        text_lines(&self.text[line.start..])
            .map(|l| Line { start: l.start + line.start, end: l.end + line.start, next: l.next + line.start })
            .take_while(inside)
            .last()
            .map(|last| last.end)
    }

    /// A line of a paragraph or list item.
    fn markdown_text(&mut self, line: &Line, bare: &str) {
        let content = self.content(line);
        let indent = content.len() - content.trim_start().len();
        if let Some((block, cut)) = starter(bare, indent, self.blank) {
            self.in_list = block == Block::Item;
            self.begin(line, block, cut);
        } else if self.run.is_none() {
            self.in_list &= indent > 0;
            let cut = self.paragraph_cut();
            self.begin(line, Block::Prose, cut);
        } else if self.breaks_markdown_line(bare) {
            let block = self.run.map_or(Block::Prose, |run| run.block);
            self.begin(line, block, Cut::Nested);
        } else if let Some(run) = &mut self.run {
            run.end = line.end;
        }
        self.blank = false;
    }

    /// Whether the line after the open run is a new one and not the run's continuation: after a hard break, or where
    /// both lines are `label：value`.
    fn breaks_markdown_line(&self, next: &str) -> bool {
        let Some(run) = self.run else { return false };
        let raw = &self.text[run.start..run.end];
        let last = raw.rsplit(['\n', '\r']).next().unwrap_or(raw);
        let goes_on = last.trim_end().ends_with(['，', ',', '、', '(', '（']);
        let hard = last.ends_with("  ") || last.ends_with('\\') || last.ends_with("<br>") || last.ends_with("<br/>");
        !goes_on && (hard || (is_field(last.trim()) && is_field(next)))
    }

    fn plain(&mut self) {
        let marks = outline::plain(self.text);
        let mut marks = marks.iter().filter(|mark| mark.title.is_some()).peekable();
        let mut paragraph: Vec<(Line, usize)> = Vec::new();
        for line in text_lines(self.text) {
            let content = self.content(&line);
            let heading = marks.next_if(|mark| mark.start <= line.start).is_some();
            if heading || content.trim().is_empty() {
                self.plain_paragraph(&paragraph);
                paragraph.clear();
                self.blank = true;
                if heading {
                    self.single(&line, Block::Heading, Cut::Entry);
                }
                continue;
            }
            paragraph.push((line, columns(content)));
        }
        self.plain_paragraph(&paragraph);
    }

    /// Lines without a blank one between them. A line that is clearly shorter than the widest ends a paragraph of its own
    /// unless the next one goes on in lower case.
    fn plain_paragraph(&mut self, lines: &[(Line, usize)]) {
        let widest = lines.iter().map(|(_, width)| *width).max().unwrap_or(0);
        let wrapped = widest <= WRAPPED;
        let mut previous: Option<(&str, usize)> = None;
        for (line, width) in lines {
            let content = self.content(line);
            let bare = content.trim();
            let indent = content.len() - content.trim_start().len();
            let row = bare.bytes().filter(|&b| b == b'\t').count() > 1 || is_grid(bare);
            // A formula may be a line of a wrapped sentence.
            let alone = previous.is_none_or(|(last, _)| last.ends_with(['。', '.', ':', '：', ';', '；']));
            if row
                || !bare.chars().any(|c| c.is_alphanumeric())
                || is_verbatim_line(bare)
                || (alone && is_formula(bare))
            {
                self.flush();
                let cut = if self.blank { Cut::Paragraph } else { Cut::Row };
                self.single(line, if row { Block::Row } else { Block::Verbatim }, cut);
                previous = None;
                continue;
            }
            let goes_on = previous.is_some_and(|(last, width)| {
                let lower = bare.starts_with(|c: char| c.is_lowercase());
                let comma = last.ends_with(['，', ',', '、', '(', '（', '-']);
                let full = wrapped && width * 4 >= widest * 3 && width >= 24;
                // `　　` opens a paragraph in Chinese typesetting.
                (lower || comma || full)
                    && !content.starts_with("\u{3000}\u{3000}")
                    && !last.ends_with(['。', '！', '？', '；'])
            });
            match starter(bare, indent, self.blank) {
                Some((block, cut)) => self.begin(line, block, cut),
                None if self.run.is_none() => {
                    let cut = self.paragraph_cut();
                    self.begin(line, Block::Prose, cut);
                }
                None if goes_on => {
                    if let Some(run) = &mut self.run {
                        run.end = line.end;
                    }
                }
                None => self.begin(line, Block::Prose, if wrapped { Cut::Nested } else { Cut::Paragraph }),
            }
            self.blank = false;
            previous = Some((bare, *width));
        }
        self.flush();
    }

    fn paragraph_cut(&self) -> Cut {
        if self.blank { Cut::Paragraph } else { Cut::Nested }
    }

    fn begin(&mut self, line: &Line, block: Block, cut: Cut) {
        self.flush();
        self.run = Some(Run { line: line.start, start: line.start, end: line.end, block, cut });
    }

    fn single(&mut self, line: &Line, block: Block, cut: Cut) {
        let (start, end) = self.trimmed(line.start, line.end);
        self.push(Piece { start, end, line: line.start, block, cut }, Cut::Clause);
        self.blank = false;
    }

    /// A block that is kept as it stands; long ones are cut at lines.
    fn verbatim(&mut self, start: usize, end: usize, cut: Cut) {
        let (first, last) = self.trimmed(start, end);
        if first < last {
            self.push(Piece { start: first, end: last, line: start, block: Block::Verbatim, cut }, Cut::Row);
        }
        self.blank = false;
    }

    /// Ends the open run: its sentences become pieces.
    fn flush(&mut self) {
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
    fn push(&mut self, piece: Piece, inner: Cut) {
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
            (Verbatim, "<table>\n<tr><td>油压</td></tr>\n\n</table>"),
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

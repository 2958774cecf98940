//! Plain text line by line: paragraphs that were wrapped by hand, items, rows.

use super::blocks::{Block, Cut, Reader};
use super::classify::{columns, starter};
use super::matter::{is_formula, is_grid, is_verbatim_line};
use super::outline;
use crate::document::{Line, text_lines};

/// Plain-text lines wider than this are not wrapped by hand: each is a paragraph.
const WRAPPED: usize = 160;

impl Reader<'_> {
    /// Reads all of the text.
    pub(super) fn plain(&mut self) {
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
            match starter(bare, indent, self.blank, self.is_numbered()) {
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
}

//! Markdown line by line.

use super::blocks::{Block, Cut, Reader, Run};
use super::callout::callout;
use super::classify::{
    goes_on, is_atx, is_definition, is_empty_html, is_field, is_links_only, is_rule, is_sentence, is_setext,
    is_table_rule, opens_in_table, shows_what, starter,
};
use super::matter::{indent, is_code, is_container, is_formula, is_grid, is_verbatim_line, item_column, math_block};
use crate::document::{Line, fence, front_matter, text_lines, tight_headings};

/// Columns of indentation that make code.
const CODE: usize = 4;

impl Reader<'_> {
    /// Reads all of the text.
    pub(super) fn markdown(&mut self) {
        let mut tight = tight_headings(self.text).into_iter().peekable();
        let mut lines = text_lines(self.text).peekable();
        if let Some(front) = front_matter(self.text) {
            self.verbatim(front.start, front.end, Cut::Entry);
            while lines.peek().is_some_and(|line| line.start < front.end) {
                lines.next();
            }
        }
        let mut in_table = opens_in_table(self.text);
        while let Some(line) = lines.next() {
            while tight.next_if(|start| *start < line.start).is_some() {}
            let is_tight = tight.next_if_eq(&line.start).is_some();
            let content = self.content(&line);
            let trimmed = content.trim();
            let bare = trimmed.trim_start_matches(['>', ' ']);
            if bare.is_empty() && !trimmed.starts_with('>') {
                self.flush();
                (self.blank, in_table) = (true, false);
                continue;
            }
            let indent = indent(content);
            if self.run.is_none() {
                self.margin = self.margin.min(indent);
            }
            if let Some(fence) = fence(bare) {
                self.flush();
                self.margin = self.margin.min(indent).max(item_column(content).unwrap_or(0));
                let mut end = line.end;
                let quoted = trimmed.starts_with('>');
                // The end of a quote ends what it holds.
                let inside = |inner: &Line| !quoted || self.content(inner).trim_start().starts_with('>');
                while let Some(inner) = lines.next_if(inside) {
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
            if bare.starts_with("<!--") {
                let from = line.start + content.find('<').unwrap_or(0);
                if let Some(stop) = self.closed(from, "-->") {
                    self.comment(&line, stop, &mut lines);
                    continue;
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
            let (quoted, start) = (trimmed.starts_with('>'), line.start + content.len() - content.trim_start().len());
            if is_atx(content) || is_tight {
                self.flush();
                self.margin = 0;
                self.single(&line, Block::Heading, Cut::Entry);
            } else if self.run.is_some_and(|run| run.block == Block::Prose) && is_setext(content) {
                if let Some(run) = &mut self.run {
                    (run.end, run.block, run.cut) = (line.end, Block::Heading, Cut::Entry);
                }
                self.flush();
            } else if is_rule(bare) && !(in_table && bare.contains('|')) {
                self.flush();
                self.single(&line, Block::Verbatim, Cut::Nested);
            } else if let Some(callout) = callout(bare, quoted) {
                self.callout(&line, start + trimmed.len() - bare.len() + callout.len);
                self.margin = if callout.indents { indent + CODE } else { self.margin.min(indent) };
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
            } else if self.opens_with_tag(&line) {
                let end = self.html(&line, true);
                while lines.next_if(|next| next.start < end).is_some() {}
            } else if self.is_verbatim_block(bare, next)
                || (self.run.is_none() && is_definition(bare))
                || is_empty_html(bare)
            {
                self.flush();
                let cut = self.paragraph_cut();
                let block = if shows_what(bare) { Block::Prose } else { Block::Verbatim };
                self.single(&line, block, cut);
            } else if bare.contains('<') {
                let end = self.html(&line, false);
                while lines.next_if(|next| next.start < end).is_some() {}
            } else {
                self.markdown_text(&line, bare);
            }
            in_table = false;
        }
    }

    /// A comment that ends at `stop`. Text behind it on its last line stays text.
    fn comment(&mut self, line: &Line, stop: usize, lines: &mut std::iter::Peekable<impl Iterator<Item = Line>>) {
        self.flush();
        let mut last = *line;
        while last.end < stop {
            match lines.next() {
                Some(next) => last = next,
                None => break,
            }
        }
        let cut = self.paragraph_cut();
        if self.text[stop.min(last.end)..last.end].trim().is_empty() {
            self.verbatim(line.start, last.end, cut);
        } else {
            self.verbatim(line.start, stop, cut);
            self.run = Some(Run { line: stop, start: stop, end: last.end, block: Block::Prose, cut: Cut::Nested });
        }
    }

    /// The line of a callout whose mark ends at `end`: one piece, unless a sentence follows the mark.
    fn callout(&mut self, line: &Line, end: usize) {
        self.flush();
        let cut = self.paragraph_cut();
        let title = self.text[end..line.end].trim_matches(['"', '\'', ' ', '\t']);
        if !is_sentence(title) {
            return self.single(line, Block::Verbatim, cut);
        }
        self.single(&Line { end, ..*line }, Block::Verbatim, cut);
        self.begin(&Line { start: end, ..*line }, Block::Prose, Cut::Nested);
        self.flush();
    }

    /// A line of links, an address, a formula: as an item or a paragraph of its own, not as a line of a wrapped paragraph.
    fn is_verbatim_block(&self, bare: &str, next: Option<&str>) -> bool {
        let kept = |line: &str| is_links_only(line) || is_verbatim_line(line) || is_formula(line);
        let ends = next.is_none_or(|n| n.is_empty() || starter(n, 0, false, false).is_some() || kept(n));
        let marked = bare.starts_with(['-', '*', '+', '!', '|']);
        (marked && is_links_only(bare)) || (ends && (marked || self.run.is_none()) && kept(bare))
    }

    /// The end of the indented code that starts with `line`: after an empty line, indented further than the list item or
    /// callout around it.
    fn code_end(&self, line: &Line) -> Option<usize> {
        let inside = |line: &Line| {
            let content = self.content(line);
            indent(content) >= self.margin + CODE && !content.trim().is_empty()
        };
        if !self.blank || self.run.is_some() || self.in_table || !inside(line) || !is_code(self.content(line)) {
            return None;
        }
        text_lines(&self.text[line.start..])
            .map(|l| Line { start: l.start + line.start, end: l.end + line.start, next: l.next + line.start })
            .take_while(inside)
            .last()
            .map(|last| last.end)
    }

    /// A line of a paragraph or list item.
    pub(super) fn markdown_text(&mut self, line: &Line, bare: &str) {
        let content = self.content(line);
        let columns = indent(content);
        let indent = content.len() - content.trim_start().len();
        if let Some((block, cut)) = starter(bare, indent, self.blank, self.is_numbered()) {
            self.margin = if block == Block::Item { item_column(content).unwrap_or(columns) } else { 0 };
            self.begin(line, block, cut);
        } else if self.run.is_none() {
            let cut = self.paragraph_cut();
            self.begin(line, Block::Prose, cut);
        } else if self.breaks_markdown_line(bare) {
            let block = self.run.map_or(Block::Prose, |run| run.block);
            self.begin(line, block, Cut::Nested);
        } else if let Some(run) = &mut self.run {
            run.end = line.end;
        }
        if is_container(bare) {
            self.margin = columns + CODE;
        }
        self.blank = false;
    }

    /// Whether the line after the open run is a new one and not the run's continuation: after a hard break, or where
    /// both lines are `label：value`.
    fn breaks_markdown_line(&self, next: &str) -> bool {
        let Some(run) = self.run else { return false };
        let raw = &self.text[run.start..run.end];
        let last = raw.rsplit(['\n', '\r']).next().unwrap_or(raw);
        let broken = ["<br>", "<br/>", "<br />"].iter().find_map(|tag| last.strip_suffix(tag));
        let hard = broken.is_some() || last.ends_with("  ") || last.ends_with('\\');
        !goes_on(broken.unwrap_or(last)) && (hard || (is_field(last.trim()) && is_field(next)))
    }
}

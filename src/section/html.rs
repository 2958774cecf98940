//! HTML inside Markdown: tags that part text stand apart from it, rows of tables and headings are what they are.
//!
//! Works from where a line begins, like all of this room, so that a section may start in the middle of a table. Tags inside a
//! sentence (`<kbd>`, `<sub>`) stay in it: what is read has exact ranges.

use super::blocks::{Block, Cut, Piece, Reader};
use super::classify::{goes_on, shows_something};
use super::long::LONGEST;
use crate::document::markup::{self, Tag, has_empty_line, tag_at};
use crate::document::{Line, fence, text_lines};

/// Elements whose text is code or nobody's.
const RAW: &[(&str, &str)] =
    &[("pre", "</pre>"), ("script", "</script>"), ("style", "</style>"), ("textarea", "</textarea>")];
/// Bytes within which a code span must be closed.
const SPAN: usize = 200;

impl Reader<'_> {
    /// Where the construct ends that `close` closes, searched from byte `from`. What was once not found is not searched again.
    pub(super) fn closed(&mut self, from: usize, close: &'static str) -> Option<usize> {
        if self.unclosed.contains(&close) {
            return None;
        }
        let found = self.text.get(from..)?.find(close).map(|at| from + at + close.len());
        if found.is_none() {
            self.unclosed.push(close);
        }
        found
    }

    /// Whether `line` begins with a tag that parts text, a picture, or a tag that goes on in the next line.
    pub(super) fn opens_with_tag(&self, line: &Line) -> bool {
        let content = self.content(line);
        let lead = line.start + content.len() - content.trim_start_matches(['>', ' ', '\t']).len();
        let mut at = lead;
        while let Some(tag) = tag_at(self.text, at).filter(|tag| tag.start < line.end) {
            let component = tag.name.starts_with(|c: char| c.is_ascii_uppercase());
            let goes_on = tag.end > line.end && (tag.is_known() || component);
            if goes_on || (tag.start == lead && (tag.is_block() || tag.opens("img") || raw(&tag).is_some())) {
                return true;
            }
            let rest = &self.text[tag.end..line.end.max(tag.end)];
            at = tag.end + rest.len() - rest.trim_start().len();
        }
        false
    }

    /// Reads `line`, and the lines after it as far as a tag or a row goes on in them; gives the end of the last one. `opens`: it
    /// begins with a tag. In other lines only line breaks and end tags part text.
    pub(super) fn html(&mut self, line: &Line, mut opens: bool) -> usize {
        let text = self.text;
        let top = self.margin == 0 && !self.content(line).trim_start().starts_with('>');
        // Text from `from` on is not read yet; `clean` while only tags came on this line.
        let (mut from, mut at, mut stop) = (line.start, line.start, line.end);
        let (mut clean, mut item) = (top, false);
        let mut inline = Inline::default();
        while let Some(gap) = text[at..stop].find(['<', '`', '\\']) {
            let open = at + gap;
            at = open + 1;
            match text.as_bytes()[open] {
                b'\\' => at += text[at..stop].chars().next().map_or(0, char::len_utf8),
                b'`' => at = code_span(text, open, stop),
                _ => {
                    // What is commented out is no row. A word or two are left to the sentence around them.
                    if text[open..].starts_with("<!--")
                        && let Some(end) = self.closed(open, "-->")
                    {
                        if text[open + 4..end].contains(['。', '！', '？', '；', '.', '!', '?', '<', '\n']) {
                            self.fragment(from, open, item);
                            self.flush();
                            self.markup_piece(open, open, end, Block::Verbatim);
                            from = end;
                        }
                        (at, stop) = (end, self.line_end(end, stop));
                        continue;
                    }
                    let Some(tag) = tag_at(text, open) else { continue };
                    let breaks = tag.opens("br") && !goes_on(&text[from..open]);
                    // A term and what it means are read together: only the next term parts them.
                    let term = tag.closing && tag.is(&["dt"]);
                    let parts = breaks || (tag.is_block() && !term && !tag.opens("br") && (opens || tag.closing));
                    let raw = raw(&tag).filter(|_| opens).and_then(|close| self.closed(tag.end, close));
                    if !parts && raw.is_none() {
                        inline.pass(text, &tag);
                        (at, stop) = (tag.end, self.line_end(tag.end, stop));
                        continue;
                    }
                    opens |= tag.closing;
                    // List and quote marks in front of a tag are no text.
                    let mark = |c: char| c.is_whitespace() || matches!(c, '>' | '-' | '*' | '+');
                    let bare = from == line.start && text[from..open].chars().all(mark);
                    let lead = if bare { from } else { std::mem::take(&mut inline).tail(text, open) };
                    if !bare {
                        clean &= !self.fragment(from, lead, item);
                    }
                    self.flush();
                    let (end, block) = if let Some(end) = raw {
                        (end, Block::Verbatim)
                    } else if let Some((end, _)) = markup::heading(text, &tag).filter(|_| clean) {
                        (end, Block::Heading)
                    } else if let Some(end) = self.row_end(&tag) {
                        (end, Block::Row)
                    } else {
                        (self.tags_end(&tag, &mut stop), Block::Verbatim)
                    };
                    item = block == Block::Verbatim && raw.is_none() && holds_item(&text[open..end]);
                    self.markup_piece(lead, open, end, block);
                    (from, at) = (end, end);
                    stop = self.line_end(end, stop);
                }
            }
        }
        if from == line.start && !opens {
            self.markdown_text(line, self.content(line).trim().trim_start_matches(['>', ' ']));
            if let Some(run) = &mut self.run {
                run.end = stop;
            }
        } else {
            self.fragment(from, stop, item);
        }
        stop
    }

    /// Adds the piece `open..end`, and the marks that stand in front of it from `lead` on.
    fn markup_piece(&mut self, lead: usize, open: usize, end: usize, block: Block) {
        let line = |start, end| Line { start, end, next: end };
        let words = &self.text[open..end];
        let block = if block == Block::Row && !says_something(words) { Block::Verbatim } else { block };
        let before = self.pieces.last().map(|piece| piece.block);
        let cut = match block {
            Block::Heading => Cut::Entry,
            Block::Row if before == Some(Block::Row) && !self.blank => Cut::Row,
            _ => self.paragraph_cut(),
        };
        if block == Block::Verbatim {
            return self.verbatim(lead, end, cut);
        }
        if !self.text[lead..open].trim().is_empty() {
            self.single(&line(lead, open), Block::Verbatim, cut);
            return self.single(&line(open, end), block, cut);
        }
        self.single(&line(lead, end), block, cut);
        if block == Block::Heading {
            self.margin = 0;
        }
    }

    /// Text between tags. True where it has words.
    fn fragment(&mut self, from: usize, to: usize, item: bool) -> bool {
        let (start, end) = self.trimmed(from, to);
        let line = Line { start: from, end: to, next: to };
        let words = &self.text[start..end];
        if words.is_empty() {
            return false;
        }
        if has_words(words) {
            let bare = words.trim_start_matches(['>', ' ']);
            if item && self.run.is_none() {
                self.begin(&line, Block::Item, Cut::Item);
                self.blank = false;
            } else {
                self.markdown_text(&line, bare);
            }
            return true;
        }
        let block = if says_something(words) { Block::Prose } else { Block::Verbatim };
        if let Some(run) = self.run.as_mut().filter(|_| block == Block::Verbatim && !words.starts_with('<')) {
            run.end = to;
            return false;
        }
        self.flush();
        let cut = self.paragraph_cut();
        self.push(Piece { start, end, line: from, block, cut }, Cut::Clause);
        self.blank = false;
        block == Block::Prose
    }

    /// The end of the tags that follow each other from `tag` on. Tags that may begin a row or a heading are left to themselves.
    fn tags_end(&mut self, tag: &Tag<'_>, stop: &mut usize) -> usize {
        let mut end = tag.end;
        self.note_table(tag);
        loop {
            *stop = self.line_end(end, *stop);
            let space = &self.text[end..*stop];
            let next = end + space.len() - space.trim_start().len();
            if self.text[next..*stop].starts_with("<!--") {
                let Some(close) = self.closed(next, "-->") else { return end };
                end = close;
                continue;
            }
            let Some(tag) = tag_at(self.text, next).filter(Tag::is_known) else { return end };
            let inline = !tag.is_block() && !tag.closing && !wraps(self.text, &tag, *stop);
            if inline || tag.opens("img") || tag.opens("tr") || tag.heading_level().is_some() || next >= *stop {
                return end;
            }
            self.note_table(&tag);
            end = tag.end;
        }
    }

    fn note_table(&mut self, tag: &Tag<'_>) {
        if tag.is(&["table"]) {
            self.in_table = !tag.closing;
        }
    }

    /// The end of the row that `tag` opens: its end tag, or where the next row or the table begins or ends. `None` where blocks
    /// of Markdown stand in it: then these are read for what they are.
    fn row_end(&mut self, tag: &Tag<'_>) -> Option<usize> {
        /// What ends a row that is not closed.
        const OUTER: &[&str] = &["table", "thead", "tbody", "tfoot"];
        if !tag.opens("tr") {
            return None;
        }
        let text = self.text;
        let mut at = tag.end;
        let (end, closed) = loop {
            let Some(gap) = text[at..].find('<') else { break (text.len(), false) };
            let open = at + gap;
            at = open + 1;
            if text[open..].starts_with("<!--")
                && let Some(end) = self.closed(open, "-->")
            {
                at = end;
                continue;
            }
            let Some(next) = tag_at(text, open) else { continue };
            at = next.end;
            if next.closing && next.is(&["tr"]) {
                break (next.end, true);
            }
            if next.opens("tr") || next.is(OUTER) {
                break (open, true);
            }
        };
        let (start, end) = self.trimmed(tag.start, end);
        let row = &text[start..end];
        let fenced = text_lines(row).any(|line| fence(row[line.start..line.end].trim_start()).is_some());
        let short = closed && row.len() <= LONGEST * 3;
        (!fenced && (short || !has_empty_line(row))).then_some(end)
    }

    /// End of the line that byte `at` lies in, where the line before ends at `stop`.
    fn line_end(&self, at: usize, stop: usize) -> usize {
        if at <= stop {
            return stop;
        }
        self.text[at..].find(['\n', '\r']).map_or(self.text.len(), |end| at + end)
    }
}

/// The tags inside a stretch of text.
#[derive(Default)]
struct Inline {
    /// How many are open.
    depth: usize,
    /// The last end tags, if they close what was opened in front of the text.
    tail: Option<(usize, usize)>,
}

impl Inline {
    fn pass(&mut self, text: &str, tag: &Tag<'_>) {
        if !tag.closing {
            self.depth += usize::from(!tag.is(&["img", "wbr", "br"]));
        } else if self.depth > 0 {
            self.depth -= 1;
        } else {
            let before = self.tail.filter(|(_, end)| text[*end..tag.start].trim().is_empty());
            self.tail = Some((before.map_or(tag.start, |(start, _)| start), tag.end));
        }
    }

    /// Where the text in front of byte `open` ends: such end tags belong to what follows.
    fn tail(self, text: &str, open: usize) -> usize {
        self.tail.filter(|(_, end)| text[*end..open].trim().is_empty()).map_or(open, |(start, _)| start)
    }
}

/// Whether all of the text up to `stop` or to the next tag that parts text stands in the inline element that `tag` opens.
fn wraps(text: &str, tag: &Tag<'_>, stop: usize) -> bool {
    /// Bytes within which it must be closed.
    const REACH: usize = 2000;
    let stop = stop.max(tag.end).min(tag.end + REACH);
    let close = format!("</{}", tag.name);
    let Some(mut at) = text.get(tag.end..stop).and_then(|inside| inside.find(&close)).map(|at| tag.end + at) else {
        return false;
    };
    loop {
        let rest = &text[at..];
        let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        match tag_at(text, at + space) {
            Some(next) if next.is_block() => return true,
            Some(next) if next.closing && next.end < tag.end + 2 * REACH => at = next.end,
            _ => return text[at + space..].starts_with(['\n', '\r']) || at + space == text.len(),
        }
    }
}

/// What closes an element whose text is kept as it stands.
fn raw(tag: &Tag<'_>) -> Option<&'static str> {
    RAW.iter().find(|(name, _)| tag.opens(name)).map(|(_, close)| *close)
}

/// Whether the last of `tags` opens a list item.
fn holds_item(tags: &str) -> bool {
    let li = tags.rfind("<li").or_else(|| tags.rfind("<LI")).and_then(|at| tag_at(tags, at));
    li.is_some_and(|tag| tag.opens("li") && !tags[tag.end..].contains("</"))
}

/// Behind the code span that opens at `open`, or behind its marks where none is closed.
fn code_span(text: &str, open: usize, stop: usize) -> usize {
    let marks = text[open..stop].bytes().take_while(|&b| b == b'`').count();
    let (mut run, mut at) = (0, open + marks);
    for byte in text[at..stop].bytes().take(SPAN) {
        if byte != b'`' && run == marks {
            return at;
        }
        run = if byte == b'`' { run + 1 } else { 0 };
        at += 1;
    }
    if run == marks { at } else { open + marks }
}

/// Whether letters or digits stand in `text` outside tags.
fn has_words(text: &str) -> bool {
    /// Spaces with a name.
    const SPACES: &[&str] = &["&nbsp;", "&#160;", "&emsp;", "&ensp;"];
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if let Some(tag) = (c == '<').then(|| tag_at(text, at)).flatten() {
            at = tag.end;
        } else if c == '\\' {
            at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
        } else if c == '`' {
            let marks = at + text[at..].bytes().take_while(|&b| b == b'`').count();
            if code_span(text, at, text.len()) > marks {
                return true;
            }
            at = marks;
        } else if text[at..].starts_with("<!--") {
            at = text[at..].find("-->").map_or(text.len(), |end| at + end + 3);
        } else if let Some(space) = SPACES.iter().find(|space| text[at..].starts_with(**space)) {
            at += space.len();
        } else if c.is_alphanumeric() {
            return true;
        } else {
            at += c.len_utf8();
        }
    }
    false
}

/// Whether `text` has words, or a picture in it that is described.
pub(super) fn says_something(text: &str) -> bool {
    has_words(text) || text.match_indices("<img").any(|(at, _)| tag_at(text, at).is_some_and(|tag| shows(text, &tag)))
}

/// Whether the description of a picture is worth reading. In a link, it may be a badge: then only Chinese is.
fn shows(text: &str, tag: &Tag<'_>) -> bool {
    tag.description().is_some_and(|alt| shows_something(alt, text.starts_with("<a ")))
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;

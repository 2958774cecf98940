//! The text of documents that are not text files, written as Markdown.
//!
//! PDF, DOCX, XLSX, PPTX, HTML and EPUB files have no text of their own that ranges could count in. Their readers write one
//! with [`Notation`]: headings, paragraphs, list items, pipe tables and code in CommonMark's block marks, so that everything
//! behind [`super::Document`] sees the structure of any format the same way. Inline marks are never written, and words are
//! never changed: only a line that would read as another block gets a backslash, cells lose their line ends, and control
//! characters, which damaged files bring along, become spaces.

use std::borrow::Cow;

/// A place in the extracted text where a page (or slide, or sheet) begins.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Page {
    /// Byte of the extracted text in [`Extracted`], code point in [`Document`](super::Document).
    pub start: usize,
    /// Its number or name as a person would say it: `12`, `iv`, `Sheet1`.
    pub label: String,
}

/// Something that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Skipped {
    /// Where: `page 3`, `sheet 参数`.
    pub place: String,
    /// Why: `only an image`.
    pub reason: String,
}

/// What a reader makes of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Markdown; line ends are `\n`.
    pub text: String,
    /// The title that the file names itself, if any.
    pub title: Option<String>,
    /// Ascending starts; empty where the format has no pages.
    pub pages: Vec<Page>,
    /// `key: value` entries that the file carries about itself (`date`, `author`), keys in lower case.
    pub metadata: Vec<(String, String)>,
    /// Parts without text, in order.
    pub skipped: Vec<Skipped>,
}

impl Extracted {
    /// Takes the control characters out of all that is said beside the text.
    pub(super) fn without_controls(mut self) -> Self {
        let clean = |text: &mut String| {
            if let Cow::Owned(new) = shown(text) {
                *text = new;
            }
        };
        self.title.iter_mut().for_each(clean);
        self.pages.iter_mut().for_each(|page| clean(&mut page.label));
        self.metadata.iter_mut().for_each(|(key, value)| (clean(key), clean(value)).0);
        self.skipped.iter_mut().for_each(|part| (clean(&mut part.place), clean(&mut part.reason)).0);
        self
    }
}

/// Writes [`Extracted::text`] block by block.
#[derive(Debug, Default)]
pub(crate) struct Notation {
    out: Extracted,
    /// The last block was a list item: the next item follows on the next line.
    in_list: bool,
    /// Depth of the first item of the list.
    base: usize,
    /// Depth of the last list item.
    depth: usize,
}

/// Why pictures are named.
pub(crate) const PICTURES: &str = "pictures: words in them are not read";

impl Notation {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Bytes written so far.
    pub(crate) fn len(&self) -> usize {
        self.out.text.len()
    }

    /// A heading of `level` 1 to 6. Line ends inside become spaces; nothing is written for white space alone.
    pub(crate) fn heading(&mut self, level: u8, text: &str) {
        let text = one_line(text);
        if text.is_empty() {
            return;
        }
        self.block();
        for _ in 0..level.clamp(1, 6) {
            self.out.text.push('#');
        }
        self.out.text.push(' ');
        self.out.text.push_str(&text);
        self.out.text.push('\n');
    }

    /// A paragraph. Its line ends stay, lines without words go.
    pub(crate) fn paragraph(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let text = shown(text);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
        if lines.peek().is_some() {
            self.block();
        }
        for line in lines {
            self.line("", line);
        }
    }

    /// A list item at `depth` (0 outermost). `marker` is the displayed number (`1.`, `（一）`) or empty for a bullet.
    pub(crate) fn item(&mut self, depth: usize, marker: &str, text: &str) {
        let text = one_line(text);
        if text.is_empty() && marker.is_empty() {
            return;
        }
        // An item lies at most one deeper than the one before it, and the first at the margin: further in, CommonMark takes it
        // for code.
        let deepest = if self.in_list { self.depth + 1 } else { 0 };
        if !self.in_list {
            self.block();
            self.base = depth;
        }
        self.in_list = true;
        self.depth = depth.saturating_sub(self.base).min(deepest).min(8);
        self.out.text.push_str(&"  ".repeat(self.depth));
        self.out.text.push_str("- ");
        for part in [shown(marker).trim(), text.as_str()] {
            if !part.is_empty() {
                if !self.out.text.ends_with(' ') {
                    self.out.text.push(' ');
                }
                self.out.text.push_str(part);
            }
        }
        self.out.text.push('\n');
    }

    /// A further paragraph of the item at `depth` that was written last.
    pub(crate) fn item_paragraph(&mut self, depth: usize, text: &str) {
        if !self.in_list {
            return self.paragraph(text);
        }
        let indent = "  ".repeat(depth.saturating_sub(self.base).min(self.depth) + 1);
        let text = shown(text);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
        if lines.peek().is_some() {
            self.out.text.push('\n');
        }
        for line in lines {
            self.line(&indent, line);
        }
    }

    /// A table. With `header` its first row names the columns. Rows without words go, short rows are filled up; but a row of one
    /// cell in a wider table is a title among its rows, and stays one cell.
    pub(crate) fn table(&mut self, rows: &[Vec<String>], header: bool) {
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        let is_empty = |row: &&Vec<String>| row.iter().all(|cell| cell.trim().is_empty());
        let mut rows = rows.iter().filter(|row| !is_empty(row)).peekable();
        if rows.peek().is_none() {
            return;
        }
        self.block();
        for (n, row) in rows.enumerate() {
            self.table_row(row, if n > 0 && row.len() == 1 { 1 } else { width });
            if n == 0 && header {
                self.rule(width);
            }
        }
    }

    /// More rows of the table that was written last, for tables that are too long to lie in memory twice.
    pub(crate) fn more_rows(&mut self, rows: &[Vec<String>]) {
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        for row in rows {
            self.table_row(row, if row.len() == 1 { 1 } else { width });
        }
    }

    /// Begins a table that is written row by row with [`Notation::table_row`]; with `header` this row names the columns.
    pub(crate) fn begin_table(&mut self, row: &[String], width: usize, header: bool) {
        self.block();
        self.table_row(row, width);
        if header {
            self.rule(width);
        }
    }

    fn rule(&mut self, width: usize) {
        self.out.text.push('|');
        self.out.text.push_str(&" --- |".repeat(width));
        self.out.text.push('\n');
    }

    /// A further row of the table that was begun last.
    pub(crate) fn table_row(&mut self, row: &[String], width: usize) {
        self.out.text.push('|');
        for at in 0..width {
            let cell = row.get(at).map_or("", String::as_str);
            self.out.text.push(' ');
            // Large tables are mostly single words and numbers.
            if cell.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'|') {
                self.out.text.push_str(cell);
            } else {
                self.out.text.push_str(&one_line(cell).replace('|', "\\|"));
            }
            self.out.text.push_str(if self.out.text.ends_with(' ') { "|" } else { " |" });
        }
        self.out.text.push('\n');
    }

    /// Code or preformatted text, line by line as it stands.
    pub(crate) fn code(&mut self, text: &str) {
        let text = shown(text);
        let text = text.trim_end();
        if text.trim().is_empty() {
            return;
        }
        self.block();
        // Longer than any run of its mark in the text; a run may be as long as the text.
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.out.text.push_str(&format!("{fence}\n{text}\n{fence}\n"));
    }

    /// A page begins here. A page without text keeps its entry.
    pub(crate) fn page(&mut self, label: impl Into<String>) {
        self.out.pages.push(Page { start: self.out.text.len(), label: label.into() });
    }

    /// Names the places with pictures as large as a screenshot or a table. `places` are all pages or slides (`kind`) in order,
    /// by their labels; those without such pictures are `None`.
    pub(crate) fn pictures(&mut self, kind: &str, places: impl Iterator<Item = Option<String>>) {
        let mut runs: Vec<(String, Option<String>)> = Vec::new();
        let mut follows = false;
        for place in places {
            match (place, runs.last_mut()) {
                (Some(label), Some(run)) if follows => run.1 = Some(label),
                (Some(label), _) => {
                    runs.push((label, None));
                    follows = true;
                }
                (None, _) => follows = false,
            }
        }
        let run = |(first, last): &(String, Option<String>)| match last {
            Some(last) => format!("{first}–{last}"),
            None => first.clone(),
        };
        let plural = if matches!(runs[..], [(_, None)]) { "" } else { "s" };
        if !runs.is_empty() {
            let places: Vec<String> = runs.iter().map(run).collect();
            self.skipped(format!("{kind}{plural} {}", places.join(", ")), PICTURES);
        }
    }

    /// Names a part that was not read.
    pub(crate) fn skipped(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.out.skipped.push(Skipped { place: place.into(), reason: reason.into() });
    }

    /// The title that the file gives itself. White space alone is none.
    pub(crate) fn title(&mut self, title: &str) {
        let title = one_line(title);
        if !title.is_empty() {
            self.out.title = Some(title);
        }
    }

    /// An entry that the file carries about itself.
    pub(crate) fn metadata(&mut self, key: &str, value: &str) {
        let value = one_line(value);
        if !value.is_empty() {
            self.out.metadata.push((key.to_lowercase(), value));
        }
    }

    /// All that was written.
    pub(crate) fn finish(mut self) -> Extracted {
        let end = self.out.text.len();
        for page in &mut self.out.pages {
            page.start = page.start.min(end);
        }
        self.out
    }

    /// Ends what came before with an empty line.
    fn block(&mut self) {
        self.in_list = false;
        if !self.out.text.is_empty() {
            self.out.text.push('\n');
        }
    }

    /// A line of running text; a backslash keeps it from reading as another block.
    fn line(&mut self, indent: &str, line: &str) {
        self.out.text.push_str(indent);
        if reads_as_block(line) {
            self.out.text.push('\\');
        }
        self.out.text.push_str(line);
        self.out.text.push('\n');
    }
}

/// True for a line of words that CommonMark would take for a heading, table row, quote, rule, fence or HTML block. List
/// marks are left alone: a paragraph that starts with `- ` or `1.` is an item to its readers, too.
fn reads_as_block(line: &str) -> bool {
    let hashes = line.len() - line.trim_start_matches('#').len();
    let is_rule = |mark: char| line.chars().all(|c| c == mark || c == ' ') && line.contains(mark);
    // Readers of Chinese text take `##安装` for a heading, too.
    let is_heading = |c: char| c.is_whitespace() || is_wide(c);
    (1..=6).contains(&hashes) && line[hashes..].chars().next().is_none_or(is_heading)
        || line.starts_with(['|', '>', '<'])
        || line.starts_with("```")
        || line.starts_with("~~~")
        || ['-', '=', '*', '_', '+'].into_iter().any(is_rule)
}

/// `text` on one line, white space collapsed. Between two Chinese characters a line end leaves no space.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in shown(text).lines() {
        for (n, word) in line.split_whitespace().enumerate() {
            let wide = |c: Option<char>| c.is_some_and(is_wide);
            let joined = n == 0 && wide(out.chars().next_back()) && wide(word.chars().next());
            if !out.is_empty() && !joined {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

/// `text` with `\n` for every line end and a space for every other control character but the tab.
fn shown(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    Cow::Owned(
        text.chars()
            .map(|c| {
                if c == '\r' {
                    '\n'
                } else if is_odd(c) {
                    ' '
                } else {
                    c
                }
            })
            .collect(),
    )
}

/// Chinese characters and full-width punctuation, which are written without spaces.
pub(crate) fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_written_as_markdown() {
        let mut notation = Notation::new();
        notation.page("1");
        notation.heading(2, "第一章\n总则");
        notation.paragraph("# 不是标题\n设备应当接地。\n\n| 也不是 |");
        notation.item(0, "（一）", "断电；");
        notation.item(1, "", "wait 5\nminutes");
        notation.page("2");
        let cells = |row: &[&str]| row.iter().map(|cell| cell.to_string()).collect::<Vec<_>>();
        notation.table(&[cells(&["代码", "a|b"]), cells(&["", " "]), cells(&["E01", "过热\n停机", "x"])], true);
        notation.code("let a = 1;\n```\n");
        let out = notation.finish();
        let expected = "## 第一章总则\n\n\\# 不是标题\n设备应当接地。\n\\| 也不是 |\n\n- （一） 断电；\n  - wait 5 minutes\n\n\
                        | 代码 | a\\|b | |\n| --- | --- | --- |\n| E01 | 过热停机 | x |\n\n````\nlet a = 1;\n```\n````\n";
        assert_eq!(out.text, expected);
        let starts: Vec<usize> = out.pages.iter().map(|page| page.start).collect();
        assert_eq!(starts, [0, expected.find("\n| 代码").unwrap_or(0)]);
    }

    #[test]
    fn items_go_on_and_begin_at_the_margin() {
        let mut notation = Notation::new();
        notation.item(3, "", "a");
        notation.item_paragraph(3, "b\n# c");
        notation.item(4, "1.", "d");
        notation.item(0, "", "e");
        notation.paragraph("f");
        notation.item_paragraph(0, "g");
        assert_eq!(notation.finish().text, "- a\n\n  b\n  \\# c\n  - 1. d\n- e\n\nf\n\ng\n");
    }

    #[test]
    fn control_characters_become_spaces_before_a_line_is_judged() {
        let mut notation = Notation::new();
        notation.paragraph("\u{1}# a\r| b |\r\nc\0d\u{9b}e");
        notation.item(0, "1\u{7}.", "x\ry\u{7f}z");
        notation.begin_table(&["a\u{1b}b".to_string()], 1, false);
        notation.code("a\tb\u{8}\rc");
        notation.skipped("a\u{1b}", "b");
        let out = notation.finish().without_controls();
        assert_eq!(out.text, "\\# a\n\\| b |\nc d e\n\n- 1 . x y z\n\n| a b |\n\n```\na\tb \nc\n```\n");
        assert_eq!(out.skipped[0].place, "a ");
    }

    #[test]
    fn what_has_no_words_is_not_written() {
        let mut notation = Notation::new();
        notation.heading(1, " \n ");
        notation.paragraph("\n\n");
        notation.table(&[vec![String::new()]], true);
        notation.code(" \n");
        notation.item(0, "", "");
        notation.title(" ");
        notation.metadata("Date", "");
        assert_eq!(notation.finish(), Extracted::default());
    }
}

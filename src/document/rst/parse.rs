//! The blocks of a file (docutils: "Body Elements" and "Document Structure").
//!
//! Blocks within blocks are told by indentation. Each level is read from its lines without their common indent; levels
//! beyond [`DEEPEST_BLOCK`] are read as paragraphs, so that a file of any shape costs a bounded multiple of its length.

use super::inline::Inline;
use super::out::Out;
use super::{simple, table};
use crate::document::budget::Budget;
use crate::document::notation::{Extracted, one_line};
use crate::error::Result;

/// Blocks that may lie inside each other.
const DEEPEST_BLOCK: usize = 32;

/// Reads blocks and writes them.
pub(super) struct Parser<'b> {
    pub(super) out: Out,
    pub(super) inline: Inline,
    pub(super) budget: &'b mut Budget,
    /// Adornments of headings in the order of their levels: the sign, and whether it stands above as well.
    adornments: Vec<(char, bool)>,
    /// The items of lists that are open.
    items: Vec<Item>,
    depth: usize,
}

struct Item {
    marker: String,
    is_used: bool,
}

impl<'b> Parser<'b> {
    pub(super) fn new(out: Out, inline: Inline, budget: &'b mut Budget) -> Self {
        Self { out, inline, budget, adornments: Vec::new(), items: Vec::new(), depth: 0 }
    }

    pub(super) fn finish(mut self) -> Extracted {
        if self.inline.is_cut() {
            self.out.skipped("substitutions", "they add too much text; those further on stand as they are written");
        }
        self.out.finish()
    }

    /// Reads a whole file.
    pub(super) fn document(&mut self, lines: &[&str]) -> Result<()> {
        self.docinfo(lines);
        self.blocks(lines)
    }

    /// The fields before the first section or behind the title of a file (docutils: "Bibliographic Fields").
    fn docinfo(&mut self, lines: &[&str]) {
        for line in lines.iter().take(60) {
            let Some((name, value)) = field(line) else { continue };
            let key = match name.to_lowercase().as_str() {
                "date" | "日期" => "date",
                "author" | "authors" | "作者" => "author",
                "version" | "版本" => "version",
                "revision" => "revision",
                _ => continue,
            };
            self.out.metadata(key, value);
        }
    }

    /// Reads the lines of one level.
    pub(super) fn blocks(&mut self, lines: &[&str]) -> Result<()> {
        self.budget.check()?;
        if self.depth >= DEEPEST_BLOCK {
            for paragraph in lines.split(|line| line.is_empty()) {
                self.paragraph(&paragraph.join("\n"));
            }
            return Ok(());
        }
        self.depth += 1;
        let result = self.level(lines);
        self.depth -= 1;
        result
    }

    fn level(&mut self, lines: &[&str]) -> Result<()> {
        let mut at = 0;
        let mut seen = 0usize;
        while let Some(line) = lines.get(at) {
            seen += 1;
            if seen.is_multiple_of(256) {
                self.budget.check()?;
            }
            at = if line.is_empty() {
                at + 1
            } else if line.starts_with(' ') {
                let end = indented(lines, at, 1);
                self.blocks(&dedent(&lines[at..end]))?;
                end
            } else if let Some(end) = self.item(lines, at)? {
                end
            } else if let Some((name, value)) = field(line) {
                self.field(lines, at, name, value)?
            } else if line.starts_with(">>> ") {
                let end = block_end(lines, at);
                self.code(&lines[at..end]);
                end
            } else if line.starts_with("| ") || *line == "|" {
                self.line_block(lines, at)
            } else if table::is_top(line) {
                self.grid_table(lines, at)?
            } else if simple::is_border(line) && simple::end(lines, at).is_some() {
                self.simple_table(lines, at)?
            } else if is_explicit(line) {
                self.explicit(lines, at)?
            } else if line.starts_with("__ ") {
                at + 1
            } else if let Some(end) = self.title(lines, at) {
                end
            } else {
                self.text(lines, at)?
            };
        }
        Ok(())
    }

    /// Writes a paragraph where it stands.
    pub(super) fn paragraph(&mut self, text: &str) {
        let words = self.inline.words(&one_line(text));
        if words.trim().is_empty() {
            return;
        }
        let depth = self.items.len().saturating_sub(1);
        match self.items.last_mut() {
            Some(item) if !item.is_used => {
                item.is_used = true;
                self.out.item(depth, &item.marker, &words);
            }
            Some(_) => self.out.item_paragraph(depth, &words),
            None => self.out.paragraph(&words),
        }
    }

    /// Writes the marker of an item whose first block is no paragraph.
    pub(super) fn write_marker(&mut self) {
        let depth = self.items.len().saturating_sub(1);
        if let Some(item) = self.items.last_mut().filter(|item| !item.is_used) {
            item.is_used = true;
            if !item.marker.is_empty() {
                self.out.item(depth, &item.marker, "");
            }
        }
    }

    pub(super) fn code(&mut self, lines: &[&str]) {
        self.write_marker();
        let lines = dedent(lines);
        self.out.code(lines.join("\n").trim_matches('\n'));
    }

    /// Reads the blocks of an item.
    pub(super) fn item_body(&mut self, marker: &str, body: &[&str]) -> Result<()> {
        self.items.push(Item { marker: marker.to_string(), is_used: false });
        let result = self.blocks(body);
        self.write_marker();
        self.items.pop();
        result
    }

    /// An item of a list at line `at`; the line after it.
    fn item(&mut self, lines: &[&str], at: usize) -> Result<Option<usize>> {
        let line = lines[at];
        let (marker, width) = match bullet(line) {
            Some(width) => (String::new(), width),
            None => match enumerator(line) {
                Some((marker, width)) if is_item(lines, at) => (marker.to_string(), width),
                _ => return Ok(None),
            },
        };
        let end = indented(lines, at + 1, 1);
        let first = line[width..].trim_start();
        let indent = width + (line.len() - width - first.len());
        let mut body = vec![first];
        // Lines that are indented less than the text of the item are common and meant to belong to it.
        let rest = &lines[at + 1..end];
        let least = rest.iter().filter(|line| !line.is_empty()).map(|line| indent_of(line)).min().unwrap_or(indent);
        body.extend(rest.iter().map(|line| line.get(least.min(indent).min(indent_of(line))..).unwrap_or_default()));
        self.write_marker_of_outer();
        self.item_body(&marker, &body)?;
        Ok(Some(end))
    }

    fn write_marker_of_outer(&mut self) {
        if self.items.last().is_some_and(|item| !item.is_used) {
            self.write_marker();
        }
    }

    /// A field of a list of fields.
    fn field(&mut self, lines: &[&str], at: usize, name: &str, value: &str) -> Result<usize> {
        let end = indented(lines, at + 1, 1);
        let mut body = vec![value];
        let rest = dedent(&lines[at + 1..end]);
        body.extend(rest);
        let words = self.inline.words(name);
        if body.iter().all(|line| line.is_empty()) {
            self.item_body(&format!("{words}:"), &[])?;
        } else {
            self.item_body(&format!("{words}:"), &body)?;
        }
        Ok(end)
    }

    fn line_block(&mut self, lines: &[&str], at: usize) -> usize {
        let end = block_end(lines, at);
        let mut words = Vec::new();
        for line in &lines[at..end] {
            words.push(self.inline.words(line.strip_prefix('|').unwrap_or(line).trim()));
        }
        self.write_marker();
        self.out.paragraph(&words.join("\n"));
        end
    }

    /// A heading at line `at`; the line after its adornment.
    fn title(&mut self, lines: &[&str], at: usize) -> Option<usize> {
        let get = |at: usize| lines.get(at).copied().unwrap_or_default();
        let (line, next, after) = (get(at), get(at + 1), get(at + 2));
        if let Some(sign) = adornment(line) {
            let is_title = !next.trim().is_empty()
                && adornment(next).is_none()
                && adornment(after) == Some(sign)
                && line.len() > 1;
            if is_title {
                self.heading((sign, true), next);
                return Some(at + 3);
            }
            // A rule between paragraphs.
            return (line.len() >= 4 && next.is_empty()).then_some(at + 1);
        }
        let sign = adornment(next)?;
        if next.len() < 4 && next.len() < table::width(line) {
            return None;
        }
        self.heading((sign, false), line);
        Some(at + 2)
    }

    fn heading(&mut self, adornment: (char, bool), text: &str) {
        let level = match self.adornments.iter().position(|known| *known == adornment) {
            Some(level) => level,
            None => {
                self.adornments.push(adornment);
                self.adornments.len() - 1
            }
        };
        self.write_marker();
        let words = self.inline.words(text.trim());
        self.out.heading((level + 1).min(6) as u8, &words);
    }

    /// A paragraph, a term with its definition, or what announces a literal block.
    fn text(&mut self, lines: &[&str], at: usize) -> Result<usize> {
        let is_indented = |at: usize| lines.get(at).is_some_and(|line| line.starts_with(' '));
        if is_indented(at + 1) && !lines[at].ends_with("::") {
            let end = indented(lines, at + 1, 1);
            self.write_marker_of_outer();
            self.item_body("", &[lines[at]])?;
            self.items.push(Item { marker: String::new(), is_used: true });
            let result = self.item_body("", &dedent(&lines[at + 1..end]));
            self.items.pop();
            result?;
            return Ok(end);
        }
        let mut end = at + 1;
        while lines.get(end).is_some_and(|line| !line.is_empty() && !line.starts_with(' ') && !is_directive(line)) {
            end += 1;
        }
        let text = lines[at..end].join("\n");
        let Some(lead) = text.strip_suffix("::") else {
            self.paragraph(&text);
            return Ok(end);
        };
        let mut next = end;
        while lines.get(next).is_some_and(|line| line.is_empty()) {
            next += 1;
        }
        if !lead.trim().is_empty() {
            self.paragraph(&if lead.ends_with(char::is_whitespace) { lead.to_string() } else { format!("{lead}:") });
        }
        if is_indented(next) {
            end = indented(lines, next, 1);
            self.code(&lines[next..end]);
        } else if let Some(sign) =
            lines.get(next).and_then(|line| line.chars().next()).filter(char::is_ascii_punctuation)
        {
            // A literal block whose lines are all quoted by one sign.
            end = next;
            while lines.get(end).is_some_and(|line| line.starts_with(sign)) {
                end += 1;
            }
            self.code(&lines[next..end]);
        }
        Ok(end)
    }

    fn grid_table(&mut self, lines: &[&str], at: usize) -> Result<usize> {
        let mut end = at;
        while lines.get(end).is_some_and(|line| line.starts_with(['+', '|'])) {
            end += 1;
        }
        self.write_marker();
        table::read(self, &lines[at..end])?;
        Ok(end)
    }

    fn simple_table(&mut self, lines: &[&str], at: usize) -> Result<usize> {
        let end = simple::end(lines, at).unwrap_or(at + 1);
        self.write_marker();
        simple::read(self, &lines[at..end])?;
        Ok(end)
    }

    /// The words of a cell, with all that blocks in it say.
    pub(super) fn cell(&mut self, lines: &[&str]) -> Result<String> {
        self.out.begin_cell();
        let items = std::mem::take(&mut self.items);
        let result = self.blocks(&dedent(lines));
        self.items = items;
        let words = self.out.end_cell();
        result.map(|()| words)
    }
}

/// True for `.. ` and a lone `..`.
fn is_explicit(line: &str) -> bool {
    line == ".." || line.starts_with(".. ")
}

/// True for `.. name::`.
fn is_directive(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(".. ") else { return false };
    rest.split_once("::").is_some_and(|(name, _)| {
        let name = name.trim();
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+'))
    })
}

/// Bytes of the bullet.
fn bullet(line: &str) -> Option<usize> {
    let first = line.chars().next().filter(|c| matches!(c, '*' | '+' | '-' | '•' | '‣' | '⁃'))?;
    let rest = &line[first.len_utf8()..];
    (rest.is_empty() || rest.starts_with(' ')).then_some(first.len_utf8())
}

/// The number of an item as written, and its bytes: `1.`, `a)`, `(iv)`, `#.`.
fn enumerator(line: &str) -> Option<(&str, usize)> {
    let open = usize::from(line.starts_with('('));
    let body = &line[open..];
    let length = body.bytes().take(10).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    let number = &body[..length];
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit()) || number == "#" || length == 1;
    let is_roman = number.bytes().all(|byte| b"ivxlcdmIVXLCDM".contains(&byte));
    let close = body[length..].chars().next().filter(|c| matches!(c, '.' | ')'))?;
    if length == 0 || !(is_number || is_roman) || (open == 1 && close != ')') {
        return None;
    }
    let width = open + length + 1;
    let rest = &line[width..];
    (rest.is_empty() || rest.starts_with(' ')).then(|| (if number == "#" { "" } else { &line[..width] }, width))
}

/// True unless the next line shows that a number only begins a paragraph or a heading.
fn is_item(lines: &[&str], at: usize) -> bool {
    lines.get(at + 1).is_none_or(|next| {
        next.is_empty()
            || next.starts_with(' ')
            || enumerator(next).is_some()
            || is_explicit(next)
            || bullet(next).is_some()
    })
}

/// `:name: value`, with a name that is none of a role.
fn field(line: &str) -> Option<(&str, &str)> {
    let body = line.strip_prefix(':')?;
    let (name, value) = body.split_once(':')?;
    let is_name = !name.is_empty() && !name.starts_with(' ') && !name.contains('`') && name.len() <= 80;
    (is_name && (value.is_empty() || value.starts_with(' '))).then(|| (name, value.trim()))
}

/// The sign that the whole line repeats.
fn adornment(line: &str) -> Option<char> {
    let first = line.chars().next().filter(char::is_ascii_punctuation)?;
    line.chars().all(|c| c == first).then_some(first)
}

pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The end of the lines from `at` that are blank or indented by `least`, without the blank ones at the end.
pub(super) fn indented(lines: &[&str], at: usize, least: usize) -> usize {
    let mut end = at;
    let mut next = at;
    while let Some(line) = lines.get(next) {
        if line.is_empty() {
            next += 1;
        } else if indent_of(line) >= least {
            next += 1;
            end = next;
        } else {
            break;
        }
    }
    end
}

/// The end of the lines from `at` that are not blank.
fn block_end(lines: &[&str], at: usize) -> usize {
    lines[at..].iter().position(|line| line.is_empty()).map_or(lines.len(), |length| at + length)
}

/// The lines without their common indent.
pub(super) fn dedent<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let least = lines.iter().filter(|line| !line.is_empty()).map(|line| indent_of(line)).min().unwrap_or(0);
    lines.iter().map(|line| line.get(least..).unwrap_or_default()).collect()
}

//! Explicit markup: directives, footnotes, targets, substitutions, comments.
//!
//! A directive that is not known keeps its argument and content as text, because whatever it does, its author wrote words
//! into it. Those that bring in other files are named.

use super::parse::{Parser, dedent, indented};
use crate::document::csv;
use crate::document::grid::Grid;
use crate::error::Result;

/// A directive as written.
struct Directive<'a> {
    name: String,
    argument: String,
    options: Vec<(&'a str, String)>,
    content: Vec<&'a str>,
}

impl Directive<'_> {
    fn option(&self, key: &str) -> Option<&str> {
        self.options.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str())
    }
}

impl Parser<'_> {
    /// Reads the explicit markup at line `at`; the line after it.
    pub(super) fn explicit(&mut self, lines: &[&str], at: usize) -> Result<usize> {
        let end = indented(lines, at + 1, 1);
        let first = lines[at].get(2..).unwrap_or_default().trim();
        let body = dedent(&lines[at + 1..end]);
        if let Some((label, rest)) = footnote(first) {
            let mut note = vec![rest];
            note.extend(body);
            self.item_body(label, &note)?;
            return Ok(end);
        }
        if first.starts_with(['_', '|']) {
            return Ok(end);
        }
        let name = first.split_once("::").map(|(name, _)| name.trim());
        let is_name = |name: &&str| !name.is_empty() && !name.contains(char::is_whitespace) && name.len() <= 60;
        if let Some(name) = name.filter(is_name) {
            let argument = first.split_once("::").map_or("", |(_, argument)| argument.trim());
            let directive = directive(name, argument, &body);
            self.directive(&directive)?;
        }
        // All else is a comment.
        Ok(end)
    }

    fn directive(&mut self, directive: &Directive<'_>) -> Result<()> {
        let name = directive.name.as_str();
        let all = || {
            let mut lines = vec![directive.argument.as_str()];
            lines.extend(&directive.content);
            lines
        };
        if let Some(kind) = self.out.kind(name) {
            self.out.begin_admonition(kind);
            self.blocks(&all())?;
            self.out.end_admonition();
            return Ok(());
        }
        match name {
            "admonition" | "topic" | "sidebar" | "dropdown" | "details" | "tab-item" | "tab" | "grid-item-card"
            | "card" => {
                self.paragraph(&directive.argument);
                self.blocks(&directive.content)
            }
            "versionadded" | "versionchanged" | "deprecated" => {
                let word = match name {
                    "versionadded" => "New in version",
                    "versionchanged" => "Changed in version",
                    _ => "Deprecated since version",
                };
                self.paragraph(&format!("{word} {}", directive.argument));
                self.blocks(&directive.content)
            }
            "image" | "figure" => self.picture(directive),
            "centered" | "rubric" => {
                self.paragraph(&all().join("\n"));
                Ok(())
            }
            "toctree" | "contents" | "sectnum" => {
                if name == "toctree" {
                    let entries = directive.content.iter().filter(|line| !line.is_empty()).count();
                    if entries > 0 {
                        self.out.skipped("toctree", &format!("a table of contents of other files ({entries} entries)"));
                    }
                }
                Ok(())
            }
            "code-block" | "code" | "sourcecode" | "parsed-literal" | "prompt" | "console" | "productionlist"
            | "mermaid" | "graphviz" | "uml" => {
                if let Some(caption) = directive.option("caption") {
                    self.paragraph(caption);
                }
                self.code(&directive.content);
                Ok(())
            }
            "math" => {
                self.code(&all());
                Ok(())
            }
            "literalinclude" | "include" | "raw" => {
                let what = if directive.argument.is_empty() { name } else { directive.argument.as_str() };
                let reason = if name == "raw" { "text of another format" } else { "another file, not followed" };
                self.out.skipped(&format!("{name} {what}"), reason);
                Ok(())
            }
            "list-table" | "flat-table" => self.list_table(directive),
            "csv-table" => self.csv_table(directive),
            "table" => {
                self.paragraph(&directive.argument);
                self.blocks(&directive.content)
            }
            "index" | "highlight" | "currentmodule" | "module" | "meta" | "default-role" | "role"
            | "tabularcolumns" | "class" | "rst-class" | "title" | "target-notes" | "header" | "footer" => Ok(()),
            "container" | "only" | "ifconfig" | "compound" | "epigraph" | "highlights" | "pull-quote" | "tabs"
            | "tab-set" | "grid" | "glossary" | "hlist" | "collapse" => self.blocks(&directive.content),
            _ => {
                self.paragraph(&directive.argument);
                self.blocks(&directive.content)
            }
        }
    }

    /// A picture: the words that describe it, and the caption.
    fn picture(&mut self, directive: &Directive<'_>) -> Result<()> {
        let words = directive.option("alt").unwrap_or_default().trim();
        if words.is_empty() {
            if directive.content.iter().all(|line| line.is_empty()) {
                self.out.pictures += 1;
            }
        } else {
            self.paragraph(words);
        }
        self.blocks(&directive.content)
    }

    fn list_table(&mut self, directive: &Directive<'_>) -> Result<()> {
        self.paragraph(&directive.argument);
        self.write_marker();
        let count = |key| directive.option(key).and_then(|value| value.trim().parse::<usize>().ok()).unwrap_or(0);
        let heads = count("header-rows");
        let mut grid = Grid::default();
        for (n, row) in bulleted(&directive.content).into_iter().enumerate() {
            grid.row(n < heads, self.budget);
            for cell in bulleted(&row) {
                let is_plain = !is_bold(&cell);
                let words = self.cell(&cell)?;
                grid.cell(false, 1, 1, self.budget);
                grid.push(&words);
                if is_plain && !words.is_empty() {
                    grid.plain();
                }
            }
        }
        self.out.table(grid, self.budget);
        Ok(())
    }

    fn csv_table(&mut self, directive: &Directive<'_>) -> Result<()> {
        self.paragraph(&directive.argument);
        self.write_marker();
        if let Some(file) = directive.option("file").or_else(|| directive.option("url")) {
            self.out.skipped(&format!("csv-table {file}"), "another file, not followed");
            return Ok(());
        }
        let delimiter = match directive.option("delim").map(str::trim) {
            Some("tab") => b'\t',
            Some("space") => b' ',
            Some(sign) => sign.bytes().next().unwrap_or(b','),
            None => b',',
        };
        let header = directive.option("header").unwrap_or_default();
        let count = directive.option("header-rows").and_then(|value| value.trim().parse::<usize>().ok()).unwrap_or(0);
        let mut text = directive.content.join("\n");
        if !header.is_empty() {
            text = format!("{header}\n{text}");
        }
        let heads = count + usize::from(!header.is_empty());
        let mut grid = Grid::default();
        for (n, row) in csv::rows(&text, delimiter).into_iter().enumerate() {
            grid.row(n < heads, self.budget);
            for cell in row {
                let words = self.cell(&cell.lines().map(str::trim_end).collect::<Vec<_>>())?;
                grid.cell(false, 1, 1, self.budget);
                grid.push(&words);
                grid.plain();
            }
        }
        self.out.table(grid, self.budget);
        Ok(())
    }
}

/// True for a cell whose words are all in bold face.
pub(super) fn is_bold(lines: &[&str]) -> bool {
    let mut words = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).peekable();
    words.peek().is_some()
        && words.all(|line| {
            line.len() > 4 && line.starts_with("**") && line.ends_with("**") && !line[2..line.len() - 2].contains("**")
        })
}

/// `[1]`, `[#name]`, `[CIT2002]` and what follows.
fn footnote(first: &str) -> Option<(&str, &str)> {
    let close = first.strip_prefix('[')?.find(']')? + 2;
    let (label, rest) = (first.get(..close)?, first.get(close..)?);
    (label.len() <= 40 && !label.contains(' ') && (rest.is_empty() || rest.starts_with(' ')))
        .then(|| (label, rest.trim()))
}

fn directive<'a>(name: &str, argument: &str, body: &[&'a str]) -> Directive<'a> {
    let mut options: Vec<(&str, String)> = Vec::new();
    let mut at = 0;
    while let Some(line) = body.get(at) {
        let option = line.strip_prefix(':').and_then(|line| line.split_once(':'));
        match option {
            Some((key, value)) if !key.contains([' ', '`']) && !value.starts_with('`') => {
                options.push((key, value.trim().to_string()));
            }
            // An option may go on in lines that are indented further.
            _ if line.starts_with(' ') && !options.is_empty() => {
                if let Some((_, value)) = options.last_mut() {
                    value.push('\n');
                    value.push_str(line.trim());
                }
            }
            _ => break,
        }
        at += 1;
    }
    while body.get(at).is_some_and(|line| line.is_empty()) {
        at += 1;
    }
    Directive { name: name.to_lowercase(), argument: argument.to_string(), options, content: dedent(&body[at..]) }
}

/// The items of the outer bullet list in `lines`, each as its lines without indent.
fn bulleted<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut items: Vec<Vec<&str>> = Vec::new();
    for line in lines {
        if let Some(rest) = line.strip_prefix(['*', '-', '+']).filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
            items.push(vec![rest]);
        } else if let Some(item) = items.last_mut() {
            item.push(line);
        }
    }
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        let mut first = item[0].trim_start();
        let mut body = dedent(&item[1..]);
        // The text beside the bullet stands as far in as the lines below.
        if body.iter().all(|line| line.is_empty()) {
            body.clear();
        }
        let mut lines = vec![std::mem::take(&mut first)];
        lines.extend(body);
        out.push(lines);
    }
    out
}

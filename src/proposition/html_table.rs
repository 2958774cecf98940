//! Rows of HTML tables as statements, like those of pipe tables: `header: value; header: value`.
//!
//! Headers are the cells of a first row of `<th>`. Where cells span rows or columns, which header a value stands under cannot
//! be told from one row: then the values stand alone.

use std::collections::HashMap;

use crate::document::Span;
use crate::document::markup::{Tag, tag_at, words};
use crate::proposition::entities::entities;
use crate::proposition::lexis::is_content;
use crate::proposition::table::{Cell, Row, caption, points_elsewhere, statement, subject};
use crate::proposition::{Passage, Sentence, SentenceKind, Unit, UnitKind};

/// A row that was read.
struct Read {
    span: Span,
    cells: Vec<Cell>,
    /// Nothing but `<th>`.
    is_header: bool,
    /// A cell goes over rows or columns.
    spans: bool,
}

/// The rows of the passage's HTML tables that are headers or have statements, by the start of their sentence.
pub(super) fn rows(passage: &Passage<'_>, chars: &[char]) -> HashMap<usize, Row> {
    let mut found = HashMap::new();
    let sentences = passage.sentences;
    let mut at = 0;
    while at < sentences.len() {
        let (end, rows) = table(&sentences[at..], chars);
        if !rows.is_empty() {
            statements(passage, chars, at, &rows, &mut found);
        }
        at += end.max(1);
    }
    found
}

fn text(chars: &[char], span: Span) -> String {
    let end = span.end.min(chars.len());
    chars[span.start.min(end)..end].iter().collect()
}

/// The rows from the first sentence on, and the sentences that they and the tags between them take.
fn table(sentences: &[Sentence], chars: &[char]) -> (usize, Vec<Read>) {
    let mut rows = Vec::new();
    for (n, sentence) in sentences.iter().enumerate() {
        match sentence.kind {
            SentenceKind::TableRow => {}
            SentenceKind::Verbatim if !rows.is_empty() && chars.get(sentence.span.start) == Some(&'<') => {
                let tags = text(chars, sentence.span).to_ascii_lowercase();
                if tags.contains("<table") || tags.contains("</table") {
                    return (n + 1, rows);
                }
                continue;
            }
            _ => return (n, rows),
        }
        let row = text(chars, sentence.span);
        let is_row = |text: &str| tag_at(text, 0).is_some_and(|tag| tag.opens("tr"));
        if !is_row(&row) {
            // The rest of a row that was cut for its length; a row of another kind of table ends this one.
            if row.starts_with('|') {
                return (n, rows);
            }
            continue;
        }
        let next = sentences.get(n + 1).filter(|next| next.kind == SentenceKind::TableRow);
        let is_cut = next.is_some_and(|next| {
            let rest = text(chars, next.span);
            !is_row(&rest) && !rest.starts_with('|')
        });
        rows.push(if is_cut {
            Read { span: sentence.span, cells: Vec::new(), is_header: false, spans: row.contains("span=") }
        } else {
            read(&row, sentence.span)
        });
    }
    (sentences.len(), rows)
}

fn read(row: &str, span: Span) -> Read {
    let mut read = Read { span, cells: Vec::new(), is_header: true, spans: false };
    // Byte and code point of the place that was counted last.
    let (mut byte, mut chars) = (0, span.start);
    let mut point = |to: usize| {
        chars += row[byte..to].chars().count();
        byte = to;
        chars
    };
    let mut add = |from: usize, to: usize| {
        let raw = &row[from..to];
        let lead = from + raw.len() - raw.trim_start().len();
        let span = Span::new(point(lead), point((lead + raw.trim().len()).max(lead)));
        read.cells.push(Cell { span, text: decoded(&words(raw)) });
    };
    let mut open: Option<usize> = None;
    let mut at = 0;
    while let Some(gap) = row[at..].find('<') {
        let start = at + gap;
        at = start + 1;
        let Some(tag) = tag_at(row, start) else { continue };
        at = tag.end;
        if !tag.is(&["td", "th", "tr"]) {
            continue;
        }
        if let Some(from) = open.take() {
            add(from, start);
        }
        if !tag.closing && !tag.is(&["tr"]) {
            read.is_header &= tag.is(&["th"]);
            read.spans |= spans(&tag);
            open = Some(tag.end);
        }
    }
    if let Some(from) = open {
        add(from, row.len());
    }
    read
}

fn spans(tag: &Tag<'_>) -> bool {
    ["colspan", "rowspan"].iter().any(|name| tag.attribute(name).is_some_and(|value| value.trim() != "1"))
}

/// The characters that a cell names because they mean something in HTML.
fn decoded(text: &str) -> String {
    [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (name, sign)| text.replace(name, sign))
}

fn statements(passage: &Passage<'_>, chars: &[char], first: usize, rows: &[Read], found: &mut HashMap<usize, Row>) {
    let spanned = rows.iter().any(|row| row.spans);
    let headers = rows.first().filter(|row| row.is_header && !row.cells.is_empty() && rows.len() > 1);
    let caption = table_caption(passage, chars, first);
    let subject = subject(passage, caption.as_ref().map(|(text, _)| text.as_str()));
    let names: &[Cell] = headers.filter(|_| !spanned).map_or(&[], |row| &row.cells);
    let mut used = vec![false; names.len()];
    for row in &rows[usize::from(!names.is_empty())..] {
        let says = row.cells.iter().any(|cell| cell.text.chars().any(is_content));
        if !says || row.cells.iter().any(|cell| points_elsewhere(&cell.text)) {
            continue;
        }
        // More cells than headers: which stands under which is a guess.
        if !names.is_empty() && row.cells.len() > names.len() {
            continue;
        }
        let none = Cell { span: Span::new(0, 0), text: String::new() };
        let above: Vec<Cell> =
            (0..row.cells.len()).map(|n| names.get(n).unwrap_or(&none)).map(|c| Cell { ..c.clone() }).collect();
        let mut unit = Unit::verbatim(UnitKind::Proposition, statement(&subject, &above, &row.cells), row.span);
        unit.antecedents.extend(caption.iter().map(|(_, span)| *span));
        for (n, _) in row.cells.iter().enumerate().filter(|(_, cell)| !cell.text.is_empty()) {
            if let (Some(used), Some(name)) = (used.get_mut(n), names.get(n)) {
                *used = true;
                unit.antecedents.extend(Some(name.span).filter(|span| !span.is_empty()));
            }
        }
        unit.entities = entities(&unit.statement);
        found.insert(row.span.start, Row::Statement(unit));
    }
    if let Some(row) = headers.filter(|_| !names.is_empty())
        && names.iter().zip(&used).all(|(name, used)| *used || name.text.is_empty())
    {
        found.insert(row.span.start, Row::Header);
    }
}

/// The caption in front of the table, past its opening tags.
fn table_caption(passage: &Passage<'_>, chars: &[char], first: usize) -> Option<(String, Span)> {
    let before = passage.sentences[..first].iter().rev();
    let line = before.take(4).find(|s| s.kind != SentenceKind::Verbatim || chars.get(s.span.start) != Some(&'<'))?;
    caption(chars, line.span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Format;
    use crate::proposition::{Outcome, assemble, sentences};

    fn read(text: &str) -> (Vec<Unit>, Vec<Outcome>) {
        let headings = ["报警".to_owned()];
        let sentences = sentences(text, Format::Markdown);
        let out = assemble(&Passage::new("手册", &headings, text, &sentences), &[]);
        assert!(out.uncovered.is_empty());
        (out.units, out.ledger.into_iter().map(|entry| entry.outcome).collect())
    }

    fn statements(text: &str) -> Vec<String> {
        read(text).0.into_iter().map(|unit| unit.statement).collect()
    }

    #[test]
    fn rows_are_statements_under_their_headers() {
        let text = "<table>\n<thead><tr><th>码</th><th> 限值 </th></tr></thead>\n<tbody>\n<tr><td>5011</td>\n<td>&lt;5 A<br>持续</td></tr>\n<tr><td>5012<td></tr>\n</tbody></table>\n";
        let (units, outcomes) = read(text);
        let said: Vec<&str> = units.iter().map(|unit| unit.statement.as_str()).collect();
        assert_eq!(said, ["报警，码：5011；限值：<5 A 持续", "报警，码：5012"]);
        let slice = |span: Span| text.chars().skip(span.start).take(span.len()).collect::<String>();
        assert_eq!(slice(units[0].evidence[0]), "<tr><td>5011</td>\n<td>&lt;5 A<br>持续</td></tr>");
        assert_eq!(units[0].antecedents.iter().map(|span| slice(*span)).collect::<Vec<_>>(), ["码", "限值"]);
        assert!(outcomes.contains(&Outcome::Skipped { reason: "table header".to_owned() }));
        assert!(outcomes.contains(&Outcome::Skipped { reason: "tags without words".to_owned() }));
    }

    #[test]
    fn values_whose_header_is_not_certain_stand_alone() {
        let plain = "<table><tr><td>码</td><td>含义</td></tr><tr><td>1</td><td>过热</td></tr></table>";
        assert_eq!(statements(plain), ["报警，码；含义", "报警，1；过热"]);
        let spanned = "<table><tr><th>码</th><th>含义</th></tr><tr><td rowspan=\"2\">1</td><td>过热</td></tr><tr><td>过流</td></tr></table>";
        assert_eq!(statements(spanned), ["报警，码；含义", "报警，1；过热", "报警，过流"]);
    }

    #[test]
    fn what_cannot_be_written_without_guessing_stays_as_it_is() {
        let more = "<table><tr><th>码</th></tr><tr><td>1</td><td>过热</td></tr></table>";
        assert_eq!(statements(more), ["<tr><th>码</th></tr>", "<tr><td>1</td><td>过热</td></tr>"]);
        let same = "<table><tr><td>1</td><td>同上</td></tr></table>";
        assert_eq!(statements(same), ["<tr><td>1</td><td>同上</td></tr>"]);
        let long = format!("<tr><td>1</td><td>{}</td></tr>", "过热，停机。".repeat(150));
        assert!(statements(&long).iter().all(|statement| !statement.starts_with("报警")));
    }

    #[test]
    fn a_caption_is_the_subject() {
        let text = "表 3 主轴参数：\n\n<table>\n<tr><td>转速</td><td>800 rpm</td></tr>\n</table>\n";
        assert!(statements(text).contains(&"表 3 主轴参数，转速；800 rpm".to_owned()));
    }
}

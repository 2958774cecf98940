//! Rows of HTML tables as statements, like those of pipe tables: `header: value; header: value`.
//!
//! Headers are the cells of the first rows of `<th>`, of `<thead>`, or of a first row in bold face. A cell that spans rows or
//! columns is told of each that it covers. Where it is not certain which header a value stands under, the values stand alone.

use std::collections::HashMap;

use crate::document::Span;
use crate::document::markup::tag_at;
use crate::proposition::entities::entities;
use crate::proposition::html_rows::{Columns, Place, Read, columns, read};
use crate::proposition::lexis::is_content;
use crate::proposition::table::{Cell, Row, caption, points_elsewhere, said, statement, subject};
use crate::proposition::{Passage, Sentence, SentenceKind, Unit, UnitKind};

/// More rows of headers than this are no names of columns.
const HEADS: usize = 4;

/// The rows of the passage's HTML tables that are headers or have statements, by the start of their sentence.
pub(super) fn rows(passage: &Passage<'_>, chars: &[char]) -> HashMap<usize, Row> {
    let mut found = HashMap::new();
    if !passage.text.contains('<') {
        return found;
    }
    let sentences = passage.sentences;
    let mut at = 0;
    let mut carried = carried(passage);
    while at < sentences.len() {
        let (end, rows) = table(&sentences[at..], chars);
        // What was carried is for the table that the passage opens in the middle of.
        let mut names = std::mem::take(&mut carried);
        // Further rows of headers begin another table.
        let begins = |a: &Read, b: &Read| !(b.is_header && !a.is_header && b.cells.len() > 1);
        for rows in rows.chunk_by(begins) {
            Table { passage, chars, first: at, rows }.statements(names.take(), &mut found);
        }
        at += end.max(1);
    }
    found
}

fn text(chars: &[char], span: Span) -> String {
    let end = span.end.min(chars.len());
    chars[span.start.min(end)..end].iter().collect()
}

/// The header rows of the table that goes on behind `text`; `carried` is what `text` itself was told.
pub(super) fn open_html_table(text: &str, carried: &str) -> Option<String> {
    let mut open: Vec<usize> = Vec::new();
    let mut closed = false;
    let mut at = 0;
    while let Some(gap) = text[at..].find('<') {
        let start = at + gap;
        at = start + 1;
        let Some(tag) = tag_at(text, start).filter(|tag| tag.is(&["table"])) else { continue };
        at = tag.end;
        if tag.closing {
            closed |= open.pop().is_none();
        } else {
            open.push(tag.end);
        }
    }
    match open[..] {
        [] if !closed && !carried.is_empty() => Some(carried.to_owned()),
        [start] => {
            let rows = header_rows(&text[start..]);
            (!rows.is_empty()).then_some(rows)
        }
        _ => None,
    }
}

/// The rows at the beginning of `table` that are headers, as they stand.
fn header_rows(table: &str) -> String {
    let mut rows = String::new();
    let (mut in_head, mut start) = (false, None);
    let mut at = 0;
    while let Some(gap) = table[at..].find('<') {
        let place = at + gap;
        at = place + 1;
        let Some(tag) = tag_at(table, place).filter(|tag| tag.is(&["tr", "thead", "tbody"])) else { continue };
        at = tag.end;
        let end = if tag.is(&["tr"]) && tag.closing { tag.end } else { place };
        if let Some(start) = start.take() {
            let row = &table[start..end];
            if !in_head && !read(row, Span::new(0, 0)).is_header {
                break;
            }
            rows.push_str(row.trim());
            rows.push('\n');
        }
        match tag.closing {
            false if tag.is(&["tr"]) => start = Some(place),
            _ if tag.is(&["thead"]) => in_head = !tag.closing,
            _ if tag.is(&["tbody"]) => in_head = false,
            _ => {}
        }
    }
    rows
}

/// The rows of `html`, which holds nothing else.
fn split_rows(html: &str) -> Vec<&str> {
    let starts: Vec<usize> = html
        .match_indices('<')
        .map(|(at, _)| at)
        .filter(|&at| tag_at(html, at).is_some_and(|t| t.opens("tr")))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([html.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &html[start..end]).collect()
}

/// The headers that the passage was told, if it opens in the middle of a table and says their words itself.
fn carried(passage: &Passage<'_>) -> Option<Vec<Name>> {
    let opens = tag_at(passage.text.trim_start(), 0).filter(|tag| !tag.is(&["table"]))?;
    if !opens.is(&["tr", "tbody", "thead"]) || !passage.table.starts_with('<') {
        return None;
    }
    let mut rows: Vec<Read> = split_rows(passage.table).into_iter().map(|row| read(row, Span::new(0, 0))).collect();
    rows.iter_mut().flat_map(|row| &mut row.cells).for_each(|cell| cell.cell.span = Span::new(0, 0));
    let heads = rows.len().min(HEADS);
    let names = names(&rows[..heads], &columns(&rows[..heads], heads, true)?);
    let texts = said(passage, names.iter().map(|name| name.text.clone()).collect())?;
    Some(names.into_iter().zip(texts).map(|(name, text)| Name { text, ..name }).collect())
}

/// The name of a column: what its cells in the header rows say, and where.
#[derive(Debug)]
struct Name {
    text: String,
    spans: Vec<Span>,
}

/// The names of the columns under `rows`, which are headers.
fn names(rows: &[Read], laid: &[Columns]) -> Vec<Name> {
    let width = laid.iter().map(|row| row.places.len()).max().unwrap_or(0);
    let mut names: Vec<Vec<&Cell>> = vec![Vec::new(); width];
    for row in laid {
        for (name, place) in names.iter_mut().zip(&row.places) {
            let Some(place) = place else { continue };
            let cell = &rows[place.row].cells[place.cell].cell;
            // A header that reaches over rows, or that the next row repeats, is said once.
            if !cell.text.is_empty() && !name.iter().any(|other| other.text == cell.text) {
                name.push(cell);
            }
        }
    }
    let said = |cells: &[&Cell]| cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join(" ");
    let spans = |cells: &[&Cell]| cells.iter().map(|cell| cell.span).collect();
    names.into_iter().map(|cells| Name { text: said(&cells), spans: spans(&cells) }).collect()
}

/// A table of the passage.
struct Table<'a> {
    passage: &'a Passage<'a>,
    chars: &'a [char],
    /// The first sentence of the table.
    first: usize,
    rows: &'a [Read],
}

impl Table<'_> {
    /// How many of the first rows name the columns.
    fn heads(&self) -> usize {
        // A title below the names of the columns is none of them.
        let is_title = |row: &Read| row.cells.len() == 1 && row.cells[0].across > 1;
        let titles = self.rows.iter().take_while(|row| is_title(row)).count();
        let is_head =
            |(at, row): &(usize, &Read)| row.is_header && !row.cells.is_empty() && (*at < titles || !is_title(row));
        let heads = self.rows.iter().enumerate().take_while(is_head).count();
        if heads > 0 {
            return if heads < self.rows.len() { heads.min(HEADS) } else { 0 };
        }
        match self.rows {
            [first, second, ..] if first.cells.len() > 1 => usize::from(first.is_bold && !second.is_bold),
            _ => 0,
        }
    }

    fn cell(&self, place: Place) -> &Cell {
        &self.rows[place.row].cells[place.cell].cell
    }

    fn statements(&self, carried: Option<Vec<Name>>, found: &mut HashMap<usize, Row>) {
        let heads = if carried.is_some() { 0 } else { self.heads() };
        let Some(laid) = columns(self.rows, heads, carried.is_none()) else { return };
        let names = carried.unwrap_or_else(|| names(&self.rows[..heads], &laid[..heads]));
        let caption = table_caption(self.passage, self.chars, self.first);
        let subject = subject(self.passage, caption.as_ref().map(|(text, _)| text.as_str()));
        let mut used: Vec<bool> = names.iter().map(|name| name.text.is_empty()).collect();
        for (number, row) in laid.iter().enumerate().skip(heads) {
            let Some(parts) = self.parts(row, &names) else { continue };
            let own = |part: &Part<'_>| part.place.row == number;
            let says = |part: &&Part<'_>| part.value.text.chars().any(is_content);
            if !parts.iter().filter(says).any(own) || parts.iter().any(|part| points_elsewhere(&part.value.text)) {
                continue;
            }
            let named: Vec<(&str, &str)> =
                parts.iter().map(|part| (part.name.map_or("", |name| &name.text), part.value.text.as_str())).collect();
            let evidence = self.rows[number].span;
            let mut unit = Unit::verbatim(UnitKind::Proposition, statement(&subject, &named), evidence);
            unit.antecedents.extend(caption.iter().map(|(_, span)| *span));
            for part in parts.iter().filter(|part| !part.value.text.is_empty()) {
                let named = part.name.iter().flat_map(|name| &name.spans).copied();
                let above = (!own(part)).then_some(part.value.span);
                for span in named.chain(above).filter(|span| !span.is_empty()) {
                    if !unit.antecedents.contains(&span) {
                        unit.antecedents.push(span);
                    }
                }
                if let (Some(_), Some(used)) = (part.name, used.get_mut(part.column)) {
                    *used = true;
                }
            }
            unit.entities = entities(&unit.statement);
            found.insert(evidence.start, Row::Statement(unit));
        }
        if used.iter().all(|used| *used) {
            found.extend(self.rows[..heads].iter().map(|row| (row.span.start, Row::Header)));
        }
    }

    /// What a row says, from column to column. `None` where it cannot be told without guessing.
    fn parts<'t>(&'t self, row: &Columns, names: &'t [Name]) -> Option<Vec<Part<'t>>> {
        let width = row.places.len();
        // More cells than headers: which stands under which is a guess.
        if !names.is_empty() && width > names.len() {
            return None;
        }
        let is_named = width > 0 && (row.is_certain || width == names.len());
        // A cell over the whole width is a title among the rows.
        let is_title = width > 1 && row.places.iter().all(|place| *place == row.places[0]);
        let mut parts: Vec<Part<'t>> = Vec::with_capacity(width);
        for (column, place) in row.places.iter().enumerate() {
            let Some(place) = *place else { continue };
            let name = names.get(column).filter(|name| is_named && !is_title && !name.text.is_empty());
            let value = self.cell(place);
            // A header that spans what its value spans is said once.
            let before = parts.last().filter(|last| last.place == place);
            if before.is_some_and(|last| last.name.map(|n| &n.text) == name.map(|n| &n.text)) {
                continue;
            }
            parts.push(Part { column, name, value, place });
        }
        Some(parts)
    }
}

/// A value with the name of its column.
struct Part<'a> {
    column: usize,
    name: Option<&'a Name>,
    value: &'a Cell,
    place: Place,
}

/// The rows from the first sentence on, and the sentences that they and the tags between them take.
fn table(sentences: &[Sentence], chars: &[char]) -> (usize, Vec<Read>) {
    let mut rows: Vec<Read> = Vec::new();
    let mut in_head = false;
    for (n, sentence) in sentences.iter().enumerate() {
        match sentence.kind {
            SentenceKind::TableRow => {}
            SentenceKind::Verbatim if chars.get(sentence.span.start) == Some(&'<') => {
                let tags = text(chars, sentence.span).to_ascii_lowercase();
                in_head = tags.contains("<thead") && !tags.contains("<tbody");
                if tags.contains("</table") || (!rows.is_empty() && tags.contains("<table")) {
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
        let mut read = read(&row, sentence.span);
        read.is_header |= in_head;
        if is_cut {
            read = Read { cells: Vec::new(), is_header: false, is_bold: false, is_cut, ..read };
        }
        rows.push(read);
    }
    (sentences.len(), rows)
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
        let title = "<table><tr><th>码</th><th>含义</th></tr><tr><td colspan=2>输入回路</td></tr><tr><td>1</td><td>过热</td></tr></table>";
        assert_eq!(statements(title), ["报警，输入回路", "报警，码：1；含义：过热"]);
        assert_eq!(statements(&title.replace("<td colspan=2>", "<th colspan=2>"))[0], "报警，输入回路");
    }

    #[test]
    fn cells_that_span_rows_or_columns_are_told_of_each() {
        let text = "<table><tr><th>码</th><th>含义</th></tr>\n<tr><td rowspan=\"2\">1</td><td>过热</td></tr>\n<tr><td>过流</td></tr><tr><td>2</td><td>断线</td></tr></table>";
        let (units, _) = read(text);
        let said: Vec<&str> = units.iter().map(|unit| unit.statement.as_str()).collect();
        assert_eq!(said, ["报警，码：1；含义：过热", "报警，码：1；含义：过流", "报警，码：2；含义：断线"]);
        let slice = |span: &Span| text.chars().skip(span.start).take(span.len()).collect::<String>();
        assert_eq!(units[1].antecedents.iter().map(slice).collect::<Vec<_>>(), ["码", "1", "含义"]);
        let text = "<table><tr><th rowspan=2>型号</th><th colspan=2>电流</th></tr><tr><th>最小</th><th>最大</th></tr>\n<tr><td>A</td><td>1</td><td>2</td></tr><tr><td>B</td><td colspan=2>3</td></tr></table>";
        assert_eq!(
            statements(text),
            ["报警，型号：A；电流 最小：1；电流 最大：2", "报警，型号：B；电流 最小：3；电流 最大：3"]
        );
    }

    #[test]
    fn a_header_that_reaches_over_rows_is_said_once() {
        let text = "<table><tr><th rowspan=2>Rated current</th><th>Limit max</th></tr><tr><th>max</th></tr><tr><td>5 A</td><td>7 A</td></tr></table>";
        assert_eq!(statements(text), ["报警, Rated current: 5 A; Limit max max: 7 A"]);
    }

    #[test]
    fn a_first_row_in_bold_or_in_the_head_of_the_table_names_the_columns() {
        let bold =
            "<table><tr><td><b>码</b></td><td><strong>含义</strong></td></tr><tr><td>1</td><td>过热</td></tr></table>";
        assert_eq!(statements(bold), ["报警，码：1；含义：过热"]);
        let head = "<table>\n<thead>\n<tr><td>码</td><td>含义</td></tr>\n</thead>\n<tbody>\n<tr><td>1</td><td>过热</td></tr>\n</tbody>\n</table>";
        assert_eq!(statements(head), ["报警，码：1；含义：过热"]);
    }

    #[test]
    fn further_rows_of_headers_begin_another_table() {
        let text = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr>\n<tr><th>C</th><th>D</th></tr><tr><td>3</td><td>4</td></tr></table>";
        assert_eq!(statements(text), ["报警, A: 1; B: 2", "报警, C: 3; D: 4"]);
    }

    #[test]
    fn what_is_commented_out_is_not_told() {
        let text = "<table>\n<tr><th>码</th><th>限值</th></tr>\n<tr><td>1</td><td>5 A</td></tr> <!-- <tr><td>旧</td><td>9 A</td></tr> -->\n<tr><td>2</td><td>8 A <!-- 原为 7 A --></td></tr>\n</table>\n";
        assert_eq!(statements(text), ["报警，码：1；限值：5 A", "报警，码：2；限值：8 A"]);
        let text = "<p>限值为 7 A。 <!-- <br>限值为 5 A。 --></p>\n\n油压 <!-- 原为 3 --> 应为 4 bar。\n";
        assert_eq!(statements(text), ["限值为 7 A。", "油压 应为 4 bar。"]);
    }

    #[test]
    fn words_beside_the_cells_of_a_row_are_not_lost() {
        let row = "<tr>注意高温<td>5011</td></tr>";
        assert_eq!(statements(&format!("<table>{row}</table>")), [row]);
    }

    #[test]
    fn rows_cut_off_from_their_table_are_told_its_header() {
        let whole = "<table>\n<thead><tr><th>码</th><th>含义</th></tr></thead>\n<tr><td>1</td><td>过热</td></tr>\n";
        let header = open_html_table(whole, "").unwrap_or_default();
        assert_eq!(header, "<tr><th>码</th><th>含义</th></tr>\n");
        let rest = "<tr><td>2</td><td>过流</td></tr>\n<tr><td>断线</td></tr>\n";
        assert_eq!(open_html_table(rest, &header).as_ref(), Some(&header));
        for ended in [format!("{rest}</table>"), format!("{rest}</table>\n<table><tr><td>3</td></tr>")] {
            assert_eq!(open_html_table(&ended, &header), None, "{ended}");
        }
        let headings = ["报警".to_owned()];
        let sentences = sentences(rest, Format::Markdown);
        let passage = Passage { table: &header, ..Passage::new("手册", &headings, rest, &sentences) };
        let said: Vec<String> = assemble(&passage, &[]).units.into_iter().map(|unit| unit.statement).collect();
        // The cell before the second row's may be one that reaches down.
        assert_eq!(said, ["报警，码：2；含义：过流", "报警，断线"]);
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

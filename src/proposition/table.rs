//! Rows of pipe tables as statements: `header: value; header: value`, written by rule from the row and its header alone.
//!
//! A row is left as it stands where that cannot be done without guessing: no header, more cells than headers, a cell that
//! refers to something outside the row (`同上`, `see above`).

use std::collections::HashMap;

use crate::document::markup::{decoded, words};
use crate::document::{Span, collapse};
use crate::proposition::entities::entities;
use crate::proposition::gates::refers;
use crate::proposition::html_table;
use crate::proposition::lexis::{Folded, is_chinese, is_content};
use crate::proposition::quantity::quantities;
use crate::proposition::{Passage, Sentence, SentenceKind, Unit, UnitKind};
use crate::section::is_table_rule as is_rule;

/// A row that needs no verbatim unit.
#[derive(Debug, PartialEq)]
pub(crate) enum Row {
    /// Column headers, all of which stand in statements of rows below.
    Header,
    /// A row with its statement.
    Statement(Unit),
}

/// The rows of the passage's tables that are headers or have statements, by the start of their sentence. Linear in the
/// length of the passage.
pub(crate) fn rows(passage: &Passage<'_>, chars: &[char]) -> HashMap<usize, Row> {
    let mut found = html_table::rows(passage, chars);
    let sentences = passage.sentences;
    let mut at = 0;
    if let Some(headers) = carried(passage) {
        at = table_end(chars, sentences, 0);
        statements(passage, chars, &headers, &sentences[..at], None, &mut found);
    }
    while at < sentences.len() {
        let end = table_end(chars, sentences, at);
        if end - at >= 3 && is_rule(&line(chars, sentences[at + 1].span)) {
            let caption = at.checked_sub(1).and_then(|before| caption(chars, sentences[before].span));
            let header = sentences[at].span;
            let headers = cells(chars, header, false);
            if statements(passage, chars, &headers, &sentences[at + 1..end], caption, &mut found) {
                found.insert(header.start, Row::Header);
            }
        }
        at = end.max(at + 1);
    }
    found
}

/// One past the last sentence of the table that starts with `sentences[at]`; `at` where none does.
fn table_end(chars: &[char], sentences: &[Sentence], at: usize) -> usize {
    let is_row = |s: &Sentence| {
        s.span.end <= chars.len()
            && (s.kind == SentenceKind::TableRow || (s.kind == SentenceKind::Verbatim && is_rule(&line(chars, s.span))))
    };
    let mut end = at;
    while let Some(next) = sentences.get(end).filter(|s| is_row(s)) {
        // An empty line ends a table.
        if end > at && line_ends(chars, &sentences[end - 1], next) > 1 {
            break;
        }
        end += 1;
    }
    end
}

/// Line ends between two sentences.
fn line_ends(chars: &[char], a: &Sentence, b: &Sentence) -> usize {
    chars.get(a.span.end..b.span.start).map_or(0, |gap| gap.iter().filter(|c| **c == '\n').count())
}

/// The headers of the table that the passage opens in the middle of. A header with a number or Latin word that the passage
/// lacks is not taken over: a statement says nothing that its section does not.
fn carried(passage: &Passage<'_>) -> Option<Vec<Cell>> {
    let (header, _) = passage.table.split_once('\n')?;
    let mut lines = passage.text.lines();
    let first = lines.next()?.trim_start();
    if !first.contains('|') || first.starts_with('<') || lines.next().is_some_and(|second| is_rule(second.trim())) {
        return None;
    }
    let chars: Vec<char> = header.chars().collect();
    let headers = cells(&chars, Span::new(0, chars.len()), false).into_iter();
    said(passage, headers.map(|cell| cell.text).collect())
        .map(|names| names.into_iter().map(|text| Cell { span: Span::new(0, 0), text }).collect())
}

/// `headers` without those that have a number or name that the passage lacks, `None` where none is left. Names are what the
/// gates take for them: in Chinese every Latin word, in English words with capitals; other words lose that of their beginning.
pub(super) fn said(passage: &Passage<'_>, mut headers: Vec<String>) -> Option<Vec<String>> {
    let own = format!("{}\n{}\n{}", passage.text, passage.heading_path.join("\n"), passage.title).to_lowercase();
    let is_english = !is_chinese(&own);
    for header in &mut headers {
        let mut words = header.split(|c: char| !c.is_ascii_alphanumeric());
        if words.all(|word| own.contains(&word.to_lowercase())) {
            continue;
        }
        *header = if is_english && is_common(header) { header.to_lowercase() } else { String::new() };
    }
    headers.iter().any(|header| !header.is_empty()).then_some(headers)
}

/// Whether `header` is made of common words: no name, number or unit.
fn is_common(header: &str) -> bool {
    let is_claim = |word: &str| {
        let numbers = |text: &str| quantities(&Folded::new(text));
        word.chars().skip(1).any(char::is_uppercase)
            || !numbers(word).is_empty()
            || numbers(&format!("1 {word}")).iter().any(|quantity| quantity.unit.is_some())
    };
    header.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | '/' | '\''))
        && !header.split([' ', '-', '/']).any(is_claim)
}

/// Header and rule line, or header rows of HTML, of the table that goes on behind `text`; `carried` is what `text` itself was told.
pub fn open_table(text: &str, carried: &str) -> Option<String> {
    let is_row = |line: &&str| line.contains('|') && !line.trim_start().starts_with('<');
    let lines: Vec<&str> = text.lines().rev().take_while(is_row).collect();
    let rule = lines.iter().position(|line| is_rule(line.trim()));
    match (rule, rule.and_then(|rule| lines.get(rule + 1))) {
        (Some(rule), Some(header)) => Some(format!("{}\n{}", header.trim(), lines[rule].trim())),
        (None, _) if !lines.is_empty() && lines.len() == text.lines().count() => Some(carried.to_owned()),
        _ => html_table::open_html_table(text, if carried.starts_with('<') { carried } else { "" }),
    }
}

/// Statements of the rows behind `table[0]`, or from it on where the headers stand outside the passage. True when each header
/// stands in a statement.
fn statements(
    passage: &Passage<'_>,
    chars: &[char],
    headers: &[Cell],
    table: &[Sentence],
    caption: Option<(String, Span)>,
    found: &mut HashMap<usize, Row>,
) -> bool {
    if headers.iter().all(|cell| cell.text.is_empty()) {
        return false;
    }
    let subject = subject(passage, caption.as_ref().map(|(text, _)| text.as_str()));
    let mut used = vec![false; headers.len()];
    for (n, row) in table.iter().enumerate() {
        // A row that was cut for its length shares its line with the next piece.
        let cut = |a: &Sentence, b: &Sentence| line_ends(chars, a, b) == 0;
        let before = n.checked_sub(1).and_then(|before| table.get(before));
        if before.is_some_and(|before| cut(before, row)) || table.get(n + 1).is_some_and(|next| cut(row, next)) {
            continue;
        }
        let Some(values) = fitting(chars, row.span, headers.len()) else { continue };
        let said = values.iter().any(|cell| cell.text.chars().any(is_content));
        if !said || values.iter().any(|cell| points_elsewhere(&cell.text)) {
            continue;
        }
        // A row of one cell in a wider table is a title among its rows: it stands under no header.
        let is_title = headers.len() > 1 && values.len() == 1;
        let named: Vec<(&str, &str)> = headers
            .iter()
            .zip(&values)
            .map(|(header, value)| (if is_title { "" } else { header.text.as_str() }, value.text.as_str()))
            .collect();
        let statement = statement(&subject, &named);
        let mut unit = Unit::verbatim(UnitKind::Proposition, statement, row.span);
        unit.antecedents.extend(caption.iter().map(|(_, span)| *span));
        for (header, used) in
            headers.iter().zip(&mut used).zip(&values).filter(|(_, v)| !v.text.is_empty() && !is_title).map(|p| p.0)
        {
            *used = true;
            unit.antecedents.extend(Some(header.span).filter(|span| !span.is_empty()));
        }
        unit.entities = entities(&unit.statement);
        found.insert(row.span.start, Row::Statement(unit));
    }
    headers.iter().zip(&used).all(|(header, used)| *used || header.text.is_empty())
}

/// What the rows of a table are about: its caption, else the heading above it.
pub(super) fn subject(passage: &Passage<'_>, caption: Option<&str>) -> String {
    let subject = caption.or_else(|| passage.heading_path.last().map(|h| h.as_str())).unwrap_or(passage.title);
    collapse(subject.trim_end_matches(['。', '.', '：', ':', ' ']))
}

/// `subject, header: value; header: value` of headers and values; a value without header stands alone.
pub(super) fn statement(subject: &str, cells: &[(&str, &str)]) -> String {
    let mut parts = Vec::new();
    let chinese = cells.iter().any(|(header, value)| is_chinese(header) || is_chinese(value));
    let (colon, stop, comma) = if chinese { ("：", "；", "，") } else { (": ", "; ", ", ") };
    for (header, value) in cells.iter().filter(|(_, value)| !value.is_empty()) {
        let name = header.trim_end_matches([':', '：', ' ']);
        parts.push(if name.is_empty() { (*value).to_owned() } else { format!("{name}{colon}{value}") });
    }
    let row = parts.join(stop);
    if subject.is_empty() || row.starts_with(subject) { row } else { format!("{subject}{comma}{row}") }
}

/// The cells of a row under `columns` headers; the last ones may be missing. `None` when it has more.
fn fitting(chars: &[char], row: Span, columns: usize) -> Option<Vec<Cell>> {
    // By the letter of the format a bar inside a code span parts cells too; where that gives too many, it was not meant.
    [false, true].into_iter().map(|code| cells(chars, row, code)).find(|c| c.len() <= columns)
}

/// `同上`, `see above`, `该值`: a cell that says nothing without its neighbours.
pub(super) fn points_elsewhere(cell: &str) -> bool {
    const SAME: &[&str] =
        &["同上", "同左", "同前", "〃", "\"", "''", "ditto", "same as above", "as above", "see above"];
    let plain = cell.trim_matches(['（', '）', '(', ')', ' ', '.', '。']).to_lowercase();
    SAME.contains(&plain.as_str()) || refers(cell)
}

/// `表 3 主轴参数`, `Table 3: Spindle data`: the words and where they stand.
pub(super) fn caption(chars: &[char], span: Span) -> Option<(String, Span)> {
    /// Longer ones are sentences about a table.
    const MAX: usize = 80;
    let text = line(chars, span);
    let bare = text.trim_matches(['*', '_', '#', ' ', '>']);
    let number = ["表格", "表", "Table", "Tab."].iter().find_map(|word| bare.strip_prefix(word))?.trim_start();
    let numbered = number.starts_with(|c: char| c.is_numeric() || "一二三四五六七八九十ABCDEF".contains(c));
    let sentence = bare.trim_end_matches(['。', '.', ':', '：']).contains(['。', '；', '？', '！']);
    if !numbered || sentence || bare.ends_with(['。', '.']) || bare.chars().count() > MAX {
        return None;
    }
    Some((collapse(bare.trim_end_matches([':', '：'])), span))
}

/// A cell of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    /// Without surrounding white space.
    pub(super) span: Span,
    /// Its words: markup taken off, escapes undone.
    pub(super) text: String,
}

/// The cells of a row between unescaped bars; `code`: bars inside code spans part nothing.
fn cells(chars: &[char], row: Span, code: bool) -> Vec<Cell> {
    let (mut start, mut end) = (row.start, row.end);
    while start < end && matches!(chars[start], '>' | ' ' | '\t') {
        start += 1;
    }
    start += list_mark(&chars[start..end]);
    start += usize::from(start < end && chars[start] == '|');
    let mut bars = bars(&chars[..end], start, code);
    if bars.last() == Some(&(end.saturating_sub(1))) {
        bars.pop();
        end -= 1;
    }
    bars.push(end.max(start));
    let mut cells = Vec::with_capacity(bars.len());
    for bar in bars {
        cells.push(cell(chars, start, bar));
        start = bar + 1;
    }
    cells
}

/// The length of the mark of a list item whose text begins with the bar of a table.
fn list_mark(row: &[char]) -> usize {
    let digits = row.iter().take_while(|c| c.is_ascii_digit()).count();
    let marks: &[char] = if digits > 0 { &['.', ')'] } else { &['-', '*', '+'] };
    let gap = row.iter().skip(digits + 1).take_while(|c| matches!(c, ' ' | '\t')).count();
    let is_mark = row.get(digits).is_some_and(|c| marks.contains(c)) && gap > 0;
    if is_mark && row.get(digits + 1 + gap) == Some(&'|') { digits + 1 + gap } else { 0 }
}

fn cell(chars: &[char], start: usize, end: usize) -> Cell {
    let inside = &chars[start..end];
    let lead = inside.iter().take_while(|c| c.is_whitespace()).count();
    let tail = inside[lead..].iter().rev().take_while(|c| c.is_whitespace()).count();
    let span = Span::new(start + lead, end - tail);
    Cell { span, text: plain(&chars[span.start..span.end].iter().collect::<String>()) }
}

/// Where unescaped bars stand in `chars[start..]`.
fn bars(chars: &[char], start: usize, code: bool) -> Vec<usize> {
    let (mut found, mut at, mut open) = (Vec::new(), start, false);
    while at < chars.len() {
        match chars[at] {
            '\\' if chars.get(at + 1).is_some_and(char::is_ascii_punctuation) => at += 1,
            '`' if code => open = !open && chars[at + 1..].contains(&'`'),
            '|' if !open => found.push(at),
            _ => {}
        }
        at += 1;
    }
    found
}

/// The words of a cell: line breaks become spaces, links their text, `\|` a bar; marks of bold and code go, but never so
/// that what they part grows together (`2**8`).
fn plain(cell: &str) -> String {
    let mut text = cell.replace("\\|", "|");
    // A tag in code, or one that nothing closes, may be what the cell is about: the key `<B>`.
    let is_markup = ["</", "<br", "<BR", "<img", "<!--"].iter().any(|mark| text.contains(mark));
    if is_markup {
        text = if text.contains('`') { text.replace("<br>", " ").replace("<br/>", " ") } else { words(&text) };
    }
    let text = without(&without(&text, "**"), "`");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, link)) = rest.split_once('[') {
        let Some((words, target)) = link.split_once("](") else { break };
        let Some(after) = behind_target(target) else { break };
        if before.ends_with(|c: char| c.is_ascii_alphanumeric()) {
            break; // `field[3](4)` is no link
        }
        out.push_str(before.strip_suffix('!').unwrap_or(before));
        out.push_str(words);
        rest = after;
    }
    out.push_str(rest);
    collapse(&decoded(&out))
}

/// What follows the bracket that closes the target of a link; brackets in it come in pairs.
fn behind_target(target: &str) -> Option<&str> {
    let mut depth = 1;
    let close = target.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    Some(&target[close + 1..])
}

/// `text` without the `mark`s that do not stand between two words.
fn without(text: &str, mark: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(mark) {
        out.push_str(before);
        if out.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric) {
            out.push_str(mark);
        }
        rest = after;
    }
    out + rest
}

fn line(chars: &[char], span: Span) -> String {
    let end = span.end.min(chars.len());
    chars[span.start.min(end)..end].iter().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::Format;
    use crate::proposition::{Outcome, assemble, sentences};

    /// Statements of the units and what became of each sentence.
    fn read(text: &str, headings: &[&str]) -> (Vec<Unit>, Vec<Outcome>) {
        let headings: Vec<String> = headings.iter().map(|h| (*h).to_owned()).collect();
        let sentences = sentences(text, Format::Markdown);
        let out = assemble(&Passage::new("手册", &headings, text, &sentences), &[]);
        assert!(out.uncovered.is_empty());
        (out.units, out.ledger.into_iter().map(|entry| entry.outcome).collect())
    }

    fn statements(text: &str, headings: &[&str]) -> Vec<String> {
        read(text, headings).0.into_iter().map(|u| u.statement).collect()
    }

    fn slice(text: &str, span: Span) -> String {
        text.chars().skip(span.start).take(span.len()).collect()
    }

    #[test]
    fn rows_become_statements_with_their_row_as_evidence_and_headers_as_antecedents() {
        let text =
            "| 型号 | 额定电流 | 备注 |\r\n|---|:--:|---|\r\n| BX-9000 | 26.7 A | 双轴 |\r\n| BX-8000 |  4.0 A |\r\n";
        let (units, outcomes) = read(text, &["2 驱动器"]);
        assert_eq!(units[0].statement, "2 驱动器，型号：BX-9000；额定电流：26.7 A；备注：双轴");
        assert_eq!(units[1].statement, "2 驱动器，型号：BX-8000；额定电流：4.0 A");
        assert_eq!((units[0].kind, units[0].confidence), (UnitKind::Proposition, 1.0));
        assert_eq!(slice(text, units[0].evidence[0]), "| BX-9000 | 26.7 A | 双轴 |");
        let headers: Vec<String> = units[1].antecedents.iter().map(|s| slice(text, *s)).collect();
        assert_eq!(headers, ["型号", "额定电流"]);
        assert!(units[0].entities.iter().any(|e| e == "BX-9000"));
        assert_eq!(outcomes[0], Outcome::Skipped { reason: "table header".to_owned() });
        assert!(matches!(outcomes[1], Outcome::Skipped { .. }));
        assert_eq!(outcomes[2..], [Outcome::TableRow, Outcome::TableRow]);
    }

    #[test]
    fn escaped_bars_code_links_and_breaks_are_read() {
        let text = "Name | Use <br> of it\n--- | ---\n`a\\|b` | **2**8** [guide](x.md)\n`c|d` | on\n";
        assert_eq!(
            statements(text, &["Flags"]),
            ["Flags, Name: a|b; Use of it: 2**8 guide", "Flags, Name: c|d; Use of it: on"]
        );
    }

    #[test]
    fn a_caption_is_the_subject_and_a_column_without_header_names_the_row() {
        let text = "表 3 主轴参数：\n\n| | 转速 |\n|-|-|\n| 粗加工 | 800 rpm |\n";
        let (units, _) = read(text, &["参数"]);
        let row = units.last().unwrap();
        assert_eq!(row.statement, "表 3 主轴参数，粗加工；转速：800 rpm");
        assert_eq!(slice(text, row.antecedents[0]), "表 3 主轴参数：");
    }

    #[test]
    fn what_cannot_be_written_without_guessing_stays_verbatim() {
        for (text, rows) in [
            ("| a1 | b1 |\n| a2 | b2 |\n", 2),
            ("| | |\n|--|--|\n| 8V10 | 4 A |\n", 1),
            ("| 项 | 值 |\n|--|--|\n| 甲 | 1 | 多余 |\n", 2),
            ("| 项 | 值 |\n|--|--|\n| 甲 | 同上 |\n", 2),
            ("| 项 | 值 |\n|--|--|\n", 1),
            ("| 项 | 值 |\n\n|--|--|\n| 甲 | 1 |\n", 2),
        ] {
            let (units, _) = read(text, &[]);
            assert_eq!(units.len(), rows, "{text}");
            assert!(units.iter().all(|u| u.kind == UnitKind::Sentence), "{text}");
        }
    }

    #[test]
    fn cells_say_what_a_reader_of_the_page_sees() {
        let text =
            "甲 | 乙\n:-: | -\n&le; 5 &#37;<!-- 注 --> | [图](a_(b).png)<sup>2</sup> &nope; R&D\n<B> 键 | `<b>x</b>`\n";
        assert_eq!(
            statements(text, &["参数"]),
            ["参数，甲：≤ 5 %；乙：图2 &nope; R&D", "参数，甲：<B> 键；乙：<b>x</b>"]
        );
    }

    #[test]
    fn a_row_of_one_cell_in_a_wider_table_stands_under_no_header() {
        let text = "| 码 | 含义 |\n|--|--|\n| 输入回路 |\n| E1 | 过热 |\n";
        assert_eq!(statements(text, &["报警"]), ["报警，输入回路", "报警，码：E1；含义：过热"]);
    }

    #[test]
    fn a_table_that_begins_behind_the_mark_of_an_item_keeps_its_columns() {
        for mark in ["- ", "1. ", "* "] {
            let indent = " ".repeat(mark.len());
            let text = format!("{mark}| x | y |\n{indent}|---|---|\n{indent}| 3 | 4 |\n");
            assert_eq!(statements(&text, &["参数"]), ["参数, x: 3; y: 4"], "{mark}");
        }
    }

    #[test]
    fn headings_that_the_path_does_not_say_in_full_and_quotes_of_lines_are_told() {
        let headings = ["2.1 Install"];
        assert_eq!(
            statements("## Do not install\n\n## 2.1 Install\n\nText.\n", &headings),
            ["Do not install", "Text."]
        );
        assert_eq!(statements("> Pressure at start\n> 5 bar.\n", &headings), ["Pressure at start 5 bar."]);
    }

    #[test]
    fn rows_cut_off_from_their_table_are_told_its_header() {
        let whole = "表 1\n\n| 项 | 值 |\n|--|--|\n| 甲 | 1 |\n";
        let header = open_table(whole, "").unwrap();
        assert_eq!(header, "| 项 | 值 |\n|--|--|");
        let rest = "| 乙 | 2 |\n| 丙 | 3 |\n";
        assert_eq!(open_table(rest, &header).unwrap(), header);
        for ended in [format!("{whole}\n"), format!("{whole}完。"), "文\n| 乙 | 2 |\n".to_owned(), String::new()] {
            assert_eq!(open_table(&ended, &header), None, "{ended}");
        }
        let read = |table: &str, text: &str| {
            let sentences = sentences(text, Format::Markdown);
            let passage = Passage { table, ..Passage::new("手册", &[], text, &sentences) };
            assemble(&passage, &[]).units.into_iter().map(|u| (u.statement, u.antecedents.len())).collect::<Vec<_>>()
        };
        let expected = [("手册，项：乙；值：2".to_owned(), 0), ("手册，项：丙；值：3".to_owned(), 0)];
        assert_eq!(read(&header, rest), expected);
        assert_eq!(read(&header, "| 型 | 号 |\n|--|--|\n| 丁 | 4 |\n")[0].0, "手册，型：丁；号：4");
        // A Latin word or a number of the header that the section lacks must not come in.
        assert_eq!(read("| Item | 值 |\n|--|--|", rest)[0].0, "手册，乙；值：2");
        assert_eq!(read("| Item | Value |\n|--|--|", rest)[0].0, "| 乙 | 2 |");
        let said = |header: &str| {
            let text = "| E7 | 5 | hot |\n| E8 | 6 | cold |\n";
            let sentences = sentences(text, Format::Markdown);
            let passage =
                Passage { table: &format!("{header}\n|-|-|-|"), ..Passage::new("Faults", &[], text, &sentences) };
            assemble(&passage, &[]).units[0].statement.clone()
        };
        assert_eq!(said("| Code | Limit (bar) | State of it |"), "Faults, code: E7; 5; state of it: hot");
        assert_eq!(said("| PLC code | Limit 2 | LED |"), "| E7 | 5 | hot |");
        assert_eq!(said("| Nm | Torque bar | Two |"), "| E7 | 5 | hot |");
        for (whole, rest) in [
            ("项 | 值\n:-: | -\n甲 | 1\n", "乙 | 2\n丙 | 3\n"),
            ("> | 项 | 值 |\n> |-|-|\n", "> | 乙 | 2 |\n> | 丙 | 3 |\n"),
        ] {
            assert_eq!(read(&open_table(whole, "").unwrap(), rest), expected, "{rest}");
        }
    }

    #[test]
    fn the_header_of_a_column_without_values_is_not_lost() {
        let (units, _) = read("| 项 | 备注 |\n|--|--|\n| 甲 | |\n", &[]);
        assert_eq!(units[0].statement, "| 项 | 备注 |");
        assert_eq!(units[1].statement, "手册，项：甲");
    }

    #[test]
    fn equal_rows_are_one_unit_and_rows_that_differ_in_a_sign_are_two() {
        let (units, _) = read("| 项 | 值 |\n|--|--|\n| 甲 | >5 |\n| 甲 | <5 |\n| 甲 | >5 |\n", &[]);
        assert_eq!(units.len(), 2);
        assert_eq!((units[0].evidence.len(), units[1].evidence.len()), (2, 1));
    }

    #[test]
    fn every_word_of_a_statement_stands_in_its_row_its_headers_or_its_subject() {
        const CELLS: &[&str] = &[
            "", " ", "甲", "2**8", "`a`", "\\|", "[x](y)", "a[1](2)", "![i](p)", "-", "同上", "1 ± 2", "<br>", "**",
            "`", "|", "\\",
        ];
        let mut state = 0x2545_f491_4f6c_dd1du64;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) as usize % below
        };
        let words = |text: &str| text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
        for _ in 0..3000 {
            let columns = 1 + next(4);
            let mut row = |wild: usize| -> String {
                let cells = columns + next(2) * next(wild);
                (0..cells).map(|_| format!("| {} ", CELLS[next(CELLS.len())])).collect::<String>() + "|\n"
            };
            let text = format!("{}|{}\n{}{}", row(1), "--|".repeat(columns), row(2), row(3));
            let (units, _) = read(&text, &["节"]);
            let length = text.chars().count();
            for unit in units {
                assert!(unit.evidence.iter().chain(&unit.antecedents).all(|s| s.end <= length));
                let mut source = words("节");
                source.extend(unit.evidence.iter().chain(&unit.antecedents).flat_map(|s| words(&slice(&text, *s))));
                for word in words(&unit.statement) {
                    assert!(word.is_empty() || source.contains(&word), "{word} of {unit:?} in {text:?}");
                }
            }
        }
    }
}

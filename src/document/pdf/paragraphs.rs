//! Lines joined to paragraphs and list items.

use super::columns::median;
use super::rows::{Line, Row, is_bullet, is_marker};
use super::tables::Table;
use super::vocabulary::Vocabulary;
use crate::document::notation::is_wide;

/// A block of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    Table(Table),
    Text(Paragraph),
}

/// Lines that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Paragraph {
    pub(super) text: String,
    pub(super) lines: usize,
    pub(super) size: f64,
    pub(super) is_bold: bool,
    /// Depth of a list item, by its indent.
    pub(super) item: Option<usize>,
    /// Stands alone: its lines are not joined, neither with each other nor with what follows.
    pub(super) is_apart: bool,
    /// Empty room above, in lines.
    pub(super) room: f64,
    /// Both sides are indented about equally.
    pub(super) is_centred: bool,
}

/// Joins the rows of one region.
pub(super) fn paragraphs(rows: Vec<Row>, words: &Vocabulary) -> Vec<Block> {
    let shape = Shape::of(&rows);
    let mut out = Vec::new();
    let mut open: Option<Open> = None;
    let mut before: Option<f64> = None;
    for row in rows {
        match row {
            Row::Table(table) => {
                out.extend(open.take().map(|open| open.close(words)));
                out.push(Block::Table(table));
                before = None;
            }
            Row::Line(line) => {
                let base = line.base;
                if open.as_ref().is_some_and(|open| open.goes_on(&line, &shape)) {
                    if let Some(open) = &mut open {
                        open.push(line);
                    }
                } else {
                    out.extend(open.take().map(|open| open.close(words)));
                    let room = before.map_or(2.0, |before| (base - before) / shape.leading(line.size) - 1.0);
                    open = Some(Open::new(line, room, &shape));
                }
                before = Some(base);
            }
        }
    }
    out.extend(open.map(|open| open.close(words)));
    out
}

/// Measures of a region.
struct Shape {
    left: f64,
    right: f64,
    /// Distance between lines, by the height of their characters.
    leading: Vec<(f64, f64)>,
}

impl Shape {
    fn of(rows: &[Row]) -> Self {
        let lines: Vec<&Line> = rows
            .iter()
            .filter_map(|row| match row {
                Row::Line(line) => Some(line),
                Row::Table(_) => None,
            })
            .collect();
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for pair in lines.windows(2) {
            let &[above, below] = pair else { continue };
            let step = below.base - above.base;
            if (above.size - below.size).abs() < 0.5 && step > 0.8 * above.size && step < 3.0 * above.size {
                steps.push((above.size, step));
            }
        }
        Self {
            left: lines.iter().map(|line| line.x0()).fold(f64::MAX, f64::min),
            right: lines.iter().map(|line| line.x1()).fold(f64::MIN, f64::max),
            leading: steps,
        }
    }

    fn leading(&self, size: f64) -> f64 {
        let near = self.leading.iter().filter(|(of, _)| (of - size).abs() < 0.5).take(500);
        let mut steps: Vec<f64> = near.map(|(_, step)| *step).collect();
        if steps.len() < 3 {
            return 1.4 * size;
        }
        steps.sort_by(f64::total_cmp);
        // Within paragraphs lines are nearer than between them, so the middle would be too wide in text of short ones.
        steps.get(steps.len() / 3).copied().unwrap_or(1.4 * size).clamp(size, 2.6 * size)
    }
}

struct Open {
    lines: Vec<Line>,
    has_marker: bool,
    room: f64,
    is_centred: bool,
    depth: usize,
    is_apart: bool,
}

impl Open {
    fn new(line: Line, room: f64, shape: &Shape) -> Self {
        let text = line.text();
        let (before, after) = (line.x0() - shape.left, shape.right - line.x1());
        Self {
            has_marker: split_marker(&text).is_some() || starts_with_number(&text) || mark(&text).is_some(),
            room,
            is_centred: before > 2.0 * line.size && (before - after).abs() < 2.0 * line.size,
            depth: ((line.x0() - shape.left) / (2.0 * line.size)).round().clamp(0.0, 4.0) as usize,
            is_apart: line.has_leader() || has_wide_gaps(&line),
            lines: vec![line],
        }
    }

    /// True when `line` continues this paragraph.
    fn goes_on(&self, line: &Line, shape: &Shape) -> bool {
        let Some(last) = self.lines.last() else { return false };
        let size = last.size.max(line.size);
        let text = line.text();
        if self.is_apart
            || line.has_leader()
            || has_wide_gaps(line)
            || (last.size - line.size).abs() > 0.12 * size
            || last.is_bold != line.is_bold
            || line.base - last.base > 1.28 * shape.leading(line.size)
            || line.base <= last.base
            || split_marker(&text).is_some()
            || is_article(&text)
            || self.begins_item(&text, line)
        {
            return false;
        }
        let is_first = self.lines.len() == 1;
        let indent = line.x0() - last.x0();
        // A hanging indent follows a marker; any other new indent begins a paragraph, as does the end of a hanging one.
        let is_hanging = is_first && self.has_marker && indent < 6.0 * size;
        if indent > 1.2 * size && !is_hanging || indent < -1.2 * size && !is_first || indent < -3.5 * size {
            return false;
        }
        // The line before has room for what begins this line: somebody ended it there.
        let first_word = line.cells.first().map_or(0.0, first_word_width);
        let end_of_sentence = ends_sentence(&last.text());
        let slack = if end_of_sentence { 0.3 } else { 1.2 };
        last.x1() + first_word + slack * size > shape.right || (!end_of_sentence && starts_lowercase(&text))
    }

    /// Whether a line begins with the number or letter that is due: the first, or the one after that of this paragraph.
    fn begins_item(&self, text: &str, line: &Line) -> bool {
        let Some((is_letter, number)) = mark(text) else { return false };
        let Some((first, last)) = self.lines.first().zip(self.lines.last()) else { return false };
        let is_next = mark(&first.text()) == Some((is_letter, number.wrapping_sub(1)));
        // A number may be the end of a sentence that goes on here.
        let may_open = is_letter || line.x0() - last.x0() > 0.5 * line.size || ends_sentence(&last.text());
        is_next || (number == 1 && may_open)
    }

    fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    fn close(self, words: &Vocabulary) -> Block {
        let mut text = String::new();
        for line in &self.lines {
            join(&mut text, &line.text(), words);
        }
        let size = self.lines.iter().map(|line| line.size).fold(0.0, f64::max);
        let is_item = !self.is_apart && split_marker(&text).is_some();
        Block::Text(Paragraph {
            text,
            lines: self.lines.len(),
            size,
            is_bold: self.lines.iter().all(|line| line.is_bold),
            item: is_item.then_some(self.depth),
            is_apart: self.is_apart,
            room: self.room,
            is_centred: self.is_centred,
        })
    }
}

/// Parts that stand further apart than stretched words do.
fn has_wide_gaps(line: &Line) -> bool {
    line.cells.windows(2).enumerate().any(|(n, pair)| {
        let &[left, right] = &pair else { return false };
        let is_after_marker = n == 0 && is_marker(&left.text);
        right.x0 - left.x1 > 2.2 * line.size && !is_after_marker
    })
}

/// Appends a line. Between Chinese characters nothing is put; a word broken by a hyphen is made whole.
pub(super) fn join(text: &mut String, line: &str, words: &Vocabulary) {
    let line = line.trim();
    let Some(first) = line.chars().next() else { return };
    let mut end = text.chars().rev();
    match (end.next(), end.next(), end.next()) {
        (None, ..) => {}
        (Some('\u{ad}'), ..) => {
            text.pop();
        }
        // Two small letters before and one after: part numbers and ranges keep their hyphen.
        (Some('-' | '\u{2010}'), Some(a), Some(b)) if a.is_lowercase() && b.is_lowercase() && first.is_lowercase() => {
            let left = text.trim_end_matches(['-', '\u{2010}']).rsplit(|c: char| !c.is_alphabetic()).next();
            let right = line.split(|c: char| !c.is_alphabetic()).next();
            if words.is_broken_word(left.unwrap_or_default(), right.unwrap_or_default()) {
                text.pop();
            }
        }
        (Some('-' | '\u{2010}'), Some(a), _) if a.is_alphanumeric() && first.is_alphanumeric() => {}
        (Some(last), ..) => {
            let closes = |c: char| is_wide(c) || "”’…—".contains(c);
            let opens = |c: char| is_wide(c) || "“‘…—".contains(c);
            if !(closes(last) && opens(first)) {
                text.push(' ');
            }
        }
    }
    text.push_str(line);
}

fn first_word_width(cell: &super::segments::Segment) -> f64 {
    let all: f64 = cell.text.chars().map(width).sum();
    let mut word = 0.0;
    for (n, c) in cell.text.chars().enumerate() {
        if c == ' ' || n > 0 && is_wide(c) {
            break;
        }
        word += width(c);
    }
    if all > 0.0 { (cell.x1 - cell.x0) * word / all } else { 0.0 }
}

fn width(c: char) -> f64 {
    if is_wide(c) { 2.0 } else { 1.0 }
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end().ends_with(['。', '！', '？', '.', '!', '?', '：', ':', '；', ';'])
}

fn starts_lowercase(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_lowercase)
}

/// The marker of a list item and the rest: a bullet, or `1)`, `（1）`, `a)`, `①`. Numbers with a full stop number headings
/// as well, so they are left in the text.
pub(super) fn split_marker(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let first = text.chars().next()?;
    let rest = text.get(first.len_utf8()..)?;
    if is_bullet(first) {
        let needs_space = "-–—−*·".contains(first);
        let is_item = if needs_space { rest.starts_with(' ') } else { true };
        return (is_item && !rest.trim().is_empty()).then_some(("", rest.trim_start()));
    }
    if ('①'..='⑳').contains(&first) {
        return Some((text.get(..first.len_utf8())?, rest.trim_start()));
    }
    let opened = text.starts_with(['(', '（']);
    let body = if opened { rest } else { text };
    let end = body.find([')', '）'])?;
    let inner = body.get(..end)?;
    let is_number = inner.chars().all(|c| c.is_ascii_digit()) && inner.len() <= 2
        || inner.len() == 1 && inner.chars().all(|c| c.is_ascii_alphabetic())
        || opened && inner.chars().count() <= 3 && inner.chars().all(|c| "一二三四五六七八九十".contains(c));
    let close = body.get(end..)?.chars().next()?.len_utf8();
    let cut = text.len() - body.len() + end + close;
    (is_number && !inner.is_empty()).then_some((text.get(..cut)?, text.get(cut..)?.trim_start()))
}

/// `1.`, `2.3`, `4、` before words.
fn starts_with_number(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < text.len() && rest.starts_with(['.', '、', '．'])
}

/// The number of an item in front of words, `3.` or `c.`, and whether it is a letter.
fn mark(text: &str) -> Option<(bool, u32)> {
    let end = text.find(['.', '、', '．'])?;
    let (mark, rest) = text.split_at(end);
    let rest = rest.trim_start_matches(['.', '、', '．']);
    if mark.len() <= 3 && !mark.is_empty() && mark.bytes().all(|b| b.is_ascii_digit()) {
        return mark.parse().ok().filter(|_| !rest.starts_with(|c: char| c.is_ascii_digit())).map(|n| (false, n));
    }
    let letter = mark.bytes().next().filter(|b| mark.len() == 1 && b.is_ascii_alphabetic())?;
    let is_apart = rest.starts_with(|c: char| c == ' ' || is_wide(c));
    is_apart.then(|| (true, u32::from(letter.to_ascii_lowercase() - b'a') + 1))
}

/// `第三条`: articles of laws begin paragraphs even without an indent. `第三条的规定` in the middle of a sentence does not.
fn is_article(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('第') else { return false };
    let number: usize = rest
        .chars()
        .take_while(|c| "零〇一二三四五六七八九十百千".contains(*c) || c.is_ascii_digit())
        .map(char::len_utf8)
        .sum();
    let rest = rest.get(number..).unwrap_or_default();
    number > 0
        && rest.starts_with(['章', '节', '条', '编', '篇'])
        && rest.chars().nth(1).is_some_and(|c| c == ' ' || c == '\u{3000}')
}

/// The height that most characters of a document have.
pub(super) fn body_size<'p>(paragraphs: impl Iterator<Item = &'p Paragraph>) -> f64 {
    let mut counts: Vec<(f64, usize)> = Vec::new();
    for paragraph in paragraphs {
        let characters = paragraph.text.chars().count();
        match counts.iter().position(|(size, _)| (size - paragraph.size).abs() < 0.3) {
            Some(at) => counts[at].1 += characters,
            None if counts.len() < 500 => counts.push((paragraph.size, characters)),
            None => {}
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or_else(|| median(std::iter::empty()), |(size, _)| size)
}

#[cfg(test)]
mod tests {
    use super::super::segments::Segment;
    use super::*;

    fn line(text: &str, x0: f64, base: f64) -> Row {
        let characters = text.chars().count();
        let x1 = x0 + 5.0 * text.chars().map(width).sum::<f64>();
        let cell = Segment { text: text.into(), x0, x1, base, size: 10.0, is_bold: false, characters };
        Row::Line(Line { cells: vec![cell], base, size: 10.0, is_bold: false })
    }

    fn texts(rows: Vec<Row>) -> Vec<String> {
        paragraphs(rows, &Vocabulary::default())
            .into_iter()
            .map(|block| match block {
                Block::Text(paragraph) => paragraph.text,
                Block::Table(_) => "table".into(),
            })
            .collect()
    }

    #[test]
    fn items_begin_with_the_number_or_letter_that_is_due() {
        let rows = vec![
            line("1. 停机并按下急停按钮后等待", 50.0, 100.0),
            line("a. 按急停", 80.0, 114.0),
            line("b. 断电", 80.0, 128.0),
            line("c. switch the mains off and wait until the", 80.0, 142.0),
            line("lamp is dark", 92.0, 156.0),
        ];
        let expected = [
            "1. 停机并按下急停按钮后等待",
            "a. 按急停",
            "b. 断电",
            "c. switch the mains off and wait until the lamp is dark",
        ];
        assert_eq!(texts(rows), expected);
        let wrapped =
            vec![line("The pump that is described in the chapter", 50.0, 100.0), line("2. runs on.", 50.0, 114.0)];
        assert_eq!(texts(wrapped).len(), 1);
    }

    #[test]
    fn chinese_lines_join_without_a_space_and_an_indent_begins_a_paragraph() {
        let rows = vec![
            line("设备安装前应当检查接地", 70.0, 20.0),
            line("电阻，并将结果写入记录。", 50.0, 34.0),
            line("电源应当在检修前切断，", 70.0, 48.0),
            line("并挂牌。", 50.0, 62.0),
        ];
        assert_eq!(texts(rows), ["设备安装前应当检查接地电阻，并将结果写入记录。", "电源应当在检修前切断，并挂牌。"]);
    }

    #[test]
    fn hyphens_that_break_a_word_go_and_others_stay() {
        let joined = |a: &str, b: &str| {
            let mut text = a.to_string();
            join(&mut text, b, &Vocabulary::default());
            text
        };
        assert_eq!(joined("the instal-", "lation"), "the installation");
        assert_eq!(joined("BX-", "9000"), "BX-9000");
        assert_eq!(joined("soft\u{ad}", "ware"), "software");
        assert_eq!(joined("温度", "range"), "温度 range");
        assert_eq!(joined("a well", "known"), "a well known");
    }

    #[test]
    fn list_items_are_told_by_their_markers() {
        assert_eq!(split_marker("• 断电"), Some(("", "断电")));
        assert_eq!(split_marker("（1）断电"), Some(("（1）", "断电")));
        assert_eq!(split_marker("a) stop"), Some(("a)", "stop")));
        assert_eq!(split_marker("-5 ℃"), None);
        assert_eq!(split_marker("(see page 3)"), None);
        let rows = vec![line("• first item that is long", 50.0, 20.0), line("• second", 50.0, 34.0)];
        assert_eq!(texts(rows).len(), 2);
    }
}

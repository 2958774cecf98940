//! The headings of plain text, told from body lines by form and by the sequence of their numbers.
//!
//! A line is a heading when it carries a label, is short, does not end like a sentence, and its number continues the
//! numbers before it: `11.5.14.2的试验应…` at the start of a wrapped line names a number that is not due, and `0.45MPa` or
//! `2023年` are no labels at all. Numbered sentences take part in the counting but are body. Labelled lines that follow each
//! other without text in between are a list or a table of contents.

use super::numbering::{Label, Number, Scheme, label};
use super::sentence::is_cjk;
use crate::document::{collapse, text_lines};

/// A heading, or the place where an untitled numbered paragraph ends the heading before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// First byte of its line.
    pub(crate) start: usize,
    /// First byte after its line; equals `start` when there is no title.
    pub(crate) body: usize,
    /// Nesting level, smaller is further out.
    pub(crate) level: u8,
    /// The heading with its numbering, or nothing for a paragraph that only closes deeper headings.
    pub(crate) title: Option<String>,
}

/// Columns (wide characters count two) of the longest heading line.
const COLUMNS: usize = 120;
/// A class of headings without sub-headings whose typical distance is below this many bytes is a list.
const LIST_BYTES: usize = 200;

/// A labelled line that fits the sequence.
struct Entry {
    start: usize,
    next: usize,
    scheme: Scheme,
    depth: usize,
    level: u8,
    like: bool,
    /// True when its number starts a sequence again.
    restart: bool,
    /// True when body text stands between the entry before and this one.
    apart: bool,
}

/// The headings of `text`. Linear in its length.
pub(crate) fn plain(text: &str) -> Vec<Mark> {
    let mut entries = entries(text);
    demote_lists(&mut entries);
    demote_dense_classes(&mut entries, text.len());
    let marks = marks(text, &entries);
    if marks.iter().any(|mark| mark.title.is_some()) { marks } else { capitals(text) }
}

fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut sequence = Sequence::default();
    let mut apart = true;
    for line in text_lines(text) {
        let content = &text[line.start..line.end];
        if content.trim().is_empty() {
            continue;
        }
        // A tab after the one behind the label makes the line a row of a table.
        let row = content.trim().bytes().filter(|&b| b == b'\t').count() > 1;
        let found = label(content).filter(|l| l.scheme != Scheme::Item && !row && could_label(l));
        let Some((label, restart)) = found.and_then(|l| Some((l, sequence.accept(&l)?))) else {
            apart = true;
            continue;
        };
        let depth = label.number.parts().len();
        entries.push(Entry {
            start: line.start,
            next: line.next,
            scheme: label.scheme,
            depth,
            level: label.scheme.level(depth),
            like: is_heading_like(content.trim(), &label),
            restart,
            apart,
        });
        apart = false;
    }
    entries
}

/// Turns away numbers that are quantities: `3.5 mm 的间隙`, `2.4GHz`, `10 kW`.
fn could_label(label: &Label<'_>) -> bool {
    if label.scheme != Scheme::Decimal {
        return true;
    }
    let Some(first) = label.rest.chars().next() else { return true };
    if !label.separated {
        // Only `1.2概述`: several components, directly followed by a Chinese word.
        return label.number.parts().len() > 1
            && is_cjk(first)
            && !matches!(first, '的' | '和' | '或' | '及' | '与' | '至' | '中' | '～' | '、' | '，' | '）' | '。');
    }
    let sign = matches!(first, '°' | '℃' | '%' | '‰' | 'Ω' | 'μ' | '±' | '×' | '=' | '≤' | '≥');
    // A short lower-case word before Chinese text is a unit.
    let word = label.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let unit = (1..=3).contains(&word) && first.is_lowercase() && label.rest[word..].trim_start().starts_with(is_cjk);
    !sign && !unit
}

/// Short, titled, and not ended like a sentence or a lead-in.
fn is_heading_like(line: &str, label: &Label<'_>) -> bool {
    let named = !matches!(label.scheme, Scheme::Decimal | Scheme::Enumerated | Scheme::Parenthesised);
    if label.rest.is_empty() {
        return named;
    }
    let columns: usize = line.chars().take(COLUMNS + 1).map(|c| if is_cjk(c) { 2 } else { 1 }).sum();
    if columns > COLUMNS
        || line.ends_with(['。', '；', '：', '，', '、', '！', '？', '.', ';', ':', ',', '!', '?', '…'])
    {
        return false;
    }
    let cjk = line.chars().any(is_cjk);
    if cjk && (columns > 80 || label.rest.contains(['。', '；', '！', '？'])) {
        return false;
    }
    let first = label.rest.chars().next().unwrap_or(' ');
    let capital = first.is_uppercase()
        || is_cjk(first)
        || first.is_ascii_digit()
        || matches!(first, '"' | '“' | '‘' | '(' | '[' | '<');
    let letters = label.rest.chars().any(char::is_alphabetic);
    // A page number at the end of a dotted line belongs to a table of contents.
    let leader = label.rest.contains("...") || label.rest.contains("……") || label.rest.contains(". .");
    (named || capital) && letters && !leader
}

/// The numbers seen so far.
#[derive(Default)]
struct Sequence {
    /// Last value of each simple scheme, outermost first.
    last: Vec<(Scheme, u32)>,
    /// Decimal outlines; the last is the current one, the others wait for their continuation.
    decimals: Vec<Number>,
}

impl Sequence {
    const OUTLINES: usize = 6;

    /// Whether the number is due; `Some(true)` when it starts a sequence again.
    fn accept(&mut self, label: &Label<'_>) -> Option<bool> {
        if label.scheme == Scheme::Decimal { self.decimal(&label.number) } else { self.simple(label) }
    }

    fn simple(&mut self, label: &Label<'_>) -> Option<bool> {
        let value = *label.number.parts().first()?;
        let last = self.last.iter().find(|(scheme, _)| *scheme == label.scheme).map(|(_, value)| *value);
        let restart = value == 1 && last.is_some();
        // 第一百三十三条之一 repeats its number; a repealed article leaves a gap.
        let same = label.scheme == Scheme::Article && last == Some(value);
        let due = value == 1 || same || last.is_none_or(|last| value > last && value <= last + 3);
        if !due {
            return None;
        }
        self.last.retain(|(scheme, _)| *scheme < label.scheme);
        self.last.push((label.scheme, value));
        Some(restart)
    }

    fn decimal(&mut self, number: &Number) -> Option<bool> {
        let parts = number.parts();
        if parts.len() == 1 && parts[0] > 99 {
            return None;
        }
        if self.decimals.is_empty() {
            self.decimals.push(*number);
            return Some(false);
        }
        if let Some(at) = self.decimals.iter().rposition(|known| follows(known.parts(), parts)) {
            self.decimals.truncate(at + 1);
            self.decimals[at] = *number;
            return Some(false);
        }
        let annex = parts[0] >= 1000 && parts[1..].iter().all(|&p| p <= 1);
        if annex || parts.iter().all(|&part| part <= 1) {
            if self.decimals.len() == Self::OUTLINES {
                self.decimals.remove(1);
            }
            self.decimals.push(*number);
            return Some(true);
        }
        None
    }
}

/// Whether `next` may come after `last`: a first child, or the next number at some depth, with gaps of up to two.
fn follows(last: &[u32], next: &[u32]) -> bool {
    let common = last.iter().zip(next).take_while(|(a, b)| a == b).count();
    let first_born = |parts: &[u32]| parts.iter().all(|&part| part <= 1);
    if common == next.len() {
        return false;
    }
    if common == last.len() {
        return next[common] <= 2 && first_born(&next[common + 1..]);
    }
    next[common] > last[common] && next[common] <= last[common] + 3 && first_born(&next[common + 1..])
}

/// Heading-like entries without text between them are a list or a table of contents, unless they only go deeper.
fn demote_lists(entries: &mut [Entry]) {
    let mut from = 0;
    while from < entries.len() {
        let mut to = from + 1;
        while to < entries.len()
            && entries[to - 1].like
            && entries[to].like
            && !entries[to].apart
            && !entries[to].restart
        {
            to += 1;
        }
        let flat = entries[from..to].windows(2).filter(|pair| pair[1].level <= pair[0].level).count();
        if flat >= 2 {
            for entry in &mut entries[from..to] {
                entry.like = false;
            }
        }
        from = to;
    }
}

/// `1. …`, `一、…` and `（一）…` also number lists; a class of short entries without sub-headings is one.
fn demote_dense_classes(entries: &mut [Entry], end: usize) {
    for scheme in [Scheme::Decimal, Scheme::Enumerated, Scheme::Parenthesised] {
        let member = |e: &Entry| e.like && e.scheme == scheme && e.depth == 1;
        let parent = (1..entries.len())
            .any(|i| member(&entries[i - 1]) && entries[i].like && entries[i].level > entries[i - 1].level)
            || (scheme == Scheme::Decimal && entries.iter().any(|e| e.scheme == scheme && e.depth > 1));
        if parent {
            continue;
        }
        let mut gaps: Vec<usize> = (0..entries.len())
            .filter(|&i| member(&entries[i]))
            .map(|i| entries.get(i + 1).map_or(end, |next| next.start) - entries[i].next)
            .collect();
        gaps.sort_unstable();
        if gaps.len() > 1 && gaps[(gaps.len() - 1) / 2] < LIST_BYTES {
            entries.iter_mut().filter(|e| e.like && e.scheme == scheme && e.depth == 1).for_each(|e| e.like = false);
        }
    }
}

fn marks(text: &str, entries: &[Entry]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    let mut open: Vec<u8> = Vec::new();
    for entry in entries {
        if entry.like {
            open.retain(|&level| level < entry.level);
            open.push(entry.level);
            let title = collapse(&text[entry.start..entry.next]);
            marks.push(Mark { start: entry.start, body: entry.next, level: entry.level, title: Some(title) });
        } else if entry.scheme == Scheme::Decimal
            && entry.depth > 1
            && open.last().is_some_and(|&level| level >= entry.level)
        {
            open.retain(|&level| level < entry.level);
            marks.push(Mark { start: entry.start, body: entry.start, level: entry.level, title: None });
        }
    }
    marks
}

/// In a text without numbering: lines in capitals that stand after a blank line.
fn capitals(text: &str) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    let (mut blank, mut apart) = (true, true);
    let mut run = 0;
    for line in text_lines(text) {
        let content = text[line.start..line.end].trim();
        if content.is_empty() {
            blank = true;
            continue;
        }
        let letters = content.chars().filter(|c| c.is_uppercase()).count();
        let is_heading = blank
            && letters >= 4
            && content.len() <= 80
            && !content.chars().any(|c| c.is_lowercase() || is_cjk(c))
            && !content.ends_with(['.', ',', ';', ':'])
            && !content.contains(['\t', '|', '='])
            && letters * 2 >= content.len();
        if is_heading {
            run = if apart { 1 } else { run + 1 };
            marks.push(Mark { start: line.start, body: line.next, level: 1, title: Some(collapse(content)) });
        } else if run > 2 {
            marks.truncate(marks.len() - run);
            run = 0;
        }
        apart = !is_heading;
        blank = false;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<String> {
        plain(text).into_iter().filter_map(|mark| mark.title).collect()
    }

    #[test]
    fn numbered_chinese_headings_are_told_from_body_lines() {
        let text = "\
第一章 总则\r\n第一条 为了安全，制定本规程。\r\n第二条 本规程适用于所有设备。\r\n第二章 试验\r\n11.5 绝缘试验\r\n试验在常温下进行。\r\n11.5.1 要求\r\n按\r\n11.5.14.2的试验应按下列方法\r\n0.45MPa 以上的压力\r\n3.5 mm 的间隙应调整\r\n2023年修订的部分\r\n进行。\r\n11.5.2 方法\r\n说明。\r\n附录A 记录表\r\n表格。\r\n";
        assert_eq!(
            titles(text),
            ["第一章 总则", "第二章 试验", "11.5 绝缘试验", "11.5.1 要求", "11.5.2 方法", "附录A 记录表"]
        );
    }

    #[test]
    fn rulebook_titles_are_headings_and_numbered_sentences_are_body() {
        let text = "1.\tINTRODUCTION\r\n1.1\tScope\r\n1.1.1\t\r\n1.1.1.(1)\tThese rules apply to everyone.\r\n1.2\tTiming\r\n1.2.1\tPayment\r\nA fee is due at once.\r\n1.2.2\tThe fee must be paid in full within twenty days of the date on which it becomes due:\r\n(a)\tby cheque; or\r\n(b)\tin cash.\r\n2.\tDUTIES\r\n2.1\tText\r\nBody.\r\n";
        let marks = plain(text);
        assert_eq!(
            titles(text),
            ["1. INTRODUCTION", "1.1 Scope", "1.2 Timing", "1.2.1 Payment", "2. DUTIES", "2.1 Text"]
        );
        // The untitled rule 1.2.2 is not part of 1.2.1.
        assert!(marks.iter().any(|m| m.title.is_none() && text[m.start..].starts_with("1.2.2")));
    }

    #[test]
    fn lists_and_tables_of_contents_are_no_headings() {
        assert!(titles("步骤：\n1. 关闭电源\n2. 打开机盖\n3. 检查接线\n4. 合上机盖\n完成后上电。\n").is_empty());
        assert!(titles("一、断电\n二、验电\n三、挂牌\n随后作业。").is_empty());
        let text = "目次\n1 范围\n2 术语\n3 要求\n\n1 范围\n本标准规定了试验方法。\n2 术语\n下列术语适用。\n2.1 设备\n指机器。\n3 要求\n应符合规定。\n";
        assert_eq!(titles(text), ["1 范围", "2 术语", "2.1 设备", "3 要求"]);
    }

    #[test]
    fn short_steps_with_explanations_are_a_list() {
        let text = "1. Turn off the power\nWait a minute.\n2. Remove the cover\nMind the edges.\n3. Check the fuse\nReplace it if needed.\n";
        assert!(titles(text).is_empty());
    }

    #[test]
    fn lists_inside_an_outline_do_not_end_it() {
        let text = "1.1 Scope\nText follows here.\n1. First item of a list that is a full sentence.\n2. Second item of the list, also a sentence.\n1.2 Terms\nMore text.\n1.3 Use\nText.\n";
        assert_eq!(titles(text), ["1.1 Scope", "1.2 Terms", "1.3 Use"]);
    }

    #[test]
    fn capitals_serve_where_nothing_is_numbered() {
        let text = "SAFETY NOTES\n\nRead this first.\n\nMAINTENANCE\n\nOil it.\n";
        assert_eq!(titles(text), ["SAFETY NOTES", "MAINTENANCE"]);
        assert!(titles("A B C\n\nText in USA.\n").is_empty());
    }
}

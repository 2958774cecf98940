//! Which paragraphs are headings, and on which level: by the outline of the file where it has one, else by numbering and by
//! the height and weight of the characters.

use std::collections::HashMap;

use super::outline::Entry;
use super::paragraphs::{Block, Paragraph, body_size};
use crate::document::notation::is_wide;

/// A heading is no longer than this, in columns of a fixed-width screen.
const LONGEST: usize = 90;

/// What a numbering says about the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    /// `第一编`, `第一章`, `第一节`, `附录 A`: 0 outermost.
    Chapter(u8),
    /// `1`, `1.2`, `1.2.3`: how many numbers, and the first.
    Decimal(u8, u16),
    /// `一、`.
    Chinese,
}

struct Found {
    page: usize,
    block: usize,
    size: f64,
    is_bold: bool,
    number: Option<Number>,
    outline: Option<u8>,
}

/// Levels of the headings among `pages`, by page and block.
pub(super) fn levels(pages: &[Vec<Block>], outline: &[Entry]) -> HashMap<(usize, usize), u8> {
    let texts = || pages.iter().flatten().filter_map(text);
    let body = body_size(texts());
    let bold: usize = texts().filter(|p| p.is_bold).map(|p| p.text.len()).sum();
    let is_body_bold = bold * 2 > texts().map(|p| p.text.len()).sum();
    let mut by_title: HashMap<String, Vec<&Entry>> = HashMap::new();
    for entry in outline {
        by_title.entry(plain(&entry.title)).or_default().push(entry);
    }
    let mut found = Vec::new();
    for (page, blocks) in pages.iter().enumerate() {
        for (block, paragraph) in blocks.iter().enumerate().filter_map(|(n, block)| Some((n, text(block)?))) {
            let number = number_of(&paragraph.text);
            let outline = outline_level(&by_title, paragraph, page);
            let bold = paragraph.is_bold && !is_body_bold;
            if outline.is_some() || is_heading(paragraph, number, body, bold, blocks.get(block + 1)) {
                found.push(Found { page, block, size: paragraph.size, is_bold: bold, number, outline });
            }
        }
    }
    let is_due: Vec<bool> = (0..found.len()).map(|at| is_due(&found, at)).collect();
    for (one, is_due) in found.iter_mut().zip(is_due) {
        one.number = one.number.filter(|_| is_due);
    }
    rank(&found, body)
}

/// Whether the number of a heading belongs to a sequence: it is the first, or comes after the one before it, or numbers within
/// it do. `45 Main Street` is an address.
fn is_due(found: &[Found], at: usize) -> bool {
    let first = |one: &Found| match one.number {
        Some(Number::Decimal(depth, first)) => Some((depth, first)),
        _ => None,
    };
    let Some((1, number)) = found.get(at).and_then(first) else { return true };
    let before = found[..at].iter().filter_map(first).any(|(_, before)| before < number && number <= before + 3);
    number <= 1 || before || found.iter().filter_map(first).any(|(depth, outer)| depth > 1 && outer == number)
}

fn text(block: &Block) -> Option<&Paragraph> {
    match block {
        Block::Text(paragraph) => Some(paragraph),
        Block::Table(_) => None,
    }
}

fn outline_level(by_title: &HashMap<String, Vec<&Entry>>, paragraph: &Paragraph, page: usize) -> Option<u8> {
    if paragraph.is_apart || paragraph.lines > 4 {
        return None;
    }
    let entries = by_title.get(&plain(&paragraph.text))?;
    let here = entries.iter().find(|entry| entry.page.is_none_or(|at| at == page))?;
    Some(here.depth.saturating_add(1))
}

/// A title without white space, so that line ends and kerning make no difference.
fn plain(title: &str) -> String {
    title.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

fn is_heading(p: &Paragraph, number: Option<Number>, body: f64, is_bold: bool, next: Option<&Block>) -> bool {
    let columns: usize = p.text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum();
    let letters = p.text.chars().filter(|c| c.is_alphabetic()).count();
    let ends_like_text = p.text.ends_with(['。', '；', '，', ',', ';', '、', '：', ':', '！', '？'])
        || p.text.ends_with('.') && p.text.split_whitespace().count() > 6;
    if p.lines > 3 || columns > LONGEST || letters == 0 || p.is_apart || ends_like_text {
        return false;
    }
    let is_numbered = number.is_some();
    // A lone symbol or code in large type is part of a drawing.
    let has_words = letters >= 2;
    if p.size >= 1.15 * body && has_words && (p.item.is_none() || is_numbered) {
        return true;
    }
    if p.size < 0.95 * body || p.lines > 2 {
        return false;
    }
    let follows = next.is_some();
    match number {
        Some(Number::Chapter(_)) => columns <= 60 && (is_bold || p.is_centred || p.room > 0.2 || p.lines == 1),
        Some(Number::Decimal(..) | Number::Chinese) if is_bold => columns <= 70,
        Some(Number::Decimal(depth, _)) => depth >= 2 && columns <= 50 && follows && p.lines == 1 && p.room > 0.25,
        Some(Number::Chinese) => {
            let next = next.and_then(text).and_then(|next| number_of(&next.text));
            columns <= 44 && follows && p.lines == 1 && next != number
        }
        None => is_bold && p.item.is_none() && has_words && columns <= 60 && p.lines == 1 && p.room > 0.15 && follows,
    }
}

/// The numbering that a text begins with.
fn number_of(text: &str) -> Option<Number> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('第') {
        let end = rest.find(|c: char| !"零〇一二三四五六七八九十百千0123456789 ".contains(c))?;
        let level = match rest.get(end..)?.chars().next()? {
            '编' | '篇' | '卷' => 0,
            '章' => 1,
            '节' => 2,
            _ => return None,
        };
        let after = rest.get(end..)?.chars().nth(1);
        return (end > 0 && after.is_none_or(|c| !"的，。、和及".contains(c))).then_some(Number::Chapter(level));
    }
    for word in ["附录", "附件", "Appendix ", "Annex ", "Chapter "] {
        if let Some(rest) = text.strip_prefix(word) {
            let first = rest.trim_start().chars().next()?;
            return (first.is_ascii_alphanumeric() || "一二三四五六七八九十".contains(first))
                .then_some(Number::Chapter(1));
        }
    }
    if let Some((number, rest)) = text.split_once('、') {
        let is_number = !number.is_empty() && number.chars().all(|c| "一二三四五六七八九十".contains(c));
        return (is_number && !rest.is_empty()).then_some(Number::Chinese);
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '．')?;
    let (number, rest) = text.split_at(end);
    let parts: Vec<&str> = number.trim_end_matches(['.', '．']).split(['.', '．']).collect();
    let is_number = parts.iter().all(|part| !part.is_empty() && part.len() <= 3) && parts.len() <= 6;
    let starts_word = {
        let mut rest = rest.trim_start().chars();
        match (rest.next(), rest.next()) {
            (Some(c), _) if is_wide(c) => c.is_alphabetic(),
            (Some(a), Some(b)) => {
                // Not a unit, such as `MPa`, `Hz` or `V`.
                let word = rest.by_ref().take_while(|c| c.is_alphabetic()).count() + 2;
                let is_word = b.is_lowercase() && word >= 3 || b.is_uppercase() && word >= 4;
                text.as_bytes().get(end) == Some(&b' ') && a.is_uppercase() && is_word
            }
            _ => false,
        }
    };
    // A year or a measure at the start of a line is no numbering.
    let is_measure = rest.trim_start().starts_with(['年', '月', '日', '个', '次', '台', '米', '度', '分', '秒', '小']);
    (is_number && starts_word && !(is_measure && parts.len() == 1))
        .then(|| Number::Decimal(u8::try_from(parts.len()).unwrap_or(6), parts[0].parse().unwrap_or(u16::MAX)))
}

/// Levels from what was found: sizes rank headings without a number, numbers those that have one.
fn rank(found: &[Found], body: f64) -> HashMap<(usize, usize), u8> {
    let mut sizes: Vec<f64> = Vec::new();
    for one in found.iter().filter(|one| one.number.is_none() && one.outline.is_none()) {
        if !sizes.iter().any(|size| (size / one.size - 1.0).abs() < 0.06) {
            sizes.push(one.size);
        }
    }
    sizes.sort_by(|a, b| b.total_cmp(a));
    let numbered = || found.iter().filter(|one| one.number.is_some() || one.outline.is_some());
    let largest = numbered().map(|one| one.size).fold(0.0, f64::max);
    // A larger first heading without a number is the title of the whole: the rest lies below it.
    let has_title = found.first().is_some_and(|first| {
        first.number.is_none() && first.outline.is_none() && first.size > 1.1 * largest && largest > 0.0
    });
    let outermost = numbered()
        .filter_map(|one| match one.number {
            Some(Number::Chapter(level)) => Some(level),
            _ => None,
        })
        .min();
    let under_chapters = u8::from(outermost.is_some_and(|level| level <= 1));
    let has_chinese = found.iter().any(|one| one.number == Some(Number::Chinese));
    let mut out = HashMap::new();
    for one in found {
        let by_number = |number: Number| match number {
            Number::Chapter(level) => level - outermost.unwrap_or(0).min(level) + 1,
            Number::Chinese => 1 + under_chapters,
            Number::Decimal(depth, _) => depth + u8::from(has_chinese && depth == 1),
        };
        let level = match (one.outline, one.number) {
            (Some(level), _) => level.saturating_add(u8::from(has_title)),
            (None, Some(number)) => by_number(number) + u8::from(has_title),
            (None, None) => {
                let rank = sizes.iter().position(|size| (size / one.size - 1.0).abs() < 0.06).unwrap_or(0) as u8 + 1;
                let is_plain = one.is_bold && one.size < 1.1 * body;
                if is_plain { rank.max(2) } else { rank }
            }
        };
        out.insert((one.page, one.block), level.clamp(1, 6));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraph(text: &str, size: f64, is_bold: bool) -> Block {
        Block::Text(Paragraph {
            text: text.into(),
            lines: 1,
            size,
            is_bold,
            item: None,
            is_apart: false,
            room: 1.0,
            is_centred: false,
        })
    }

    #[test]
    fn numbering_is_told_from_measures() {
        assert_eq!(number_of("1.2.3 安装"), Some(Number::Decimal(3, 1)));
        assert_eq!(number_of("3 Safety rules"), Some(Number::Decimal(1, 3)));
        assert_eq!(number_of("第二章 总则"), Some(Number::Chapter(1)));
        assert_eq!(number_of("一、概述"), Some(Number::Chinese));
        assert_eq!(number_of("附录A 术语"), Some(Number::Chapter(1)));
        for text in ["1.5 MPa", "2024年修订", "第二章的规定", "12", "3.3V supply", "10 kV"] {
            assert_eq!(number_of(text), None, "{text}");
        }
    }

    #[test]
    fn size_weight_and_numbering_make_levels() {
        let long = "设备应当接地，检修前应当切断电源并挂牌，未经许可不得合闸。".repeat(3);
        let page = vec![
            paragraph("操作手册", 22.0, true),
            paragraph("1 概述", 16.0, true),
            paragraph(&long, 10.5, false),
            paragraph("1.1 范围", 14.0, true),
            paragraph(&long, 10.5, false),
            paragraph("注意事项", 10.5, true),
            paragraph(&long, 10.5, false),
        ];
        let levels = levels(&[page], &[]);
        let mut all: Vec<(usize, u8)> = levels.into_iter().map(|((_, block), level)| (block, level)).collect();
        all.sort_unstable();
        assert_eq!(all, [(0, 1), (1, 2), (3, 3), (5, 2)]);
    }

    #[test]
    fn a_number_out_of_sequence_decides_no_level() {
        let page = |lines: &[(&str, f64)]| {
            let body = paragraph(&"The pump must be stopped before the guard is opened. ".repeat(4), 10.0, false);
            let mut blocks: Vec<Block> = lines.iter().map(|(text, size)| paragraph(text, *size, true)).collect();
            blocks.push(body);
            blocks
        };
        let lines = [("Repair invoice", 20.0), ("45 Main Street", 12.0), ("Customer", 16.0)];
        let found = levels(&[page(&lines)], &[]);
        assert_eq!([0, 1, 2].map(|block| found.get(&(0, block)).copied()), [Some(1), Some(3), Some(2)]);
        let lines = [("1 Scope", 16.0), ("2 Terms", 16.0), ("Notes", 12.0)];
        let found = levels(&[page(&lines)], &[]);
        assert_eq!([0, 1].map(|block| found.get(&(0, block)).copied()), [Some(1), Some(1)]);
    }

    #[test]
    fn the_outline_decides_where_there_is_one() {
        let outline = [
            Entry { title: "Getting started".into(), depth: 0, page: Some(0) },
            Entry { title: "Wiring".into(), depth: 1, page: Some(1) },
        ];
        let body = || paragraph("Connect the wires as shown and check them twice before use.", 10.0, false);
        let pages =
            [vec![paragraph("Getting  started", 10.0, false), body()], vec![paragraph("Wiring", 10.0, false), body()]];
        let levels = levels(&pages, &outline);
        assert_eq!((levels.get(&(0, 0)), levels.get(&(1, 0)), levels.len()), (Some(&1), Some(&2), 2));
    }
}

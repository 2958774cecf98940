//! Headings of documents that have none by style.
//!
//! Many documents are written without heading styles: chapters are only numbered lines. In a document without a single
//! heading, short lines with the number of a part, chapter, section or clause become headings, if lines with such numbers
//! mostly have text of their own below them. Lines that follow each other directly are a list or a table of contents.

use super::blocks::{Block, Paragraph, Role};

/// Characters of a line that may be a heading.
const LONGEST: usize = 40;

/// A way to number headings, from the outermost. Decimal numbers have a depth of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// `第一编`
    Part,
    /// `第一章`
    Chapter,
    /// `第一节`
    Section,
    /// `附录A`
    Appendix,
    /// `一、`
    Chinese,
    /// `（一）`
    InBrackets,
    /// `1`, `1.1`, `1、`
    Decimal(u8),
}

/// Makes headings of numbered lines if there are no headings. The table of contents and tables stay as they are.
pub(super) fn promote(blocks: &mut [Block]) {
    let is_heading = |block: &Block| matches!(block, Block::Paragraph(p) if matches!(p.role, Role::Heading(_)));
    if blocks.iter().any(is_heading) {
        return;
    }
    let ways: Vec<Option<Way>> = blocks.iter().map(way_of).collect();
    let mut used: Vec<Way> = Vec::new();
    let mut known: Vec<Way> = ways.iter().flatten().copied().collect();
    known.sort_unstable();
    known.dedup();
    for way in known {
        let places: Vec<usize> = (0..ways.len()).filter(|&at| ways.get(at) == Some(&Some(way))).collect();
        // Text or a deeper number follows, not the next line of the same list and not the end.
        let is_over_text = |at: &&usize| match ways.get(**at + 1) {
            Some(Some(next)) => *next > way,
            Some(None) => true,
            None => false,
        };
        let over_text = places.iter().filter(is_over_text).count();
        let is_alone = matches!(way, Way::Chinese | Way::InBrackets | Way::Decimal(_)) && places.len() < 2;
        if over_text * 4 >= places.len() * 3 && !is_alone {
            used.push(way);
        }
    }
    for (block, way) in blocks.iter_mut().zip(ways) {
        let level = way.and_then(|way| used.iter().position(|used| *used == way));
        if let (Block::Paragraph(paragraph), Some(level)) = (block, level) {
            paragraph.role = Role::Heading(level.min(5) as u8);
        }
    }
}

fn way_of(block: &Block) -> Option<Way> {
    let Block::Paragraph(paragraph) = block else { return None };
    if paragraph.role != Role::Body {
        return None;
    }
    let text = Paragraph::numbered(paragraph);
    let text = text.trim();
    let ends_like_text = text.ends_with(['。', '；', '，', '：', '、', '！', '？', '.', ';', ',', ':', '…', '）']);
    if text.chars().count() > LONGEST || ends_like_text || text.contains(['\n', '。', '；']) {
        return None;
    }
    way(text)
}

/// How a line is numbered; `None` for a number without words after it.
fn way(text: &str) -> Option<Way> {
    let is_chinese = |c: char| "〇○零一二三四五六七八九十百".contains(c);
    let has_words = |rest: &str| rest.contains(char::is_alphabetic);
    if let Some(rest) = text.strip_prefix('第') {
        let rest = rest.trim_start_matches(|c: char| is_chinese(c) || c.is_ascii_digit() || c == ' ');
        let mut chars = rest.chars();
        let way = match chars.next()? {
            '编' | '篇' | '部' => Way::Part,
            '章' => Way::Chapter,
            '节' => Way::Section,
            _ => return None,
        };
        return (has_words(chars.as_str()) && rest.len() < text.len() - '第'.len_utf8()).then_some(way);
    }
    for word in ["附录", "附 录", "附件"] {
        if let Some(rest) = text.strip_prefix(word) {
            let number = rest.trim_start().chars().next()?;
            return (number.is_ascii_alphanumeric() || is_chinese(number)).then_some(Way::Appendix);
        }
    }
    if let Some(rest) = text.strip_prefix(['（', '(']) {
        let (number, rest) = rest.split_once(['）', ')'])?;
        return (!number.is_empty() && number.chars().all(is_chinese) && has_words(rest)).then_some(Way::InBrackets);
    }
    let rest = text.trim_start_matches(is_chinese);
    if rest.len() < text.len() {
        let words = rest.strip_prefix(['、', '．', '.'])?;
        return has_words(words).then_some(Way::Chinese);
    }
    let number: &str = text.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    let rest = text.get(number.len()..)?;
    let is_apart = rest.starts_with([' ', '\u{3000}', '、', '．'])
        || number.ends_with('.')
        || rest.chars().next().is_some_and(is_ideograph);
    let parts: Vec<&str> = number.trim_end_matches('.').split('.').collect();
    let is_number = parts.iter().all(|part| !part.is_empty() && part.len() <= 2);
    // One digit right before a word may be a quantity: `3个月`.
    let is_clear = parts.len() > 1 || !rest.chars().next().is_some_and(is_ideograph);
    (is_number && is_apart && is_clear && has_words(rest)).then_some(Way::Decimal(parts.len().min(9) as u8))
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(lines: &[&str]) -> Vec<Option<u8>> {
        let mut blocks: Vec<Block> =
            lines.iter().map(|line| Block::Paragraph(Paragraph::body(line.to_string()))).collect();
        promote(&mut blocks);
        blocks
            .iter()
            .map(|block| match block {
                Block::Paragraph(Paragraph { role: Role::Heading(level), .. }) => Some(*level),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn numbered_lines_over_text_become_headings_by_their_kind() {
        let lines = [
            "一、任务来源",
            "正文正文。",
            "二、编制过程",
            "1、征求意见稿",
            "文字。",
            "2、送审稿",
            "文字。",
            "三、其他",
            "没有。",
        ];
        assert_eq!(roles(&lines), [Some(0), None, Some(0), Some(1), None, Some(1), None, Some(0), None]);
    }

    #[test]
    fn lists_sentences_and_quantities_do_not() {
        assert_eq!(roles(&["需要：", "1、扳手", "2、钳子", "3、万用表", "完"]), [None; 5]);
        assert_eq!(roles(&["一、设备应当接地。", "正文", "二、设备应当挂牌。", "正文"]), [None; 4]);
        assert_eq!(way("3个月内检修"), None);
        assert_eq!(way("1.2 目的"), Some(Way::Decimal(2)));
        assert_eq!(way("2023.04 版本"), None);
        assert_eq!(way("第三条 设备"), None);
        assert_eq!(way("第三章 设备"), Some(Way::Chapter));
    }
}

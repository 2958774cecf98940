//! Clauses of a sentence: the smallest stretches that evidence can point at.

use std::ops::Range;

use crate::proposition::lexis::{Folded, is_content, is_ideograph};

/// Cuts a folded sentence into clauses that tile it. Cuts fall after commas, semicolons, colons and dashes, around
/// brackets, at tabs and wide gaps (labels such as `15.6.2.(1)` or `NOTE`), and before conjunctions.
pub(crate) fn clauses(sentence: &Folded) -> Vec<Range<usize>> {
    let chars = &sentence.chars;
    let label = label_len(sentence);
    let mut cuts = vec![0, label];
    let mut i = label;
    while i < chars.len() {
        let c = chars[i];
        let next = chars.get(i + 1).copied();
        match c {
            ';' | '。' | '；' | '，' | '！' | '？' | '\t' | '—' | '…' => cuts.push(i + 1),
            ',' | ':' | '!' | '?' => {
                let digits = i > 0 && chars[i - 1].is_ascii_digit() && next.is_some_and(|n| n.is_ascii_digit());
                if !digits {
                    cuts.push(i + 1);
                }
            }
            '.' if next.is_some_and(char::is_whitespace) => cuts.push(i + 1),
            '(' | '（' => cuts.push(i),
            ')' | '）' => cuts.push(i + 1),
            ' ' if chars.get(i + 1) == Some(&' ') => cuts.push(i + 1),
            ' ' if sentence.has(i, " and ") || sentence.has(i, " but ") || sentence.has(i, " - ") => cuts.push(i + 1),
            ' ' if sentence.has(i, " or ") || sentence.has(i, " – ") => cuts.push(i + 1),
            '并' | '並' | '且' | '而' | '但' if is_conjunction(chars, i) => cuts.push(i),
            _ => {}
        }
        i += 1;
    }
    cuts.push(chars.len());
    cuts.sort_unstable();
    cuts.dedup();
    let mut out: Vec<Range<usize>> = Vec::new();
    for pair in cuts.windows(2) {
        let piece = pair[0]..pair[1];
        let empty = !chars[piece.clone()].iter().any(|&c| is_content(c));
        match out.last_mut() {
            // Punctuation alone belongs to what stands before it.
            Some(last) if empty => last.end = piece.end,
            _ => out.push(piece),
        }
    }
    out
}

/// Words such as 合并, 并联, 而且 and 因而 contain the characters without joining clauses.
pub(crate) fn is_conjunction(chars: &[char], i: usize) -> bool {
    let before = i.checked_sub(1).map(|k| chars[k]);
    let after = chars.get(i + 1).copied();
    if !before.is_some_and(is_ideograph) || !after.is_some_and(is_content) {
        return false;
    }
    match chars[i] {
        '并' | '並' => {
            !matches!(before, Some('合' | '一' | '吞' | '兼' | '归' | '歸'))
                && !matches!(after, Some('联' | '聯' | '列' | '行' | '网' | '入' | '口' | '发' | '排' | '且'))
        }
        '且' => !matches!(before, Some('而' | '并' | '並' | '尚' | '暂')),
        '而' => !matches!(before, Some('因' | '从' | '從' | '反' | '然' | '进')) && after != Some('且'),
        _ => !matches!(before, Some('不' | '非')),
    }
}

/// Length of the number or bullet that a sentence begins with: `第三十六条 `, `（一）`, `15.6.2.(1)`, `- `, `1. `, `## `.
pub(crate) fn label_len(sentence: &Folded) -> usize {
    let chars = &sentence.chars;
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut i = 0;
    // Markdown markers and bullets.
    while matches!(at(i), '-' | '*' | '+' | '•' | '#' | '>' | '·' | '|') || at(i).is_whitespace() {
        i += 1;
    }
    if i > 0 && (at(i - 1) == '-' || at(i - 1) == '+') && at(i).is_ascii_digit() {
        return 0;
    }
    // Emphasis that opens without a space belongs to the text.
    if i > 0 && !at(i - 1).is_whitespace() && at(i - 1) == '*' {
        while i > 0 && at(i - 1) == '*' {
            i -= 1;
        }
    }
    let start = i;
    let numeral = |c: char| c.is_ascii_digit() || "一二三四五六七八九十百千零".contains(c);
    if at(i) == '第' {
        let mut k = i + 1;
        while numeral(at(k)) {
            k += 1;
        }
        if k > i + 1 && matches!(at(k), '条' | '條' | '款' | '项' | '章' | '节') {
            let gap = at(k + 1);
            if gap.is_whitespace() || matches!(gap, '、' | ':' | '。') {
                return skip_gap(chars, k + 1);
            }
        }
        return start;
    }
    if matches!(at(i), '(' | '（') {
        let mut k = i + 1;
        while numeral(at(k)) || (at(k).is_ascii_alphabetic() && k < i + 3) {
            k += 1;
        }
        if k > i + 1 && matches!(at(k), ')' | '）') {
            return skip_gap(chars, k + 1);
        }
        return start;
    }
    // 1.  1)  1、  1.2.3<space>  15.6.2.(1)<tab>
    let mut k = i;
    let mut dots = 0;
    while at(k).is_ascii_digit() || at(k) == '.' {
        dots += usize::from(at(k) == '.');
        k += 1;
    }
    if k > i {
        if at(k) == '(' {
            let mut m = k + 1;
            while at(m).is_ascii_alphanumeric() {
                m += 1;
            }
            if at(m) == ')' && at(m + 1).is_whitespace() && dots > 0 {
                return skip_gap(chars, m + 1);
            }
        }
        if matches!(at(k), ')' | '、') {
            return skip_gap(chars, k + 1);
        }
        if at(k - 1) == '.' && at(k).is_whitespace() || (dots >= 2 && at(k).is_whitespace()) {
            return skip_gap(chars, k);
        }
        return start;
    }
    let mut k = i;
    while numeral(at(k)) {
        k += 1;
    }
    if k > i && at(k) == '、' {
        return k + 1;
    }
    start
}

fn skip_gap(chars: &[char], mut i: usize) -> usize {
    while chars.get(i).is_some_and(|c| c.is_whitespace() || matches!(c, '、' | ':')) {
        i += 1;
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        let folded = Folded::new(text);
        clauses(&folded).into_iter().map(|r| folded.text(r.start, r.end)).collect()
    }

    #[test]
    fn clauses_tile_the_sentence() {
        for text in
            ["", "，", "油温超过60℃时，应停机；并通知维修人员。", "a, b and c (see 1,000) - done.", "合并后并联运行"]
        {
            assert_eq!(cut(text).concat(), Folded::new(text).text(0, usize::MAX));
        }
    }

    #[test]
    fn labels_stand_apart_and_numbers_are_not_cut() {
        assert_eq!(cut("第三十六条 油泵停转，压力降至1,000Pa。"), ["第三十六条 ", "油泵停转,", "压力降至1,000pa。"]);
        assert_eq!(cut("15.6.2.(1)\tStop the press and wait."), ["15.6.2.(1)\t", "stop the press ", "and wait."]);
        assert_eq!(cut("- 关闭阀门并泄压"), ["- ", "关闭阀门", "并泄压"]);
    }

    #[test]
    fn quantities_are_no_labels() {
        for text in ["0.45MPa 以上报警", "-10 °C 以下停机", "11.5.14.2的试验应重做", "24V 电源"] {
            assert_eq!(label_len(&Folded::new(text)), 0, "{text}");
        }
    }
}

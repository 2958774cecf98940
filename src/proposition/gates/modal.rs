//! Negation and modal words: which there are, and finding them.

use crate::proposition::lexis::{Folded, is_wordlike};

/// What a word does to the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Force {
    /// 不得, must not.
    Forbid,
    /// 必须, shall.
    Demand,
    /// 可以, may.
    Allow,
    /// 未, not.
    Deny,
    /// 只, only.
    Restrict,
}

/// A negation or modal word in a folded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Modal {
    pub(crate) word: &'static str,
    pub(crate) force: Force,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

type Table = &'static [(Force, &'static [&'static str])];

const CHINESE: Table = &[
    (
        Force::Forbid,
        &[
            "不得",
            "严禁",
            "嚴禁",
            "禁止",
            "不准",
            "不许",
            "不許",
            "不允许",
            "不应",
            "不應",
            "不能",
            "不可",
            "不可以",
            "切勿",
            "请勿",
            "請勿",
            "勿",
            "不宜",
        ],
    ),
    (Force::Demand, &["必须", "必須", "应当", "應當", "应该", "應該", "务必", "務必", "应", "應", "须", "須"]),
    (Force::Allow, &["可以", "可能", "可", "允许", "允許"]),
    (
        Force::Deny,
        &[
            "未", "没有", "沒有", "无需", "無需", "无须", "不必", "不需", "不再", "不会", "不會", "不是", "不", "无法",
            "無法", "无", "無", "非",
        ],
    ),
    (Force::Restrict, &["只能", "只有", "只允许", "仅", "僅", "只"]),
];

/// Words that hold one of the characters without its force.
const CHINESE_PLAIN: &[&str] = &[
    "不同",
    "不仅",
    "不僅",
    "不断",
    "不斷",
    "不论",
    "不論",
    "不管",
    "不锈",
    "不鏽",
    "不只",
    "不但",
    "不等",
    "不久",
    "响应",
    "響應",
    "反应",
    "反應",
    "相应",
    "相應",
    "对应",
    "對應",
    "供应",
    "供應",
    "适应",
    "適應",
    "感应",
    "感應",
    "效应",
    "效應",
    "应用",
    "應用",
    "应急",
    "應急",
    "应答",
    "應答",
    "应力",
    "應力",
    "应变",
    "应对",
    "未来",
    "未來",
    "无线",
    "無線",
    "无论",
    "無論",
    "无刷",
    "無刷",
    "无人",
    "非常",
    "除非",
    "只要",
    "无锡",
    "南非",
    "非洲",
    "是非",
    "非金属",
    "非标",
    "可靠",
    "可见",
    "可編",
    "可编",
    "可视",
    "可选",
    "可選",
    "可调",
    "可調",
    "可燃",
    "许可",
    "許可",
    "认可",
    "認可",
    "可逆",
    "可拆",
    "可变",
    "可變",
    "可追",
    "可控",
    "可行",
    "可读",
    "可写",
    "三相应",
    "应收",
    "尽可能",
    "儘可能",
];

const ENGLISH: Table = &[
    (
        Force::Forbid,
        &["must not", "shall not", "should not", "may not", "cannot", "can not", "can't", "mustn't", "do not", "don't"],
    ),
    (Force::Demand, &["must", "shall", "should"]),
    (Force::Allow, &["may", "might"]),
    (Force::Deny, &["never", "does not", "doesn't", "not", "no", "without"]),
    (Force::Restrict, &["unless", "only", "except"]),
];

/// Spellings of the same word.
const SAME: &[&[&str]] = &[
    &["cannot", "can not", "can't"],
    &["do not", "don't"],
    &["must not", "mustn't"],
    &["does not", "doesn't"],
    &["应当", "应", "应该"],
    &["應當", "應", "應該"],
    &["须", "必须"],
    &["請勿", "请勿", "勿", "切勿"],
    &["可以", "可"],
];

/// True for two spellings of one word.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a == b || SAME.iter().any(|group| group.contains(&a) && group.contains(&b))
}

/// The negation and modal words of a folded text, longest first at each place.
pub(crate) fn modals(text: &Folded, chinese: bool) -> Vec<Modal> {
    let table = if chinese { CHINESE } else { ENGLISH };
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let plain = CHINESE_PLAIN.iter().find(|w| chinese && text.has(at, w));
        if let Some(plain) = plain {
            at += plain.chars().count();
            continue;
        }
        let found = table
            .iter()
            .flat_map(|(force, words)| words.iter().map(move |word| (*word, *force)))
            .filter(|(word, _)| text.has(at, word) && (chinese || is_whole_word(text, at, word)))
            .max_by_key(|(word, _)| word.chars().count());
        match found {
            Some((word, force)) => {
                let end = at + word.chars().count();
                out.push(Modal { word, force, start: at, end });
                at = end;
            }
            None => at += 1,
        }
    }
    out
}

fn is_whole_word(text: &Folded, at: usize, word: &str) -> bool {
    (at == 0 || !is_wordlike(text.chars[at - 1]))
        && text.chars.get(at + word.len()).is_none_or(|&c| !is_wordlike(c) && c != '\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_hold_a_modal_character_have_no_force() {
        assert!(modals(&Folded::new("不同应用的响应无线信号非常不锈钢"), true).is_empty());
        assert_eq!(modals(&Folded::new("不可以重启"), true)[0].word, "不可以");
        assert!(modals(&Folded::new("the mayor noted"), false).is_empty());
        assert_eq!(modals(&Folded::new("It can not start."), false)[0].word, "can not");
    }
}

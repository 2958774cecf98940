//! Opposites: a statement that says `关闭` where its sentence says `打开` is wrong, however well the rest fits.

use super::{Candidate, Finding};
use crate::proposition::lexis::{Folded, is_ideograph, is_wordlike};
use crate::proposition::source::Source;

const PAIRS: &[(&str, &str)] = &[
    ("最高", "最低"),
    ("最大", "最小"),
    ("超过", "低于"),
    ("高于", "低于"),
    ("大于", "小于"),
    ("打开", "关闭"),
    ("开启", "关闭"),
    ("打開", "關閉"),
    ("启动", "停止"),
    ("启用", "禁用"),
    ("啟用", "禁用"),
    ("上升", "下降"),
    ("升高", "降低"),
    ("提高", "降低"),
    ("增加", "减少"),
    ("增大", "减小"),
    ("顺时针", "逆时针"),
    ("正转", "反转"),
    ("拧紧", "松开"),
    ("接通", "断开"),
    ("连接", "断开"),
    ("之前", "之后"),
    ("左侧", "右侧"),
    ("上方", "下方"),
    ("内部", "外部"),
    ("有效", "无效"),
    ("正常", "异常"),
    ("成功", "失败"),
    ("open", "close"),
    ("opened", "closed"),
    ("on", "off"),
    ("above", "below"),
    ("increase", "decrease"),
    ("raise", "lower"),
    ("clockwise", "counterclockwise"),
    ("left", "right"),
    ("before", "after"),
    ("maximum", "minimum"),
    ("enable", "disable"),
    ("enabled", "disabled"),
    ("start", "stop"),
    ("connect", "disconnect"),
    ("tighten", "loosen"),
    ("internal", "external"),
];

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Vec<Finding> {
    let mut out = Vec::new();
    for &(a, b) in PAIRS {
        for (said, meant) in [(a, b), (b, a)] {
            let has = |text: &Folded, word: &str| holds(text, word);
            let own = &candidate.own.folded;
            // One of a pair said in place of the other: `最高和最高` for `最高和最低`.
            let (more, fewer) = (count(&candidate.folded, said), count(&candidate.folded, meant));
            let doubled = more > count(own, said)
                && fewer < count(own, meant)
                && has(own, said)
                && more > count(&source.body, said).min(1);
            if doubled {
                out.push(Finding::reject("opposite", format!("{said} / {meant}")));
            }
            if has(&candidate.folded, said) && !has(&candidate.folded, meant) && has(own, meant) && !has(own, said) {
                out.push(Finding::reject("opposite", format!("{said} / {meant}")));
            }
        }
    }
    out
}

fn count(text: &Folded, word: &str) -> usize {
    (0..text.len()).filter(|&at| text.has(at, word)).count()
}

fn holds(text: &Folded, word: &str) -> bool {
    let needle: Vec<char> = word.chars().collect();
    if needle.first().is_some_and(|&c| is_ideograph(c)) {
        return text.contains(&needle);
    }
    text.chars.windows(needle.len()).enumerate().any(|(i, window)| {
        window == needle
            && (i == 0 || !is_wordlike(text.chars[i - 1]))
            && text.chars.get(i + needle.len()).is_none_or(|&c| !is_wordlike(c))
    })
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::rejections;

    #[test]
    fn an_opposite_in_place_of_the_sources_word_is_rejected() {
        let zh = &["更换滤芯时应关闭进油阀。", "进油阀打开后指示灯亮。"];
        assert!(rejections("", zh, 0, "更换滤芯时应打开进油阀。").contains(&"opposite".to_owned()));
        assert!(rejections("", zh, 0, "更换滤芯时应关闭进油阀。").is_empty());
        let both = &["手册给出最高和最低油温。"];
        assert!(rejections("", both, 0, "手册给出最高和最高油温。").contains(&"opposite".to_owned()));
        let en = &["Turn the screw clockwise to increase the pressure."];
        assert!(
            rejections("", en, 0, "Turn the screw clockwise to decrease the pressure.")
                .contains(&"opposite".to_owned())
        );
    }
}

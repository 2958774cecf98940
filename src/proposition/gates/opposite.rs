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
    ("至少", "至多"),
    ("至少", "最多"),
    ("高温", "低温"),
    ("高压", "低压"),
    ("高电平", "低电平"),
    ("升高", "下降"),
    ("上升", "降低"),
    ("上限", "下限"),
    ("常开", "常闭"),
    ("吸合", "释放"),
    ("正极", "负极"),
    ("正向", "反向"),
    ("正限位", "负限位"),
    ("手动", "自动"),
    ("进油", "回油"),
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
    ("at least", "at most"),
    ("high", "low"),
    ("higher", "lower"),
    ("positive", "negative"),
    ("normally open", "normally closed"),
    ("manual", "automatic"),
];
/// Prefixes that turn an English word into its opposite.
const PREFIXES: &[&str] = &["un", "in", "im", "ir", "non", "non-", "dis", "de"];

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
    out.extend(prefixed(candidate));
    out
}

/// `trained` for `untrained`, and the other way round.
fn prefixed(candidate: &Candidate<'_>) -> Option<Finding> {
    let words = |text: &Folded| -> Vec<String> {
        let whole = text.text(0, text.len());
        whole.split(|c: char| !c.is_ascii_alphabetic() && c != '-').map(str::to_owned).collect()
    };
    let (said, own) = (words(&candidate.folded), words(&candidate.own.folded));
    let missing = |word: &String, words: &[String]| !words.contains(word);
    let opposite = |a: &str, b: &str| a.len() >= 4 && PREFIXES.iter().any(|p| b.strip_prefix(p) == Some(a));
    let wrong = said.iter().filter(|w| missing(w, &own)).find_map(|w| {
        let meant = own.iter().filter(|o| missing(o, &said)).find(|o| opposite(w, o) || opposite(o, w))?;
        Some((w, meant))
    })?;
    Some(Finding::reject("opposite", format!("{} / {}", wrong.0, wrong.1)))
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

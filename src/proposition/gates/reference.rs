//! Back references: a statement must say what it is about.
//!
//! Some words point outside the statement wherever they stand (上述, 前款, the former). Others are resolved when what they
//! mean stands earlier in the same statement (`如果微控制器超时，它会停机`).

use super::{Candidate, Finding};
use crate::proposition::lexis::{Folded, is_content, is_ideograph, is_wordlike};
use crate::proposition::quantity::quantities;

pub(super) fn check(candidate: &Candidate<'_>) -> Option<Finding> {
    let plain = unquoted(candidate.statement);
    let found = if plain.chars().any(is_ideograph) { chinese(&plain) } else { english(&plain) };
    found.map(|word| Finding::reject("back-reference", word))
}

/// True when a clause holds a word that refers to something outside it.
pub(crate) fn refers(clause: &str) -> bool {
    let text = Folded::new(clause);
    let held = |words: &[&str]| (0..text.len()).any(|at| words.iter().any(|w| text.has(at, w)));
    if clause.chars().any(is_ideograph) {
        return held(OUTSIDE) || held(ANNOUNCE) || held(DEICTIC);
    }
    english(clause).is_some()
}

/// The statement without what stands in quotation marks or title marks: quoted words refer to nothing.
fn unquoted(statement: &str) -> String {
    let mut out = String::new();
    let mut rest = statement;
    while let Some(open) = rest.find(['“', '"', '「', '《']) {
        let mark = rest[open..].chars().next().map_or(1, char::len_utf8);
        let Some(close) = rest[open + mark..].find(['”', '"', '」', '》']) else { break };
        let end = open + mark + close;
        out.push_str(&rest[..open]);
        rest = &rest[end + rest[end..].chars().next().map_or(1, char::len_utf8)..];
    }
    out.push_str(rest);
    out.trim().to_owned()
}

/// Point outside the statement wherever they stand.
const OUTSIDE: &[&str] = &[
    "上述",
    "前述",
    "前款",
    "前条",
    "前條",
    "前项",
    "前項",
    "前者",
    "后者",
    "後者",
    "本条",
    "本條",
    "本款",
    "本项",
    "本項",
    "如上所述",
    "如前所述",
    "上文",
    "下文",
    "如下所示",
    "如下图",
    "如下圖",
    "下图",
    "下圖",
    "上图",
    "上圖",
    "同上",
    "见下",
    "見下",
    "后文",
    "後文",
];
/// Announce a list, which must then follow.
const ANNOUNCE: &[&str] = &["下列", "如下", "以下"];
/// Need an antecedent before them.
const DEICTIC: &[&str] = &[
    "该", "該", "其", "它", "牠", "祂", "他", "她", "这", "這", "那个", "那個", "那些", "那种", "那種", "那时", "那時",
    "那样", "那樣", "那么", "此时", "此時", "此类", "此類", "此种", "此種", "此处", "此處", "此情", "此项", "此項",
    "对此", "為此", "为此", "据此", "由此", "在此",
];
/// Open a statement without naming anything.
const OPENERS: &[&str] = &[
    "对于", "對於", "如果", "因为", "因為", "只有", "同时", "同時", "此外", "另外", "但是", "并且", "並且", "而且",
    "当", "當", "若", "如", "在", "对", "對", "将", "將", "把", "由", "从", "從", "因", "仅", "僅", "除", "为", "為",
    "使", "请", "請", "则", "則", "且", "并", "並", "但", "而", "与", "與", "和", "按", "按照", "根据", "根據", "依照",
    "通过", "通過", "于", "於", "以", "经", "經", "也", "又", "再",
];

fn chinese(statement: &str) -> Option<String> {
    let text = Folded::new(statement);
    // What holds otherwise hangs on what was said before.
    if let Some(word) = ["否则", "否則"].iter().find(|w| text.has(0, w)) {
        return Some((*word).to_owned());
    }
    for at in 0..text.len() {
        if let Some(word) = OUTSIDE.iter().find(|w| text.has(at, w)) {
            return Some((*word).to_owned());
        }
        if let Some(word) = ANNOUNCE.iter().find(|w| text.has(at, w))
            && !is_announced(&text, at, word)
        {
            return Some((*word).to_owned());
        }
        let Some(word) = DEICTIC.iter().find(|w| text.has(at, w)) else { continue };
        if !is_plain_word(&text, at, word) && !is_resolved(&text, at, word) {
            let end = (at + 4).min(text.len());
            return Some(text.text(at, end));
        }
    }
    None
}

/// The list that 下列 or 如下 announces follows after a colon; 以下 after a number is a comparison.
fn is_announced(text: &Folded, at: usize, word: &str) -> bool {
    if word == "以下" {
        if quantities(text).iter().any(|q| q.end == at || (q.end < at && text.text(q.end, at).trim().is_empty())) {
            return true;
        }
        // 膝盖以下, 阈值以下: a place or a limit, not an announcement.
        let announces = [
            "几", "操作", "步骤", "情况", "情形", "内容", "规定", "条件", "方式", "方法", "参数", "功能", "子", "原因",
            "措施", "事项",
        ];
        if !announces.iter().any(|n| text.has(at + 2, n)) {
            return true;
        }
    }
    text.chars[at..]
        .iter()
        .position(|&c| c == ':')
        .is_some_and(|colon| text.chars[at + colon..].iter().filter(|&&c| is_content(c)).count() >= 4)
}

/// Words that hold the characters without referring: 应该, 其他, 其中 in mid-sentence, 这里 aside.
fn is_plain_word(text: &Folded, at: usize, word: &str) -> bool {
    let before = at.checked_sub(1).map(|k| text.chars[k]);
    let after = text.chars.get(at + word.chars().count()).copied();
    match word {
        "该" | "該" => {
            matches!(before, Some('应' | '應' | '活')) || matches!(after, Some('当' | '怎')) || text.has(at + 1, "如何")
        }
        "其" => {
            matches!(after, Some('他' | '它' | '余' | '实' | '次'))
                || (after == Some('中') && content_before(text, at) >= 2)
        }
        // 其他 opens a statement only by what was named before it.
        "他" | "她" | "它" => {
            matches!(before, Some('其' | '吉' | '维' | '排' | '利')) && content_before(text, at) >= 2
        }
        "那么" => true,
        _ => false,
    }
}

fn is_resolved(text: &Folded, at: usize, word: &str) -> bool {
    // `ABORT：该命令…`: the label says which.
    if at >= 3 && text.chars[at - 1] == ':' && is_wordlike(text.chars[at - 2]) {
        return true;
    }
    if content_before(text, at) < 2 || is_bare_circumstance(&text.chars[..at]) {
        return false;
    }
    if means_a_clause(text, at, word) {
        // What it means is a whole clause, which must stand in front of its own.
        let clause = text.chars[..at].iter().rposition(|&c| matches!(c, ',' | '，' | ';' | '；')).unwrap_or(0);
        return content_before(text, clause) >= 4;
    }
    if matches!(word, "该" | "該") {
        let from = at + 1 + text.chars[at + 1..].iter().take_while(|c| c.is_whitespace()).count();
        let noun = match text.chars.get(from) {
            Some(&c) if is_ideograph(c) => &text.chars[from..(from + 2).min(text.len())],
            Some(&c) if is_wordlike(c) => {
                let len = text.chars[from..].iter().take_while(|&&c| is_wordlike(c) || c == '-').count();
                &text.chars[from..from + len]
            }
            _ => return false,
        };
        return text.chars[..at].windows(noun.len().max(1)).any(|w| w == noun);
    }
    true
}

/// True for 这种情况, 这一点 and their like, which mean what a clause says, not a thing.
fn means_a_clause(text: &Folded, at: usize, word: &str) -> bool {
    const ABSTRACT: &[&str] =
        &["一点", "种情", "種情", "些情", "个情", "個情", "样做", "樣做", "种现象", "種現象", "种问题", "種問題"];
    matches!(word, "这" | "這") && ABSTRACT.iter().any(|n| text.has(at + 1, n))
}

/// Content characters in front of `at`, openers taken off.
fn content_before(text: &Folded, at: usize) -> usize {
    let mut start = 0;
    loop {
        while start < at && !is_content(text.chars[start]) {
            start += 1;
        }
        match OPENERS.iter().filter(|w| text.has(start, w)).map(|w| w.chars().count()).max() {
            Some(len) if start + len <= at => start += len,
            _ => break,
        }
    }
    text.chars[start..at].iter().filter(|&&c| is_ideograph(c) || c.is_ascii_alphanumeric()).count()
}

/// `启动后，` or `断电时，`: a circumstance names nothing that a pronoun could mean.
fn is_bare_circumstance(before: &[char]) -> bool {
    let content: Vec<char> = before.iter().copied().filter(|&c| is_content(c)).collect();
    content.len() <= 4 && matches!(content.last(), Some('后' | '後' | '时' | '時' | '前'))
}

/// Pronouns and determiners that need an antecedent.
const PRONOUNS: &[&str] = &[
    "it", "its", "itself", "they", "them", "their", "theirs", "he", "him", "his", "she", "her", "this", "these",
    "those", "such",
];
/// How many words into the statement a pronoun still has nothing in front of it that it could mean.
const EARLY: usize = 4;

fn english(statement: &str) -> Option<String> {
    let lower = statement.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    let at = |i: usize| words.get(i).copied().unwrap_or("");
    for i in 0..words.len() {
        let pair = (at(i), at(i + 1));
        let outside = match pair {
            ("the", "former" | "latter" | "above" | "said" | "aforementioned" | "foregoing") => true,
            ("the", "previous" | "preceding") => {
                matches!(
                    at(i + 2),
                    "paragraph" | "rule" | "section" | "sentence" | "step" | "chapter" | "clause" | "example"
                )
            }
            ("the", "following") => !announces_list(&lower),
            ("as" | "see" | "shown" | "described" | "mentioned" | "listed" | "stated" | "noted", "above" | "below") => {
                true
            }
            ("as", "follows") => !announces_list(&lower),
            ("aforementioned" | "aforesaid" | "abovementioned" | "thereof" | "therein" | "hereof", _) => true,
            _ => false,
        };
        let elsewhere = matches!(pair.1, "above" | "below") && is_elsewhere(&words, i + 1);
        if outside || elsewhere || i == 0 && pair.0 == "otherwise" {
            return Some(format!("{} {}", pair.0, pair.1).trim().to_owned());
        }
        if !PRONOUNS.contains(&pair.0) {
            continue;
        }
        let example = pair == ("such", "as") && i > 0;
        let resolved = example
            || i >= EARLY
                && !(matches!(pair.0, "it" | "they") && is_introduced(&lower, pair.0))
                && match pair.0 {
                    "this" | "these" | "those" => {
                        matches!(pair.1, "who" | "that" | "which" | "of" | "whose")
                            || words[..i].iter().any(|w| stem_eq(w, pair.1))
                    }
                    "such" => pair.1 == "as" || words[..i].iter().any(|w| stem_eq(w, pair.1)) || !pair.1.ends_with('s'),
                    _ => true,
                };
        if !resolved {
            return Some(format!("{} {}", pair.0, pair.1).trim().to_owned());
        }
    }
    None
}

/// True when `above` or `below` at `at` means a place in the text: nothing follows that something could be above or below of.
fn is_elsewhere(words: &[&str], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |k| words[k]);
    let after = words.get(at + 1).copied().unwrap_or("");
    let compares = matches!(before, "or" | "and" | "from" | "is" | "are" | "rises" | "falls" | "drops" | "goes")
        || before.chars().all(|c| c.is_ascii_digit());
    !compares && matches!(after, "" | "as" | "using" | "for" | "and" | "is" | "are" | "to" | "will" | "should" | "must")
}

/// True when `pronoun` opens the main clause behind `Instead of …ing,`, `By …ing,` or `To …,`: it means whoever does that, who is
/// not named there.
fn is_introduced(lower: &str, pronoun: &str) -> bool {
    let Some((front, main)) = lower.split_once(", ") else { return false };
    let mut words = front.split_whitespace();
    let first = words.next().unwrap_or("");
    let gerund = |word: &str| word.len() > 5 && word.ends_with("ing");
    let introduces = match first {
        "to" => true,
        "instead" | "rather" | "by" | "without" | "besides" => words.take(4).any(gerund),
        word => gerund(word) && !matches!(word, "during" | "following" | "according"),
    };
    introduces && main.split_whitespace().next() == Some(pronoun)
}

fn stem_eq(a: &str, b: &str) -> bool {
    use crate::proposition::lexis::stem;
    !b.is_empty() && stem(a) == stem(b)
}

fn announces_list(lower: &str) -> bool {
    lower.split_once(':').is_some_and(|(_, rest)| rest.split_whitespace().count() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speaks(statement: &str) -> bool {
        let plain = unquoted(statement);
        if plain.chars().any(is_ideograph) { chinese(&plain).is_some() } else { english(&plain).is_some() }
    }

    #[test]
    fn open_references_are_caught_wherever_they_stand() {
        for statement in [
            "该设备应在断电后打开。",
            "停机后，该报警自动复位。",
            "其额定压力为2MPa。",
            "它会关闭所有阀门。",
            "如果它超过60℃，应停机。",
            "启动后，它会自检。",
            "操作人员应当遵守上述规定。",
            "未按前款规定申报的，处以罚款。",
            "启动后，此时应停机。",
            "依照本条第二款处理。",
            "这个参数不能修改。",
            "主轴依照下列规定维护。",
            "在這些感測器上量測溫度。",
            "其中两个端子为电源。",
            "其他原因见错误号 4007。",
            "It stops the pump.",
            "After restart, it must be calibrated.",
            "This causes a loss of pressure.",
            "The operator must follow the above instructions before starting.",
            "Pressure loss in the latter is higher.",
            "The pump must be stopped under these conditions.",
            "The valve is opened as follows.",
            "为了帮助做到这一点，测试模型的壁上有一个小缺口。",
            "如果遇到这种情况，可以尝试用另一种整形器重复测试。",
            "否则，打印速度可能会受到限制。",
            "Otherwise the pump runs dry.",
            "Copy the name from the command that you ran above as the name differs for each printer.",
            "Follow the directions above using the other command.",
            "Instead of assuming a constant flow, it uses a model based on pressure.",
        ] {
            assert!(speaks(statement), "{statement}");
        }
    }

    #[test]
    fn words_that_only_look_like_references_pass() {
        for statement in [
            "油泵应该在停机后冷却。",
            "除主轴外，其他轴应回零。",
            "如果微控制器检测到超温，它会进入关机状态。",
            "用人单位未提交申请的，费用由该用人单位负担。",
            "请勿点击“该设备”按钮。",
            "压力在0.5MPa以下时报警。",
            "设备包括下列部件：油泵、油箱和过滤器。",
            "油箱容积为40升，其中10升为备用。",
            "Press \"This device\" to continue.",
            "The controller checks that the valve is closed when it starts.",
            "Conductive materials in the shop, such as dust and metal powder, must be kept away.",
            "The press needs trained operators and those who maintain the lines.",
            "The pressure must not rise above 5 bar.",
            "Operators of 18 years and above may start the press.",
            "油温过高时泵会停机，这种情况不属于故障。",
            "If the controller detects a fault, it stops the motor.",
            "When the oil is too hot for the pump, it stops.",
        ] {
            assert!(!speaks(statement), "{statement}");
        }
    }
}

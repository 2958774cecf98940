//! 该设备, 这个接口 and `the device`: the full name that the document gives, put in place of the short one.

use crate::document::Span;
use crate::proposition::frame::plain_heading;
use crate::proposition::gates::refers;
use crate::proposition::lexis::{Folded, is_content, is_ideograph, is_wordlike};
use crate::proposition::source::Source;
use crate::proposition::tidy::squeeze;

/// Determiners that point back to a noun that follows them.
const DETERMINERS: &[&str] =
    &["该", "該", "这个", "這個", "这种", "這種", "这些", "這些", "这台", "上述", "此类", "此種", "本", "此"];
/// Nouns for whatever the document is about.
const GENERIC: &[&str] = &["设备", "設備", "装置", "裝置", "机器", "機器", "产品", "產品", "仪器", "机床"];
/// What may follow a subject, so that the words in front of it are a name and nothing more.
const PREDICATES: &str = "是为由采具有应可会能需必须不将已未在";
/// Words that open a verb phrase: `检查风扇` names no fan.
const VERBS: &[&str] = &[
    "启动", "停止", "检查", "打开", "关闭", "按", "将", "更换", "清洁", "清洗", "使用", "安装", "拆卸", "拆", "连接",
    "断开", "设置", "调整", "选择", "确认", "如果", "当", "若", "在", "对", "请", "不", "配置", "通过", "根据", "按照",
    "除", "从", "向", "为", "由", "把", "被", "每", "各", "一", "某", "任何", "其", "该", "这", "此", "本", "配", "重",
    "再", "每个", "所有", "多", "两", "新",
];
/// Longest name, in characters.
const LONGEST: usize = 24;

/// Determiners of several things: only a heading can say which.
const PLURAL: &[&str] = &["这些", "這些", "此类", "此種"];
/// Sentences between a name and the short form that means it, at most.
const NEAR: usize = 3;
/// Nouns for what a reference page describes under a heading that is its identifier.
const ENTRIES: &[&str] = &["命令", "指令", "参数", "參數", "函数", "函數", "变量", "變數", "选项", "選項", "宏"];

/// A full name and where it stands; no place if it comes from title or heading.
type Name = (String, Option<Span>);

/// Replaces short references by the names they can only mean; `None` if there is none.
pub(super) fn restore(statement: &str, index: usize, source: &Source) -> Option<(String, Vec<Span>)> {
    if statement.chars().any(is_ideograph) { chinese(statement, index, source) } else { english(statement, source) }
}

fn chinese(statement: &str, index: usize, source: &Source) -> Option<(String, Vec<Span>)> {
    let chars: Vec<char> = statement.chars().collect();
    let mut out = String::new();
    let mut places = Vec::new();
    let mut changed = false;
    let mut at = 0;
    while at < chars.len() {
        let rest: String = chars[at..].iter().collect();
        let word = DETERMINERS.iter().filter(|w| rest.starts_with(**w)).max_by_key(|w| w.len());
        let found = word.and_then(|word| {
            let noun = &chars[at + word.chars().count()..];
            // 应该 and 基本 hold the characters without pointing.
            // `ABORT：该命令…`: the label says which.
            let labelled = at > 0 && matches!(chars[at - 1], '：' | ':');
            let inside = labelled
                || at > 0
                    && matches!(
                        chars[at - 1],
                        '应' | '應'
                            | '活'
                            | '基'
                            | '根'
                            | '版'
                            | '成'
                            | '样'
                            | '原'
                            | '因'
                            | '如'
                            | '为'
                            | '從'
                            | '从'
                            | '彼'
                    );
            if inside {
                None
            } else {
                resolve(noun, word, &out, index, source).map(|(name, len)| (name, word.chars().count() + len))
            }
        });
        match found {
            Some(((name, place), len)) => {
                if out.chars().last().is_some_and(|c| c.is_ascii_alphanumeric())
                    && name.starts_with(|c: char| c.is_ascii_alphanumeric())
                {
                    out.push(' ');
                }
                out.push_str(&name);
                places.extend(place);
                changed = true;
                at += len;
            }
            None => {
                out.push(chars[at]);
                at += 1;
            }
        }
    }
    changed.then_some((out, places))
}

/// Nouns by which a fault's page calls the fault.
const FAULTS: &[&str] = &["报警", "警告", "错误", "故障", "警报", "报警信息", "告警", "報警", "錯誤"];

/// The name that `noun…` behind a determiner means, and how many characters of the noun it replaces.
fn resolve(noun: &[char], word: &str, before: &str, index: usize, source: &Source) -> Option<(Name, usize)> {
    let gap = noun.iter().take_while(|c| **c == ' ').count();
    let run = noun[gap..].iter().take(12).take_while(|c| is_ideograph(**c) || is_wordlike(**c) || **c == ' ').count();
    let generic = GENERIC.iter().find(|g| starts(&noun[gap..], g));
    // On a fault's page `该警告` is the fault.
    if let (Some(fault), Some(topic)) =
        (FAULTS.iter().filter(|f| starts(&noun[gap..], f)).max_by_key(|f| f.len()), &source.frame.topic)
        && !before.contains(&topic.name)
    {
        return Some(((format!("{fault}“{}”", topic.name), None), gap + fault.chars().count()));
    }
    // 本 and 此 point only with a noun for the whole: 本设备, not 本地.
    if matches!(word, "本" | "此") && generic.is_none() {
        return None;
    }
    if word == "上述" {
        // In a statute it means the sentence in front, elsewhere it may mean anything above.
        source.frame.places[index].article.as_ref()?;
        let (quoted, place) = quotation(index, source)?;
        return Some(((format!("“{quoted}”的"), Some(place)), gap));
    }
    for len in (2..=run).rev() {
        let head: Vec<char> = noun[gap..gap + len].to_vec();
        if head.last() == Some(&' ') {
            continue;
        }
        let text: String = head.iter().collect();
        // The statement names it already, in full: the reference is resolved inside.
        if before.contains(&text) {
            return None;
        }
        let name = entry(&text, source).or_else(|| above(&text, source));
        let name = name.or_else(|| if PLURAL.contains(&word) { None } else { full_name(&text, index, source) });
        if let Some(name) = name {
            return Some((name, gap + len));
        }
    }
    let product = source.frame.product.clone().filter(|_| generic.is_some())?;
    Some(((product, None), gap + generic.map_or(0, |g| g.chars().count())))
}

/// The sentence in front, within the same paragraph and short enough to be quoted.
fn quotation(index: usize, source: &Source) -> Option<(String, Span)> {
    /// Longest quotation, in characters.
    const LONGEST: usize = 40;
    let before = source.sentences.get(index.checked_sub(1)?)?;
    let text: String = before.original.chars().skip(source.frame.places[index - 1].marks).collect();
    let text = squeeze(text.trim_end_matches(['；', ';', '。']));
    let fits = text.chars().count() <= LONGEST && !text.contains(['“', '"']) && !refers(&text);
    (fits && !source.frame.places[index].begins).then_some((text, before.span))
}

fn starts(chars: &[char], word: &str) -> bool {
    word.chars().count() <= chars.len() && word.chars().zip(chars).all(|(a, b)| a == *b)
}

/// `该命令` under the heading `SAVE_STATE`.
fn entry(head: &str, source: &Source) -> Option<Name> {
    let heading = plain_heading(source.heading_path.last()?).trim_matches(['`', '[', ']']);
    let identifier = heading.chars().all(|c| is_wordlike(c) || matches!(c, '-' | '.')) && heading.chars().count() >= 2;
    (identifier && ENTRIES.contains(&head)).then(|| (format!("{heading}{head}"), None))
}

/// A heading, the product or a name of the document that ends in `head`.
fn above(head: &str, source: &Source) -> Option<Name> {
    let len = head.chars().count();
    let headings = source.heading_path.iter().rev().map(|h| plain_heading(h));
    headings
        .chain(source.frame.product.iter().map(String::as_str))
        .chain(source.names.iter().map(String::as_str))
        .find(|h| {
            let all = h.chars().count();
            h.ends_with(head) && all > len && all <= LONGEST && !VERBS.iter().any(|v| h.starts_with(v))
        })
        .map(|h| (h.to_owned(), None))
}

/// The one full name in the sentences right in front that ends in `head`; `None` if there are two.
fn full_name(head: &str, index: usize, source: &Source) -> Option<Name> {
    let body = &source.body;
    let own = body.position(source.sentences[index].span.start);
    let nearest = body.position(source.sentences[index.saturating_sub(NEAR)].span.start);
    let needle = Folded::new(head).chars;
    let mut found: Option<(String, Span, bool)> = None;
    for at in 0..(own + 1).saturating_sub(needle.len()) {
        if body.chars[at..at + needle.len()] != *needle.as_slice() {
            continue;
        }
        let end = at + needle.len();
        let start = named_start(body, at)
            .or_else(|| subject_start(body, at, end, source))
            .or_else(|| object_start(body, at, end));
        let Some(start) = start.filter(|s| *s < at && end - s <= LONGEST) else { continue };
        let span = body.span(start, end);
        let name = source.slice(span);
        match &found {
            Some((other, ..)) if *other != name => return None,
            _ => found = Some((name, span, at >= nearest)),
        }
    }
    if found.is_none() && index < NEAR && !source.before.is_empty() {
        return name_in_front(&needle, source);
    }
    found.filter(|f| f.2).map(|(name, span, _)| (name, Some(span)))
}

/// The one full name that ends in `needle` in the text in front of the passage.
fn name_in_front(needle: &[char], source: &Source) -> Option<Name> {
    let text = Folded::new(&source.before);
    let chars: Vec<char> = source.before.chars().collect();
    let mut found: Option<String> = None;
    for at in 0..(text.len() + 1).saturating_sub(needle.len()) {
        if text.chars[at..at + needle.len()] != *needle {
            continue;
        }
        let end = at + needle.len();
        let start = named_start(&text, at).or_else(|| object_start(&text, at, end));
        let Some(start) = start.filter(|s| *s < at && end - s <= LONGEST) else { continue };
        let span = text.span(start, end);
        let name: String = chars[span.start..span.end].iter().collect();
        if found.as_ref().is_some_and(|f| *f != name) {
            return None;
        }
        found = Some(name);
    }
    found.map(|name| (name, None))
}

/// Start of a name that carries a Latin word, a code or quotation marks: `“电源通讯”接口`, `BX-2 主轴箱`.
fn named_start(body: &Folded, at: usize) -> Option<usize> {
    /// Ideographs between the code and the noun.
    const BETWEEN: usize = 6;
    let mut i = at;
    while i > 0 && at - i < BETWEEN && is_ideograph(body.chars[i - 1]) && !is_joint(body.chars[i - 1]) {
        i -= 1;
    }
    let mut k = i;
    if k > 0 && body.chars[k - 1] == ' ' {
        k -= 1;
    }
    match body.chars.get(k.checked_sub(1)?)? {
        '”' | '」' | '』' => {
            let close = k - 1;
            let open = (close.saturating_sub(20)..close).rev().find(|&p| matches!(body.chars[p], '“' | '「' | '『'))?;
            Some(open)
        }
        c if is_wordlike(*c) => {
            let mut start = k;
            while start > 0
                && (is_wordlike(body.chars[start - 1]) || matches!(body.chars[start - 1], '-' | '_' | '.' | '/'))
            {
                start -= 1;
            }
            let word = &body.chars[start..k];
            (word.iter().any(char::is_ascii_alphabetic)).then_some(start)
        }
        _ => None,
    }
}

/// Start of a subject that opens its sentence and is followed by its predicate: `液压站风扇由…`.
fn subject_start(body: &Folded, at: usize, end: usize, source: &Source) -> Option<usize> {
    let next = body.chars.get(end)?;
    if !PREDICATES.contains(*next) || body.has(end, "是否") || body.has(end, "时") {
        return None;
    }
    let sentence = source.sentences.iter().zip(&source.frame.places).find(|(s, _)| {
        let (from, to) = (body.position(s.span.start), body.position(s.span.end));
        from <= at && at < to
    })?;
    let start = body.position(sentence.0.span.start + sentence.1.marks + sentence.1.label);
    let name = body.chars.get(start..end)?;
    let plain = name.iter().all(|c| is_content(*c)) && !name.iter().any(|c| is_joint(*c) || *c == '的');
    let text: String = name.iter().collect();
    // Verb and object look like a name; what is said twice is one.
    let often = body.chars.windows(name.len()).filter(|w| *w == name).count() >= 2 || source.heads.contains(name);
    (plain && often && !VERBS.iter().any(|v| text.starts_with(v))).then_some(start)
}

/// Start of an object that closes its clause behind 了: `设定了最低和最高温度范围。`
fn object_start(body: &Folded, at: usize, end: usize) -> Option<usize> {
    let closes = body.chars.get(end).is_none_or(|c| !is_content(*c));
    let start = (at.saturating_sub(LONGEST)..at).rev().find(|&i| body.chars[i] == '了')? + 1;
    let name = &body.chars[start..at];
    let plain = name
        .iter()
        .all(|&c| is_ideograph(c) && (!is_joint(c) || matches!(c, '和' | '与' | '中' | '上' | '下' | '前' | '后')));
    (closes && plain && start < at).then_some(start)
}

/// Characters that join words and never stand inside a name.
fn is_joint(c: char) -> bool {
    "的了是在和与及或等也都就而且并但对于由从把被将为以之其则即让使时後后前中上下者有这那该個个给進进到至自按当若如每各"
        .contains(c)
}

/// `the device` and its like, by the product of the title.
fn english(statement: &str, source: &Source) -> Option<(String, Vec<Span>)> {
    const NOUNS: &[&str] = &["device", "product", "machine", "appliance", "unit", "instrument"];
    let product = source.frame.product.as_deref()?;
    if product.chars().any(is_ideograph) || statement.contains(product) {
        return None;
    }
    let mut out = statement.to_owned();
    let mut changed = false;
    for noun in NOUNS {
        // The product's own noun is no short form, and a noun that the text qualifies elsewhere may be another thing.
        if qualified(&source.body, noun) {
            continue;
        }
        for determiner in ["the", "this", "your"] {
            for capital in [false, true] {
                let mut short = format!("{determiner} {noun}");
                if capital {
                    short = super::capital(&short);
                }
                let name = if capital { format!("The {product}") } else { format!("the {product}") };
                let next = replace_words(&out, &short, &name);
                changed |= next != out;
                out = next;
            }
        }
    }
    changed.then_some((out, Vec::new()))
}

/// True when the noun stands with another word in front of it, such as `charging device`.
fn qualified(body: &Folded, noun: &str) -> bool {
    let needle: Vec<char> = noun.chars().collect();
    (0..body.len().saturating_sub(needle.len())).filter(|&at| body.chars[at..at + needle.len()] == *needle).any(|at| {
        if at == 0
            || is_wordlike(body.chars[at - 1])
            || body.chars.get(at + needle.len()).is_some_and(|c| is_wordlike(*c))
        {
            return false;
        }
        let before: String = body.chars[..at].iter().collect();
        let word = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned();
        !matches!(word.as_str(), "the" | "this" | "your" | "a" | "and" | "of" | "")
    })
}

fn replace_words(text: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let end = at + from.len();
        let whole =
            !rest[..at].ends_with(is_wordlike) && !rest[end..].starts_with(|c: char| is_wordlike(c) || c == '-');
        out.push_str(&rest[..at]);
        // `the device manager` is another thing.
        out.push_str(if whole && ends_name(&rest[end..]) { to } else { from });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// True when the noun is the last of its phrase: a stop, a possessive or a word that opens a predicate follows.
fn ends_name(rest: &str) -> bool {
    let rest = rest.strip_prefix("'s").or_else(|| rest.strip_prefix("’s")).unwrap_or(rest);
    let word: String = rest.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
    if !rest.starts_with(' ') || word.is_empty() {
        return true;
    }
    const FOLLOW: &[&str] = &[
        "is",
        "are",
        "was",
        "has",
        "had",
        "must",
        "may",
        "can",
        "cannot",
        "will",
        "shall",
        "should",
        "does",
        "and",
        "or",
        "to",
        "from",
        "in",
        "on",
        "with",
        "for",
        "by",
        "at",
        "if",
        "when",
        "while",
        "that",
        "which",
        "before",
        "after",
        "until",
        "as",
        "but",
        "into",
        "within",
        "not",
        "becomes",
        "automatically",
        "during",
        "using",
        "of",
        "only",
        "because",
        "unless",
    ];
    FOLLOW.contains(&word.as_str())
}

//! 该设备, 这个接口 and `the device`: the full name that the document gives, put in place of the short one.

use crate::document::Span;
use crate::proposition::frame::plain_heading;
use crate::proposition::gates::{modals, refers};
use crate::proposition::lexis::{Folded, TokenKind, is_content, is_ideograph, is_wordlike, tokens};
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
/// Characters in front of a sentence, and around a name, that are searched: more than a section holds.
const REACH: usize = 4_000;
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
    if let Some(fault) = FAULTS.iter().filter(|f| starts(&noun[gap..], f)).max_by_key(|f| f.len())
        && let Some(topic) = source.frame.topic.as_ref().filter(|t| !before.contains(&t.name))
    {
        let len = gap + fault.chars().count();
        let sure = !PLURAL.contains(&word)
            && ends_noun(&noun[len..])
            && is_faults_page(source)
            && !names_another_fault(before, index, source);
        return sure.then(|| ((format!("{fault}“{}”", topic.name), None), len));
    }
    // 本 and 此 point only with a noun for the whole: 本设备, not 本地.
    if matches!(word, "本" | "此") && generic.is_none() {
        return None;
    }
    if word == "上述" {
        // In a statute it means the sentence in front, elsewhere it may mean anything above.
        source.frame.places[index].article?;
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
        // 该抵押权人 is no 抵押权.
        if !ends_noun(&noun[gap + len..]) {
            continue;
        }
        let plural = PLURAL.contains(&word);
        let name = if plural { None } else { entry(&text, index, source) };
        let name = name.or_else(|| above(&text, plural, index, source));
        let name = name.or_else(|| if plural { None } else { full_name(&text, index, source) });
        if let Some(name) = name {
            return Some((name, gap + len));
        }
    }
    let len = gap + generic.map_or(0, |g| g.chars().count());
    let product = source.frame.product.clone().filter(|_| generic.is_some() && ends_noun(&noun[len..]))?;
    // Under the heading of a part 该设备 is the part; only 本设备 is always the whole.
    let name = match &source.frame.part {
        Some(part) if word != "本" => format!("{product}的{part}"),
        _ => product,
    };
    Some(((name, None), len))
}

/// True where no noun goes on: a mark, or a word that opens a predicate or a phrase. 该错误文本模块 is no 错误.
fn ends_noun(rest: &[char]) -> bool {
    const OPEN: &str = "的是为為由采具有应應可会會能需必须須不将將已未在被与與和及或也都就时時后後前上中下内使令让把對对於于从\
                        以用通当當如处即到至得允启常仅只还還又再最来來若且并並而等适適描伴消仍另需要称稱";
    const WORDS: &[&str] = &[
        "装有", "装在", "带有", "含有", "包含", "包括", "发生", "发出", "出现", "出厂", "改变", "保存", "儲存", "储存",
        "提供", "支持", "支援", "出", "一般", "自动", "无法", "没有", "没", "导致", "造成", "显示", "输入", "超过",
        "低于", "高于", "达到", "起", "命名", "進行", "进行", "运行", "工作", "位于", "安装", "连接", "接收", "每",
        "报告", "指", "表示", "说明",
    ];
    let blank = rest.iter().take_while(|c| **c == ' ').count();
    match rest.get(blank) {
        Some(&c) if is_ideograph(c) => OPEN.contains(c) || WORDS.iter().any(|w| starts(&rest[blank..], w)),
        Some(&c) if is_wordlike(c) || c == '-' => false,
        _ => true,
    }
}

/// True where the headings say that the page is one fault's: a number in front, or a word for a fault.
fn is_faults_page(source: &Source) -> bool {
    let spoken = |text: &str| {
        let lower = text.to_lowercase();
        FAULTS.iter().any(|f| text.contains(f)) || ["alarm", "error", "fault"].iter().any(|w| lower.contains(w))
    };
    let numbered = |name: &str| name.chars().take_while(char::is_ascii_digit).count() >= 3;
    source.frame.topic.as_ref().is_some_and(|t| numbered(&t.name)) || source.heading_path.iter().any(|h| spoken(h))
}

/// True where the words in front, or the sentence in front, speak of a fault other than the page's: a code, or a noun that says
/// which.
fn names_another_fault(before: &str, index: usize, source: &Source) -> bool {
    let Some(topic) = &source.frame.topic else { return false };
    let topic = Folded::new(&topic.name);
    let another = |text: &str| {
        let text = Folded::new(text);
        let code = tokens(&text).into_iter().any(|t| {
            let token = &text.chars[t.start..t.end];
            let digits = token.iter().filter(|c| c.is_ascii_digit()).count();
            matches!(t.kind, TokenKind::Code | TokenKind::Number) && digits >= 3 && !topic.contains_word(token)
        });
        code || FAULTS.iter().any(|fault| is_qualified(&text, fault, &topic))
    };
    let in_front = index.checked_sub(1).filter(|_| !source.frame.places[index].begins);
    another(before) || in_front.is_some_and(|i| another(&source.sentences[i].original))
}

/// True where `head` stands in `text` with words in front that say which, other than those of `name`.
fn is_qualified(text: &Folded, head: &str, name: &Folded) -> bool {
    let needle = Folded::new(head).chars;
    let own: Vec<char> = name.chars.iter().copied().filter(|c| *c != ' ').collect();
    // Further back than the name is long, and a few words, nothing is compared.
    let reach = own.len() + 8;
    text.find_all(&needle, 0..text.len()).any(|at| {
        let mut front: Vec<char> = text.chars[..at].iter().rev().copied().filter(|c| *c != ' ').take(reach).collect();
        front.reverse();
        let Some(&last) = front.last() else { return false };
        let marked = matches!(last, '`' | '”' | '」' | '』' | ')' | '）' | ']');
        if !(marked || is_content(last)) || is_joint(last) || PREDICATES.contains(last) {
            return false;
        }
        let said: String = front[front.len().saturating_sub(4)..].iter().collect();
        let plain = DETERMINERS.iter().chain(VERBS).chain(COUNTED).any(|w| said.ends_with(w));
        let whole: Vec<char> = front.iter().chain(&needle).copied().collect();
        // The name itself, or its end, is no other thing.
        let shared = whole.iter().rev().zip(own.iter().rev()).take_while(|(a, b)| a == b).count();
        !plain && shared <= needle.len() && !(marked && front.len() >= own.len() && shared == own.len())
    })
}

/// Words in front of a noun that say how many, not which.
const COUNTED: &[&str] =
    &["个", "個", "种", "種", "台", "条", "條", "些", "任何", "所有", "其他", "其它", "全部", "错误", "有关", "相关"];

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

/// `该命令` under the heading `SAVE_STATE`, where no other command has been named.
fn entry(head: &str, index: usize, source: &Source) -> Option<Name> {
    let heading = plain_heading(source.heading_path.last()?).trim_matches(['`', '[', ']']);
    let identifier = heading.chars().all(|c| is_wordlike(c) || matches!(c, '-' | '.')) && heading.chars().count() >= 2;
    let alone = identifier && ENTRIES.contains(&head) && !is_rivalled(head, heading, index, source);
    alone.then(|| (format!("{heading}{head}"), None))
}

/// The heading, the product or a name of the document that ends in `head`. A reference to several things means no name that
/// stands further off than the heading.
fn above(head: &str, plural: bool, index: usize, source: &Source) -> Option<Name> {
    let len = head.chars().count();
    let in_statute = source.frame.places[index].article.is_some();
    let heading = source.heading_path.last().map(|h| plain_heading(h)).filter(|h| !in_statute && is_noun(h, head));
    let further = source.frame.product.iter().chain(&source.names).map(String::as_str).filter(|_| !plural);
    heading
        .into_iter()
        .chain(further)
        .find(|h| {
            let all = h.chars().count();
            h.ends_with(head) && all > len && all <= LONGEST && !VERBS.iter().any(|v| h.starts_with(v))
        })
        .filter(|h| !is_rivalled(head, h, index, source))
        .map(|h| (h.to_owned(), None))
}

/// True for a heading that names one thing: no clause, no list, no chapter, nothing that is done.
fn is_noun(heading: &str, head: &str) -> bool {
    const JOINTS: &str = "的了是在和与與及或等而且并並但对對于於由将將被把为為以使让時时第";
    const DONE: &[&str] = &[
        "处理", "处置", "报告", "写入", "读取", "加载", "下载", "上传", "发送", "接收", "定义", "指定", "运行", "执行",
        "添加", "删除", "使用", "安装", "拆卸", "更换", "检查", "设置", "调整", "清洁", "计算", "无法", "启动", "停止",
    ];
    let front = heading.strip_suffix(head).unwrap_or(heading);
    let plain = front.chars().all(|c| is_content(c) && !JOINTS.contains(c) || matches!(c, ' ' | '-' | '_' | '.' | '/'));
    plain && !DONE.iter().any(|w| front.contains(w)) && modals(&Folded::new(front), true).is_empty()
}

/// True where the text up to the sentence speaks of another thing of the kind: `G1 命令` on the page of the G-Code commands.
fn is_rivalled(head: &str, name: &str, index: usize, source: &Source) -> bool {
    let end = source.sentences[index].span.start;
    let text = Folded::new(&source.slice(Span::new(end.saturating_sub(REACH), end)));
    is_qualified(&text, head, &Folded::new(name))
}

/// The one full name in the sentences right in front that ends in `head`; `None` if there are two.
fn full_name(head: &str, index: usize, source: &Source) -> Option<Name> {
    let body = &source.body;
    let own = body.position(source.sentences[index].span.start);
    let nearest = body.position(source.sentences[index.saturating_sub(NEAR)].span.start);
    let needle = Folded::new(head).chars;
    let mut found: Option<(String, Span, bool)> = None;
    for at in body.find_all(&needle, own.saturating_sub(REACH)..own) {
        let end = at + needle.len();
        let start = named_start(body, at)
            .or_else(|| subject_start(body, at, end, source))
            .or_else(|| object_start(body, at, end));
        let Some(start) = start.filter(|s| *s < at && end - s <= LONGEST && ends_noun(&body.chars[end..])) else {
            continue;
        };
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
    for at in text.find_all(needle, 0..text.len()) {
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
            // `Hybrid CoreXZ 运动学` is one name, and half of it another.
            while start > 1 && body.chars[start - 1] == ' ' && is_wordlike(body.chars[start - 2]) {
                start -= 1;
                while start > 0 && (is_wordlike(body.chars[start - 1]) || body.chars[start - 1] == '-') {
                    start -= 1;
                }
            }
            let word = &body.chars[start..k];
            let cut = start.checked_sub(1).is_some_and(|b| {
                let before = body.chars[b];
                is_ideograph(before) && !is_joint(before) && !verb_ends(&body.chars[..start])
            });
            (!cut && word.iter().any(char::is_ascii_alphabetic)).then_some(start)
        }
        _ => None,
    }
}

/// True where a verb, or a word that is no part of a name, stands right in front.
fn verb_ends(front: &[char]) -> bool {
    let tail: String = front[front.len().saturating_sub(4)..].iter().collect();
    VERBS.iter().any(|v| tail.ends_with(v))
}

/// Start of a subject that opens its sentence and is followed by its predicate: `液压站风扇由…`.
fn subject_start(body: &Folded, at: usize, end: usize, source: &Source) -> Option<usize> {
    let next = body.chars.get(end)?;
    if !PREDICATES.contains(*next) || body.has(end, "是否") || body.has(end, "时") {
        return None;
    }
    let place = body.span(at, at + 1).start;
    let index = source.sentences.partition_point(|s| s.span.end <= place);
    let (sentence, above) = (source.sentences.get(index)?, &source.frame.places[index]);
    let start = body.position(sentence.span.start + above.marks + above.label);
    let name = body.chars.get(start..end)?;
    let plain = name.iter().all(|c| is_content(*c)) && !name.iter().any(|c| is_joint(*c) || *c == '的');
    let text: String = name.iter().collect();
    // Verb and object look like a name; what is said twice is one.
    let often =
        || body.find_all(name, at.saturating_sub(REACH)..at + REACH).nth(1).is_some() || source.heads.contains(name);
    (plain && often() && !VERBS.iter().any(|v| text.starts_with(v))).then_some(start)
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
    if product.chars().any(is_ideograph) || statement.contains(product) || source.frame.part.is_some() {
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

//! The frame of a passage: what stands above each sentence and is needed to read it alone.
//!
//! A list item is read with its lead-in (`处以罚款：`), a line under a label with the label (`**反应**：`), a paragraph of a statute
//! with the number of its article, a fault's remedy with the fault. All of it is structure, found without a model.

use crate::document::Span;
use crate::proposition::clause::label_len;
use crate::proposition::lexis::{Folded, TokenKind, is_content, is_ideograph, tokens};
use crate::proposition::quantity::quantities;
use crate::proposition::{Passage, SentenceKind};

/// Most content characters of a label.
const LABEL: usize = 14;
/// Most content characters of a lead-in that is repeated in front of its items.
const LEAD_IN: usize = 90;

/// Structure around the sentences of a passage.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// One for each sentence.
    pub(crate) places: Vec<Place>,
    /// The articles of a statute, in order, each with all its paragraphs.
    pub(crate) articles: Vec<Article>,
    /// The deepest heading that carries a code (an alarm, a part), with the headings below it.
    pub(crate) topic: Option<Topic>,
    /// The product that the document is about, from its title.
    pub(crate) product: Option<String>,
    /// The part of it that the deepest heading names, such as `冷却器`.
    pub(crate) part: Option<String>,
}

/// Where a sentence stands.
#[derive(Debug, Default, Clone)]
pub(crate) struct Place {
    /// Labels and lead-ins above it, outermost first.
    pub(crate) above: Vec<Above>,
    /// Characters of its own bullet and number.
    pub(crate) marks: usize,
    /// Its own label, `说明：`, as characters behind the marks.
    pub(crate) label: usize,
    /// The same as words.
    pub(crate) own: Option<Above>,
    /// It is the first of its line.
    pub(crate) begins: bool,
    /// The article and paragraph that it belongs to.
    pub(crate) article: Option<InArticle>,
}

/// A label or a lead-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Above {
    /// Its words, without marks and the closing colon.
    pub(crate) text: String,
    /// Where they stand in the passage.
    pub(crate) span: Span,
    /// A few words that name, against a clause that announces.
    pub(crate) is_label: bool,
}

/// A place in a statute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Article {
    /// `第三十六条`.
    pub(crate) label: String,
    /// Where the label stands.
    pub(crate) span: Span,
    /// First sentences of its paragraphs (款).
    pub(crate) paragraphs: Vec<Span>,
}

/// The place of a sentence in an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InArticle {
    /// Index in [`Frame::articles`].
    pub(crate) article: usize,
    /// Number of its paragraph; 0 while only label and title have been read.
    pub(crate) paragraph: usize,
    /// False where the text leaves open what a paragraph is: a line break without an empty line, a table, code.
    pub(crate) counted: bool,
}

/// A heading with a code, and what stands below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Topic {
    /// `5011：负限位`.
    pub(crate) name: String,
    /// Headings below it, such as `处理`.
    pub(crate) below: Vec<String>,
}

/// How a line is marked. Lines of one style and depth are siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Bullet,
    Parenthesised,
    Numbered,
    Lettered,
}

struct Open {
    style: Style,
    depth: usize,
    /// A label and nothing else.
    pure: bool,
    above: Vec<Above>,
}

impl Frame {
    /// The article in front of the one at `index`, if the passage has it: the one with the number before.
    pub(crate) fn article_before(&self, index: usize) -> Option<&Article> {
        let before = &self.articles[index.checked_sub(1)?];
        (article_number(&before.label)? + 1 == article_number(&self.articles[index].label)?).then_some(before)
    }

    /// Reads the structure of `passage`; linear in its length.
    pub(crate) fn new(passage: &Passage<'_>) -> Self {
        let chars: Vec<char> = passage.text.chars().collect();
        let mut places = Vec::with_capacity(passage.sentences.len());
        let mut open: Vec<Open> = Vec::new();
        let mut articles: Vec<Article> = Vec::new();
        let mut article: Option<InArticle> = None;
        for sentence in passage.sentences {
            let span = Span::new(sentence.span.start.min(chars.len()), sentence.span.end.min(chars.len()));
            let own = &chars[span.start..span.end];
            let marks = marks(own);
            let begins = depth(&chars[..span.start]);
            let mut label = 0;
            if let Some(depth) = begins {
                let style = style(own, marks);
                label = label_end(own, marks);
                // `人员不得有下列行为：` is short, but it says something of its items.
                if announces(&own[marks..label.max(marks)]) {
                    label = marks;
                }
                let pure = label > marks && !own[label..].iter().any(|c| is_content(*c));
                match open.iter().position(|o| o.style == style && o.depth == depth) {
                    // `原因：` on a line of its own holds until the next line with a label.
                    Some(sibling) if open[sibling].pure && label == marks => open.truncate(sibling + 1),
                    Some(sibling) => open.truncate(sibling),
                    None if style == Style::Plain => open.retain(|o| o.depth < depth),
                    None => open.retain(|o| o.depth <= depth),
                }
                let mut above = Vec::new();
                if label > marks {
                    above.extend(above_of(own, marks..label, span.start, true));
                } else if is_lead_in(&own[marks..]) {
                    above.extend(above_of(own, marks..own.len(), span.start, false));
                }
                match sentence.kind {
                    SentenceKind::Heading => article = None,
                    _ if style != Style::Plain => {}
                    SentenceKind::Prose | SentenceKind::ListItem => {
                        article = follow(&mut articles, article, own, span, is_set_apart(&chars[..span.start]));
                    }
                    SentenceKind::TableRow | SentenceKind::Verbatim => {
                        if let Some(article) = &mut article {
                            article.counted = false;
                        }
                    }
                }
                open.push(Open { style, depth, pure, above });
            } else if let Some(last) = open.last_mut()
                && is_lead_in(own)
                && announces(own)
            {
                last.above.extend(above_of(own, 0..own.len(), span.start, false));
            }
            let inherited = if begins.is_some() { open.len().saturating_sub(1) } else { open.len() };
            // A label holds for the lines of its paragraph; a lead-in inside the paragraph only for the lines below.
            let mut above: Vec<Above> = open[..inherited].iter().flat_map(|o| o.above.iter().cloned()).collect();
            above.retain(|a| !span.contains(a.span));
            let own_label = (label > marks && label < own.len()).then(|| above_of(own, marks..label, span.start, true));
            places.push(Place {
                above,
                marks,
                label: label.saturating_sub(marks),
                own: own_label.flatten(),
                begins: begins.is_some(),
                article,
            });
        }
        let product = product(passage.title);
        let part = part(passage.heading_path, product.as_deref().unwrap_or(passage.title));
        Self { places, articles, topic: topic(passage.heading_path), product, part }
    }
}

/// Columns of white space in front of a sentence that begins a line; `None` for one within a line.
fn depth(before: &[char]) -> Option<usize> {
    let indent = before.iter().rev().take_while(|c| c.is_whitespace() && !matches!(c, '\n' | '\r'));
    let columns: Vec<&char> = indent.collect();
    let at = before.len() - columns.len();
    let breaks = at == 0 || matches!(before[at - 1], '\n' | '\r');
    breaks.then(|| columns.iter().map(|c| if **c == '\t' { 4 } else { 1 }).sum())
}

/// Length of bullet and number, as [`label_len`] counts it, in characters of the sentence.
fn marks(own: &[char]) -> usize {
    let text: String = own.iter().collect();
    let folded = Folded::new(&text);
    let len = label_len(&folded);
    if len == 0 { 0 } else { folded.span(len - 1, len).end }
}

fn style(own: &[char], marks: usize) -> Style {
    let mut lead = own[..marks].iter().filter(|c| !c.is_whitespace());
    match lead.next() {
        Some('-' | '*' | '+' | '•' | '·' | '●' | '>') => Style::Bullet,
        Some('(' | '（') => match lead.next() {
            Some(c) if c.is_ascii_alphabetic() => Style::Lettered,
            _ => Style::Parenthesised,
        },
        Some(c) if c.is_ascii_digit() || (is_ideograph(*c) && *c != '第') => Style::Numbered,
        _ => Style::Plain,
    }
}

/// End of a label that opens the line, its colon included; `marks` if there is none. `**反应**` is a label without a colon.
pub(crate) fn label_end(own: &[char], marks: usize) -> usize {
    let mut content = 0;
    let mut words = 0;
    let mut emphasised = false;
    for (i, &c) in own.iter().enumerate().skip(marks) {
        match c {
            ':' | '：' => {
                let next = own.get(i + 1).copied().unwrap_or(' ');
                let clock = i > 0 && own[i - 1].is_ascii_digit() && next.is_ascii_digit();
                let close = own[i + 1..].iter().take_while(|c| **c == '*').count();
                return if content == 0 || clock || next == '/' { marks } else { i + 1 + close };
            }
            '*' => emphasised = true,
            ' ' => words += 1,
            '，' | '。' | '；' | ',' | ';' | '.' | '!' | '?' | '！' | '？' | '\n' | '"' | '`' => return marks,
            _ if is_content(c) => content += 1,
            _ => {}
        }
        if content > LABEL * if c.is_ascii() { 2 } else { 1 } || words > 4 {
            return marks;
        }
    }
    // Emphasis that fills the line.
    if emphasised && content > 0 && own.ends_with(&['*', '*']) { own.len() } else { marks }
}

fn is_lead_in(own: &[char]) -> bool {
    let end = own.iter().rposition(|c| !c.is_whitespace() && *c != '*').map_or(0, |i| i + 1);
    let content = own.iter().filter(|c| is_content(**c)).count();
    let latin = own.iter().filter(|c| c.is_ascii_alphabetic()).count();
    let text: String = own.iter().filter(|c| is_content(**c)).take(2).collect();
    let joins = ["并", "然后", "之后", "以及"].iter().any(|w| text.starts_with(w));
    matches!(own.get(end.wrapping_sub(1)), Some(':' | '：' | '—'))
        && content >= 4
        && content <= LEAD_IN + latin
        && !joins
}

/// True when a lead-in says that a list follows. The last part of a longer sentence may end in a colon and not be what the
/// items complete.
fn announces(own: &[char]) -> bool {
    let text: String = own.iter().collect::<String>().to_lowercase();
    ["下列", "以下", "如下", "之一", "包括", "following", "as follows", "any of", "each of", "all of"]
        .iter()
        .any(|w| text.contains(w))
}

fn above_of(own: &[char], range: std::ops::Range<usize>, offset: usize, is_label: bool) -> Option<Above> {
    let edge = |c: &char| !is_content(*c) && !matches!(c, '）' | ')' | '”' | '"' | '」' | '“' | '「' | '（' | '(');
    let mut start = range.start;
    // The number of an article is no word of a lead-in.
    while start < range.end && edge(&own[start]) {
        start += 1;
    }
    let mut end = range.end;
    while end > start && edge(&own[end - 1]) {
        end -= 1;
    }
    let text: String = own[start..end].iter().filter(|c| **c != '*').collect();
    (start < end).then(|| Above { text, span: Span::new(offset + start, offset + end), is_label })
}

/// True where a paragraph surely begins: at the start, behind an empty line, or with an indent of two full-width blanks.
fn is_set_apart(before: &[char]) -> bool {
    let gap: Vec<char> = before.iter().rev().take_while(|c| c.is_whitespace()).copied().collect();
    let breaks = gap.iter().filter(|c| **c == '\n').count();
    gap.len() == before.len() || breaks >= 2 || gap.starts_with(&['\u{3000}', '\u{3000}'])
}

/// Keeps the count of articles and of their paragraphs: the place of a line behind one at `place`.
fn follow(
    articles: &mut Vec<Article>,
    place: Option<InArticle>,
    own: &[char],
    span: Span,
    set_apart: bool,
) -> Option<InArticle> {
    let numeral = |c: &char| c.is_ascii_digit() || "〇零一二三四五六七八九十百千".contains(*c);
    let digits = own.iter().skip(1).take_while(|c| numeral(c)).count();
    if own.first() == Some(&'第') && digits > 0 && matches!(own.get(digits + 1), Some('条' | '條')) {
        // `第三十六条之一` is a number of its own.
        let mut end = digits + 2;
        if own.get(end) == Some(&'之') {
            end += 1 + own[end + 1..].iter().take_while(|c| numeral(c)).count();
        }
        if own.get(end).is_none_or(|c| c.is_whitespace() || matches!(c, '　' | '【' | '[' | '：' | ':')) {
            let label = own[..end].iter().collect();
            // Behind the number stands the first paragraph, or nothing, or a title, which ends in no mark.
            let says = own[end..].iter().rfind(|c| !c.is_whitespace()).is_some_and(|c| is_stop(*c));
            let paragraphs = if says { vec![span] } else { Vec::new() };
            let paragraph = paragraphs.len();
            articles.push(Article { label, span: Span::new(span.start, span.start + end), paragraphs });
            return Some(InArticle { article: articles.len() - 1, paragraph, counted: true });
        }
    }
    let place = place?;
    articles[place.article].paragraphs.push(span);
    Some(InArticle { paragraph: place.paragraph + 1, counted: place.counted && set_apart, ..place })
}

fn is_stop(c: char) -> bool {
    matches!(c, '。' | '；' | '：' | '，' | '！' | '？' | ';' | ':' | ',' | '.' | '”')
}

/// 36 of `第三十六条`; `None` for `第三十六条之一`.
fn article_number(label: &str) -> Option<u32> {
    let number = label.strip_prefix('第')?.strip_suffix(['条', '條'])?;
    if let Ok(number) = number.parse() {
        return Some(number);
    }
    let (mut total, mut digit) = (0u32, 0u32);
    for c in number.chars() {
        match (c, "零一二三四五六七八九".chars().position(|d| d == c || (d == '零' && c == '〇'))) {
            (_, Some(value)) => digit = u32::try_from(value).ok()?,
            ('十' | '百' | '千', None) => {
                let unit = match c {
                    '十' => 10,
                    '百' => 100,
                    _ => 1000,
                };
                total += digit.max(1) * unit;
                digit = 0;
            }
            _ => return None,
        }
    }
    Some(total + digit)
}

/// The deepest heading with a code, and the headings below it.
fn topic(headings: &[String]) -> Option<Topic> {
    let at = headings.iter().rposition(|h| has_code(plain_heading(h)))?;
    let below = headings[at + 1..].iter().map(|h| plain_heading(h).to_owned()).filter(|h| !h.is_empty()).collect();
    Some(Topic { name: plain_heading(&headings[at]).trim_end_matches([':', '：']).to_owned(), below })
}

/// A heading without its section number.
pub(crate) fn plain_heading(heading: &str) -> &str {
    let heading = heading.trim();
    let number = heading.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    // `7.5 上电报警` has a section number, `29287：…` a code, `24V 电源` a quantity.
    let cut = &heading[..heading.len() - number.len()];
    if !cut.is_empty() && number.starts_with([' ', '\t', '　', '、']) && (cut.contains('.') || cut.len() <= 2) {
        return number.trim_start_matches([' ', '\t', '　', '、']);
    }
    heading
}

/// True when a heading or question names a code: letters with digits, or a number of three digits or more that counts nothing.
pub(crate) fn has_code(heading: &str) -> bool {
    let folded = Folded::new(heading);
    let counted = quantities(&folded);
    tokens(&folded).iter().any(|token| match token.kind {
        TokenKind::Code => folded.chars[token.start..token.end].iter().any(char::is_ascii_digit),
        TokenKind::Number => {
            let number = &folded.chars[token.start..token.end];
            let unit = counted.iter().any(|q| q.start == token.start && q.unit.is_some());
            number.len() >= 3 && number.iter().all(char::is_ascii_digit) && !unit
        }
        _ => false,
    })
}

/// What a manual calls itself at the end of its title; the product's name stands in front.
const MANUAL: &[&str] = &[
    "安装使用说明书",
    "使用说明书",
    "操作说明书",
    "安装说明书",
    "维护说明书",
    "产品说明书",
    "说明书",
    "操作手册",
    "使用手册",
    "用户手册",
    "维护手册",
    "维修手册",
    "保养手册",
    "编程手册",
    "报警手册",
    "故障手册",
    "安装手册",
    "产品手册",
    "技术手册",
    "手册",
    "操作指南",
    "用户指南",
    "使用指南",
    "安装指南",
    "快速入门",
    "操作规程",
    "維護手冊",
    "使用手冊",
    "操作手冊",
    "手冊",
    "說明書",
    "installation and operating instructions",
    "operating instructions",
    "installation instructions",
    "instruction manual",
    "user manual",
    "user's manual",
    "user’s manual",
    "owner's manual",
    "operator's manual",
    "operating manual",
    "service manual",
    "maintenance manual",
    "installation manual",
    "reference manual",
    "quick start guide",
    "user guide",
    "user's guide",
    "installation guide",
    "maintenance guide",
    "instructions",
    "manual",
    "handbook",
    "guide",
];

/// `XH-500 液压冲床` of the title `XH-500 液压冲床使用说明书`; `None` if the title is no manual's or names nothing particular.
/// The deepest heading where it is the plain name of a part, not of work on it and not of the product itself.
fn part(headings: &[String], product: &str) -> Option<String> {
    const ZH: &[&str] = &[
        "器", "机", "泵", "阀", "箱", "缸", "管", "轴", "柜", "罩", "门", "盘", "塔", "罐", "炉", "仪", "表", "开关",
        "模块", "单元", "装置", "滤芯", "电池", "轴承",
    ];
    const EN: &[&str] = &[
        "cooler",
        "pump",
        "valve",
        "motor",
        "filter",
        "tank",
        "sensor",
        "switch",
        "battery",
        "fan",
        "compressor",
        "controller",
        "drive",
        "heater",
        "cylinder",
        "bearing",
        "cabinet",
        "door",
        "guard",
        "spindle",
    ];
    const WORK: &[&str] = &[
        "更换", "拆", "检查", "调整", "安装", "保养", "清洗", "使用", "操作", "维护", "关闭", "启动", "和", "与", "及",
        "、",
    ];
    let name = headings.last()?.trim_start_matches(|c: char| c.is_ascii_digit() || " .．、()（）".contains(c)).trim();
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split(' ').collect();
    let plain = if !name.is_ascii() {
        (2..=10).contains(&name.chars().count())
            && ZH.iter().any(|end| name.ends_with(end))
            && !WORK.iter().any(|w| name.contains(w))
    } else {
        words.len() <= 3
            && words.last().is_some_and(|w| EN.contains(w))
            && !words.iter().any(|w| w.ends_with("ing") || ["the", "a", "and", "or"].contains(w))
    };
    let other = !product.to_lowercase().contains(&lower) && !lower.contains(&product.to_lowercase());
    (plain && other).then(|| name.to_owned())
}

fn product(title: &str) -> Option<String> {
    let title = title.trim();
    let lower = title.to_lowercase();
    if lower.len() != title.len() {
        return None;
    }
    let kind = MANUAL.iter().filter(|k| lower.ends_with(**k)).max_by_key(|k| k.len())?;
    let cut = title.len() - kind.len();
    if !title.is_char_boundary(cut) {
        return None;
    }
    let name = title[..cut].trim().trim_end_matches(['-', '–', '—', ':', '：', '的', '·', ',']).trim();
    let particular = name.chars().any(|c| c.is_ascii_digit())
        || name.split(' ').any(|w| w.starts_with(|c: char| c.is_ascii_uppercase()));
    let short = name.chars().count() <= 40 && !name.contains(['，', '。', '？', '?', '《', '\n']);
    (particular && short && !name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Format;
    use crate::proposition::sentences;

    fn frame(title: &str, headings: &[&str], text: &str) -> (Frame, Vec<String>) {
        let headings: Vec<String> = headings.iter().map(|h| (*h).to_owned()).collect();
        let found = sentences(text, Format::Markdown);
        let chars: Vec<char> = text.chars().collect();
        let own = found.iter().map(|s| chars[s.span.start..s.span.end].iter().collect()).collect();
        (Frame::new(&Passage::new(title, &headings, text, &found)), own)
    }

    fn above(frame: &Frame, i: usize) -> Vec<&str> {
        frame.places[i].above.iter().map(|a| a.text.as_str()).collect()
    }

    #[test]
    fn a_list_item_stands_below_its_lead_in_and_its_label() {
        let text = "- **反应**：\n    - 根据设置，泵站执行以下动作：\n        - 关闭进油阀\n        - 打开泄压阀\n    - 指示灯亮。\n- **处理**：\n    - 更换滤芯。\n";
        let (frame, own) = frame("", &[], text);
        let at = |s: &str| own.iter().position(|o| o.contains(s)).unwrap_or(usize::MAX);
        assert_eq!(above(&frame, at("打开泄压阀")), ["反应", "根据设置，泵站执行以下动作"]);
        assert_eq!(above(&frame, at("指示灯")), ["反应"]);
        assert_eq!(above(&frame, at("更换滤芯")), ["处理"]);
    }

    #[test]
    fn numbered_items_stand_below_the_paragraph_that_announces_them_and_a_new_paragraph_does_not() {
        let text = "第九条 仓库有下列情形之一的，由主管部门处以罚款：\n\n（一）未配备灭火器的，处五百元罚款；\n\n（二）堵塞通道的，处二千元罚款。\n\n仓库管理员知情不报的，给予警告。";
        let (frame, _) = frame("", &[], text);
        assert_eq!(above(&frame, 1), ["仓库有下列情形之一的，由主管部门处以罚款"]);
        assert_eq!(above(&frame, 2), above(&frame, 1));
        assert!(above(&frame, 3).is_empty());
        let place = frame.places[3].article.unwrap_or_else(|| unreachable!());
        let article = &frame.articles[place.article];
        assert_eq!(place.paragraph, 2);
        assert_eq!((article.label.as_str(), article.paragraphs.len()), ("第九条", 2));
    }

    #[test]
    fn a_label_holds_for_the_sentences_of_its_line() {
        let (frame, own) = frame("", &[], "- Eco 模式：主轴降速。常见的原因是省电设置。\n- Run 模式：主轴正常运行。\n");
        assert_eq!(own[1], "常见的原因是省电设置。");
        assert_eq!(above(&frame, 1), ["Eco 模式"]);
        assert!(above(&frame, 2).is_empty());
    }

    #[test]
    fn a_label_on_a_line_of_its_own_holds_until_the_next() {
        let (frame, _) = frame("", &[], "原因：\n\n限位开关断开。\n\n接线松动。\n\n处理：\n\n检查接线。\n");
        assert_eq!(above(&frame, 1), ["原因"]);
        assert_eq!(above(&frame, 2), ["原因"]);
        assert_eq!(above(&frame, 4), ["处理"]);
    }

    #[test]
    fn a_heading_with_a_code_is_the_topic_and_a_section_number_is_no_code() {
        let topic = |h: &[&str]| frame("", h, "停机。").0.topic.map(|t| (t.name, t.below));
        assert_eq!(topic(&["第五章", "5011：负限位", "处理"]), Some(("5011：负限位".into(), vec!["处理".into()])));
        assert_eq!(topic(&["7.5 上电报38008报警"]), Some(("上电报38008报警".into(), vec![])));
        for headings in [&["3.2 温度"][..], &["2024年度计划"], &["24V 电源"], &["1.2.3 Setup"], &[]] {
            assert_eq!(topic(headings), None, "{headings:?}");
        }
    }

    #[test]
    fn the_part_is_what_the_deepest_heading_names() {
        let of = |headings: &[&str]| frame("XH-500 液压机操作手册", headings, "该设备每月清洗一次。").0.part;
        assert_eq!(of(&["2 液压系统", "2.3 冷却器"]).as_deref(), Some("冷却器"));
        for headings in [&["2.3 更换冷却器"][..], &["3 保养"], &["1 液压机"], &["2.3 冷却器", "技术参数"], &[]]
        {
            assert_eq!(of(headings), None, "{headings:?}");
        }
        let of = |heading: &str| frame("BX-9000 controller manual", &[heading], "It stops.").0.part;
        assert_eq!(of("3.1 Oil cooler").as_deref(), Some("Oil cooler"));
        assert_eq!(of("3.1 Cleaning the cooler"), None);
        assert_eq!(of("Controller"), None);
    }

    #[test]
    fn the_product_is_what_a_manuals_title_names() {
        assert_eq!(product("XH-500 液压冲床使用说明书").as_deref(), Some("XH-500 液压冲床"));
        assert_eq!(product("Halden 4 door closer - installation guide").as_deref(), Some("Halden 4 door closer"));
        for title in ["仓库消防管理办法", "硬件安装", "操作手册", "user manual", "Bed leveling"] {
            assert_eq!(product(title), None, "{title}");
        }
    }
}

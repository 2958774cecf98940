//! 前款, 本款, 本条 and 前条: places in the statute at hand, named by article and paragraph. Where what they point at is short, it is
//! quoted: `第九条第一款（…）规定的期限` can be read alone, `前款规定的期限` cannot.

use crate::document::Span;
use crate::proposition::frame::Article;
use crate::proposition::gates::refers;
use crate::proposition::lexis::Folded;
use crate::proposition::source::Source;
use crate::proposition::tidy::squeeze;

use super::is_bare;

/// Replaces back references to articles and paragraphs; `None` if there is none that the passage settles.
pub(super) fn restore(statement: &str, index: usize, source: &Source) -> Option<(String, Vec<Span>)> {
    let statement = inherited(statement, index, source);
    let statement = statement.as_str();
    let place = source.frame.places[index].article?;
    let article = &source.frame.articles[place.article];
    let (now, counted) = (place.paragraph, place.counted);
    let mut places = Vec::new();
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement;
    while let Some(c) = rest.chars().next() {
        let (name, place, len) = match () {
            () if rest.starts_with("前两款") && now >= 3 && counted => {
                let both = format!("{}第{}款和第{}款", article.label, numeral(now - 2)?, numeral(now - 1)?);
                (both, Some(article.paragraphs[now - 3]), "前两款".len())
            }
            () if rest.starts_with("前款") && now >= 2 && counted => {
                let place = article.paragraphs[now - 2];
                let quoted = quotation(&rest["前款".len()..], article, place, source).unwrap_or_default();
                (format!("{}{quoted}", paragraph(article, now - 1)?), Some(place), "前款".len())
            }
            () if rest.starts_with("本款") && now >= 1 && counted => (paragraph(article, now)?, None, "本款".len()),
            () if is_this_article(rest) => (article.label.clone(), None, "本条".len()),
            () if rest.starts_with("前条") => match source.frame.article_before(place.article) {
                Some(earlier) => (earlier.label.clone(), Some(earlier.span), "前条".len()),
                None => (String::new(), None, 0),
            },
            () => (String::new(), None, 0),
        };
        if len == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        out.push_str(&name);
        places.push(article.span);
        places.extend(place);
        rest = &rest[len..];
    }
    (!places.is_empty()).then_some((out, places))
}

/// What the paragraph says, in brackets, where the statement speaks of something `规定的` there: all of it, or its first sentence
/// and `……` where the others only add to that. One of several things that stand side by side would narrow what is meant.
fn quotation(rest: &str, article: &Article, place: Span, source: &Source) -> Option<String> {
    /// Longest quotation, in characters.
    const LONGEST: usize = 40;
    if !rest.starts_with("规定的") {
        return None;
    }
    let first = source.sentences.iter().position(|s| s.span == place)?;
    let more = source.frame.places[first + 1..].iter().take_while(|p| !p.begins).count();
    let adds = |text: &str| refers(text) || text.trim_end_matches('。').ends_with("除外");
    let added = source.sentences[first + 1..=first + more].iter().all(|s| adds(&s.original));
    let quoted = |end: usize| {
        let text = squeeze(&source.slice(Span::new(place.start, source.sentences[end].span.end)));
        let text = text.strip_prefix(&article.label).unwrap_or(&text);
        let text = text.trim().trim_end_matches(['；', ';', '。']).to_owned();
        let short = text.chars().count() <= LONGEST && !text.contains(['（', '(']) && !text.ends_with(['：', ':']);
        (short && !refers(&text)).then_some(text)
    };
    let whole = quoted(first + more).map(|text| format!("（{text}）"));
    whole.or_else(|| quoted(first).filter(|_| added).map(|text| format!("（{text}……）")))
}

/// `前款规定的期限，从甲之日起计算；有乙情形的，从丙之日起计算`: what stands behind the semicolon has the same subject.
fn inherited(statement: &str, index: usize, source: &Source) -> String {
    /// Longest subject, in characters.
    const LONGEST: usize = 16;
    let same = || statement.to_owned();
    let Some(before) = index.checked_sub(1).map(|i| &source.sentences[i]) else { return same() };
    let own = &source.sentences[index];
    if source.frame.places[index].begins
        || !before.original.trim_end().ends_with(['；', ';'])
        || own.original.contains("规定的")
    {
        return same();
    }
    let marks = source.frame.places[index - 1].marks;
    let text: String = before.original.chars().skip(marks).collect();
    let Some((subject, predicate)) = text.split_once('，') else { return same() };
    let cites = ["前款规定的", "本条规定的", "前条规定的"].iter().any(|w| subject.starts_with(w));
    let bare = predicate.starts_with(['从', '自', '由', '按', '以']) && subject.chars().count() <= LONGEST;
    if cites && bare && is_bare(&Folded::new(statement), index, source) {
        format!("{subject}，{statement}")
    } else {
        same()
    }
}

/// `本条`, and not 本条例 or the end of 基本条件.
fn is_this_article(rest: &str) -> bool {
    let after = |word: &str| rest.strip_prefix(word).is_some_and(|r| !r.starts_with(['例', '件', '款', '目', '文']));
    after("本条") || after("本條")
}

fn paragraph(article: &Article, number: usize) -> Option<String> {
    Some(format!("{}第{}款", article.label, numeral(number)?))
}

/// Every citation of a paragraph that [`restore`] may write: the gates know them, though the text does not spell them.
pub(crate) fn citations(articles: &[Article]) -> Vec<String> {
    let all = |a: &Article| -> Vec<String> { (1..=a.paragraphs.len()).filter_map(|n| paragraph(a, n)).collect() };
    articles.iter().flat_map(all).collect()
}

/// 1 to 99 in Chinese numerals.
fn numeral(n: usize) -> Option<String> {
    const DIGITS: [&str; 10] = ["", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    match n {
        0 => None,
        1..=9 => Some(DIGITS[n].to_owned()),
        10..=19 => Some(format!("十{}", DIGITS[n - 10])),
        20..=99 => Some(format!("{}十{}", DIGITS[n / 10], DIGITS[n % 10])),
        _ => None,
    }
}

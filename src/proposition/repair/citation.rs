//! 前款, 本款, 本条 and 前条: places in the statute at hand, named by article and paragraph.

use crate::document::Span;
use crate::proposition::frame::Article;
use crate::proposition::source::Source;

/// Replaces back references to articles and paragraphs; `None` if there is none that the passage settles.
pub(super) fn restore(statement: &str, index: usize, source: &Source) -> Option<(String, Vec<Span>)> {
    if !["前款", "本条", "本款", "前条", "前两款", "本條"].iter().any(|w| statement.contains(w)) {
        return None;
    }
    let article = source.frame.places[index].article.as_ref()?;
    let now = article.paragraphs.len();
    let mut places = Vec::new();
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement;
    while let Some(c) = rest.chars().next() {
        let (name, place, len) = match () {
            () if rest.starts_with("前两款") && now >= 3 => {
                let both = format!("{}第{}款和第{}款", article.label, numeral(now - 2)?, numeral(now - 1)?);
                (both, Some(article.paragraphs[now - 3]), "前两款".len())
            }
            () if rest.starts_with("前款") && now >= 2 => {
                (paragraph(article, now - 1)?, Some(article.paragraphs[now - 2]), "前款".len())
            }
            () if rest.starts_with("本款") => (paragraph(article, now)?, None, "本款".len()),
            () if is_this_article(rest) => (article.label.clone(), None, "本条".len()),
            () if rest.starts_with("前条") => match source.frame.article_before(article) {
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

//! When a document was last made: from its front matter, its file name or its first page.
//!
//! A document may name many dates. What counts is when the text as it stands was written: a revision or a publication, and
//! only where there is none the day it takes effect. Dates in running text never count.

use super::date_find::{Found, dates};
use super::{Date, Format, front_matter, text_lines};

/// Keys of front matter that hold the date, the most telling first.
const KEYS: &[&str] = &[
    "updated",
    "last_updated",
    "lastmod",
    "last_modified",
    "modified",
    "revised",
    "revision_date",
    "date",
    "published",
    "publish_date",
    "publication_date",
    "issued",
    "issue_date",
    "released",
    "release_date",
    "修订日期",
    "更新日期",
    "更新时间",
    "修改日期",
    "日期",
    "发布日期",
    "发布时间",
    "印发日期",
    "公布日期",
    "出版日期",
    "编制日期",
    "effective",
    "effective_date",
    "施行日期",
    "生效日期",
    "实施日期",
];

/// Lines and characters that count as the first page.
const PAGE: (usize, usize) = (60, 4_000);

/// The date of a document: front matter, else file name, else first page.
pub(super) fn find(name: &str, text: &str, format: Format, metadata: &[(String, String)]) -> Option<Date> {
    from_metadata(metadata).or_else(|| from_name(name)).or_else(|| from_page(text, format))
}

fn from_metadata(metadata: &[(String, String)]) -> Option<Date> {
    KEYS.iter().find_map(|key| {
        let (_, value) = metadata.iter().find(|(name, _)| name == key)?;
        let chars: Vec<char> = value.chars().collect();
        dates(&chars).first().map(|found| found.date).or_else(|| value.parse().ok())
    })
}

/// `report_2023-05-01.md`, `20230501 手册.md`, `2023年5月 报告.md`, `年报(2023).md`. A bare number is more likely a model.
fn from_name(name: &str) -> Option<Date> {
    let stem: Vec<char> = super::title::stem(name).chars().collect();
    let joined: Vec<char> = (0..stem.len())
        .map(|i| {
            let digit = |at: Option<usize>| at.and_then(|at| stem.get(at)).is_some_and(char::is_ascii_digit);
            if stem[i] != '_' {
                stem[i]
            } else if digit(i.checked_sub(1)) && digit(Some(i + 1)) {
                '-'
            } else {
                ' '
            }
        })
        .collect();
    let latest = dates(&joined).into_iter().map(|found| found.date).max();
    latest.or_else(|| {
        let bracketed = joined.windows(6).find(|w| matches!((w[0], w[5]), ('(', ')') | ('（', '）') | ('[', ']')))?;
        let year: String = bracketed[1..5].iter().collect();
        year.parse::<Date>().ok().filter(|date| (1900..=2199).contains(&date.year))
    })
}

/// How much a date on the first page says about the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    TakesEffect,
    Made,
}

fn from_page(text: &str, format: Format) -> Option<Date> {
    let start = match format {
        Format::Markdown => front_matter(text).map_or(0, |range| range.end),
        Format::PlainText => 0,
    };
    let body = &text[start..];
    let mut best: Option<(Rank, Date)> = None;
    let mut seen = 0;
    for line in text_lines(body).take(PAGE.0) {
        let line: Vec<char> = body[line.start..line.end].chars().take(PAGE.1 + 1).collect();
        seen += line.len();
        if seen > PAGE.1 {
            break;
        }
        best = on_line(&line).into_iter().chain(best).max();
    }
    best.map(|(_, date)| date)
}

/// Made, in this line, by the words around the date.
const MADE: &[&str] = &[
    "修订", "修改", "修正", "发布", "發布", "公布", "颁布", "印发", "通过", "编制", "编写", "出版", "更新", "发行",
    "签发", "定稿", "版", "日期", "version", "revis", "rev.", "rev ", "issue", "publish", "update", "edition",
    "release", "date", "printed", "as of",
];
const TAKES_EFFECT: &[&str] = &["施行", "实施", "生效", "执行", "effective", "in force"];
/// Dates of something else than the text.
const OTHER: &[&str] = &[
    "下次",
    "有效",
    "截止",
    "截至",
    "到期",
    "失效",
    "废止",
    "出厂",
    "生产",
    "制造",
    "购置",
    "成立",
    "出生",
    "next",
    "until",
    "expir",
    "valid",
    "manufactur",
    "birth",
    "founded",
    "established",
    "copyright",
    "©",
    "due",
];

fn on_line(line: &[char]) -> Vec<(Rank, Date)> {
    let found = dates(line);
    let mut out = Vec::new();
    let content = |chars: &[char]| chars.iter().filter(|c| c.is_alphanumeric()).count();
    let rest = content(line) - found.iter().map(|f| content(&line[f.start..f.end])).sum::<usize>();
    for (i, date) in found.iter().enumerate() {
        let around = Around::new(line, &found, i);
        if !around.is_a_note() || around.mentions(OTHER) {
            continue;
        }
        if around.holds(MADE) || rest == 0 {
            out.push((Rank::Made, date.date));
        } else if around.holds(TAKES_EFFECT) {
            out.push((Rank::TakesEffect, date.date));
        }
    }
    out
}

/// The words around a date, in lower case, as far as they can belong to it: not past its neighbours.
struct Around {
    /// From the last bracket or stop to the date; where nothing is there, what stands before that.
    label: String,
    /// True where the date follows a bracket or a stop directly.
    opens: bool,
    after: String,
}

impl Around {
    fn new(line: &[char], found: &[Found], i: usize) -> Self {
        const BEFORE: usize = 24;
        const AFTER: usize = 60;
        let date = &found[i];
        let from = i.checked_sub(1).map_or(0, |k| found[k].end);
        let to = found.get(i + 1).map_or(line.len(), |next| next.start).min(date.end + AFTER);
        let before = &line[from..date.start];
        let stop = |c: &char| matches!(c, '(' | '（' | '。' | '；' | ';' | '|' | '，' | ',' | '\u{3000}');
        let label = &before[before.iter().rposition(stop).map_or(0, |k| k + 1)..];
        let opens = !label.iter().any(|c| c.is_alphanumeric());
        let label = if opens { &before[before.len().saturating_sub(BEFORE)..] } else { label };
        let after = &line[date.end..to];
        let end = after.iter().position(|c| matches!(c, '。' | '.' | '；' | ';' | '|')).unwrap_or(after.len());
        let lower = |chars: &[char]| chars.iter().collect::<String>().to_lowercase();
        Self { label: lower(label), opens, after: lower(&after[..end]) }
    }

    fn mentions(&self, words: &[&str]) -> bool {
        words.iter().any(|w| self.label.contains(w) || self.after.contains(w))
    }

    fn holds(&self, words: &[&str]) -> bool {
        let tail = self.after.trim_matches(|c: char| !c.is_alphanumeric());
        let tail = tail.trim_end_matches(['自', '据', '根']).trim_end();
        // A note ends with its verb (`…第三次修正`), a sentence goes on with an object (`…更新了密封`).
        let closes = |word: &&&str| {
            let amends = tail.contains(&format!("{word}的《"));
            tail.ends_with(**word)
                || amends
                || (word.is_ascii() && tail.split_whitespace().count() <= 4 && tail.contains(**word))
        };
        words.iter().any(|w| self.label.contains(w)) || words.iter().any(|w| closes(&w))
    }

    /// True where the date is the head of a note (`修订日期：…`, `…第三次修正`, `Version of …`), not a part of a sentence.
    fn is_a_note(&self) -> bool {
        if self.opens {
            return true;
        }
        let label = self.label.trim_matches(|c: char| !c.is_alphanumeric());
        let chars = label.chars().count();
        if label.chars().any(|c| ('\u{3400}'..='\u{9fff}').contains(&c)) {
            return ["根据", "于"].contains(&label)
                || (label.ends_with('自') && chars <= 8)
                || (chars <= 12 && MADE.iter().chain(TAKES_EFFECT).any(|w| label.contains(w)));
        }
        let words: Vec<&str> = label.split_whitespace().collect();
        words.len() <= 4 && !words.iter().any(|w| matches!(*w, "was" | "were" | "is" | "are" | "has" | "had" | "been"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn date(name: &str, text: &str) -> Option<String> {
        Document::from_text(name, text.to_owned(), Format::Markdown).date.map(|date| date.to_string())
    }

    #[test]
    fn front_matter_comes_before_the_name_and_the_name_before_the_page() {
        let page = "# 手册\n\n2019年1月修订\n";
        let front = |lines: &str| format!("---\n{lines}\n---\n{page}");
        assert_eq!(date("手册 2020-02-03.md", &front("date: 2021-06-10")).as_deref(), Some("2021-06-10"));
        assert_eq!(date("手册 2020-02-03.md", &front("title: x")).as_deref(), Some("2020-02-03"));
        assert_eq!(date("手册.md", &front("title: x")).as_deref(), Some("2019-01"));
        assert_eq!(date("手册.md", &front("date: soon")).as_deref(), Some("2019-01"));
        assert_eq!(date("a.md", &front("date: 2018\nupdated: 'March 2021'")).as_deref(), Some("2021-03"));
        assert_eq!(date("a.md", &front("发布日期: 2021年6月10日")).as_deref(), Some("2021-06-10"));
        assert_eq!(date("a.md", &front("施行日期: \"2021-09-01\"")).as_deref(), Some("2021-09-01"));
    }

    #[test]
    fn names_give_dates_and_models_do_not() {
        for (name, expected) in [
            ("zh/安全生产法(2021-06-10).md", Some("2021-06-10")),
            ("log_20230501.txt", Some("2023-05-01")),
            ("log_2023_05_01_b.md", Some("2023-05-01")),
            ("2023年5月 报告.md", Some("2023-05")),
            ("年报(2023).md", Some("2023")),
            ("2019-01-01/手册.md", None),
            ("BX-2000 手册.md", None),
            ("BX 2023.md", None),
            ("manual v2.1.md", None),
        ] {
            assert_eq!(date(name, "# 标题\n\n正文。\n").as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn the_newest_revision_on_the_first_page_counts() {
        for (text, expected) in [
            (
                "# 法\n\n2002年6月29日 第九届会议通过\n\n2021年6月10日 《关于修改的决定》第三次修正\n",
                Some("2021-06-10"),
            ),
            ("（2002年6月29日通过　根据2009年8月27日《决定》修正　自2010年1月1日起施行）\n", Some("2009-08-27")),
            ("1997年3月14日 第八届会议修订\n\n1999年12月25日 第九届会议通过的《修正案》\n", Some("1999-12-25")),
            ("本办法自2021年9月1日起施行。\n", Some("2021-09-01")),
            ("版本：V2.1（2021年6月）\n", Some("2021-06")),
            ("BX-9000 manual\n\nVersion of 1 March 2021\n", Some("2021-03-01")),
            ("Issued: March 2021. Next review: March 2026\n", Some("2021-03")),
            ("Rev. B, 03/2021\n", Some("2021-03")),
            ("| 修订日期 | 2021-06-10 |\n", Some("2021-06-10")),
            ("BX-9000 操作手册\n\n2021年6月\n", Some("2021-06")),
        ] {
            assert_eq!(date("a.md", text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn dates_of_other_things_and_in_sentences_do_not_count() {
        for text in [
            "该泵于2019年5月3日更新了密封。\n",
            "The seal of the pump was updated on 3 May 2019.\n",
            "出厂日期：2019年5月3日\n",
            "下次修订：2026年5月\n",
            "Valid until 1 March 2021\n",
            "事故发生在2019年5月3日。\n",
            "2019年5月3日，该泵更新了密封。\n",
            "3 May 2019: the fitter on duty updated the seal of the pump.\n",
        ] {
            assert_eq!(date("a.md", text), None, "{text}");
        }
        let late = format!("{}2021年6月10日修订\n", "正文。\n".repeat(80));
        assert_eq!(date("a.md", &late), None);
    }
}

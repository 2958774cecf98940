//! Time words: `去年` or `last quarter` say when only to who knows when the text was written.
//!
//! Where the date of the document is known, the year, quarter, month or day is written beside the word, which stays:
//! `去年（2023年）`, `last quarter (Q1 2024)`. A word that cannot be anchored stays as it is and is told.
//!
//! The same words stand in rules and instructions, where they count from the day of use and not from the day of writing
//! (`按上年度平均工资计算`, `the screen shows this month's output`). There only words that nobody uses so are anchored.

use std::ops::Range;

use crate::document::{Date, MONTHS};
use crate::proposition::entities::entities;
use crate::proposition::gates::modals;
use crate::proposition::lexis::{Folded, is_chinese, is_ideograph};
use crate::proposition::time_words::{Step, Word, all_words, words};
use crate::proposition::{Reason, Unit, UnitKind};

/// Name of the mark on a unit with a time word that is not anchored.
const NOT_ANCHORED: &str = "time-not-anchored";

/// A statement whose time words say which year, quarter, month or day they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchored {
    /// The statement with dates beside its time words.
    pub(crate) statement: String,
    /// Characters of `statement` that hold a time word with its date.
    pub(crate) replaced: Vec<Range<usize>>,
    /// Time words that stand as they were.
    pub(crate) open: Vec<String>,
}

/// Writes beside each time word of `statement` what it means, counted from `date`.
pub(crate) fn anchor(statement: &str, date: Option<Date>) -> Anchored {
    let chars: Vec<char> = statement.chars().collect();
    let found = words(&chars);
    let mut out = Anchored { statement: String::new(), replaced: Vec::new(), open: Vec::new() };
    if found.is_empty() {
        statement.clone_into(&mut out.statement);
        return out;
    }
    let generic = is_generic(statement);
    let mut result: Vec<char> = Vec::with_capacity(chars.len() + 16);
    let mut at = 0;
    let mut said: Vec<String> = Vec::new();
    for word in found {
        let text: String = chars[word.start..word.end].iter().collect();
        if said.contains(&text.to_lowercase()) {
            continue;
        }
        said.push(text.to_lowercase());
        let known = date.filter(|_| word.plain || !generic).and_then(|date| meaning(&word, date));
        let Some(known) = known else {
            out.open.push(text);
            continue;
        };
        result.extend(&chars[at..word.start]);
        let start = result.len();
        result.extend(&chars[word.start..word.after]);
        result.extend(bracketed(&word, &known).chars());
        out.replaced.push(start..result.len());
        at = word.after;
    }
    result.extend(&chars[at..]);
    out.statement = result.into_iter().collect();
    out
}

/// `statement` without what [`anchor`] writes beside its time words: what the gates can compare with the text.
pub(crate) fn without_anchors(statement: &str, date: Option<Date>) -> String {
    let Some(date) = date else { return statement.to_owned() };
    let mut rest = statement.to_owned();
    let chars: Vec<char> = statement.chars().collect();
    for word in all_words(&chars) {
        if let Some(known) = meaning(&word, date) {
            let text: String = chars[word.start..word.after].iter().collect();
            rest = rest.replace(&(text.clone() + &bracketed(&word, &known)), &text);
        }
    }
    rest
}

/// True when `text` holds a time word, so that what is made of it depends on the date of the document.
pub(crate) fn mentions_time(text: &str) -> bool {
    !words(&text.chars().collect::<Vec<_>>()).is_empty()
}

/// Anchors the statements that were written; verbatim text stays what it is and is only marked. The mark asks nobody to
/// review: it says that the source itself leaves the time open.
pub(crate) fn anchor_units(units: &mut [Unit], date: Option<Date>) {
    for unit in units.iter_mut().filter(|unit| unit.is_searchable()) {
        let anchored = anchor(&unit.statement, date);
        let mut open = anchored.open;
        if unit.kind == UnitKind::Proposition {
            if !anchored.replaced.is_empty() {
                unit.statement = anchored.statement;
                unit.entities = entities(&unit.statement);
            }
        } else {
            let chars: Vec<char> = anchored.statement.chars().collect();
            open.extend(anchored.replaced.into_iter().map(|range| chars[range].iter().collect()));
        }
        unit.reasons.extend(open.into_iter().map(|detail| Reason { gate: NOT_ANCHORED.to_owned(), detail }));
    }
}

/// What a time word means, counted from `date`; `None` where the date does not say so much.
fn meaning(word: &Word, date: Date) -> Option<String> {
    let name = |date: Date| if word.chinese { chinese(date) } else { english(date) };
    match word.step {
        Step::Years(n) => date.year_after(n).map(name),
        Step::Months(n) => date.month_after(n).map(name),
        Step::Days(n) => date.day_after(n).map(name),
        Step::Quarters(n) => {
            let count = date.year.checked_mul(4)?.checked_add(i32::from(date.quarter()?) - 1)?.checked_add(n)?;
            let (year, quarter) = (count.div_euclid(4), usize::try_from(count.rem_euclid(4)).ok()?);
            Date::new(year, None, None)?;
            Some(match word.chinese {
                true => format!("{year}年第{}季度", ["一", "二", "三", "四"][quarter]),
                false => format!("Q{} {year}", quarter + 1),
            })
        }
        Step::Unknown => None,
    }
}

fn bracketed(word: &Word, known: &str) -> String {
    if word.chinese { format!("（{known}）") } else { format!(" ({known})") }
}

fn chinese(date: Date) -> String {
    let part = |number: Option<u8>, unit: &str| number.map_or(String::new(), |number| format!("{number}{unit}"));
    format!("{}年{}{}", date.year, part(date.month, "月"), part(date.day, "日"))
}

fn english(date: Date) -> String {
    let name = |month: u8| {
        let mut name = (*MONTHS.get(usize::from(month).checked_sub(1)?)?).to_owned();
        name[..1].make_ascii_uppercase();
        Some(name)
    };
    let day = date.day.map_or(String::new(), |day| format!("{day} "));
    let month = date.month.and_then(name).map_or(String::new(), |m| format!("{m} "));
    format!("{day}{month}{}", date.year)
}

/// Words of rules and instructions, which speak of any year, not of one.
const GENERIC_ZH: &[&str] = &[
    "每", "各", "凡", "任何", "逐", "如果", "若", "的，", "显示", "顯示", "查看", "查询", "查詢", "点击", "點擊",
    "按下", "选择", "選擇", "界面", "画面", "畫面", "菜单", "选单", "按照", "计算", "計算", "公式",
];
const GENERIC_EN: &[&str] = &[
    "each",
    "every",
    "any",
    "if",
    "when",
    "whenever",
    "unless",
    "display",
    "displays",
    "show",
    "shows",
    "calculate",
    "calculated",
];
/// Words that open an instruction.
const INSTRUCTIONS_EN: &[&str] =
    &["press", "select", "tap", "click", "view", "see", "open", "enter", "choose", "check"];

/// True for a statement that holds at any time: it demands, allows or forbids, or says what a machine shows.
fn is_generic(statement: &str) -> bool {
    use crate::proposition::gates::Force;
    let chinese = is_chinese(statement);
    let folded = Folded::new(statement);
    if modals(&folded, chinese).iter().any(|m| matches!(m.force, Force::Forbid | Force::Demand | Force::Allow)) {
        return true;
    }
    if statement.chars().any(is_ideograph) {
        return GENERIC_ZH.iter().any(|word| statement.contains(word));
    }
    let lower = statement.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some_and(|first| INSTRUCTIONS_EN.contains(first)) || words.any(|word| GENERIC_EN.contains(&word))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::Span;

    fn anchored(statement: &str, date: &str) -> String {
        anchor(statement, date.parse().ok()).statement
    }

    #[test]
    fn the_date_stands_beside_the_word() {
        for (statement, date, expected) in [
            ("去年更换了主轴。", "2024", "去年（2023年）更换了主轴。"),
            ("截至今年6月，产量为 500 件。", "2024-07", "截至今年（2024年）6月，产量为 500 件。"),
            ("该厂将于明年投产。", "2024-03-15", "该厂将于明年（2025年）投产。"),
            ("本年度共停机 3 次。", "2024", "本年度（2024年）共停机 3 次。"),
            ("上一年度共停机 3 次。", "2024", "上一年度（2023年）共停机 3 次。"),
            ("上季度更换轴承三套。", "2024-02", "上季度（2023年第四季度）更换轴承三套。"),
            ("上个月更换轴承三套。", "2024-01", "上个月（2023年12月）更换轴承三套。"),
            ("昨日主轴过热。", "2024-03-01", "昨日（2024年2月29日）主轴过热。"),
            ("前年，设备大修。", "2024", "前年（2022年），设备大修。"),
            ("The spindle was replaced last year.", "2024", "The spindle was replaced last year (2023)."),
            ("Last quarter the press stopped twice.", "2024-04", "Last quarter (Q1 2024) the press stopped twice."),
            ("The plant moves next month.", "2023-12-05", "The plant moves next month (January 2024)."),
            ("The seal failed yesterday.", "2024-03-15", "The seal failed yesterday (14 March 2024)."),
            ("It came with last year’s overhaul.", "2024", "It came with last year’s (2023) overhaul."),
        ] {
            assert_eq!(anchored(statement, date), expected);
        }
    }

    #[test]
    fn what_the_date_does_not_say_stays_open() {
        for (statement, date) in [
            ("上季度更换轴承三套。", Some("2024")),
            ("昨日主轴过热。", Some("2024-03")),
            ("去年更换了主轴。", None),
            ("上周更换了主轴。", Some("2024-03-15")),
            ("The seal failed last week.", Some("2024-03-15")),
            ("Sales rose last fiscal year.", Some("2024-03-15")),
        ] {
            let anchored = anchor(statement, date.map(|date| date.parse().unwrap()));
            assert_eq!((anchored.statement.as_str(), anchored.open.len()), (statement, 1));
        }
    }

    #[test]
    fn rules_and_screens_count_from_the_day_of_use() {
        for statement in [
            "工资基数按照上年度月平均工资计算。",
            "用人单位应当于每年三月报送上年度的用工情况。",
            "屏幕显示本月产量。",
            "The employer shall report last month's output.",
            "The screen shows this month's output.",
        ] {
            let anchored = anchor(statement, "2024-03-15".parse().ok());
            assert_eq!((anchored.statement.as_str(), anchored.open.len()), (statement, 1));
        }
        assert_eq!(anchored("该泵必须于明年更换。", "2024"), "该泵必须于明年（2025年）更换。");
    }

    #[test]
    fn anchors_can_be_taken_off_again() {
        for statement in
            ["去年更换了主轴，今年复位。", "Last quarter the press stopped; it came with last year’s overhaul."]
        {
            let date = "2024-05-06".parse().ok();
            let with = anchor(statement, date).statement;
            assert!(with != statement);
            assert_eq!(without_anchors(&with, date), statement);
        }
        assert_eq!(without_anchors("去年（2020年）更换。", "2024".parse().ok()), "去年（2020年）更换。");
    }

    #[test]
    fn ranges_hold_the_word_with_its_date() {
        let anchored = anchor("油泵去年停机，今年恢复，去年停机一次。", "2024".parse().ok());
        assert_eq!(anchored.statement, "油泵去年（2023年）停机，今年（2024年）恢复，去年停机一次。");
        let chars: Vec<char> = anchored.statement.chars().collect();
        let held: Vec<String> = anchored.replaced.into_iter().map(|range| chars[range].iter().collect()).collect();
        assert_eq!(held, ["去年（2023年）", "今年（2024年）"]);
        assert!(anchored.open.is_empty());
    }

    #[test]
    fn statements_are_anchored_and_verbatim_text_is_only_marked() {
        let text = "去年更换了主轴。";
        let sentence = Unit::verbatim(UnitKind::Sentence, text, Span::new(0, 8));
        let statement = Unit { kind: UnitKind::Proposition, ..sentence.clone() };
        let mut units = [statement.clone(), sentence.clone()];
        anchor_units(&mut units, "2024".parse().ok());
        assert_eq!((units[0].statement.as_str(), units[0].reasons.len()), ("去年（2023年）更换了主轴。", 0));
        assert_eq!((units[1].statement.as_str(), units[1].reasons[0].detail.as_str()), (text, "去年（2023年）"));
        let mut units = [statement, sentence];
        anchor_units(&mut units, None);
        for unit in units {
            assert_eq!((unit.statement.as_str(), unit.status), (text, crate::proposition::Status::Accepted));
            assert_eq!((unit.reasons[0].gate.as_str(), unit.reasons[0].detail.as_str()), (NOT_ANCHORED, "去年"));
        }
    }
}

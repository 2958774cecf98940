//! What is made of a document: its sections, and what each is told of the rest of the document.
//!
//! The unit that is extracted again is the section, so everything that shapes a section's units is collected here and goes
//! into its hash: an edit elsewhere matters to a section only where it takes something from there.

use serde::{Deserialize, Serialize};

use super::options::IndexOptions;
use super::tier::{Effort, Tiers};
use crate::document::{Date, Document, Format, dates_in};
use crate::error::Result;
use crate::proposition::{
    Passage, Sentence, SentenceKind, UnitKind, full_names, mentions_time, names_for, open_table, opens_with_reference,
    readable_as_they_stand, sentences,
};
use crate::section::{FixedSplitter, Section, Splitter, Splitting};

/// Characters of the text in front that a section is told at most.
const BEFORE: usize = 600;

/// Chooses what is made of each document of a run.
#[derive(Debug, Clone)]
pub struct Planner {
    unit: UnitKind,
    splitting: Splitting,
    window: usize,
    mode: Effort,
    date: Option<Date>,
    tiers: Tiers,
    /// True when there is a model to ask.
    asks: bool,
}

/// What is made of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The date that its time words count from.
    pub date: Option<Date>,
    /// Its sections, which tile it, and what each is told.
    pub sections: Vec<(Section, Context)>,
}

/// How a section is treated, and what its extraction is told besides its title, headings and text. Kept with the section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// What is searched.
    pub unit: UnitKind,
    /// How much the model is asked.
    #[serde(default)]
    pub mode: Effort,
    /// The document's date, where the section holds a time word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Date>,
    /// Full names of the document that the section shortens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The text in front, where the section opens with a back reference.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// Header and rule line of the table that the section opens in the middle of.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub table: String,
}

impl Context {
    /// A section that is told nothing.
    pub fn new(unit: UnitKind, mode: Effort) -> Self {
        Self { unit, mode, date: None, names: Vec::new(), before: String::new(), table: String::new() }
    }

    /// As the store keeps it.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// `None` for what an older version left.
    pub(super) fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

impl Planner {
    /// Reads the settings of a run; `asks` says whether a language model is there.
    ///
    /// # Errors
    /// A tier is faulty; the error says which.
    pub fn new(options: &IndexOptions, asks: bool) -> Result<Self> {
        let tiers = Tiers::new(&options.tiers)?;
        let splitting = options.splitting.clone();
        Ok(Self {
            unit: options.unit,
            splitting,
            window: options.window,
            mode: options.mode,
            date: options.date,
            tiers,
            asks,
        })
    }

    /// True when some document may be searched by propositions: then a language model is of use.
    pub fn may_ask(&self) -> bool {
        self.unit == UnitKind::Proposition || self.tiers.rules().any(|tier| tier.unit == Some(UnitKind::Proposition))
    }

    /// Everything of the settings that may change a plan, as text.
    pub(super) fn digest(&self) -> String {
        let window = if self.unit == UnitKind::Fixed { self.window } else { 0 };
        let date = self.date.map_or(String::new(), |date| date.to_string());
        let tiers: Vec<_> = self.tiers.rules().collect();
        let tiers = serde_json::to_string(&tiers).unwrap_or_default();
        let split = self.splitting.digest();
        format!("{:?} {window} {:?} {date} {tiers}{split}", self.unit, self.mode)
    }

    /// What is made of `document`.
    ///
    /// # Errors
    /// The splitter's model fails.
    pub fn plan(&self, document: &Document) -> Result<Plan> {
        let tier = self.tiers.of(document);
        let unit = tier.and_then(|tier| tier.unit).unwrap_or(self.unit);
        let mode = tier.and_then(|tier| tier.mode).unwrap_or(self.mode);
        let sections = match unit {
            UnitKind::Fixed => FixedSplitter { size: self.window, overlap: 0 }.split(document),
            _ => self.splitting.split(document)?,
        };
        let date = self.date.or(document.date);
        let states = unit == UnitKind::Proposition;
        let plain = Context::new(unit, if states && self.asks { mode } else { Effort::Full });
        let mut contexts = vec![plain; sections.len()];
        if matches!(unit, UnitKind::Proposition | UnitKind::Sentence) {
            for (context, section) in contexts.iter_mut().zip(&sections) {
                let text = document.text.slice(section.span);
                if mentions_time(text) {
                    context.date = section_date(text, &section.heading_path, document.format, date);
                }
            }
        }
        // Rules make statements from names and antecedents too, without any model.
        if states {
            carry_tables(document, &sections, &mut contexts);
            tell(document, &sections, &mut contexts);
        }
        Ok(Plan { date, sections: sections.into_iter().zip(contexts).collect() })
    }
}

/// Tells a section that starts inside a table the table's header.
fn carry_tables(document: &Document, sections: &[Section], contexts: &mut [Context]) {
    let mut open = String::new();
    for (section, context) in sections.iter().zip(contexts) {
        let text = document.text.slice(section.span);
        let first = text.lines().next().unwrap_or_default();
        if first.contains('|') || first.trim_start().starts_with('<') {
            context.table.clone_from(&open);
        }
        open = open_table(text, &context.table).unwrap_or_default();
    }
}

/// The date that a section's time words count from. An entry of a log or a list of changes stands under its own date, which
/// counts before that of the document; a section with several such entries has none.
fn section_date(text: &str, heading_path: &[String], format: Format, document: Option<Date>) -> Option<Date> {
    let chars: Vec<char> = text.chars().collect();
    let mut own: Vec<Date> = Vec::new();
    for sentence in sentences(text, format).iter().filter(|s| s.kind == SentenceKind::Heading) {
        own.extend(dates_in(&chars[sentence.span.start..sentence.span.end].iter().collect::<String>()));
    }
    if own.is_empty() {
        own = heading_path
            .iter()
            .rev()
            .map(|heading| dates_in(heading))
            .find(|dates| !dates.is_empty())
            .unwrap_or_default();
    }
    own.dedup();
    match own[..] {
        [] => document,
        [date] => Some(date),
        _ => None,
    }
}

/// Fills in names and the text in front.
fn tell(document: &Document, sections: &[Section], contexts: &mut [Context]) {
    let names = full_names(&document.title, document.text.as_str());
    let mut before = String::new();
    for (section, context) in sections.iter().zip(contexts) {
        let text = document.text.slice(section.span);
        let parts = sentences(text, document.format);
        context.names = names_for(&names, &document.title, &section.heading_path, text);
        if opens_with_reference(text, &parts) {
            context.before.clone_from(&before);
        }
        if let Some(end) = ending(text, &parts) {
            before = end;
        }
    }
}

/// The last whole sentences of a section, at most [`BEFORE`] characters; `None` where it has no running text.
fn ending(text: &str, sentences: &[Sentence]) -> Option<String> {
    let is_text = |s: &&Sentence| !matches!(s.kind, SentenceKind::Heading | SentenceKind::Verbatim);
    let last = sentences.iter().rfind(is_text)?.span.end;
    let first = sentences.iter().filter(is_text).find(|s| last - s.span.start <= BEFORE)?.span.start;
    Some(text.chars().skip(first).take(last - first).collect())
}

/// A section ready for the extractor, with everything that its [`Passage`] borrows.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Title of the document.
    pub title: String,
    /// Headings above, outermost first.
    pub heading_path: Vec<String>,
    /// The section.
    pub text: String,
    /// How it is treated and what it is told.
    pub context: Context,
    sentences: Vec<Sentence>,
    kept: Vec<bool>,
}

impl Prepared {
    /// Cuts the section into sentences and, in cheap mode, chooses those that the model is asked about.
    pub fn new(title: String, heading_path: Vec<String>, text: String, format: Format, context: Context) -> Self {
        let sentences = match context.unit {
            UnitKind::Proposition | UnitKind::Sentence => sentences(&text, format),
            UnitKind::Section | UnitKind::Fixed => Vec::new(),
        };
        let kept = match (context.unit, context.mode) {
            (UnitKind::Proposition, Effort::Full) => Vec::new(),
            (UnitKind::Proposition, Effort::Cheap) => readable_as_they_stand(&text, &sentences),
            _ => vec![true; sentences.len()],
        };
        Self { title, heading_path, text, context, sentences, kept }
    }

    /// The passage that extractor and gates see.
    pub fn passage(&self) -> Passage<'_> {
        Passage {
            date: self.context.date,
            names: &self.context.names,
            before: &self.context.before,
            table: &self.context.table,
            kept: &self.kept,
            ..Passage::new(&self.title, &self.heading_path, &self.text, &self.sentences)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::ingest::Tier;

    fn plan(options: &IndexOptions, path: &str, text: &str) -> Plan {
        let document = Document::from_text(path, text.to_owned(), Format::Markdown);
        Planner::new(options, true).unwrap().plan(&document).unwrap()
    }

    fn options() -> IndexOptions {
        IndexOptions::new("", Vec::new())
    }

    const MANUAL: &str = "---\ndate: 2024-05\n---\n# 手册\n\n## 1 概述\n\nXH-500 液压冲床采用强制润滑。冷却器去年更换。\n\n\
        ## 2 目录\n\n## 3 维护\n\n该设备每月润滑一次。\n\n## 4 滤芯\n\n滤芯每季度更换一次。\n";

    #[test]
    fn a_section_is_told_only_what_it_takes_from_elsewhere() {
        let plan = plan(&options(), "a.md", MANUAL);
        assert_eq!(plan.date, "2024-05".parse().ok());
        let told = |heading: &str| {
            let (_, context) =
                plan.sections.iter().find(|(s, _)| s.heading_path.last().is_some_and(|h| h == heading)).unwrap();
            context.clone()
        };
        let plain = Context::new(UnitKind::Proposition, Effort::Full);
        assert_eq!(told("1 概述"), Context { date: plan.date, ..plain.clone() });
        let maintenance = told("3 维护");
        assert_eq!((maintenance.date, &maintenance.names[..]), (None, &["XH-500 液压冲床".to_owned()][..]));
        assert_eq!(maintenance.before, "XH-500 液压冲床采用强制润滑。冷却器去年更换。");
        assert_eq!(told("4 滤芯"), plain);
    }

    #[test]
    fn every_row_of_a_table_that_sections_cut_is_a_statement_under_its_header() {
        let rows: String = (0..200).map(|n| format!("| 报警{n} | 更换第 {n} 号滤芯 |\n")).collect();
        let text = format!("# 手册\n\n## 1 报警\n\n| 名称 | 处理 |\n|--|--|\n{rows}\n| 后 | 面 |\n");
        let plan = plan(&options(), "a.md", &text);
        assert!(plan.sections.len() > 2);
        let document = Document::from_text("a.md", text, Format::Markdown);
        let mut statements = Vec::new();
        for (section, context) in plan.sections {
            let text = document.text.slice(section.span).to_owned();
            let prepared = Prepared::new(String::new(), section.heading_path, text, document.format, context);
            let units = crate::proposition::assemble(&prepared.passage(), &[]).units;
            statements.extend(units.into_iter().filter(|u| u.kind == UnitKind::Proposition).map(|u| u.statement));
        }
        let expected: Vec<String> =
            (0..200).map(|n| format!("1 报警，名称：报警{n}；处理：更换第 {n} 号滤芯")).collect();
        assert_eq!(statements, expected);
    }

    #[test]
    fn an_entry_under_its_own_date_does_not_count_from_that_of_the_document() {
        let date = |text: &str| plan(&options(), "a.md", text).sections.last().unwrap().1.date.map(|d| d.to_string());
        let log = "---\ndate: 2024-05\n---\n# 记录\n\n## 2023.02.14\n\n今天更换了轴承。\n";
        assert_eq!(date(log).as_deref(), Some("2023-02-14"));
        assert_eq!(date(&log.replace("今天", "### 现象\n\n今天")).as_deref(), Some("2023-02-14"));
        assert_eq!(date(&log.replace("2023.02.14", "现象")).as_deref(), Some("2024-05"));
        let entries = Format::Markdown;
        let text = "## 2023.02.14\n\n今天停机。\n\n## 2023.02.15\n\n今天复位。\n";
        assert_eq!(section_date(text, &[], entries, "2024".parse().ok()), None);
    }

    #[test]
    fn the_date_of_the_run_comes_first() {
        let options = IndexOptions { date: "2020".parse().ok(), ..options() };
        assert_eq!(plan(&options, "a.md", MANUAL).date, options.date);
    }

    #[test]
    fn a_tier_chooses_unit_and_mode_and_leaves_the_rest_to_the_run() {
        let section = Tier { glob: Some("log/**".into()), unit: Some(UnitKind::Section), ..Tier::default() };
        let cheap = Tier { max_chars: Some(1000), mode: Some(Effort::Cheap), ..Tier::default() };
        let options = IndexOptions { tiers: vec![section, cheap], ..options() };
        let first = |path: &str| plan(&options, path, MANUAL).sections[0].1.clone();
        assert_eq!(first("log/a.md"), Context::new(UnitKind::Section, Effort::Full));
        assert_eq!(first("a.md").mode, Effort::Cheap);
    }

    #[test]
    fn the_text_in_front_is_whole_sentences_of_limited_length() {
        let text = "设备停机后应断电。".repeat(200);
        let end = ending(&text, &sentences(&text, Format::Markdown)).unwrap();
        assert!(end.chars().count() <= BEFORE && end.starts_with("设备停机") && end.ends_with("断电。"));
        assert_eq!(ending("# 标题\n", &sentences("# 标题\n", Format::Markdown)), None);
    }

    #[test]
    fn in_cheap_mode_sentences_that_can_be_read_alone_are_kept() {
        let context = Context::new(UnitKind::Proposition, Effort::Cheap);
        let text = "油温不得超过 95 ℃。其压力为 2 MPa。".to_owned();
        let prepared = Prepared::new(String::new(), Vec::new(), text, Format::Markdown, context);
        assert_eq!(prepared.passage().kept, [true, false]);
    }
}

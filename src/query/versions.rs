//! Versions of one document: an amended law, a new edition of a manual, a standard of another year.
//!
//! Their sections are nearly the same, so a question finds all of them, and the old ones crowd out what else there is. Where two
//! results stand for the same passage of two versions, the newest is shown and names the others. Only what is sure counts: titles
//! that are equal but for marks of a version, marks or equal file names that say that these are versions rather than two reports
//! of one kind, an order in time, and passages that share most of their words.

use std::collections::HashSet;

use super::searcher::Candidate;
use super::{DocumentRef, SectionRef, VersionRef};
use crate::document::Date;
use crate::error::Result;
use crate::store::View;

/// Share of the shorter passage's pairs of characters that the other must hold.
const SHARED: f64 = 0.7;

/// Words that make a bracket a mark of a version, lower case.
const MARKS: &[&str] = &[
    "修正",
    "修订",
    "修改",
    "版",
    "稿",
    "试行",
    "暂行",
    "废止",
    "version",
    "ver.",
    "rev",
    "edition",
    "draft",
    "amended",
    "consolidated",
    "superseded",
];
const OPENING: [char; 6] = ['(', '（', '[', '【', '〔', '「'];
const CLOSING: [char; 6] = [')', '）', ']', '】', '〕', '」'];

/// What a document calls itself, without what tells its versions apart.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    /// Lower case, without white space and marks.
    work: String,
    /// True where there was a mark.
    is_marked: bool,
}

/// What is known of a result's document.
#[derive(Debug, Clone)]
pub(super) struct Edition {
    title: Name,
    path: String,
    file: Name,
    /// When it was made, or the year that its title or path names.
    age: Option<Date>,
}

impl Edition {
    /// `date` is that of the document, if it is known.
    pub(super) fn new(title: &str, path: &str, date: Option<Date>) -> Self {
        let age = date.or_else(|| year(title)).or_else(|| year(path));
        Self { title: name(title), path: path.to_owned(), file: name(file_name(path)), age }
    }

    /// When it was made.
    pub(super) fn age(&self) -> Option<Date> {
        self.age
    }

    /// True when both are versions of one document and this is the newer one.
    pub(super) fn supersedes(&self, other: &Self) -> bool {
        if self.title.work.is_empty() || self.title.work != other.title.work || self.path == other.path {
            return false;
        }
        let marked = |a: &Name, b: &Name| a.is_marked || b.is_marked;
        let by_file = self.file.work == other.file.work && marked(&self.file, &other.file);
        let is_version =
            marked(&self.title, &other.title) || by_file || file_name(&self.path) == file_name(&other.path);
        is_version && self.age.zip(other.age).is_some_and(|(own, other)| own > other)
    }
}

/// The best `most` of `ranked`, where the newest version of a passage stands for all, in the place of the best of them.
pub(super) fn newest(view: &View<'_>, ranked: Vec<Candidate>, most: usize) -> Result<Vec<Candidate>> {
    let mut kept: Vec<(Candidate, Edition, String)> = Vec::new();
    for mut candidate in ranked {
        let section = view.section(candidate.section)?;
        let document = view.document(section.document)?;
        let edition = Edition::new(&document.title, &document.path, document.date);
        let is_version = |other: &(Candidate, Edition, String)| {
            (edition.supersedes(&other.1) || other.1.supersedes(&edition)) && same_passage(&section.text, &other.2)
        };
        let Some(at) = kept.iter().position(is_version) else {
            if kept.len() < most {
                kept.push((candidate, edition, section.text));
            }
            continue;
        };
        let other = &mut kept[at];
        if other.1.supersedes(&edition) {
            other.0.older.push(candidate.section);
        } else {
            candidate.score = other.0.score;
            candidate.older = std::mem::take(&mut other.0.older);
            candidate.older.push(other.0.section);
            *other = (candidate, edition, section.text);
        }
    }
    Ok(kept.into_iter().map(|(candidate, ..)| candidate).collect())
}

/// The passages of older versions, newest first.
pub(super) fn older_versions(view: &View<'_>, sections: &[i64]) -> Result<Vec<VersionRef>> {
    let mut found = Vec::with_capacity(sections.len());
    for row in sections {
        let section = view.section(*row)?;
        let document = view.document(section.document)?;
        let page = document.page_of(section.span.start)?;
        let age = Edition::new(&document.title, &document.path, document.date).age();
        found.push((
            age,
            VersionRef {
                document: DocumentRef { id: document.id, path: document.path, title: document.title },
                section: SectionRef {
                    id: section.id,
                    heading_path: section.heading_path,
                    char_range: section.span,
                    page,
                },
                date: age.map(|date| date.to_string()),
            },
        ));
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.document.path.cmp(&b.1.document.path)));
    Ok(found.into_iter().map(|(_, version)| version).collect())
}

/// True when two passages say nearly the same.
fn same_passage(a: &str, b: &str) -> bool {
    let (a, b) = (pairs(a), pairs(b));
    let shorter = a.len().min(b.len());
    shorter > 0 && a.intersection(&b).count() as f64 >= SHARED * shorter as f64 && a.len().max(b.len()) <= 4 * shorter
}

fn pairs(text: &str) -> HashSet<(char, char)> {
    let chars: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    chars.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The last year from 1900 to 2099 in `text`, as a date.
fn year(text: &str) -> Option<Date> {
    let digits = text.split(|c: char| !c.is_ascii_digit());
    let year =
        digits.filter(|run| run.len() == 4).filter_map(|run| run.parse().ok()).rfind(|y| (1900..2100).contains(y));
    year.and_then(|year| Date::new(year, None, None))
}

/// Takes brackets that hold a year or a mark, and marks at the end, off a title.
fn name(title: &str) -> Name {
    let lower = title.to_lowercase();
    let lower = ["md", "txt", "pdf", "docx", "doc", "html"]
        .iter()
        .find_map(|ending| lower.strip_suffix(ending)?.strip_suffix('.'))
        .unwrap_or(&lower);
    let mut is_marked = false;
    let mut kept = String::new();
    let mut rest = lower;
    while let Some(open) = rest.find(OPENING) {
        let Some(close) = rest[open..].find(CLOSING).map(|at| open + at) else { break };
        let after = rest[close..].chars().next().map_or(close, |c| close + c.len_utf8());
        let inside = &rest[open..close];
        let marks = MARKS.iter().any(|mark| inside.contains(mark));
        kept.push_str(&rest[..open]);
        if marks || year(inside).is_some() {
            is_marked |= marks;
        } else {
            kept.push_str(&rest[open..after]);
        }
        rest = &rest[after..];
    }
    kept.push_str(rest);
    while let Some(shorter) = without_tail(&kept) {
        kept.truncate(shorter);
        is_marked = true;
    }
    let work = kept.chars().filter(|c| c.is_alphanumeric()).collect();
    Name { work, is_marked }
}

/// Length of `title` before a mark at its end: `v2.1`, `rev. b`, `第3版`, `2019版`, `-2019` behind the number of a standard.
fn without_tail(title: &str) -> Option<usize> {
    let end = title.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    let text = &title[..end];
    if let Some(before) = text.strip_suffix('版') {
        let number = |c: char| c.is_ascii_digit() || "一二三四五六七八九十年第".contains(c);
        let cut = before.trim_end_matches(number).len();
        return (cut > 0 && cut < before.len()).then_some(cut);
    }
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let cut = text.trim_end_matches(number).len();
    let digits = &text[cut..];
    if digits.len() == 4 && year(digits).is_some() && text[..cut].ends_with(['-', '—', '–']) {
        let before = text[..cut].trim_end_matches(['-', '—', '–']);
        return before.ends_with(|c: char| c.is_ascii_digit()).then_some(before.len());
    }
    // `rev. b` as well as `rev 2`.
    let letter = digits.is_empty() && text.rsplit([' ', '.']).next().is_some_and(|last| last.chars().count() == 1);
    let head =
        if letter { &text[..text.len() - text.chars().next_back().map_or(0, char::len_utf8)] } else { &text[..cut] };
    let head = head.trim_end_matches([' ', '.', '-', '_']);
    let words: &[&str] = if letter { &["rev", "revision"] } else { &["version", "ver", "rev", "revision", "v"] };
    let mark = words.iter().find(|word| {
        head.strip_suffix(**word).is_some_and(|before| !before.is_empty() && !before.ends_with(char::is_alphanumeric))
    })?;
    (letter || !digits.is_empty()).then(|| head.len() - mark.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn edition(title: &str, path: &str, date: &str) -> Edition {
        Edition::new(title, path, date.parse().ok())
    }

    #[test]
    fn marks_of_a_version_do_not_count_in_the_name_of_a_work() {
        for (a, b) in [
            ("中华人民共和国公司法（2018修正）", "中华人民共和国公司法(2023年修订)"),
            ("中华人民共和国公司法（2018修正）", "中华人民共和国公司法"),
            ("XH-500 操作手册 V2.1", "XH-500 操作手册 v3"),
            ("Pump manual, Rev. B", "Pump manual Rev C"),
            ("GB/T 5226.1-2019", "GB/T 5226.1—2008"),
            ("安全规程 第3版", "安全规程 2021年版"),
            ("Safety rules (draft).md", "Safety rules.md"),
        ] {
            assert_eq!(name(a).work, name(b).work, "{a} / {b}");
            assert!(name(a).is_marked || name(b).is_marked, "{a}");
        }
        for (a, b) in [
            ("ACOPOS 5000 报警", "ACOPOS 6000 报警"),
            ("GB 5226.1-2019", "GB 5226.2-2019"),
            ("合同（买卖）", "合同（租赁）"),
            ("Model V", "Model X"),
            ("Part A", "Part B"),
            ("年报（2022）", "季报（2022）"),
        ] {
            assert_ne!(name(a).work, name(b).work, "{a} / {b}");
        }
    }

    #[test]
    fn the_newer_version_supersedes_the_older_one_and_reports_of_one_kind_do_not() {
        let old = edition("公司法（2018修正）", "a.md", "2018-10-26");
        let new = edition("公司法", "b.md", "2023-12-29");
        assert!(new.supersedes(&old) && !old.supersedes(&new));
        let undated = edition("公司法（修订草案）", "c.md", "");
        assert!(!new.supersedes(&undated) && !undated.supersedes(&new));
        let by_title = [edition("GB 5226.1-2019", "x.pdf", ""), edition("GB 5226.1-2008", "y.pdf", "")];
        assert!(by_title[0].supersedes(&by_title[1]));
        let same_file = [edition("公司法", "2023/公司法.md", "2023"), edition("公司法", "2018/公司法.md", "2018")];
        assert!(same_file[0].supersedes(&same_file[1]));
        let reports = [edition("月报", "月报_2023-06.md", "2023-06"), edition("月报", "月报_2023-05.md", "2023-05")];
        assert!(!reports[0].supersedes(&reports[1]));
    }

    #[test]
    fn passages_are_the_same_when_they_share_most_of_their_words() {
        let old = "第三条 公司是企业法人，有独立的法人财产，享有法人财产权。公司以其全部财产对公司的债务承担责任。";
        let new = "第三条　公司是企业法人，有独立的法人财产，享有法人财产权。公司以其全部财产对公司的债务承担责任。公司的合法权益受法律保护，不受侵犯。";
        assert!(same_passage(old, new));
        assert!(!same_passage(
            old,
            "第五十条 有限责任公司设立时，股东未按照公司章程规定实际缴纳出资的，承担连带责任。"
        ));
        assert!(!same_passage("", old) && !same_passage("。", "。"));
    }
}

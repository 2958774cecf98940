//! Running headers, footers, page numbers and watermarks.
//!
//! They say nothing that belongs to the text around them, and repeated on each page they would cut sentences in two. A line
//! in the upper or lower margin is left out when the same line, up to a number that counts the pages, lies at the same
//! place on at least [`FEWEST_PAGES`] pages, and so is slanted text anywhere. This is the one thing the reader leaves out
//! without naming it.

use std::collections::{HashMap, HashSet};

use super::columns::median;
use super::segments::Segment;

/// Pages that a line must come back on.
pub(super) const FEWEST_PAGES: usize = 3;
/// The part of the page's height that is margin, above and below.
const MARGIN: f64 = 0.16;
/// Lines in each margin that may be running ones.
const MOST_LINES: usize = 4;
/// Places that are nearer than this, in points, are the same.
const NEAR: f64 = 6.0;

/// The text of one page in one direction.
pub(super) struct Sheet<'s> {
    pub(super) page: usize,
    pub(super) height: f64,
    /// The direction of writing is neither along nor across the page.
    pub(super) is_slanted: bool,
    pub(super) segments: &'s mut Vec<Segment>,
}

/// What makes two lines the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Mark {
    /// The words; where `number` is given, with every number as `#`.
    words: String,
    /// Which number counts the pages, and by how much it is ahead of them.
    number: Option<(usize, i64)>,
    /// From the upper or the lower edge.
    is_upper: bool,
    place: i64,
}

/// Takes running lines out of all pages.
pub(super) fn remove(sheets: &mut [Sheet<'_>]) {
    let mut pages: HashMap<Mark, HashSet<usize>> = HashMap::new();
    for sheet in sheets.iter() {
        for (line, is_upper) in candidates(sheet) {
            for mark in marks(sheet, &line, is_upper) {
                // A place near the border between two cells counts in both.
                for place in [mark.place, mark.place + 1] {
                    pages.entry(Mark { place, ..mark.clone() }).or_default().insert(sheet.page);
                }
            }
        }
    }
    for sheet in sheets.iter_mut() {
        let mut gone: HashSet<usize> = HashSet::new();
        let mut is_open = [true, true];
        for (line, is_upper) in candidates(sheet) {
            let is_running = marks(sheet, &line, is_upper).iter().any(|mark| {
                [mark.place, mark.place + 1].into_iter().any(|place| {
                    pages.get(&Mark { place, ..mark.clone() }).is_some_and(|pages| pages.len() >= FEWEST_PAGES)
                })
            });
            if let Some(open) = is_open.get_mut(usize::from(is_upper)) {
                // Inside the first line that is none, the text begins.
                *open &= is_running || sheet.is_slanted;
                if *open && is_running {
                    gone.extend(line);
                }
            }
        }
        let mut at = 0;
        sheet.segments.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
    }
}

/// The lines in the margins, from the edge inwards: indices of segments, and whether it is the upper margin.
fn candidates(sheet: &Sheet<'_>) -> Vec<(Vec<usize>, bool)> {
    let mut order: Vec<usize> = (0..sheet.segments.len()).collect();
    let base = |&at: &usize| sheet.segments.get(at).map_or(0.0, |segment| segment.base);
    order.sort_by(|a, b| base(a).total_cmp(&base(b)));
    let mut lines: Vec<Vec<usize>> = Vec::new();
    for at in order {
        let near = lines.last().and_then(|line| line.first()).is_some_and(|first| base(&at) - base(first) < NEAR / 2.0);
        match lines.last_mut() {
            Some(line) if near => line.push(at),
            _ => lines.push(vec![at]),
        }
    }
    if sheet.is_slanted {
        return lines.into_iter().map(|line| (line, true)).collect();
    }
    let first = |line: &&Vec<usize>| line.first().map_or(0.0, base);
    let upper = lines.iter().take(MOST_LINES).filter(|line| first(line) < MARGIN * sheet.height);
    let lower = lines.iter().rev().take(MOST_LINES).filter(|line| first(line) > (1.0 - MARGIN) * sheet.height);
    upper.map(|line| (line.clone(), true)).chain(lower.map(|line| (line.clone(), false))).collect()
}

/// The marks of a line: its words as they are, and for each number the words with that number as the page's.
fn marks(sheet: &Sheet<'_>, line: &[usize], is_upper: bool) -> Vec<Mark> {
    let mut parts: Vec<&Segment> = line.iter().filter_map(|&at| sheet.segments.get(at)).collect();
    parts.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    let base = parts.first().map_or(0.0, |segment| segment.base);
    let size = parts.iter().map(|segment| segment.size).fold(0.0, f64::max);
    let from_edge = if is_upper { base } else { sheet.height - base };
    let place = (from_edge / NEAR).floor().clamp(-1e9, 1e9) as i64;
    let text: String = parts.iter().flat_map(|segment| segment.text.chars()).filter(|c| !c.is_whitespace()).collect();
    let (words, numbers) = split_numbers(&text);
    let mut out = vec![Mark { words: text, number: None, is_upper, place }];
    // A number in large type belongs to a heading: `Chapter 3` on the first page of the third chapter.
    if size <= 1.2 * median(sheet.segments.iter().map(|segment| segment.size)) {
        let page = i64::try_from(sheet.page).unwrap_or(i64::MAX);
        out.extend(numbers.into_iter().enumerate().map(|(n, value)| Mark {
            words: words.clone(),
            number: Some((n, value.saturating_sub(page))),
            is_upper,
            place,
        }));
    }
    out
}

/// `第12页` becomes `第#页` and 12. A line of Roman digits alone is a page number, too.
fn split_numbers(text: &str) -> (String, Vec<i64>) {
    if let Some(number) = roman(text) {
        return (String::from("#"), vec![number]);
    }
    let mut words = String::new();
    let mut numbers: Vec<i64> = Vec::new();
    for c in text.chars() {
        match (c.to_digit(10), numbers.last_mut()) {
            (Some(digit), Some(number)) if words.ends_with('#') => {
                *number = number.saturating_mul(10).saturating_add(i64::from(digit));
            }
            (Some(digit), _) => {
                words.push('#');
                numbers.push(i64::from(digit));
            }
            _ => words.push(c),
        }
    }
    numbers.truncate(8);
    (words, numbers)
}

fn roman(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > 8 {
        return None;
    }
    let mut total = 0;
    let mut before = 0;
    for c in text.chars().rev() {
        let value = match c.to_ascii_lowercase() {
            'i' => 1,
            'v' => 5,
            'x' => 10,
            'l' => 50,
            'c' => 100,
            _ => return None,
        };
        total += if value < before { -value } else { value };
        before = value.max(before);
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(text: &str, base: f64) -> Segment {
        let text = text.to_string();
        Segment { characters: text.chars().count(), text, x0: 50.0, x1: 100.0, base, size: 10.0, is_bold: false }
    }

    fn left_on(pages: Vec<Vec<Segment>>) -> Vec<Vec<String>> {
        let mut pages = pages;
        let mut sheets: Vec<Sheet<'_>> = pages
            .iter_mut()
            .enumerate()
            .map(|(page, segments)| Sheet { page, height: 800.0, is_slanted: false, segments })
            .collect();
        remove(&mut sheets);
        pages.into_iter().map(|page| page.into_iter().map(|segment| segment.text).collect()).collect()
    }

    #[test]
    fn what_comes_back_on_three_pages_at_one_place_goes() {
        let page = |n: u32| {
            let number = segment(&format!("第 {n} 页"), 780.0);
            vec![segment("XX 手册", 40.0), segment(&format!("正文 {n}"), 400.0), number]
        };
        assert_eq!(left_on((1..=3).map(page).collect()), [["正文 1"], ["正文 2"], ["正文 3"]]);
        assert_eq!(left_on((1..=2).map(page).collect())[0].len(), 3);
    }

    #[test]
    fn what_stands_elsewhere_or_says_something_else_stays() {
        let page = |n: usize| vec![segment(["E01", "E07", "E09"][n], 40.0), segment("注意", 300.0)];
        assert!(left_on((0..3).map(page).collect()).iter().all(|page| page.len() == 2));
    }
}

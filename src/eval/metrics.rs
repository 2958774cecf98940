//! How far a segmentation is from a reference: Pk, WindowDiff and F1 of boundaries.
//!
//! A segmentation is a mark for each unit, such as a sentence, that says whether a section ends with it ([`marks`]). Pk
//! (Beeferman, Berger and Lafferty 1999) and WindowDiff (Pevzner and Hearst 2002) are computed as NLTK does: a window of
//! `k` units is moved over both segmentations, and the places where they disagree are counted. Both are shares of wrong
//! windows: 0 is perfect.

use crate::section::Section;

/// Whether a section ends with each unit; `unit_ends` are code points. A unit across the end of a section ends none.
pub fn marks(sections: &[Section], unit_ends: &[usize]) -> Vec<bool> {
    let ends: Vec<usize> = sections.iter().map(|section| section.span.end).collect();
    unit_ends.iter().map(|end| ends.binary_search(end).is_ok()).collect()
}

/// NLTK's window: half the mean length of a section of the reference, halves rounded to even.
pub fn default_window(reference: &[bool]) -> usize {
    let sections = reference.iter().filter(|&&mark| mark).count().max(1);
    (reference.len() as f64 / (sections as f64 * 2.0)).round_ties_even() as usize
}

/// Share of windows in which one segmentation has a boundary and the other has none. `None` where the segmentations
/// differ in length or are shorter than the window.
pub fn pk(reference: &[bool], hypothesis: &[bool], window: usize) -> Option<f64> {
    mean_over_windows(reference, hypothesis, window, |a, b| f64::from(u8::from((a > 0) != (b > 0))))
}

/// Share of windows in which the segmentations have different numbers of boundaries. `None` as for [`pk`].
pub fn window_diff(reference: &[bool], hypothesis: &[bool], window: usize) -> Option<f64> {
    mean_over_windows(reference, hypothesis, window, |a, b| f64::from(u8::from(a != b)))
}

/// As [`window_diff`], with the differences added up instead of counted.
pub fn weighted_window_diff(reference: &[bool], hypothesis: &[bool], window: usize) -> Option<f64> {
    mean_over_windows(reference, hypothesis, window, |a, b| a.abs_diff(b) as f64)
}

fn mean_over_windows(
    reference: &[bool],
    hypothesis: &[bool],
    window: usize,
    error: impl Fn(usize, usize) -> f64,
) -> Option<f64> {
    if reference.len() != hypothesis.len() || window > reference.len() {
        return None;
    }
    let count = |marks: &[bool]| marks.iter().take(window).filter(|&&mark| mark).count();
    let (mut a, mut b) = (count(reference), count(hypothesis));
    let mut sum = error(a, b);
    let entering = reference.iter().zip(hypothesis).skip(window);
    for ((a_in, b_in), (a_out, b_out)) in entering.zip(reference.iter().zip(hypothesis)) {
        a = a + usize::from(*a_in) - usize::from(*a_out);
        b = b + usize::from(*b_in) - usize::from(*b_out);
        sum += error(a, b);
    }
    Some(sum / (reference.len() - window + 1) as f64)
}

/// How many boundaries were found, and how many of those found are right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryScores {
    /// Share of the boundaries found that the reference has; 1 if none was found.
    pub precision: f64,
    /// Share of the reference's boundaries that were found; 1 if it has none.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
}

/// Precision, recall and F1 of boundaries. A boundary is right if the reference has one at most `tolerance` units away
/// that no other boundary has claimed. The end of the text is no boundary: the last mark is not counted.
pub fn boundary_scores(reference: &[bool], hypothesis: &[bool], tolerance: usize) -> Option<BoundaryScores> {
    if reference.len() != hypothesis.len() {
        return None;
    }
    let inner = reference.len().saturating_sub(1);
    let places = |marks: &[bool]| -> Vec<usize> {
        marks.iter().take(inner).enumerate().filter(|(_, mark)| **mark).map(|(at, _)| at).collect()
    };
    let (wanted, found) = (places(reference), places(hypothesis));
    let mut right = 0;
    let mut open = wanted.iter().copied().peekable();
    // From left to right, each with the first that is near enough: no pairing finds more.
    for &at in &found {
        while open.next_if(|&place| place + tolerance < at).is_some() {}
        if open.next_if(|&place| place <= at.saturating_add(tolerance)).is_some() {
            right += 1;
        }
    }
    let share = |of: usize| if of == 0 { 1.0 } else { right as f64 / of as f64 };
    let (precision, recall) = (share(found.len()), share(wanted.len()));
    let sum = precision + recall;
    Some(BoundaryScores { precision, recall, f1: if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 } })
}

/// Mean length of the sections in code points; 0 without sections.
pub fn mean_size(sections: &[Section]) -> f64 {
    let total: usize = sections.iter().map(|section| section.span.len()).sum();
    if sections.is_empty() { 0.0 } else { total as f64 / sections.len() as f64 }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde::Deserialize;

    use super::*;
    use crate::document::Span;

    #[derive(Deserialize)]
    struct Case {
        reference: String,
        hypothesis: String,
        k: usize,
        auto_k: usize,
        pk: f64,
        auto: Option<f64>,
        window_diff: f64,
        weighted: f64,
    }

    fn bits(text: &str) -> Vec<bool> {
        text.chars().map(|c| c == '1').collect()
    }

    fn sections(ends: &[usize]) -> Vec<Section> {
        let starts = [0].into_iter().chain(ends.iter().copied());
        starts
            .zip(ends)
            .map(|(start, &end)| Section { span: Span::new(start, end), heading_path: Vec::new() })
            .collect()
    }

    #[test]
    fn pk_and_window_diff_are_those_of_nltk() {
        let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/data/split/metrics.json")).unwrap();
        assert!(cases.len() >= 24);
        let near = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-12;
        for case in cases {
            let (reference, hypothesis) = (bits(&case.reference), bits(&case.hypothesis));
            assert!(near(pk(&reference, &hypothesis, case.k), case.pk));
            assert!(near(window_diff(&reference, &hypothesis, case.k), case.window_diff));
            assert!(near(weighted_window_diff(&reference, &hypothesis, case.k), case.weighted));
            assert_eq!(default_window(&reference), case.auto_k);
            if let Some(auto) = case.auto {
                assert!(near(pk(&reference, &hypothesis, case.auto_k), auto));
            }
        }
    }

    #[test]
    fn segmentations_that_cannot_be_compared_have_no_score() {
        assert_eq!(pk(&bits("010"), &bits("01"), 1), None);
        assert_eq!(window_diff(&bits("010"), &bits("011"), 4), None);
        assert_eq!(boundary_scores(&bits("010"), &bits("01"), 0), None);
        assert_eq!(pk(&[], &[], 0), Some(0.0));
    }

    #[test]
    fn boundaries_match_one_to_one_within_the_tolerance() {
        let scores = |a, b, tolerance| boundary_scores(&bits(a), &bits(b), tolerance).unwrap();
        let exact = scores("0100100001", "0100010001", 0);
        assert_eq!((exact.precision, exact.recall, exact.f1), (0.5, 0.5, 0.5));
        assert_eq!(scores("0100100001", "0100010001", 1).f1, 1.0);
        let both = scores("0001000001", "0010100001", 1);
        assert_eq!((both.precision, both.recall), (0.5, 1.0));
        assert_eq!(scores("0000000001", "0000000000", 0).f1, 1.0);
        assert_eq!(scores("0100000001", "0000000001", 0).f1, 0.0);
    }

    #[test]
    fn marks_stand_where_sections_end() {
        let sections = sections(&[4, 9, 12]);
        assert_eq!(marks(&sections, &[2, 4, 8, 10, 12]), [false, true, false, false, true]);
        assert_eq!(mean_size(&sections), 4.0);
        assert_eq!(mean_size(&[]), 0.0);
    }
}

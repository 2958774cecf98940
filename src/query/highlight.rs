//! Highlights: sorted, disjoint ranges inside a text range.

use crate::document::Span;

/// Cuts `spans` to `within`, drops empty ones, sorts, and joins those that overlap or touch.
pub(super) fn merge(spans: impl IntoIterator<Item = Span>, within: Span) -> Vec<Span> {
    let mut cut: Vec<Span> = spans.into_iter().filter_map(|span| span.intersect(within)).collect();
    cut.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(cut.len());
    for span in cut {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn highlights_are_sorted_disjoint_and_inside_and_cover_what_they_were_made_from() {
        let mut state = 99u64;
        for _ in 0..500 {
            let spans: Vec<Span> = (0..8)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    let start = (state % 60) as usize;
                    Span::new(start, start + (state >> 32) as usize % 9)
                })
                .collect();
            let within = Span::new(10, 45);
            let merged = merge(spans.clone(), within);
            assert!(merged.windows(2).all(|pair| pair[0].end < pair[1].start));
            assert!(merged.iter().all(|span| within.contains(*span) && !span.is_empty()));
            for at in 0..70 {
                let in_source = (10..45).contains(&at) && spans.iter().any(|span| (span.start..span.end).contains(&at));
                let in_merged = merged.iter().any(|span| (span.start..span.end).contains(&at));
                assert_eq!(in_source, in_merged);
            }
        }
    }
}

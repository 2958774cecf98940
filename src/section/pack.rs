//! Cuts a long stretch of text into parts of a wanted length at the best places, by dynamic programming.
//!
//! Every allowed place has a cost (a paragraph is a better place than a sentence), every part a cost for being too short or
//! too long; the cheapest sequence of cuts wins. Linear in the length of the text, because a part reaches back a bounded
//! number of characters and places closer together than [`STEP`] compete for one slot.

use super::blocks::{self, Block, Cut, Piece};
use super::callout::callout;
use crate::document::Format;

/// Places closer together than this many characters are merged into the better one.
const STEP: usize = 24;

/// A place where a part may begin.
struct Place {
    /// Byte offset.
    byte: usize,
    /// Code points from the start.
    chars: usize,
    /// Cost of cutting here.
    cost: u64,
}

/// Byte offsets at which to cut `text` so that its parts have `min` to `max` characters where its sentences allow.
pub(super) fn cuts(text: &str, format: Format, min: usize, max: usize) -> Vec<usize> {
    let places = places(text, &blocks::pieces(text, format));
    let total = places.last().map_or(0, |last| last.chars);
    if total <= max {
        return Vec::new();
    }
    let mut best: Vec<(u64, u32)> = Vec::with_capacity(places.len());
    best.push((0, 0));
    let mut low = 0;
    for (j, place) in places.iter().enumerate().skip(1) {
        while place.chars - places[low].chars > 2 * max && low + 1 < j {
            low += 1;
        }
        let cheapest = (low..j)
            .map(|i| (best[i].0 + length_cost(place.chars - places[i].chars, min, max) + place.cost, i as u32))
            .min()
            .unwrap_or((u64::MAX / 2, j as u32 - 1));
        best.push(cheapest);
    }
    let mut cuts = Vec::new();
    let mut at = places.len() - 1;
    while at > 0 {
        at = best[at].1 as usize;
        if at > 0 {
            cuts.push(places[at].byte);
        }
    }
    cuts.reverse();
    cuts
}

/// Candidate places: the start, the starts of pieces, the end.
fn places(text: &str, pieces: &[Piece]) -> Vec<Place> {
    let mut places = vec![Place { byte: 0, chars: 0, cost: 0 }];
    let (mut byte, mut chars) = (0, 0);
    let mut advance = |to: usize| {
        if to > byte {
            chars += text[byte..to].chars().count();
            byte = to;
        }
        chars
    };
    for pair in pieces.windows(2) {
        let (before, piece) = (&pair[0], &pair[1]);
        let chars = advance(piece.line);
        let cost = cut_cost(piece.cut) + lead_cost(text, before);
        let place = Place { byte: piece.line, chars, cost };
        let crowded = places.last().is_some_and(|last| last.byte > 0 && chars - last.chars < STEP);
        if !crowded && piece.line > 0 {
            places.push(place);
        } else if let Some(last) = places.last_mut().filter(|last| crowded && cost < last.cost) {
            *last = place;
        }
    }
    let chars = advance(text.len());
    places.push(Place { byte: text.len(), chars, cost: 0 });
    places
}

fn cut_cost(cut: Cut) -> u64 {
    match cut {
        Cut::Entry => 0,
        Cut::Paragraph => 40,
        Cut::Item => 60,
        Cut::Nested => 110,
        Cut::Row => 130,
        Cut::Sentence => 180,
        Cut::Clause => 1500,
        Cut::Anywhere => 1600,
    }
}

/// What follows a heading, the mark of a warning or a line that announces it should stay with it.
fn lead_cost(text: &str, before: &Piece) -> u64 {
    let ends = &text[before.start..before.end];
    let is_callout = || callout(ends.trim_start_matches(['>', ' ']), ends.starts_with('>')).is_some();
    if before.block == Block::Heading || (before.block == Block::Verbatim && is_callout()) {
        10_000
    } else if ends.trim_end_matches('*').ends_with(['：', ':']) {
        250
    } else {
        0
    }
}

fn length_cost(length: usize, min: usize, max: usize) -> u64 {
    let (length, min, max) = (length as u64, min.max(1) as u64, max.max(1) as u64);
    if length < min {
        40 + 400 * (min - length) / min
    } else if length > max {
        1000 + 4000 * (length - max) / max
    } else {
        40 * length.abs_diff((min + max) / 2) / max
    }
}

//! From characters on a page to segments: stretches of a line without a wide gap.
//!
//! Characters are taken by place, not by the order in which the file draws them, which may be any. Each direction of
//! writing is laid out in a frame of its own, in which lines run to the right and follow each other downwards: that also
//! covers turned tables and the columns of vertical writing.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::content::Glyph;
use crate::document::notation::is_wide;

/// A character in its frame.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) text: Rc<str>,
    pub(super) x0: f64,
    pub(super) x1: f64,
    /// The baseline.
    pub(super) base: f64,
    pub(super) size: f64,
    pub(super) is_bold: bool,
    after_space: bool,
}

/// A stretch of one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segment {
    pub(super) text: String,
    pub(super) x0: f64,
    pub(super) x1: f64,
    pub(super) base: f64,
    /// The height of most of its characters.
    pub(super) size: f64,
    pub(super) is_bold: bool,
    /// Characters other than white space.
    pub(super) characters: usize,
}

impl Segment {
    pub(super) fn top(&self) -> f64 {
        self.base - self.size * 0.85
    }

    pub(super) fn bottom(&self) -> f64 {
        self.base + self.size * 0.2
    }
}

/// The characters of one direction of writing.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Degrees, clockwise; 0 for upright text.
    pub(super) angle: i32,
    pub(super) pieces: Vec<Piece>,
}

/// Sorts characters into frames: the direction with the most characters first.
pub(super) fn frames(glyphs: &[Glyph]) -> Vec<Frame> {
    let mut frames: BTreeMap<i32, Frame> = BTreeMap::new();
    let mut last = 0;
    for glyph in glyphs {
        let (dx, dy) = (glyph.end.0 - glyph.start.0, glyph.end.1 - glyph.start.1);
        // A character without width, such as a combining accent, goes with the one before it.
        if dx.hypot(dy) > 1e-6 {
            last = dy.atan2(dx).to_degrees().round() as i32;
        }
        let angle = if last == -180 { 180 } else { last };
        let (sin, cos) = f64::from(angle).to_radians().sin_cos();
        let along = |(x, y): (f64, f64)| x * cos + y * sin;
        let across = |(x, y): (f64, f64)| y * cos - x * sin;
        let (x0, x1) = (along(glyph.start), along(glyph.end));
        // A vertical character hangs in the middle of its line.
        let lift = if glyph.is_vertical { glyph.size * 0.35 } else { 0.0 };
        frames.entry(angle).or_default().pieces.push(Piece {
            text: Rc::clone(&glyph.text),
            x0: x0.min(x1),
            x1: x0.max(x1),
            base: across(glyph.start) + lift,
            size: glyph.size,
            is_bold: glyph.is_bold,
            after_space: glyph.after_space,
        });
    }
    let mut frames: Vec<Frame> = frames.into_iter().map(|(angle, frame)| Frame { angle, ..frame }).collect();
    frames.sort_by_key(|frame| std::cmp::Reverse(frame.pieces.len()));
    for frame in &mut frames {
        remove_doubles(&mut frame.pieces);
    }
    frames
}

/// Takes out characters that are drawn again at nearly the same place, as shadow or to look bold.
fn remove_doubles(pieces: &mut Vec<Piece>) {
    /// Of the height of a character.
    const NEAR: f64 = 0.15;
    let mut seen: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    let mut keep = vec![true; pieces.len()];
    for (n, piece) in pieces.iter().enumerate() {
        const CELL: f64 = 4.0;
        let cell = |at: f64| (at / CELL).clamp(-1e9, 1e9) as i64;
        let (x, y) = (cell(piece.x0), cell(piece.base));
        let near = piece.size * NEAR;
        let reach = (near / CELL).ceil().clamp(1.0, 4.0) as i64;
        let is_double = (-reach..=reach).any(|dx| {
            (-reach..=reach).any(|dy| {
                // Only the last few in a cell: a page that piles up thousands in one place must not take forever.
                seen.get(&(x + dx, y + dy)).is_some_and(|others| {
                    others.iter().rev().take(16).filter_map(|&at| pieces.get(at)).any(|other| {
                        other.text == piece.text
                            && (other.x0 - piece.x0).abs() < near
                            && (other.base - piece.base).abs() < near
                            && (other.size - piece.size).abs() < near
                    })
                })
            })
        });
        if is_double {
            if let Some(keep) = keep.get_mut(n) {
                *keep = false;
            }
        } else {
            seen.entry((x, y)).or_default().push(n);
        }
    }
    keep_whole_words(pieces, &mut keep);
    let mut kept = keep.iter();
    pieces.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Words that differ in one character may be printed over each other: a word goes only if all of it is there already.
fn keep_whole_words(pieces: &[Piece], keep: &mut [bool]) {
    let mut begin = 0;
    for end in 1..=pieces.len() {
        let goes_on = match (pieces.get(end - 1), pieces.get(end)) {
            (Some(left), Some(right)) => {
                !right.after_space
                    && (left.base - right.base).abs() < 0.1 * left.size
                    && (right.x0 - left.x1).abs() < 0.2 * left.size
            }
            _ => false,
        };
        if !goes_on {
            if let Some(word) = keep.get_mut(begin..end).filter(|word| word.contains(&true)) {
                word.fill(true);
            }
            begin = end;
        }
    }
}

/// Groups characters into segments, from the top down and from left to right.
pub(super) fn segments(mut pieces: Vec<Piece>) -> Vec<Segment> {
    raise_small(&mut pieces);
    let mut runs = runs(pieces);
    runs.sort_by(|a, b| a.base.total_cmp(&b.base));
    let mut out = Vec::new();
    let mut open: Vec<OpenLine> = Vec::new();
    for run in runs {
        /// Lines that are looked through for the one that a run belongs to.
        const MOST_OPEN: usize = 24;
        let is_done = |line: &OpenLine| run.base - line.base > 0.6 * line.size.max(run.size);
        let full = open.len().saturating_sub(MOST_OPEN);
        let mut at = 0;
        let (done, rest): (Vec<OpenLine>, Vec<OpenLine>) = open.into_iter().partition(|line| {
            at += 1;
            at <= full || is_done(line)
        });
        open = rest;
        done.into_iter().for_each(|line| line.close(&mut out));
        let fitting = open.iter_mut().filter(|line| line.takes(&run));
        match fitting.min_by(|a, b| (run.base - a.base).total_cmp(&(run.base - b.base))) {
            Some(line) => line.push(run),
            None => open.push(OpenLine::new(run)),
        }
    }
    open.into_iter().for_each(|line| line.close(&mut out));
    out
}

/// Characters that follow each other in the file as on the page.
struct Run {
    pieces: Vec<Piece>,
    x0: f64,
    x1: f64,
    base: f64,
    size: f64,
}

fn runs(pieces: Vec<Piece>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    for piece in pieces {
        let goes_on = out.last().is_some_and(|run| {
            let gap = piece.x0 - run.x1;
            (piece.base - run.base).abs() < 0.05 * run.size && gap > -0.3 * run.size && gap < run.size
        });
        match out.last_mut() {
            Some(run) if goes_on => {
                run.x1 = run.x1.max(piece.x1);
                run.size = run.size.max(piece.size);
                run.pieces.push(piece);
            }
            _ => out.push(Run { x0: piece.x0, x1: piece.x1, base: piece.base, size: piece.size, pieces: vec![piece] }),
        }
    }
    out
}

/// A line that runs may still be added to.
struct OpenLine {
    base: f64,
    size: f64,
    pieces: Vec<Piece>,
    /// Ends of the runs by their beginnings, in hundredths of a point.
    taken: BTreeMap<i64, f64>,
}

impl OpenLine {
    fn new(run: Run) -> Self {
        let mut line = Self { base: run.base, size: run.size, pieces: Vec::new(), taken: BTreeMap::new() };
        line.push(run);
        line
    }

    /// True when a run stands on this line, in a place that is free.
    fn takes(&self, run: &Run) -> bool {
        /// Baselines of one line differ by less than this part of the height of its characters.
        const SAME_LINE: f64 = 0.25;
        if run.base - self.base > SAME_LINE * self.size.min(run.size) {
            return false;
        }
        // An accent may be drawn over its letter.
        let is_accent = match run.pieces.as_slice() {
            [only] => !only.text.chars().any(char::is_alphanumeric),
            _ => false,
        };
        let reach = 0.3 * run.size;
        let before = self.taken.range(..=hundredths(run.x0)).next_back().is_some_and(|(_, &x1)| x1 > run.x0 + reach);
        let after =
            self.taken.range(hundredths(run.x0)..).next().is_some_and(|(&x0, _)| x0 < hundredths(run.x1 - reach));
        is_accent || !before && !after
    }

    fn push(&mut self, run: Run) {
        self.size = self.size.max(run.size);
        let end = self.taken.entry(hundredths(run.x0)).or_insert(run.x1);
        *end = end.max(run.x1);
        self.pieces.extend(run.pieces);
    }

    fn close(mut self, out: &mut Vec<Segment>) {
        self.pieces.sort_by(|a, b| a.x0.total_cmp(&b.x0));
        split_at_gaps(&self.pieces, out);
    }
}

fn hundredths(x: f64) -> i64 {
    (x * 100.0) as i64
}

/// Cuts a line where a gap is too wide for a space.
fn split_at_gaps(line: &[Piece], out: &mut Vec<Segment>) {
    /// In heights of a character.
    const WIDE: f64 = 1.0;
    /// The same where the weight changes, as between a label and its value.
    const WIDE_AT_CHANGE: f64 = 0.6;
    let mut begin = 0;
    let mut right = f64::MIN;
    for (n, piece) in line.iter().enumerate() {
        let changes = n > begin && line.get(n - 1).is_some_and(|before| before.is_bold != piece.is_bold);
        let wide = if changes { WIDE_AT_CHANGE } else { WIDE };
        if n > begin && piece.x0 - right > wide * piece.size {
            out.extend(segment(&line[begin..n]));
            begin = n;
            right = f64::MIN;
        }
        right = right.max(piece.x1);
    }
    out.extend(segment(&line[begin..]));
}

fn segment(pieces: &[Piece]) -> Option<Segment> {
    let (first, last) = (pieces.first()?, pieces.last()?);
    let mut text = String::new();
    let mut before: Option<&Piece> = None;
    let mut bold = 0;
    let mut sizes: Vec<(f64, f64)> = Vec::new();
    for piece in pieces {
        if before.is_some_and(|before| is_apart(before, piece)) && !text.ends_with(' ') {
            text.push(' ');
        }
        text.push_str(&piece.text);
        bold += usize::from(piece.is_bold);
        match sizes.iter_mut().find(|(size, _)| (size - piece.size).abs() < 0.1) {
            Some((_, count)) => *count += 1.0,
            None => sizes.push((piece.size, 1.0)),
        }
        sizes.truncate(16);
        before = Some(piece);
    }
    let size = sizes.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(first.size, |(size, _)| *size);
    // The baseline of the characters in that size: others may be raised.
    let base = pieces.iter().find(|piece| (piece.size - size).abs() < 0.1).map_or(first.base, |piece| piece.base);
    Some(Segment {
        characters: text.chars().filter(|c| !c.is_whitespace()).count(),
        text,
        x0: first.x0,
        x1: pieces.iter().map(|piece| piece.x1).fold(last.x1, f64::max),
        base,
        size,
        is_bold: bold * 2 > pieces.len(),
    })
}

/// True when white space belongs between two characters.
fn is_apart(left: &Piece, right: &Piece) -> bool {
    let gap = right.x0 - left.x1;
    let size = left.size.min(right.size);
    let is_wide = |piece: &Piece, at_end: bool| {
        let c = if at_end { piece.text.chars().next_back() } else { piece.text.chars().next() };
        c.is_some_and(is_wide)
    };
    let wide = usize::from(is_wide(left, true)) + usize::from(is_wide(right, false));
    if right.after_space {
        // Between Chinese characters a narrow space only adjusts their distance.
        return wide < 2 || gap > 0.2 * size;
    }
    // Chinese text is spread to fill its lines, so its gaps say less.
    gap > size * [0.17, 0.3, 0.5][wide.min(2)]
}

/// Lets superscripts and subscripts stand on the line that they belong to. Raised digits after a digit, a letter or a
/// unit become superscript characters: `10` with a small `3` must not read `103`.
fn raise_small(pieces: &mut [Piece]) {
    for n in 1..pieces.len() {
        let (before, after) = pieces.split_at_mut(n);
        let (Some(left), Some(piece)) = (before.last(), after.first_mut()) else { continue };
        let rise = left.base - piece.base;
        let is_near = (piece.x0 - left.x1).abs() < 0.35 * left.size;
        // In a run of small characters all stand on the line that the first was lowered to.
        let is_small = piece.size < 0.82 * left.size;
        if !is_near || !is_small || !(-0.35..0.62).contains(&(rise / left.size)) {
            continue;
        }
        let (base, size, small, line) = (left.base, left.size, piece.size, piece.base);
        let is_after_word = left.text.chars().next_back().is_some_and(char::is_alphanumeric);
        let mut x1 = left.x1;
        for piece in after.iter_mut() {
            if (piece.size - small).abs() > 0.05 * size
                || (piece.base - line).abs() > 0.05 * size
                || (piece.x0 - x1).abs() > 0.35 * size
            {
                break;
            }
            x1 = piece.x1;
            piece.base = base;
            if let Some(text) = superscript(&piece.text).filter(|_| rise > 0.2 * size && is_after_word) {
                piece.text = text;
            }
        }
    }
}

fn superscript(text: &str) -> Option<Rc<str>> {
    let mut out = String::new();
    for c in text.chars() {
        out.push(match c {
            '0' => '⁰',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4'..='9' => char::from_u32(0x2074 + (u32::from(c) - u32::from('4')))?,
            '+' => '⁺',
            '-' | '−' => '⁻',
            _ => return None,
        });
    }
    Some(Rc::from(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glyphs(text: &str, x: f64, y: f64, size: f64) -> Vec<Glyph> {
        let mut at = x;
        let mut after_space = false;
        let mut out = Vec::new();
        for c in text.chars() {
            let width = if is_wide(c) { size } else { size / 2.0 };
            if c != ' ' {
                out.push(Glyph {
                    text: Rc::from(c.to_string()),
                    start: (at, y),
                    end: (at + width, y),
                    size,
                    is_bold: false,
                    after_space,
                    is_vertical: false,
                });
            }
            after_space = c == ' ';
            at += width;
        }
        out
    }

    fn texts(glyphs: &[Glyph]) -> Vec<String> {
        frames(glyphs).into_iter().flat_map(|f| segments(f.pieces)).map(|s| s.text).collect()
    }

    #[test]
    fn characters_are_read_by_place_whatever_their_order() {
        let mut all = glyphs("second line", 10.0, 32.0, 10.0);
        all.extend(glyphs("设备应接地", 10.0, 20.0, 10.0));
        all.reverse();
        assert_eq!(texts(&all), ["设备应接地", "second line"]);
    }

    #[test]
    fn a_wide_gap_parts_a_line() {
        let mut all = glyphs("left", 10.0, 20.0, 10.0);
        all.extend(glyphs("right", 60.0, 20.5, 10.0));
        assert_eq!(texts(&all), ["left", "right"]);
    }

    #[test]
    fn a_shadow_is_read_once() {
        let mut all = glyphs("all 1100", 10.0, 20.0, 10.0);
        all.extend(glyphs("all 1100", 10.6, 20.6, 10.0));
        assert_eq!(texts(&all), ["all 1100"]);
    }

    #[test]
    fn a_raised_exponent_stays_one() {
        let mut all = glyphs("10", 10.0, 20.0, 10.0);
        all.extend(glyphs("-3", 20.2, 16.0, 6.0));
        all.extend(glyphs("m", 27.0, 20.0, 10.0));
        assert_eq!(texts(&all), ["10⁻³m"]);
    }

    #[test]
    fn turned_text_has_a_frame_of_its_own() {
        let mut all = glyphs("upright", 10.0, 20.0, 10.0);
        for (n, c) in "turned".chars().enumerate() {
            let y = 200.0 - 5.0 * n as f64;
            let (start, end) = ((50.0, y), (50.0, y - 5.0));
            let piece = glyphs("x", 0.0, 0.0, 10.0).remove(0);
            all.push(Glyph { text: Rc::from(c.to_string()), start, end, ..piece });
        }
        assert_eq!(texts(&all), ["upright", "turned"]);
    }
}

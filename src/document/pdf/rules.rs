//! The horizontal and vertical lines that a page draws: borders of tables.

use hayro_syntax::content::ops::TypedInstruction as Operator;

use super::matrix::Matrix;

/// Ruled lines of a page beyond which it is a drawing, not a table.
const MOST: usize = 6000;
/// A filled rectangle up to this thin is a line.
const THICKEST: f64 = 3.0;
/// Lines shorter than this are dashes, ticks or parts of letters.
const SHORTEST: f64 = 4.0;

/// A line along one of the axes, from its lesser to its greater end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    pub(super) is_horizontal: bool,
    /// Where it lies on the other axis.
    pub(super) at: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// The path under construction.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// Straight pieces.
    lines: Vec<[(f64, f64); 2]>,
    /// Corners of rectangles, `[left, top, right, bottom]`.
    boxes: Vec<[f64; 4]>,
    at: (f64, f64),
    start: (f64, f64),
    /// Paths painted so far.
    pub(super) painted: usize,
}

impl Path {
    /// Takes a path operator; painting moves what are lines into `rules`.
    pub(super) fn take(&mut self, operator: &Operator<'_, '_>, ctm: Matrix, rules: &mut Vec<Rule>) {
        match operator {
            Operator::MoveTo(p) => {
                self.at = ctm.apply(p.0.as_f64(), p.1.as_f64());
                self.start = self.at;
            }
            Operator::LineTo(p) => self.line_to(ctm.apply(p.0.as_f64(), p.1.as_f64())),
            Operator::CubicTo(p) => self.at = ctm.apply(p.4.as_f64(), p.5.as_f64()),
            Operator::CubicStartTo(p) => self.at = ctm.apply(p.2.as_f64(), p.3.as_f64()),
            Operator::CubicEndTo(p) => self.at = ctm.apply(p.2.as_f64(), p.3.as_f64()),
            Operator::ClosePath(_) => self.line_to(self.start),
            Operator::RectPath(r) => {
                let [x, y, width, height] = [r.0, r.1, r.2, r.3].map(|n| n.as_f64());
                if self.boxes.len() < MOST {
                    self.boxes.push(ctm.bounds([x, y, x + width, y + height]));
                }
            }
            Operator::StrokePath(_) => self.paint(rules, false, true),
            Operator::CloseAndStrokePath(_) => {
                self.line_to(self.start);
                self.paint(rules, false, true);
            }
            Operator::FillPathNonZero(_) | Operator::FillPathEvenOdd(_) | Operator::FillPathNonZeroCompatibility(_) => {
                self.paint(rules, true, false);
            }
            Operator::FillAndStrokeNonZero(_) | Operator::FillAndStrokeEvenOdd(_) => self.paint(rules, true, true),
            Operator::CloseFillAndStrokeNonZero(_) | Operator::CloseFillAndStrokeEvenOdd(_) => {
                self.line_to(self.start);
                self.paint(rules, true, true);
            }
            Operator::EndPath(_) => self.clear(),
            _ => {}
        }
    }

    fn line_to(&mut self, to: (f64, f64)) {
        if self.lines.len() < MOST {
            self.lines.push([self.at, to]);
        }
        self.at = to;
    }

    fn clear(&mut self) {
        self.lines.clear();
        self.boxes.clear();
    }

    fn paint(&mut self, rules: &mut Vec<Rule>, is_filled: bool, is_stroked: bool) {
        self.painted += 1;
        for &[left, top, right, bottom] in &self.boxes {
            let (width, height) = (right - left, bottom - top);
            if height <= THICKEST && width > height {
                push(rules, true, (top + bottom) / 2.0, left, right);
            } else if width <= THICKEST {
                push(rules, false, (left + right) / 2.0, top, bottom);
            } else if is_stroked {
                push(rules, true, top, left, right);
                push(rules, true, bottom, left, right);
                push(rules, false, left, top, bottom);
                push(rules, false, right, top, bottom);
            }
        }
        if is_stroked {
            for &[(x0, y0), (x1, y1)] in &self.lines {
                if (y0 - y1).abs() < 1.0 {
                    push(rules, true, (y0 + y1) / 2.0, x0.min(x1), x0.max(x1));
                } else if (x0 - x1).abs() < 1.0 {
                    push(rules, false, (x0 + x1) / 2.0, y0.min(y1), y0.max(y1));
                }
            }
        } else if is_filled && (3..=5).contains(&self.lines.len()) {
            // A thin bar drawn as a polygon.
            let points = self.lines.iter().flatten();
            let (mut low, mut high) = ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN));
            for &(x, y) in points {
                low = (low.0.min(x), low.1.min(y));
                high = (high.0.max(x), high.1.max(y));
            }
            let (width, height) = (high.0 - low.0, high.1 - low.1);
            if height <= THICKEST && width > height {
                push(rules, true, (low.1 + high.1) / 2.0, low.0, high.0);
            } else if width <= THICKEST {
                push(rules, false, (low.0 + high.0) / 2.0, low.1, high.1);
            }
        }
        self.clear();
    }
}

fn push(rules: &mut Vec<Rule>, is_horizontal: bool, at: f64, from: f64, to: f64) {
    if to - from >= SHORTEST && at.is_finite() && (to - from).is_finite() && rules.len() <= MOST {
        rules.push(Rule { is_horizontal, at, from, to });
    }
}

/// True when there are so many lines that they are a drawing.
pub(super) fn is_drawing(rules: &[Rule]) -> bool {
    rules.len() > MOST
}

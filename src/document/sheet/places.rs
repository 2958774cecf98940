//! The places of a number format, filled with digits.

use super::decimal::Decimal;

/// Puts digits into the places of a format.
pub(super) struct Digits {
    whole: String,
    fraction: String,
    groups: bool,
    pub(super) out: String,
    in_fraction: bool,
    placed: bool,
    /// Places before the point that are still to come.
    left: usize,
}

impl Digits {
    /// `left` is the number of places before the point; `groups` puts commas between thousands.
    pub(super) fn new(decimal: &Decimal, sign: &str, groups: bool, left: usize) -> Self {
        let (whole, fraction) = decimal.parts();
        Self { whole, fraction, groups, out: sign.to_string(), in_fraction: false, placed: false, left }
    }

    /// The next place: `0`, `#` or `?`.
    pub(super) fn digit(&mut self, mark: char) {
        if self.in_fraction {
            let digit = if self.fraction.is_empty() { None } else { Some(self.fraction.remove(0)) };
            match (digit, mark) {
                (Some(digit), _) => self.out.push(digit),
                (None, '0') => self.out.push('0'),
                (None, _) => {}
            }
            return;
        }
        if !self.placed {
            // The first place takes all digits that have no place of their own.
            self.placed = true;
            while self.whole.len() > self.left {
                let digit = self.whole.remove(0);
                self.put(digit, self.whole.len());
            }
        }
        self.left = self.left.saturating_sub(1);
        if self.whole.len() > self.left {
            let digit = self.whole.remove(0);
            self.put(digit, self.left);
        } else if mark == '0' {
            self.put('0', self.left);
        }
    }

    /// A digit with `after` more before the point.
    fn put(&mut self, digit: char, after: usize) {
        self.out.push(digit);
        if self.groups && after > 0 && after.is_multiple_of(3) {
            self.out.push(',');
        }
    }

    pub(super) fn point(&mut self) {
        self.in_fraction = true;
        self.out.push('.');
    }
}

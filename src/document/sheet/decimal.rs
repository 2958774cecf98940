//! Decimal digits of a number as spreadsheets see them: fifteen of them, rounded half away from zero.

/// `0.digits * 10^point`, without trailing zeros. Zero has no digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: Vec<u8>,
    point: i32,
}

/// Digits that a number has.
const DIGITS: usize = 15;

/// Places that a format may ask for.
const PLACES: i32 = 40;

impl Decimal {
    /// The digits of the absolute value of a finite `number`.
    pub(super) fn new(number: f64) -> Self {
        // Digits beyond the fifteenth are noise of the binary number.
        let text = format!("{:e}", number.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
        let point = exponent.parse::<i32>().unwrap_or(0) + 1;
        Self { digits, point }.kept(DIGITS)
    }

    fn trimmed(mut self) -> Self {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
        self
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The same times ten to the power of `by`.
    pub(super) fn shifted(mut self, by: i32) -> Self {
        if !self.is_zero() {
            self.point += by;
        }
        self
    }

    /// Power of ten of the first digit.
    pub(super) fn exponent(&self) -> i32 {
        if self.is_zero() { 0 } else { self.point - 1 }
    }

    /// Rounded to `places` after the point.
    pub(super) fn rounded(self, places: usize) -> Self {
        let keep = self.point + i32::try_from(places).unwrap_or(PLACES).min(PLACES);
        if keep < 0 {
            return Self { digits: Vec::new(), point: 0 };
        }
        self.kept(keep as usize)
    }

    /// Rounded to the first `keep` digits.
    fn kept(mut self, keep: usize) -> Self {
        let up = self.digits.get(keep).is_some_and(|&digit| digit >= 5);
        self.digits.truncate(keep);
        if up {
            let mut at = keep;
            loop {
                match at.checked_sub(1).and_then(|before| self.digits.get_mut(before)) {
                    Some(digit) if *digit == 9 => *digit = 0,
                    Some(digit) => {
                        *digit += 1;
                        break;
                    }
                    None => {
                        self.digits.insert(0, 1);
                        self.point += 1;
                        break;
                    }
                }
                at -= 1;
            }
        }
        self.trimmed()
    }

    /// The digits before and after the point; no leading or trailing zeros.
    pub(super) fn parts(&self) -> (String, String) {
        let digit = |at: i32| {
            let digit = usize::try_from(at).ok().and_then(|at| self.digits.get(at)).copied().unwrap_or(0);
            char::from(b'0' + digit)
        };
        let whole = (0..self.point.min(400)).map(digit).collect();
        let count = self.digits.len() as i32;
        let fraction = (self.point.max(-400)..count.max(self.point)).map(digit).collect();
        (whole, if self.point >= count { String::new() } else { fraction })
    }
}

/// A number without a format of its own: all its digits, in powers of ten only when very large or small.
pub(super) fn general(number: f64) -> String {
    if !number.is_finite() {
        return "#NUM!".to_string();
    }
    let decimal = Decimal::new(number);
    let sign = if number < 0.0 && !decimal.is_zero() { "-" } else { "" };
    let exponent = decimal.exponent();
    if (-9..=20).contains(&exponent) {
        let (whole, fraction) = decimal.parts();
        let whole = if whole.is_empty() { "0" } else { &whole };
        return if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") };
    }
    let (whole, fraction) = decimal.shifted(-exponent).parts();
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}E{exponent:+03}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_lose_the_noise() {
        for (number, text) in [
            (0.1 + 0.2, "0.3"),
            (-1234.5, "-1234.5"),
            (0.0, "0"),
            (-0.0, "0"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e21, "1E+21"),
            (1.5e-10, "1.5E-10"),
            (0.000_012, "0.000012"),
            (f64::NAN, "#NUM!"),
        ] {
            assert_eq!(general(number), text);
        }
        assert_eq!(Decimal::new(2.675).rounded(2).parts(), ("2".to_string(), "68".to_string()));
        assert_eq!(Decimal::new(9.996).rounded(2).parts(), ("10".to_string(), String::new()));
        assert_eq!(Decimal::new(0.004).rounded(2).parts(), (String::new(), String::new()));
        assert_eq!(Decimal::new(0.05).parts(), (String::new(), "05".to_string()));
    }
}

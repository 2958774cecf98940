//! The date of a document.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};

/// A calendar date of which month and day may be unknown. Written `2024`, `2024-03` or `2024-03-15`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Date {
    /// Year of the common era.
    pub year: i32,
    /// Month, 1 to 12.
    pub month: Option<u8>,
    /// Day of the month, 1 to 31.
    pub day: Option<u8>,
}

impl Date {
    /// A date of the Gregorian calendar; `None` for one that does not exist, such as 30 February or a day without a month.
    pub fn new(year: i32, month: Option<u8>, day: Option<u8>) -> Option<Self> {
        let exists = match (month, day) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some(month), None) => (1..=12).contains(&month),
            (Some(month), Some(day)) => (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day),
        };
        (exists && (1..=9999).contains(&year)).then_some(Self { year, month, day })
    }

    /// The year `years` later; months and days are left open.
    pub(crate) fn year_after(self, years: i32) -> Option<Self> {
        Self::new(self.year.checked_add(years)?, None, None)
    }

    /// The month `months` later; `None` where this month is not known.
    pub(crate) fn month_after(self, months: i32) -> Option<Self> {
        let count = self.year.checked_mul(12)?.checked_add(i32::from(self.month?) - 1)?.checked_add(months)?;
        Self::new(count.div_euclid(12), u8::try_from(count.rem_euclid(12) + 1).ok(), None)
    }

    /// The day `days` later, for a few days; `None` where this day is not known.
    pub(crate) fn day_after(self, days: i32) -> Option<Self> {
        let mut date = Self::new(self.year, Some(self.month?), Some(self.day?))?;
        for _ in 0..days.unsigned_abs() {
            date = if days > 0 { date.tomorrow()? } else { date.yesterday()? };
        }
        Some(date)
    }

    /// The quarter of the year, 1 to 4; `None` where the month is not known.
    pub(crate) fn quarter(self) -> Option<u8> {
        Some((self.month?.checked_sub(1)?) / 3 + 1)
    }

    fn tomorrow(self) -> Option<Self> {
        match Self::new(self.year, self.month, Some(self.day? + 1)) {
            Some(date) => Some(date),
            None => Some(Self { day: Some(1), ..self.month_after(1)? }),
        }
    }

    fn yesterday(self) -> Option<Self> {
        match self.day? {
            1 => {
                let before = self.month_after(-1)?;
                Some(Self { day: Some(days_in(before.year, before.month?)), ..before })
            }
            day => Some(Self { day: Some(day - 1), ..self }),
        }
    }
}

fn days_in(year: i32, month: u8) -> u8 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.year)?;
        if let Some(month) = self.month {
            write!(f, "-{month:02}")?;
            if let Some(day) = self.day {
                write!(f, "-{day:02}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Date {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self> {
        let digits = |part: &str, len: usize| {
            (part.len() == len && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<i32>().ok())?
        };
        let small = |part: &str| digits(part, 2).and_then(|n| u8::try_from(n).ok());
        let parts: Vec<&str> = text.split('-').collect();
        let date = match parts[..] {
            [year] => digits(year, 4).and_then(|year| Self::new(year, None, None)),
            [year, month] => digits(year, 4).zip(small(month)).and_then(|(y, m)| Self::new(y, Some(m), None)),
            [year, month, day] => {
                let day_of = |(y, m)| small(day).and_then(|d| Self::new(y, Some(m), Some(d)));
                digits(year, 4).zip(small(month)).and_then(day_of)
            }
            _ => None,
        };
        date.ok_or_else(|| {
            Error::new(Kind::Usage, "not a date").expected("YYYY, YYYY-MM or YYYY-MM-DD").found(format!("`{text}`"))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["2024", "2024-03", "2024-02-29", "0987-12-31"] {
            assert_eq!(text.parse::<Date>().unwrap().to_string(), text);
        }
        for text in
            ["", "24", "2024-3", "2024-13", "2023-02-29", "2024-00-01", "2024-03-15-1", "２０２４", "+024", "2024-"]
        {
            let error = text.parse::<Date>().unwrap_err().to_string();
            assert!(error.contains("YYYY-MM-DD"), "{error}");
        }
    }

    #[test]
    fn neighbours_cross_months_and_years() {
        let date = |text: &str| text.parse::<Date>().unwrap();
        assert_eq!(date("2024-03-01").day_after(-1), Some(date("2024-02-29")));
        assert_eq!(date("2023-12-31").day_after(2), Some(date("2024-01-02")));
        assert_eq!(date("2024-01").month_after(-1), Some(date("2023-12")));
        assert_eq!(date("2023-12-05").month_after(1), Some(date("2024-01")));
        assert_eq!((date("2024").month_after(1), date("2024-03").day_after(1)), (None, None));
        assert_eq!(date("2024-06-30").quarter(), Some(2));
        assert_eq!(date("9999").year_after(1), None);
    }
}

//! Serial days of spreadsheets as dates and times.

/// Places of a second that are ever shown.
pub(super) const PLACES: usize = 3;

const DAY: i64 = 86_400_000;

/// A serial number as a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    year: i64,
    month: i64,
    day: i64,
    /// 0 is Sunday.
    weekday: i64,
    pub(super) hour: i64,
    minute: i64,
    second: i64,
    millisecond: i64,
    /// Milliseconds since the first day.
    all: i64,
}

impl Moment {
    /// `None` for what has no date: below zero or after the year 9999. Rounded to `places` of a second.
    pub(super) fn new(serial: f64, since_1904: bool, places: usize) -> Option<Self> {
        if !(0.0..2_958_466.0).contains(&serial) {
            return None;
        }
        let unit = 10i64.pow(PLACES.saturating_sub(places) as u32);
        let all = ((serial * DAY as f64 / unit as f64).round() as i64) * unit;
        let (days, time) = (all.div_euclid(DAY), all.rem_euclid(DAY));
        // Day 60 of the calendar since 1900 is a 29 February that never was.
        let (year, month, day) = match (since_1904, days) {
            (true, _) => civil(days - 24_107),
            (false, 60) => (1900, 2, 29),
            (false, 0) => (1900, 1, 0),
            (false, 1..=59) => civil(days - 25_568),
            (false, _) => civil(days - 25_569),
        };
        let weekday = if since_1904 { (days + 5).rem_euclid(7) } else { (days + 6).rem_euclid(7) };
        Some(Self {
            year,
            month,
            day,
            weekday,
            hour: time / 3_600_000,
            minute: time / 60_000 % 60,
            second: time / 1000 % 60,
            millisecond: time % 1000,
            all,
        })
    }

    /// What a run of `count` letters shows. `i` are minutes.
    pub(super) fn part(&self, letter: char, count: usize, is_half_day: bool) -> String {
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
        const CHINESE: [&str; 7] = ["日", "一", "二", "三", "四", "五", "六"];
        let name =
            |names: &[&str], at: i64| usize::try_from(at).ok().and_then(|at| names.get(at)).unwrap_or(&"").to_string();
        let hour = if is_half_day { (self.hour + 11) % 12 + 1 } else { self.hour };
        let padded = |number: i64| if count > 1 { format!("{number:02}") } else { number.to_string() };
        match (letter, count) {
            ('y', 1 | 2) => format!("{:02}", self.year % 100),
            ('y' | 'e', _) => format!("{:04}", self.year),
            ('m', 1 | 2) => padded(self.month),
            ('m', 3) => name(&MONTHS, self.month - 1).chars().take(3).collect(),
            ('m', 5) => name(&MONTHS, self.month - 1).chars().take(1).collect(),
            ('m', _) => name(&MONTHS, self.month - 1),
            ('d', 1 | 2) => padded(self.day),
            ('d', 3) => name(&DAYS, self.weekday).chars().take(3).collect(),
            ('d', _) => name(&DAYS, self.weekday),
            ('a', 3) => name(&CHINESE, self.weekday),
            ('a', _) => format!("星期{}", name(&CHINESE, self.weekday)),
            ('h', _) => padded(hour),
            ('i', _) => padded(self.minute),
            _ => padded(self.second),
        }
    }

    /// Hours, minutes or seconds in all.
    pub(super) fn elapsed(&self, letter: char, count: usize) -> String {
        let unit = match letter {
            'h' => 3_600_000,
            'm' => 60_000,
            _ => 1000,
        };
        format!("{:0count$}", self.all / unit, count = count.min(20))
    }

    /// The point and `places` of the second.
    pub(super) fn fraction(&self, places: usize) -> String {
        let digits = format!("{:03}", self.millisecond);
        format!(".{}", digits.get(..places).unwrap_or(&digits))
    }
}

/// The civil date of a count of days since 1970-01-01 (proleptic Gregorian calendar, eras of 400 years).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

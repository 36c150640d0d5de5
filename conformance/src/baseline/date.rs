//! Dates: the last day on which an entry of a list holds.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;

/// A day of the Gregorian calendar: year, month, day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "toml::value::Datetime")]
pub struct Date(u64, u64, u64);

impl TryFrom<toml::value::Datetime> for Date {
    type Error = String;

    fn try_from(read: toml::value::Datetime) -> Result<Self, Self::Error> {
        match (read.date, read.time) {
            (Some(date), None) => Ok(Self(date.year.into(), date.month.into(), date.day.into())),
            _ => Err(format!("`{read}` is no date such as 2030-01-31")),
        }
    }
}

impl Date {
    /// This day, in UTC.
    pub fn today() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self::after_epoch(since.map_or(0, |since| since.as_secs() / (24 * 60 * 60)))
    }

    /// The day so many days after 1970-01-01.
    fn after_epoch(mut days: u64) -> Self {
        let leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        // Every 400 years have as many days.
        let mut year = 1970 + days / 146_097 * 400;
        days %= 146_097;
        while days >= 365 + u64::from(leap(year)) {
            days -= 365 + u64::from(leap(year));
            year += 1;
        }
        let february = 28 + u64::from(leap(year));
        let mut month = 1;
        for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
            if days < length {
                break;
            }
            days -= length;
            month += 1;
        }
        Self(year, month, days + 1)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:04}-{:02}-{:02}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_through_leap_years() {
        for (days, date) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_818, "2026-12-31"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
            (146_097, "2370-01-01"),
        ] {
            assert_eq!(Date::after_epoch(days).to_string(), date, "{days}");
        }
    }
}

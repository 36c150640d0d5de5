//! Days and times of the civil calendar.

/// A moment of the civil calendar, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
}

impl Moment {
    /// The moment so many seconds after the beginning of 1970. Days are counted in eras of 400
    /// years that begin in March.
    pub(super) fn at(seconds: i64) -> Self {
        let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let day = day + 719_468;
        let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Self {
            year: year + era * 400 + i64::from(month <= 2),
            month,
            day,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
        }
    }
}

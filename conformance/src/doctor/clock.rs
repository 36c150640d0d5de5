//! The time in a Date header.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The time of a Date header in the form that servers send, `Sun, 06 Nov 1994 08:49:37 GMT`;
/// none for anything else, and for times before 1970 and after 9999.
pub(super) fn read(text: &str) -> Option<SystemTime> {
    let words: Vec<&str> = text.split(' ').collect();
    let [_, day, month, year, time, "GMT"] = words.as_slice() else {
        return None;
    };
    let month = MONTHS.iter().position(|known| known == month)?;
    let (day, year): (u64, u64) = (day.parse().ok()?, year.parse().ok()?);
    let time: Vec<u64> = time
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let [hour, minute, second] = time.as_slice() else {
        return None;
    };
    let sound = (1970..=9999).contains(&year)
        && (1..=31).contains(&day)
        && *hour < 24
        && *minute < 60
        && *second <= 60;
    if !sound {
        return None;
    }
    let days = days_before(year, u64::try_from(month).ok()?) + day - 1;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Days from 1970 to the first of a month; January is 0. Years are counted from March, so
/// that a leap day ends its year.
fn days_before(year: u64, month: u64) -> u64 {
    let (year, month) = match month {
        0 | 1 => (year - 1, month + 10),
        _ => (year, month - 2),
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    // From the first of March of the year 0 to the first of January 1970 it is 719,468 days.
    365 * year + leap_days + (153 * month + 2) / 5 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_strictly() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Tue, 29 Feb 2000 23:59:59 GMT", Some(951_868_799)),
            ("Wed, 01 Mar 2000 00:00:00 GMT", Some(951_868_800)),
            ("Sun, 22 Nov 2026 12:20:25 GMT", Some(1_795_350_025)),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("Sun, 06 Nov 1900 08:49:37 GMT", None),
            ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", None),
            ("yesterday", None),
            ("", None),
        ] {
            let time = seconds.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(read(text), time, "{text}");
        }
    }
}

//! Times in time zones.

use chrono::{Datelike, NaiveDate, NaiveDateTime, Offset, TimeDelta, TimeZone, Utc};
use chrono_tz::{OffsetName, Tz};

use crate::Value;
use crate::builtins::Failure;
use crate::builtins::expected::CallResult;
use crate::builtins::operand::{answer, any, mistyped, not_utf8, refuse};

/// Time in nanoseconds since 1970, with a time zone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) nanoseconds: i64,
    pub(super) zone: Tz,
}

impl Moment {
    /// Returns the local time.
    pub(super) fn local(&self) -> NaiveDateTime {
        let utc = Utc.timestamp_nanos(self.nanoseconds).naive_utc();
        let (offset, _) = self.offset();
        let local =
            TimeDelta::try_seconds(offset.into()).and_then(|offset| utc.checked_add_signed(offset));
        local.unwrap_or(utc)
    }

    /// Returns the UTC offset in seconds, and the abbreviation of the zone at that time.
    pub(super) fn offset(&self) -> (i32, String) {
        let utc = Utc.timestamp_nanos(self.nanoseconds).naive_utc();
        let offset = self.zone.offset_from_utc_datetime(&known(utc).0);
        let name = offset.abbreviation().unwrap_or_default().to_owned();
        (offset.fix().local_minus_utc(), name)
    }

    /// Adds to the calendar date. Days that do not exist overflow into the next month.
    pub(super) fn plus(&self, years: i64, months: i64, days: i64) -> Option<i64> {
        use chrono::Timelike;
        let local = self.local();
        let months = i64::from(local.month0()).checked_add(months)?;
        let year = i64::from(local.year())
            .checked_add(years)?
            .checked_add(months.div_euclid(12))?;
        let month = u32::try_from(months.rem_euclid(12) + 1).ok()?;
        let first = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, 1)?;
        let days = i64::from(local.day0()).checked_add(days)?;
        let date = first.checked_add_signed(TimeDelta::try_days(days)?)?;
        let later = date.and_time(local.time());
        at(self.zone, later)?.checked_add(i64::from(local.nanosecond() / 1_000_000_000))
    }
}

/// Converts a local time to nanoseconds since 1970. If the local time occurs twice, the first is
/// used; if it is skipped, the offset before the change.
pub(super) fn at(zone: Tz, local: NaiveDateTime) -> Option<i64> {
    let (local, weeks) = known(local);
    let found = zone.from_local_datetime(&local);
    let instant = match found.earliest() {
        Some(instant) => instant.naive_utc(),
        None => {
            let before = local.checked_sub_signed(TimeDelta::try_hours(24)?)?;
            let offset = zone.from_local_datetime(&before).earliest()?;
            local.checked_sub_offset(offset.offset().fix())?
        }
    };
    let instant = instant.checked_add_signed(weeks)?;
    Utc.from_utc_datetime(&instant).timestamp_nanos_opt()
}

/// First year without daylight saving changes in the time zone table.
const FIRST_UNKNOWN: i32 = 2100;

/// Years of the time zone table that represent later years. No zone has special rules for any of
/// these years, and January 1 and March 1 fall on each weekday in one of them.
const STANDING: std::ops::RangeInclusive<i32> = 2090..=2098;

/// Maps a time to a year in the time zone table, with the weeks between both times. Daylight saving
/// rules refer to weekdays of months, none in January or February, so years in which March begins
/// on the same weekday have the same changes.
fn known(time: NaiveDateTime) -> (NaiveDateTime, TimeDelta) {
    if time.year() < FIRST_UNKNOWN {
        return (time, TimeDelta::zero());
    }
    let month = if time.month() < 3 { 1 } else { 3 };
    let first = |year: i32| NaiveDate::from_ymd_opt(year, month, 1);
    let weeks_to = |year: i32| {
        let (known_start, start) = (first(year)?, first(time.year())?);
        (known_start.weekday() == start.weekday()).then(|| start.signed_duration_since(known_start))
    };
    let Some(weeks) = STANDING.into_iter().find_map(weeks_to) else {
        return (time, TimeDelta::zero());
    };
    match time.checked_sub_signed(weeks) {
        Some(known) => (known, weeks),
        None => (time, TimeDelta::zero()),
    }
}

/// Failure of an unknown zone name. To clients, names are file paths.
fn unknown(name: &str) -> Failure {
    Failure::Value(if name.contains("..") || name.starts_with(['/', '\\']) {
        "time: invalid location name".to_owned()
    } else if name.contains('\0') {
        "invalid argument".to_owned()
    } else {
        format!("unknown time zone {name}")
    })
}

/// Parses an operand: nanoseconds alone, or with a zone and a layout.
pub(super) fn moment(operands: &[Value], position: usize) -> Result<(Moment, &str), Failure> {
    let operand = any(operands, position);
    let invalid = || {
        // Messages name operand 1 for any operand.
        mistyped(
            1,
            "either number (ns) or [number (ns), string (tz)]",
            operand,
        )
    };
    let string = |value: &'_ Value| -> Result<(), Failure> {
        match value {
            Value::String(_) => Ok(()),
            Value::Bytes(_) => Err(not_utf8(1)),
            other => Err(mistyped(1, "string", other)),
        }
    };
    let (number, zone, layout) = match operand {
        Value::Array(items) => {
            let Some(number) = items.first() else {
                return Err(invalid());
            };
            if !matches!(number, Value::Number(_)) {
                return Err(mistyped(1, "number", number));
            }
            if let Some(Value::Bytes(zone)) = items.get(1) {
                return Err(unknown(&zone.to_lossy()));
            }
            for item in items.iter().skip(1).take(2) {
                string(item)?;
            }
            let text = |at: usize| items.get(at).and_then(Value::as_str).unwrap_or_default();
            (number, text(1), text(2))
        }
        number @ Value::Number(_) => (number, "", ""),
        _ => return Err(invalid()),
    };
    let zone = match zone {
        "" | "UTC" | "Local" => Tz::UTC,
        name => match name.parse() {
            Ok(zone) => zone,
            Err(_) => return Err(unknown(name)),
        },
    };
    let Value::Number(number) = number else {
        return Err(invalid());
    };
    let nanoseconds = number
        .to_integer()?
        .and_then(|integer| i64::try_from(integer).ok());
    match nanoseconds {
        Some(nanoseconds) => Ok((Moment { nanoseconds, zone }, layout)),
        None => refuse("timestamp too big"),
    }
}

/// Converts a parsed time to a result. Not every time is in the range of nanoseconds.
pub(super) fn nanoseconds(read: Result<Option<i64>, String>) -> CallResult {
    match read {
        Ok(Some(nanoseconds)) => answer(nanoseconds),
        Ok(None) => refuse("time outside of valid range"),
        Err(message) => refuse(message),
    }
}

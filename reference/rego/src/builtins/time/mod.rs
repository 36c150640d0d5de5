//! `time.*`, except `time.now_ns`.

mod duration;
mod layout;
mod moment;
mod parse;

use chrono::{Datelike, Timelike};

use super::expected::{CallResult, integer};
use super::operand::{answer, refuse, text};
use super::{Call, Cost, Group};
use crate::Value;
use moment::{Moment, moment, nanoseconds};

pub(super) const BUILTINS: Group = &[
    ("time.add_date", Cost::Linear, add_date),
    ("time.clock", Cost::Linear, clock),
    ("time.date", Cost::Linear, date),
    ("time.diff", Cost::Linear, diff),
    ("time.format", Cost::Library, format),
    ("time.parse_duration_ns", Cost::Linear, parse_duration),
    ("time.parse_ns", Cost::Library, parse_time),
    ("time.parse_rfc3339_ns", Cost::Linear, parse_rfc3339),
    ("time.weekday", Cost::Linear, weekday),
];

/// Quotes a string and escapes all bytes except visible ASCII.
fn quoted(text: impl AsRef<[u8]>) -> String {
    let mut out = String::from("\"");
    for byte in text.as_ref() {
        match *byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'\x7f' => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

fn numbers<const N: usize>(numbers: [i64; N]) -> CallResult {
    answer(numbers.into_iter().map(Value::from).collect::<Vec<_>>())
}

fn date(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (time, _) = moment(operands, 1)?;
    let date = time.local().date();
    numbers([date.year().into(), date.month().into(), date.day().into()])
}

fn clock(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (time, _) = moment(operands, 1)?;
    let time = time.local().time();
    numbers([
        time.hour().into(),
        time.minute().into(),
        time.second().into(),
    ])
}

fn weekday(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (time, _) = moment(operands, 1)?;
    answer(layout::weekday(time.local().weekday()))
}

fn format(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (time, layout) = moment(operands, 1)?;
    let layout = match layout {
        "" => layout::RFC3339_NANO,
        other => layout::named(other),
    };
    answer(layout::formatted(&time, layout))
}

fn add_date(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (time, _) = moment(operands, 1)?;
    let (years, months) = (integer(operands, 2)?, integer(operands, 3)?);
    let days = integer(operands, 4)?;
    match time.plus(years, months, days) {
        Some(later) => answer(later),
        None => refuse("time outside of valid range"),
    }
}

/// Returns the years, months, days, hours, minutes and seconds between two times.
fn diff(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (first, _) = moment(operands, 1)?;
    let (second, _) = moment(operands, 2)?;
    let second = Moment {
        zone: first.zone,
        ..second
    };
    let (early, late) = if first.nanoseconds > second.nanoseconds {
        (second.local(), first.local())
    } else {
        (first.local(), second.local())
    };
    let parts = |time: &chrono::NaiveDateTime| -> [i64; 6] {
        [
            time.year().into(),
            time.month().into(),
            time.day().into(),
            time.hour().into(),
            time.minute().into(),
            time.second().into(),
        ]
    };
    let ([y1, mo1, d1, h1, mi1, s1], [y2, mo2, d2, h2, mi2, s2]) = (parts(&early), parts(&late));
    let (mut year, mut month, mut day) = (y2 - y1, mo2 - mo1, d2 - d1);
    let (mut hour, mut minute, mut second) = (h2 - h1, mi2 - mi1, s2 - s1);
    let borrow = |lower: &mut i64, higher: &mut i64, size: i64| {
        if *lower < 0 {
            *lower += size;
            *higher -= 1;
        }
    };
    borrow(&mut second, &mut minute, 60);
    borrow(&mut minute, &mut hour, 60);
    borrow(&mut hour, &mut day, 24);
    borrow(&mut day, &mut month, early.num_days_in_month().into());
    borrow(&mut month, &mut year, 12);
    numbers([year, month, day, hour, minute, second])
}

fn parse_duration(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let text = text(operands, 1)?;
    match duration::parsed(text) {
        Ok(nanoseconds) => answer(nanoseconds),
        Err(message) => refuse(message),
    }
}

fn parse_time(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let layout = layout::named(text(operands, 1)?);
    nanoseconds(parse::parsed(layout, text(operands, 2)?))
}

fn parse_rfc3339(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    nanoseconds(parse::parsed(layout::RFC3339, text(operands, 1)?))
}

/// Whether a string is a time in a layout.
pub(super) fn matches(layout: &str, text: &str) -> bool {
    parse::parsed(layout, text).is_ok()
}

//! Layouts: times written as the reference time, 2 January 2006, 15:04:05 in zone -0700.

use chrono::{Datelike, NaiveDateTime, Timelike, Weekday};

use super::moment::Moment;

pub(super) const RFC3339: &str = "2006-01-02T15:04:05Z07:00";
pub(super) const RFC3339_NANO: &str = "2006-01-02T15:04:05.999999999Z07:00";

/// Returns the layout of this name, or the string itself.
pub(super) fn named(name: &str) -> &str {
    match name {
        "ANSIC" => "Mon Jan _2 15:04:05 2006",
        "UnixDate" => "Mon Jan _2 15:04:05 MST 2006",
        "RubyDate" => "Mon Jan 02 15:04:05 -0700 2006",
        "RFC822" => "02 Jan 06 15:04 MST",
        "RFC822Z" => "02 Jan 06 15:04 -0700",
        "RFC850" => "Monday, 02-Jan-06 15:04:05 MST",
        "RFC1123" => "Mon, 02 Jan 2006 15:04:05 MST",
        "RFC1123Z" => "Mon, 02 Jan 2006 15:04:05 -0700",
        "RFC3339" => RFC3339,
        "RFC3339Nano" => RFC3339_NANO,
        other => other,
    }
}

/// Padding of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    None,
    Zero,
    Space,
}

/// Layout element that represents a component of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    MonthName,
    MonthShort,
    Month(Fill),
    WeekdayName,
    WeekdayShort,
    Day(Fill),
    YearDay(Fill),
    Hour,
    Hour12(Fill),
    Minute(Fill),
    Second(Fill),
    Year,
    YearShort,
    /// `PM`, or `pm` in lower case.
    Half {
        upper: bool,
    },
    ZoneName,
    /// UTC offset: whether zero is `Z`, whether there are colons, and the number of fields (hours,
    /// minutes, seconds).
    Offset {
        zulu: bool,
        colon: bool,
        fields: u8,
    },
    /// Digits after a point or comma; without trailing zeros if `trimmed`, which nines denote.
    Fraction {
        digits: usize,
        trimmed: bool,
        comma: bool,
    },
}

/// Literal layout elements, longer ones before their prefixes.
const PARTS: &[(&str, Part)] = &[
    ("January", Part::MonthName),
    ("Jan", Part::MonthShort),
    ("Monday", Part::WeekdayName),
    ("Mon", Part::WeekdayShort),
    ("MST", Part::ZoneName),
    ("002", Part::YearDay(Fill::Zero)),
    ("01", Part::Month(Fill::Zero)),
    ("02", Part::Day(Fill::Zero)),
    ("03", Part::Hour12(Fill::Zero)),
    ("04", Part::Minute(Fill::Zero)),
    ("05", Part::Second(Fill::Zero)),
    ("06", Part::YearShort),
    ("15", Part::Hour),
    ("1", Part::Month(Fill::None)),
    ("2006", Part::Year),
    ("2", Part::Day(Fill::None)),
    ("__2", Part::YearDay(Fill::Space)),
    ("_2", Part::Day(Fill::Space)),
    ("3", Part::Hour12(Fill::None)),
    ("4", Part::Minute(Fill::None)),
    ("5", Part::Second(Fill::None)),
    ("PM", Part::Half { upper: true }),
    ("pm", Part::Half { upper: false }),
    (
        "-070000",
        Part::Offset {
            zulu: false,
            colon: false,
            fields: 3,
        },
    ),
    (
        "-07:00:00",
        Part::Offset {
            zulu: false,
            colon: true,
            fields: 3,
        },
    ),
    (
        "-0700",
        Part::Offset {
            zulu: false,
            colon: false,
            fields: 2,
        },
    ),
    (
        "-07:00",
        Part::Offset {
            zulu: false,
            colon: true,
            fields: 2,
        },
    ),
    (
        "-07",
        Part::Offset {
            zulu: false,
            colon: false,
            fields: 1,
        },
    ),
    (
        "Z070000",
        Part::Offset {
            zulu: true,
            colon: false,
            fields: 3,
        },
    ),
    (
        "Z07:00:00",
        Part::Offset {
            zulu: true,
            colon: true,
            fields: 3,
        },
    ),
    (
        "Z0700",
        Part::Offset {
            zulu: true,
            colon: false,
            fields: 2,
        },
    ),
    (
        "Z07:00",
        Part::Offset {
            zulu: true,
            colon: true,
            fields: 2,
        },
    ),
    (
        "Z07",
        Part::Offset {
            zulu: true,
            colon: false,
            fields: 1,
        },
    ),
];

/// Finds the first element of a layout. Returns the text before it, the text of the element, the
/// element, and the text after it.
pub(super) fn first(layout: &str) -> Option<(&str, &str, Part, &str)> {
    layout.char_indices().find_map(|(at, character)| {
        let (before, rest) = layout.split_at(at);
        let found = |length: usize, part| {
            let (text, tail) = rest.split_at(length);
            Some((before, text, part, tail))
        };
        if let '.' | ',' = character {
            return fraction(rest).and_then(|(length, part)| found(length, part));
        }
        // After one blank, the year is not a day.
        if rest.starts_with("_2006") {
            let (before, rest) = layout.split_at(at + 1);
            let (text, tail) = rest.split_at(4);
            return Some((before, text, Part::Year, tail));
        }
        let (text, part) = PARTS.iter().find(|(text, _)| rest.starts_with(text))?;
        let tail = rest.get(text.len()..).unwrap_or_default();
        // `Janet` and `Monument` are ordinary words.
        let word = tail.starts_with(|c: char| c.is_ascii_lowercase());
        if word && matches!(part, Part::MonthShort | Part::WeekdayShort) {
            return None;
        }
        found(text.len(), *part)
    })
}

/// Parses a point or comma followed by zeros or nines, and no other digit.
fn fraction(text: &str) -> Option<(usize, Part)> {
    let comma = text.starts_with(',');
    let rest = text.get(1..)?;
    let digit = rest
        .chars()
        .next()
        .filter(|digit| matches!(digit, '0' | '9'))?;
    let digits = rest.len() - rest.trim_start_matches(digit).len();
    let end = rest.get(digits..).unwrap_or_default();
    if end.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let trimmed = digit == '9';
    Some((
        digits + 1,
        Part::Fraction {
            digits,
            trimmed,
            comma,
        },
    ))
}

pub(super) const MONTHS: [&str; 12] = [
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

pub(super) const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

pub(super) fn weekday(day: Weekday) -> &'static str {
    let at = usize::try_from(day.num_days_from_monday()).unwrap_or(0);
    WEEKDAYS.get(at).copied().unwrap_or_default()
}

fn month(local: &NaiveDateTime) -> &'static str {
    let at = usize::try_from(local.month0()).unwrap_or(0);
    MONTHS.get(at).copied().unwrap_or_default()
}

/// Formats a time with a layout.
pub(super) fn formatted(time: &Moment, layout: &str) -> String {
    let local = time.local();
    let mut out = String::new();
    let mut rest = layout;
    while let Some((before, _, part, tail)) = first(rest) {
        out.push_str(before);
        out.push_str(&format_part(time, &local, part));
        rest = tail;
    }
    out.push_str(rest);
    out
}

fn pad(number: u32, fill: Fill, width: usize) -> String {
    match fill {
        Fill::None => number.to_string(),
        Fill::Zero => format!("{number:0width$}"),
        Fill::Space => format!("{number:width$}"),
    }
}

fn format_part(time: &Moment, local: &NaiveDateTime, part: Part) -> String {
    let short = |name: &str| name.get(..3).unwrap_or(name).to_owned();
    match part {
        Part::MonthName => month(local).to_owned(),
        Part::MonthShort => short(month(local)),
        Part::Month(fill) => pad(local.month(), fill, 2),
        Part::WeekdayName => weekday(local.weekday()).to_owned(),
        Part::WeekdayShort => short(weekday(local.weekday())),
        Part::Day(fill) => pad(local.day(), fill, 2),
        Part::YearDay(fill) => pad(local.ordinal(), fill, 3),
        Part::Hour => pad(local.hour(), Fill::Zero, 2),
        Part::Hour12(fill) => pad(local.hour12().1, fill, 2),
        Part::Minute(fill) => pad(local.minute(), fill, 2),
        Part::Second(fill) => pad(local.second(), fill, 2),
        Part::Year => format!("{:04}", local.year()),
        Part::YearShort => format!("{:02}", local.year().rem_euclid(100)),
        Part::Half { upper } => {
            let (morning, evening) = if upper { ("AM", "PM") } else { ("am", "pm") };
            let half = if local.hour12().0 { evening } else { morning };
            half.to_owned()
        }
        Part::ZoneName => {
            let (offset, name) = time.offset();
            if !name.is_empty() {
                return name;
            }
            let fields = if offset % 3600 == 0 { 1 } else { 2 };
            offset_text(offset, false, fields)
        }
        Part::Offset {
            zulu,
            colon,
            fields,
        } => match time.offset().0 {
            0 if zulu => "Z".to_owned(),
            offset => offset_text(offset, colon, fields),
        },
        Part::Fraction {
            digits,
            trimmed,
            comma,
        } => {
            let mark = if comma { "," } else { "." };
            let nanoseconds = format!("{:09}", local.nanosecond());
            let mut fraction = nanoseconds.get(..digits).unwrap_or(&nanoseconds);
            if trimmed {
                fraction = fraction.trim_end_matches('0');
                if fraction.is_empty() {
                    return String::new();
                }
            }
            format!("{mark}{fraction}")
        }
    }
}

fn offset_text(offset: i32, colon: bool, fields: u8) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let size = offset.unsigned_abs();
    let colon = if colon { ":" } else { "" };
    let mut out = format!("{sign}{:02}", size / 3600);
    if fields > 1 {
        out.push_str(&format!("{colon}{:02}", size / 60 % 60));
    }
    if fields > 2 {
        out.push_str(&format!("{colon}{:02}", size % 60));
    }
    out
}

//! Parses times by layout.

use chrono::{Datelike, NaiveDate, TimeZone, Utc};

use super::layout::{Fill, MONTHS, Part, WEEKDAYS, first};
use super::quoted;

/// Fields parsed so far.
#[derive(Default)]
struct ParsedFields {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanosecond: i64,
    /// Whether AM was given. A layout may contain both halves.
    is_morning: bool,
    /// Whether PM was given, which takes precedence.
    is_evening: bool,
    /// UTC offset in seconds; of several offsets the last.
    offset: i64,
    /// Whether `Z` or `UTC` was given, which takes precedence over any offset.
    universal: bool,
}

/// Error of parsing an element.
enum Wrong {
    /// The input does not match.
    Other,
    /// The number of an element is out of range; contains the name of the element.
    Range(&'static str),
}

/// Parses a time into nanoseconds since 1970, if they are in range.
///
/// # Errors
/// When the string does not match the layout.
pub(super) fn parsed(layout: &str, text: &str) -> Result<Option<i64>, String> {
    let mut read = ParsedFields::default();
    let (mut layout_rest, mut rest) = (layout, text);
    let rendered = quoted(text);
    let cannot = |found: &[u8], part: &str| {
        let (layout, found, part) = (quoted(layout), quoted(found), quoted(part));
        format!("parsing time {rendered} as {layout}: cannot parse {found} as {part}")
    };
    while let Some((before, part_text, part, tail)) = first(layout_rest) {
        rest = skipped(rest, before).map_err(|found| cannot(found, before))?;
        let start = rest;
        rest = match read.part(part, rest, tail) {
            Ok(rest) => rest,
            Err(Wrong::Other) => return Err(cannot(start.as_bytes(), part_text)),
            Err(Wrong::Range(name)) => {
                return Err(format!("parsing time {rendered}: {name} out of range"));
            }
        };
        layout_rest = tail;
    }
    rest = skipped(rest, layout_rest).map_err(|found| cannot(found, layout_rest))?;
    if !rest.is_empty() {
        let extra = quoted(rest);
        return Err(format!("parsing time {rendered}: extra text: {extra}"));
    }
    read.time()
        .map_err(|error| format!("parsing time {rendered}: {error}"))
}

/// Skips literal characters. Spaces match any number of spaces.
///
/// # Errors
/// Returns the bytes from the first mismatch on.
fn skipped<'t>(mut text: &'t str, mut prefix: &str) -> Result<&'t str, &'t [u8]> {
    while let Some(character) = prefix.chars().next() {
        if character == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return Err(text.as_bytes());
            }
            prefix = prefix.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
            continue;
        }
        let Some(rest) = text.strip_prefix(character) else {
            let pairs = text.bytes().zip(prefix.bytes());
            let same = pairs
                .take_while(|(found, expected)| found == expected)
                .count();
            return Err(text.as_bytes().get(same..).unwrap_or_default());
        };
        text = rest;
        prefix = prefix.get(character.len_utf8()..).unwrap_or_default();
    }
    Ok(text)
}

/// Parses two digits, or one unless `fixed` is set.
fn two(text: &str, fixed: bool) -> Result<(i64, &str), Wrong> {
    let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    if digits == 0 || (fixed && digits < 2) {
        return Err(Wrong::Other);
    }
    let (number, rest) = text.split_at(digits);
    Ok((number.parse().map_err(|_| Wrong::Other)?, rest))
}

fn digits(text: &str, count: usize) -> Result<(i64, &str), Wrong> {
    let (number, rest) = text.split_at_checked(count).ok_or(Wrong::Other)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Wrong::Other);
    }
    Ok((number.parse().map_err(|_| Wrong::Other)?, rest))
}

/// Parses a short number with an optional sign; without digits, it is zero.
fn signed(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size: i64 = format!("0{digits}").parse().ok()?;
    Some(if text.starts_with('-') { -size } else { size })
}

/// Parses a full or abbreviated name, in any case.
fn name<'t>(text: &'t str, names: &[&str], short: bool) -> Result<(i64, &'t str), Wrong> {
    for (at, name) in names.iter().enumerate() {
        let name = if short {
            name.get(..3).unwrap_or(name)
        } else {
            name
        };
        let Some((head, rest)) = text.split_at_checked(name.len()) else {
            continue;
        };
        if head.eq_ignore_ascii_case(name) {
            return Ok((i64::try_from(at).unwrap_or(0) + 1, rest));
        }
    }
    Err(Wrong::Other)
}

/// Parts of the offset of a time zone, each with its maximum.
const OFFSET_PARTS: [(i64, &str); 3] = [
    (24, "time zone offset hour"),
    (60, "time zone offset minute"),
    (60, "time zone offset second"),
];

fn within(number: i64, maximum: i64, name: &'static str) -> Result<i64, Wrong> {
    if number > maximum {
        return Err(Wrong::Range(name));
    }
    Ok(number)
}

impl ParsedFields {
    fn part<'t>(&mut self, part: Part, text: &'t str, following: &str) -> Result<&'t str, Wrong> {
        let rest = match part {
            Part::Year => {
                let (year, rest) = digits(text, 4)?;
                self.year = year;
                rest
            }
            Part::YearShort => {
                let (year, rest) = text.split_at_checked(2).ok_or(Wrong::Other)?;
                let year = signed(year).ok_or(Wrong::Other)?;
                self.year = year + if year >= 69 { 1900 } else { 2000 };
                rest
            }
            Part::MonthName | Part::MonthShort => {
                let (month, rest) = name(text, &MONTHS, part == Part::MonthShort)?;
                self.month = Some(month);
                rest
            }
            Part::Month(fill) => {
                let (month, rest) = two(text, fill == Fill::Zero)?;
                if month == 0 || month > 12 {
                    return Err(Wrong::Range("month"));
                }
                self.month = Some(month);
                rest
            }
            Part::WeekdayName | Part::WeekdayShort => {
                name(text, &WEEKDAYS, part == Part::WeekdayShort)?.1
            }
            Part::Day(fill) => {
                let text = match fill {
                    Fill::Space => text.strip_prefix(' ').unwrap_or(text),
                    _ => text,
                };
                let (day, rest) = two(text, fill == Fill::Zero)?;
                self.day = Some(day);
                rest
            }
            Part::YearDay(fill) => {
                let blanks = match fill {
                    Fill::Zero => 0,
                    _ => text.len() - text.trim_start_matches(' ').len(),
                };
                let text = text.get(blanks.min(2)..).unwrap_or_default();
                let count = text.bytes().take(3).take_while(u8::is_ascii_digit).count();
                if count == 0 || (fill == Fill::Zero && count < 3) {
                    return Err(Wrong::Other);
                }
                let (day, rest) = digits(text, count)?;
                self.year_day = Some(day);
                rest
            }
            Part::Hour => {
                let (hour, rest) = two(text, false)?;
                self.hour = within(hour, 23, "hour")?;
                rest
            }
            Part::Hour12(fill) => {
                let (hour, rest) = two(text, fill == Fill::Zero)?;
                self.hour = within(hour, 12, "hour")?;
                rest
            }
            Part::Minute(fill) => {
                let (minute, rest) = two(text, fill == Fill::Zero)?;
                self.minute = within(minute, 59, "minute")?;
                rest
            }
            Part::Second(fill) => {
                let (second, rest) = two(text, fill == Fill::Zero)?;
                self.second = within(second, 59, "second")?;
                self.skip_fraction(rest, following)
            }
            Part::Half { upper } => {
                let (half, rest) = text.split_at_checked(2).ok_or(Wrong::Other)?;
                let (morning, evening) = if upper { ("AM", "PM") } else { ("am", "pm") };
                match half {
                    _ if half == evening => self.is_evening = true,
                    _ if half == morning => self.is_morning = true,
                    _ => return Err(Wrong::Other),
                }
                rest
            }
            Part::ZoneName => {
                self.universal |= text.starts_with("UTC");
                Self::zone(text)?
            }
            Part::Offset {
                zulu,
                colon,
                fields,
            } => self.offset(text, zulu, colon, fields)?,
            Part::Fraction { trimmed: true, .. } => self.fraction(text),
            Part::Fraction { digits, .. } => {
                let (fraction, rest) = text.split_at_checked(digits + 1).ok_or(Wrong::Other)?;
                let number = fraction.strip_prefix(['.', ',']).ok_or(Wrong::Other)?;
                // Anything may follow nanoseconds.
                let counted = number.len().min(9);
                let (counted, _) = number.split_at_checked(counted).ok_or(Wrong::Other)?;
                let value = signed(counted).ok_or(Wrong::Other)?;
                if value < 0 {
                    return Err(Wrong::Range("fractional second"));
                }
                self.nanosecond = (counted.len()..9).fold(value, |value, _| value * 10);
                rest
            }
        };
        Ok(rest)
    }

    /// Parses a fraction of a second that the layout does not contain.
    fn skip_fraction<'t>(&mut self, text: &'t str, following: &str) -> &'t str {
        match first(following) {
            Some((_, _, Part::Fraction { .. }, _)) => text,
            _ => self.fraction(text),
        }
    }

    /// Parses a fraction, if there is one.
    fn fraction<'t>(&mut self, text: &'t str) -> &'t str {
        let Some(number) = text.strip_prefix(['.', ',']) else {
            return text;
        };
        let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = number.get(..number.len() - rest.len()).unwrap_or_default();
        if digits.is_empty() {
            return text;
        }
        self.nanosecond = nanoseconds(digits);
        rest
    }

    fn offset<'t>(
        &mut self,
        text: &'t str,
        zulu: bool,
        colon: bool,
        fields: u8,
    ) -> Result<&'t str, Wrong> {
        if zulu && let Some(rest) = text.strip_prefix('Z') {
            self.universal = true;
            return Ok(rest);
        }
        let width = 2 + usize::from(colon);
        let end = 1 + usize::from(fields) * width - usize::from(colon);
        let (offset, rest) = text.split_at_checked(end).ok_or(Wrong::Other)?;
        let starts = (0..usize::from(fields)).map(|at| 1 + at * width);
        let bytes = offset.as_bytes();
        if colon
            && starts
                .clone()
                .skip(1)
                .any(|at| bytes.get(at - 1) != Some(&b':'))
        {
            return Err(Wrong::Other);
        }
        // As in Go, a part that is out of range is reported before other defects.
        let mut parts = [0; 3];
        let (mut out_of_range, mut is_valid) = (None, true);
        for ((part, start), (maximum, name)) in parts.iter_mut().zip(starts).zip(OFFSET_PARTS) {
            let Ok((number, _)) = digits(offset.get(start..).unwrap_or_default(), 2) else {
                is_valid = false;
                break;
            };
            *part = number;
            if number > maximum {
                out_of_range = Some(name);
            }
        }
        if let Some(name) = out_of_range {
            return Err(Wrong::Range(name));
        }
        let sign = match bytes.first() {
            Some(b'+') if is_valid => 1,
            Some(b'-') if is_valid => -1,
            _ => return Err(Wrong::Other),
        };
        let [hours, minutes, seconds] = parts;
        self.offset = sign * (hours * 3600 + minutes * 60 + seconds);
        Ok(rest)
    }

    /// Parses the abbreviation of a zone, which does not affect the time.
    fn zone(text: &str) -> Result<&str, Wrong> {
        if text.len() < 3 {
            return Err(Wrong::Other);
        }
        for name in ["UTC", "ChST", "MeST"] {
            if let Some(rest) = text.strip_prefix(name) {
                return Ok(rest);
            }
        }
        let letters = text
            .bytes()
            .take(6)
            .take_while(u8::is_ascii_uppercase)
            .count();
        let (name, rest) = text.split_at(letters);
        if name == "GMT" {
            return Ok(Self::skip_hours(rest).unwrap_or(rest));
        }
        if let Some(rest) = Self::skip_hours(text) {
            return Ok(rest);
        }
        let known = match letters {
            3 => true,
            4 => name.ends_with('T') || name == "WITA",
            5 => name.ends_with('T'),
            _ => false,
        };
        if known { Ok(rest) } else { Err(Wrong::Other) }
    }

    /// Skips signed hours, which are only part of a zone name.
    fn skip_hours(text: &str) -> Option<&str> {
        let hours = text.strip_prefix(['+', '-'])?;
        let rest = hours.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = hours.get(..hours.len() - rest.len())?;
        digits.parse::<u32>().ok().filter(|hours| *hours <= 23)?;
        Some(rest)
    }

    /// Returns the nanoseconds since 1970, if they are in range.
    fn time(self) -> Result<Option<i64>, &'static str> {
        let mut hour = self.hour;
        if self.is_evening && hour < 12 {
            hour += 12;
        } else if self.is_morning && hour == 12 {
            hour = 0;
        }
        let small = |number: i64| u32::try_from(number).unwrap_or(0);
        let date = self.date()?;
        let time = date.and_hms_nano_opt(
            small(hour),
            small(self.minute),
            small(self.second),
            small(self.nanosecond),
        );
        // An offset of minus one second does not occur and is ignored.
        let offset = match self.offset {
            -1 => 0,
            _ if self.universal => 0,
            offset => offset,
        };
        Ok(time.and_then(|time| {
            let seconds = Utc.from_utc_datetime(&time).timestamp() - offset;
            let nanoseconds = i128::from(seconds) * 1_000_000_000 + i128::from(self.nanosecond);
            i64::try_from(nanoseconds).ok()
        }))
    }

    /// Returns the date, which must exist in the calendar.
    fn date(&self) -> Result<NaiveDate, &'static str> {
        let small = |number: i64| u32::try_from(number).unwrap_or(0);
        let year = i32::try_from(self.year).unwrap_or(0);
        let Some(year_day) = self.year_day else {
            let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
            return NaiveDate::from_ymd_opt(year, small(month), small(day))
                .ok_or("day out of range");
        };
        let date =
            NaiveDate::from_yo_opt(year, small(year_day)).ok_or("day-of-year out of range")?;
        if self
            .month
            .is_some_and(|month| month != i64::from(date.month()))
        {
            return Err("day-of-year does not match month");
        }
        if self.day.is_some_and(|day| day != i64::from(date.day())) {
            return Err("day-of-year does not match day");
        }
        Ok(date)
    }
}

/// Parses the first nine digits of a fraction.
fn nanoseconds(digits: &str) -> i64 {
    let padded = format!("{digits:0<9}");
    let nine = padded.get(..9).unwrap_or_default();
    nine.parse().unwrap_or(0)
}

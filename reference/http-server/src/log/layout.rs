//! Time layouts of Go, which show the reference time 2 January 2006, 15:04:05.

use std::fmt::Write as _;
use std::str::FromStr;

use chrono::{DateTime, Timelike, Utc};

/// Elements of a layout, the longer of two with a common prefix first, and the corresponding
/// conversions of chrono. All times are in UTC.
const PARTS: [(&str, &str); 35] = [
    ("January", "%B"),
    ("Jan", "%b"),
    ("Monday", "%A"),
    ("Mon", "%a"),
    ("MST", "UTC"),
    ("002", "%j"),
    ("01", "%m"),
    ("02", "%d"),
    ("03", "%I"),
    ("04", "%M"),
    ("05", "%S"),
    ("06", "%y"),
    ("2006", "%Y"),
    ("__2", "%_j"),
    ("_2006", "_%Y"),
    ("_2", "%e"),
    ("15", "%H"),
    ("1", "%-m"),
    ("2", "%-d"),
    ("3", "%-I"),
    ("4", "%-M"),
    ("5", "%-S"),
    ("PM", "%p"),
    ("pm", "%P"),
    ("-07:00:00", "+00:00:00"),
    ("-070000", "+000000"),
    ("-07:00", "+00:00"),
    ("-0700", "+0000"),
    ("-07", "+00"),
    ("Z07:00:00", "Z"),
    ("Z070000", "Z"),
    ("Z07:00", "Z"),
    ("Z0700", "Z"),
    ("Z07", "Z"),
    // A percent sign in a layout is literal text, unlike in chrono.
    ("%", "%%"),
];

/// Maximum number of digits of a fraction of a second.
const MAX_DIGITS: usize = 9;

/// Format of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Format string of chrono.
    Format(String),
    /// Fraction of the second after `sign`, a point or comma, with `digits` digits, without
    /// trailing zeros if `short`.
    Fraction {
        sign: char,
        digits: usize,
        short: bool,
    },
}

/// Error of a malformed layout.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The layout contains no element of a time.
    #[error(
        "the layout contains no element of a time: it must show the time Mon Jan 2 15:04:05 2006 \
         in the desired format"
    )]
    Constant,
    /// The layout has a fraction with more digits than times have.
    #[error("a fraction of a second has at most {MAX_DIGITS} digits")]
    TooFine,
}

impl Default for Layout {
    /// RFC 3339 in whole seconds.
    fn default() -> Self {
        Self(vec![Piece::Format("%Y-%m-%dT%H:%M:%SZ".to_owned())])
    }
}

impl FromStr for Layout {
    type Err = LayoutError;

    fn from_str(layout: &str) -> Result<Self, LayoutError> {
        let (mut pieces, mut format, mut rest) = (Vec::new(), String::new(), layout);
        let mut constant = true;
        while let Some(first) = rest.chars().next() {
            if let Some((length, piece)) = fraction(rest)? {
                pieces.push(Piece::Format(std::mem::take(&mut format)));
                pieces.push(piece);
                rest = rest.get(length..).unwrap_or_default();
                constant = false;
                continue;
            }
            let mut parts = PARTS.iter();
            match parts.find(|(part, _)| begins(rest, part)) {
                Some((part, conversion)) => {
                    format.push_str(conversion);
                    rest = rest.get(part.len()..).unwrap_or_default();
                    constant &= *part == "%";
                }
                None => {
                    format.push(first);
                    rest = rest.get(first.len_utf8()..).unwrap_or_default();
                }
            }
        }
        pieces.push(Piece::Format(format));
        match constant {
            true => Err(LayoutError::Constant),
            false => Ok(Self(pieces)),
        }
    }
}

impl Layout {
    /// Formats a time.
    pub(super) fn format(&self, time: &DateTime<Utc>) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            let written = match piece {
                Piece::Format(format) => write!(text, "{}", time.format(format)),
                Piece::Fraction {
                    sign,
                    digits,
                    short,
                } => {
                    // A leap second has a fraction beyond one second.
                    let all = format!("{:09}", time.nanosecond() % 1_000_000_000);
                    let fraction = all.get(..*digits).unwrap_or(&all);
                    match fraction.trim_end_matches('0') {
                        "" if *short => Ok(()),
                        trimmed if *short => write!(text, "{sign}{trimmed}"),
                        _ => write!(text, "{sign}{fraction}"),
                    }
                }
            };
            // The table has valid conversions only, and writes to a string succeed.
            debug_assert!(written.is_ok());
        }
        text
    }
}

/// Whether a layout starts with an element. A longer word, such as `Month`, does not count.
fn begins(layout: &str, part: &str) -> bool {
    let Some(rest) = layout.strip_prefix(part) else {
        return false;
    };
    let longer = rest.starts_with(|next: char| next.is_ascii_lowercase());
    !(longer && matches!(part, "Jan" | "Mon"))
}

/// Parses a fraction at the start of a layout, with its length: a sign, and zeros or nines that are
/// not followed by another digit.
fn fraction(layout: &str) -> Result<Option<(usize, Piece)>, LayoutError> {
    let mut characters = layout.chars();
    let (Some(sign @ ('.' | ',')), Some(digit @ ('0' | '9'))) =
        (characters.next(), characters.next())
    else {
        return Ok(None);
    };
    let digits = 1 + characters.clone().take_while(|next| *next == digit).count();
    let next = characters.nth(digits - 1);
    if next.is_some_and(|next| next.is_ascii_digit()) {
        return Ok(None);
    }
    if digits > MAX_DIGITS {
        return Err(LayoutError::TooFine);
    }
    let piece = Piece::Fraction {
        sign,
        digits,
        short: digit == '9',
    };
    Ok(Some((1 + digits, piece)))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use rstest::rstest;

    use super::Layout;

    /// Output of Go 1.26 for 2026-03-04T17:08:09.012345600Z.
    #[rstest]
    #[case::rfc_3339("2006-01-02T15:04:05Z07:00", "2026-03-04T17:08:09Z")]
    #[case::rfc_3339_nano("2006-01-02T15:04:05.999999999Z07:00", "2026-03-04T17:08:09.0123456Z")]
    #[case::ansi_c("Mon Jan _2 15:04:05 2006", "Wed Mar  4 17:08:09 2026")]
    #[case::unix_date("Mon Jan _2 15:04:05 MST 2006", "Wed Mar  4 17:08:09 UTC 2026")]
    #[case::rfc_822("02 Jan 06 15:04 MST", "04 Mar 26 17:08 UTC")]
    #[case::rfc_822_with_offset("02 Jan 06 15:04 -0700", "04 Mar 26 17:08 +0000")]
    #[case::rfc_850("Monday, 02-Jan-06 15:04:05 MST", "Wednesday, 04-Mar-26 17:08:09 UTC")]
    #[case::rfc_1123_with_offset(
        "Mon, 02 Jan 2006 15:04:05 -0700",
        "Wed, 04 Mar 2026 17:08:09 +0000"
    )]
    #[case::kitchen("3:04PM", "5:08PM")]
    #[case::stamp_milli("Jan _2 15:04:05.000", "Mar  4 17:08:09.012")]
    #[case::date_only("2006-01-02", "2026-03-04")]
    #[case::numbers_and_fraction("02/01/06 15:04:05.000", "04/03/26 17:08:09.012")]
    #[case::without_leading_zeros("1/2/06 3:4:5 pm", "3/4/26 5:8:9 pm")]
    #[case::days_of_the_year("__2 002 _2006", " 63 063 _2026")]
    #[case::fraction_after_a_comma("Month 15,999", "Month 17,012")]
    #[case::fraction_before_text("15:04:05.00x", "17:08:09.01x")]
    #[case::hour_before_text("15h%M .0001", "17h%M .0003")]
    #[case::names("January Monday", "March Wednesday")]
    #[case::offsets(
        "-07 -0700 -070000 -07:00:00 Z070000 Z07:00:00",
        "+00 +0000 +000000 +00:00:00 Z Z"
    )]
    #[case::without_separators("20060102150405", "20260304170809")]
    fn times_are_written_as_in_go(
        #[case] layout: &str,
        #[case] expected: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let time: DateTime<Utc> = "2026-03-04T17:08:09.012345600Z".parse()?;
        let read: Layout = layout.parse()?;
        assert_eq!(read.format(&time), expected);
        Ok(())
    }

    #[rstest]
    #[case::empty("")]
    #[case::percent_sign("%H")]
    #[case::text("RFC")]
    #[case::too_long_a_fraction(".0000000000")]
    #[case::other_language("Monat")]
    fn what_shows_no_time_is_refused(#[case] layout: &str) {
        assert!(layout.parse::<Layout>().is_err());
    }
}

//! Durations on the command line.

use std::time::Duration;

/// Maximum duration, so that it can be added to the current time.
const LONGEST: Duration = Duration::from_millis(u64::MAX);

/// Parses a duration such as `500ms`, `5s`, `1m30s` or `1h`.
///
/// # Errors
/// When a number has no unit, or the duration is too long.
pub fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|failure| failure.to_string())?;
    if duration > LONGEST {
        return Err("too long".to_owned());
    }
    Ok(duration)
}

/// Parses a whole number of seconds.
///
/// # Errors
/// When it is not a number.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .map_err(|failure: std::num::ParseIntError| failure.to_string())?;
    Ok(Duration::from_secs(seconds))
}

/// Duration in milliseconds with a fraction, as in logs: the nearest to its nanoseconds.
pub fn milliseconds(duration: Duration) -> f64 {
    let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    nanoseconds as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::milliseconds("500ms", Some(Duration::from_millis(500)))]
    #[case::seconds("5s", Some(Duration::from_secs(5)))]
    #[case::minutes("1m", Some(Duration::from_secs(60)))]
    #[case::hours("2h", Some(Duration::from_secs(7200)))]
    #[case::several_units("1m30s", Some(Duration::from_secs(90)))]
    #[case::fraction("1.5s", Some(Duration::from_millis(1500)))]
    #[case::days("1d", Some(Duration::from_secs(86_400)))]
    #[case::zero("0", Some(Duration::ZERO))]
    #[case::no_unit("5", None)]
    #[case::no_number("s", None)]
    #[case::negative("-5s", None)]
    #[case::empty("", None)]
    #[case::too_many_years("600000000y", None)]
    #[case::too_many_hours("18446744073709551615h", None)]
    fn durations_have_units(#[case] text: &str, #[case] expected: Option<Duration>) {
        assert_eq!(duration(text).ok(), expected);
    }

    #[test]
    fn seconds_are_whole() {
        assert_eq!(seconds("10").ok(), Some(Duration::from_secs(10)));
        assert!(seconds("10s").is_err());
        assert!(seconds("-1").is_err());
    }
}

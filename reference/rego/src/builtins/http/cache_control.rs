//! Cache-Control: whether and how long a response may be cached.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::error::RequestError;
use super::options::Caching;
use super::response::Response;

/// Returns the value of a `Cache-Control` directive; empty if the directive has no value.
fn directive<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
    let control = response.header("cache-control")?;
    control.split(',').map(str::trim).find_map(|part| {
        let (own, value) = part.split_once('=').unwrap_or((part, ""));
        (own.trim() == name).then_some(value)
    })
}

/// Whether the server permits storing the response.
pub(super) fn may_store(response: &Response) -> bool {
    directive(response, "no-store").is_none()
}

/// Returns the expiry time of a response that arrived now.
pub(super) fn expiry(
    response: &Response,
    caching: &Caching,
    now: SystemTime,
) -> Result<SystemTime, RequestError> {
    let invalid = |message: &str| RequestError::Value(message.to_owned());
    let later = |from: SystemTime, seconds: u64| {
        from.checked_add(Duration::from_secs(seconds))
            .unwrap_or(from)
    };
    if let Ok(seconds @ 1..) = u64::try_from(caching.seconds) {
        return Ok(later(now, seconds));
    }
    let Some(age) = directive(response, "max-age") else {
        let expires = response.header("expires");
        let expires = expires.and_then(|date| httpdate::parse_http_date(date).ok());
        return Ok(expires.unwrap_or(UNIX_EPOCH));
    };
    if age.is_empty() || !age.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(invalid("invalid max-age"));
    }
    let maximum = u64::from(i32::MAX.unsigned_abs());
    let age = age.parse().unwrap_or(maximum).min(maximum);
    let date = response
        .header("date")
        .ok_or_else(|| invalid("no date header"))?;
    let date = httpdate::parse_http_date(date).map_err(|_| invalid("invalid date header"))?;
    Ok(later(date, age))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Returns the table row for a response with these headers that arrived at the epoch, when
    /// policies set the cache duration in seconds.
    fn expiry_text(headers: &[(&str, &str)], seconds: i32) -> String {
        let headers = headers.iter();
        let response = Response {
            code: 200,
            reason: String::new(),
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            body: Vec::new(),
        };
        let caching = Caching {
            shared: true,
            seconds,
        };
        if !may_store(&response) {
            return "not kept".to_owned();
        }
        match expiry(&response, &caching, UNIX_EPOCH) {
            Ok(until) => until.duration_since(UNIX_EPOCH).map_or_else(
                |reason| reason.to_string(),
                |fresh| fresh.as_secs().to_string(),
            ),
            Err(RequestError::Value(reason)) => reason,
            Err(other) => format!("{other:?}"),
        }
    }

    const DATE: (&str, &str) = ("date", "Thu, 01 Jan 1970 00:01:00 GMT");

    #[rstest]
    #[case::nothing_is_said(&[], 0, "0")]
    #[case::policies_say_how_long(&[], 30, "30")]
    #[case::maximum_age_since_a_date(&[("cache-control", "max-age=10"), DATE], 0, "70")]
    #[case::maximum_age_among_others(&[("cache-control", "public, max-age=10"), DATE], 0, "70")]
    #[case::policies_overrule_a_maximum_age(&[("cache-control", "max-age=10"), DATE], 30, "30")]
    #[case::maximum_age_too_large(
        &[("cache-control", "max-age=99999999999"), DATE],
        0,
        "2147483707"
    )]
    #[case::maximum_age_without_a_date(&[("cache-control", "max-age=10")], 0, "no date header")]
    #[case::maximum_age_with_a_wrong_date(
        &[("cache-control", "max-age=10"), ("date", "today")],
        0,
        "invalid date header"
    )]
    #[case::maximum_age_in_words(&[("cache-control", "max-age=ten"), DATE], 0, "invalid max-age")]
    #[case::maximum_age_without_a_number(
        &[("cache-control", "max-age"), DATE],
        0,
        "invalid max-age"
    )]
    #[case::not_to_be_stored(&[("cache-control", "no-store"), DATE], 0, "not kept")]
    #[case::not_to_be_stored_among_others(
        &[("cache-control", "max-age=10, no-store"), DATE],
        30,
        "not kept"
    )]
    #[case::expires_at_a_date(&[("expires", "Thu, 01 Jan 1970 00:00:09 GMT")], 0, "9")]
    #[case::expires_at_no_date(&[("expires", "0")], 0, "0")]
    fn responses_are_fresh_as_long_as_their_headers_say(
        #[case] headers: &[(&str, &str)],
        #[case] seconds: i32,
        #[case] expected: &str,
    ) {
        assert_eq!(expiry_text(headers, seconds), expected);
    }
}

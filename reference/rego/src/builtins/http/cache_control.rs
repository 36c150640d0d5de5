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

    #[test]
    fn responses_are_fresh_as_long_as_their_headers_say() {
        let date = ("date", "Thu, 01 Jan 1970 00:01:00 GMT");
        for (headers, seconds, expected) in [
            (&[][..], 0, "0"),
            (&[], 30, "30"),
            (&[("cache-control", "max-age=10"), date], 0, "70"),
            (&[("cache-control", "public, max-age=10"), date], 0, "70"),
            (&[("cache-control", "max-age=10"), date], 30, "30"),
            (
                &[("cache-control", "max-age=99999999999"), date],
                0,
                "2147483707",
            ),
            (&[("cache-control", "max-age=10")], 0, "no date header"),
            (
                &[("cache-control", "max-age=10"), ("date", "today")],
                0,
                "invalid date header",
            ),
            (
                &[("cache-control", "max-age=ten"), date],
                0,
                "invalid max-age",
            ),
            (&[("cache-control", "max-age"), date], 0, "invalid max-age"),
            (&[("cache-control", "no-store"), date], 0, "not kept"),
            (
                &[("cache-control", "max-age=10, no-store"), date],
                30,
                "not kept",
            ),
            (&[("expires", "Thu, 01 Jan 1970 00:00:09 GMT")], 0, "9"),
            (&[("expires", "0")], 0, "0"),
        ] {
            assert_eq!(
                expiry_text(headers, seconds),
                expected,
                "{headers:?}, {seconds} s"
            );
        }
    }
}

//! How long a response may be used again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::options::Caching;
use super::response::Response;
use super::trouble::Trouble;

/// A directive of `Cache-Control`, with its value if it has one.
fn directive<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
    let control = response.header("cache-control")?;
    control.split(',').map(str::trim).find_map(|part| {
        let (own, value) = part.split_once('=').unwrap_or((part, ""));
        (own.trim() == name).then_some(value)
    })
}

/// Whether the server lets anyone keep it.
pub(super) fn may_store(response: &Response) -> bool {
    directive(response, "no-store").is_none()
}

/// When a response that arrived now is no longer fresh.
pub(super) fn expiry(
    response: &Response,
    caching: &Caching,
    now: SystemTime,
) -> Result<SystemTime, Trouble> {
    let wrong = |message: &str| Trouble::Value(message.to_owned());
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
        return Err(wrong("invalid max-age"));
    }
    let most = u64::from(i32::MAX.unsigned_abs());
    let age = age.parse().unwrap_or(most).min(most);
    let date = response
        .header("date")
        .ok_or_else(|| wrong("no date header"))?;
    let date = httpdate::parse_http_date(date).map_err(|_| wrong("invalid date header"))?;
    Ok(later(date, age))
}

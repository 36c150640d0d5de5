//! Cached tokens with an expiry.

use std::fmt;
use std::time::{Duration, Instant};

use rego::Value;

/// Time before the expiry of a token during which the token is not used any more.
const LEEWAY: Duration = Duration::from_secs(10);

/// Token with an expiry.
pub(in crate::plugins) struct Token {
    text: String,
    end: Instant,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").finish_non_exhaustive()
    }
}

impl Token {
    /// Creates a token that was requested at `requested_at` and has this lifetime.
    pub(super) fn new(text: &str, requested_at: Instant, lifetime: Duration) -> Self {
        let end = requested_at.checked_add(lifetime.saturating_sub(LEEWAY));
        Self {
            text: text.trim().to_owned(),
            end: end.unwrap_or(requested_at),
        }
    }

    /// Token string.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the token is still valid.
    pub(super) fn lives(&self) -> bool {
        Instant::now() < self.end
    }
}

/// Lifetime of the token in a response, if present: a number of seconds, also as a string.
pub(super) fn lifetime(answer: &Value) -> Option<Duration> {
    let seconds = match answer.get("expires_in")? {
        Value::Number(seconds) => u64::try_from(seconds.as_i64()?).ok()?,
        Value::String(seconds) => seconds.parse().ok()?,
        _ => return None,
    };
    Some(Duration::from_secs(seconds))
}

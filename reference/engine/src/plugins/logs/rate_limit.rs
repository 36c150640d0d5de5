//! Rate limit of decisions.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Token bucket of the configured rate.
#[derive(Debug, Default)]
pub(super) struct RateLimiter(Mutex<Option<TokenBucket>>);

/// Number of events that are still accepted, and when that was computed.
#[derive(Debug, Clone, Copy)]
struct TokenBucket {
    events: f64,
    since: Instant,
}

impl RateLimiter {
    /// Whether an event is accepted at a limit of `rate` events per second.
    pub(super) fn take(&self, rate: f64) -> bool {
        let now = Instant::now();
        let most = rate.max(1.0);
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let TokenBucket { events, since } = left.unwrap_or(TokenBucket {
            events: most,
            since: now,
        });
        let earned = now.saturating_duration_since(since).as_secs_f64() * rate;
        let events = (events + earned).min(most);
        let comes = events >= 1.0;
        *left = Some(TokenBucket {
            events: if comes { events - 1.0 } else { events },
            since: now,
        });
        comes
    }
}

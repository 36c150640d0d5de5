//! Cache of responses across evaluations.

use std::time::{Duration, SystemTime};

use super::response::Response;
use crate::builtins::cache_limits::CacheLimits;
use crate::builtins::fifo::Fifo;
use crate::value::Text;

/// Approximate memory of an entry in bytes, in addition to its strings.
const ENTRY: usize = 256;

/// Cached responses with their expiry times.
#[derive(Debug)]
pub(in crate::builtins) struct Responses {
    stored: Fifo<Text, (Response, SystemTime)>,
    stale_period: Option<Duration>,
    /// Time of the last removal of stale responses.
    cleaned: SystemTime,
}

impl Responses {
    pub(in crate::builtins) fn new(limits: &CacheLimits) -> Self {
        Self {
            stored: Fifo::new(limits.response_bytes),
            stale_period: limits.stale_period,
            cleaned: SystemTime::UNIX_EPOCH,
        }
    }

    pub(in crate::builtins) fn limit(&mut self, limits: &CacheLimits) {
        self.stored.limit(limits.response_bytes);
        self.stale_period = limits.stale_period;
    }

    /// Returns a response and its expiry time.
    pub(super) fn get(&mut self, key: &Text, now: SystemTime) -> Option<(Response, SystemTime)> {
        self.clean(now);
        self.stored.get(key).cloned()
    }

    pub(super) fn remove(&mut self, key: &Text) {
        self.stored.remove(key);
    }

    pub(super) fn insert(&mut self, key: &Text, response: Response, expires: SystemTime) {
        let size = ENTRY + key.len() + response.size();
        self.stored.put(key.clone(), (response, expires), size);
    }

    fn clean(&mut self, now: SystemTime) {
        let Some(period) = self.stale_period else {
            return;
        };
        if now
            .duration_since(self.cleaned)
            .is_ok_and(|since| since >= period)
        {
            self.stored.retain(|(_, expires)| *expires > now);
            self.cleaned = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_responses_go_when_their_time_has_come() {
        let second = |at| SystemTime::UNIX_EPOCH + Duration::from_secs(at);
        let response = Response {
            code: 200,
            reason: String::new(),
            headers: Vec::new(),
            body: vec![0; 1000],
        };
        let keys = ["short", "long"].map(Text::from);
        for (period, expected) in [(None, [true; 2]), (Some(60), [false, true])] {
            let mut responses = Responses::new(&CacheLimits {
                stale_period: period.map(Duration::from_secs),
                ..CacheLimits::default()
            });
            for (key, expires) in keys.iter().zip([110, 1000]) {
                assert!(responses.get(key, second(100)).is_none());
                responses.insert(key, response.clone(), second(expires));
            }
            let mut is_stored = |now| keys.each_ref().map(|key| responses.get(key, now).is_some());
            assert_eq!(is_stored(second(159)), [true; 2], "{period:?}");
            assert_eq!(is_stored(second(160)), expected, "{period:?}");
        }
    }

    #[test]
    fn responses_take_no_more_than_their_share() {
        let response = Response {
            code: 200,
            reason: String::new(),
            headers: Vec::new(),
            body: vec![0; 1000],
        };
        let now = SystemTime::now();
        let mut responses = Responses::new(&CacheLimits {
            response_bytes: 3000,
            ..CacheLimits::default()
        });
        let keys = ["a", "b", "c"].map(Text::from);
        for key in &keys {
            responses.insert(key, response.clone(), now);
        }
        let is_stored = keys.each_ref().map(|key| responses.get(key, now).is_some());
        assert_eq!(is_stored, [false, true, true]);
    }
}

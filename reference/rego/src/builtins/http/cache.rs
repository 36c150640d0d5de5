//! Responses that outlive an evaluation, for all evaluations of this process.

use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::response::Response;

/// All responses together may take this much memory.
const MAX_SIZE: usize = 64 << 20;

#[derive(Debug, Default)]
struct Cache {
    entries: HashMap<String, (Response, SystemTime)>,
    /// The keys, the oldest first.
    order: VecDeque<String>,
    size: usize,
}

static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// A lock that a panic elsewhere does not take away: no change here stops half-way.
fn lock() -> MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A response and when it is no longer fresh.
pub(super) fn get(key: &str) -> Option<(Response, SystemTime)> {
    lock().entries.get(key).cloned()
}

pub(super) fn remove(key: &str) {
    lock().take(key);
}

pub(super) fn insert(key: &str, response: Response, expires: SystemTime) {
    let size = size(key, &response);
    let mut cache = lock();
    cache.take(key);
    if size > MAX_SIZE {
        return;
    }
    while cache.size + size > MAX_SIZE {
        match cache.order.front().cloned() {
            Some(oldest) => cache.take(&oldest),
            None => break,
        }
    }
    cache.size += size;
    cache.order.push_back(key.to_owned());
    cache.entries.insert(key.to_owned(), (response, expires));
}

fn size(key: &str, response: &Response) -> usize {
    // The key is kept twice.
    2 * key.len() + response.size()
}

impl Cache {
    fn take(&mut self, key: &str) {
        let Some((response, _)) = self.entries.remove(key) else {
            return;
        };
        self.size -= size(key, &response);
        self.order.retain(|other| other != key);
    }
}

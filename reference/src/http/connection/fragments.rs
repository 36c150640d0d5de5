//! Finds request targets with a fragment, such as `/health#x`, which the parser of requests takes
//! for the target without it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use http::{Method, Uri};

use super::activity::Activity;

/// Bytes of heads that are looked at; a target this long is answered 404 without its fragment.
const LIMIT: usize = 64 << 10;

/// The bytes of heads that may hold a target with a fragment, for the next requests.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    any: AtomicBool,
    heads: Mutex<Heads>,
}

#[derive(Debug, Default)]
struct Heads {
    bytes: Vec<u8>,
    /// Where the next request begins, or what is behind the last one.
    next: usize,
}

impl Fragments {
    /// Whether the next request, with this method and target, was sent with a fragment behind it.
    pub(super) fn has(&self, method: &Method, target: &Uri) -> bool {
        if !self.any.load(Ordering::Relaxed) {
            return false;
        }
        let line = format!("{method} {target}");
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = heads.bytes.get(heads.next..).unwrap_or_default();
        // A request begins where the body before it ends, whatever that ends with.
        let mut places = rest.windows(line.len() + 1).enumerate();
        let found = places.find_map(|(at, window)| match window.split_last() {
            Some((end @ (b' ' | b'#'), found)) if found == line.as_bytes() => Some((at, *end)),
            _ => None,
        });
        let Some((at, end)) = found else {
            return false;
        };
        heads.next += at + line.len();
        end == b'#'
    }

    /// Takes up further bytes.
    fn extend(&self, bytes: &[u8]) {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.bytes.extend(bytes);
        self.any.store(true, Ordering::Relaxed);
    }

    fn clear(&self) {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        *heads = Heads::default();
        self.any.store(false, Ordering::Relaxed);
    }
}

/// Collects the heads that may hold such a target. All others cost one look at their bytes.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The number of the request that the bytes belong to.
    request: u64,
    /// Bytes that are not known to belong to such a head.
    begun: Vec<u8>,
    /// Bytes that are collected.
    count: usize,
}

impl Lines {
    /// Takes up bytes that are read while no request is answered.
    pub(super) fn note(&mut self, activity: &Activity, bytes: &[u8]) {
        if self.request != activity.begun() {
            self.request = activity.begun();
            self.begun.clear();
            if std::mem::take(&mut self.count) > 0 {
                activity.fragments.clear();
            }
        }
        if self.count + self.begun.len() + bytes.len() > LIMIT {
            return;
        }
        if self.count > 0 || bytes.contains(&b'#') {
            self.begun.extend(bytes);
            self.count += self.begun.len();
            activity.fragments.extend(&self.begun);
            self.begun.clear();
        } else if !bytes.contains(&b'\n') {
            // A line may come in several reads.
            self.begun.extend(bytes);
        }
    }
}

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
    heads: Mutex<Vec<u8>>,
}

impl Fragments {
    /// Whether a request was sent with a fragment behind its target.
    pub(super) fn has(&self, method: &Method, target: &Uri) -> bool {
        if !self.any.load(Ordering::Relaxed) {
            return false;
        }
        let line = format!("{method} {target}#");
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        // A line begins where a body ends, whatever that ends with.
        heads
            .windows(line.len())
            .any(|found| found == line.as_bytes())
    }

    fn replace(&self, heads: &[u8], any: bool) {
        let mut kept = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clear();
        kept.extend(heads);
        self.any.store(any, Ordering::Relaxed);
    }
}

/// Collects the heads that may hold such a target. All others cost one look at their bytes.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The number of the request that the bytes belong to.
    request: u64,
    kept: Vec<u8>,
    any: bool,
}

impl Lines {
    /// Takes up bytes that are read while no request is answered.
    pub(super) fn note(&mut self, activity: &Activity, bytes: &[u8]) {
        if self.request != activity.begun() {
            self.request = activity.begun();
            self.kept.clear();
            if std::mem::take(&mut self.any) {
                activity.fragments.replace(&[], false);
            }
        }
        // A line may come in several reads.
        let fragment = bytes.contains(&b'#');
        let keeps = fragment || self.any || !bytes.contains(&b'\n');
        if keeps && self.kept.len() + bytes.len() <= LIMIT {
            self.kept.extend(bytes);
        }
        self.any |= fragment;
        if self.any {
            activity.fragments.replace(&self.kept, true);
        }
    }
}

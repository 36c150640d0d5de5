//! Work on many things at once.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Fewer things than these are not worth another thread.
const SHARE: usize = 64;

/// Does the same with each of these, on all processors if there are many. The results are in the
/// order of the items.
pub(crate) fn each<T: Send, R: Send>(items: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(items.len() / SHARE);
    if threads < 2 {
        return items.iter_mut().map(work).collect();
    }
    let mut results = Vec::with_capacity(items.len());
    let shares = Mutex::new(items.chunks_mut(SHARE).enumerate());
    let done = Mutex::new(Vec::new());
    let work_off = || {
        while let Some((at, share)) = next(&shares) {
            let of_share: Vec<R> = share.iter_mut().map(&work).collect();
            locked(&done).push((at, of_share));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where no thread can be had, the others do its work.
            let _spawned = thread::Builder::new().spawn_scoped(scope, work_off);
        }
        work_off();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(at, _)| *at);
    results.extend(done.into_iter().flat_map(|(_, of_share)| of_share));
    results
}

fn next<I: Iterator>(of: &Mutex<I>) -> Option<I::Item> {
    locked(of).next()
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

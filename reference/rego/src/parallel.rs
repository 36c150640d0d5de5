//! Parallel processing of many items.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Number of items for which it pays to start another thread.
const MIN_ITEMS_PER_THREAD: usize = 64;

/// Calls `work` for each item, on all processors if there are many. The results are in the order of
/// the items.
pub(crate) fn each<T: Send, R: Send>(items: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
    let shares = items.len() / MIN_ITEMS_PER_THREAD;
    // The number of processors is determined only if needed, as the system reads files for it.
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = if shares < 2 {
        1
    } else {
        shares.min(processors())
    };
    if threads < 2 {
        return items.iter_mut().map(work).collect();
    }
    let mut results = Vec::with_capacity(items.len());
    let shares = Mutex::new(items.chunks_mut(MIN_ITEMS_PER_THREAD).enumerate());
    let done = Mutex::new(Vec::new());
    // Every other thread begins at the end. If the same items recur, most return to the thread that
    // allocated their contents, whose memory would cause contention in others.
    let work_off = |is_from_end: bool| {
        while let Some((at, share)) = next(&shares, is_from_end) {
            let of_share: Vec<R> = share.iter_mut().map(&work).collect();
            locked(&done).push((at, of_share));
        }
    };
    thread::scope(|scope| {
        for number in 1..threads {
            let work = move || work_off(number % 2 == 1);
            // If a thread cannot be started, the others do its work.
            let _spawned = thread::Builder::new().spawn_scoped(scope, work);
        }
        work_off(false);
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(at, _)| *at);
    results.extend(done.into_iter().flat_map(|(_, of_share)| of_share));
    results
}

fn next<I: DoubleEndedIterator>(of: &Mutex<I>, is_from_end: bool) -> Option<I::Item> {
    let mut rest = locked(of);
    if is_from_end {
        rest.next_back()
    } else {
        rest.next()
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

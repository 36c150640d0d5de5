//! Connection threads. Each serves its own connections, so that a response wakes no other thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use super::cpu_affinity::of_this_thread;
use crate::offload::offload;

/// Maximum number of blocking threads in total, for work that must not block connections.
const BLOCKING: usize = 512;
/// Minimum number of blocking threads per connection thread.
const LEAST_BLOCKING: usize = 64;

/// Number of steps after which a thread polls for I/O events. Under load, a step may take a
/// millisecond.
const ARRIVED: u32 = 8;
/// Number of steps after which a thread polls the tasks from other threads: new connections, and
/// completed blocking work.
const GIVEN: u32 = 4;

/// Marks an unknown processor.
const NOWHERE: usize = usize::MAX;

/// One thread per processor. The threads and their remaining tasks end when the value is dropped.
#[derive(Debug)]
pub(super) struct Threads(Vec<Thread>);

#[derive(Debug)]
struct Thread {
    runtime: Handle,
    /// Counter of the thread's connections, each of which has a clone.
    load: Load,
    /// Processor that the thread ran on when it last parked, or [`NOWHERE`].
    processor: Arc<AtomicUsize>,
    joined: JoinHandle<()>,
    _stop: oneshot::Sender<()>,
}

/// Counts a connection of a thread while it exists.
#[derive(Debug, Clone, Default)]
pub(super) struct Load(Arc<()>);

impl Threads {
    /// Starts the threads; fewer if the system refuses more.
    pub(super) fn start() -> Self {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let blocking = (BLOCKING / count).max(LEAST_BLOCKING);
        let threads = (0..count).map_while(|_| Thread::start(blocking).ok());
        Self(threads.collect())
    }

    /// Chooses the thread for a connection that arrives at this processor, and counts it.
    pub(super) fn choose(&self, processor: Option<usize>) -> Option<(&Handle, Load)> {
        let threads = self.0.iter().map(|thread| {
            let load = Arc::strong_count(&thread.load.0);
            (load, thread.processor.load(Ordering::Relaxed))
        });
        let chosen = self.0.get(nearest(threads, processor)?)?;
        Some((&chosen.runtime, chosen.load.clone()))
    }
}

impl Thread {
    fn start(aside: usize) -> io::Result<Self> {
        let processor = Arc::new(AtomicUsize::new(NOWHERE));
        let last = Arc::clone(&processor);
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime
            .enable_all()
            .on_thread_park(move || {
                let here = of_this_thread().unwrap_or(NOWHERE);
                last.store(here, Ordering::Relaxed);
            })
            .event_interval(ARRIVED)
            .global_queue_interval(GIVEN)
            .max_blocking_threads(aside)
            .build()?;
        let handle = runtime.handle().clone();
        // Nothing is sent: the thread ends when the sender is dropped.
        let (stop, stopped) = oneshot::channel::<()>();
        let serve = move || drop(runtime.block_on(stopped));
        Ok(Self {
            runtime: handle,
            load: Load::default(),
            processor,
            joined: thread::Builder::new()
                .name("connections".into())
                .spawn(serve)?,
            _stop: stop,
        })
    }
}

/// Chooses one of several threads, given by load and processor: one on the processor where the
/// connection arrives, if its load is at most a quarter higher than the least load, or else the one
/// with the least load. On the same processor, no processor has to wake another.
fn nearest(
    threads: impl Iterator<Item = (usize, usize)> + Clone,
    processor: Option<usize>,
) -> Option<usize> {
    let (least, _) = threads.clone().min()?;
    let most = least + least / 4;
    let cost = |(load, at): (usize, usize)| {
        let is_near = processor == Some(at) && load <= most;
        (!is_near, load)
    };
    let (nearest, _) = threads
        .enumerate()
        .min_by_key(|(_, thread)| cost(*thread))?;
    Some(nearest)
}

impl Drop for Threads {
    /// Ends the threads. Blocking work that their connections have begun may still continue: the
    /// surrounding runtime waits for that, as for its own, when it ends.
    fn drop(&mut self) {
        let threads = self.0.drain(..).map(|thread| thread.joined);
        let threads: Vec<_> = threads.collect();
        offload(move || {
            for thread in threads {
                // A panic of a connection was reported by its task.
                drop(thread.join());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::future;
    use std::sync::Arc;

    use rstest::rstest;
    use tokio::sync::oneshot;

    use super::{Load, NOWHERE, Threads, nearest};

    fn least(threads: &Threads) -> Option<Load> {
        threads.choose(None).map(|(_, load)| load)
    }

    #[tokio::test]
    async fn connections_go_to_the_thread_with_the_fewest() {
        let threads = Threads::start();
        let mut loads: Vec<Load> = threads.0.iter().filter_map(|_| least(&threads)).collect();
        assert_eq!(loads.len(), threads.0.len());
        for thread in &threads.0 {
            assert_eq!(Arc::strong_count(&thread.load.0), 2);
        }
        let last = loads.pop().unwrap_or_default();
        let again = Arc::as_ptr(&last.0);
        drop(last);
        assert_eq!(
            least(&threads).map(|load| Arc::as_ptr(&load.0)),
            Some(again)
        );
    }

    #[rstest]
    #[case::no_threads(&[], Some(0), None)]
    #[case::arrived_there(&[(1, 0), (1, 1)], Some(1), Some(1))]
    #[case::arrived_nowhere(&[(1, 0), (1, 1)], None, Some(0))]
    #[case::busier(&[(1, 0), (2, 1)], Some(1), Some(0))]
    #[case::slightly_busier(&[(8, 0), (10, 1)], Some(1), Some(1))]
    #[case::much_busier(&[(8, 0), (11, 1)], Some(1), Some(0))]
    #[case::two_on_one_processor(&[(9, 0), (8, 1), (8, 0)], Some(0), Some(2))]
    #[case::threads_anywhere(&[(8, NOWHERE), (7, NOWHERE)], Some(0), Some(1))]
    fn connections_go_where_they_arrive_unless_that_is_busier(
        #[case] threads: &[(usize, usize)],
        #[case] processor: Option<usize>,
        #[case] expected: Option<usize>,
    ) {
        let chosen = nearest(threads.iter().copied(), processor);
        assert_eq!(chosen, expected);
    }

    #[tokio::test]
    async fn what_is_left_on_threads_ends_with_them() {
        let threads = Threads::start();
        let (sender, receiver) = oneshot::channel::<()>();
        let left = async move {
            future::pending::<()>().await;
            drop(sender);
        };
        assert!(
            threads
                .choose(None)
                .map(|(thread, _)| thread.spawn(left))
                .is_some()
        );
        drop(threads);
        assert!(receiver.await.is_err());
    }
}

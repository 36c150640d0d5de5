//! Timers that are created on first use.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// A timer that is created on first use.
#[derive(Debug, Default)]
pub(super) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    running: bool,
}

impl Timer {
    /// Returns `Ready` when `period` has passed since the first call after a stop.
    pub(super) fn poll(&mut self, context: &mut Context<'_>, period: Duration) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep(period)));
        if !self.running {
            self.running = true;
            sleep.as_mut().reset(Instant::now() + period);
        }
        ready!(sleep.as_mut().poll(context));
        self.running = false;
        Poll::Ready(())
    }

    /// Stops the timer; returns whether it was running.
    pub(super) fn stop(&mut self) -> bool {
        std::mem::take(&mut self.running)
    }
}

//! Trials: isolated builds of bundles during whose build a process crashed.
//!
//! It is unknown which of the builds that ran then caused the crash. So each of these bundles is
//! built again after all others, and alone: if the process crashes once more, that bundle is the
//! cause, and is not built any more. Neither the others nor a suspected bundle wait forever: after
//! a while no other build starts until the trial has started, and a long trial continues
//! concurrently with others.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

/// Time for which other builds take precedence over a waiting trial.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time that running builds get to finish before a trial starts concurrently with them.
const DRAIN: Duration = Duration::from_secs(30);

/// Time for which a trial runs alone.
const ALONE: Duration = Duration::from_secs(60);

/// Guard that the build of a trial holds.
pub(super) type TrialGuard = Arc<()>;

/// Kind of the builds to start next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextBuild {
    /// Other builds; a trial if there are none, and no trial runs.
    Others,
    /// A trial.
    Trial,
    /// None yet.
    Nothing,
}

/// Trial scheduler of a process; one trial runs at a time.
#[derive(Debug, Default)]
pub(super) struct Trials {
    /// Time since when a bundle waits for its trial.
    waiting_since: Option<Instant>,
    /// Running trial, and its start time.
    running: Option<(Weak<()>, Instant)>,
}

impl Trials {
    /// Records whether bundles wait for their trials.
    pub(super) fn set_waiting(&mut self, is_waiting: bool, now: Instant) {
        self.waiting_since = is_waiting.then(|| self.waiting_since.unwrap_or(now));
    }

    /// Whether a trial may start if no other build does.
    pub(super) fn may_start(&self) -> bool {
        self.waiting_since.is_some() && !self.is_running()
    }

    fn is_running(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|(guard, _)| guard.strong_count() > 0)
    }

    /// Returns what to start now, depending on whether any builds run.
    pub(super) fn next(&self, is_idle: bool, now: Instant) -> NextBuild {
        if let Some((_, started)) = &self.running
            && self.is_running()
        {
            return match now.duration_since(*started) < ALONE {
                true => NextBuild::Nothing,
                false => NextBuild::Others,
            };
        }
        match self.waiting_since.map(|since| now.duration_since(since)) {
            None => NextBuild::Others,
            Some(waited) if waited < PATIENCE => NextBuild::Others,
            Some(waited) if is_idle || waited >= PATIENCE + DRAIN => NextBuild::Trial,
            Some(_) => NextBuild::Nothing,
        }
    }

    /// Starts a trial.
    pub(super) fn begin(&mut self, now: Instant) -> TrialGuard {
        let guard = TrialGuard::default();
        self.running = Some((Arc::downgrade(&guard), now));
        self.waiting_since = None;
        guard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_come_after_others_and_alone_but_not_never() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut trials = Trials::default();
        assert_eq!(trials.next(true, at(0)), NextBuild::Others);
        assert!(!trials.may_start());
        trials.set_waiting(true, at(0));
        assert!(trials.may_start());
        for (seconds, is_idle, next) in [
            (1, true, NextBuild::Others),
            (29, false, NextBuild::Others),
            (30, false, NextBuild::Nothing),
            (30, true, NextBuild::Trial),
            (59, false, NextBuild::Nothing),
            (60, false, NextBuild::Trial),
        ] {
            trials.set_waiting(true, at(seconds));
            assert_eq!(trials.next(is_idle, at(seconds)), next, "{seconds}");
        }
        let guard = trials.begin(at(100));
        trials.set_waiting(true, at(101));
        assert!(!trials.may_start(), "one at a time");
        for (seconds, next) in [
            (101, NextBuild::Nothing),
            (159, NextBuild::Nothing),
            (160, NextBuild::Others),
            // Another one waits, but this one has not finished.
            (500, NextBuild::Others),
        ] {
            assert_eq!(trials.next(false, at(seconds)), next, "{seconds}");
        }
        drop(guard);
        assert_eq!(trials.next(true, at(102)), NextBuild::Others);
        assert!(trials.may_start());
        trials.set_waiting(false, at(103));
        assert!(!trials.may_start());
    }
}

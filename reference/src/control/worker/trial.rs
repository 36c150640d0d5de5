//! Trials: builds of bundles during whose build a process has ended.
//!
//! Nobody knows which of the builds that ran then ended the process. So each of these bundles is
//! built again after all others, and alone: if the process ends once more, that bundle did it, and
//! is not built any more. Neither the others nor a bundle under suspicion wait for ever: after a
//! while no other build is begun until the trial has been, and a trial that takes long goes on
//! beside others.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

/// How long others go first.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long builds may take to end before a trial begins beside them.
const DRAIN: Duration = Duration::from_secs(30);

/// How long a trial is alone.
const ALONE: Duration = Duration::from_secs(60);

/// What a build holds that is a trial.
pub(super) type TrialGuard = Arc<()>;

/// What is begun next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Other builds; a trial if there are none, and none runs.
    Others,
    /// A trial.
    Trial,
    /// Nothing yet.
    Nothing,
}

/// The trials of a process, of which one runs at a time.
#[derive(Debug, Default)]
pub(super) struct Trials {
    /// Since when a bundle waits for its trial.
    waits: Option<Instant>,
    /// The one that runs, and when it began.
    runs: Option<(Weak<()>, Instant)>,
}

impl Trials {
    /// Takes note whether bundles wait for their trials.
    pub(super) fn note(&mut self, waits: bool, now: Instant) {
        self.waits = waits.then(|| self.waits.unwrap_or(now));
    }

    /// Whether a trial may begin where no other build does.
    pub(super) fn wait(&self) -> bool {
        self.waits.is_some() && !self.is_running()
    }

    fn is_running(&self) -> bool {
        let runs = self.runs.as_ref();
        runs.is_some_and(|(held, _)| held.strong_count() > 0)
    }

    /// What is begun now, where builds run or none does.
    pub(super) fn next(&self, is_idle: bool, now: Instant) -> Next {
        if let Some((_, begun)) = &self.runs
            && self.is_running()
        {
            return match now.duration_since(*begun) < ALONE {
                true => Next::Nothing,
                false => Next::Others,
            };
        }
        match self.waits.map(|since| now.duration_since(since)) {
            None => Next::Others,
            Some(waited) if waited < PATIENCE => Next::Others,
            Some(waited) if is_idle || waited >= PATIENCE + DRAIN => Next::Trial,
            Some(_) => Next::Nothing,
        }
    }

    /// A trial begins.
    pub(super) fn begin(&mut self, now: Instant) -> TrialGuard {
        let held = TrialGuard::default();
        self.runs = Some((Arc::downgrade(&held), now));
        self.waits = None;
        held
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
        assert_eq!(trials.next(true, at(0)), Next::Others);
        assert!(!trials.wait());
        trials.note(true, at(0));
        assert!(trials.wait());
        for (seconds, is_idle, next) in [
            (1, true, Next::Others),
            (29, false, Next::Others),
            (30, false, Next::Nothing),
            (30, true, Next::Trial),
            (59, false, Next::Nothing),
            (60, false, Next::Trial),
        ] {
            trials.note(true, at(seconds));
            assert_eq!(trials.next(is_idle, at(seconds)), next, "{seconds}");
        }
        let held = trials.begin(at(100));
        trials.note(true, at(101));
        assert!(!trials.wait(), "one at a time");
        for (seconds, next) in [
            (101, Next::Nothing),
            (159, Next::Nothing),
            (160, Next::Others),
            // Another one waits, but this one has not ended.
            (500, Next::Others),
        ] {
            assert_eq!(trials.next(false, at(seconds)), next, "{seconds}");
        }
        drop(held);
        assert_eq!(trials.next(true, at(102)), Next::Others);
        assert!(trials.wait());
        trials.note(false, at(103));
        assert!(!trials.wait());
    }
}

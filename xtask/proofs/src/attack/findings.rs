//! What an attack came to.

use std::time::Duration;

use rustix::process::Signal;

use super::bystander::Watched;
use super::harness::GRACE;
use crate::servers::{Failure, Process};

/// What running builds may take when a server is told to stop.
const BUILDS: Duration = Duration::from_secs(15);

/// What a server may take after its grace period until it has ended, on a machine that is busy.
const SLACK: Duration = Duration::from_secs(3);

/// What an answer may take beside other attacks, in milliseconds.
const COMPANY: f64 = 500.0;

/// What was tried, and what of it did not hold.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) tried: usize,
    /// What did not hold, in words.
    pub(super) broken: Vec<String>,
    /// What the bystander saw, of all servers the worst.
    pub(super) watched: Option<Watched>,
    /// The highest resident memory of a server, in KiB.
    pub(super) peak: u64,
    /// Resident memory of that server at the end, in KiB.
    pub(super) after: u64,
}

impl Findings {
    /// Counts something that must hold.
    pub(super) fn hold(&mut self, what: impl Into<String>, held: bool) {
        self.tried += 1;
        if !held {
            self.broken.push(what.into());
        }
    }

    /// Counts something that must succeed.
    pub(super) fn succeed<E: std::fmt::Display>(&mut self, what: &str, outcome: Result<(), E>) {
        self.tried += 1;
        if let Err(why) = outcome {
            self.broken.push(format!("{what}: {why}"));
        }
    }

    /// Says of everything that was found since then by what it was found.
    pub(super) fn name(&mut self, since: usize, what: &str) {
        for found in self.broken.iter_mut().skip(since) {
            *found = format!("{what}: {found}");
        }
    }

    /// Holds that the bystander did not notice.
    pub(super) fn watch(&mut self, watched: Watched) {
        let bound = watched.bound();
        self.watch_within(watched, bound);
    }

    /// Holds that the bystander was answered in a time that allows for other attacks beside this
    /// one.
    pub(super) fn watch_in_company(&mut self, watched: Watched) {
        self.watch_within(watched, COMPANY);
    }

    fn watch_within(&mut self, watched: Watched, bound: f64) {
        self.hold(
            format!(
                "the bystander's p99 is {:.0} ms, bound {bound:.0} ms",
                watched.tail
            ),
            watched.tail <= bound,
        );
        let failures = watched.failures.join("; ");
        self.hold(
            format!("the bystander was not answered: {failures}"),
            failures.is_empty(),
        );
        let worst = self.watched.take();
        self.watched = match worst {
            Some(worst) if worst.tail > watched.tail => Some(worst),
            _ => Some(watched),
        };
    }

    /// Holds that the server's memory stayed below so many MiB.
    ///
    /// # Errors
    /// When the server is gone.
    pub(super) fn weigh(&mut self, server: &Process, most: u64) -> Result<(), Failure> {
        let peak = server.peak()?;
        if peak > self.peak {
            (self.peak, self.after) = (peak, server.resident()?);
        }
        let peak = peak >> 10;
        self.hold(format!("{peak} MiB of {most}"), peak <= most);
        Ok(())
    }

    /// Holds that the server ends well within its grace period, and that nothing panicked.
    ///
    /// # Errors
    /// When the server is gone already.
    pub(super) async fn end(&mut self, server: &mut Process) -> Result<(), Failure> {
        self.end_within(server, GRACE).await
    }

    /// Holds that a server ends that builds bundles, which are given a time of their own to end.
    ///
    /// # Errors
    /// When the server is gone already.
    pub(super) async fn end_builds(&mut self, server: &mut Process) -> Result<(), Failure> {
        self.end_within(server, BUILDS).await
    }

    async fn end_within(&mut self, server: &mut Process, time: Duration) -> Result<(), Failure> {
        server.signal(Signal::TERM)?;
        let ended = server.ends(time + SLACK).await?;
        self.hold(
            format!("SIGTERM: the server has ended with {ended:?}"),
            ended.is_some_and(|status| status.success()),
        );
        let said = server.said();
        let panicked = said.lines().find(|line| line.contains("panicked"));
        self.hold(format!("{panicked:?}"), panicked.is_none());
        Ok(())
    }
}

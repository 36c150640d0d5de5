//! Collects the results of an attack.

use rustix::process::Signal;

use super::BESIDE;
use super::health_monitor::HealthSamples;
use crate::servers::{Failure, HANG_LIMIT, Process};

/// Number of checks of an attack, and the failed ones.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) tried: usize,
    /// Descriptions of failed checks.
    pub(super) broken: Vec<String>,
    /// Samples of the health monitor of the server with the highest latency.
    pub(super) watched: Option<HealthSamples>,
    /// Highest resident memory of a server, in KiB.
    pub(super) peak: u64,
    /// Resident memory of the attacked server at the end, in KiB.
    pub(super) after: u64,
}

impl Findings {
    /// Checks that a condition is true.
    pub(super) fn check(&mut self, what: impl Into<String>, holds: bool) {
        self.tried += 1;
        if !holds {
            self.broken.push(what.into());
        }
    }

    /// Checks that an operation succeeded.
    pub(super) fn succeed<E: std::fmt::Display>(&mut self, what: &str, outcome: Result<(), E>) {
        self.tried += 1;
        if let Err(error) = outcome {
            self.broken.push(format!("{what}: {error}"));
        }
    }

    /// Prefixes with a name the descriptions of failed checks from index `since` on.
    pub(super) fn prefix_from(&mut self, since: usize, what: &str) {
        for found in self.broken.iter_mut().skip(since) {
            *found = format!("{what}: {found}");
        }
    }

    /// Checks that the attack did not affect the health monitor.
    pub(super) fn watch(&mut self, watched: HealthSamples) {
        self.watch_among(watched, 1);
    }

    /// Checks that the attack did not affect the health monitor, with a bound that allows for other
    /// attacks at the same time.
    pub(super) fn watch_in_company(&mut self, watched: HealthSamples) {
        self.watch_among(watched, BESIDE);
    }

    fn watch_among(&mut self, watched: HealthSamples, attacks: usize) {
        let attacks = attacks as f64;
        let bound = watched.bound(attacks);
        self.check(
            format!(
                "the bystander's p99 is {:.0} ms, bound {bound:.0} ms",
                watched.tail
            ),
            watched.tail <= bound,
        );
        let bound = watched.decision_bound(attacks);
        self.check(
            format!(
                "the p99 of the bystander's decisions is {:.0} ms, bound {bound:.0} ms",
                watched.decision
            ),
            watched.decision <= bound,
        );
        let failures = watched.failures.join("; ");
        self.check(
            format!("the bystander was not answered: {failures}"),
            failures.is_empty(),
        );
        let worst = self.watched.take();
        self.watched = match worst {
            Some(worst) if worst.tail > watched.tail => Some(worst),
            _ => Some(watched),
        };
    }

    /// Checks that the server's peak memory is at most `most` MiB.
    ///
    /// # Errors
    /// When the server has ended.
    pub(super) fn check_memory(&mut self, server: &Process, most: u64) -> Result<(), Failure> {
        let peak = server.peak()?;
        if peak > self.peak {
            (self.peak, self.after) = (peak, server.resident()?);
        }
        let peak = peak >> 10;
        self.check(format!("{peak} MiB of {most}"), peak <= most);
        Ok(())
    }

    /// Checks that the server exits successfully on SIGTERM and did not panic before. If the server
    /// exceeds the grace period, its watchdog ends it with another exit code.
    ///
    /// # Errors
    /// When the server has already ended.
    pub(super) async fn end(&mut self, server: &mut Process) -> Result<(), Failure> {
        server.signal(Signal::TERM)?;
        let ended = server.wait_for_exit(HANG_LIMIT).await?;
        self.check(
            format!("SIGTERM: the server has ended with {ended:?}"),
            ended.is_some_and(|status| status.success()),
        );
        let output = server.output();
        let panicked = output.lines().find(|line| line.contains("panicked"));
        self.check(format!("{panicked:?}"), panicked.is_none());
        Ok(())
    }
}

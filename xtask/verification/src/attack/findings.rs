//! Results of an attack.

use rustix::process::Signal;

use super::BESIDE;
use super::health_monitor::HealthSamples;
use crate::servers::{Failure, HANG_LIMIT, Process};

/// What was tried, and what of it did not hold.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) tried: usize,
    /// What did not hold, in words.
    pub(super) broken: Vec<String>,
    /// What the bystander saw, of all servers the worst.
    pub(super) watched: Option<HealthSamples>,
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
    pub(super) fn watch(&mut self, watched: HealthSamples) {
        self.watch_beside(watched, 1);
    }

    /// Holds that the bystander was answered in a time that allows for other attacks beside this
    /// one.
    pub(super) fn watch_in_company(&mut self, watched: HealthSamples) {
        self.watch_beside(watched, BESIDE);
    }

    fn watch_beside(&mut self, watched: HealthSamples, attacks: usize) {
        let attacks = attacks as f64;
        let bound = watched.bound(attacks);
        self.hold(
            format!(
                "the bystander's p99 is {:.0} ms, bound {bound:.0} ms",
                watched.tail
            ),
            watched.tail <= bound,
        );
        let bound = watched.decision_bound(attacks);
        self.hold(
            format!(
                "the p99 of the bystander's decisions is {:.0} ms, bound {bound:.0} ms",
                watched.decision
            ),
            watched.decision <= bound,
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

    /// Holds that the server ends by itself, and that nothing panicked. One that does not within the
    /// time that its grace period allows is ended by its own watch, with another exit code.
    ///
    /// # Errors
    /// When the server is gone already.
    pub(super) async fn end(&mut self, server: &mut Process) -> Result<(), Failure> {
        server.signal(Signal::TERM)?;
        let ended = server.ends(HANG_LIMIT).await?;
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

//! The two servers.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use super::{Bound, Wanted};
use crate::postgres::done;
use crate::servers::Server;
use crate::{peers, report, root};

/// Our server and the real OPA.
#[derive(Debug)]
pub(super) struct Pair {
    /// Ours.
    pub(super) ours: Server,
    /// The real one.
    pub(super) opa: Server,
}

impl Pair {
    /// Builds and starts both.
    pub(super) fn start(folder: &Path) -> Result<Self, Box<dyn Error>> {
        report("building", "the reference for release");
        done(Command::new("cargo").current_dir(root()).args([
            "build",
            "--release",
            "-p",
            "reference",
        ]))?;
        let opa = peers::build()?;
        let ours = root().join("target/release/reference");
        // Each program is read from disk once before its start is timed.
        let start = |program, arguments: &[&str]| {
            drop(Server::start(program, arguments, folder)?);
            Server::start(program, arguments, folder)
        };
        Ok(Self {
            ours: start(&ours, &["engine"])?,
            opa: start(&opa, peers::SERVE)?,
        })
    }

    /// How long OPA takes until it answers, to how long we take.
    pub(super) fn startup(&self) -> Bound {
        let ratio = self.opa.startup.as_secs_f64() / self.ours.startup.as_secs_f64();
        Bound::new("start-up, OPA to ours", ratio, Wanted::AtLeast(1.0))
    }

    /// Resident memory, ours to OPA's.
    pub(super) fn memory(&self) -> Result<f64, Box<dyn Error>> {
        Ok(self.ours.memory()? / self.opa.memory()?)
    }
}

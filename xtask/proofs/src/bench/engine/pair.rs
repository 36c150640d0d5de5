//! The two servers.

use std::error::Error;
use std::path::{Path, PathBuf};

use super::{Bound, Wanted};
use crate::servers::Server;
use crate::{peers, release_build, report};

/// The programs of both servers.
#[derive(Debug)]
pub(in crate::bench) struct Programs {
    pub(super) ours: PathBuf,
    pub(super) opa: PathBuf,
}

impl Programs {
    /// Builds both.
    ///
    /// # Errors
    /// When one cannot be built.
    pub(in crate::bench) fn build() -> Result<Self, Box<dyn Error>> {
        report("building", "the reference as it is given out");
        Ok(Self {
            ours: release_build::reference()?,
            opa: peers::build()?,
        })
    }

    /// Starts both, each with its own arguments and with those for both.
    ///
    /// # Errors
    /// When one does not answer.
    pub(in crate::bench) fn start(
        &self,
        folder: &Path,
        (ours, opa): (&[&str], &[&str]),
        both: &[&str],
    ) -> Result<Pair, Box<dyn Error>> {
        // Each program is read from disk once before its start is timed.
        let start = |program, arguments: &[&[&str]]| {
            let arguments = arguments.concat();
            drop(Server::start(program, &arguments, folder)?);
            Server::start(program, &arguments, folder)
        };
        Ok(Pair {
            ours: start(&self.ours, &[&["engine"], ours, both])?,
            opa: start(&self.opa, &[peers::SERVE, opa, both])?,
        })
    }
}

/// Our server and the real OPA.
#[derive(Debug)]
pub(in crate::bench) struct Pair {
    /// Ours.
    pub(in crate::bench) ours: Server,
    /// The real one.
    pub(in crate::bench) opa: Server,
}

impl Pair {
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

//! Our server and a peer, side by side.

use std::error::Error;
use std::path::{Path, PathBuf};

use super::{Bound, Limit};
use crate::servers::Server;
use crate::stored_evidence::on_search_path;
use crate::{real_opa, release_build, report};

/// Another implementation, with the minimum ratios to our results.
#[derive(Debug)]
pub(in crate::bench) struct Peer {
    /// Name in reports.
    pub(in crate::bench) name: &'static str,
    /// Arguments that start the server.
    pub(super) serve: &'static [&'static str],
    /// Name of the metric in a decision's response that states the evaluation time, in nanoseconds.
    pub(super) timer: &'static str,
    /// Minimum ratio of our responses per second to the peer's.
    pub(super) throughput: f64,
    /// Minimum ratio of the peer's evaluation time to ours.
    pub(super) evaluator: f64,
    /// Minimum ratio of the evaluation times for small policies, for which the overhead of a call
    /// is a large share.
    pub(super) small: f64,
}

const OPA: &Peer = &Peer {
    name: "OPA",
    serve: real_opa::SERVE,
    timer: TIMER,
    throughput: 3.0,
    evaluator: 4.0,
    small: 2.5,
};

const EOPA: &Peer = &Peer {
    name: "EOPA",
    serve: &["run", "--server"],
    timer: "timer_regovm_eval_ns",
    throughput: 1.5,
    evaluator: 2.0,
    small: 2.0,
};

/// Name of the metric of our evaluation time, in nanoseconds.
pub(super) const TIMER: &str = "timer_rego_query_eval_ns";

/// Paths of our program and of a peer's.
#[derive(Debug)]
pub(in crate::bench) struct Programs {
    pub(super) ours: PathBuf,
    pub(super) theirs: PathBuf,
    pub(super) peer: &'static Peer,
}

impl Programs {
    /// Builds our program and the real OPA.
    ///
    /// # Errors
    /// When one cannot be built.
    pub(in crate::bench) fn build() -> Result<Self, Box<dyn Error>> {
        report("building", "the reference as it is given out");
        Ok(Self {
            ours: release_build::reference()?,
            theirs: real_opa::build()?,
            peer: OPA,
        })
    }

    /// Returns our program with EOPA, if that is on the search path.
    pub(in crate::bench) fn beside_eopa(&self) -> Option<Self> {
        let Some(theirs) = on_search_path("eopa") else {
            report("EOPA", "`eopa` is not on the search path: not measured");
            return None;
        };
        Some(Self {
            ours: self.ours.clone(),
            theirs,
            peer: EOPA,
        })
    }

    /// Starts both servers, each with its own and the common arguments.
    ///
    /// # Errors
    /// When one does not respond.
    pub(in crate::bench) fn start(
        &self,
        folder: &Path,
        (ours, theirs): (&[&str], &[&str]),
        both: &[&str],
    ) -> Result<SideBySide, Box<dyn Error>> {
        // A first start reads the program from disk, so that the timed one does not.
        let start = |program, arguments: &[&[&str]]| {
            let arguments = arguments.concat();
            drop(Server::start(program, &arguments, folder)?);
            Server::start(program, &arguments, folder)
        };
        Ok(SideBySide {
            ours: start(&self.ours, &[&["engine"], ours, both])?,
            theirs: start(&self.theirs, &[self.peer.serve, theirs, both])?,
            peer: self.peer,
        })
    }
}

/// Running servers: ours and a peer's.
#[derive(Debug)]
pub(in crate::bench) struct SideBySide {
    /// Our server.
    pub(in crate::bench) ours: Server,
    /// The peer's server.
    pub(in crate::bench) theirs: Server,
    pub(in crate::bench) peer: &'static Peer,
}

impl SideBySide {
    /// Returns the ratio of the peer's start-up time to ours.
    pub(super) fn startup(&self) -> Bound {
        let ratio = self.theirs.startup.as_secs_f64() / self.ours.startup.as_secs_f64();
        let what = format!("start-up, {} to ours", self.peer.name);
        Bound::new(what, ratio, Limit::AtLeast(1.0))
    }

    /// Returns the ratio of our resident memory to the peer's.
    pub(super) fn memory(&self) -> Result<f64, Box<dyn Error>> {
        Ok(self.ours.memory()? / self.theirs.memory()?)
    }
}

//! Our server and a peer, side by side.

use std::error::Error;
use std::path::{Path, PathBuf};

use super::{Bound, Limit};
use crate::servers::Server;
use crate::stored_evidence::on_search_path;
use crate::{real_opa, release_build, report};

/// Another implementation, and how much faster than it ours has to be.
#[derive(Debug)]
pub(in crate::bench) struct Peer {
    /// How measures name it.
    pub(in crate::bench) name: &'static str,
    /// The arguments by which it becomes a server.
    pub(super) serve: &'static [&'static str],
    /// The metric of a decision that says how long its evaluation took.
    pub(super) timer: &'static str,
    /// At least so many times its answers per second.
    pub(super) throughput: f64,
    /// Its evaluations take at least so many times the time of ours.
    pub(super) evaluator: f64,
    /// The same of small policies: what a call costs before it begins is a large part of it.
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

/// The metric by which ours says how long an evaluation took.
pub(super) const TIMER: &str = "timer_rego_query_eval_ns";

/// Our program and that of a peer.
#[derive(Debug)]
pub(in crate::bench) struct Programs {
    pub(super) ours: PathBuf,
    pub(super) theirs: PathBuf,
    pub(super) peer: &'static Peer,
}

impl Programs {
    /// Builds ours and the real OPA.
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

    /// Ours beside EOPA, if that is on the search path.
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

    /// Starts both, each with its own arguments and with those for both.
    ///
    /// # Errors
    /// When one does not answer.
    pub(in crate::bench) fn start(
        &self,
        folder: &Path,
        (ours, theirs): (&[&str], &[&str]),
        both: &[&str],
    ) -> Result<SideBySide, Box<dyn Error>> {
        // Each program is read from disk once before its start is timed.
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

/// Our server and that of a peer.
#[derive(Debug)]
pub(in crate::bench) struct SideBySide {
    /// Ours.
    pub(in crate::bench) ours: Server,
    /// The peer's.
    pub(in crate::bench) theirs: Server,
    pub(in crate::bench) peer: &'static Peer,
}

impl SideBySide {
    /// How long the peer takes until it answers, to how long we take.
    pub(super) fn startup(&self) -> Bound {
        let ratio = self.theirs.startup.as_secs_f64() / self.ours.startup.as_secs_f64();
        let what = format!("start-up, {} to ours", self.peer.name);
        Bound::new(what, ratio, Limit::AtLeast(1.0))
    }

    /// Resident memory, ours to the peer's.
    pub(super) fn memory(&self) -> Result<f64, Box<dyn Error>> {
        Ok(self.ours.memory()? / self.theirs.memory()?)
    }
}

//! Comparison of our engine with OPA and EOPA, in alternating turns.

mod activation;
mod evaluator;
mod hyper_baseline;
mod processors;
mod scaling;
mod side_by_side;
mod start;
mod throughput;

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use rego_generate::measured::Policy;

use super::{median, scratch};
use crate::report;
use crate::servers::{Client, Server};
pub(super) use side_by_side::{Programs, SideBySide};

pub(super) type Outcome = Result<(), Box<dyn Error>>;

/// Command-line options of `bench engine`.
#[derive(Debug, Clone, Args)]
pub(crate) struct Choice {
    /// Only the evaluator beside regorus, which builds and starts no server.
    #[arg(long)]
    rvm: bool,
    /// Only decisions over HTTP.
    #[arg(long, conflicts_with = "rvm")]
    http: bool,
    /// Only starts with much to load, and activations beside decisions.
    #[arg(long, conflicts_with_all = ["rvm", "http"])]
    start: bool,
    /// The folder of the sources of `cedar-examples`, whose policies become cases of it.
    #[arg(long, requires = "rvm")]
    cedar: Option<PathBuf>,
    /// The same with those of the enterprise edition of OPA.
    #[arg(long, requires = "rvm")]
    eopa: Option<PathBuf>,
    /// Runs only the cases of `--rvm` whose names contain one of these texts.
    #[arg(requires = "rvm")]
    cases: Vec<String>,
}

/// Runs every measurement, also against EOPA if that is on the search path, and then compares all
/// results with their bounds.
///
/// # Errors
/// When a bound is exceeded, or a server cannot be built or fails.
pub(crate) fn run(choice: &Choice) -> Outcome {
    if choice.rvm {
        let mut arguments: Vec<OsString> = Vec::new();
        for (flag, folder) in [("--cedar", &choice.cedar), ("--eopa", &choice.eopa)] {
            arguments.extend(
                folder
                    .iter()
                    .flat_map(|folder| [flag.into(), folder.into()]),
            );
        }
        arguments.extend(choice.cases.iter().map(Into::into));
        return evaluator::beside_regorus(&["run"], &arguments);
    }
    let programs = Programs::build()?;
    let mut bounds = Bounds::default();
    compare_with_peer(&programs, choice, &mut bounds)?;
    if let Some(programs) = programs.beside_eopa() {
        compare_with_peer(&programs, choice, &mut bounds)?;
    }
    if !choice.start {
        alone(&programs, choice, &mut bounds)?;
    }
    if !choice.start && !choice.http {
        evaluator::beside_regorus(&["test", "run"], &[])?;
    }
    bounds.check()
}

/// Measures our engine against a peer.
fn compare_with_peer(programs: &Programs, choice: &Choice, bounds: &mut Bounds) -> Outcome {
    let folder = scratch()?;
    if !choice.http {
        bounds.add(start::measure(programs, folder.path())?);
        bounds.add(activation::measure(programs, folder.path())?);
    }
    if !choice.start {
        let start = || programs.start(folder.path(), (&[], &[]), &[]);
        let pair = start()?;
        bounds.add(throughput::measure(&pair)?);
        if !choice.http {
            bounds.add([pair.startup()]);
            bounds.add(evaluator::measure(&pair)?);
            drop(pair);
            bounds.add(scaling::documents(&start()?)?);
        }
    }
    Ok(())
}

/// Measures our engine against a server that only speaks HTTP, and against itself under other
/// conditions.
fn alone(programs: &Programs, choice: &Choice, bounds: &mut Bounds) -> Outcome {
    let folder = scratch()?;
    let ours = Server::start(&programs.ours, &["engine"], folder.path())?;
    bounds.add(throughput::beside_bare(&ours)?);
    bounds.add([throughput::two_threads(&ours)?]);
    if !choice.http {
        bounds.add(scaling::policies(&ours)?);
    }
    Ok(())
}

/// Collects the results that are out of bounds.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    missed: Vec<String>,
}

impl Bounds {
    /// Prints results, and keeps those that are out of bounds.
    pub(super) fn add(&mut self, measured: impl IntoIterator<Item = Bound>) {
        for bound in measured {
            report(&bound.what, &bound.summary());
            if !bound.holds() {
                self.missed.push(bound.what);
            }
        }
    }

    /// # Errors
    /// Names the results that are out of bounds.
    pub(super) fn check(self) -> Outcome {
        match self.missed.is_empty() {
            true => Ok(()),
            false => Err(format!("out of bounds: {}", self.missed.join("; ")).into()),
        }
    }
}

/// Measured ratio with its limit.
#[derive(Debug)]
pub(super) struct Bound {
    what: String,
    ratio: f64,
    limit: Limit,
    /// Goal of the ratio, if noise requires that its limit is looser.
    goal: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    AtLeast(f64),
    AtMost(f64),
    /// No limit: the ratio is reported only.
    Any,
}

impl Bound {
    pub(super) fn new(what: impl Into<String>, ratio: f64, limit: Limit) -> Self {
        Self {
            what: what.into(),
            ratio,
            limit,
            goal: None,
        }
    }

    /// Returns the bound with a goal; the report states whether the goal is missed.
    pub(super) fn towards(self, goal: f64) -> Self {
        Self {
            goal: Some(goal),
            ..self
        }
    }

    fn misses(&self, goal: f64) -> bool {
        match self.limit {
            Limit::AtLeast(_) => self.ratio < goal,
            Limit::AtMost(_) => self.ratio > goal,
            Limit::Any => false,
        }
    }

    fn holds(&self) -> bool {
        match self.limit {
            Limit::AtLeast(least) => self.ratio >= least,
            Limit::AtMost(most) => self.ratio <= most,
            Limit::Any => true,
        }
    }

    fn summary(&self) -> String {
        let ratio = self.ratio;
        let goal = self.goal.map(|goal| format!("goal {goal}x, "));
        let goal = goal.unwrap_or_default();
        let missed = match self.goal {
            Some(goal) if self.misses(goal) => "  goal missed",
            _ => "",
        };
        match self.limit {
            Limit::AtLeast(least) => format!("{ratio:.2}x ({goal}at least {least}x){missed}"),
            Limit::AtMost(most) => format!("{ratio:.2}x ({goal}at most {most:.2}x){missed}"),
            Limit::Any => format!("{ratio:.2}x"),
        }
    }
}

/// Uploads a policy and its documents to a server.
fn load(client: &mut Client, policy: &Policy) -> Outcome {
    client.ok("PUT", &format!("/v1/policies/{}", policy.name), policy.text)?;
    client.ok(
        "PUT",
        &format!("/v1/data/{}_data", policy.name),
        &policy.documents(),
    )?;
    Ok(())
}

//! Our engine beside the real OPA, each at its best build, alternately in one run.

mod activation;
mod bare;
mod evaluator;
mod growth;
mod pair;
mod processors;
mod start;
mod throughput;

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use rego_generate::measured::Policy;

use super::{median, scratch};
use crate::report;
use crate::servers::Client;
pub(super) use pair::{Pair, Programs};

pub(super) type Outcome = Result<(), Box<dyn Error>>;

/// What is measured.
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
    /// Of its cases those whose names contain one of these texts.
    #[arg(requires = "rvm")]
    cases: Vec<String>,
}

/// Takes every measure and then holds all of them against their bounds.
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
    let folder = scratch()?;
    let programs = Programs::build()?;
    let mut missed = Vec::new();
    let mut hold = |bound: Bound| {
        report(&bound.what, &bound.told());
        if !bound.holds() {
            missed.push(bound.what);
        }
    };
    if !choice.http {
        let started = start::measure(&programs, folder.path())?;
        started.into_iter().for_each(&mut hold);
        let beside = activation::measure(&programs, folder.path())?;
        beside.into_iter().for_each(&mut hold);
    }
    if !choice.start {
        let pair = programs.start(folder.path(), (&[], &[]), &[])?;
        beside_opa(pair, choice.http, &mut hold)?;
    }
    match missed.is_empty() {
        true => Ok(()),
        false => Err(format!("out of bounds: {}", missed.join("; ")).into()),
    }
}

/// Measures both servers while they run, and the evaluator beside regorus.
fn beside_opa(mut pair: Pair, only_http: bool, hold: &mut dyn FnMut(Bound)) -> Outcome {
    let mut hold_all = |bounds: Vec<Bound>| bounds.into_iter().for_each(&mut *hold);
    hold_all(throughput::measure(&mut pair)?);
    hold_all(throughput::beside_bare(&mut pair)?);
    hold_all(vec![throughput::two_threads(&mut pair)?]);
    if only_http {
        return Ok(());
    }
    hold_all(vec![pair.startup()]);
    hold_all(evaluator::measure(&mut pair)?);
    hold_all(growth::policies(&mut pair)?);
    hold_all(growth::documents(&mut pair)?);
    evaluator::beside_regorus(&["test", "run"], &[])
}

/// A ratio and what it has to be.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) what: String,
    ratio: f64,
    wanted: Wanted,
    /// What it should be, where noise needs a looser bound.
    goal: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    AtLeast(f64),
    AtMost(f64),
    /// Only shown.
    Any,
}

impl Bound {
    pub(super) fn new(what: impl Into<String>, ratio: f64, wanted: Wanted) -> Self {
        Self {
            what: what.into(),
            ratio,
            wanted,
            goal: None,
        }
    }

    /// The same with a goal, which is told, and when it is missed.
    pub(super) fn towards(self, goal: f64) -> Self {
        Self {
            goal: Some(goal),
            ..self
        }
    }

    fn misses(&self, goal: f64) -> bool {
        match self.wanted {
            Wanted::AtLeast(_) => self.ratio < goal,
            Wanted::AtMost(_) => self.ratio > goal,
            Wanted::Any => false,
        }
    }

    pub(super) fn holds(&self) -> bool {
        match self.wanted {
            Wanted::AtLeast(least) => self.ratio >= least,
            Wanted::AtMost(most) => self.ratio <= most,
            Wanted::Any => true,
        }
    }

    pub(super) fn told(&self) -> String {
        let ratio = self.ratio;
        let goal = self.goal.map(|goal| format!("goal {goal}x, "));
        let goal = goal.unwrap_or_default();
        let missed = match self.goal {
            Some(goal) if self.misses(goal) => "  goal missed",
            _ => "",
        };
        match self.wanted {
            Wanted::AtLeast(least) => format!("{ratio:.2}x ({goal}at least {least}x){missed}"),
            Wanted::AtMost(most) => format!("{ratio:.2}x ({goal}at most {most:.2}x){missed}"),
            Wanted::Any => format!("{ratio:.2}x"),
        }
    }
}

/// Puts a policy and its documents on a server.
fn load(client: &mut Client, policy: &Policy) -> Outcome {
    client.ok("PUT", &format!("/v1/policies/{}", policy.name), policy.text)?;
    client.ok(
        "PUT",
        &format!("/v1/data/{}_data", policy.name),
        &policy.documents(),
    )?;
    Ok(())
}

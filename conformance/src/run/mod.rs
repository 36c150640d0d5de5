//! The suite: selects rules, starts the target, runs scenarios in parallel, emits events.

mod batch;
mod builder;
pub(crate) mod cleanup;
pub(crate) mod created_names;
pub(crate) mod exchange;
pub(crate) mod interrupt;
pub(crate) mod ledger;
mod mode;
mod order;
mod origins;
pub(crate) mod placeholders;
pub(crate) mod preflight;
mod recorded;
mod rejudge;
mod replay_steps;
mod rule;
pub(crate) mod runner;
mod selftest;
pub(crate) mod server_inventory;
mod server_pool;
pub(crate) mod side_effects;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::mpsc::unbounded_channel;

pub use builder::{SuiteBuilder, SuiteError};
pub(crate) use builder::{check_namespace, default_jobs};
pub use mode::Mode;
pub use selftest::run_trivial_servers::TrivialServerResults;

use crate::catalogue::{Clause, Level, Profile};
use crate::doctor::modules::Module;
use crate::evidence::{ClauseVerdict, Defect, Event};
use crate::http_client::Client;
use crate::http_client::pagination::Listings;
use crate::judge::openapi::Contract;
use crate::judge::verdict::{Failure, Reason};
use crate::run::ledger::Ledger;
use crate::run::runner::Transport;
use crate::scenario::Scenario;
use crate::sync::lock;
use crate::target::Target;
use interrupt::Interrupt;
use rule::RunContext;
use server_pool::PooledServer;

/// The rules of a run and the target that they are judged on. Servers are started when a
/// scenario first needs them and stopped by [`Suite::close`], at the end of [`Suite::run`],
/// or when the suite is dropped.
#[derive(Debug)]
pub struct Suite {
    runtime: Runtime,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    target: Target,
    client: Client,
    contract: &'static Contract,
    /// Short random name of the run.
    run: String,
    chosen: Vec<Chosen>,
    /// Profile by which the target is judged, if any.
    profile: Option<&'static Profile>,
    seed: u64,
    jobs: usize,
    /// Permitted effects of scenarios on the target; by default they depend on the target's address.
    mode: Option<Mode>,
    /// Whether scenarios may affect what others see although the target is not on loopback.
    own_target: bool,
    /// Whether scenarios of unclaimed capabilities also run.
    probe: bool,
    /// Reason to run no rule, if any.
    refusal: Option<Reason>,
    /// Policies on the target's servers from before the run.
    modules: Vec<Module>,
    /// Ledger of resources that are created on servers that the suite did not start.
    ledger: Option<Ledger>,
    /// Whether the run should end before all rules are judged.
    stopped: AtomicBool,
    /// Timeout of eventual effects.
    eventual_timeout: Duration,
    pool: Mutex<BTreeMap<server_pool::PoolKey, Arc<PooledServer>>>,
    requests: AtomicU64,
}

/// A chosen clause with everything needed to judge it.
#[derive(Debug)]
struct Chosen {
    clause: &'static Clause,
    scenario: Option<Scenario>,
    /// The blessed transcript that the rule's transcript is compared with.
    snapshot: Option<String>,
}

/// Result of one rule.
#[derive(Debug)]
pub struct Outcome {
    /// The verdict, by comparison with the blessed snapshot, and the transcript.
    pub judged: ClauseVerdict,
    /// Failure before or without the comparison with the snapshot.
    pub early_failure: Option<Failure>,
    /// Detected defects of the suite itself.
    pub defects: Vec<Defect>,
}

impl Suite {
    /// Starts the description of a run on a target.
    pub fn builder(target: Target) -> SuiteBuilder {
        SuiteBuilder::new(target)
    }

    /// Judges the chosen rules; `sink` receives every event, from `RunStarted` to `RunFinished`.
    /// Ctrl-C ends the run early: created resources are removed, started servers are stopped, and
    /// `RunFinished` reports the interrupt.
    pub fn run(&self, mut sink: impl FnMut(Event)) {
        let (events, mut received) = unbounded_channel();
        let run = batch::run(Arc::clone(&self.inner), events);
        self.runtime.block_on(async {
            let running = tokio::spawn(run);
            while let Some(batch) = received.recv().await {
                let batch::Batch { events, slot } = batch;
                events.into_iter().for_each(&mut sink);
                drop(slot);
            }
            // A panic of the run has been printed; the missing end shows in the events.
            let _ = running.await;
        });
    }

    /// Ends a run early: scenarios that have not started are not judged.
    pub fn stop(&self) {
        self.inner.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns the run's name, which is the prefix of the name of every resource that it creates.
    pub fn name(&self) -> &str {
        &self.inner.run
    }

    /// Number of created resources that may still exist, and the path of one.
    pub(crate) fn remaining(&self) -> Option<(usize, String)> {
        self.inner.ledger.as_ref()?.remaining()
    }

    /// Judges one chosen rule alone; none if the rule is not chosen. May be called from several
    /// threads at once.
    pub fn run_one(&self, rule: &str) -> Option<Outcome> {
        Some(self.judge_alone(self.chosen(rule)?))
    }

    fn judge_alone(&self, chosen: &Chosen) -> Outcome {
        let (start, events) = (Instant::now(), Mutex::default());
        let never = Interrupt::never();
        let context = RunContext {
            run: &self.inner.run,
            transport: Transport::Live,
            events: &events,
            interrupt: &never,
            eventual_timeout: self.inner.eventual_timeout,
            listings: &Listings::default(),
        };
        let result = self.runtime.block_on(self.inner.judge(chosen, &context));
        let events = std::mem::take(&mut *lock(&events));
        let defects = events.into_iter().filter_map(|event| match event {
            Event::Defect(defect) => Some(defect),
            _ => None,
        });
        Outcome {
            judged: chosen.judged(&result, start),
            early_failure: result.early_failure,
            defects: defects.collect(),
        }
    }

    fn chosen(&self, rule: &str) -> Option<&Chosen> {
        let mut chosen = self.inner.chosen.iter();
        chosen.find(|one| one.clause.id == rule)
    }

    /// Why this rule cannot run on the target, as far as known before the start.
    pub fn not_run(&self, rule: &str) -> Option<Reason> {
        self.inner.not_run(self.chosen(rule)?).err()
    }

    /// The clauses of the choice, in the order of the documents.
    pub fn clauses(&self) -> impl Iterator<Item = &'static Clause> {
        self.inner.chosen.iter().map(|one| one.clause)
    }

    /// Stops the started servers and returns the paths of leftover resources.
    pub fn close(&self) -> Vec<String> {
        self.runtime.block_on(async {
            let leftovers = self.inner.leaks().await;
            if let Some(ledger) = &self.inner.ledger {
                ledger.close(leftovers.is_empty() && self.inner.unreachable().is_none());
            }
            self.inner.stop().await;
            leftovers
        })
    }
}

impl Chosen {
    fn judged(&self, result: &rule::RuleResult, start: Instant) -> ClauseVerdict {
        ClauseVerdict {
            rule: self.clause.id.clone(),
            level: self.clause.level,
            section: self.clause.section.to_owned(),
            states: self.clause.states.clone(),
            verdict: result.verdict.clone(),
            milliseconds: start.elapsed().as_secs_f64() * 1000.0,
            transcript: result.transcript.clone(),
        }
    }

    /// Whether the clause can be judged or recorded, so that it counts.
    fn is_judged(clause: &Clause) -> bool {
        clause.level != Level::Unobservable
    }
}

//! One rule of a run: preconditions, server, scenario and verdict.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use super::interrupt::Interrupt;
use super::{Chosen, Inner, Mode};
use crate::catalogue::Level;
use crate::doctor::modules;
use crate::evidence::{Defect, Event};
use crate::http_client::pagination::Listings;
use crate::http_client::redact::Redactor;
use crate::judge;
use crate::judge::scenario_run::ScenarioRun;
use crate::judge::verdict::{Answered, Difference, Failure, Reason, Verdict};
use crate::run::created_names::CreatedNames;
use crate::run::preflight::{defects, missing_role};
use crate::run::runner::{Runner, Transport};
use crate::scenario::resource_names::namespace;
use crate::scenario::{Effect, Recipient, Scenario};
use crate::sync::lock;
use crate::target::Setup;
use crate::target::server::Server;
use crate::target::server_set::Servers;

/// Result of judging a rule.
#[derive(Debug)]
pub(super) struct RuleResult {
    pub(super) verdict: Verdict,
    pub(super) transcript: String,
    pub(super) early_failure: Option<Failure>,
}

impl RuleResult {
    /// Converts the result for a capability that the target does not claim: the rule is not judged.
    fn unclaimed(self, capability: &str) -> Self {
        match self.verdict {
            Verdict::Pass => Reason::HoldsUnclaimed(capability.to_owned()).into(),
            Verdict::Fail(_) | Verdict::Recorded => {
                Reason::NotClaimed(capability.to_owned()).into()
            }
            Verdict::NotRun(_) => self,
        }
    }
}

impl From<Reason> for RuleResult {
    fn from(reason: Reason) -> Self {
        Self {
            verdict: Verdict::NotRun(reason),
            transcript: String::new(),
            early_failure: None,
        }
    }
}

/// Context of one execution of a rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunContext<'a> {
    /// Prefix of all created names.
    pub(super) run: &'a str,
    pub(super) transport: Transport<'a>,
    pub(super) events: &'a Mutex<Vec<Event>>,
    pub(super) interrupt: &'a Interrupt,
    /// Timeout of eventual effects.
    pub(super) eventual_timeout: Duration,
    /// Remaining budget of the run for reading lists.
    pub(super) listings: &'a Listings,
}

/// A scenario that can run, and the servers that it needs.
struct Ready<'a> {
    scenario: &'a Scenario,
    servers: Servers<'a>,
    /// Address of the fixture server that the servers use, if any.
    mock: Option<SocketAddr>,
}

impl Inner {
    /// Judges one rule: starts its server if necessary, runs its scenario, removes its resources.
    pub(super) async fn judge(&self, chosen: &Chosen, context: &RunContext<'_>) -> RuleResult {
        let Ready {
            scenario,
            servers,
            mock,
        } = match self.ready(chosen) {
            Ok(ready) => ready,
            Err(reason) => return reason.into(),
        };
        let interrupt = context.interrupt;
        if interrupt.is_requested() {
            return Reason::Interrupted.into();
        }
        let document = chosen.clause.document;
        let alone = || format!("{} {}", context.run, chosen.clause.id);
        let place = (scenario.setup, document, scenario.fresh.then(alone));
        let started = tokio::select! {
            started = self.server(place.clone(), servers, mock) => started,
            () = interrupt.wait(1) => return Reason::Interrupted.into(),
        };
        let started = match started {
            Ok(started) => started,
            Err(error) => return Reason::Unreachable(error).into(),
        };
        // Servers that the suite started are discarded with their content.
        let is_persistent = servers.is_persistent() && context.run == self.run;
        let created = CreatedNames::new(self.ledger.as_ref().filter(|_| is_persistent));
        let result = self
            .judge_on(&started.server, chosen, scenario, created, context)
            .await;
        let result = match &chosen.clause.capability {
            capability if self.claims(capability) => result,
            capability => result.unclaimed(capability),
        };
        if scenario.fresh {
            self.discard(&place, &started).await;
        }
        result
    }

    /// Judges one rule on the server that it needs.
    async fn judge_on(
        &self,
        server: &Server,
        chosen: &Chosen,
        scenario: &Scenario,
        created: CreatedNames<'_>,
        context: &RunContext<'_>,
    ) -> RuleResult {
        let RunContext {
            run,
            transport,
            events,
            interrupt,
            eventual_timeout,
            listings,
        } = *context;
        if let Some(error) = server.died.get() {
            return Reason::Unreachable(error.clone()).into();
        }
        if let Some(reason) = self.refused(chosen, scenario, server, events) {
            return reason.into();
        }
        let ns = namespace(run, &chosen.clause.id);
        let runner = Runner {
            client: &self.client,
            transport,
            contract: self.contract,
            server,
            vendor: &self.target.vendor,
            eventual_timeout,
            document: chosen.clause.document,
            rule: &chosen.clause.id,
            ns: &ns,
            events,
            requests: &self.requests,
            listings,
            created,
        };
        let trace = match scenario.effect {
            Effect::ChangesGlobal => {
                let _exclusive = server.gate.write().await;
                run_scenario(&runner, scenario, interrupt).await
            }
            Effect::Reads | Effect::AddsOwn => {
                let _shared = server.gate.read().await;
                run_scenario(&runner, scenario, interrupt).await
            }
        };
        match trace {
            None => Reason::Interrupted.into(),
            Some(trace) => self.end(chosen, server, &trace).await,
        }
    }

    fn claims(&self, capability: &str) -> bool {
        self.target.capabilities.contains(capability)
    }

    /// Why a rule cannot run on the target, as far as known before the start.
    pub(super) fn not_run(&self, chosen: &Chosen) -> Result<(), Reason> {
        self.ready(chosen).map(|_| ())
    }

    fn ready<'a>(&'a self, chosen: &'a Chosen) -> Result<Ready<'a>, Reason> {
        let scenario = chosen.scenario.as_ref().ok_or(Reason::NoScenario)?;
        let clause = chosen.clause;
        if !self.probe && !self.claims(&clause.capability) {
            return Err(Reason::NotClaimed(clause.capability.clone()));
        }
        if !self.target.claims(&clause.id) {
            return Err(Reason::RuleNotClaimed);
        }
        let has_api = |setup: &Setup| setup.launch(clause.document).is_some();
        if !self.target.setups.values().any(has_api) {
            return Err(Reason::NoApi(clause.document.name().to_owned()));
        }
        let [engine, asks_mock] =
            [Recipient::Engine, Recipient::Mock].map(|recipient| scenario.asks(recipient));
        let servers = Servers::of(&self.target, scenario.setup, clause.document, engine)
            .ok_or_else(|| Reason::NoSetup(scenario.setup.to_owned()))?;
        if scenario.fresh && !servers.are_started() {
            return Err(Reason::NotStarted);
        }
        if let Some((module, what)) = modules::in_the_way(&self.modules, scenario) {
            return Err(Reason::InTheWay(format!(
                "`{}`, that defines `{what}`",
                module.id
            )));
        }
        let mock = servers.mock(asks_mock);
        if asks_mock && mock.is_none() {
            return Err(Reason::NoMock(scenario.setup.to_owned()));
        }
        if scenario.asks(Recipient::Elsewhere)
            && let Some(reason) = servers.elsewhere_unavailable()
        {
            return Err(Reason::NotShown(reason));
        }
        Ok(Ready {
            scenario,
            servers,
            mock,
        })
    }

    /// Returns why a scenario may not run on this server; none if it may.
    fn refused(
        &self,
        chosen: &Chosen,
        scenario: &Scenario,
        server: &Server,
        events: &Mutex<Vec<Event>>,
    ) -> Option<Reason> {
        let is_own = self.own_target || server.base.is_loopback();
        let mode = self
            .mode
            .unwrap_or(if is_own { Mode::Full } else { Mode::Additive });
        if !mode.allows(scenario.effect) {
            let named = |mode: Mode| Reason::NotInMode(mode.name().to_owned());
            return Some(self.mode.map_or(Reason::NotOwned, named));
        }
        if let Some(role) = missing_role(scenario, server) {
            return Some(Reason::NoToken(role));
        }
        let defects = defects(scenario, chosen.clause.document, server);
        if defects.is_empty() {
            return None;
        }
        for what in defects {
            lock(events).push(Event::Defect(Defect {
                rule: chosen.clause.id.clone(),
                what,
            }));
        }
        Some(Reason::Defect)
    }

    async fn end(&self, chosen: &Chosen, server: &Server, trace: &ScenarioRun) -> RuleResult {
        if trace.unanswered && !server.is_alive().await {
            let failure = trace.early_failure.as_ref();
            let request = failure.map_or("", |failure| failure.request.as_str());
            let error = server.died.get_or_init(|| {
                format!("the target died during {} at `{request}`", chosen.clause.id)
            });
            return Reason::Unreachable(error.clone()).into();
        }
        server.record_timeout(trace.slow);
        let expected = chosen.snapshot.as_deref();
        let level = chosen.clause.level;
        let redactor = &server.redactor;
        let early_failure = match level {
            Level::Open => None,
            _ => judge::early_failure(trace),
        };
        RuleResult {
            verdict: match judge::verify(level, expected, trace) {
                Verdict::Fail(failure) => Verdict::Fail(redact_failure(failure, redactor)),
                other => other,
            },
            transcript: redactor.text(&trace.transcript.to_string()),
            early_failure: early_failure.map(|failure| redact_failure(failure, redactor)),
        }
    }
}

/// Redacts secrets in a failure, as responses of the target may repeat them.
fn redact_failure(failure: Failure, redactor: &Redactor) -> Failure {
    let clean = |text: String| redactor.text(&text);
    Failure {
        differences: failure
            .differences
            .into_iter()
            .map(|one| Difference {
                path: clean(one.path),
                expected: one.expected,
                got: clean(one.got),
            })
            .collect(),
        notes: failure.notes.into_iter().map(clean).collect(),
        answered: failure.answered.map(|answered| Answered {
            message: redactor.text(&answered.message),
            ..answered
        }),
        ..failure
    }
}

/// Runs a scenario and removes its resources, even if the user stops it.
async fn run_scenario(
    runner: &Runner<'_>,
    scenario: &Scenario,
    interrupt: &Interrupt,
) -> Option<ScenarioRun> {
    let trace = tokio::select! {
        trace = runner.run(scenario) => Some(trace),
        () = interrupt.wait(1) => None,
    };
    tokio::select! {
        () = runner.clean() => {}
        () = interrupt.wait(2) => {}
    }
    trace
}

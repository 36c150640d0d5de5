//! One rule of a run: whether it can run, its server, its scenario, its verdict.

use std::sync::Mutex;

use super::interrupt::Interrupt;
use super::{Chosen, Inner};
use crate::catalogue::Level;
use crate::defects::{defects, missing_role};
use crate::evidence::{Defect, Event};
use crate::judge;
use crate::names::namespace;
use crate::redact::Redactor;
use crate::runner::{Played, Player, lock};
use crate::scenario::{Effect, Scenario};
use crate::server::Server;
use crate::target::{Launch, Setup};
use crate::verdict::{Difference, Failure, Reason, Verdict};

/// How judging a rule ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) verdict: Verdict,
    pub(super) transcript: String,
    pub(super) trouble: Option<Failure>,
}

impl From<Reason> for Ended {
    fn from(reason: Reason) -> Self {
        Self {
            verdict: Verdict::NotRun(reason),
            transcript: String::new(),
            trouble: None,
        }
    }
}

/// What a scenario that can run needs.
struct Ready<'a> {
    scenario: &'a Scenario,
    launch: &'a Launch,
}

impl Inner {
    /// Judges one rule: starts its server if need be, plays it, removes what it made.
    pub(super) async fn judge(
        &self,
        chosen: &Chosen,
        events: &Mutex<Vec<Event>>,
        interrupt: &Interrupt,
    ) -> Ended {
        let Ready { scenario, launch } = match self.ready(chosen) {
            Ok(ready) => ready,
            Err(reason) => return reason.into(),
        };
        if interrupt.asked() {
            return Reason::Interrupted.into();
        }
        let document = chosen.clause.document;
        let alone = scenario.fresh.then_some(chosen.clause.id.as_str());
        let place = (scenario.setup, document, alone);
        let started = tokio::select! {
            started = self.server(place, launch) => started,
            () = interrupt.wait(1) => return Reason::Interrupted.into(),
        };
        let started = match started {
            Ok(started) => started,
            Err(error) => return Reason::Unreachable(error).into(),
        };
        let ended = self
            .judge_on(&started.server, chosen, scenario, events, interrupt)
            .await;
        if alone.is_some() {
            self.leave(&place, &started).await;
        }
        ended
    }

    /// Judges one rule on the server that it needs.
    async fn judge_on(
        &self,
        server: &Server,
        chosen: &Chosen,
        scenario: &Scenario,
        events: &Mutex<Vec<Event>>,
        interrupt: &Interrupt,
    ) -> Ended {
        if let Some(error) = server.died.get() {
            return Reason::Unreachable(error.clone()).into();
        }
        if let Some(reason) = self.refused(chosen, scenario, server, events) {
            return reason.into();
        }
        let ns = namespace(&self.run, &chosen.clause.id);
        let player = Player {
            client: &self.client,
            contract: self.contract,
            server,
            vendor: &self.target.vendor,
            patience: self.patience,
            document: chosen.clause.document,
            rule: &chosen.clause.id,
            ns: &ns,
            events,
            requests: &self.requests,
            made: Mutex::default(),
        };
        let played = match scenario.effect {
            Effect::ChangesGlobal => {
                let _alone = server.gate.write().await;
                play(&player, scenario, interrupt).await
            }
            Effect::Reads | Effect::AddsOwn => {
                let _beside = server.gate.read().await;
                play(&player, scenario, interrupt).await
            }
        };
        match played {
            None => Reason::Interrupted.into(),
            Some(played) => self.end(chosen, server, &played).await,
        }
    }

    /// Why a rule cannot run on the target, as far as is known before the start.
    pub(super) fn not_run(&self, chosen: &Chosen) -> Result<(), Reason> {
        self.ready(chosen).map(|_| ())
    }

    fn ready<'a>(&'a self, chosen: &'a Chosen) -> Result<Ready<'a>, Reason> {
        let scenario = chosen.scenario.as_ref().ok_or(Reason::NoScenario)?;
        let clause = chosen.clause;
        if !self.target.capabilities.contains(&clause.capability) {
            return Err(Reason::NotClaimed(clause.capability.clone()));
        }
        let has_api = |setup: &Setup| setup.launch(clause.document).is_some();
        if !self.target.setups.values().any(has_api) {
            return Err(Reason::NoApi(clause.document.name().to_owned()));
        }
        let launch = self
            .target
            .setups
            .get(scenario.setup)
            .and_then(|setup| setup.launch(clause.document))
            .ok_or_else(|| Reason::NoSetup(scenario.setup.to_owned()))?;
        if scenario.fresh && launch.url.is_some() {
            return Err(Reason::NotStarted);
        }
        if launch.depot_address().is_none() && scenario.steps.iter().any(|step| step.depot) {
            return Err(Reason::NoDepot(scenario.setup.to_owned()));
        }
        Ok(Ready { scenario, launch })
    }

    /// Why a scenario is not sent to this server.
    fn refused(
        &self,
        chosen: &Chosen,
        scenario: &Scenario,
        server: &Server,
        events: &Mutex<Vec<Event>>,
    ) -> Option<Reason> {
        let global = scenario.effect == Effect::ChangesGlobal;
        if global && !self.own_target && !server.base.is_loopback() {
            return Some(Reason::NotOwned);
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

    async fn end(&self, chosen: &Chosen, server: &Server, played: &Played) -> Ended {
        if played.unanswered && !server.is_alive().await {
            let failure = played.trouble.as_ref();
            let request = failure.map_or("", |failure| failure.request.as_str());
            let error = server.died.get_or_init(|| {
                format!("the target died during {} at `{request}`", chosen.clause.id)
            });
            return Reason::Unreachable(error.clone()).into();
        }
        server.waited_in_vain(played.slow);
        let expected = chosen.snapshot.as_deref();
        let level = chosen.clause.level;
        let redactor = &server.redactor;
        let trouble = match level {
            Level::Open => None,
            _ => judge::trouble(played),
        };
        Ended {
            verdict: match judge::verdict(level, expected, played) {
                Verdict::Fail(failure) => Verdict::Fail(redacted(failure, redactor)),
                other => other,
            },
            transcript: redactor.text(&played.transcript.to_string()),
            trouble: trouble.map(|failure| redacted(failure, redactor)),
        }
    }
}

/// A failure without the secrets that the target's answers repeat.
fn redacted(failure: Failure, redactor: &Redactor) -> Failure {
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
        ..failure
    }
}

/// Plays a scenario and cleans up behind it, also when the user stops it.
async fn play(player: &Player<'_>, scenario: &Scenario, interrupt: &Interrupt) -> Option<Played> {
    let played = tokio::select! {
        played = player.play(scenario) => Some(played),
        () = interrupt.wait(1) => None,
    };
    tokio::select! {
        () = player.clean() => {}
        () = interrupt.wait(2) => {}
    }
    played
}

//! One rule of a run: whether it can run, its server, its scenario, its verdict.

use std::net::SocketAddr;
use std::sync::Mutex;

use super::interrupt::Interrupt;
use super::{Chosen, Inner, Mode};
use crate::catalogue::Level;
use crate::cleanup::Made;
use crate::defects::{defects, missing_role};
use crate::evidence::{Defect, Event};
use crate::judge;
use crate::names::namespace;
use crate::redact::Redactor;
use crate::runner::{Line, Played, Player, lock};
use crate::scenario::{Effect, Goal, Scenario};
use crate::server::Server;
use crate::servers::Servers;
use crate::target::Setup;
use crate::verdict::{Difference, Failure, Reason, Verdict};

/// How judging a rule ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) verdict: Verdict,
    pub(super) transcript: String,
    pub(super) trouble: Option<Failure>,
}

impl Ended {
    /// What it comes to for a capability that the target does not claim: nothing is judged.
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

impl From<Reason> for Ended {
    fn from(reason: Reason) -> Self {
        Self {
            verdict: Verdict::NotRun(reason),
            transcript: String::new(),
            trouble: None,
        }
    }
}

/// One playing of a rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Playing<'a> {
    /// What everything that it makes is named after.
    pub(super) run: &'a str,
    pub(super) line: Line<'a>,
    pub(super) events: &'a Mutex<Vec<Event>>,
    pub(super) interrupt: &'a Interrupt,
}

/// What a scenario that can run needs.
struct Ready<'a> {
    scenario: &'a Scenario,
    servers: Servers<'a>,
    /// Where their depot listens.
    depot: Option<SocketAddr>,
}

impl Inner {
    /// Judges one rule: starts its server if need be, plays it, removes what it made.
    pub(super) async fn judge(&self, chosen: &Chosen, playing: &Playing<'_>) -> Ended {
        let Ready {
            scenario,
            servers,
            depot,
        } = match self.ready(chosen) {
            Ok(ready) => ready,
            Err(reason) => return reason.into(),
        };
        let interrupt = playing.interrupt;
        if interrupt.asked() {
            return Reason::Interrupted.into();
        }
        let document = chosen.clause.document;
        let alone = || format!("{} {}", playing.run, chosen.clause.id);
        let place = (scenario.setup, document, scenario.fresh.then(alone));
        let started = tokio::select! {
            started = self.server(place.clone(), servers, depot) => started,
            () = interrupt.wait(1) => return Reason::Interrupted.into(),
        };
        let started = match started {
            Ok(started) => started,
            Err(error) => return Reason::Unreachable(error).into(),
        };
        // What the suite started goes with all that it holds.
        let lasts = servers.lasts() && playing.run == self.run;
        let made = Made::new(self.ledger.as_ref().filter(|_| lasts));
        let ended = self
            .judge_on(&started.server, chosen, scenario, made, playing)
            .await;
        let ended = match &chosen.clause.capability {
            capability if self.claims(capability) => ended,
            capability => ended.unclaimed(capability),
        };
        if scenario.fresh {
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
        made: Made<'_>,
        playing: &Playing<'_>,
    ) -> Ended {
        let Playing {
            run,
            line,
            events,
            interrupt,
        } = *playing;
        if let Some(error) = server.died.get() {
            return Reason::Unreachable(error.clone()).into();
        }
        if let Some(reason) = self.refused(chosen, scenario, server, events) {
            return reason.into();
        }
        let ns = namespace(run, &chosen.clause.id);
        let player = Player {
            client: &self.client,
            line,
            contract: self.contract,
            server,
            vendor: &self.target.vendor,
            patience: self.patience,
            document: chosen.clause.document,
            rule: &chosen.clause.id,
            ns: &ns,
            events,
            requests: &self.requests,
            made,
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

    fn claims(&self, capability: &str) -> bool {
        self.target.capabilities.contains(capability)
    }

    /// Why a rule cannot run on the target, as far as is known before the start.
    pub(super) fn not_run(&self, chosen: &Chosen) -> Result<(), Reason> {
        self.ready(chosen).map(|_| ())
    }

    fn ready<'a>(&'a self, chosen: &'a Chosen) -> Result<Ready<'a>, Reason> {
        let scenario = chosen.scenario.as_ref().ok_or(Reason::NoScenario)?;
        let clause = chosen.clause;
        if !self.probe && !self.claims(&clause.capability) {
            return Err(Reason::NotClaimed(clause.capability.clone()));
        }
        let has_api = |setup: &Setup| setup.launch(clause.document).is_some();
        if !self.target.setups.values().any(has_api) {
            return Err(Reason::NoApi(clause.document.name().to_owned()));
        }
        let [engine, asks_depot] = [Goal::Engine, Goal::Depot].map(|goal| scenario.asks(goal));
        let servers = Servers::of(&self.target, scenario.setup, clause.document, engine)
            .ok_or_else(|| Reason::NoSetup(scenario.setup.to_owned()))?;
        if scenario.fresh && !servers.are_started() {
            return Err(Reason::NotStarted);
        }
        let depot = servers.depot(asks_depot);
        if asks_depot && depot.is_none() {
            return Err(Reason::NoDepot(scenario.setup.to_owned()));
        }
        Ok(Ready {
            scenario,
            servers,
            depot,
        })
    }

    /// Why a scenario is not sent to this server.
    fn refused(
        &self,
        chosen: &Chosen,
        scenario: &Scenario,
        server: &Server,
        events: &Mutex<Vec<Event>>,
    ) -> Option<Reason> {
        let own = self.own_target || server.base.is_loopback();
        let mode = self
            .mode
            .unwrap_or(if own { Mode::Full } else { Mode::Additive });
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

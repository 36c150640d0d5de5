//! One run: every chosen rule once, in the shuffled order, several at a time.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::order::shuffle;
use super::{Chosen, Inner};
use crate::catalogue::{Document, Level};
use crate::evidence::{ChosenRule, Defect, Event, Leaked, RunFinished, RunStarted, TargetSummary};
use crate::judge;
use crate::names::namespace;
use crate::redact::Redactor;
use crate::runner::{Played, Player, defects, missing_role};
use crate::scenario::{Effect, Scenario};
use crate::server::Server;
use crate::target::Launch;
use crate::verdict::{Difference, Failure, Reason, Verdict};

/// How often the user has asked the run to end: once, and scenarios stop and clean up;
/// twice, and they no longer clean up either.
#[derive(Debug, Clone)]
pub(super) struct Interrupt(watch::Receiver<u8>);

impl Interrupt {
    /// An interrupt that never comes.
    pub(super) fn never() -> Self {
        Self(watch::channel(0).1)
    }

    fn asked(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Waits until the user has asked this often.
    pub(super) async fn wait(&self, times: u8) {
        let waited = self
            .0
            .clone()
            .wait_for(|asked| *asked >= times)
            .await
            .is_ok();
        if !waited {
            // Nobody can ask any more.
            std::future::pending::<()>().await;
        }
    }
}

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

/// Plays the whole run and sends its events.
pub(super) async fn run(inner: Arc<Inner>, events: UnboundedSender<Event>) {
    let start = Instant::now();
    let emit = |event| {
        let _ = events.send(event);
    };
    emit(Event::RunStarted(inner.started()));
    let interrupt = listen();
    let mut order: Vec<usize> = (0..inner.chosen.len()).collect();
    shuffle(&mut order, inner.seed);
    let slots = Arc::new(Semaphore::new(inner.jobs));
    let mut tasks = JoinSet::new();
    for index in order {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            break;
        };
        let (inner, events) = (Arc::clone(&inner), events.clone());
        let interrupt = interrupt.clone();
        tasks.spawn(async move {
            if let Some(chosen) = inner.chosen.get(index) {
                let start = Instant::now();
                let ended = inner.judge(chosen, &events, &interrupt).await;
                let judged = chosen.judged(&ended, start);
                let _ = events.send(Event::Judged(Box::new(judged)));
            }
            drop(slot);
        });
    }
    while tasks.join_next().await.is_some() {}
    let unreachable = inner.unreachable();
    let names = tokio::select! {
        names = inner.leaks() => names,
        () = interrupt.wait(2) => Vec::new(),
    };
    inner.stop().await;
    if !names.is_empty() {
        emit(Event::Leaked(Leaked { names }));
    }
    emit(Event::RunFinished(RunFinished {
        run: inner.run.clone(),
        milliseconds: start.elapsed().as_secs_f64() * 1000.0,
        requests: inner.requests.load(Ordering::Relaxed),
        interrupted: interrupt.asked(),
        unreachable,
    }));
}

/// Listens for Ctrl-C, and for the signal that asks programs to end.
fn listen() -> Interrupt {
    let (sender, receiver) = watch::channel(0);
    tokio::spawn(async move {
        while asked_to_end().await.is_ok() {
            sender.send_modify(|asked| *asked += 1);
        }
    });
    Interrupt(receiver)
}

#[cfg(unix)]
async fn asked_to_end() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut end = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = end.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn asked_to_end() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

impl Inner {
    fn started(&self) -> RunStarted {
        let url = |document| {
            let setup = self.target.setups.get("default")?;
            setup.launch(document)?.url.clone()
        };
        RunStarted {
            run: self.run.clone(),
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            target: TargetSummary {
                name: self.target.name.clone(),
                control: url(Document::Control),
                engine: url(Document::Engine),
                capabilities: self.target.capabilities.iter().cloned().collect(),
            },
            seed: self.seed,
            chosen: self
                .chosen
                .iter()
                .map(|one| ChosenRule {
                    rule: one.clause.id.clone(),
                    level: one.clause.level,
                    setup: one
                        .scenario
                        .as_ref()
                        .map(|scenario| scenario.setup.to_owned()),
                })
                .collect(),
        }
    }

    /// Judges one rule: starts its server if need be, plays it, removes what it made.
    pub(super) async fn judge(
        &self,
        chosen: &Chosen,
        events: &UnboundedSender<Event>,
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
        let started = tokio::select! {
            started = self.server(scenario.setup, document, launch) => started,
            () = interrupt.wait(1) => return Reason::Interrupted.into(),
        };
        let started = match started {
            Ok(started) => started,
            Err(error) => return Reason::Unreachable(error).into(),
        };
        let server = &started.server;
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
            document,
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
        let has_api = |setup: &crate::target::Setup| setup.launch(clause.document).is_some();
        if !self.target.setups.values().any(has_api) {
            return Err(Reason::NoApi(clause.document.name().to_owned()));
        }
        let launch = self
            .target
            .setups
            .get(scenario.setup)
            .and_then(|setup| setup.launch(clause.document))
            .ok_or_else(|| Reason::NoSetup(scenario.setup.to_owned()))?;
        Ok(Ready { scenario, launch })
    }

    /// Why a scenario is not sent to this server.
    fn refused(
        &self,
        chosen: &Chosen,
        scenario: &Scenario,
        server: &Server,
        events: &UnboundedSender<Event>,
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
            let _ = events.send(Event::Defect(Defect {
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
        let expected = chosen.snapshot.as_deref();
        let level = chosen.clause.level;
        let redactor = &server.redactor;
        let trouble = match level {
            Level::Open => None,
            _ => judge::trouble(played, server),
        };
        Ended {
            verdict: match judge::verdict(level, expected, played, server) {
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

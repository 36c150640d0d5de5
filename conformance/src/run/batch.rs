//! One run: every selected rule once, in shuffled order, several at a time.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::interrupt::{Interrupt, listen};
use super::order::shuffle;
use super::rule::{RuleResult, RunContext};
use super::{Chosen, Inner};
use crate::catalogue::Document;
use crate::evidence::{
    ChosenRule, Defect, Event, Leaked, ProfileRef, RunFinished, RunStarted, SideEffect,
    TargetSummary, now,
};
use crate::http_client::Base;
use crate::http_client::pagination::Listings;
use crate::judge::verdict::Reason;
use crate::run::runner::Transport;
use crate::run::server_inventory::{Changes, ServerInventory};
use crate::sync::lock;
use crate::target::server::Server;

/// The events of one rule, from its first exchange to its verdict: they are sent together, so that
/// the reader of the events does not slow the requests down.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    /// Permit to run the rule concurrently with others. It is released when the events have been
    /// read, so that no rule starts after the reader ends the run.
    pub(super) slot: Option<OwnedSemaphorePermit>,
}

impl From<Vec<Event>> for Batch {
    fn from(events: Vec<Event>) -> Self {
        Self { events, slot: None }
    }
}

/// Executes the whole run and sends its events.
pub(super) async fn run(inner: Arc<Inner>, events: UnboundedSender<Batch>) {
    let start = Instant::now();
    // The receiver is gone if the run was abandoned.
    let emit = |new_events: Vec<Event>| drop(events.send(new_events.into()));
    emit(vec![Event::RunStarted(Box::new(inner.started()))]);
    if let Some(reason) = &inner.refusal {
        inner.refuse(reason, start, emit);
        return;
    }
    let interrupt = listen();
    let before = tokio::select! {
        before = inner.states() => before,
        () = interrupt.wait(1) => Vec::new(),
    };
    let mut order: Vec<usize> = (0..inner.chosen.len()).collect();
    shuffle(&mut order, inner.seed);
    let slots = Arc::new(Semaphore::new(inner.jobs));
    let listings = Arc::new(Listings::default());
    let mut tasks = JoinSet::new();
    let mut indices = HashMap::new();
    for index in order {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            break;
        };
        let (inner, interrupt) = (Arc::clone(&inner), interrupt.clone());
        let (events, listings) = (events.clone(), Arc::clone(&listings));
        let task = tasks.spawn(async move {
            if let Some(chosen) = inner.chosen.get(index) {
                let batch = Batch {
                    events: judge_one(&inner, chosen, &interrupt, &listings).await,
                    slot: Some(slot),
                };
                let _ = events.send(batch);
            }
        });
        indices.insert(task.id(), index);
    }
    while let Some(joined) = tasks.join_next_with_id().await {
        let Err(error) = joined else { continue };
        let index = indices.get(&error.id());
        if let Some(chosen) = index.and_then(|index| inner.chosen.get(*index)) {
            emit(panic_events(chosen, &error.to_string()));
        }
    }
    let unreachable = inner.unreachable();
    let leftovers = tokio::select! {
        leftovers = inner.leftovers(&before) => Some(leftovers),
        () = interrupt.wait(2) => None,
    };
    inner.stop().await;
    if let Some(ledger) = &inner.ledger {
        // A cleanup cannot find changes outside the run's names.
        let is_clean = |(names, _): &(Vec<String>, Changes)| names.is_empty();
        ledger.close(unreachable.is_none() && leftovers.as_ref().is_some_and(is_clean));
    }
    let (names, Changes { what, not_compared }) = leftovers.unwrap_or_default();
    if !names.is_empty() {
        emit(vec![Event::Leaked(Leaked { names })]);
    }
    if !what.is_empty() {
        emit(vec![Event::Changed(SideEffect { what })]);
    }
    emit(vec![Event::RunFinished(RunFinished {
        run: inner.run.clone(),
        milliseconds: start.elapsed().as_secs_f64() * 1000.0,
        requests: inner.requests.load(Ordering::Relaxed),
        interrupted: interrupt.is_requested(),
        unreachable,
        not_compared,
    })]);
}

async fn judge_one(
    inner: &Inner,
    chosen: &Chosen,
    interrupt: &Interrupt,
    listings: &Listings,
) -> Vec<Event> {
    let start = Instant::now();
    let events = Mutex::default();
    let context = RunContext {
        run: &inner.run,
        transport: Transport::Live,
        events: &events,
        interrupt,
        eventual_timeout: inner.eventual_timeout,
        listings,
    };
    let result = if inner.stopped.load(Ordering::Relaxed) {
        Reason::Stopped.into()
    } else {
        inner.judge(chosen, &context).await
    };
    let mut batch = std::mem::take(&mut *lock(&events));
    batch.push(Event::Judged(Box::new(chosen.judged(&result, start))));
    batch
}

/// Returns the events of a rule whose scenario panicked: a defect of the suite.
fn panic_events(chosen: &Chosen, what: &str) -> Vec<Event> {
    let result = RuleResult::from(Reason::Defect);
    vec![
        Event::Defect(Defect {
            rule: chosen.clause.id.clone(),
            what: what.to_owned(),
        }),
        Event::Judged(Box::new(chosen.judged(&result, Instant::now()))),
    ]
}

impl Inner {
    /// Ends a run before its first request; every rule is not run, for this reason.
    fn refuse(&self, reason: &Reason, start: Instant, emit: impl Fn(Vec<Event>)) {
        for chosen in &self.chosen {
            let reason = self.not_run(chosen).err().unwrap_or_else(|| reason.clone());
            let result = RuleResult::from(reason);
            emit(vec![Event::Judged(Box::new(
                chosen.judged(&result, Instant::now()),
            ))]);
        }
        emit(vec![Event::RunFinished(RunFinished {
            run: self.run.clone(),
            milliseconds: start.elapsed().as_secs_f64() * 1000.0,
            requests: 0,
            interrupted: *reason == Reason::Interrupted,
            unreachable: match reason {
                Reason::Unreachable(why) => Some(why.clone()),
                _ => None,
            },
            not_compared: Vec::new(),
        })]);
    }

    /// Returns the inventory of each server that the suite did not start, except servers that use a
    /// fixture server, because they get their content from it.
    async fn states(&self) -> Vec<(Document, Server, ServerInventory)> {
        let mut servers: BTreeMap<(String, Document), Option<Server>> = BTreeMap::new();
        for setup in self.target.setups.values() {
            for document in Document::ALL {
                let Some((launch, base)) = setup
                    .launch(document)
                    .and_then(|launch| Some((launch, Base::parse(launch.url.as_ref()?).ok()?)))
                else {
                    continue;
                };
                let key = (base.url.clone(), document);
                let tokens = launch.tokens.clone();
                let server = || Some(Server::new(base, tokens, &self.client.headers));
                let known = servers.entry(key).or_insert_with(server);
                if launch.mock.is_some() {
                    *known = None;
                }
            }
        }
        let mut states = Vec::new();
        for ((_, document), server) in servers {
            let chosen = self
                .chosen
                .iter()
                .any(|one| one.clause.document == document);
            if let Some(server) = server.filter(|_| chosen) {
                let state = ServerInventory::before(&self.client, &server, document).await;
                states.push((document, server, state));
            }
        }
        states
    }

    /// Returns the leftovers of the run, and the changes to the content from before the run.
    async fn leftovers(
        &self,
        before: &[(Document, Server, ServerInventory)],
    ) -> (Vec<String>, Changes) {
        let names = self.leaks().await;
        let mut all = Changes::default();
        for (document, server, state) in before {
            let changed = state.changed(&self.client, server, *document, &self.run);
            let Changes { what, not_compared } = changed.await;
            all.what.extend(what);
            all.not_compared.extend(not_compared);
        }
        (names, all)
    }

    pub(super) fn started(&self) -> RunStarted {
        let url = |document| {
            let setup = self.target.setups.get("default")?;
            setup.launch(document)?.url.clone()
        };
        RunStarted {
            parts: Vec::new(),
            run: self.run.clone(),
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            at: Some(now()),
            target: TargetSummary {
                name: self.target.name.clone(),
                vendor: self.target.vendor.clone(),
                control: url(Document::Control),
                engine: url(Document::Engine),
                capabilities: self.target.capabilities.iter().cloned().collect(),
                undetected: self.target.undetected.iter().cloned().collect(),
                version: self.target.version.clone(),
                product: self.target.product.clone(),
                by_address: self.target.by_address,
            },
            seed: self.seed,
            profile: self.profile.map(ProfileRef::from),
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
}

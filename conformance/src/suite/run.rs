//! One run: every chosen rule once, in the shuffled order, several at a time.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;

use super::interrupt::{Interrupt, listen};
use super::order::shuffle;
use super::rule::Ended;
use super::{Chosen, Inner};
use crate::catalogue::Document;
use crate::evidence::{ChosenRule, Defect, Event, Leaked, RunFinished, RunStarted, TargetSummary};
use crate::runner::lock;
use crate::verdict::Reason;

/// The events of one rule, from its first exchange to its verdict: they arrive together, so
/// that the reader of the events does not slow the requests down.
pub(super) type Batch = Vec<Event>;

/// Plays the whole run and sends its events.
pub(super) async fn run(inner: Arc<Inner>, events: UnboundedSender<Batch>) {
    let start = Instant::now();
    // Nobody listens any more when the run was given up.
    let emit = |batch: Batch| drop(events.send(batch));
    emit(vec![Event::RunStarted(inner.started())]);
    let interrupt = listen();
    let mut order: Vec<usize> = (0..inner.chosen.len()).collect();
    shuffle(&mut order, inner.seed);
    let slots = Arc::new(Semaphore::new(inner.jobs));
    let mut tasks = JoinSet::new();
    let mut indices = HashMap::new();
    for index in order {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            break;
        };
        let (inner, interrupt) = (Arc::clone(&inner), interrupt.clone());
        let events = events.clone();
        let task = tasks.spawn(async move {
            if let Some(chosen) = inner.chosen.get(index) {
                let _ = events.send(one(&inner, chosen, &interrupt).await);
            }
            drop(slot);
        });
        indices.insert(task.id(), index);
    }
    while let Some(joined) = tasks.join_next_with_id().await {
        let Err(error) = joined else { continue };
        let index = indices.get(&error.id());
        if let Some(chosen) = index.and_then(|index| inner.chosen.get(*index)) {
            emit(panicked(chosen, &error.to_string()));
        }
    }
    let unreachable = inner.unreachable();
    let names = tokio::select! {
        names = inner.leaks() => names,
        () = interrupt.wait(2) => Vec::new(),
    };
    inner.stop().await;
    if !names.is_empty() {
        emit(vec![Event::Leaked(Leaked { names })]);
    }
    emit(vec![Event::RunFinished(RunFinished {
        run: inner.run.clone(),
        milliseconds: start.elapsed().as_secs_f64() * 1000.0,
        requests: inner.requests.load(Ordering::Relaxed),
        interrupted: interrupt.asked(),
        unreachable,
    })]);
}

async fn one(inner: &Inner, chosen: &Chosen, interrupt: &Interrupt) -> Batch {
    let start = Instant::now();
    let events = Mutex::default();
    let ended = inner.judge(chosen, &events, interrupt).await;
    let mut batch = std::mem::take(&mut *lock(&events));
    batch.push(Event::Judged(Box::new(chosen.judged(&ended, start))));
    batch
}

/// A scenario that brought the suite down is the suite's own fault.
fn panicked(chosen: &Chosen, what: &str) -> Batch {
    let ended = Ended::from(Reason::Defect);
    vec![
        Event::Defect(Defect {
            rule: chosen.clause.id.clone(),
            what: what.to_owned(),
        }),
        Event::Judged(Box::new(chosen.judged(&ended, Instant::now()))),
    ]
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
}

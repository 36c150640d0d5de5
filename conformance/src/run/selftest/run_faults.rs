//! Plays every rule that a fault touches with the fault between suite and server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;

use crate::catalogue::{Document, Level, Pack};
use crate::evidence::{Event, Exchange, recording};
use crate::faults::{Fault, Matrix, ObservedRequest, Recipient};
use crate::judge::verdict::Verdict;
use crate::run::interrupt::Interrupt;
use crate::run::rule::RunContext;
use crate::run::runner::Transport;
use crate::run::{Inner, Suite};
use crate::scenario::names::run_name;

/// How long what comes about only in time may take on a broken server: faults prevent much from
/// ever coming about.
const BROKEN_TIMEOUT: Duration = Duration::from_secs(4);

impl Suite {
    /// Tries every fault on every chosen rule whose requests it touches. Those of a pack are tried
    /// on its rules, and no others.
    ///
    /// # Errors
    /// The rules that do not hold without any fault: nothing can be learnt on such a server.
    pub fn kill_matrix(&self, faults: Vec<Fault>) -> Result<Matrix, Vec<String>> {
        let seen = self.exchanges()?;
        let faults: Vec<Arc<Fault>> = faults.into_iter().map(Arc::new).collect();
        let plays = faults.iter().flat_map(|fault| {
            let touched = seen.iter().filter(|(rule, exchanges)| {
                let touches = |exchange: &Exchange| touches(fault, rule, exchange);
                Pack::of(&fault.id) == Pack::of(rule) && exchanges.iter().any(touches)
            });
            touched.map(move |(rule, _)| (Arc::clone(fault), rule.clone()))
        });
        let plays: Vec<(Arc<Fault>, String)> = plays.collect();
        let inner = &self.inner;
        let kills = self.runtime.block_on(async {
            let tasks = plays
                .into_iter()
                .zip(1_u64..)
                .map(|((fault, rule), number)| {
                    let inner = Arc::clone(inner);
                    tokio::spawn(async move {
                        let killed = inner.notices(&fault, &rule, number).await;
                        (fault.id.clone(), rule, killed)
                    })
                });
            let done: Vec<_> = stream::iter(tasks)
                .buffer_unordered(inner.jobs)
                .collect()
                .await;
            inner.stop().await;
            done
        });
        let mut touched: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut killed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (fault, rule, kills) in kills.into_iter().flatten() {
            if kills {
                killed
                    .entry(fault.clone())
                    .or_default()
                    .insert(rule.clone());
            }
            touched.entry(fault).or_default().insert(rule);
        }
        let rules = inner.chosen.iter().map(|one| one.clause);
        let rules = rules.filter(|clause| clause.level == Level::Rule);
        Ok(Matrix::new(
            faults,
            rules.map(|clause| clause.id.clone()).collect(),
            touched,
            killed,
        ))
    }

    /// What every rule sends and is answered, by its id.
    pub(super) fn exchanges(&self) -> Result<BTreeMap<String, Vec<Exchange>>, Vec<String>> {
        let mut exchanges: BTreeMap<String, Vec<Exchange>> = BTreeMap::new();
        let mut broken = Vec::new();
        self.run(|event| match event {
            Event::Exchange(exchange) if exchange.step > 0 => exchanges
                .entry(exchange.rule.clone())
                .or_default()
                .push(*exchange),
            Event::Judged(judged)
                if judged.level == Level::Rule && judged.verdict != Verdict::Pass =>
            {
                broken.push(judged.rule);
            }
            _ => {}
        });
        match broken.is_empty() {
            true => Ok(exchanges),
            false => Err(broken),
        }
    }
}

impl Inner {
    /// Whether a rule fails on the server that the fault breaks, by what it looks at itself and
    /// not because its scene cannot be set. `number` tells the playings of a rule apart.
    async fn notices(&self, fault: &Fault, rule: &str, number: u64) -> bool {
        let Some(chosen) = self.chosen.iter().find(|one| one.clause.id == rule) else {
            return false;
        };
        let run = run_name("c", self.seed.wrapping_add(number));
        let context = RunContext {
            run: &run,
            transport: Transport::Altered(std::slice::from_ref(&fault.alteration)),
            events: &Mutex::default(),
            interrupt: &Interrupt::never(),
            eventual_timeout: BROKEN_TIMEOUT,
        };
        let verdict = self.judge(chosen, &context).await.verdict;
        matches!(verdict, Verdict::Fail(failure) if !failure.blocked)
    }
}

/// Whether a fault does anything to an exchange of a rule.
fn touches(fault: &Fault, rule: &str, exchange: &Exchange) -> bool {
    let alteration = &fault.alteration;
    let wire = exchange.request.to_wire();
    let seen = ObservedRequest::of(&wire, &exchange.identity);
    if !alteration.touches(recipient(rule, exchange), &seen) {
        return false;
    }
    let answer = exchange.response.clone().map(recording::answer);
    alteration.acts_at_once() || answer.is_some_and(|answer| alteration.changes(&answer))
}

/// Who was asked in an exchange of a rule.
pub(super) fn recipient(rule: &str, exchange: &Exchange) -> Recipient {
    match (exchange.identity.as_str(), Document::of(rule)) {
        ("suite", _) => Recipient::Mock,
        ("engine", _) | (_, Some(Document::Engine)) => Recipient::Engine,
        _ => Recipient::Control,
    }
}

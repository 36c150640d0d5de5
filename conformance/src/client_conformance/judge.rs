//! Judges a client by rules, and emits events.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use super::Subject;
use super::rules::Rule;
use super::run_rule::{RuleRun, run_rule};
use crate::catalogue::Level;
use crate::evidence::{
    ChosenRule, ClauseVerdict, Defect, Event, RunFinished, RunStarted, TargetSummary, now,
};
use crate::judge::verdict::{Reason, Verdict};

/// Settings of a run on a client.
#[derive(Debug)]
pub(crate) struct Judging<'a> {
    /// Rules, in the order in which they are run.
    pub(crate) rules: Vec<&'a Rule>,
    /// Timeout of one operation of the client.
    pub(crate) limit: Duration,
    /// Name of the client, unless it reports one.
    pub(crate) name: String,
    /// The name of the run.
    pub(crate) run: String,
}

/// Judges the client; `asked_to_end` ends the run early. `emit` receives the events, and returns
/// whether the run continues.
pub(crate) async fn judge(
    judging: &Judging<'_>,
    subject: &mut Subject,
    asked_to_end: impl Future<Output = ()>,
    emit: impl FnMut(Event) -> bool,
) {
    let begun = Instant::now();
    let mut asked_to_end = pin!(asked_to_end);
    let mut events = BufferedEvents {
        sink: emit,
        buffered: Some(Vec::new()),
    };
    let (mut requests, mut interrupted, mut unreachable) = (0, false, None);
    for rule in &judging.rules {
        let rule_begun = Instant::now();
        let rule_run = tokio::select! {
            rule_run = run_rule(rule, subject, judging.limit) => rule_run,
            () = &mut asked_to_end => {
                interrupted = true;
                break;
            }
        };
        let rule_run = rule_run.unwrap_or_else(|message| {
            events.emit(Event::Defect(Defect {
                rule: rule.id.clone(),
                what: message,
            }));
            RuleRun::from_verdict(Verdict::NotRun(Reason::Defect))
        });
        if let Some(client) = &rule_run.client {
            events.begin(|| judging.started(Some(client)));
        }
        requests += rule_run.exchanges.len() as u64;
        for exchange in rule_run.exchanges {
            events.emit(Event::Exchange(Box::new(exchange)));
        }
        let broken = match &rule_run.verdict {
            Verdict::NotRun(Reason::Unreachable(reason)) => Some(reason.clone()),
            _ => None,
        };
        let goes_on = events.emit(Event::Judged(Box::new(ClauseVerdict {
            rule: rule.id.clone(),
            level: Level::Rule,
            section: rule.section().to_owned(),
            states: rule.states.clone(),
            verdict: rule_run.verdict,
            milliseconds: rule_begun.elapsed().as_secs_f64() * 1000.0,
            transcript: rule_run.transcript,
        })));
        if let Some(reason) = broken {
            unreachable = Some(reason);
            break;
        }
        if !goes_on {
            break;
        }
    }
    events.begin(|| judging.started(None));
    subject.end().await;
    events.emit(Event::RunFinished(RunFinished {
        run: judging.run.clone(),
        milliseconds: begun.elapsed().as_secs_f64() * 1000.0,
        requests,
        interrupted,
        unreachable,
        not_compared: Vec::new(),
    }));
}

/// Receiver of events. It buffers them until the client is identified, which happens in the first
/// rule for which the client can be opened.
struct BufferedEvents<T> {
    sink: T,
    buffered: Option<Vec<Event>>,
}

impl<T: FnMut(Event) -> bool> BufferedEvents<T> {
    /// Emits or buffers an event; returns whether the run continues.
    fn emit(&mut self, event: Event) -> bool {
        match &mut self.buffered {
            Some(buffered) => {
                buffered.push(event);
                true
            }
            None => (self.sink)(event),
        }
    }

    /// Emits the start of the run, then the buffered events; later calls do nothing.
    fn begin(&mut self, started: impl FnOnce() -> RunStarted) {
        if let Some(buffered) = self.buffered.take() {
            (self.sink)(Event::RunStarted(Box::new(started())));
            for event in buffered {
                (self.sink)(event);
            }
        }
    }
}

impl RuleRun {
    /// Creates the result of a rule that ended early with this verdict.
    fn from_verdict(verdict: Verdict) -> Self {
        Self {
            verdict,
            exchanges: Vec::new(),
            transcript: String::new(),
            client: None,
        }
    }
}

impl Judging<'_> {
    fn started(&self, client: Option<&(String, Option<String>)>) -> RunStarted {
        let (name, version) = match client {
            Some((name, version)) => (name.clone(), version.clone()),
            None => (self.name.clone(), None),
        };
        let chosen = self.rules.iter().map(|rule| ChosenRule {
            rule: rule.id.clone(),
            level: Level::Rule,
            setup: None,
        });
        RunStarted {
            parts: Vec::new(),
            run: self.run.clone(),
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            at: Some(now()),
            profile: None,
            target: TargetSummary {
                name,
                vendor: crate::scenario::default_vendor(),
                control: None,
                engine: None,
                capabilities: Vec::new(),
                undetected: Vec::new(),
                version,
                product: None,
                by_address: false,
            },
            seed: 0,
            chosen: chosen.collect(),
        }
    }
}

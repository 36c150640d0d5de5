//! Judges a client by rules, and emits events.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use super::Subject;
use super::rules::Rule;
use super::run_rule::{RuleRun, play};
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

/// Judges the client; `asked_to_end` ends the run early. `tell` receives the events, and returns
/// whether the run continues.
pub(crate) async fn judge(
    judging: &Judging<'_>,
    player: &mut Subject,
    asked_to_end: impl Future<Output = ()>,
    tell: impl FnMut(Event) -> bool,
) {
    let begun = Instant::now();
    let mut asked_to_end = pin!(asked_to_end);
    let mut telling = BufferedEvents {
        tell,
        held: Some(Vec::new()),
    };
    let (mut requests, mut interrupted, mut unreachable) = (0, false, None);
    for rule in &judging.rules {
        let rule_begun = Instant::now();
        let played = tokio::select! {
            played = play(rule, player, judging.limit) => played,
            () = &mut asked_to_end => {
                interrupted = true;
                break;
            }
        };
        let played = played.unwrap_or_else(|what| {
            telling.emit(Event::Defect(Defect {
                rule: rule.id.clone(),
                what,
            }));
            RuleRun::of(Verdict::NotRun(Reason::Defect))
        });
        if let Some(client) = &played.client {
            telling.begin(|| judging.started(Some(client)));
        }
        requests += played.exchanges.len() as u64;
        for exchange in played.exchanges {
            telling.emit(Event::Exchange(Box::new(exchange)));
        }
        let broken = match &played.verdict {
            Verdict::NotRun(Reason::Unreachable(why)) => Some(why.clone()),
            _ => None,
        };
        let goes_on = telling.emit(Event::Judged(Box::new(ClauseVerdict {
            rule: rule.id.clone(),
            level: Level::Rule,
            section: rule.section().to_owned(),
            states: rule.states.clone(),
            verdict: played.verdict,
            milliseconds: rule_begun.elapsed().as_secs_f64() * 1000.0,
            transcript: played.transcript,
        })));
        if let Some(why) = broken {
            unreachable = Some(why);
            break;
        }
        if !goes_on {
            break;
        }
    }
    telling.begin(|| judging.started(None));
    player.end().await;
    telling.emit(Event::RunFinished(RunFinished {
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
    tell: T,
    held: Option<Vec<Event>>,
}

impl<T: FnMut(Event) -> bool> BufferedEvents<T> {
    /// Emits or buffers an event; returns whether the run continues.
    fn emit(&mut self, event: Event) -> bool {
        match &mut self.held {
            Some(held) => {
                held.push(event);
                true
            }
            None => (self.tell)(event),
        }
    }

    /// Emits the start of the run, then the buffered events; later calls do nothing.
    fn begin(&mut self, started: impl FnOnce() -> RunStarted) {
        if let Some(held) = self.held.take() {
            (self.tell)(Event::RunStarted(Box::new(started())));
            for event in held {
                (self.tell)(event);
            }
        }
    }
}

impl RuleRun {
    /// Creates the result of a rule that ended early with this verdict.
    fn of(verdict: Verdict) -> Self {
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
                version,
                product: None,
                by_address: false,
            },
            seed: 0,
            chosen: chosen.collect(),
        }
    }
}

//! Judges a client by rules, and tells what happens as events.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use super::Player;
use super::play::{Played, play};
use super::rules::Rule;
use crate::catalogue::Level;
use crate::evidence::{ChosenRule, Defect, Event, Judged, RunFinished, RunStarted, TargetSummary};
use crate::judge::verdict::{Reason, Verdict};

/// What a run on a client needs beside the client.
#[derive(Debug)]
pub(crate) struct Judging<'a> {
    /// The rules, in the order in which they are played.
    pub(crate) rules: Vec<&'a Rule>,
    /// How long the client may take for one operation.
    pub(crate) limit: Duration,
    /// What the client is called, unless it says that itself.
    pub(crate) name: String,
    /// The name of the run.
    pub(crate) run: String,
}

/// Judges the client; `asked_to_end` ends that early. The events go to `tell`, which says whether
/// to go on.
pub(crate) async fn judge(
    judging: &Judging<'_>,
    player: &mut Player,
    asked_to_end: impl Future<Output = ()>,
    mut tell: impl FnMut(Event) -> bool,
) {
    let begun = Instant::now();
    let mut asked_to_end = pin!(asked_to_end);
    let mut started = false;
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
            tell(Event::Defect(Defect {
                rule: rule.id.clone(),
                what,
            }));
            Played::of(Verdict::NotRun(Reason::Defect))
        });
        if !started {
            started = true;
            tell(Event::RunStarted(judging.started(&played)));
        }
        requests += played.exchanges.len() as u64;
        for exchange in played.exchanges {
            tell(Event::Exchange(Box::new(exchange)));
        }
        let broken = match &played.verdict {
            Verdict::NotRun(Reason::Unreachable(why)) => Some(why.clone()),
            _ => None,
        };
        let goes_on = tell(Event::Judged(Box::new(Judged {
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
    if !started {
        let nobody = Played::of(Verdict::NotRun(Reason::Interrupted));
        tell(Event::RunStarted(judging.started(&nobody)));
    }
    player.end().await;
    tell(Event::RunFinished(RunFinished {
        run: judging.run.clone(),
        milliseconds: begun.elapsed().as_secs_f64() * 1000.0,
        requests,
        interrupted,
        unreachable,
    }));
}

impl Played {
    /// Of a rule that was not played to its end.
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
    fn started(&self, first: &Played) -> RunStarted {
        let (name, version) = match &first.client {
            Some((name, version)) => (name.clone(), version.clone()),
            None => (self.name.clone(), None),
        };
        let chosen = self.rules.iter().map(|rule| ChosenRule {
            rule: rule.id.clone(),
            level: Level::Rule,
            setup: None,
        });
        RunStarted {
            run: self.run.clone(),
            suite: env!("CARGO_PKG_VERSION").to_owned(),
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

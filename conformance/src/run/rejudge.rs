//! Judges the evidence of an earlier run by the current rules and snapshots, without traffic.

use std::collections::BTreeMap;

use super::recorded::addresses;
use super::{Inner, Suite, SuiteError};
use crate::catalogue::Catalogue;
use crate::evidence::recording::Recording;
use crate::evidence::request_match::Secrets;
use crate::evidence::{ClauseVerdict, Event, Exchange, RunStarted, sequence};
use crate::judge::verdict::{Reason, Verdict};
use crate::target::Target;

impl Suite {
    /// Judges the events of a run again by this program. A rule whose scenario now sends other
    /// requests is not judged; an unknown rule is omitted.
    ///
    /// # Errors
    /// No run starts in the evidence, this program knows none of its rules, or no run can have
    /// recorded the evidence.
    pub fn judge_again(evidence: Vec<Event>) -> Result<Vec<Event>, SuiteError> {
        let started = evidence.iter().find_map(|event| match event {
            Event::RunStarted(started) => Some(started.clone()),
            _ => None,
        });
        let started = started.ok_or(SuiteError::Nothing)?;
        let suite = Self::of(&started)?;
        sequence::check(&evidence).map_err(SuiteError::Evidence)?;
        let origins = suite.inner.check_origins(&evidence, &started);
        origins.map_err(SuiteError::Evidence)?;
        let secrets = Secrets::of(&evidence);
        let mut exchanges: BTreeMap<String, Vec<Exchange>> = BTreeMap::new();
        for event in &evidence {
            if let Event::Exchange(exchange) = event {
                let of_rule = exchanges.entry(exchange.rule.clone()).or_default();
                of_rule.push((**exchange).clone());
            }
        }
        suite.runtime.block_on(async {
            let mut events = Vec::with_capacity(evidence.len());
            for event in evidence {
                match event {
                    Event::RunStarted(_) => events.push(Event::RunStarted(Box::new(RunStarted {
                        suite: env!("CARGO_PKG_VERSION").to_owned(),
                        chosen: suite.inner.started().chosen,
                        ..(*started).clone()
                    }))),
                    Event::Judged(judged) => {
                        let exchanges = exchanges.remove(&judged.rule).unwrap_or_default();
                        let earlier = EarlierRun {
                            started: &started,
                            secrets: secrets.clone(),
                            exchanges,
                        };
                        let verdict = suite.inner.rejudge_rule(*judged, earlier).await?;
                        events.extend(verdict.map(Box::new).map(Event::Judged));
                    }
                    other => events.push(other),
                }
            }
            Ok(events)
        })
    }

    /// Creates a suite of the known rules of an earlier run, on a target that is not contacted.
    fn of(started: &RunStarted) -> Result<Self, SuiteError> {
        let catalogue = Catalogue::embedded()?;
        let rules = started.chosen.iter().map(|chosen| chosen.rule.clone());
        let known = rules.filter(|rule| catalogue.clause(rule).is_some());
        let known: Vec<String> = known.collect();
        if known.is_empty() {
            return Err(SuiteError::Nothing);
        }
        let target = Target {
            name: started.target.name.clone(),
            vendor: started.target.vendor.clone(),
            ..Target::at(None, None, None, Default::default())
        };
        Self::builder(target).rules(known).build()
    }
}

/// Evidence of an earlier run of a rule.
struct EarlierRun<'a> {
    started: &'a RunStarted,
    secrets: Secrets,
    exchanges: Vec<Exchange>,
}

impl Inner {
    /// Judges a rule again; none if this program does not know it.
    async fn rejudge_rule(
        &self,
        judged: ClauseVerdict,
        earlier: EarlierRun<'_>,
    ) -> Result<Option<ClauseVerdict>, SuiteError> {
        let chosen = self.chosen.iter().find(|one| one.clause.id == judged.rule);
        let Some(chosen) = chosen else {
            return Ok(None);
        };
        let EarlierRun {
            started,
            secrets,
            exchanges,
        } = earlier;
        let not_run = |reason| Verdict::NotRun(reason);
        let clause_verdict = |verdict, transcript| ClauseVerdict {
            level: chosen.clause.level,
            section: chosen.clause.section.to_owned(),
            states: chosen.clause.states.clone(),
            verdict,
            transcript,
            ..judged.clone()
        };
        let Some(scenario) = &chosen.scenario else {
            return Ok(Some(clause_verdict(
                not_run(Reason::NoScenario),
                String::new(),
            )));
        };
        let Some(addresses) = addresses(&exchanges) else {
            // Nothing was sent, so the earlier reason still applies.
            let verdict = match &judged.verdict {
                Verdict::NotRun(reason) => reason.clone(),
                _ => Reason::NoEvidence,
            };
            return Ok(Some(clause_verdict(not_run(verdict), String::new())));
        };
        let recording = Recording::of(exchanges, secrets);
        let result = self
            .replay(
                chosen,
                scenario,
                started.run_of(&judged.rule),
                &addresses,
                &recording,
            )
            .await;
        let untrue = recording.untrue();
        // Scenarios of another version may send fewer requests, or use other names.
        let same_suite = started.suite == env!("CARGO_PKG_VERSION");
        if let Some(reason) = untrue.clone().filter(|_| same_suite) {
            return Err(SuiteError::Evidence(reason));
        }
        Ok(Some(match untrue.is_some() || recording.is_incomplete() {
            true => clause_verdict(not_run(Reason::NoEvidence), String::new()),
            false => clause_verdict(result.verdict, result.transcript),
        }))
    }
}

//! Applies every mutant to the recorded responses of each rule.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream;

use crate::catalogue::Level;
use crate::evidence::recording::{self, Recording};
use crate::evidence::request_match::Secrets;
use crate::evidence::{Exchange, Payload, ReceivedResponse};
use crate::faults::{Mutations, mutants};
use crate::http_client::answer::Answer;
use crate::http_client::wire::Wire;
use crate::judge::openapi::Documented;
use crate::judge::verdict::Verdict;
use crate::run::recorded::addresses;
use crate::run::{Chosen, Inner, Suite};
use crate::scenario::Recipient;

impl Suite {
    /// Runs every mutant of every judged response of the chosen rules. Without `every_rule`, a
    /// mutant is no longer tried once a rule notices it.
    ///
    /// # Errors
    /// The rules that fail without any mutant.
    pub fn mutants(&self, every_rule: bool) -> Result<Mutations, Vec<String>> {
        let recorded = self.exchanges()?;
        let inner = &self.inner;
        let run = inner.run.clone();
        let noticed = (!every_rule).then(Arc::<DetectedMutants>::default);
        let tried = self.runtime.block_on(async {
            let rules = recorded.into_iter().filter(|(rule, _)| inner.is_rule(rule));
            let rules = rules.map(|(rule, exchanges)| {
                let (inner, run, noticed) = (Arc::clone(inner), run.clone(), noticed.clone());
                tokio::spawn(async move {
                    let noticed = noticed.as_deref();
                    let tried = inner.mutate(&rule, &run, &exchanges, noticed).await;
                    (rule, tried)
                })
            });
            stream::iter(rules)
                .buffer_unordered(inner.jobs)
                .collect::<Vec<_>>()
                .await
        });
        let tried: BTreeMap<String, _> = tried.into_iter().flatten().collect();
        Ok(Mutations::of(tried))
    }
}

/// A mutant's name, and whether the rule fails on it.
pub(crate) type MutantResult = (String, bool);

/// Names of mutants that some rule has noticed, so that they need no further test.
#[derive(Debug, Default)]
struct DetectedMutants(Mutex<HashSet<String>>);

impl DetectedMutants {
    fn contains(&self, mutant: &str) -> bool {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.contains(mutant)
    }

    fn insert(&self, mutant: &str) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(mutant.to_owned());
    }
}

impl Inner {
    /// Whether this id is of a chosen rule, and not of an open clause.
    fn is_rule(&self, rule: &str) -> bool {
        let of_choice = |one: &&Chosen| one.clause.id == rule;
        let chosen = self.chosen.iter().find(of_choice);
        chosen.is_some_and(|one| one.clause.level == Level::Rule)
    }

    /// Runs the mutants of one rule's judged responses; none if the rule does not pass by its
    /// exchanges alone.
    async fn mutate(
        &self,
        rule: &str,
        run: &str,
        exchanges: &[Exchange],
        noticed: Option<&DetectedMutants>,
    ) -> Option<Vec<MutantResult>> {
        let chosen = self.chosen.iter().find(|one| one.clause.id == rule)?;
        let addresses = addresses(exchanges)?;
        let secrets = Secrets::of_exchanges(exchanges);
        let unchanged = Recording::of(exchanges.to_vec(), secrets.clone());
        let scenario = chosen.scenario.as_ref()?;
        let result = self
            .replay(chosen, scenario, run, &addresses, &unchanged)
            .await;
        if result.verdict != Verdict::Pass {
            return None;
        }
        let mut tried = Vec::new();
        for at in 0..exchanges.len() {
            for (name, received) in self.changed(chosen, exchanges, at) {
                if noticed.is_some_and(|noticed| noticed.contains(&name)) {
                    continue;
                }
                let recording = Recording::with(exchanges, at, received, secrets.clone());
                let result = self
                    .replay(chosen, scenario, run, &addresses, &recording)
                    .await;
                let fails = matches!(result.verdict, Verdict::Fail(_));
                if let (true, Some(noticed)) = (fails, noticed) {
                    noticed.insert(&name);
                }
                tried.push((name, fails));
            }
        }
        Some(tried)
    }

    /// Returns the mutants of the response at index `at`, if it is the last one of a judged step.
    fn changed(
        &self,
        chosen: &Chosen,
        exchanges: &[Exchange],
        at: usize,
    ) -> Vec<(String, ReceivedResponse)> {
        let judged = |exchange: &&Exchange| {
            let step = chosen.scenario.as_ref()?.steps.get(exchange.step - 1)?;
            let judged = !step.given && step.recipient == Recipient::Judged;
            (judged && !step.expectations.is_empty()).then_some(())
        };
        let Some(exchange) = exchanges.get(at).filter(|one| judged(one).is_some()) else {
            return Vec::new();
        };
        let last = exchanges.iter().rposition(|one| one.step == exchange.step) == Some(at);
        let (Some(received), true) = (&exchange.response, last) else {
            return Vec::new();
        };
        let Wire::Http(request) = exchange.request.to_wire() else {
            return Vec::new();
        };
        let document = chosen.clause.document;
        let (method, status) = (request.method, received.status);
        let documented = self
            .contract
            .documented(document, method, &request.path, status);
        let Some(documented) = documented else {
            return Vec::new();
        };
        let earlier = exchanges.iter().take(at).rfind(|one| {
            one.request.method == exchange.request.method && one.request.url == exchange.request.url
        });
        let earlier = earlier.and_then(|one| one.response.clone().map(recording::answer));
        let answer = recording::answer(received.clone());
        let Documented {
            operation,
            members,
            names_media,
        } = documented;
        mutants(&answer, members, names_media, earlier.as_ref())
            .into_iter()
            .map(|mutant| {
                let name = format!("{} {status}: {}", operation, mutant.change);
                (name, received_of(&mutant.answer))
            })
            .collect()
    }
}

fn received_of(answer: &Answer) -> ReceivedResponse {
    ReceivedResponse {
        status: answer.status,
        headers: answer.headers.clone(),
        body: Payload::of(&answer.body),
    }
}

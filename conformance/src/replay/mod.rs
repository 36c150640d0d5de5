//! Replay of recorded requests, and comparison of the responses.
//!
//! Only the evidence is needed, so rules that this suite does not have can be replayed too. If it
//! has them, their scenarios add information that the evidence lacks: the effect that a request
//! waits for, and credentials that are not a token of the target.

mod recorded;
mod request;
mod substitute;

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::time::Instant;

use crate::catalogue::Document;
use crate::diff::answers::{NormalizedResponse, compare_answers};
use crate::diff::normalize::Normalizer;
use crate::evidence::{Event, Exchange, ReceivedResponse, recording};
use crate::http_client::Client;
use crate::http_client::answer::{Answer, NoAnswer};
use crate::http_client::pagination::Listings;
use crate::judge::facts::{Captures, View};
use crate::judge::openapi::Contract;
use crate::run::created_names::CreatedNames;
use crate::run::ledger::Ledger;
use crate::run::runner::{Runner, Transport};
use crate::run::side_effects::SideEffects;
use crate::scenario::resource_names::{encode, namespace};
use crate::sync::lock;
use crate::target::Target;
use crate::target::launch::Started;
use crate::target::server_set::Servers;
use recorded::RecordedRequest;
pub(crate) use recorded::RecordedRule;
use request::RequestBuilder;
use substitute::Substitutions;

/// Pause between repetitions of a request that waits for an eventual effect.
const PAUSE: Duration = Duration::from_millis(100);

/// Target and settings of a replay.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    pub(crate) target: &'a Target,
    pub(crate) client: &'a Client,
    pub(crate) contract: &'a Contract,
    /// Prefix of resource names in the replay, in place of that of the earlier run.
    pub(crate) run: &'a str,
    /// Timeout of eventual effects.
    pub(crate) eventual_timeout: Duration,
    /// Whether requests may change state that others see on a remote server.
    pub(crate) own_target: bool,
    /// Journal of resources created on servers that the suite did not start.
    pub(crate) ledger: &'a Ledger,
}

/// Result of a replayed request.
#[derive(Debug)]
pub(crate) struct ReplayedResponse {
    /// Number of the step, and the request with `<ns>` in place of the run's name prefix.
    pub(crate) step: usize,
    pub(crate) request: String,
    /// Differences from the recorded response.
    pub(crate) differences: Vec<String>,
}

impl ReplayedResponse {
    /// Formats the result for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let word = match self.differences.is_empty() {
            true => "as it was",
            false => "not as it was",
        };
        let mut lines = vec![format!("{} {}: {word}", self.step, self.request)];
        lines.extend(self.differences.iter().map(|one| format!("    {one}")));
        lines
    }
}

/// Why a replay stopped early.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The rule's requests cannot be replayed; contains the reason.
    NotPossible(String),
    /// The target cannot be reached, or died.
    Unreachable(String),
    /// The user stopped it.
    Interrupted,
}

impl Replay<'_> {
    /// Resends the requests of a rule; `on_response` receives each response. Created resources are
    /// removed, and started servers are stopped.
    ///
    /// # Errors
    /// Why the replay stopped early.
    pub(crate) async fn replay(
        &self,
        recorded: &RecordedRule<'_>,
        on_response: &mut dyn FnMut(ReplayedResponse),
    ) -> Result<(), Stopped> {
        let impossible = |why: &str| Stopped::NotPossible(why.to_owned());
        if recorded.exchanges.is_empty() {
            return Err(impossible("the evidence holds no request of it"));
        }
        let document = Document::of(recorded.rule);
        let document = document.ok_or_else(|| impossible("its id names no API"))?;
        let (started, is_persistent) = self.start(recorded, document).await?;
        let server = &started.server;
        let ns = namespace(self.run, recorded.rule);
        let events = Mutex::default();
        let runner = Runner {
            client: self.client,
            transport: Transport::Live,
            contract: self.contract,
            server,
            vendor: &self.target.vendor,
            eventual_timeout: self.eventual_timeout,
            document,
            rule: recorded.rule,
            ns: &ns,
            events: &events,
            requests: &AtomicU64::new(0),
            listings: &Listings::default(),
            created: CreatedNames::new(is_persistent.then_some(self.ledger)),
        };
        let builder = RequestBuilder {
            recorded,
            document,
            server,
            vendor: &self.target.vendor,
            ns: &ns,
        };
        let ended = tokio::select! {
            ended = self.report_answer(&builder, &runner, is_persistent, on_response) => ended,
            _ = tokio::signal::ctrl_c() => Err(Stopped::Interrupted),
        };
        runner.clean().await;
        let ended = match ended {
            Ok(true) if !server.is_alive().await => {
                Err(Stopped::Unreachable("the target died".to_owned()))
            }
            Ok(_) => Ok(()),
            Err(stopped) => Err(stopped),
        };
        started.stop().await;
        ended
    }

    /// Starts the servers of a rule or connects to them; returns whether resources on them persist.
    async fn start(
        &self,
        recorded: &RecordedRule<'_>,
        document: Document,
    ) -> Result<(Started, bool), Stopped> {
        let impossible = |why: &str| {
            Stopped::NotPossible(format!(
                "the target {why} in the setup `{}`",
                recorded.setup
            ))
        };
        let [engine, asks_mock] = ["engine", "suite"].map(|who| recorded.has_requests_from(who));
        let servers = Servers::of(self.target, recorded.setup, document, engine)
            .ok_or_else(|| impossible(&format!("has no {document}")))?;
        let mock = servers.mock(asks_mock);
        if asks_mock && mock.is_none() {
            return Err(impossible("knows no fixture server"));
        }
        let started = servers.start(mock, self.client).await;
        let started = started.map_err(Stopped::Unreachable)?;
        Ok((started, servers.is_persistent()))
    }

    /// Sends the requests of a rule; returns whether one of them no longer gets a response.
    async fn report_answer(
        &self,
        builder: &RequestBuilder<'_>,
        runner: &Runner<'_>,
        is_persistent: bool,
        on_response: &mut dyn FnMut(ReplayedResponse),
    ) -> Result<bool, Stopped> {
        let recorded = builder.recorded;
        let (before, now) = (
            Normalizer::new(recorded.run, recorded.rule),
            Normalizer::new(self.run, recorded.rule),
        );
        let mut substitutions = self.substitutions(builder);
        let requests = recorded.requests();
        let mut silent = false;
        for (index, one) in requests.iter().enumerate() {
            let (exchange, answer) = self
                .send(builder, runner, one, &substitutions, is_persistent)
                .await?;
            let was = one.exchange.response.as_ref();
            let messages = one.exchange.identity == "suite";
            let normalize =
                |received: &ReceivedResponse, vendor: &str, normalizer: &Normalizer<'_>| {
                    NormalizedResponse::of(received, vendor, normalizer).of_messages(messages)
                };
            let differences = match (was, exchange.response.as_ref()) {
                (Some(was), Some(is)) => {
                    let was = normalize(was, &recorded.started.target.vendor, &before);
                    differences(&[was, normalize(is, builder.vendor, &now)])
                }
                (Some(_), None) => {
                    silent = true;
                    let why = exchange.error.unwrap_or_default();
                    vec![format!("no answer: {why}")]
                }
                (None, Some(is)) => vec![format!("was not answered, now with {}", is.status)],
                (None, None) => Vec::new(),
            };
            let Exchange { step, request, .. } = one.exchange;
            let path = request.url.splitn(4, '/').nth(3).unwrap_or_default();
            on_response(ReplayedResponse {
                step: *step,
                request: before.text(&format!("{} /{path}", request.method)),
                differences,
            });
            let later = requests.get(index + 1..).unwrap_or_default();
            if let (Some(was), Ok(answer)) = (was, &answer)
                && let (Some(was), Some(is)) =
                    (recording::answer(was.clone()).json(), answer.json())
            {
                substitutions.learn(was, is, &|text| repeats(later, text));
            }
        }
        Ok(silent)
    }

    /// Returns the substitutions of resource names and addresses.
    fn substitutions(&self, builder: &RequestBuilder<'_>) -> Substitutions {
        let recorded = builder.recorded;
        let mut substitutions = Substitutions::default();
        substitutions.add(namespace(recorded.run, recorded.rule), builder.ns);
        substitutions.add(recorded.run, self.run);
        for exchange in &recorded.exchanges {
            let authority = exchange.request.url.split('/').nth(2).unwrap_or_default();
            let (_, base) = builder.recipient(exchange);
            substitutions.add(authority, &*base.authority);
        }
        substitutions
    }

    /// Sends a request with substitutions, again until its expected effect or the timeout. Returns
    /// the exchange and the response.
    async fn send(
        &self,
        builder: &RequestBuilder<'_>,
        runner: &Runner<'_>,
        one: &RecordedRequest<'_>,
        substitutions: &Substitutions,
        is_persistent: bool,
    ) -> Result<(Exchange, Result<Answer, NoAnswer>), Stopped> {
        let Exchange { step, identity, .. } = one.exchange;
        let (document, base) = builder.recipient(one.exchange);
        let start = Instant::now();
        loop {
            let not_possible = |why| Stopped::NotPossible(format!("step {step}: {why}"));
            let wire = builder
                .wire(one.exchange, substitutions)
                .map_err(not_possible)?;
            match document.map(|document| builder.side_effects(document, &wire)) {
                Some(SideEffects::Own(created)) => {
                    let noted = runner.created.note(runner.server, runner.document, created);
                    noted.map_err(|error| {
                        Stopped::NotPossible(format!("the cleanup ledger: {error}"))
                    })?;
                }
                Some(SideEffects::Foreign)
                    if is_persistent && !base.is_loopback() && !self.own_target =>
                {
                    return Err(not_possible(
                        "changes state that other clients see; pass --allow-full-mode".to_owned(),
                    ));
                }
                Some(SideEffects::Foreign | SideEffects::Nothing) | None => {}
            }
            let (_, answer) = runner.send(base, *step, identity.clone(), wire).await;
            let event = lock(runner.events).pop();
            let Some(Event::Exchange(exchange)) = event else {
                return Err(not_possible("nothing was sent".to_owned()));
            };
            let is_done = !one.waits || self.has_taken_effect(builder, one, &exchange, &answer);
            if is_done || start.elapsed() + PAUSE > self.eventual_timeout {
                return Ok((*exchange, answer));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether the expected effect of a request has occurred: by the conditions of the scenario,
    /// otherwise by a response that equals the recorded one.
    fn has_taken_effect(
        &self,
        builder: &RequestBuilder<'_>,
        one: &RecordedRequest<'_>,
        exchange: &Exchange,
        answer: &Result<Answer, NoAnswer>,
    ) -> bool {
        let recorded = builder.recorded;
        if let (Some(step), Ok(answer)) = (recorded.step(one.exchange), answer) {
            // No step waits for the capture of another.
            let captures = Captures::new();
            let view = View {
                answer,
                ns: builder.ns,
                vendor: builder.vendor,
                captures: &captures,
            };
            return view.meets(&step.until);
        }
        let normalize = |received: &ReceivedResponse, run: &str, vendor: &str| {
            NormalizedResponse::of(received, vendor, &Normalizer::new(run, recorded.rule))
        };
        let started = recorded.started;
        match (&one.exchange.response, &exchange.response) {
            (Some(was), Some(is)) => {
                normalize(was, recorded.run, &started.target.vendor)
                    == normalize(is, self.run, builder.vendor)
            }
            (was, is) => was.is_none() && is.is_none(),
        }
    }
}

/// Whether some later request contains this string.
fn repeats(later: &[RecordedRequest<'_>], text: &str) -> bool {
    later.iter().any(|one| {
        let request = &one.exchange.request;
        let body = request.body.bytes();
        request.url.contains(&encode(text))
            || request
                .headers
                .iter()
                .any(|(_, value)| value.contains(text))
            || String::from_utf8_lossy(&body).contains(text)
    })
}

fn differences(answers: &[NormalizedResponse]) -> Vec<String> {
    let difference = compare_answers(answers).into_iter();
    // The reported measurements depend on earlier work of the server.
    let difference = difference.filter(|difference| !difference.place.contains("/metrics/"));
    difference
        .map(|difference| {
            format!(
                "{}: was {}",
                difference.place,
                difference.values.join(", is ")
            )
        })
        .collect()
}

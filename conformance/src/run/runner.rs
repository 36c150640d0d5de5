//! Runs one scenario: sends its steps and records their facts.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::catalogue::Document;
use crate::evidence::recording::Recording;
use crate::evidence::{Defect, Event};
use crate::faults::Alteration;
use crate::http_client::Client;
use crate::http_client::answer::{Answer, NoAnswer, Wait};
use crate::http_client::pagination::{Listings, Pagination};
use crate::http_client::wire::{Wire, request_line};
use crate::judge::facts::{Captures, Fact, View};
use crate::judge::openapi::Contract;
use crate::judge::scenario_run::{ScenarioRun, SentStep};
use crate::judge::transcript::{Entry, Namer};
use crate::judge::truncate::shorten;
use crate::run::created_names::CreatedNames;
use crate::run::placeholders::Placeholders;
use crate::run::side_effects::{SideEffects, side_effects_of};
use crate::scenario::resource_names::{canonical, encode, mask_namespace};
use crate::scenario::{
    BUILTIN, Body, Identity, Recipient, SOME_BUILTIN, Scenario, Send, Step, WHOLE_TEXT,
};
use crate::sync::lock;
use crate::target::server::Server;

/// Initial backoff before a request is repeated; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// Maximum backoff before a request is repeated.
const LAST_PAUSE: Duration = Duration::from_millis(160);

/// Runs the scenarios of one rule on one server.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) client: &'a Client,
    pub(crate) transport: Transport<'a>,
    pub(crate) contract: &'a Contract,
    pub(crate) server: &'a Server,
    pub(crate) vendor: &'a str,
    /// Timeout of the eventual effect that a step waits for.
    pub(crate) eventual_timeout: Duration,
    pub(crate) document: Document,
    pub(crate) rule: &'a str,
    pub(crate) ns: &'a str,
    /// The events of the rule so far.
    pub(crate) events: &'a Mutex<Vec<Event>>,
    pub(crate) requests: &'a AtomicU64,
    /// Remaining budget for reading lists.
    pub(crate) listings: &'a Listings,
    pub(crate) created: CreatedNames<'a>,
}

/// Transport of requests and responses.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Transport<'a> {
    /// The network.
    Live,
    /// The network, with these alterations of requests and responses.
    Altered(&'a [Alteration]),
    /// The responses of an earlier run; nothing is sent.
    Replayed(&'a Recording),
}

/// Why a step ended the scenario.
enum Stop {
    NoToken(String),
    NoAnswer(NoAnswer),
    Trouble(String),
    /// The rule does not run, for this reason.
    NotShown(&'static str),
}

impl From<NoAnswer> for Stop {
    fn from(error: NoAnswer) -> Self {
        Self::NoAnswer(error)
    }
}

impl Runner<'_> {
    /// Sends the steps in order until all are done or a step ends the scenario.
    pub(crate) async fn run(&self, scenario: &Scenario) -> ScenarioRun {
        let namer = Namer::new(scenario);
        let mut trace = ScenarioRun::default();
        let builtin = self.server.builtin.as_deref().unwrap_or(SOME_BUILTIN);
        let mut captures = BTreeMap::from([(BUILTIN, builtin.to_owned())]);
        for (index, step) in scenario.steps.iter().enumerate() {
            trace.sent.push(SentStep {
                name: namer.line(step),
                given: step.given,
                base: self.server.base_for(step).clone(),
                wire: None,
                answered: None,
            });
            trace.transcript.steps.push(Entry {
                request: namer.request(step),
                facts: Vec::new(),
            });
            let Err(stop) = self.step(index, step, &mut captures, &mut trace).await else {
                continue;
            };
            let note = match stop {
                Stop::NotShown(why) => {
                    trace.not_shown = Some((index, why));
                    break;
                }
                Stop::NoToken(role) => format!("the target has no token for `{role}`"),
                Stop::Trouble(what) => what,
                Stop::NoAnswer(error) => {
                    trace.unanswered = true;
                    trace.slow = error.slow;
                    format!("no answer: {}", error.description())
                }
            };
            trace.early_failure = Some(trace.failure(index, vec![note]));
            break;
        }
        trace
    }

    async fn step(
        &self,
        index: usize,
        step: &Step,
        captures: &mut BTreeMap<&'static str, String>,
        trace: &mut ScenarioRun,
    ) -> Result<(), Stop> {
        for repetition in 0..step.times {
            let placeholders = Placeholders {
                ns: self.ns,
                repetition,
                captures,
                server: self.server,
                vendor: self.vendor,
            };
            let result = self.send_until_met(index, step, &placeholders, trace).await;
            let mut answer = result.map_err(|stop| as_not_run(step, stop))?;
            if step.walk {
                answer = self.walk(index, step, &placeholders, answer, trace).await?;
            }
            self.record_removed(step, &placeholders, &answer);
            if step.given {
                let set = self.require(step, &answer, captures);
                set.map_err(|stop| as_not_run(step, stop))?;
            } else {
                self.record(step, repetition, self.view(&answer, captures), trace);
            }
            for (name, pointer) in &step.capture {
                let value = self.capture_value(&answer, name, pointer)?;
                captures.insert(name, value);
            }
        }
        Ok(())
    }

    /// Sends the request of a step, and repeats it until the response meets the step's conditions.
    async fn send_until_met(
        &self,
        index: usize,
        step: &Step,
        placeholders: &Placeholders<'_>,
        trace: &mut ScenarioRun,
    ) -> Result<Answer, Stop> {
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut wait = Wait::default();
        loop {
            let wire = placeholders.wire(step).map_err(Stop::NoToken)?;
            self.record_created(step, placeholders, &wire)?;
            let mut answer = self.exchange(index, step, wire, trace).await?;
            wait.longest = wait.longest.max(answer.milliseconds);
            wait.whole += answer.milliseconds;
            if self.view(&answer, placeholders.captures).meets(&step.until) {
                answer.wait = wait;
                return Ok(answer);
            }
            let no_time_left = match self.transport {
                Transport::Replayed(recording) => !recording.has_more(index + 1),
                Transport::Live | Transport::Altered(_) => {
                    start.elapsed() + pause > self.eventual_timeout
                }
            };
            if no_time_left {
                return Err(Stop::Trouble(format!(
                    "not so within {} s: the last answer has status {}, {}",
                    self.eventual_timeout.as_secs_f32(),
                    answer.status,
                    self.format_body(&answer)
                )));
            }
            if !matches!(self.transport, Transport::Replayed(_)) {
                tokio::time::sleep(pause).await;
            }
            wait.whole += pause.as_secs_f64() * 1000.0;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    fn view<'a>(&'a self, answer: &'a Answer, captures: &'a Captures) -> View<'a> {
        View {
            answer,
            ns: self.ns,
            vendor: self.vendor,
            captures,
        }
    }

    /// Ends the scenario if the response to a prerequisite request does not meet its precondition.
    fn require(&self, step: &Step, answer: &Answer, captures: &Captures) -> Result<(), Stop> {
        let set = match step.shows.as_slice() {
            [] => answer.is_success(),
            checks => self.view(answer, captures).meets(checks),
        };
        if set {
            return Ok(());
        }
        Err(Stop::Trouble(format!(
            "prerequisite failed: status {}, {}",
            answer.status,
            self.format_body(answer)
        )))
    }

    /// Formats the body of a response that does not meet a precondition.
    fn format_body(&self, answer: &Answer) -> String {
        let masked = |text: &str| mask_namespace(text.trim(), self.ns);
        if let Some(markup) = answer.markup() {
            return masked(&markup);
        }
        let body = shorten(&masked(&answer.text()));
        match body.is_empty() || body.contains(char::is_control) {
            true => format!("body {body:?}"),
            false => format!("body `{body}`"),
        }
    }

    fn capture_value(&self, answer: &Answer, name: &str, pointer: &str) -> Result<String, Stop> {
        if pointer == WHOLE_TEXT {
            return Ok(answer.text().trim().to_owned());
        }
        match answer.at(pointer) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Ok(canonical(other, "")),
            None => Err(Stop::Trouble(format!(
                "nothing at `{pointer}` of the answer (status {}) to go on with as {{{name}}}",
                answer.status
            ))),
        }
    }

    /// Adds the facts of a judged response; of a repetition, only those that differ.
    fn record(&self, step: &Step, repetition: u32, view: View<'_>, trace: &mut ScenarioRun) {
        let Some(entry) = trace.transcript.steps.last_mut() else {
            return;
        };
        let facts = step
            .expectations
            .iter()
            .map(|expectation| view.fact(expectation));
        if repetition == 0 {
            entry.facts = facts.collect();
            return;
        }
        let different: Vec<Fact> = facts
            .enumerate()
            .filter(|(place, fact)| entry.facts.get(*place) != Some(fact))
            .map(|(_, fact)| Fact {
                key: format!("{} of {repetition:03}", fact.key),
                value: fact.value,
            })
            .collect();
        entry.facts.extend(different);
    }

    /// Reads the following pages of a list; returns the last response with the items of all pages.
    async fn walk(
        &self,
        index: usize,
        step: &Step,
        placeholders: &Placeholders<'_>,
        first: Answer,
        trace: &mut ScenarioRun,
    ) -> Result<Answer, Stop> {
        let Send::Http { path, .. } = &step.request else {
            return Ok(first);
        };
        let path = placeholders.path(path);
        let mark = if path.contains('?') { '&' } else { '?' };
        let mut items: Vec<Value> = Vec::new();
        let mut pages = Vec::new();
        // Strings that no page may contain are searched for in all pages.
        let mut texts = String::new();
        let mut answer = first;
        let mut walk = Pagination::start(self.listings);
        loop {
            let page = answer.at("/result").and_then(Value::as_array);
            pages.push(page.map_or(0, Vec::len));
            items.extend(page.into_iter().flatten().cloned());
            texts.push_str(&answer.text());
            let next = answer.at("/next_cursor").and_then(Value::as_str);
            let Some(cursor) = next.filter(|_| answer.is_success()) else {
                return Ok(match answer.json() {
                    Some(Value::Object(members)) if answer.is_success() => {
                        let mut members = members.clone();
                        members.insert("result".to_owned(), Value::Array(items));
                        answer.joined(texts, Value::Object(members), pages)
                    }
                    _ => answer,
                });
            };
            let page_bytes = answer.plain().len();
            walk.advance(cursor, page_bytes).map_err(Stop::Trouble)?;
            let cursor = encode(cursor);
            let mut wire = placeholders.wire(step).map_err(Stop::NoToken)?;
            if let Wire::Http(request) = &mut wire {
                request.path = format!("{path}{mark}cursor={cursor}");
            }
            answer = self.exchange(index, step, wire, trace).await?;
        }
    }

    /// Records the resources that a request is about to create, so that they are removed in any
    /// case.
    fn record_created(
        &self,
        step: &Step,
        placeholders: &Placeholders<'_>,
        wire: &Wire,
    ) -> Result<(), Stop> {
        let (method, path) = match wire {
            Wire::Http(request) => (request.method.to_owned(), request.path.clone()),
            Wire::Raw(bytes) => {
                let (method, path) = request_line(bytes);
                let relative_path = path.strip_prefix(self.server.base.path.as_str());
                (method, relative_path.unwrap_or(&path).to_owned())
            }
        };
        // Resources are only created on the server that the rule is about.
        if method == "DELETE" || step.recipient != Recipient::Judged {
            return Ok(());
        }
        let body = json_body(step).map(|value| placeholders.json(value));
        let side_effects = side_effects_of(self.document, &method, &path, body.as_ref(), self.ns);
        let SideEffects::Own(resources) = side_effects else {
            return Ok(());
        };
        let noted = self.created.note(self.server, self.document, resources);
        noted.map_err(|error| {
            let message = format!("the cleanup ledger cannot be written: {error}");
            lock(self.events).push(Event::Defect(Defect {
                rule: self.rule.to_owned(),
                what: message.clone(),
            }));
            Stop::Trouble(message)
        })
    }

    fn record_removed(&self, step: &Step, placeholders: &Placeholders<'_>, answer: &Answer) {
        // A removal that an alteration reports may not have happened.
        if matches!(self.transport, Transport::Live)
            && let Send::Http { method, path, .. } = &step.request
            && *method == "DELETE"
            && answer.is_success()
        {
            self.created.removed(&placeholders.path(path));
        }
    }
}

/// Converts a failed step to a rule that is not run, if the step is a condition of the rule.
fn as_not_run(step: &Step, stop: Stop) -> Stop {
    match (stop, step.or_not_run) {
        (Stop::Trouble(_), Some(reason)) => Stop::NotShown(reason),
        (stop, _) => stop,
    }
}

/// Returns the JSON body of a step, before placeholders are filled.
pub(crate) fn json_body(step: &Step) -> Option<&Value> {
    fn json(body: &Body) -> Option<&Value> {
        match body {
            Body::Json(value) => Some(value),
            Body::Gzip(inner) => json(inner),
            _ => None,
        }
    }
    match &step.request {
        Send::Http { body, .. } => json(body),
        Send::Raw(_) => None,
    }
}

pub(crate) fn identity_name(step: &Step) -> String {
    match &step.identity {
        _ if step.recipient == Recipient::Mock => "suite",
        _ if step.recipient == Recipient::Engine => "engine",
        Identity::Administrator => "administrator",
        Identity::Role(role) => role,
        Identity::Anonymous => "anonymous",
        Identity::Authorization(_) => "authorization",
    }
    .to_owned()
}

//! Plays one scenario: sends its steps, keeps their facts, and says what went wrong before
//! any comparison.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;

use crate::answer::{Answer, NoAnswer};
use crate::catalogue::Document;
use crate::client::{Client, Outgoing};
use crate::curl;
use crate::evidence::{Defect, Event, Exchange, Payload, Received, Sent};
use crate::facts::{Fact, View, shortened};
use crate::names::{canonical, encode, shown};
use crate::openapi::{Contract, Message};
use crate::outgoing::{Filling, Wire};
use crate::reach::{Reach, Resource, reach};
use crate::scenario::{Body, Identity, Scenario, Send, Step};
use crate::server::Server;
use crate::transcript::{Entry, Namer, Transcript};
use crate::verdict::Failure;

/// More pages than any walk of a scenario needs: a cursor that leads nowhere ends here.
const PAGES: usize = 1000;

/// Plays the scenarios of one rule on one server.
#[derive(Debug)]
pub(crate) struct Player<'a> {
    pub(crate) client: &'a Client,
    pub(crate) contract: &'a Contract,
    pub(crate) server: &'a Server,
    pub(crate) vendor: &'a str,
    pub(crate) document: Document,
    pub(crate) rule: &'a str,
    pub(crate) ns: &'a str,
    /// The evidence so far.
    pub(crate) events: &'a Mutex<Vec<Event>>,
    pub(crate) requests: &'a AtomicU64,
    /// What the scenario may have made and not yet removed, oldest first.
    pub(crate) made: Mutex<Vec<Resource>>,
}

/// What playing a scenario showed.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub(crate) transcript: Transcript,
    /// What went wrong before any comparison: nothing was judged from there on.
    pub(crate) trouble: Option<Failure>,
    /// Whether the trouble is that no answer came.
    pub(crate) unanswered: bool,
    /// For each step its name and the last request that it sent.
    pub(crate) sent: Vec<(String, Option<Wire>)>,
    /// Where judged answers break the OpenAPI document: index of the step, and what.
    pub(crate) findings: Vec<(usize, String)>,
}

impl Played {
    /// The failure at a step, with the command that repeats its exchange.
    pub(crate) fn failure(&self, server: &Server, index: usize, notes: Vec<String>) -> Failure {
        let (request, wire) = self
            .sent
            .get(index)
            .map_or((String::new(), None), |(name, wire)| {
                (name.clone(), wire.as_ref())
            });
        Failure {
            step: index + 1,
            request,
            differences: Vec::new(),
            curl: wire.map_or_else(String::new, |wire| curl::command(&server.base, wire)),
            notes,
        }
    }
}

/// Why a step ended the scenario.
enum Stop {
    NoToken(String),
    NoAnswer(NoAnswer),
    Trouble(String),
}

impl From<NoAnswer> for Stop {
    fn from(error: NoAnswer) -> Self {
        Self::NoAnswer(error)
    }
}

impl Player<'_> {
    /// Sends the steps in order until all are done or one cannot go on.
    pub(crate) async fn play(&self, scenario: &Scenario) -> Played {
        let namer = Namer::new(scenario);
        let mut played = Played::default();
        let mut captures = BTreeMap::new();
        for (index, step) in scenario.steps.iter().enumerate() {
            played.sent.push((namer.line(step), None));
            played.transcript.steps.push(Entry {
                request: namer.request(step),
                facts: Vec::new(),
            });
            let Err(stop) = self.step(index, step, &mut captures, &mut played).await else {
                continue;
            };
            let note = match stop {
                Stop::NoToken(role) => format!("the target has no token for `{role}`"),
                Stop::Trouble(what) => what,
                Stop::NoAnswer(error) => {
                    played.unanswered = true;
                    format!("no answer: {error}")
                }
            };
            played.trouble = Some(played.failure(self.server, index, vec![note]));
            break;
        }
        played
    }

    async fn step(
        &self,
        index: usize,
        step: &Step,
        captures: &mut BTreeMap<&'static str, String>,
        played: &mut Played,
    ) -> Result<(), Stop> {
        for repetition in 0..step.times {
            let filling = Filling {
                ns: self.ns,
                repetition,
                captures,
                server: self.server,
                vendor: self.vendor,
            };
            let wire = filling.wire(step).map_err(Stop::NoToken)?;
            self.note_what_it_makes(step, &filling, &wire);
            let mut answer = self.exchange(index, step, wire, played).await?;
            if step.walk {
                answer = self.walk(index, step, &filling, answer, played).await?;
            }
            self.note_what_it_removed(step, &filling, &answer);
            if step.given {
                self.require_success(&answer)?;
            } else {
                self.keep(step, repetition, &answer, played);
            }
            for (name, pointer) in &step.capture {
                let value = self.captured(&answer, name, pointer)?;
                captures.insert(name, value);
            }
        }
        Ok(())
    }

    fn require_success(&self, answer: &Answer) -> Result<(), Stop> {
        if answer.is_success() {
            return Ok(());
        }
        let body = shortened(&shown(answer.text().trim(), self.ns));
        Err(Stop::Trouble(format!(
            "prerequisite failed: status {}, body {body:?}",
            answer.status
        )))
    }

    fn captured(&self, answer: &Answer, name: &str, pointer: &str) -> Result<String, Stop> {
        match answer.at(pointer) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Ok(canonical(other, "")),
            None => Err(Stop::Trouble(format!(
                "nothing at `{pointer}` of the answer (status {}) to go on with as {{{name}}}",
                answer.status
            ))),
        }
    }

    /// Adds the facts of a judged answer; a repetition adds only what differs from the first.
    fn keep(&self, step: &Step, repetition: u32, answer: &Answer, played: &mut Played) {
        let view = View {
            answer,
            ns: self.ns,
            vendor: self.vendor,
        };
        let Some(entry) = played.transcript.steps.last_mut() else {
            return;
        };
        let facts = step.keep.iter().map(|keep| view.fact(keep));
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

    /// Reads the pages that follow and puts the items of all of them into the last answer.
    async fn walk(
        &self,
        index: usize,
        step: &Step,
        filling: &Filling<'_>,
        first: Answer,
        played: &mut Played,
    ) -> Result<Answer, Stop> {
        let Send::Http { path, .. } = &step.request else {
            return Ok(first);
        };
        let path = filling.path(path);
        let mark = if path.contains('?') { '&' } else { '?' };
        let mut items: Vec<Value> = Vec::new();
        let mut answer = first;
        for _ in 0..PAGES {
            let page = answer.at("/result").and_then(Value::as_array);
            items.extend(page.into_iter().flatten().cloned());
            let next = answer.at("/next_cursor").and_then(Value::as_str);
            let Some(cursor) = next.filter(|_| answer.is_success()) else {
                return Ok(match answer.json() {
                    Some(Value::Object(members)) if answer.is_success() => {
                        let mut members = members.clone();
                        members.insert("result".to_owned(), Value::Array(items));
                        answer.with_json(Value::Object(members))
                    }
                    _ => answer,
                });
            };
            let cursor = encode(cursor);
            let mut wire = filling.wire(step).map_err(Stop::NoToken)?;
            if let Wire::Http(request) = &mut wire {
                request.path = format!("{path}{mark}cursor={cursor}");
            }
            answer = self.exchange(index, step, wire, played).await?;
        }
        Err(Stop::Trouble(format!(
            "the list did not end within {PAGES} pages"
        )))
    }

    /// Sends one request of a step and checks both sides against the OpenAPI document.
    async fn exchange(
        &self,
        index: usize,
        step: &Step,
        wire: Wire,
        played: &mut Played,
    ) -> Result<Answer, NoAnswer> {
        let identity = identity_name(&step.identity);
        let (sent, answer) = self.send(index + 1, identity, wire).await;
        if let (Wire::Http(request), None) = (&sent, step.off_contract) {
            self.check_request(request);
        }
        if let (Wire::Http(request), Ok(answer), false) = (&sent, &answer, step.given) {
            let finding = self.check_answer(request, answer);
            played.findings.extend(finding.map(|what| (index, what)));
        }
        if let Some(slot) = played.sent.last_mut() {
            slot.1 = Some(sent);
        }
        answer
    }

    /// A request that the document does not allow is the suite's own fault.
    fn check_request(&self, request: &Outgoing) {
        let message = Message {
            headers: &request.headers,
            body: &request.body,
        };
        let (method, path) = (request.method, request.path.as_str());
        let finding = self
            .contract
            .check_request(self.document, method, path, message);
        if let Some(what) = finding {
            self.emit(Event::Defect(Defect {
                rule: self.rule.to_owned(),
                what,
            }));
        }
    }

    fn check_answer(&self, request: &Outgoing, answer: &Answer) -> Option<String> {
        let message = Message {
            headers: &answer.headers,
            body: &answer.body,
        };
        self.contract.check_response(
            self.document,
            request.method,
            &request.path,
            answer.status,
            self.vendor,
            message,
        )
    }

    /// Sends a request and leaves the evidence; also returns the request without its secrets.
    pub(crate) async fn send(
        &self,
        number: usize,
        identity: String,
        mut wire: Wire,
    ) -> (Wire, Result<Answer, NoAnswer>) {
        if let Wire::Http(request) = &mut wire {
            self.client.complete(&mut request.headers);
        }
        let base = &self.server.base;
        self.requests.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        let answer = match &wire {
            Wire::Http(request) => self.client.send(base, request).await,
            Wire::Raw(bytes) => self.client.send_raw(base, bytes).await,
        };
        let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
        let public = self.redacted(&wire);
        self.emit(Event::Exchange(Box::new(Exchange {
            rule: self.rule.to_owned(),
            step: number,
            identity,
            request: self.sent(&public),
            response: answer.as_ref().ok().map(|answer| self.received(answer)),
            error: answer.as_ref().err().map(ToString::to_string),
            milliseconds,
        })));
        (public, answer)
    }

    pub(crate) fn emit(&self, event: Event) {
        lock(self.events).push(event);
    }

    fn redacted(&self, wire: &Wire) -> Wire {
        let redactor = &self.server.redactor;
        match wire {
            Wire::Raw(bytes) => {
                Wire::Raw(redactor.text(&String::from_utf8_lossy(bytes)).into_bytes())
            }
            Wire::Http(request) => Wire::Http(Outgoing {
                method: request.method,
                path: redactor.text(&request.path),
                headers: self.redacted_headers(&request.headers),
                body: self.redacted_bytes(&request.body),
            }),
        }
    }

    fn redacted_headers(&self, headers: &[(String, String)]) -> Vec<(String, String)> {
        let redactor = &self.server.redactor;
        headers
            .iter()
            .map(|(name, value)| (name.clone(), redactor.header_value(name, value)))
            .collect()
    }

    fn redacted_bytes(&self, bytes: &Bytes) -> Bytes {
        let redactor = &self.server.redactor;
        match std::str::from_utf8(bytes) {
            Ok(text) if redactor.reveals(text) => Bytes::from(redactor.text(text)),
            _ => bytes.clone(),
        }
    }

    fn sent(&self, public: &Wire) -> Sent {
        let base = &self.server.base;
        match public {
            Wire::Http(request) => Sent {
                method: request.method.to_owned(),
                url: format!("{}{}", base.url, request.path),
                headers: request.headers.clone(),
                body: Payload::of(&request.body),
            },
            Wire::Raw(bytes) => Sent {
                method: "raw".to_owned(),
                url: base.url.clone(),
                headers: Vec::new(),
                body: Payload::of(bytes),
            },
        }
    }

    fn received(&self, answer: &Answer) -> Received {
        Received {
            status: answer.status,
            headers: self.redacted_headers(&answer.headers),
            body: Payload::of(&self.redacted_bytes(&answer.body)),
        }
    }

    /// Remembers what a request is about to make, so that it is removed whatever happens.
    fn note_what_it_makes(&self, step: &Step, filling: &Filling<'_>, wire: &Wire) {
        let (method, path) = match wire {
            Wire::Http(request) => (request.method.to_owned(), request.path.clone()),
            Wire::Raw(bytes) => raw_line(bytes),
        };
        if method == "DELETE" {
            return;
        }
        let body = json_body(step).map(|value| filling.json(value));
        if let Reach::Own(resources) = reach(self.document, &method, &path, body.as_ref(), self.ns)
        {
            let mut made = lock(&self.made);
            for resource in resources {
                if !made.contains(&resource) {
                    made.push(resource);
                }
            }
        }
    }

    fn note_what_it_removed(&self, step: &Step, filling: &Filling<'_>, answer: &Answer) {
        if let Send::Http { method, path, .. } = &step.request
            && *method == "DELETE"
            && answer.is_success()
        {
            let path = filling.path(path);
            lock(&self.made).retain(|resource| resource.path != path);
        }
    }
}

/// What is wrong with a scenario by the suite's own rules, without sending anything.
pub(crate) fn defects(scenario: &Scenario, document: Document, server: &Server) -> Vec<String> {
    const NS: &str = "namespace";
    let captures = BTreeMap::new();
    let filling = Filling {
        ns: NS,
        repetition: 0,
        captures: &captures,
        server,
        vendor: "engine",
    };
    let namer = Namer::new(scenario);
    let mut defects = Vec::new();
    for step in &scenario.steps {
        if step.given && !step.keep.is_empty() {
            defects.push(format!(
                "`{}` is given, so its keeps are lost",
                namer.line(step)
            ));
        }
        if let Send::Http { path, .. } = &step.request
            && path.contains('{')
            && namer.line(step).contains('{')
        {
            defects.push(format!(
                "`{}` has a placeholder of no known name",
                namer.line(step)
            ));
        }
        let (method, path) = match &step.request {
            Send::Http { method, path, .. } => ((*method).to_owned(), filling.path(path)),
            Send::Raw(text) => raw_line(text.replace("{ns}", NS).as_bytes()),
        };
        let body = json_body(step).map(|value| filling.json(value));
        let foreign = reach(document, &method, &path, body.as_ref(), NS) == Reach::Foreign;
        if foreign && scenario.effect != crate::scenario::Effect::ChangesGlobal {
            defects.push(format!(
                "`{}` changes what is not its own: its path carries no {{ns}}, and the scenario \
                 does not declare changes_global",
                namer.line(step)
            ));
        }
    }
    defects
}

/// A role that the scenario needs and the server has no token for.
pub(crate) fn missing_role(scenario: &Scenario, server: &Server) -> Option<String> {
    scenario
        .steps
        .iter()
        .find_map(|step| server.authorization(&step.identity).err())
}

fn json_body(step: &Step) -> Option<&Value> {
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

/// Method and path of a raw request: the first two words.
fn raw_line(bytes: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(bytes);
    let mut words = text.split_whitespace().map(str::to_owned);
    (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    )
}

fn identity_name(identity: &Identity) -> String {
    match identity {
        Identity::Administrator => "administrator",
        Identity::Role(role) => role,
        Identity::Anonymous => "anonymous",
        Identity::Authorization(_) => "authorization",
    }
    .to_owned()
}

/// A lock that a panicking thread left is still good: the list is never half-written.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

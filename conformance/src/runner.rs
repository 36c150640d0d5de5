//! Plays one scenario: sends its steps, keeps their facts, and says what went wrong before
//! any comparison.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::answer::{Answer, NoAnswer};
use crate::catalogue::Document;
use crate::cleanup::Made;
use crate::client::{Base, Client};
use crate::curl;
use crate::evidence::{Defect, Event};
use crate::facts::{Fact, View, shortened};
use crate::names::{canonical, encode, shown};
use crate::openapi::Contract;
use crate::outgoing::{Filling, Wire};
use crate::reach::{Reach, reach};
use crate::saboteur::Fault;
use crate::scenario::{Body, Goal, Identity, Scenario, Send, Step};
use crate::server::Server;
use crate::tape::Tape;
use crate::transcript::{Entry, Namer, Transcript};
use crate::verdict::Failure;
use crate::walk::Walk;

/// The pause before a request is repeated; the next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause.
const LAST_PAUSE: Duration = Duration::from_millis(160);

/// Plays the scenarios of one rule on one server.
#[derive(Debug)]
pub(crate) struct Player<'a> {
    pub(crate) client: &'a Client,
    pub(crate) line: Line<'a>,
    pub(crate) contract: &'a Contract,
    pub(crate) server: &'a Server,
    pub(crate) vendor: &'a str,
    /// How long what a step waits for may take to come about.
    pub(crate) patience: Duration,
    pub(crate) document: Document,
    pub(crate) rule: &'a str,
    pub(crate) ns: &'a str,
    /// The evidence so far.
    pub(crate) events: &'a Mutex<Vec<Event>>,
    pub(crate) requests: &'a AtomicU64,
    pub(crate) made: Made<'a>,
}

/// What carries requests to the server and answers back.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Line<'a> {
    /// The network.
    Network,
    /// The network, with a fault on the way.
    Broken(&'a Fault),
    /// The answers of an earlier run; nothing is sent.
    Tape(&'a Tape),
}

/// What playing a scenario showed.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub(crate) transcript: Transcript,
    /// What went wrong before any comparison: nothing was judged from there on.
    pub(crate) trouble: Option<Failure>,
    /// Whether the trouble is that no answer came.
    pub(crate) unanswered: bool,
    /// Whether it was waited for to the end of the time limit.
    pub(crate) slow: bool,
    /// For each step what it sent.
    pub(crate) sent: Vec<Told>,
    /// Where judged answers break the OpenAPI document: index of the step, and what.
    pub(crate) findings: Vec<(usize, String)>,
}

/// What a step sent.
#[derive(Debug)]
pub(crate) struct Told {
    /// The step, as the transcript names it.
    pub(crate) name: String,
    /// Whether it only sets the scene.
    pub(crate) given: bool,
    /// Where its requests go.
    pub(crate) goal: Base,
    /// The last of them.
    pub(crate) wire: Option<Wire>,
}

impl Played {
    /// The failure at a step, with the commands that repeat the scenario up to it. Of a step
    /// that was sent several times the last request stands for all.
    pub(crate) fn failure(&self, index: usize, notes: Vec<String>) -> Failure {
        let sent = self.sent.get(..=index).unwrap_or(&self.sent);
        let again = |told: &Told| Some(curl::command(&told.goal, told.wire.as_ref()?));
        Failure {
            step: index + 1,
            request: sent
                .last()
                .map_or_else(String::new, |told| told.name.clone()),
            blocked: sent.last().is_some_and(|told| told.given),
            differences: Vec::new(),
            curl: sent.iter().filter_map(again).collect(),
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
            played.sent.push(Told {
                name: namer.line(step),
                given: step.given,
                goal: self.server.goal(step).clone(),
                wire: None,
            });
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
                    played.slow = error.slow;
                    format!("no answer: {error}")
                }
            };
            played.trouble = Some(played.failure(index, vec![note]));
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
            let mut answer = self.ask(index, step, &filling, played).await?;
            if step.walk {
                answer = self.walk(index, step, &filling, answer, played).await?;
            }
            self.note_what_it_removed(step, &filling, &answer);
            if step.given {
                self.require(step, &answer)?;
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

    /// Sends the request of a step, again and again until the answer meets what is waited for.
    async fn ask(
        &self,
        index: usize,
        step: &Step,
        filling: &Filling<'_>,
        played: &mut Played,
    ) -> Result<Answer, Stop> {
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let wire = filling.wire(step).map_err(Stop::NoToken)?;
            self.note_what_it_makes(step, filling, &wire)?;
            let answer = self.exchange(index, step, wire, played).await?;
            if self.view(&answer).meets(&step.until) {
                return Ok(answer);
            }
            let no_time_left = match self.line {
                Line::Tape(tape) => !tape.goes_on(index + 1),
                Line::Network | Line::Broken(_) => start.elapsed() + pause > self.patience,
            };
            if no_time_left {
                let body = shortened(&shown(answer.text().trim(), self.ns));
                return Err(Stop::Trouble(format!(
                    "not so within {} s: the last answer has status {}, body {body:?}",
                    self.patience.as_secs_f32(),
                    answer.status
                )));
            }
            if !matches!(self.line, Line::Tape(_)) {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LAST_PAUSE);
            }
        }
    }

    fn view<'a>(&'a self, answer: &'a Answer) -> View<'a> {
        View {
            answer,
            ns: self.ns,
            vendor: self.vendor,
        }
    }

    /// Goes on only if the answer to a given request sets the scene.
    fn require(&self, step: &Step, answer: &Answer) -> Result<(), Stop> {
        let set = match step.shows.as_slice() {
            [] => answer.is_success(),
            checks => self.view(answer).meets(checks),
        };
        if set {
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
        let view = self.view(answer);
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
        let mut pages = Vec::new();
        // What no page may hold is looked for in the texts of all.
        let mut texts = String::new();
        let mut answer = first;
        let mut walk = Walk::start();
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
            walk.go_on(cursor).map_err(Stop::Trouble)?;
            let cursor = encode(cursor);
            let mut wire = filling.wire(step).map_err(Stop::NoToken)?;
            if let Wire::Http(request) = &mut wire {
                request.path = format!("{path}{mark}cursor={cursor}");
            }
            answer = self.exchange(index, step, wire, played).await?;
        }
    }

    /// Remembers what a request is about to make, so that it is removed whatever happens.
    fn note_what_it_makes(
        &self,
        step: &Step,
        filling: &Filling<'_>,
        wire: &Wire,
    ) -> Result<(), Stop> {
        let (method, path) = match wire {
            Wire::Http(request) => (request.method.to_owned(), request.path.clone()),
            Wire::Raw(bytes) => raw_line(bytes),
        };
        // Nothing is made but on the server that the rule is about.
        if method == "DELETE" || step.goal != Goal::Judged {
            return Ok(());
        }
        let body = json_body(step).map(|value| filling.json(value));
        let reach = reach(self.document, &method, &path, body.as_ref(), self.ns);
        let Reach::Own(resources) = reach else {
            return Ok(());
        };
        let noted = self.made.note(self.server, self.document, resources);
        noted.map_err(|error| {
            let what = format!("the cleanup ledger cannot be written: {error}");
            lock(self.events).push(Event::Defect(Defect {
                rule: self.rule.to_owned(),
                what: what.clone(),
            }));
            Stop::Trouble(what)
        })
    }

    fn note_what_it_removed(&self, step: &Step, filling: &Filling<'_>, answer: &Answer) {
        // Of a removal that a fault reports nobody knows whether it was one.
        if matches!(self.line, Line::Network)
            && let Send::Http { method, path, .. } = &step.request
            && *method == "DELETE"
            && answer.is_success()
        {
            self.made.removed(&filling.path(path));
        }
    }
}

/// The JSON body of a step, before its placeholders are filled.
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

/// Method and path of a raw request: the first two words.
pub(crate) fn raw_line(bytes: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(bytes);
    let mut words = text.split_whitespace().map(str::to_owned);
    (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    )
}

pub(crate) fn identity_name(step: &Step) -> String {
    match &step.identity {
        _ if step.goal == Goal::Depot => "suite",
        _ if step.goal == Goal::Engine => "engine",
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

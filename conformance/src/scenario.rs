//! Scenarios: the requests that show one clause, as plain, serialisable data, and the
//! builder that writes them.
//!
//! A scenario is a list of steps. `given` steps set the scene and must answer 2xx; `when`
//! steps are judged: each names the facts to keep, and the kept facts of all steps are the
//! transcript that the rule's snapshot states. What is not kept is not judged: a `when` step
//! that keeps nothing may be answered in any way.
//!
//! Placeholders in paths, header values and every string of a body:
//! `{ns}` the scenario's own name prefix (every resource a scenario writes carries it); on the
//! engine it can also name a package,
//! `{i}` the number of the repetition of a `times` step (three digits),
//! `{NAME}` a value captured by an earlier step (percent-encoded where it lands in a path).
//! `{token}` the target's administrator token, in the value of [`Step::authorization`] only.

use serde::Serialize;
pub use serde_json::{Value, json};

pub use crate::filter::{Language, Rows, Table, Unless};
pub use crate::trace::{Trace, TraceEvent, any_event, event};

/// A documented rule (or a probe of an open clause) and the scenario that shows it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Last part of the rule id; the rest is the path of the file it stands in.
    pub slug: &'static str,
    /// Builds the scenario; a function, so that a table of rules can be a constant.
    pub scenario: fn() -> Scenario,
}

impl Rule {
    /// A rule with its slug and the function that builds its scenario.
    pub const fn new(slug: &'static str, scenario: fn() -> Scenario) -> Self {
        Self { slug, scenario }
    }
}

/// The requests that show one clause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// How the target must have been started.
    pub setup: &'static str,
    /// What the scenario does to the target.
    pub effect: Effect,
    /// The requests, in order.
    pub steps: Vec<Step>,
}

/// What a scenario does to its target: decides where and beside what it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Only looks.
    Reads,
    /// Writes things of its own, under its own names, and removes them.
    AddsOwn,
    /// Touches what others see: runs alone, and only on a target the user owns.
    ChangesGlobal,
}

/// One request (or a repeated one) and what its answer is judged by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Sets the scene (must answer 2xx; nothing of its answer is kept) instead of being judged.
    pub given: bool,
    /// How often the request is sent; `{i}` counts from 000.
    pub times: u32,
    /// Whether, and how, the request is repeated along `next_cursor`.
    pub walk: bool,
    /// Who asks.
    pub identity: Identity,
    /// What is sent.
    pub request: Send,
    /// The reason why the request is outside the documented contract on purpose; the request
    /// is then not checked against the OpenAPI document.
    pub off_contract: Option<&'static str>,
    /// The facts of the answer that the transcript holds.
    pub keep: Vec<Keep>,
    /// Values of the answer that later steps use: placeholder name and JSON pointer.
    pub capture: Vec<(&'static str, &'static str)>,
}

/// What is sent: a request of the HTTP client, or bytes straight to the socket.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Send {
    /// A request that an HTTP client can send.
    Http {
        /// The method.
        method: &'static str,
        /// Path and query below the target's base URL.
        path: String,
        /// Extra headers, in order.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: Body,
    },
    /// Bytes that a client library refuses to send; `{host}` is the target's authority,
    /// `{authorization}` the whole header line of the identity with its line end (or nothing).
    Raw(String),
}

/// A request body. Content-Type follows from the kind unless a header names it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// No body.
    Empty,
    /// A JSON document, `application/json`.
    Json(Value),
    /// Text as it stands: media type (empty for no Content-Type) and text.
    Text(&'static str, String),
    /// Bytes as they stand: media type (empty for no Content-Type) and bytes.
    Bytes(&'static str, Vec<u8>),
    /// Another body, gzip-encoded, with `Content-Encoding: gzip`.
    Gzip(Box<Body>),
}

/// Who sends a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identity {
    /// The target's token with all rights, or none where the setup needs none.
    Administrator,
    /// The target's token for a role: `viewer`, `owner`, `other-owner`, `stack-owner`, …
    Role(&'static str),
    /// No Authorization header.
    Anonymous,
    /// An Authorization header with this value.
    Authorization(String),
}

/// A fact of an answer that the transcript holds. Pointers are JSON pointers into the body.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The status code, exactly.
    Status,
    /// The status is one of these: `<200 or 204>`.
    StatusAmong(Vec<u16>),
    /// The status lies in 200–299: `<success>`.
    Success,
    /// The status is 400 or above: `<error>`.
    Error,
    /// The media type without parameters, the target's vendor written as `engine`.
    MediaType,
    /// A header's value, exactly; absent is shown as `<absent>`.
    Header(&'static str),
    /// The text of the body without white space around it.
    Text,
    /// Whether the body is empty.
    NoBody,
    /// Whether a JSON body is spread over several lines.
    Pretty,
    /// The value at a pointer (`""` is the whole body), exactly.
    At(String),
    /// The JSON type at a pointer, one of these: `<string>`, `<string or null>`.
    Type(String, Vec<Kind>),
    /// The JSON type wherever the pointer leads: `*` in it stands for every item of an array and
    /// for any text in a member's name. It must lead somewhere.
    Each(String, Vec<Kind>),
    /// Nothing at the pointer.
    Lacks(String),
    /// Nothing, null or an empty value at the pointer.
    Unset(String),
    /// The array at the pointer, in canonical order.
    Sorted(String),
    /// The queries of a residual at the pointer, in canonical form.
    Residual(String),
    /// The scenario's own names in the array at the pointer (strings, or objects' `name` or `id`),
    /// sorted.
    /// A name found twice is shown twice.
    Names(String),
    /// The number of the array's items, exactly.
    Length(String),
    /// The array at the pointer has at most this many items.
    AtMost(String, usize),
    /// The array at the pointer holds this item.
    Includes(String, Value),
    /// The body, as text, nowhere holds this.
    Without(String),
    /// The body, as text and whatever the case of its letters, holds this.
    Mentions(&'static str),
    /// One of the named alternatives holds; the transcript names all of them.
    Either(Vec<Alternative>),
    /// What the evaluation trace of the answer holds.
    Trace(Trace),
    /// The rows that the condition of a data filter selects.
    Rows(Rows),
    /// A value that stands at the pointer or, at any depth, below it.
    Holds(String, Value),
}

/// JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number without fraction.
    Integer,
    /// Any number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// No value at all.
    Absent,
}

/// One of several answers a document allows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// What the transcript calls it.
    pub label: &'static str,
    /// All of these must hold.
    pub checks: Vec<Check>,
}

/// A condition on an answer inside an alternative.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The status is this.
    Status(u16),
    /// The status lies between these, both included.
    StatusFrom(u16, u16),
    /// The value at the pointer is this.
    Equals(String, Value),
    /// The JSON type at the pointer is one of these.
    Type(String, Vec<Kind>),
    /// The array at the pointer has at most this many items.
    AtMost(String, usize),
    /// Nothing at the pointer.
    Lacks(String),
    /// The body is empty.
    NoBody,
}

/// Starts a scenario: setup `default`, effect from its requests.
pub fn scenario() -> Scenario {
    Scenario {
        setup: "default",
        effect: Effect::Reads,
        steps: Vec::new(),
    }
}

impl Scenario {
    /// Needs a target started in this setup.
    #[must_use]
    pub fn setup(mut self, name: &'static str) -> Self {
        self.setup = name;
        self
    }

    /// Touches what other scenarios see, so it runs alone.
    #[must_use]
    pub fn changes_global(mut self) -> Self {
        self.effect = Effect::ChangesGlobal;
        self
    }

    /// A request that sets the scene: it must answer 2xx.
    #[must_use]
    pub fn given(self, mut step: Step) -> Self {
        step.given = true;
        self.when(step)
    }

    /// A request that is judged by what it keeps.
    #[must_use]
    pub fn when(mut self, step: Step) -> Self {
        let writes = match &step.request {
            Send::Http { method, .. } => !matches!(*method, "GET" | "HEAD" | "OPTIONS"),
            Send::Raw(text) => !text.starts_with("GET ") && !text.starts_with("HEAD "),
        };
        if writes && self.effect == Effect::Reads {
            self.effect = Effect::AddsOwn;
        }
        self.steps.push(step);
        self
    }

    /// The same `given` or `when` for each item of a table.
    #[must_use]
    pub fn each<T>(
        self,
        items: impl IntoIterator<Item = T>,
        add: impl Fn(Self, T) -> Self,
    ) -> Self {
        items.into_iter().fold(self, add)
    }
}

fn step(request: Send) -> Step {
    Step {
        given: false,
        times: 1,
        walk: false,
        identity: Identity::Administrator,
        request,
        off_contract: None,
        keep: Vec::new(),
        capture: Vec::new(),
    }
}

/// A request with any method.
pub fn request(method: &'static str, path: impl Into<String>) -> Step {
    step(Send::Http {
        method,
        path: path.into(),
        headers: Vec::new(),
        body: Body::Empty,
    })
}

/// A GET request.
pub fn get(path: impl Into<String>) -> Step {
    request("GET", path)
}

/// A PUT request.
pub fn put(path: impl Into<String>) -> Step {
    request("PUT", path)
}

/// A POST request.
pub fn post(path: impl Into<String>) -> Step {
    request("POST", path)
}

/// A PATCH request.
pub fn patch(path: impl Into<String>) -> Step {
    request("PATCH", path)
}

/// A DELETE request.
pub fn delete(path: impl Into<String>) -> Step {
    request("DELETE", path)
}

/// A list read page by page until `next_cursor` is null or absent. Its answer is, for the
/// keeps, that of the last page with `result` replaced by all items of all pages.
pub fn walk(path: impl Into<String>) -> Step {
    Step {
        walk: true,
        ..get(path)
    }
}

/// Bytes straight to the socket (see [`Send::Raw`]).
pub fn raw(text: impl Into<String>) -> Step {
    step(Send::Raw(text.into()))
}

impl Step {
    /// A fact of the answer that the transcript holds.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep.push(keep);
        self
    }

    /// Sends a JSON document.
    #[must_use]
    pub fn json(self, value: Value) -> Self {
        self.body(Body::Json(value))
    }

    /// Sends text of a media type as it stands.
    #[must_use]
    pub fn text(self, media_type: &'static str, text: impl Into<String>) -> Self {
        self.body(Body::Text(media_type, text.into()))
    }

    /// Sends a body of any kind.
    #[must_use]
    pub fn body(mut self, sent: Body) -> Self {
        if let Send::Http { body, .. } = &mut self.request {
            *body = sent;
        }
        self
    }

    /// Encodes the body with gzip.
    #[must_use]
    pub fn gzip(mut self) -> Self {
        if let Send::Http { body, .. } = &mut self.request {
            let plain = std::mem::replace(body, Body::Empty);
            *body = Body::Gzip(Box::new(plain));
        }
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Send::Http { headers, .. } = &mut self.request {
            headers.push((name, value.into()));
        }
        self
    }

    /// Asks with the target's token for a role.
    #[must_use]
    pub fn role(mut self, role: &'static str) -> Self {
        self.identity = Identity::Role(role);
        self
    }

    /// Asks without an Authorization header.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.identity = Identity::Anonymous;
        self
    }

    /// Asks with an Authorization header of this value.
    #[must_use]
    pub fn authorization(mut self, value: impl Into<String>) -> Self {
        self.identity = Identity::Authorization(value.into());
        self
    }

    /// Sends the request this often; `{i}` counts.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    /// Says why the request breaks the documented contract on purpose.
    #[must_use]
    pub fn off_contract(mut self, reason: &'static str) -> Self {
        self.off_contract = Some(reason);
        self
    }

    /// Keeps the value at the pointer for later steps as `{name}`.
    #[must_use]
    pub fn capture(mut self, name: &'static str, pointer: &'static str) -> Self {
        self.capture.push((name, pointer));
        self
    }
}

/// Keeps the status.
pub fn status() -> Keep {
    Keep::Status
}

/// Keeps that the status is one of these.
pub fn status_among(allowed: &[u16]) -> Keep {
    Keep::StatusAmong(allowed.to_vec())
}

/// Keeps that the answer is a success (2xx).
pub fn success() -> Keep {
    Keep::Success
}

/// Keeps that the answer is an error (400 and above).
pub fn error() -> Keep {
    Keep::Error
}

/// Keeps the media type without parameters.
pub fn media_type() -> Keep {
    Keep::MediaType
}

/// Keeps a header.
pub fn header(name: &'static str) -> Keep {
    Keep::Header(name)
}

/// Keeps the trimmed text of the body.
pub fn text() -> Keep {
    Keep::Text
}

/// Keeps that the body is empty.
pub fn no_body() -> Keep {
    Keep::NoBody
}

/// Keeps whether the JSON body is spread over lines.
pub fn pretty() -> Keep {
    Keep::Pretty
}

/// Keeps the whole JSON body.
pub fn body() -> Keep {
    at("")
}

/// Keeps the value at a pointer.
pub fn at(pointer: impl Into<String>) -> Keep {
    Keep::At(pointer.into())
}

/// Keeps the JSON type at a pointer.
pub fn kind(pointer: impl Into<String>, kind: Kind) -> Keep {
    Keep::Type(pointer.into(), vec![kind])
}

/// Keeps that the JSON type at a pointer is one of these.
pub fn kind_among(pointer: impl Into<String>, kinds: &[Kind]) -> Keep {
    Keep::Type(pointer.into(), kinds.to_vec())
}

/// Keeps the JSON type wherever the pointer, which has `*`, leads.
pub fn each(pointer: impl Into<String>, kind: Kind) -> Keep {
    Keep::Each(pointer.into(), vec![kind])
}

/// Keeps that nothing is at the pointer.
pub fn lacks(pointer: impl Into<String>) -> Keep {
    Keep::Lacks(pointer.into())
}

/// Keeps that nothing, null or an empty value is at the pointer.
pub fn unset(pointer: impl Into<String>) -> Keep {
    Keep::Unset(pointer.into())
}

/// Keeps the array at the pointer without regard to order.
pub fn sorted(pointer: impl Into<String>) -> Keep {
    Keep::Sorted(pointer.into())
}

/// Keeps the queries of a residual at the pointer, whatever names, order and form of equations the
/// server chose.
pub fn residual(pointer: impl Into<String>) -> Keep {
    Keep::Residual(pointer.into())
}

/// Keeps the scenario's own names in the array at the pointer.
pub fn names(pointer: impl Into<String>) -> Keep {
    Keep::Names(pointer.into())
}

/// Keeps the length of the array at the pointer.
pub fn length(pointer: impl Into<String>) -> Keep {
    Keep::Length(pointer.into())
}

/// Keeps that the array at the pointer has at most this many items.
pub fn at_most(pointer: impl Into<String>, items: usize) -> Keep {
    Keep::AtMost(pointer.into(), items)
}

/// Keeps that the array at the pointer holds this item.
pub fn includes(pointer: impl Into<String>, item: Value) -> Keep {
    Keep::Includes(pointer.into(), item)
}

/// Keeps that the body nowhere holds this text.
pub fn without(text: impl Into<String>) -> Keep {
    Keep::Without(text.into())
}

/// Keeps that the body holds this text, in whatever case.
pub fn mentions(text: &'static str) -> Keep {
    Keep::Mentions(text)
}

/// Keeps that the value stands at the pointer or, at any depth, below it.
pub fn holds(pointer: impl Into<String>, value: Value) -> Keep {
    Keep::Holds(pointer.into(), value)
}

/// Keeps the rows that the condition of a data filter selects.
pub fn rows(rows: Rows) -> Keep {
    Keep::Rows(rows)
}

/// Keeps that one of the alternatives holds.
pub fn either(alternatives: impl Into<Vec<Alternative>>) -> Keep {
    Keep::Either(alternatives.into())
}

/// A named alternative of [`either`].
pub fn alternative(label: &'static str, checks: impl Into<Vec<Check>>) -> Alternative {
    Alternative {
        label,
        checks: checks.into(),
    }
}

/// Keeps that the answer has no trace.
pub fn no_trace() -> Keep {
    Keep::Trace(Trace::Absent)
}

/// Keeps that the trace has events like these, in this order.
pub fn trace(events: impl Into<Vec<TraceEvent>>) -> Keep {
    Keep::Trace(Trace::Order(events.into()))
}

/// Keeps that the trace has no event like this.
pub fn trace_without(event: TraceEvent) -> Keep {
    Keep::Trace(Trace::Without(event))
}

/// Keeps the JSON types wherever the pointer leads in each event like this.
pub fn trace_types(event: TraceEvent, pointer: &'static str, kinds: &[Kind]) -> Keep {
    Keep::Trace(Trace::Types(event, pointer, kinds.to_vec()))
}

/// Keeps that each event like this has one of these texts at the pointer.
pub fn trace_texts(event: TraceEvent, pointer: &'static str, texts: &[&'static str]) -> Keep {
    Keep::Trace(Trace::Texts(event, pointer, texts.to_vec()))
}

//! Scenarios: the requests that test one clause, as serialisable data, and their builder.
//!
//! A scenario is a list of steps. `given` steps are preconditions and must return 2xx; `when` steps
//! are judged: each names the facts that it expects, and the facts of all steps are the transcript
//! in the rule's snapshot. Only expectations are judged: a `when` step without any accepts every
//! response.
//!
//! Placeholders in paths, header values and every string of a body:
//! - `{ns}` the scenario's own name prefix (every resource that a scenario writes has it); on the
//!   engine it can also name a package,
//! - `{i}` the number of the repetition of a `times` step (three digits),
//! - `{NAME}` a value captured by an earlier step (percent-encoded in a path),
//! - `{token}` the target's administrator token, in the value of [`Step::authorization`] only; and
//!   tokens that differ little from it: `{token-in-other-case}`, `{token-shortened}` (by its last
//!   character) and `{token-changed}` (in its last character),
//! - `{depot}` the address of the fixture server that the target is configured with,
//! - `{builtin}` the built-in source that the target file names, or `example`.
//!
//! A step may also go to the [fixture server](mock()), the peer that the suite runs for a server:
//! it sets bundles there and reads what the server loaded and sent. A scenario of the control plane
//! may query an [engine](engine()) that loads the control plane's bundles. A step polls for an
//! eventual effect [until](Step::until) it occurs.

mod expect;
pub(crate) mod numbers;
pub(crate) mod pointer_globs;
pub(crate) mod resource_names;
mod rows;
mod trace;
pub(crate) mod value_types;

use serde::Serialize;
pub use serde_json::{Value, json};

pub use expect::*;
pub use rows::{Language, Rows, Table, Unless};
pub use trace::{Trace, TraceEvent, any_event, event};

/// Name of a target that is given only by addresses.
pub(crate) const UNNAMED: &str = "custom";

/// Default vendor part of media types, also in scenarios.
pub(crate) fn default_vendor() -> String {
    "engine".to_owned()
}

/// A documented rule (or a probe of an open clause) and the scenario that shows it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Last part of the rule id; the rest is the path of its file.
    pub slug: &'static str,
    /// Builds the scenario; a function, so that a table of rules can be a constant.
    pub scenario: fn() -> Scenario,
}

impl Rule {
    /// Creates a rule with its slug and the function that builds its scenario.
    pub const fn new(slug: &'static str, scenario: fn() -> Scenario) -> Self {
        Self { slug, scenario }
    }
}

/// The requests that show one clause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// Required setup of the target.
    pub setup: &'static str,
    /// Whether the scenario needs a server and a fixture server that no other scenario has used.
    pub fresh: bool,
    /// Effect of the scenario on the target.
    pub effect: Effect,
    /// The requests, in order.
    pub steps: Vec<Step>,
}

/// Effect of a scenario on its target: determines where and in parallel with what it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Only reads.
    Reads,
    /// Writes resources under the scenario's name prefix, and removes them.
    AddsOwn,
    /// Changes what others see, or reads what others change: runs alone, and only on a target that
    /// the user owns.
    ChangesGlobal,
}

/// One request (or a repeated one) and the expectations on its response.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Whether the step is a precondition: nothing of its response is recorded or judged.
    pub given: bool,
    /// Conditions on the response to a `given` request; 2xx by default.
    pub shows: Vec<Check>,
    /// Number of times the request is sent; `{i}` counts from 000.
    pub times: u32,
    /// Whether the request is repeated along `next_cursor`.
    pub walk: bool,
    /// The request is repeated until its response meets all of these.
    pub until: Vec<Check>,
    /// Reason for not running the rule if the request does not have the required result. The
    /// document leaves this result open, but the rule cannot be checked without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub or_not_run: Option<&'static str>,
    /// Recipient of the request.
    #[serde(rename = "goal")]
    pub recipient: Recipient,
    /// Identity of the request.
    pub identity: Identity,
    /// Request to send.
    pub request: Send,
    /// The reason why the request is outside the documented contract on purpose; the request
    /// is then not checked against the OpenAPI document.
    pub off_contract: Option<&'static str>,
    /// Facts of the response in the transcript.
    #[serde(rename = "keep")]
    pub expectations: Vec<Expectation>,
    /// Values of the response that later steps use: placeholder name and JSON pointer, or `text`
    /// for the string of the body.
    pub capture: Vec<(&'static str, &'static str)>,
}

/// Recipient of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recipient {
    /// The server that the rule is about.
    Judged,
    /// The engine next to the control plane, which loads its bundles.
    Engine,
    /// The server that the rule is about, at a non-loopback address of this machine.
    Elsewhere,
    /// The suite's fixture server.
    #[serde(rename = "depot")]
    Mock,
}

/// Request to send: by the HTTP client, or as bytes directly to the socket.
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
    /// Bytes that a client library refuses to send; `{host}` is the target's authority, `{prefix}`
    /// the path of its base address, `{authorization}` the whole header line of the identity with
    /// its line end (or nothing). The user's headers are added.
    Raw(String),
}

/// A request body. It determines the Content-Type unless a header sets it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// No body.
    Empty,
    /// A JSON document, `application/json`.
    Json(Value),
    /// A string unchanged: media type (empty for no Content-Type) and string.
    Text(&'static str, String),
    /// Bytes unchanged: media type (empty for no Content-Type) and bytes.
    Bytes(&'static str, Vec<u8>),
    /// Another body, gzip-encoded, with `Content-Encoding: gzip`.
    Gzip(Box<Body>),
}

/// Identity of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identity {
    /// The target's token with all rights, or none if the setup needs none.
    Administrator,
    /// The target's token for a role: `viewer`, `owner`, `other-owner`, `stack-owner`, …
    Role(&'static str),
    /// No Authorization header.
    Anonymous,
    /// An Authorization header with this value.
    Authorization(String),
}

/// Starts a scenario: setup `default`, effect from its requests.
pub fn scenario() -> Scenario {
    Scenario {
        setup: "default",
        fresh: false,
        effect: Effect::Reads,
        steps: Vec::new(),
    }
}

impl Scenario {
    /// Requires a target started in this setup.
    #[must_use]
    pub fn setup(mut self, name: &'static str) -> Self {
        self.setup = name;
        self
    }

    /// Requires a server that is started for this scenario alone: for events that occur once in a
    /// server's life, for changes to the server's fixture server that would affect others, and for
    /// behaviour that only a known configuration shows.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Changes what other scenarios see, or reads what they change, so it runs alone.
    #[must_use]
    pub fn changes_global(mut self) -> Self {
        self.effect = Effect::ChangesGlobal;
        self
    }

    /// Whether any request goes to this recipient.
    pub fn asks(&self, recipient: Recipient) -> bool {
        self.steps.iter().any(|step| step.recipient == recipient)
    }

    /// Adds a precondition: it must return 2xx, or meet its `shows` conditions.
    #[must_use]
    pub fn given(self, mut step: Step) -> Self {
        step.given = true;
        self.when(step)
    }

    /// Adds a request that is judged by its expectations.
    #[must_use]
    pub fn when(mut self, step: Step) -> Self {
        let writes = match &step.request {
            _ if step.recipient != Recipient::Judged => false,
            Send::Http { method, .. } => !matches!(*method, "GET" | "HEAD" | "OPTIONS"),
            Send::Raw(text) => !text.starts_with("GET ") && !text.starts_with("HEAD "),
        };
        if writes && self.effect == Effect::Reads {
            self.effect = Effect::AddsOwn;
        }
        self.steps.push(step);
        self
    }

    /// Adds the same `given` or `when` for each item of a table.
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
        shows: Vec::new(),
        times: 1,
        walk: false,
        until: Vec::new(),
        or_not_run: None,
        recipient: Recipient::Judged,
        identity: Identity::Administrator,
        request,
        off_contract: None,
        expectations: Vec::new(),
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

/// A list read page by page until `next_cursor` is null or absent. For the expectations, its
/// response is that of the last page with `result` replaced by all items of all pages.
pub fn walk(path: impl Into<String>) -> Step {
    Step {
        walk: true,
        ..get(path)
    }
}

/// A request to the suite's fixture server.
pub fn mock(step: Step) -> Step {
    Step {
        recipient: Recipient::Mock,
        identity: Identity::Anonymous,
        ..step
    }
}

/// A request to the engine that loads the control plane's bundles.
pub fn engine(step: Step) -> Step {
    Step {
        recipient: Recipient::Engine,
        ..step
    }
}

/// A request to the server at a non-loopback address of this machine.
pub fn elsewhere(step: Step) -> Step {
    Step {
        recipient: Recipient::Elsewhere,
        ..step
    }
}

/// Bytes directly to the socket (see [`Send::Raw`]).
pub fn raw(text: impl Into<String>) -> Step {
    step(Send::Raw(text.into()))
}

impl Step {
    /// Adds a fact of the response to the transcript.
    #[must_use]
    pub fn expect(mut self, expectation: Expectation) -> Self {
        self.expectations.push(expectation);
        self
    }

    /// Sends a JSON document.
    #[must_use]
    pub fn json(self, value: Value) -> Self {
        self.body(Body::Json(value))
    }

    /// Sends a string of a media type unchanged.
    #[must_use]
    pub fn text(self, media_type: &'static str, text: impl Into<String>) -> Self {
        self.body(Body::Text(media_type, text.into()))
    }

    /// Sends a body of any kind.
    #[must_use]
    pub fn body(mut self, new_body: Body) -> Self {
        if let Send::Http { body, .. } = &mut self.request {
            *body = new_body;
        }
        self
    }

    /// Encodes the body with gzip.
    #[must_use]
    pub fn gzip(mut self) -> Self {
        if let Send::Http { body, .. } = &mut self.request {
            let unencoded = std::mem::replace(body, Body::Empty);
            *body = Body::Gzip(Box::new(unencoded));
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

    /// Uses the target's token for a role.
    #[must_use]
    pub fn role(mut self, role: &'static str) -> Self {
        self.identity = Identity::Role(role);
        self
    }

    /// Sends no Authorization header.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.identity = Identity::Anonymous;
        self
    }

    /// Sends an Authorization header with this value.
    #[must_use]
    pub fn authorization(mut self, value: impl Into<String>) -> Self {
        self.identity = Identity::Authorization(value.into());
        self
    }

    /// Sends the request this many times; `{i}` counts.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    /// Sets the conditions on the response to a `given` request, instead of just 2xx. Unless they
    /// are met, the following steps would prove nothing.
    #[must_use]
    pub fn shows(mut self, checks: impl Into<Vec<Check>>) -> Self {
        self.shows = checks.into();
        self
    }

    /// Repeats the request until its response meets all of these. The step fails if the suite's
    /// time limit expires first.
    #[must_use]
    pub fn until(mut self, checks: impl Into<Vec<Check>>) -> Self {
        self.until = checks.into();
        self
    }

    /// Makes the required result of the request (2xx, `shows` or `until`) a condition of the whole
    /// rule: without it, the rule does not run, for this reason.
    #[must_use]
    pub fn or_not_run(mut self, reason: &'static str) -> Self {
        self.or_not_run = Some(reason);
        self
    }

    /// Sets the reason why the request breaks the documented contract on purpose.
    #[must_use]
    pub fn off_contract(mut self, reason: &'static str) -> Self {
        self.off_contract = Some(reason);
        self
    }

    /// Captures the value at the pointer for later steps as `{name}`.
    #[must_use]
    pub fn capture(mut self, name: &'static str, pointer: &'static str) -> Self {
        self.capture.push((name, pointer));
        self
    }

    /// Captures the string of the whole body, unchanged, for later steps as `{name}`.
    #[must_use]
    pub fn capture_text(self, name: &'static str) -> Self {
        self.capture(name, WHOLE_TEXT)
    }
}

/// Placeholder of a built-in source, and its value if the target file names none.
pub(crate) const BUILTIN: &str = "builtin";
pub(crate) const SOME_BUILTIN: &str = "example";

/// Stands for the string of the whole body in place of a captured pointer.
pub(crate) const WHOLE_TEXT: &str = "text";

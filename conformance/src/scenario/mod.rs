//! Scenarios: the requests that test one clause, as serialisable data, and their builder.
//!
//! A scenario is a list of steps. `given` steps set the scene and must answer 2xx; `when`
//! steps are judged: each names the facts that it expects, and the facts of all steps are the
//! transcript that the rule's snapshot states. What is not expected is not judged: a `when` step
//! that expects nothing may be answered in any way.
//!
//! Placeholders in paths, header values and every string of a body:
//! `{ns}` the scenario's own name prefix (every resource a scenario writes carries it); on the
//! engine it can also name a package,
//! `{i}` the number of the repetition of a `times` step (three digits),
//! `{NAME}` a value captured by an earlier step (percent-encoded where it lands in a path).
//! `{token}` the target's administrator token, in the value of [`Step::authorization`] only,
//! `{depot}` the address of the fixture server that the target was told of,
//! `{builtin}` the built-in source that the target file names, or `example`.
//!
//! A step may also go to the [fixture server](mock()), the other side that the suite runs for a
//! server: it puts bundles there and reads what the server took and sent. A scenario of the control
//! plane may ask an [engine](engine()) that loads the control plane's bundles. What comes about
//! only in time is asked for [until](Step::until) it has.

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

/// The name of a target of which only addresses are given.
pub(crate) const UNNAMED: &str = "custom";

/// The vendor part of media types where nothing else is said, and in scenarios.
pub(crate) fn default_vendor() -> String {
    "engine".to_owned()
}

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
    /// Whether it needs a server, with a fixture server, that no other scenario has used.
    pub fresh: bool,
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
    /// Touches what others see, or looks at what others change: runs alone, and only on a target
    /// the user owns.
    ChangesGlobal,
}

/// One request (or a repeated one) and what its answer is judged by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Sets the scene (nothing of its answer is recorded) instead of being judged.
    pub given: bool,
    /// What the answer to a given request must show; 2xx where nothing is said.
    pub shows: Vec<Check>,
    /// How often the request is sent; `{i}` counts from 000.
    pub times: u32,
    /// Whether, and how, the request is repeated along `next_cursor`.
    pub walk: bool,
    /// The request is repeated until its answer meets all of these.
    pub until: Vec<Check>,
    /// Why the rule does not run where the request does not show, or bring about, what it is said
    /// to: what the document leaves open keeps the rule from being seen there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub or_not_run: Option<&'static str>,
    /// Where the request goes.
    #[serde(rename = "goal")]
    pub recipient: Recipient,
    /// Who asks.
    pub identity: Identity,
    /// What is sent.
    pub request: Send,
    /// The reason why the request is outside the documented contract on purpose; the request
    /// is then not checked against the OpenAPI document.
    pub off_contract: Option<&'static str>,
    /// The facts of the answer that the transcript holds.
    #[serde(rename = "keep")]
    pub expectations: Vec<Expectation>,
    /// Values of the answer that later steps use: placeholder name and JSON pointer, or `text` for
    /// the text of the body.
    pub capture: Vec<(&'static str, &'static str)>,
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recipient {
    /// To the server that the rule is about.
    Judged,
    /// To the engine that stands beside the control plane and loads its bundles.
    Engine,
    /// To the server that the rule is about, at an address of this machine that is not loopback.
    Elsewhere,
    /// To the suite's fixture server.
    #[serde(rename = "depot")]
    Mock,
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
    /// Bytes that a client library refuses to send; `{host}` is the target's authority, `{prefix}`
    /// the path of its base address, `{authorization}` the whole header line of the identity with
    /// its line end (or nothing). The user's headers are added.
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
    /// Needs a target started in this setup.
    #[must_use]
    pub fn setup(mut self, name: &'static str) -> Self {
        self.setup = name;
        self
    }

    /// Needs a server that is started for it alone: for what happens once in a server's life,
    /// for what would change what the server's fixture server holds for others, and for what only
    /// a known configuration shows.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Touches what other scenarios see, or looks at what they change, so it runs alone.
    #[must_use]
    pub fn changes_global(mut self) -> Self {
        self.effect = Effect::ChangesGlobal;
        self
    }

    /// Whether any request goes there.
    pub fn asks(&self, recipient: Recipient) -> bool {
        self.steps.iter().any(|step| step.recipient == recipient)
    }

    /// A request that sets the scene: it must answer 2xx, or what it is said to show.
    #[must_use]
    pub fn given(self, mut step: Step) -> Self {
        step.given = true;
        self.when(step)
    }

    /// A request that is judged by what it expects.
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

/// A list read page by page until `next_cursor` is null or absent. Its answer is, for the
/// expectations, that of the last page with `result` replaced by all items of all pages.
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

/// A request to the server at an address of this machine that is not loopback.
pub fn elsewhere(step: Step) -> Step {
    Step {
        recipient: Recipient::Elsewhere,
        ..step
    }
}

/// Bytes straight to the socket (see [`Send::Raw`]).
pub fn raw(text: impl Into<String>) -> Step {
    step(Send::Raw(text.into()))
}

impl Step {
    /// A fact of the answer that the transcript holds.
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

    /// What a given request must be answered with instead of just 2xx: without it the scene is not
    /// set, and what follows would say nothing.
    #[must_use]
    pub fn shows(mut self, checks: impl Into<Vec<Check>>) -> Self {
        self.shows = checks.into();
        self
    }

    /// Repeats the request until its answer meets all of these; that they are never met within
    /// the suite's time limit is a failure.
    #[must_use]
    pub fn until(mut self, checks: impl Into<Vec<Check>>) -> Self {
        self.until = checks.into();
        self
    }

    /// Makes what the request shows, or waits for, a condition of the whole rule: without it the
    /// rule does not run, for this reason.
    #[must_use]
    pub fn or_not_run(mut self, reason: &'static str) -> Self {
        self.or_not_run = Some(reason);
        self
    }

    /// Says why the request breaks the documented contract on purpose.
    #[must_use]
    pub fn off_contract(mut self, reason: &'static str) -> Self {
        self.off_contract = Some(reason);
        self
    }

    /// Remembers the value at the pointer for later steps as `{name}`.
    #[must_use]
    pub fn capture(mut self, name: &'static str, pointer: &'static str) -> Self {
        self.capture.push((name, pointer));
        self
    }

    /// Remembers the text of the whole body, as it is written, for later steps as `{name}`.
    #[must_use]
    pub fn capture_text(self, name: &'static str) -> Self {
        self.capture(name, WHOLE_TEXT)
    }
}

/// The placeholder of a built-in source, and what fills it where the target file names none.
pub(crate) const BUILTIN: &str = "builtin";
pub(crate) const SOME_BUILTIN: &str = "example";

/// What stands for a pointer where the text of the body is captured.
pub(crate) const WHOLE_TEXT: &str = "text";

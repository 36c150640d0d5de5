//! Reference client: satisfies every rule, to show that the rules can be satisfied and, with a
//! fault injected, that each rule notices clients that break it.

mod control;
mod engine;
mod paths;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::fault::{Fault, FaultMode};
use crate::faults::{Recipient, RequestContext, carry};
use crate::http_client::answer::{Answer, NoAnswer};
use crate::http_client::wire::{Outgoing, Wire};
use crate::http_client::{Base, Client, Connection};

/// Number of retries by a client with the fault `Repeats`.
const REPEATS: usize = 2;

/// The reference client, with at most one fault.
#[derive(Debug)]
pub(crate) struct Model {
    fault: Option<Arc<Fault>>,
    opened: Option<Opened>,
}

/// Settings of a client, given when it is created.
#[derive(Debug)]
struct Opened {
    api: Recipient,
    base: Base,
    client: Client,
    token: Option<String>,
}

/// Why an operation yields no value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Failed {
    /// The operation is unknown, or has invalid members.
    Unsupported,
    /// The server responded with this status, which is not a success.
    Status(u16, String),
    /// There is no response, or no meaningful one.
    Other(String),
}

/// A value, none if it is undefined, or the failure.
type Lookup = Result<Option<Value>, Failed>;

/// A request of the reference client.
#[derive(Debug, Default)]
struct ClientRequest {
    method: &'static str,
    path: String,
    query: Vec<(&'static str, String)>,
    headers: Vec<(&'static str, &'static str)>,
    accept: Option<String>,
    body: Option<Bytes>,
}

impl ClientRequest {
    fn new(method: &'static str, path: String) -> Self {
        Self {
            method,
            path,
            ..Self::default()
        }
    }

    fn json(mut self, body: &Value) -> Self {
        self.headers.push(("content-type", "application/json"));
        self.body = Some(Bytes::from(body.to_string()));
        self
    }

    fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    fn target(&self) -> String {
        let mut target = self.path.clone();
        for ((name, value), between) in self.query.iter().zip(["?"].into_iter().chain(["&"; 16])) {
            target.push_str(between);
            target.push_str(name);
            target.push('=');
            target.push_str(&paths::encoded(value));
        }
        target
    }
}

impl Model {
    pub(crate) fn new(fault: Option<Arc<Fault>>) -> Self {
        Self {
            fault,
            opened: None,
        }
    }

    fn has(&self, habit: FaultMode) -> bool {
        let fault = self.fault.as_ref();
        fault.is_some_and(|fault| fault.habit == Some(habit))
    }

    /// Runs the operation that a line describes, and returns the reply line.
    pub(crate) async fn answer(&mut self, line: &Value) -> Value {
        let reply = match text(line, "do") {
            Some("open") => self.open(line).map(|()| {
                let name = json!({"name": "model", "version": env!("CARGO_PKG_VERSION")});
                json!({"value": name})
            }),
            Some(operation) => self.run(operation, line).await,
            None => Err(Failed::Unsupported),
        };
        let reply = reply.unwrap_or_else(|failed| self.reply(&failed));
        self.misread(reply)
    }

    fn reply(&self, failed: &Failed) -> Value {
        match failed {
            Failed::Unsupported => json!({"unsupported": true}),
            _ if self.has(FaultMode::ErrorAsUndefined) => json!({"undefined": true}),
            _ if self.has(FaultMode::ErrorAsFalse) => json!({"value": false}),
            _ if self.has(FaultMode::ErrorAsDone) => json!({"value": true}),
            Failed::Status(status, message) => {
                json!({"error": {"kind": "status", "status": status, "message": message}})
            }
            Failed::Other(message) => json!({"error": {"kind": "other", "message": message}}),
        }
    }

    /// Applies the fault modes that confuse defined and undefined values to a reply.
    fn misread(&self, reply: Value) -> Value {
        let undefined = reply.get("undefined").is_some();
        let null = reply.get("value").is_some_and(Value::is_null);
        let value = reply
            .get("value")
            .is_some_and(|value| *value != json!(false));
        match () {
            () if undefined && self.has(FaultMode::UndefinedAsNull) => json!({"value": null}),
            () if null && self.has(FaultMode::NullAsUndefined) => json!({"undefined": true}),
            () if value && self.has(FaultMode::DefinedAsTrue) => json!({"value": true}),
            () => reply,
        }
    }

    fn open(&mut self, arguments: &Value) -> Result<(), Failed> {
        let api = match text(arguments, "api") {
            Some("engine") => Recipient::Engine,
            Some("control") => Recipient::Control,
            _ => return Err(Failed::Unsupported),
        };
        let seconds = match self.has(FaultMode::Impatient) {
            true => 0.5,
            false => arguments
                .get("timeout")
                .and_then(Value::as_f64)
                .unwrap_or(5.0),
        };
        let connection = Connection {
            timeout: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(5)),
            // Only the suite's own servers are requested, without TLS.
            insecure: true,
            ..Connection::default()
        };
        let client = Client::new(&connection);
        let base = Base::parse(text(arguments, "url").unwrap_or_default());
        let mut base = base.map_err(Failed::Other)?;
        if self.has(FaultMode::PathOfAddressLost) {
            base.url.truncate(base.url.len() - base.path.len());
            base.path.clear();
        }
        self.opened = Some(Opened {
            api,
            base,
            client: client.map_err(|error| Failed::Other(error.to_string()))?,
            token: text(arguments, "token").map(str::to_owned),
        });
        Ok(())
    }

    async fn run(&self, operation: &str, arguments: &Value) -> Result<Value, Failed> {
        let opened = self.opened.as_ref().ok_or(Failed::Unsupported)?;
        match opened.api {
            Recipient::Engine => self.engine(operation, arguments).await,
            Recipient::Control | Recipient::Mock => self.control(operation, arguments).await,
        }
    }

    /// Sends a request; a response other than success is a failure.
    async fn send(&self, request: ClientRequest) -> Result<Answer, Failed> {
        let mut answer = self.send_once(&request).await;
        if self.has(FaultMode::Repeats) {
            for _ in 0..REPEATS {
                if answer.as_ref().is_ok_and(|answer| answer.status < 500) {
                    break;
                }
                answer = self.send_once(&request).await;
            }
        }
        let mut answer = match answer {
            Ok(answer) => answer,
            Err(_) if self.has(FaultMode::HalfBody) => {
                Answer::new(200, Vec::new(), Bytes::from_static(b"{}"))
            }
            Err(_) if self.has(FaultMode::HalfList) => {
                Answer::new(200, Vec::new(), Bytes::from_static(b"{\"result\":[]}"))
            }
            Err(error) => return Err(Failed::Other(error.to_string())),
        };
        if self.has(FaultMode::RedirectsAsGet)
            && let (300..400, Some(location)) = (answer.status, answer.header("location"))
        {
            let path = location.splitn(4, '/').nth(3).unwrap_or_default();
            let path = match location.starts_with('/') {
                true => location.clone(),
                false => format!("/{path}"),
            };
            let redirected = self.send_once(&ClientRequest::new("GET", path)).await;
            answer = redirected.map_err(|error| Failed::Other(error.to_string()))?;
        }
        match answer.is_success() {
            true => Ok(answer),
            false => Err(Failed::Status(answer.status, answer.text().into_owned())),
        }
    }

    async fn send_once(&self, request: &ClientRequest) -> Result<Answer, NoAnswer> {
        let Some(opened) = &self.opened else {
            return Err(NoAnswer::new("the client is not open"));
        };
        let mut headers: Vec<(String, String)> = Vec::new();
        for (name, value) in &request.headers {
            headers.push(((*name).to_owned(), (*value).to_owned()));
        }
        if let Some(accept) = &request.accept {
            headers.push(("accept".to_owned(), accept.clone()));
        }
        headers.push(("accept-encoding".to_owned(), "gzip".to_owned()));
        if let Some(token) = &opened.token {
            headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        }
        let wire = Wire::Http(Outgoing {
            method: request.method,
            path: request.target(),
            headers,
            body: request.body.clone().unwrap_or_default(),
        });
        let context = RequestContext {
            client: &opened.client,
            recipient: opened.api,
            base: &opened.base,
            who: "client",
            administrator: None,
        };
        let fault = self.fault.as_ref();
        let alteration = fault.and_then(|fault| fault.alteration.as_ref());
        carry(alteration, context, &wire).await
    }

    /// Sends a request, and returns the JSON of its response.
    async fn json(&self, request: ClientRequest) -> Result<Value, Failed> {
        let answer = self.send(request).await?;
        let json = answer.json().cloned();
        json.ok_or_else(|| Failed::Other("invalid answer: expected JSON".to_owned()))
    }

    /// Sends a request whose response only confirms success.
    async fn write(&self, request: ClientRequest) -> Lookup {
        self.send(request).await.map(|_| Some(Value::Bool(true)))
    }
}

/// Creates the reply line of a lookup.
fn reply(found: Option<Value>) -> Value {
    match found {
        Some(value) => json!({"value": value}),
        None => json!({"undefined": true}),
    }
}

fn text<'a>(arguments: &'a Value, member: &str) -> Option<&'a str> {
    arguments.get(member).and_then(Value::as_str)
}

/// Returns a string member that the operation requires.
fn needed<'a>(arguments: &'a Value, member: &str) -> Result<&'a str, Failed> {
    text(arguments, member).ok_or(Failed::Unsupported)
}

fn is_true(arguments: &Value, member: &str) -> bool {
    arguments.get(member) == Some(&Value::Bool(true))
}

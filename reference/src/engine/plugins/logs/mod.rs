//! The decision log: an event for each decision, written to the log of the process or sent to a
//! service.

use std::sync::atomic::Ordering;
use std::time::SystemTime;

use rego::value::{Object, from_json};
use rego::{Answer, Value};
use tracing::{error, info};

mod allowance;
mod backlog;
mod buffer;
mod counts;
mod entry;
mod hidden;
mod mask;
mod pack;
mod source;
mod spool;
mod upload;

pub(super) use backlog::Backlog;
pub(super) use spool::Spool;
pub(super) use upload::Uploader;

use super::clock::written;
use crate::engine::Engine;
use crate::engine::config::DecisionLogs;
use crate::engine::state::State;
use crate::http::{ApiError, Code, Request};

/// An event that is written is not longer.
const MAX_EVENT: usize = 1 << 30;

/// What was decided about.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) enum Subject<'e> {
    /// The document at a path.
    Path(&'e [String]),
    /// An ad hoc query.
    Query(&'e str),
}

/// A decision.
#[derive(Debug)]
pub(in crate::engine) struct Event<'e> {
    pub(in crate::engine) request: &'e Request,
    pub(in crate::engine) subject: Subject<'e>,
    pub(in crate::engine) input: Option<Value>,
    pub(in crate::engine) result: Option<Value>,
    /// Why there is no decision.
    pub(in crate::engine) error: Option<&'e ApiError>,
    /// What non-deterministic functions answered, if that is known.
    pub(in crate::engine) calls: Option<Object>,
    pub(in crate::engine) metrics: Option<Value>,
}

impl Engine {
    /// Logs a decision that was made in a state, without what policies want hidden. An event
    /// about which they cannot be asked is not logged.
    ///
    /// # Errors
    /// `unavailable` when the event cannot be kept until its upload and the configuration wants
    /// the decision refused then.
    pub(in crate::engine) fn log(
        &self,
        state: &State,
        id: &str,
        event: Event<'_>,
    ) -> Result<(), ApiError> {
        let config = self.config();
        let Some(logs) = &config.plugins.decision_logs else {
            return Ok(());
        };
        let number = self.plugins().decisions.fetch_add(1, Ordering::Relaxed) + 1;
        let mut event = event.document(state, id, number, config.labels(), logs);
        match judge(state, logs, &mut event) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(why) => {
                error!(decision_id = id, why, "a decision is not logged");
                return Ok(());
            }
        }
        if logs.console {
            print(id, &event);
        }
        let Some(upload) = &logs.upload else {
            return Ok(());
        };
        match Value::from(event).to_json(false, MAX_EVENT) {
            Ok(text) => {
                let kept = self.plugins().logs.put(text, upload);
                kept.map_err(|why| ApiError::new(Code::Unavailable, why.to_string()))
            }
            Err(why) => {
                error!(decision_id = id, %why, "a decision is not logged");
                Ok(())
            }
        }
    }
}

impl Event<'_> {
    fn document(
        self,
        state: &State,
        id: &str,
        number: u64,
        labels: &Value,
        logs: &DecisionLogs,
    ) -> Object {
        let mut event = Object::new();
        event.insert("labels", labels.clone());
        event.insert("decision_id", Value::from(id));
        let bundles = &state.contents().bundles;
        if !bundles.is_empty() {
            event.insert("bundles", bundles.revisions());
        }
        match self.subject {
            Subject::Path([]) => None,
            Subject::Path(path) => event.insert("path", Value::from(path.join("/"))),
            Subject::Query(text) => event.insert("query", Value::from(text)),
        };
        if let Some(input) = self.input {
            event.insert("input", input);
        }
        if let Some(result) = self.result {
            event.insert("result", result);
        }
        if let Some(calls) = self.calls.filter(|_| logs.calls) {
            event.insert("nd_builtin_cache", Value::from(calls));
        }
        if let Some(error) = self.error {
            event.insert("error", refusal(error));
        }
        if let Some(client) = self.request.client {
            event.insert("requested_by", Value::from(client.to_string()));
        }
        let headers = headers(self.request, &logs.headers);
        if !headers.is_empty() {
            let http = Value::object([("headers", Value::from(headers))]);
            event.insert("request_context", Value::object([("http", http)]));
        }
        let now = written(Some(SystemTime::now()));
        event.insert("timestamp", Value::from(now));
        if let Some(metrics) = self.metrics {
            event.insert("metrics", metrics);
        }
        event.insert("req_id", Value::from(number));
        event
    }
}

/// Why there was no decision: what went wrong in the evaluation, if it came to that.
fn refusal(error: &ApiError) -> Value {
    let inner = error.errors.first();
    if let Some(Ok(inner)) = inner.map(|inner| from_json(inner.to_string().as_bytes())) {
        return inner;
    }
    Value::object([
        ("code", Value::from(error.code.name())),
        ("message", Value::from(error.message.as_str())),
    ])
}

/// The values of some headers.
fn headers(request: &Request, names: &[String]) -> Object {
    let found = names.iter().filter_map(|name| {
        let values = request.headers.get_all(name).iter();
        let values = values
            .filter_map(|value| value.to_str().ok())
            .map(Value::from);
        let values: Vec<Value> = values.collect();
        (!values.is_empty()).then(|| (name.as_str(), Value::from(values)))
    });
    found.collect()
}

/// Hides what the policies want hidden; whether the event is logged.
fn judge(state: &State, logs: &DecisionLogs, event: &mut Object) -> Result<bool, String> {
    let input = Value::from(event.clone());
    if decide(state, &logs.drop, &input)? == Some(Value::Bool(true)) {
        return Ok(false);
    }
    match decide(state, &logs.mask, &input)? {
        Some(masks) => mask::apply(event, &masks).map(|()| true),
        None => Ok(true),
    }
}

/// What a policy says about an event.
fn decide(state: &State, path: &[String], event: &Value) -> Result<Option<Value>, String> {
    let key = path.join("/");
    let prepared = state.logs.get(&key).unwrap_or_else(|| {
        let prepared = std::sync::Arc::new(state.prepare(&state.resolve(path)));
        state.logs.put(&key, &prepared);
        prepared
    });
    let Some(query) = &prepared.query else {
        return Ok(None);
    };
    // The client may go away meanwhile; its decision is logged all the same.
    let mut evaluation = state.evaluation();
    evaluation.input = Some(event.clone());
    let mut answers = query
        .evaluate(&mut evaluation)
        .map_err(|why| why.to_string())?;
    Ok(answers.pop().and_then(Answer::into_document))
}

/// Writes an event to the log of the process.
fn print(id: &str, event: &Object) {
    let member = |name| event.get(name).map(tracing::field::display);
    let text = |name| event.get(name).and_then(Value::as_str);
    info!(
        decision_id = id,
        path = text("path"),
        query = text("query"),
        labels = member("labels"),
        bundles = member("bundles"),
        input = member("input"),
        result = member("result"),
        nd_builtin_cache = member("nd_builtin_cache"),
        error = member("error"),
        erased = member("erased"),
        masked = member("masked"),
        requested_by = text("requested_by"),
        request_context = member("request_context"),
        decided = text("timestamp"),
        metrics = member("metrics"),
        req_id = member("req_id"),
        "Decision Log"
    );
}

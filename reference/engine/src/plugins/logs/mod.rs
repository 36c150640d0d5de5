//! Decision log plugin.

use std::time::SystemTime;

use rego::error::EvalCode;
use rego::value::{Object, TooLong};
use rego::{Solution, Value};
use tracing::error;

mod chunk;
mod console;
mod counts;
mod disk_buffer;
mod entry;
mod mask;
mod memory_buffer;
mod parts;
mod queue;
mod rate_limit;
mod redact;
mod source;
mod spelling;
mod upload;

pub(super) use disk_buffer::DiskBuffer;
pub(super) use queue::LogQueue;
pub(crate) use queue::Unlogged;
pub(super) use upload::Uploader;

use super::Plugins;
use super::backoff::rfc3339;
use crate::config::{BufferFull, Config, DecisionLogs, Upload};
use crate::decision::{Decision, DecisionError, Outcome, Subject};
use crate::state::State;
use bundle::diagnostic;
use http_server::Request;

/// Maximum length of a logged event, in bytes of JSON.
const MAX_EVENT: usize = 64 << 20;

/// Reason why a decision is not logged.
#[derive(Debug, thiserror::Error)]
enum NotLogged {
    /// The drop or mask policy failed.
    #[error("{0}")]
    Unjudged(String),
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

/// A decision, with the data of its request that the log records.
#[derive(Debug)]
pub(crate) struct Entry<'e> {
    pub(crate) id: &'e str,
    pub(crate) request: &'e Request,
    pub(crate) subject: Subject<'e>,
    pub(crate) decision: &'e Decision,
}

impl Plugins {
    /// Logs a decision made on a state, with masks applied. A decision for which the drop or mask
    /// policy fails is not logged.
    ///
    /// # Errors
    /// When the event cannot be buffered for upload, and the configuration refuses such decisions.
    pub(crate) fn log(
        &self,
        config: &Config,
        state: &State,
        entry: &Entry<'_>,
    ) -> Result<(), Unlogged> {
        let Some(logs) = &config.plugins.decision_logs else {
            return Ok(());
        };
        let mut event = entry.event(state, config.labels(), logs);
        let written = match judge(state, logs, &mut event) {
            Ok(true) => write(event, logs),
            Ok(false) => return Ok(()),
            Err(error) => Err(NotLogged::Unjudged(error)),
        };
        match (written, &logs.upload) {
            (Ok(Some(text)), Some(upload)) => self.logs.put(text, upload),
            (Ok(_), _) => Ok(()),
            (Err(lost), upload) => {
                error!(decision_id = entry.id, why = %lost, "a decision is not logged");
                self.lose(&lost, upload.as_ref())
            }
        }
    }

    /// Counts a decision that cannot be logged. If decisions must be logged, its request is
    /// refused: otherwise a caller could avoid the log with a decision that is too long.
    fn lose(&self, lost: &NotLogged, upload: Option<&Upload>) -> Result<(), Unlogged> {
        self.logs.count(|counts| match lost {
            NotLogged::Unjudged(_) => counts.unjudged += 1,
            NotLogged::TooLong(_) => counts.too_long += 1,
        });
        let disk = upload.and_then(|upload| upload.disk.as_ref());
        match disk.is_some_and(|disk| disk.full == BufferFull::Refuse) {
            true => Err(Unlogged),
            false => Ok(()),
        }
    }
}

/// Writes an event to the console, if configured, and encodes it for upload, if it is uploaded.
fn write(event: Object, logs: &DecisionLogs) -> Result<Option<Vec<u8>>, NotLogged> {
    if logs.console {
        console::print(&event)?;
    }
    match &logs.upload {
        Some(_) => Ok(Some(Value::from(event).to_json(false, MAX_EVENT)?)),
        None => Ok(None),
    }
}

impl Entry<'_> {
    /// Adds the side records of the evaluation to an event.
    fn note(&self, event: &mut Object, logs: &DecisionLogs) {
        let Some(noted) = &self.decision.noted else {
            return;
        };
        if logs.calls {
            event.insert("nd_builtin_cache", Value::from(noted.calls.clone()));
        }
        if self.has_answer() && !noted.rule_labels.is_empty() {
            let labels = Value::from(noted.rule_labels.clone());
            event.insert("rule_labels", labels);
        }
    }

    /// Whether the decision has a result. A query without solutions has one, too.
    fn has_answer(&self) -> bool {
        let outcome = self.decision.outcome.as_ref();
        outcome.is_ok_and(|outcome| {
            outcome.result.is_some() || matches!(self.subject, Subject::Query(_))
        })
    }

    fn event(&self, state: &State, labels: &Value, logs: &DecisionLogs) -> Object {
        let decision = self.decision;
        let mut event = Object::new();
        event.insert("labels", labels.clone());
        event.insert("decision_id", Value::from(self.id));
        if let Some(batch) = &decision.batch_id {
            event.insert("batch_decision_id", Value::from(&**batch));
        }
        if let Some(span) = &self.request.span {
            let (trace, span) = span.ids();
            event.insert("trace_id", Value::from(trace));
            event.insert("span_id", Value::from(span));
        }
        let bundles = &state.contents().bundles;
        if !bundles.is_empty() {
            event.insert("bundles", bundles.revisions());
        }
        match self.subject {
            Subject::Path([]) => None,
            Subject::Path(path) | Subject::Filter(path, _) => {
                event.insert("path", Value::from(path.join("/")))
            }
            Subject::Query(text) => event.insert("query", Value::from(text)),
        };
        if let Some(input) = &decision.input {
            event.insert("input", input.clone());
        }
        match &decision.outcome {
            Ok(Outcome {
                result: Some(result),
                ..
            }) => event.insert("result", result.clone()),
            Ok(_) => None,
            Err(error) => event.insert("error", failure(error)),
        };
        self.note(&mut event, logs);
        if let Some(client) = self.request.client {
            event.insert("requested_by", Value::from(client.to_string()));
        }
        let headers = headers(self.request, &logs.headers);
        if !headers.is_empty() {
            let http = Value::object([("headers", Value::from(headers))]);
            event.insert("request_context", Value::object([("http", http)]));
        }
        let now = rfc3339(Some(SystemTime::now()));
        event.insert("timestamp", Value::from(now));
        if let Some(metrics) = &decision.metrics {
            event.insert("metrics", metrics.clone());
        }
        event.insert("req_id", Value::from(self.request.number.get()));
        if let Subject::Filter(_, options) = self.subject {
            event.insert("custom", options.clone());
        }
        event
    }
}

/// Error object of a decision without a result: the error of the evaluation, if that failed.
fn failure(error: &DecisionError) -> Value {
    let code = match error {
        DecisionError::Evaluation(failure) if failure.code != EvalCode::Memory => {
            return diagnostic::evaluation(failure);
        }
        DecisionError::Evaluation(_) => "unavailable",
        DecisionError::Undefined(_) => "undefined_document",
        DecisionError::Abandoned => "internal_error",
    };
    Value::object([
        ("code", Value::from(code)),
        ("message", Value::from(error.to_string())),
    ])
}

/// Object with the values of the request headers with these names.
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

/// Applies the drop and mask policies; returns whether the event is logged. Before they are
/// searched, the event and the masks are charged to the evaluation limits with the size that they
/// have without sharing: values that share their parts may be much larger than their memory.
fn judge(state: &State, logs: &DecisionLogs, event: &mut Object) -> Result<bool, String> {
    let input = Value::from(event.clone());
    if decide(state, &logs.drop, &input)? == Some(Value::Bool(true)) {
        return Ok(false);
    }
    let Some(masks) = decide(state, &logs.mask, &input)? else {
        return Ok(true);
    };
    if !mask::is_none(&masks) {
        let affordable = state.evaluation().afford([&masks, &input]);
        affordable.map_err(|error| error.to_string())?;
    }
    mask::apply(event, &masks).map(|()| true)
}

/// Evaluates the drop or mask policy at a path, with an event as input.
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
    // The client may disconnect meanwhile; its decision is logged anyway.
    let mut evaluation = state.evaluation();
    evaluation.input = Some(event.clone());
    let mut answers = query
        .evaluate(&mut evaluation)
        .map_err(|error| error.to_string())?;
    Ok(answers.pop().and_then(Solution::into_document))
}

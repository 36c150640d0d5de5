//! Decisions: the answers of GET and POST `/v1/data`.

use std::cell::RefCell;

use http::StatusCode;
use rego::Value;
use rego::value::Object;

use super::evaluate::{Asked, given_up};
use super::explain::Explain;
use super::metrics::Metrics;
use super::plugins::{Event, Subject};
use super::{Bundles, Engine, id};
use crate::http::{ApiError, Reply, Request};

/// What a request for a decision gives, beside its path.
#[derive(Debug)]
pub(super) struct Question {
    /// The input document.
    pub(super) input: Option<Value>,
    /// Whether the client should be told that it gave no input.
    pub(super) warns: bool,
    /// What was measured so far.
    pub(super) metrics: Metrics,
}

impl Engine {
    /// Decides and wraps the document in its envelope.
    ///
    /// # Errors
    /// `internal_error` when the evaluation fails.
    pub(super) fn decide(&self, request: &Request, question: Question) -> Result<Reply, ApiError> {
        let Question {
            input,
            warns,
            mut metrics,
        } = question;
        let logged = self.config().plugins.decision_logs.is_some();
        if let (true, Some(trial)) = (logged, &request.trial) {
            // Decisions have begun to be logged meanwhile.
            return Err(given_up(trial));
        }
        if logged {
            metrics.measure();
        }
        let state = self.state();
        let prepared = self.prepared(&state, request, &mut metrics)?;
        let calls = logged.then(RefCell::default);
        let asked = Asked {
            input: input.as_ref(),
            strict: request.flag("strict-builtin-errors"),
            explain: Explain::asked(request),
            request,
            calls: calls.as_ref(),
        };
        let decided = metrics.time("timer_rego_query_eval_ns", || {
            self.document(&state, &prepared, &request.segments, &asked)
        });
        let shows_metrics = metrics.asked();
        let metrics = (logged || shows_metrics).then(|| metrics.finish());
        let mut envelope = Object::new();
        if logged {
            let id = id::random();
            let event = Event {
                request,
                subject: Subject::Path(&request.segments),
                input: input.clone(),
                result: decided.as_ref().ok().and_then(|(result, _)| result.clone()),
                error: decided.as_ref().err(),
                calls: calls.map(RefCell::into_inner),
                metrics: metrics.clone(),
            };
            self.log(&state, &id, event)?;
            envelope.insert("decision_id", Value::from(id));
        }
        let (result, explanation) = decided?;
        if request.flag("provenance") {
            envelope.insert("provenance", provenance(&state.contents().bundles));
        }
        if let Some(explanation) = explanation {
            envelope.insert("explanation", explanation);
        }
        if let Some(result) = result {
            envelope.insert("result", result);
        }
        if warns {
            envelope.insert("warning", warning());
        }
        if let Some(metrics) = metrics.filter(|_| shows_metrics) {
            envelope.insert("metrics", metrics);
        }
        let pretty = request.flag("pretty");
        Ok(Reply::document(
            StatusCode::OK,
            &Value::from(envelope),
            pretty,
        ))
    }
}

fn warning() -> Value {
    let message = "'input' key missing from the request";
    Value::object([
        ("code", Value::from("api_usage_warning")),
        ("message", Value::from(message)),
    ])
}

/// Which build answers, with which bundles.
fn provenance(bundles: &Bundles) -> Value {
    let host = option_env!("BUILD_HOST").unwrap_or_default();
    let build = [
        ("version", env!("CARGO_PKG_VERSION")),
        (
            "build_commit",
            option_env!("BUILD_COMMIT").unwrap_or_default(),
        ),
        (
            "build_timestamp",
            option_env!("BUILD_TIMESTAMP").unwrap_or_default(),
        ),
        ("build_host", host),
        // The name that clients of other engines look for.
        ("build_hostname", host),
    ];
    let build = build.map(|(name, text)| (name, Value::from(text)));
    let bundles = (!bundles.is_empty()).then(|| ("bundles", bundles.revisions()));
    Value::object(build.into_iter().chain(bundles))
}

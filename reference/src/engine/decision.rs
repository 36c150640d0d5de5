//! Decisions: the answers of GET and POST `/v1/data`.

use http::StatusCode;
use rego::Value;
use rego::value::Object;
use tracing::info;

use super::metrics::Metrics;
use super::{Engine, explain, id};
use crate::http::{Reply, Request};

/// What a request for a decision gives, beside its path.
#[derive(Debug)]
pub(super) struct Query {
    /// The input document.
    pub(super) input: Option<Value>,
    /// Whether the client should be told that it gave no input.
    pub(super) warns: bool,
    /// What was measured so far.
    pub(super) metrics: Metrics,
}

impl Engine {
    /// Decides and wraps the document in its envelope.
    pub(super) fn decide(&self, request: &Request, query: Query) -> Reply {
        let Query {
            input,
            warns,
            mut metrics,
        } = query;
        let result = self.state().decide(request, &mut metrics);
        let mut envelope = Object::new();
        if self.config().decision_log {
            let decision = id::random();
            self.log(request, &decision, input.as_ref(), result.as_ref());
            envelope.insert("decision_id", Value::from(decision));
        }
        if request.flag("provenance") {
            envelope.insert("provenance", provenance());
        }
        if let Some(explanation) = explain::explanation(request, result.as_ref()) {
            envelope.insert("explanation", explanation);
        }
        if let Some(result) = result {
            envelope.insert("result", result);
        }
        if warns {
            let warning = Value::object([
                ("code", Value::from("api_usage_warning")),
                (
                    "message",
                    Value::from("'input' key missing from the request"),
                ),
            ]);
            envelope.insert("warning", warning);
        }
        if metrics.asked() {
            envelope.insert("metrics", metrics.finish());
        }
        let pretty = request.flag("pretty");
        Reply::document(StatusCode::OK, &Value::from(envelope), pretty)
    }

    /// Writes the decision to the log of this process.
    fn log(
        &self,
        request: &Request,
        decision: &str,
        input: Option<&Value>,
        result: Option<&Value>,
    ) {
        info!(
            decision_id = decision,
            path = request.segments.join("/"),
            labels = %self.config().labels(),
            input = input.map(tracing::field::display),
            result = result.map(tracing::field::display),
            "Decision Log"
        );
    }
}

/// Which build answers.
fn provenance() -> Value {
    let host = option_env!("BUILD_HOST").unwrap_or_default();
    Value::object([
        ("version", Value::from(env!("CARGO_PKG_VERSION"))),
        (
            "build_commit",
            Value::from(option_env!("BUILD_COMMIT").unwrap_or_default()),
        ),
        (
            "build_timestamp",
            Value::from(option_env!("BUILD_TIMESTAMP").unwrap_or_default()),
        ),
        ("build_host", Value::from(host)),
        // The name that clients of other engines look for.
        ("build_hostname", Value::from(host)),
    ])
}

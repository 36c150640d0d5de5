//! Decisions: the answers of GET and POST `/v1/data`.

use http::StatusCode;
use rego::Value;
use rego::value::Object;
use tracing::info;

use super::evaluate::Asked;
use super::explain::Explain;
use super::metrics::Metrics;
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
        let state = self.state();
        let prepared = self.prepared(&state, request, &mut metrics);
        let asked = Asked {
            input: input.as_ref(),
            strict: request.flag("strict-builtin-errors"),
            explain: Explain::asked(request),
            request,
        };
        let (result, explanation) = metrics.time("timer_rego_query_eval_ns", || {
            self.document(&state, &prepared, &request.segments, &asked)
        })?;
        let mut envelope = Object::new();
        if self.config().decision_log {
            let decision = id::random();
            self.log(request, &decision, input.as_ref(), result.as_ref());
            envelope.insert("decision_id", Value::from(decision));
        }
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
        if metrics.asked() {
            envelope.insert("metrics", metrics.finish());
        }
        let pretty = request.flag("pretty");
        Ok(Reply::document(
            StatusCode::OK,
            &Value::from(envelope),
            pretty,
        ))
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

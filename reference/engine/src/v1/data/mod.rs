//! `/v1/data`

use http::StatusCode;
use rego::value::Object;
use rego::{Errors, Value};

use crate::decide::DecisionRequest;
use crate::decision::{Decision, DecisionError, Subject};
use crate::metrics::Metrics;
use crate::state::{Contents, State};
use crate::{Bundles, Engine, store};
use http_server::{ApiError, Reply, Request};

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod patch;
pub(crate) mod post;
pub(crate) mod put;

/// Decides on the document at the path, logs the decision, and wraps it in an envelope.
///
/// # Errors
/// `internal_error` when the evaluation fails, `unavailable` when the decision must be logged and
/// cannot be.
fn answer(
    engine: &Engine,
    request: &Request,
    input: Option<Value>,
    warning: Option<Value>,
    mut metrics: Metrics,
) -> Result<Reply, ApiError> {
    let logged = engine.logs_decisions();
    if logged {
        // Logging was enabled after the inline attempt began.
        request.leave_inline_attempt()?;
        metrics.measure();
    }
    let state = engine.state();
    let kept = state.decisions(&request.method).snapshot();
    let prepared = engine.prepared(&state, &kept, request, &mut metrics)?;
    let wanted = DecisionRequest {
        request,
        input,
        strict: request.flag("strict-builtin-errors"),
        logged,
        metrics,
    };
    let path = request.path.open();
    let decision = engine.decide(wanted, |options| {
        engine.document(&state, &prepared, path, options)
    });
    engine.log(&state, request, Subject::Path(path), &decision)?;
    let mut envelope = envelope(decision, request, &state)?;
    if let Some(warning) = warning {
        envelope.insert("warning", warning);
    }
    let (body, pretty) = (Value::from(envelope), request.flag("pretty"));
    Ok(Reply::document(StatusCode::OK, &body, pretty))
}

/// Envelope of a decision made on a state, with the optional members that the request asks for.
///
/// # Errors
/// When the decision failed.
pub(crate) fn envelope(
    mut decision: Decision,
    request: &Request,
    state: &State,
) -> Result<Object, DecisionError> {
    let id = decision.id.take();
    // Rule labels are shown only if there is a document.
    decision.shows_rule_labels &= matches!(&decision.outcome, Ok(found) if found.result.is_some());
    let mut envelope = decision.into_envelope()?;
    if let Some(id) = id {
        envelope.insert("decision_id", Value::from(id));
    }
    if request.flag("provenance") {
        envelope.insert("provenance", provenance(&state.contents().bundles));
    }
    Ok(envelope)
}

/// Warning in a response that the request lacks this member.
pub(crate) fn missing(member: &str) -> Value {
    let message = format!("'{member}' key missing from the request");
    Value::object([
        ("code", Value::from("api_usage_warning")),
        ("message", Value::from(message)),
    ])
}

/// Provenance: build and bundles of the engine.
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
        // Name that clients of other engines expect.
        ("build_hostname", host),
    ];
    let build = build.map(|(name, text)| (name, Value::from(text)));
    let bundles = (!bundles.is_empty()).then(|| ("bundles", bundles.revisions()));
    Value::object(build.into_iter().chain(bundles))
}

/// 204 after a write, or 200 with the requested metrics.
fn write_reply(metrics: Metrics) -> Reply {
    if !metrics.is_shown() {
        return Reply::empty(StatusCode::NO_CONTENT);
    }
    let body = Value::object([("metrics", metrics.finish())]);
    Reply::document(StatusCode::OK, &body, false)
}

/// Refuses the document written at a path if it conflicts with rules.
fn without_conflict(contents: &Contents, path: &[String]) -> Result<(), Errors> {
    let Some(document) = store::find(&contents.documents, path) else {
        return Ok(());
    };
    let steps: Vec<Value> = path.iter().map(|step| Value::from(step.as_str())).collect();
    contents.policy.conflicts(&steps, document)
}

//! POST /v1/batch/data/{path}

use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;
use rego::Value;
use rego::value::Object;

use crate::config::overlay;
use crate::decision::Subject;
use crate::metrics::Metrics;
use crate::pipeline::{Pipeline, prepare};
use crate::state::{Prepared, State};
use crate::v1::data::missing;
use crate::{Engine, errors, random_id, request_body};
use http_server::{ApiError, Reply, Request};

/// Maximum bytes of one response, which is also the limit of a whole response body.
const MAX_RESPONSE: usize = 1 << 30;

/// Decides once for each member of the body's object `inputs`, and answers with an object
/// `responses` of the same names. Each contains the response of `POST /v1/data/{path}`, or its
/// error. Members of `common_input` are added to every input that is an object and lacks them. The
/// whole batch has the time limit of one evaluation; inputs that are left then get errors.
///
/// The status is that of all responses or, if they differ, 207; then each has its own status as the
/// string `http_status_code`.
///
/// # Errors
/// `invalid_parameter` when the body is neither JSON nor YAML, or `inputs` is not an object;
/// `unavailable` when a decision must be logged and cannot be, or memory is exhausted.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_decision(request);
    let body = metrics.time("timer_rego_input_parse_ns", || request_body::input(request))?;
    let body = body.unwrap_or(Value::Null);
    let inputs = inputs(&body)?;
    let state = engine.state();
    let snapshot = state.decisions(&request.method).snapshot();
    let batch = Batch {
        engine,
        request,
        prepared: &*prepare(&state, &snapshot, request, &mut metrics)?,
        state: &state,
        common: body.get("common_input"),
        id: engine
            .logs_decisions()
            .then(|| Arc::from(random_id::random())),
    };
    let mut answer = Object::new();
    let mut status = StatusCode::OK;
    match inputs {
        None => drop(answer.insert("warning", missing("inputs"))),
        Some(inputs) if inputs.is_empty() => {}
        Some(inputs) => {
            let responses = batch.responses(inputs)?;
            status = common_status(&responses);
            answer.insert("responses", response_object(responses, status));
        }
    }
    if let Some(id) = &batch.id {
        answer.insert("batch_decision_id", Value::from(&**id));
    }
    if metrics.is_requested() {
        answer.insert("metrics", metrics.finish());
    }
    let (answer, pretty) = (Value::from(answer), request.flag("pretty"));
    Ok(Reply::document(status, &answer, pretty))
}

/// Member `inputs` of a body, if present.
fn inputs(body: &Value) -> Result<Option<&Object>, ApiError> {
    let inputs = match body {
        Value::Null => return Ok(None),
        Value::Object(_) => body.get("inputs"),
        other => {
            let message = format!("request body: expected an object, found {}", other.kind());
            return Err(ApiError::invalid_parameter(message));
        }
    };
    match inputs {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(inputs)) => Ok(Some(inputs)),
        Some(_) => Err(ApiError::invalid_parameter("`inputs` must be an object")),
    }
}

/// Shared context of the decisions of a batch.
struct Batch<'b> {
    engine: &'b Engine,
    request: &'b Request,
    state: &'b State,
    prepared: &'b Prepared,
    common: Option<&'b Value>,
    /// Unique id of the batch. Only logged batches have one.
    id: Option<Arc<str>>,
}

/// Name of an input, and its response with the status that it would have on its own.
type Response = (Value, StatusCode, Value);

impl Batch<'_> {
    fn responses(&self, inputs: &Object) -> Result<Vec<Response>, ApiError> {
        let timeout = self.state.limits().timeout();
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut responses = Vec::with_capacity(inputs.len());
        for (name, input) in inputs.iter() {
            let late = deadline.is_some_and(|deadline| Instant::now() > deadline);
            let (status, response) = match late {
                true => refused(&errors::batch_timeout(), None),
                false => self.respond(input)?,
            };
            let measured = response.measure(false, MAX_RESPONSE, &self.request.cancelled);
            let size = measured.map_err(|error| errors::unmeasured(&error))?.own;
            self.request.memory.grow_about(size)?;
            responses.push((name.clone(), status, response));
        }
        Ok(responses)
    }

    fn respond(&self, input: &Value) -> Result<(StatusCode, Value), ApiError> {
        let (request, is_logged) = (self.request, self.id.is_some());
        let metrics = Metrics::of_decision(request);
        let mut pipeline = Pipeline::new(self.engine, self.state, request, is_logged, metrics);
        pipeline.evaluation.strict = request.flag("strict-builtin-errors");
        pipeline.decision.batch_id.clone_from(&self.id);
        pipeline.decision.input = Some(self.input(input));
        pipeline.evaluate_document(self.prepared, request.path.open());
        pipeline.log(Subject::Path(request.path.open()))?;
        let id = pipeline.decision.id.clone();
        Ok(match pipeline.into_document_envelope() {
            Ok(envelope) => (StatusCode::OK, Value::from(envelope)),
            Err(error) => refused(&errors::of_batch(error), id),
        })
    }

    /// Input merged with the common members.
    fn input(&self, input: &Value) -> Value {
        match (self.common, input) {
            (Some(common @ Value::Object(_)), Value::Object(_)) => {
                let mut both = common.clone();
                overlay(&mut both, input);
                both
            }
            _ => input.clone(),
        }
    }
}

/// Error response for an input.
fn refused(error: &ApiError, id: Option<String>) -> (StatusCode, Value) {
    let mut object = error.object();
    if let Some(id) = id {
        object.insert("decision_id", Value::from(id));
    }
    (error.code.status(), Value::from(object))
}

/// Status of all responses, or 207 if they differ.
fn common_status(responses: &[Response]) -> StatusCode {
    let mut statuses = responses.iter().map(|(_, status, _)| *status);
    let first = statuses.next().unwrap_or(StatusCode::OK);
    match statuses.all(|status| status == first) {
        true => first,
        false => StatusCode::MULTI_STATUS,
    }
}

/// Responses by name, each with its status if they differ.
fn response_object(responses: Vec<Response>, status: StatusCode) -> Value {
    Value::object(responses.into_iter().map(|(name, own, mut response)| {
        if let (StatusCode::MULTI_STATUS, Some(members)) = (status, response.as_object_mut()) {
            members.insert("http_status_code", Value::from(own.as_str()));
        }
        (name, response)
    }))
}

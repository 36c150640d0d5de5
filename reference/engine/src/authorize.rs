//! Authorization of requests by a policy.

use std::sync::Arc;

use http::header::HOST;
use rego::value::Object;
use rego::{PartialOptions, PartialQuery, QueryOptions, References, Value};

use super::evaluate::RequestEvaluation;
use super::request_body::{BodyForm, LARGE_BODY};
use super::routes::Destination;
use super::state::State;
use super::{Engine, authz_identity, errors, gzip, request_body};
use http_server::request::Abandoned;
use http_server::{ApiError, Request};

impl Engine {
    /// Whether requests are authorized by a policy.
    pub(super) fn authorizes(&self) -> bool {
        self.0.runtime.authorizes
    }

    /// Authorizes a request by the policy, if enabled, and decompresses its body.
    ///
    /// Decompressing and parsing a body costs much more than sending it. A request with a large or
    /// compressed body is therefore refused beforehand if the policy would deny it with any body.
    ///
    /// # Errors
    /// `unauthorized` when the policy denies the request, `internal_error` when its decision is
    /// undefined, `invalid_parameter` when the body cannot be decompressed, is too large or, as
    /// part of the input, is malformed; `unavailable` when there is not enough memory for the body.
    pub(super) fn admit(
        &self,
        destination: &Destination,
        request: &mut Request,
    ) -> Result<(), ApiError> {
        let body_form = destination.shown_body(request);
        let body_form = body_form.filter(|_| self.authorizes());
        let costs = gzip::is_compressed(request) || request.body.len() > LARGE_BODY;
        if costs && body_form.is_some() && !self.may_permit(request)? {
            let input = Value::from(bodiless_input(self, request)?);
            self.decide_on(request, &input)?;
        }
        gzip::decode(request, self.config().max_decoded_body)?;
        self.authorize(request, body_form)
    }

    /// Authorizes a request by the policy, if enabled. The body is already decompressed.
    fn authorize(&self, request: &Request, body_form: Option<BodyForm>) -> Result<(), ApiError> {
        if !self.authorizes() {
            return Ok(());
        }
        let mut input = bodiless_input(self, request)?;
        if let Some(form) = body_form {
            let body = request_body::show(request, form)?;
            input.insert("body", body.unwrap_or(Value::Null));
        }
        self.decide_on(request, &Value::from(input))
    }

    /// Evaluates the authorization policy on an input. Returns an error unless the policy permits
    /// the request.
    fn decide_on(&self, request: &Request, input: &Value) -> Result<(), ApiError> {
        let path = &self.config().default_authorization_decision;
        let state = self.state();
        let evaluation = RequestEvaluation::new(&state, request);
        match evaluation.read(path, Some(input))? {
            None => Err(errors::undecided(
                "authorization policy missing or undefined",
            )),
            Some(Value::Bool(true)) => Ok(()),
            Some(Value::Object(decision)) => judge(&decision),
            Some(_) => Err(errors::unauthorized(None)),
        }
    }

    /// Whether the policy may permit the request with some body, according to a partial evaluation
    /// in which the body is unknown.
    fn may_permit(&self, request: &Request) -> Result<bool, ApiError> {
        let state = self.state();
        let document = document_name(&self.config().default_authorization_decision);
        let (cache, snapshot) = (&state.permits, state.permits.snapshot());
        let compile = || Ok::<_, Abandoned>(permits(&state, &document));
        let queries = cache.get_or_compile(&snapshot, &document, request, compile)?;
        let Ok(unknowns) = References::parse(["input.body"]) else {
            return Ok(true);
        };
        let options = PartialOptions {
            unknowns,
            ..PartialOptions::default()
        };
        let input = Value::from(bodiless_input(self, request)?);
        for query in queries.iter() {
            let mut evaluation = state.evaluation();
            evaluation.input = Some(input.clone());
            evaluation.cancelled = Some(Arc::clone(&request.cancelled));
            let left = query.evaluate(&mut evaluation, &options);
            // If partial evaluation fails, the decision is made with the body.
            if left.is_ok_and(|left| left.queries.is_empty()) {
                continue;
            }
            return Ok(true);
        }
        Ok(queries.is_empty())
    }
}

/// Reference to the document at a path.
fn document_name(path: &[String]) -> String {
    let mut document = "data".to_owned();
    for segment in path {
        document.push_str(&format!("[{}]", Value::from(segment.as_str())));
    }
    document
}

/// Queries on the decision document of the policy, which permits a request if one of them is true.
fn permits(state: &State, document: &str) -> Vec<PartialQuery> {
    let texts = [
        format!("{document} == true"),
        format!("{document}.allowed == true"),
    ];
    let policy = &state.contents().policy;
    // A query that does not compile cannot be true, because the document has another type.
    let queries = texts
        .iter()
        .filter_map(|text| PartialQuery::parse(policy, text, &QueryOptions::default()).ok());
    queries.collect()
}

/// Input document of the authorization policy, without the body of the request.
fn bodiless_input(engine: &Engine, request: &Request) -> Result<Object, ApiError> {
    let mut input = Object::new();
    input.insert("method", Value::from(request.method.as_str()));
    request.path.check()?;
    let path: Vec<Value> = request.path.segments().map(Value::from).collect();
    input.insert("path", Value::from(path));
    input.insert("params", parameters(request));
    input.insert("headers", headers(request));
    authz_identity::add(&mut input, engine, request);
    Ok(input)
}

fn judge(decision: &Object) -> Result<(), ApiError> {
    match decision.get("allowed") {
        None => Err(errors::undecided("document missing or undefined")),
        Some(Value::Bool(true)) => Ok(()),
        Some(_) => Err(errors::unauthorized(
            decision.get("reason").and_then(Value::as_str),
        )),
    }
}

fn parameters(request: &Request) -> Value {
    let pairs = request.query.iter();
    group_by_name(pairs.map(|(name, value)| (name.clone(), value.as_str())))
}

/// Headers of the request, without `Host`, as in Open Policy Agent.
fn headers(request: &Request) -> Value {
    let pairs = request.headers.iter().filter(|(name, _)| *name != HOST);
    group_by_name(
        pairs.filter_map(|(name, value)| Some((canonical(name.as_str()), value.to_str().ok()?))),
    )
}

/// Groups pairs of name and value into an object with an array of values for each name.
fn group_by_name<'v>(pairs: impl Iterator<Item = (String, &'v str)>) -> Value {
    let mut lists = Object::new();
    for (name, value) in pairs {
        lists.insert_if_missing(name.as_str(), || Value::from(Vec::new()));
        if let Some(Value::Array(items)) = lists.get_mut(&name) {
            items.push(Value::from(value));
        }
    }
    Value::from(lists)
}

/// Capitalises each word of a header name, as in `Content-Type`.
fn canonical(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    });
    words.collect::<Vec<_>>().join("-")
}

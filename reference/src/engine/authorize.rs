//! The policy that decides on each request.

use rego::Value;
use rego::value::Object;

use super::evaluate::Asked;
use super::{Engine, body};
use crate::http::{ApiError, Code, Request};

impl Engine {
    /// Asks the authorization policy about a request, if there has to be one.
    ///
    /// # Errors
    /// `unauthorized` when the policy says no, `internal_error` when it says nothing,
    /// `invalid_parameter` when the body that it would judge is malformed.
    pub(super) fn authorize(&self, request: &Request) -> Result<(), ApiError> {
        if !self.0.authorizes {
            return Ok(());
        }
        let input = self.authorization_input(request)?;
        let path = &self.config().default_authorization_decision;
        let decision = self.read(path, &Asked::plainly(request, Some(&input)))?;
        match decision {
            None => Err(undecided("authorization policy missing or undefined")),
            Some(Value::Bool(true)) => Ok(()),
            Some(Value::Object(decision)) => judge(&decision),
            Some(_) => Err(refused(None)),
        }
    }

    /// The input document of the policy.
    fn authorization_input(&self, request: &Request) -> Result<Value, ApiError> {
        let mut input = Object::new();
        input.insert("method", Value::from(request.method.as_str()));
        input.insert("path", path(request)?);
        input.insert("params", parameters(request));
        input.insert("headers", headers(request));
        if let Some(token) = token(request).filter(|_| self.0.identifies) {
            input.insert("identity", Value::from(token));
        }
        if judged(request) {
            input.insert("body", body::input(request)?.unwrap_or(Value::Null));
        }
        Ok(Value::from(input))
    }
}

fn judge(decision: &Object) -> Result<(), ApiError> {
    match decision.get("allowed") {
        None => Err(undecided("document missing or undefined")),
        Some(Value::Bool(true)) => Ok(()),
        Some(_) => Err(refused(decision.get("reason").and_then(Value::as_str))),
    }
}

fn undecided(message: &str) -> ApiError {
    ApiError::new(Code::InternalError, message)
}

fn refused(reason: Option<&str>) -> ApiError {
    let reason = reason.unwrap_or("request rejected by administrative policy");
    ApiError::new(Code::Unauthorized, reason)
}

/// The segments of the path, decoded one by one; one empty segment for the root.
fn path(request: &Request) -> Result<Value, ApiError> {
    let path = request.path.strip_prefix('/').unwrap_or(&request.path);
    let segments = path.split('/').map(|segment| {
        let decoded = crate::http::request::decode(segment)?;
        Ok(Value::from(decoded))
    });
    Ok(Value::from(segments.collect::<Result<Vec<_>, ApiError>>()?))
}

fn parameters(request: &Request) -> Value {
    let pairs = request.query.iter();
    listed(pairs.map(|(name, value)| (name.clone(), value.as_str())))
}

fn headers(request: &Request) -> Value {
    let pairs = request.headers.iter();
    listed(pairs.filter_map(|(name, value)| Some((canonical(name.as_str()), value.to_str().ok()?))))
}

/// An object that lists the values of each name.
fn listed<'v>(pairs: impl Iterator<Item = (String, &'v str)>) -> Value {
    let mut lists = Object::new();
    for (name, value) in pairs {
        lists.insert_if_missing(name.as_str(), || Value::from(Vec::new()));
        if let Some(Value::Array(items)) = lists.get_mut(&name) {
            items.push(Value::from(value));
        }
    }
    Value::from(lists)
}

/// A header's name with each of its words capitalised.
fn canonical(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    });
    words.collect::<Vec<_>>().join("-")
}

/// The one word behind `Bearer` in the header `Authorization`.
fn token(request: &Request) -> Option<&str> {
    let rest = request.header("authorization")?.strip_prefix("Bearer")?;
    let token = rest.trim_start_matches(' ');
    let one_word = !token.is_empty() && !token.contains(char::is_whitespace);
    (one_word && token.len() < rest.len()).then_some(token)
}

/// Whether the policy sees the body of a request.
fn judged(request: &Request) -> bool {
    let below = |start: &str| request.path.starts_with(start);
    request.method == http::Method::POST
        && (request.path == "/"
            || ["/v0/data", "/v1/data", "/v1/query", "/v1/compile"]
                .into_iter()
                .any(below))
}

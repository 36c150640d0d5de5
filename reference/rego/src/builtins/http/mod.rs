//! `http.send`.
//!
//! This module determines the contents of requests, their equality and their caching; the host of
//! the evaluation sends them. A response may be [`options::MAX_BODY`] bytes long, also after
//! decompression. Requests time out after five seconds by default, and end when the evaluation is
//! cancelled.

use std::sync::Arc;
use std::time::SystemTime;

use super::caches::lock;
use super::operand::{answer, object};
use super::{BuiltinLimit, Call, Cost, Failure, Group, Maximum, requests};
use crate::Value;
use crate::meter::AbortReason;
use crate::value::{Literal, Object, Text};

mod attempt;
mod cache;
mod cache_control;
mod client;
mod error;
mod options;
mod redirect;
mod response;
#[cfg(test)]
mod tests;
mod tls;

pub(super) use cache::Responses;
use error::RequestError;
use options::{Caching, Options};
use response::Response;

pub(super) const BUILTINS: Group = &[("http.send", Cost::BuiltinContext, send)];

pub(super) const LIMITS: &[BuiltinLimit] = &[
    BuiltinLimit {
        functions: &["http.send"],
        subject: "body of a response",
        most: Maximum::Bytes(options::MAX_BODY),
    },
    BuiltinLimit {
        functions: &["http.send"],
        subject: "redirections that are followed",
        most: Maximum::Count(client::MAX_REDIRECTS),
    },
];

/// Outcome of a request; the same for all calls of one evaluation.
type Outcome = Result<Value, RequestError>;

fn send(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let request = object(operands, 1)?;
    let raise = match request.get("raise_error") {
        None => true,
        Some(Value::Bool(raise)) => *raise,
        Some(_) => {
            let message = "invalid value for raise_error field";
            return Err(Failure::Value(message.to_owned()));
        }
    };
    let outcome = match requests::check(request) {
        Ok(()) => outcome(call, request)?,
        Err(failure) => Err(RequestError::of(failure)),
    };
    match outcome {
        Ok(response) => answer(response),
        Err(error) if raise => Err(error.into_failure()),
        Err(error) => answer(error.to_response(call.location)),
    }
}

fn outcome(call: &mut Call<'_>, request: &Object) -> Result<Outcome, Failure> {
    let key = match options::key(request) {
        Ok(key) => Value::from(key),
        Err(error) => return Ok(Err(error)),
    };
    // The literal distinguishes bytes that JSON cannot represent.
    let place = ("http.send", Text::from(Literal(&key).to_string()));
    let known = call.session.prepared.get(&place).cloned();
    if let Some(outcome) = known.and_then(|outcome| outcome.downcast::<Outcome>().ok()) {
        return Ok(outcome.as_ref().clone());
    }
    let mut cacheable = true;
    let outcome = match fetch(call, request, &place.1) {
        Ok((response, is_cacheable)) => {
            cacheable = is_cacheable;
            Ok(response)
        }
        Err(Stop::RequestError(error)) => Err(error),
        Err(Stop::AbortReason(ended)) => return Err(Failure::Aborted(ended)),
    };
    if cacheable {
        call.session
            .prepared
            .insert(place, Arc::new(outcome.clone()));
    }
    Ok(outcome)
}

/// Reason why there is no response.
#[derive(Debug)]
enum Stop {
    RequestError(RequestError),
    /// The evaluation has to end.
    AbortReason(AbortReason),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Aborted(ended) => Self::AbortReason(ended),
            other => Self::RequestError(RequestError::of(other)),
        }
    }
}

impl From<RequestError> for Stop {
    fn from(error: RequestError) -> Self {
        Self::RequestError(error)
    }
}

/// Returns the response from a cache or the server, and whether the evaluation may cache it.
fn fetch(call: &Call<'_>, request: &Object, key: &Text) -> Result<(Value, bool), Stop> {
    let caching = options::caching(request)?;
    let json = options::flag(request, "force_json_decode");
    let yaml = options::flag(request, "force_yaml_decode");
    if caching.shared {
        let (json, yaml) = (json.clone()?, yaml.clone()?);
        if let Some(response) = from_cache(call, request, key, &caching)? {
            return Ok((response.value(json, yaml), true));
        }
    }
    let options = Options::read(call.session, request)?;
    let response = client::send(call, &options)?;
    let value = response.value(json?, yaml?);
    if !caching.shared {
        return Ok((value, response.cacheable()));
    }
    // A response with invalid expiry headers is not cached, which is not an error.
    if let Ok(expires) = cache_control::expiry(&response, &caching, call.session.now())
        && response.cacheable()
        && options::has_caching_mode(request)
        && (caching.seconds > 0 || cache_control::may_store(&response))
    {
        store(call, key, response, expires);
    }
    Ok((value, true))
}

/// Returns the cached response, revalidated by the server if it is stale.
fn from_cache(
    call: &Call<'_>,
    request: &Object,
    key: &Text,
    caching: &Caching,
) -> Result<Option<Response>, Stop> {
    let caches = call.outside.caches;
    let known = caches.and_then(|caches| lock(&caches.responses).get(key, call.session.now()));
    let Some((mut cached, expires)) = known else {
        return Ok(None);
    };
    if call.session.now() < expires {
        return Ok(Some(cached));
    }
    let mut options = Options::read(call.session, request)?;
    if let Some(caches) = caches {
        lock(&caches.responses).remove(key);
    }
    let conditions = [
        ("if-none-match", "etag"),
        ("if-modified-since", "last-modified"),
    ];
    let mut is_conditional = false;
    for (condition, header) in conditions {
        if let Some(value) = cached.header(header) {
            options
                .headers
                .retain(|(name, _)| !name.eq_ignore_ascii_case(condition));
            options
                .headers
                .push((condition.to_owned(), value.to_owned()));
            is_conditional = true;
        }
    }
    if !is_conditional {
        return Ok(None);
    }
    let response = client::send(call, &options)?;
    let now = call.session.now();
    match response.code {
        304 => {
            let expires = cache_control::expiry(&response, caching, now)?;
            cached.renew(&response);
            store(call, key, cached.clone(), expires);
            Ok(Some(cached))
        }
        200 => {
            if caching.seconds > 0 || cache_control::may_store(&response) {
                let expires = cache_control::expiry(&response, caching, now)?;
                store(call, key, response.clone(), expires);
            }
            Ok(Some(response))
        }
        _ => Ok(None),
    }
}

/// Caches a response for later evaluations.
fn store(call: &Call<'_>, key: &Text, response: Response, expires: SystemTime) {
    if let Some(caches) = call.outside.caches {
        lock(&caches.responses).insert(key, response, expires);
    }
}

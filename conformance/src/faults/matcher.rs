//! Conditions on exchanges.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::operations::json::ValuesByPointer;
use crate::catalogue::Document;
use crate::catalogue::pattern::Glob;
use crate::http_client::answer::Answer;
use crate::http_client::wire::{Wire, request_line};
use crate::scenario::pointer_globs::places;

/// Recipient of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipient {
    Control,
    Engine,
    Mock,
}

impl Recipient {
    /// Returns the API of a fault file with this path.
    pub(crate) fn of_path(path: &str) -> Result<Self, String> {
        match Document::of(path) {
            Some(Document::Control) => Ok(Self::Control),
            Some(Document::Engine) => Ok(Self::Engine),
            None => Err(
                "invalid path: expected to begin with the name of a document or a pack".to_owned(),
            ),
        }
    }
}

/// A method (`*` for any) and a glob over paths: `PUT /v1/data/**`. The name of a recipient may
/// come first: `depot GET /taken/**`.
#[derive(Debug)]
pub(super) struct Endpoint {
    recipient: Recipient,
    method: String,
    path: Glob,
}

impl Endpoint {
    /// Parses an endpoint; without the name of a recipient, the recipient is `api`.
    pub(super) fn parse(text: &str, api: Option<Recipient>) -> Result<Self, String> {
        let words: Vec<&str> = text.split(' ').collect();
        let (recipient, method, path) = match words.as_slice() {
            [method, path] => match api {
                Some(api) => (api, method, path),
                None => {
                    return Err(format!(
                        "`{text}` names no recipient: expected `engine`, `control` or `depot` \
                         before the method"
                    ));
                }
            },
            ["depot", method, path] => (Recipient::Mock, method, path),
            ["engine", method, path] => (Recipient::Engine, method, path),
            ["control", method, path] => (Recipient::Control, method, path),
            _ => {
                return Err(format!(
                    "invalid endpoint `{text}`: expected `METHOD /path` or `RECIPIENT METHOD /path`"
                ));
            }
        };
        Ok(Self {
            recipient,
            method: (*method).to_owned(),
            path: Glob::of_segments(path)?,
        })
    }

    pub(super) fn matches(&self, recipient: Recipient, request: &ObservedRequest<'_>) -> bool {
        self.recipient == recipient
            && (self.method == "*" || self.method == request.method)
            && self.path.matches(&request.path)
    }
}

/// A request, as the conditions of faults see it.
#[derive(Debug)]
pub(crate) struct ObservedRequest<'a> {
    pub(crate) method: String,
    /// Path without the query.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Cow<'a, str>,
    /// Name of the caller, as in the evidence.
    pub(crate) who: &'a str,
}

impl<'a> ObservedRequest<'a> {
    pub(crate) fn of(wire: &'a Wire, who: &'a str) -> Self {
        let (method, target, headers, body) = match wire {
            Wire::Http(request) => (
                request.method.to_owned(),
                request.path.clone(),
                request.headers.clone(),
                String::from_utf8_lossy(&request.body),
            ),
            Wire::Raw(bytes) => {
                let (method, target) = request_line(bytes);
                (
                    method,
                    target,
                    raw_headers(bytes),
                    String::from_utf8_lossy(bytes),
                )
            }
        };
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        Self {
            method,
            path: path.to_owned(),
            query: pairs(query),
            headers,
            body,
            who,
        }
    }
}

/// Parses the valid headers of a raw request.
fn raw_headers(bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().skip(1).take_while(|line| !line.is_empty());
    lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

/// Returns the names and values of a query, still encoded.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Conditions on a request; all must be met.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct RequestCondition {
    /// Names of callers, any of which matches; if empty, all match.
    who: Vec<String>,
    /// Headers that the request has, with globs over their values.
    header: BTreeMap<String, Glob>,
    /// Headers that the request lacks.
    no_header: Vec<String>,
    /// Query parameters that the request has, with globs over their values.
    query: BTreeMap<String, Glob>,
    /// Query parameters that the request lacks.
    no_query: Vec<String>,
    /// Substrings of the body.
    text: Vec<String>,
    /// Strings that the body does not contain.
    no_text: Vec<String>,
    /// Values of the JSON body, by pointer.
    json: ValuesByPointer,
    /// Pointers that exist in the JSON body.
    has: Vec<String>,
    /// Pointers that do not exist in the JSON body.
    lacks: Vec<String>,
}

impl RequestCondition {
    pub(super) fn matches(&self, request: &ObservedRequest<'_>) -> bool {
        let header = |name: &str| {
            let mut headers = request.headers.iter();
            headers.find(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        let query = |name: &str| request.query.iter().find(|(known, _)| known == name);
        let matches = |glob: &Glob, found: Option<&(String, String)>| {
            found.is_some_and(|(_, value)| glob.matches(value))
        };
        let json = || serde_json::from_str(&request.body).ok().map(Cow::Owned);
        (self.who.is_empty() || self.who.iter().any(|who| who == request.who))
            && self
                .header
                .iter()
                .all(|(name, glob)| matches(glob, header(name)))
            && self.no_header.iter().all(|name| header(name).is_none())
            && self
                .query
                .iter()
                .all(|(name, glob)| matches(glob, query(name)))
            && self.no_query.iter().all(|name| query(name).is_none())
            && self.text.iter().all(|text| request.body.contains(text))
            && !self.no_text.iter().any(|text| request.body.contains(text))
            && json_matches(json, &self.json, &self.has, &self.lacks)
    }
}

/// Whether a document has these values and pointers. If a pointer with `*` matches several values,
/// one of them is enough. Without conditions, the document is not parsed.
fn json_matches<'v>(
    body: impl FnOnce() -> Option<Cow<'v, Value>>,
    json: &ValuesByPointer,
    has: &[String],
    lacks: &[String],
) -> bool {
    if json.is_empty() && has.is_empty() && lacks.is_empty() {
        return true;
    }
    body().is_some_and(|body| {
        let exists = |pointer: &String| places(&body, pointer).iter().any(Option::is_some);
        json.iter()
            .all(|(pointer, value)| places(&body, pointer).contains(&Some(value)))
            && has.iter().all(exists)
            && !lacks.iter().any(exists)
    })
}

/// Conditions on the server's response; all must be met.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct AnswerCondition {
    /// Statuses, any of which matches; if empty, all match.
    status: Vec<u16>,
    /// Headers, with globs over their values.
    header: BTreeMap<String, Glob>,
    /// Substrings of the body.
    text: Vec<String>,
    /// Values of the JSON body, by pointer.
    json: ValuesByPointer,
    /// Pointers that exist in the JSON body.
    has: Vec<String>,
    /// Pointers that do not exist in the JSON body.
    lacks: Vec<String>,
}

impl AnswerCondition {
    pub(super) fn matches(&self, answer: &Answer) -> bool {
        let header = |(name, glob): (&String, &Glob)| {
            let value = answer.header(name);
            value.is_some_and(|value| glob.matches(&value))
        };
        let json = || answer.json().map(Cow::Borrowed);
        (self.status.is_empty() || self.status.contains(&answer.status))
            && self.header.iter().all(header)
            && self.text.iter().all(|text| answer.text().contains(text))
            && json_matches(json, &self.json, &self.has, &self.lacks)
    }
}

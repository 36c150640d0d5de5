//! Conditions on exchanges.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::alteration::{Glob, Places};
use crate::catalogue::Document;
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
    /// Returns the API of a fault file, by the file's path.
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

/// A method (`*` for any) and a glob over paths, for a recipient: `PUT /v1/data/**`, or with its
/// name `depot GET /taken/**`.
#[derive(Debug)]
pub(super) struct On {
    recipient: Recipient,
    method: String,
    path: Glob,
}

impl On {
    /// Parses the condition; without a name, the recipient is the API of its file.
    pub(super) fn parse(text: &str, api: Option<Recipient>) -> Result<Self, String> {
        let words: Vec<&str> = text.split(' ').collect();
        let (recipient, method, path) = match words.as_slice() {
            [method, path] => match api {
                Some(api) => (api, method, path),
                None => return Err(format!("`{text}` does not say who is asked")),
            },
            ["depot", method, path] => (Recipient::Mock, method, path),
            ["engine", method, path] => (Recipient::Engine, method, path),
            ["control", method, path] => (Recipient::Control, method, path),
            _ => return Err(format!("`{text}` is not METHOD /path")),
        };
        Ok(Self {
            recipient,
            method: (*method).to_owned(),
            path: Glob::parse(path, false)?,
        })
    }

    pub(super) fn fits(&self, recipient: Recipient, seen: &ObservedRequest<'_>) -> bool {
        self.recipient == recipient
            && (self.method == "*" || self.method == seen.method)
            && self.path.fits(&seen.path)
    }
}

/// A request as a fault sees it.
#[derive(Debug)]
pub(crate) struct ObservedRequest<'a> {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: std::borrow::Cow<'a, str>,
    /// Identity of the request, as in evidence.
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

/// Names and values of a query, not decoded.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Conditions on a request; all must be met.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct RequestCondition {
    /// Identities of the caller; any of them matches.
    who: Vec<String>,
    /// Headers that it has, with globs over their values.
    header: BTreeMap<String, Glob>,
    /// Headers that it lacks.
    no_header: Vec<String>,
    /// Query parameters that it has, with globs over their values.
    query: BTreeMap<String, Glob>,
    /// Query parameters that it lacks.
    no_query: Vec<String>,
    /// Substrings of its body.
    text: Vec<String>,
    /// Strings that its body does not contain.
    no_text: Vec<String>,
    /// Values of its JSON body, by pointer.
    json: Places,
    /// Pointers that exist in its JSON body.
    has: Vec<String>,
    /// Pointers that do not exist in its JSON body.
    lacks: Vec<String>,
}

impl RequestCondition {
    pub(super) fn fits(&self, seen: &ObservedRequest<'_>) -> bool {
        let header = |name: &str| {
            let mut headers = seen.headers.iter();
            headers
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
        };
        let query = |name: &str| {
            let mut pairs = seen.query.iter();
            pairs.find(|(known, _)| known == name)
        };
        let has = |(name, glob): (&String, &Glob)| header(name).is_some_and(|v| glob.fits(v));
        let asks = |(name, glob): (&String, &Glob)| query(name).is_some_and(|(_, v)| glob.fits(v));
        (self.who.is_empty() || self.who.iter().any(|who| who == seen.who))
            && self.header.iter().all(has)
            && self.no_header.iter().all(|name| header(name).is_none())
            && self.query.iter().all(asks)
            && self.no_query.iter().all(|name| query(name).is_none())
            && self.text.iter().all(|text| seen.body.contains(text))
            && !self.no_text.iter().any(|text| seen.body.contains(text))
            && self.fits_json(seen)
    }

    fn fits_json(&self, seen: &ObservedRequest<'_>) -> bool {
        if self.json.is_empty() && self.has.is_empty() && self.lacks.is_empty() {
            return true;
        }
        let Ok(body) = serde_json::from_str::<Value>(&seen.body) else {
            return false;
        };
        holds(&body, &self.json, &self.has, &self.lacks)
    }
}

/// Whether a document has these values and pointers; if a pointer with `*` matches several, one of
/// them is enough.
fn holds(body: &Value, json: &Places, has: &[String], lacks: &[String]) -> bool {
    let there = |pointer: &str| places(body, pointer).iter().any(Option::is_some);
    json.iter()
        .all(|(pointer, value)| places(body, pointer).contains(&Some(value)))
        && has.iter().all(|pointer| there(pointer))
        && !lacks.iter().any(|pointer| there(pointer))
}

/// Conditions on the server's response; all must be met.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct AnswerCondition {
    /// One of these.
    status: Vec<u16>,
    /// Headers, with globs over their values.
    header: BTreeMap<String, Glob>,
    /// Substrings of its body.
    text: Vec<String>,
    /// Values of its JSON body, by pointer.
    json: Places,
    /// Pointers that exist in its JSON body.
    has: Vec<String>,
    /// Pointers that do not exist in its JSON body.
    lacks: Vec<String>,
}

impl AnswerCondition {
    pub(super) fn fits(&self, answer: &Answer) -> bool {
        let header = |(name, glob): (&String, &Glob)| {
            let value = answer.header(name);
            value.is_some_and(|value| glob.fits(&value))
        };
        let needs_json = !(self.json.is_empty() && self.has.is_empty() && self.lacks.is_empty());
        let json = || {
            let body = answer.json();
            body.is_some_and(|body| holds(body, &self.json, &self.has, &self.lacks))
        };
        (self.status.is_empty() || self.status.contains(&answer.status))
            && self.header.iter().all(header)
            && (self.text.is_empty() || {
                let body = answer.text();
                self.text.iter().all(|text| body.contains(text))
            })
            && (!needs_json || json())
    }
}

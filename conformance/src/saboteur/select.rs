//! Which exchanges a fault touches.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::fault::{Glob, Places};
use crate::answer::Answer;
use crate::outgoing::Wire;
use crate::places::places;
use crate::runner::raw_line;

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    Control,
    Engine,
    Depot,
}

impl Goal {
    /// The API that a fault file is about, by the file's path.
    pub(super) fn of_path(path: &str) -> Result<Self, String> {
        match path.split('/').next() {
            Some("control") => Ok(Self::Control),
            Some("engine") => Ok(Self::Engine),
            _ => Err("the path begins with neither control nor engine".to_owned()),
        }
    }
}

/// A method (`*` for any) and a glob over paths, for one that is asked: `PUT /v1/data/**`, or
/// with its name `depot GET /taken/**`.
#[derive(Debug)]
pub(super) struct On {
    goal: Goal,
    method: String,
    path: Glob,
}

impl On {
    /// Reads the text; without a name the API of the fault's file is asked.
    pub(super) fn parse(text: &str, api: Goal) -> Result<Self, String> {
        let words: Vec<&str> = text.split(' ').collect();
        let (goal, method, path) = match words.as_slice() {
            [method, path] => (api, method, path),
            ["depot", method, path] => (Goal::Depot, method, path),
            ["engine", method, path] => (Goal::Engine, method, path),
            ["control", method, path] => (Goal::Control, method, path),
            _ => return Err(format!("`{text}` is not METHOD /path")),
        };
        Ok(Self {
            goal,
            method: (*method).to_owned(),
            path: Glob::parse(path, false)?,
        })
    }

    pub(super) fn fits(&self, goal: Goal, seen: &Seen<'_>) -> bool {
        self.goal == goal
            && (self.method == "*" || self.method == seen.method)
            && self.path.fits(&seen.path)
    }
}

/// A request as a fault sees it.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: std::borrow::Cow<'a, str>,
    /// Who asks, as evidence names them.
    pub(crate) who: &'a str,
}

impl<'a> Seen<'a> {
    pub(crate) fn of(wire: &'a Wire, who: &'a str) -> Self {
        let (method, target, headers, body) = match wire {
            Wire::Http(request) => (
                request.method.to_owned(),
                request.path.clone(),
                request.headers.clone(),
                String::from_utf8_lossy(&request.body),
            ),
            Wire::Raw(bytes) => {
                let (method, target) = raw_line(bytes);
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

/// The headers of a raw request, as far as they are any.
fn raw_headers(bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().skip(1).take_while(|line| !line.is_empty());
    lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

/// Names and values of a query, as they stand in it.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// What the request must be like; all of it.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Asked {
    /// Who asks: one of these.
    who: Vec<String>,
    /// Headers that it has, with globs over their values.
    header: BTreeMap<String, Glob>,
    /// Headers that it lacks.
    no_header: Vec<String>,
    /// Query parameters that it has, with globs over their values.
    query: BTreeMap<String, Glob>,
    /// Query parameters that it lacks.
    no_query: Vec<String>,
    /// Texts that its body holds.
    text: Vec<String>,
    /// Texts that its body does not hold.
    no_text: Vec<String>,
    /// Values of its JSON body, by pointer.
    json: Places,
    /// Pointers that lead somewhere in its JSON body.
    has: Vec<String>,
    /// Pointers that lead nowhere in its JSON body.
    lacks: Vec<String>,
}

impl Asked {
    pub(super) fn fits(&self, seen: &Seen<'_>) -> bool {
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

    fn fits_json(&self, seen: &Seen<'_>) -> bool {
        if self.json.is_empty() && self.has.is_empty() && self.lacks.is_empty() {
            return true;
        }
        let Ok(body) = serde_json::from_str::<Value>(&seen.body) else {
            return false;
        };
        holds(&body, &self.json, &self.has, &self.lacks)
    }
}

/// Whether a document has these values and places; where a pointer with `*` leads to several, one
/// of them is enough.
fn holds(body: &Value, json: &Places, has: &[String], lacks: &[String]) -> bool {
    let there = |pointer: &str| places(body, pointer).iter().any(Option::is_some);
    json.iter()
        .all(|(pointer, value)| places(body, pointer).contains(&Some(value)))
        && has.iter().all(|pointer| there(pointer))
        && !lacks.iter().any(|pointer| there(pointer))
}

/// What the server's answer must be like; all of it.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Answered {
    /// One of these.
    status: Vec<u16>,
    /// Headers, with globs over their values.
    header: BTreeMap<String, Glob>,
    /// Texts that its body holds.
    text: Vec<String>,
    /// Values of its JSON body, by pointer.
    json: Places,
    /// Pointers that lead somewhere in its JSON body.
    has: Vec<String>,
    /// Pointers that lead nowhere in its JSON body.
    lacks: Vec<String>,
}

impl Answered {
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

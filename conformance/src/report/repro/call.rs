//! Requests of a reproducer, with variables for secrets and values from responses.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::catalogue::Document;
use crate::http_client::wire::{Outgoing, Wire};
use crate::run::Suite;
use crate::run::placeholders::Placeholders;
use crate::run::runner::json_body;
use crate::run::side_effects::{Resource, SideEffects, side_effects_of};
use crate::scenario::{Identity, Recipient, Scenario, Step};
use crate::target::Token;
use crate::target::server::Server;
use crate::visible;

/// Start delimiter of a variable's name in strings that are sent.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';
/// The start delimiter in a percent-encoded path; there, the variable's value is encoded, too.
const OPEN_ENCODED: &str = "%EE%80%80";
const CLOSE_ENCODED: &str = "%EE%80%81";

/// Maximum number of requests of one reproducer.
const MOST: usize = 300;
/// Maximum length of a body, in bytes: longer ones are unsuitable for a command line.
const BODY: usize = 64 * 1024;

/// The requests of a reproducer.
#[derive(Debug)]
pub(super) struct Calls<'a> {
    /// The target's address, if known without a start.
    pub(super) base: Option<String>,
    /// The setup that the server needs, unless it is the default.
    pub(super) setup: Option<&'static str>,
    /// Variables for tokens: name and role of each.
    pub(super) tokens: Vec<(String, String)>,
    pub(super) calls: Vec<Call<'a>>,
    /// Requests that remove the resources that the reproducer creates.
    pub(super) removals: Vec<Outgoing>,
}

/// One request.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) step: &'a Step,
    pub(super) wire: Wire,
}

/// A part of a string that may contain variables.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Text(&'a str),
    Variable(&'a str),
    /// The value of this variable, percent-encoded.
    Encoded(&'a str),
}

impl<'a> Calls<'a> {
    /// Builds the requests of these steps of a rule.
    ///
    /// # Errors
    /// Why the requests cannot be repeated by hand.
    pub(super) fn of(suite: &'a Suite, rule: &str, steps: &[usize]) -> Result<Self, &'static str> {
        let run = suite.manual_run(rule).ok_or("it has no scenario")?;
        let Scenario {
            setup, steps: all, ..
        } = run.scenario;
        let chosen = steps.iter().filter_map(|index| all.get(*index));
        let chosen: Vec<&Step> = chosen.collect();
        if chosen
            .iter()
            .any(|step| step.recipient != Recipient::Judged)
        {
            return Err("it needs the suite's own fixture server, or a second server");
        }
        if chosen
            .iter()
            .any(|step| step.walk || !step.until.is_empty())
        {
            return Err("it repeats a request until the answer says to stop");
        }
        let roles = run.roles;
        let tokens = roles
            .iter()
            .map(|role| (role.clone(), Token::new(delimited(&variable(role)))));
        // The address is filled in where the request is shown.
        let nowhere = crate::http_client::Base::parse("http://base.invalid")
            .map_err(|_| "it has no address")?;
        let server = Server::new(nowhere, tokens.collect(), &[]);
        let mut captures: BTreeMap<&'static str, String> = BTreeMap::new();
        let mut calls = Vec::new();
        let mut created = BTreeSet::new();
        for step in chosen {
            for repetition in 0..step.times {
                let placeholders = Placeholders {
                    ns: &run.ns,
                    repetition,
                    captures: &captures,
                    server: &server,
                    vendor: run.vendor,
                };
                let wire = placeholders
                    .wire(step)
                    .map_err(|_| "it needs a token that the target has not")?;
                if matches!(&wire, Wire::Http(request) if request.body.len() > BODY) {
                    return Err("it sends a body too long for a command line");
                }
                created.extend(created_by(rule, step, &wire, &run.ns));
                calls.push(Call { step, wire });
                if calls.len() > MOST {
                    return Err("it sends too many requests for a script");
                }
            }
            for (name, _) in &step.capture {
                captures.insert(name, delimited(name));
            }
        }
        let administrator = server.authorization(&Identity::Administrator);
        let headers = administrator.ok().flatten();
        let headers: Vec<_> = headers
            .map(|value| ("authorization".to_owned(), value))
            .into_iter()
            .collect();
        let removals: Vec<Outgoing> = created
            .into_iter()
            .map(|resource| Outgoing {
                method: "DELETE",
                path: resource.path,
                headers: headers.clone(),
                ..Outgoing::default()
            })
            .collect();
        let is_used = |name: &str| {
            let name = delimited(name);
            calls.iter().any(|call| call.contains_text(&name))
                || removals.iter().any(|removal| contains_text(removal, &name))
        };
        let named = roles.into_iter().map(|role| (variable(&role), role));
        Ok(Self {
            base: run.base,
            setup: (*setup != "default").then_some(*setup),
            tokens: named.filter(|(name, _)| is_used(name)).collect(),
            calls,
            removals,
        })
    }

    /// Whether some request consists of bytes that curl cannot send.
    pub(super) fn are_raw(&self) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|call| matches!(call.wire, Wire::Raw(_)))
    }

    /// Whether some request reuses a value of an earlier response.
    pub(super) fn captures(&self) -> bool {
        self.calls.iter().any(|call| !call.step.capture.is_empty())
    }
}

impl Call<'_> {
    fn contains_text(&self, text: &str) -> bool {
        match &self.wire {
            Wire::Raw(bytes) => String::from_utf8_lossy(bytes).contains(text),
            Wire::Http(request) => contains_text(request, text),
        }
    }
}

fn contains_text(request: &Outgoing, text: &str) -> bool {
    let mut headers = request.headers.iter();
    headers.any(|(_, value)| value.contains(text))
        || request.path.contains(text)
        || String::from_utf8_lossy(&request.body).contains(text)
}

/// Returns the resources that a request creates under the reproducer's prefix, in order of removal.
fn created_by(rule: &str, step: &Step, wire: &Wire, ns: &str) -> Vec<Resource> {
    let (Wire::Http(request), Some(document)) = (wire, Document::of(rule)) else {
        return Vec::new();
    };
    let body = json_body(step);
    match side_effects_of(document, request.method, &request.path, body, ns) {
        SideEffects::Own(resources) if request.method != "DELETE" => resources,
        _ => Vec::new(),
    }
}

/// Returns the name of the variable for the token of a role.
fn variable(role: &str) -> String {
    if role == "administrator" {
        return "CONFORMANCE_TOKEN".to_owned();
    }
    format!(
        "CONFORMANCE_TOKEN_{}",
        role.to_uppercase().replace('-', "_")
    )
}

fn delimited(name: &str) -> String {
    format!("{OPEN}{name}{CLOSE}")
}

/// Splits a string into literal parts and variables.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, name, after, encoded)) = next(rest) {
        if !before.is_empty() {
            parts.push(Part::Text(before));
        }
        parts.push(if encoded {
            Part::Encoded(name)
        } else {
            Part::Variable(name)
        });
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

/// Finds the first variable of a string: prefix, name, rest, and whether its value is encoded.
fn next(text: &str) -> Option<(&str, &str, &str, bool)> {
    let unencoded = text.split_once(OPEN).and_then(|(before, rest)| {
        let (name, after) = rest.split_once(CLOSE)?;
        Some((before, name, after, false))
    });
    let encoded = text.split_once(OPEN_ENCODED).and_then(|(before, rest)| {
        let (name, after) = rest.split_once(CLOSE_ENCODED)?;
        Some((before, name, after, true))
    });
    match (unencoded, encoded) {
        (Some(unencoded), Some(encoded)) if encoded.0.len() < unencoded.0.len() => Some(encoded),
        (unencoded, encoded) => unencoded.or(encoded),
    }
}

/// Splits a JSON pointer into segments; a segment of digits is an index.
pub(super) fn segments(pointer: &str) -> Vec<Value> {
    let segments = pointer.split('/').skip(1);
    segments
        .map(|segment| match segment.parse::<usize>() {
            Ok(index) => Value::from(index),
            Err(_) => Value::from(segment.replace("~1", "/").replace("~0", "~")),
        })
        .collect()
}

/// Quotes a string as one shell word. `printf` generates invisible characters, and those that a
/// program reading the line would execute as a command, from their bytes.
pub(super) fn quoted(text: &str) -> String {
    let mut word = String::new();
    for part in visible::parts(text) {
        match part {
            Ok(text) => word.push_str(&format!("'{}'", text.replace('\'', "'\\''"))),
            Err(character) => {
                let mut bytes = [0; 4];
                let bytes = character.encode_utf8(&mut bytes).bytes();
                let octal: String = bytes.map(|byte| format!("\\{byte:03o}")).collect();
                word.push_str(&format!("\"$(printf '{octal}')\""));
            }
        }
    }
    match word.is_empty() {
        true => "''".to_owned(),
        false => word,
    }
}

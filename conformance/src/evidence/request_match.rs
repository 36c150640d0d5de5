//! Matching of recorded requests with the steps of scenarios.

use std::collections::BTreeSet;

use super::{Event, Exchange, Payload, SentRequest};
use crate::http_client::Base;
use crate::http_client::curl::RAW;
use crate::http_client::redact::{REDACTED, Redactor, is_redacted};
use crate::http_client::wire::{Outgoing, Wire};

/// Identity in the evidence of requests to the fixture server.
const MOCK: &str = "suite";
/// Identity in the evidence of requests without a token.
const ANONYMOUS: &str = "anonymous";
const AUTHORIZATION: &str = "authorization";

/// Secrets of a run that its evidence shows only in redacted form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets {
    /// Lower-case names of the user's own headers: every request has them, with redacted values.
    headers: BTreeSet<String>,
    /// Whether any request had a token or one of these headers.
    sent: bool,
}

/// Result of comparing a recorded request with a sent one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestMatch {
    /// The same request; contains the address that it was sent to.
    Same(String),
    /// Another request.
    Other,
    /// A request that cannot have been sent; contains the reason.
    Untrue(String),
}

impl Secrets {
    /// Collects the secrets in the events of a run.
    pub(crate) fn of(events: &[Event]) -> Self {
        Self::of_exchanges(events.iter().filter_map(|event| match event {
            Event::Exchange(exchange) => Some(&**exchange),
            _ => None,
        }))
    }

    /// Collects the secrets in exchanges.
    pub(crate) fn of_exchanges<'a>(exchanges: impl IntoIterator<Item = &'a Exchange>) -> Self {
        let mut headers: Option<BTreeSet<String>> = None;
        let mut token = false;
        for exchange in exchanges {
            if exchange.identity == MOCK || exchange.request.method == RAW {
                continue;
            }
            let all = exchange.request.headers.iter();
            let redacted = all.filter(|(_, value)| is_redacted_value(value));
            let names: BTreeSet<String> = redacted
                .map(|(name, _)| name.to_ascii_lowercase())
                .collect();
            token |= names.contains(AUTHORIZATION);
            headers = Some(match headers {
                Some(known) => known.intersection(&names).cloned().collect(),
                None => names,
            });
        }
        let mut headers = headers.unwrap_or_default();
        headers.remove(AUTHORIZATION);
        let sent = token || !headers.is_empty();
        Self { headers, sent }
    }

    fn has(&self, name: &str) -> bool {
        self.headers.contains(&name.to_ascii_lowercase())
    }

    /// Whether `recorded` may be the recorded form of `text`.
    fn matches(&self, recorded: &str, text: &str) -> bool {
        recorded == text || self.sent && is_redacted(recorded, text)
    }
}

/// Whether a credential is redacted, in full or after its authentication scheme.
fn is_redacted_value(value: &str) -> bool {
    let (scheme, rest) = value.split_once(' ').unwrap_or(("", value));
    rest == REDACTED
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Compares a recorded request of this identity with a sent one.
pub(super) fn compare(
    recorded: &SentRequest,
    identity: &str,
    wire: &Wire,
    secrets: &Secrets,
) -> RequestMatch {
    let (base, parts) = match wire {
        Wire::Raw(bytes) if recorded.method == RAW => {
            (recorded.url.clone(), raw(recorded, bytes, secrets))
        }
        Wire::Http(request) if recorded.method == request.method => {
            let Some(base) = base(&recorded.url, &request.path, secrets) else {
                return RequestMatch::Other;
            };
            let body = payload(&recorded.body, &request.body, secrets);
            (
                base,
                body.and_then(|()| headers(recorded, identity, request, secrets)),
            )
        }
        _ => return RequestMatch::Other,
    };
    match parts {
        // A query in the address would absorb the path.
        Ok(()) if !Base::parse(&base).is_ok_and(|known| known.url == base) => RequestMatch::Untrue(
            format!("invalid address `{base}`: expected that of a server"),
        ),
        Ok(()) => RequestMatch::Same(base),
        Err(Differs::Other) => RequestMatch::Other,
        Err(Differs::Redacted(what)) => {
            RequestMatch::Untrue(format!("{what} is redacted where no token was sent"))
        }
    }
}

/// How a recorded header, path or body differs from the sent one.
enum Differs {
    Other,
    /// The recorded value is redacted where it cannot be; contains a description of the value.
    Redacted(String),
}

impl Differs {
    fn of(recorded: &str, what: &str) -> Self {
        match recorded.contains(REDACTED) {
            true => Self::Redacted(what.to_owned()),
            false => Self::Other,
        }
    }
}

/// Returns the part of a recorded URL before this path; none if the URL does not end with it.
fn base(url: &str, path: &str, secrets: &Secrets) -> Option<String> {
    if let Some(base) = url.strip_suffix(path) {
        return Some(base.to_owned());
    }
    // Scheme and authority are the first three parts.
    let (start, _) = url.match_indices('/').nth(2)?;
    let (base, recorded) = url.split_at_checked(start)?;
    secrets.matches(recorded, path).then(|| base.to_owned())
}

fn payload(recorded: &Payload, sent: &[u8], secrets: &Secrets) -> Result<(), Differs> {
    if recorded.is_of(sent) {
        return Ok(());
    }
    let recorded_text = recorded.bytes();
    let recorded_text = String::from_utf8_lossy(&recorded_text);
    match std::str::from_utf8(sent) {
        Ok(text) if !recorded.is_cut() && secrets.matches(&recorded_text, text) => Ok(()),
        _ => Err(Differs::of(&recorded_text, "a body")),
    }
}

/// Checks that all headers of the sent request are recorded, and no others but the user's and a
/// token.
fn headers(
    recorded: &SentRequest,
    identity: &str,
    request: &Outgoing,
    secrets: &Secrets,
) -> Result<(), Differs> {
    let redactor = Redactor::default();
    let mut remaining: Vec<&(String, String)> = recorded.headers.iter().collect();
    for (name, value) in &request.headers {
        let expected = redactor.header_value(name, value);
        let is_recorded = |(known, recorded_value): &&(String, String)| {
            let redacted = recorded_value == REDACTED && secrets.has(name);
            known == name && (redacted || secrets.matches(recorded_value, &expected))
        };
        if let Some(index) = remaining.iter().position(is_recorded) {
            remaining.swap_remove(index);
            continue;
        }
        let recorded_value = remaining.iter().find(|(known, _)| known == name);
        let recorded_value = recorded_value.map_or("", |(_, recorded_value)| recorded_value);
        return Err(Differs::of(recorded_value, &format!("the header `{name}`")));
    }
    for (name, recorded_value) in remaining {
        let token = name.eq_ignore_ascii_case(AUTHORIZATION) && identity != ANONYMOUS;
        let custom = secrets.has(name) && identity != MOCK;
        if !(token || custom) || !is_redacted_value(recorded_value) {
            return Err(Differs::of(recorded_value, &format!("the header `{name}`")));
        }
    }
    Ok(())
}

/// Compares the bytes of a raw request, except for the headers that only the user knows.
fn raw(recorded: &SentRequest, sent: &[u8], secrets: &Secrets) -> Result<(), Differs> {
    let without = |bytes: &[u8], drops: &dyn Fn(&str, &str) -> bool| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let lines = head.split("\r\n").filter(|line| {
            let header = line.split_once(": ");
            !header.is_some_and(|(name, value)| drops(name, value))
        });
        let lines: Vec<&str> = lines.collect();
        (lines.join("\r\n"), body.to_owned())
    };
    let is_token = |name: &str| name.eq_ignore_ascii_case(AUTHORIZATION);
    let recorded_parts = without(&recorded.body.bytes(), &|name, value| {
        (is_token(name) || secrets.has(name)) && is_redacted_value(value)
    });
    let sent = without(sent, &|name, _| is_token(name));
    match recorded.body.is_cut() || recorded_parts != sent {
        true => Err(Differs::of(
            &format!("{}{}", recorded_parts.0, recorded_parts.1),
            "a request",
        )),
        false => Ok(()),
    }
}

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
            let redacted = all.filter(|(_, value)| is_shown_redacted(value));
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

    /// Whether `shown` may be the recorded form of `text`.
    fn shows(&self, shown: &str, text: &str) -> bool {
        shown == text || self.sent && is_redacted(shown, text)
    }
}

/// Whether a credential is redacted, in full or after its authentication scheme.
fn is_shown_redacted(value: &str) -> bool {
    let (scheme, rest) = value.split_once(' ').unwrap_or(("", value));
    rest == REDACTED
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Compares a recorded request of this identity with a sent one.
pub(super) fn compare(
    told: &SentRequest,
    identity: &str,
    wire: &Wire,
    secrets: &Secrets,
) -> RequestMatch {
    let (base, parts) = match wire {
        Wire::Raw(bytes) if told.method == RAW => (told.url.clone(), raw(told, bytes, secrets)),
        Wire::Http(request) if told.method == request.method => {
            let Some(base) = base(&told.url, &request.path, secrets) else {
                return RequestMatch::Other;
            };
            let body = payload(&told.body, &request.body, secrets);
            (
                base,
                body.and_then(|()| headers(told, identity, request, secrets)),
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
    fn of(shown: &str, what: &str) -> Self {
        match shown.contains(REDACTED) {
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
    let (base, shown) = url.split_at_checked(start)?;
    secrets.shows(shown, path).then(|| base.to_owned())
}

fn payload(told: &Payload, sent: &[u8], secrets: &Secrets) -> Result<(), Differs> {
    if told.is_of(sent) {
        return Ok(());
    }
    let shown = told.bytes();
    let shown = String::from_utf8_lossy(&shown);
    match std::str::from_utf8(sent) {
        Ok(text) if !told.is_cut() && secrets.shows(&shown, text) => Ok(()),
        _ => Err(Differs::of(&shown, "a body")),
    }
}

/// Checks that all headers of the sent request are recorded, and no others but the user's and a
/// token.
fn headers(
    told: &SentRequest,
    identity: &str,
    request: &Outgoing,
    secrets: &Secrets,
) -> Result<(), Differs> {
    let plain = Redactor::default();
    let mut left: Vec<&(String, String)> = told.headers.iter().collect();
    for (name, value) in &request.headers {
        let expected = plain.header_value(name, value);
        let is_told = |(known, shown): &&(String, String)| {
            let redacted = shown == REDACTED && secrets.has(name);
            known == name && (redacted || secrets.shows(shown, &expected))
        };
        if let Some(place) = left.iter().position(is_told) {
            left.swap_remove(place);
            continue;
        }
        let shown = left.iter().find(|(known, _)| known == name);
        let shown = shown.map_or("", |(_, shown)| shown);
        return Err(Differs::of(shown, &format!("the header `{name}`")));
    }
    for (name, shown) in left {
        let token = name.eq_ignore_ascii_case(AUTHORIZATION) && identity != ANONYMOUS;
        let own = secrets.has(name) && identity != MOCK;
        if !(token || own) || !is_shown_redacted(shown) {
            return Err(Differs::of(shown, &format!("the header `{name}`")));
        }
    }
    Ok(())
}

/// Compares the bytes of a raw request, except for the headers that only the user knows.
fn raw(told: &SentRequest, sent: &[u8], secrets: &Secrets) -> Result<(), Differs> {
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
    let shown = without(&told.body.bytes(), &|name, value| {
        (is_token(name) || secrets.has(name)) && is_shown_redacted(value)
    });
    let sent = without(sent, &|name, _| is_token(name));
    match told.body.is_cut() || shown != sent {
        true => Err(Differs::of(&format!("{}{}", shown.0, shown.1), "a request")),
        false => Ok(()),
    }
}

//! Rebuilds a recorded request.

use std::borrow::Cow;

use bytes::Bytes;

use super::recorded::RecordedRule;
use super::substitute::Substitutions;
use crate::catalogue::Document;
use crate::evidence::{Exchange, Payload};
use crate::http_client::Base;
use crate::http_client::redact::REDACTED;
use crate::http_client::wire::{Wire, request_line};
use crate::run::side_effects::{SideEffects, side_effects_of};
use crate::scenario::Identity;
use crate::target::server::Server;

/// Error for a request whose credential is not a token of the target.
const NO_CREDENTIAL: &str = "the evidence does not hold the credential of its request, and this \
    suite does not know the step";

/// Builds the requests of one rule for one server.
#[derive(Debug)]
pub(super) struct RequestBuilder<'a> {
    pub(super) recorded: &'a RecordedRule<'a>,
    pub(super) document: Document,
    pub(super) server: &'a Server,
    /// The vendor part of the target's media types.
    pub(super) vendor: &'a str,
    pub(super) ns: &'a str,
}

impl<'a> RequestBuilder<'a> {
    /// Returns the API and base address that a request is sent to.
    pub(super) fn recipient(&self, exchange: &Exchange) -> (Option<Document>, &'a Base) {
        match (exchange.identity.as_str(), &self.server.mock) {
            ("suite", Some(mock)) => (None, mock),
            ("engine", _) => (Some(Document::Engine), &self.server.engine().base),
            _ => (Some(self.document), &self.server.base),
        }
    }

    /// Returns the side effects of a request.
    pub(super) fn side_effects(&self, document: Document, wire: &Wire) -> SideEffects {
        let (method, path, body) = match wire {
            Wire::Raw(bytes) => {
                let (method, path) = request_line(bytes);
                (method, path, None)
            }
            Wire::Http(request) => (
                request.method.to_owned(),
                request.path.clone(),
                serde_json::from_slice(&request.body).ok(),
            ),
        };
        side_effects_of(document, &method, &path, body.as_ref(), self.ns)
    }

    /// Builds the request with substitutions.
    ///
    /// # Errors
    /// A message that names the part that the evidence does not contain.
    pub(super) fn wire(
        &self,
        exchange: &Exchange,
        substitutions: &Substitutions,
    ) -> Result<Wire, String> {
        if exchange.request.body.is_cut() {
            return Err("the evidence holds only the start of its body".to_owned());
        }
        let authorization = self.authorization(exchange)?;
        let key = authorization
            .as_deref()
            .and_then(|value| value.split_once(' '));
        let key = key.map(|(_, key)| key);
        let mut request = match exchange.request.to_wire() {
            Wire::Raw(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| "expected UTF-8".to_owned())?;
                let text = reveal_token(&substitutions.text(&text), key)?.into_owned();
                return Ok(Wire::Raw(text.into_bytes()));
            }
            Wire::Http(request) => request,
        };
        if request.method.is_empty() {
            return Err(format!(
                "no scenario sends the method `{}`",
                exchange.request.method
            ));
        }
        request.path = reveal_token(&substitutions.path(&self.path(exchange)), key)?.into_owned();
        let [old, new] = [&self.recorded.started.target.vendor, self.vendor]
            .map(|vendor| format!("/vnd.{vendor}."));
        let mut headers: Vec<_> = authorization
            .clone()
            .map(|value| ("authorization".to_owned(), value))
            .into_iter()
            .collect();
        for (name, value) in request.headers {
            // A fully redacted value was the user's own header, which is added anyway.
            if !name.eq_ignore_ascii_case("authorization") && value != REDACTED {
                let value = substitutions.text(&value).replace(&old, &new);
                headers.push((name, reveal_token(&value, key)?.into_owned()));
            }
        }
        request.headers = headers;
        if let Payload::Text(text) = &exchange.request.body {
            let text = substitutions.text(text);
            request.body = Bytes::from(reveal_token(&text, key)?.into_owned());
        }
        Ok(Wire::Http(request))
    }

    /// Returns path and query of a request, below the base address of the earlier run.
    fn path(&self, exchange: &Exchange) -> String {
        let url = &exchange.request.url;
        let started = &self.recorded.started;
        let addresses = match started.part(&exchange.rule) {
            Some((_, part)) => [&part.engine, &part.control],
            None => [&started.target.engine, &started.target.control],
        };
        let mut known = addresses.into_iter().flatten();
        let relative_path = known.find_map(|base| url.strip_prefix(base.trim_end_matches('/')));
        match relative_path {
            Some(path) => path.to_owned(),
            None => {
                let path = url.splitn(4, '/').nth(3).unwrap_or_default();
                format!("/{path}")
            }
        }
    }

    /// Returns the Authorization header of the request's identity, with the token of this target.
    fn authorization(&self, exchange: &Exchange) -> Result<Option<String>, String> {
        let server = match exchange.identity.as_str() {
            "engine" => self.server.engine(),
            _ => self.server,
        };
        let no_token = |role: &str| format!("the target has no token for `{role}`");
        match exchange.identity.as_str() {
            "anonymous" | "suite" => Ok(None),
            "administrator" | "engine" => server
                .authorization(&Identity::Administrator)
                .map_err(|role| no_token(&role)),
            "authorization" => match self.recorded.step(exchange).map(|step| &step.identity) {
                Some(Identity::Authorization(value)) => {
                    let key = server.administrator_key();
                    Ok(Some(value.replace("{token}", key).replace("{ns}", self.ns)))
                }
                _ => Err(NO_CREDENTIAL.to_owned()),
            },
            role => match server.bearer(role) {
                Some(value) => Ok(Some(value)),
                None => Err(no_token(role)),
            },
        }
    }
}

/// Restores the redacted token in a string: each identity had only one.
fn reveal_token<'a>(text: &'a str, key: Option<&str>) -> Result<Cow<'a, str>, String> {
    match key {
        _ if !text.contains(REDACTED) => Ok(Cow::Borrowed(text)),
        Some(key) => Ok(Cow::Owned(text.replace(REDACTED, key))),
        None => Err("the evidence does not hold a secret that it sent".to_owned()),
    }
}

//! Alterations: changes of the exchanges that meet conditions.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::RequestContext;
use super::matcher::{AnswerCondition, Endpoint, ObservedRequest, Recipient, RequestCondition};
use super::operations::request::{self, RequestChange};
use super::operations::response::{self, AnswerChange, Reply};
use crate::http_client::answer::{Answer, NoAnswer};
use crate::http_client::wire::Wire;

/// A change of some requests or their responses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Alteration {
    /// Matching endpoints. Parsed before the other fields, because the default recipient depends on
    /// the file.
    #[serde(skip)]
    on: Vec<Endpoint>,
    #[serde(default)]
    asked: RequestCondition,
    #[serde(default)]
    answered: AnswerCondition,
    #[serde(default)]
    pub(super) request: Vec<RequestChange>,
    reply: Option<Reply>,
    #[serde(default)]
    pub(super) answer: Vec<AnswerChange>,
    /// Additional delay of the response, in milliseconds.
    #[serde(default)]
    delay: u64,
}

impl Alteration {
    /// Parses an alteration; `api` is the recipient if `on` names none.
    ///
    /// # Errors
    /// An unknown key, a bad pattern, a reply combined with other changes, or nothing to change.
    pub(crate) fn read(fields: Map<String, Value>, api: Option<Recipient>) -> Result<Self, String> {
        let alteration = Self::read_idle(fields, api)?;
        match alteration.acts_at_once() || !alteration.answer.is_empty() {
            true => Ok(alteration),
            false => Err("no effect: expected at least one change, a reply or a delay".to_owned()),
        }
    }

    /// Parses an alteration that may change nothing, because it only selects exchanges for another
    /// action.
    ///
    /// # Errors
    /// An unknown key, a bad pattern, or a reply combined with other changes.
    pub(crate) fn read_idle(
        mut fields: Map<String, Value>,
        api: Option<Recipient>,
    ) -> Result<Self, String> {
        let invalid = |error: serde_json::Error| error.to_string();
        let on: Vec<String> = match fields.remove("on").ok_or("missing field `on`")? {
            Value::String(pattern) => vec![pattern],
            patterns => serde_json::from_value(patterns).map_err(invalid)?,
        };
        let on = on.iter().map(|text| Endpoint::parse(text, api));
        let on = on.collect::<Result<_, _>>()?;
        let is_answered = fields.contains_key("answered");
        let alteration: Self = serde_json::from_value(Value::Object(fields)).map_err(invalid)?;
        let is_idle = alteration.request.is_empty() && alteration.answer.is_empty() && !is_answered;
        if alteration.reply.is_some() && !is_idle {
            return Err(
                "`reply` replaces the server's response, so it cannot be combined with other \
                 changes"
                    .to_owned(),
            );
        }
        Ok(Self { on, ..alteration })
    }

    /// Whether the alteration matches this request.
    pub(crate) fn touches(&self, recipient: Recipient, request: &ObservedRequest<'_>) -> bool {
        self.on.iter().any(|on| on.matches(recipient, request)) && self.asked.matches(request)
    }

    /// Whether the alteration acts on a matching request before the response is known.
    pub(crate) fn acts_at_once(&self) -> bool {
        self.replies() || self.alters_request()
    }

    /// Whether the alteration applies to this response to a matching request.
    pub(crate) fn changes(&self, answer: &Answer) -> bool {
        self.answered.matches(answer)
    }

    /// Whether the alteration changes or delays a matching request.
    pub(crate) fn alters_request(&self) -> bool {
        !self.request.is_empty() || self.delay > 0
    }

    /// Whether the alteration responds in place of the server.
    pub(crate) fn replies(&self) -> bool {
        self.reply.is_some()
    }

    /// Applies the alterations that match a request to the server's response.
    pub(crate) fn answer<'a>(
        matching: impl Iterator<Item = &'a Self> + Clone,
        answer: Answer,
    ) -> Answer {
        if let Some(reply) = matching
            .clone()
            .find_map(|alteration| alteration.reply.as_ref())
        {
            return reply.answer();
        }
        let changing = matching.filter(|alteration| !alteration.answer.is_empty());
        changing.fold(answer, |answer, alteration| {
            match alteration.changes(&answer) {
                true => response::changed(&answer, &alteration.answer),
                false => answer,
            }
        })
    }
}

/// Sends a request to the server, unless an alteration replies in its place, and returns the
/// altered response. The original request decides which alterations match. Each changes the
/// response that the one before returned.
pub(crate) async fn carry<'a>(
    alterations: impl IntoIterator<Item = &'a Alteration>,
    context: RequestContext<'_>,
    wire: &Wire,
) -> Result<Answer, NoAnswer> {
    let matching: Vec<&Alteration> = {
        let observed = ObservedRequest::of(wire, context.who);
        let is_match = |alteration: &&Alteration| alteration.touches(context.recipient, &observed);
        alterations.into_iter().filter(is_match).collect()
    };
    let delays = matching
        .iter()
        .map(|alteration| Duration::from_millis(alteration.delay));
    let delay: Duration = delays.sum();
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    if let Some(reply) = matching
        .iter()
        .find_map(|alteration| alteration.reply.as_ref())
    {
        return Ok(reply.answer());
    }
    let changes = matching.iter().flat_map(|alteration| &alteration.request);
    let altered = match wire {
        _ if changes.clone().next().is_none() => None,
        Wire::Http(sent) => {
            let sent = request::changed(sent, changes, context.administrator);
            Some(Wire::Http(sent))
        }
        Wire::Raw(bytes) => Some(Wire::Raw(request::changed_raw(bytes, changes))),
    };
    let sent = altered.as_ref().unwrap_or(wire);
    let answer = context.client.carry(context.base, sent).await?;
    Ok(Alteration::answer(matching.into_iter(), answer))
}

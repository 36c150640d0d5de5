//! Alterations: conditions on exchanges, and changes of them.

use std::collections::BTreeMap;
use std::time::Duration;

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::RequestContext;
use super::change::{self, AnswerChange, Reply, RequestChange};
use super::select::{AnswerCondition, ObservedRequest, On, Recipient, RequestCondition};
use crate::http_client::answer::{Answer, NoAnswer};
use crate::http_client::wire::Wire;

/// A change of some requests or their responses.
#[derive(Debug)]
pub(crate) struct Alteration {
    on: Vec<On>,
    asked: RequestCondition,
    answered: AnswerCondition,
    pub(super) request: Vec<RequestChange>,
    reply: Option<Reply>,
    pub(super) answer: Vec<AnswerChange>,
    /// Additional delay of the response.
    delay: Duration,
}

/// An alteration as in its file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct AlterationFile {
    on: OneOrMany,
    #[serde(default)]
    asked: RequestCondition,
    #[serde(default)]
    answered: AnswerCondition,
    #[serde(default)]
    request: Vec<RequestChange>,
    reply: Option<Reply>,
    #[serde(default)]
    answer: Vec<AnswerChange>,
    /// In milliseconds.
    #[serde(default)]
    delay: u64,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Alteration {
    /// Reads an alteration; `api` is the recipient if `on` names none.
    ///
    /// # Errors
    /// An unknown key, a bad pattern, or nothing to change.
    pub(crate) fn read(
        written: Map<String, Value>,
        api: Option<Recipient>,
    ) -> Result<Self, String> {
        let read = Self::read_idle(written, api)?;
        match read.acts_at_once() || !read.answer.is_empty() {
            true => Ok(read),
            false => Err("it does nothing".to_owned()),
        }
    }

    /// Reads an alteration that may change nothing itself: it selects exchanges for another action.
    ///
    /// # Errors
    /// An unknown key, a bad pattern.
    pub(crate) fn read_idle(
        written: Map<String, Value>,
        api: Option<Recipient>,
    ) -> Result<Self, String> {
        let written: AlterationFile = serde_json::from_value(Value::Object(written))
            .map_err(|error: serde_json::Error| error.to_string())?;
        let idle = written.request.is_empty() && written.answer.is_empty();
        if written.reply.is_some() && !(idle && written.answered == AnswerCondition::default()) {
            return Err("with a reply the server is not asked, so nothing else can be".to_owned());
        }
        let on = match written.on {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        };
        Ok(Self {
            on: on
                .iter()
                .map(|text| On::parse(text, api))
                .collect::<Result<_, _>>()?,
            asked: written.asked,
            answered: written.answered,
            request: written.request,
            reply: written.reply,
            answer: written.answer,
            delay: Duration::from_millis(written.delay),
        })
    }

    /// Whether it matches this request.
    pub(crate) fn touches(&self, recipient: Recipient, seen: &ObservedRequest<'_>) -> bool {
        self.on.iter().any(|on| on.fits(recipient, seen)) && self.asked.fits(seen)
    }

    /// Whether it acts on a matching request before the response is known.
    pub(crate) fn acts_at_once(&self) -> bool {
        self.reply.is_some() || !self.request.is_empty() || !self.delay.is_zero()
    }

    /// Whether it changes this response to a matching request.
    pub(crate) fn changes(&self, answer: &Answer) -> bool {
        self.answered.fits(answer)
    }

    /// Whether the request is changed or delayed.
    pub(crate) fn alters_request(&self) -> bool {
        !self.request.is_empty() || !self.delay.is_zero()
    }

    /// Whether it responds in place of the server.
    pub(crate) fn replies(&self) -> bool {
        self.reply.is_some()
    }

    /// Applies the alterations that match a request to the server's response.
    pub(crate) fn answer<'a>(
        touching: impl Iterator<Item = &'a Self> + Clone,
        answer: Answer,
    ) -> Answer {
        if let Some(reply) = touching.clone().find_map(|one| one.reply.as_ref()) {
            return reply.answer();
        }
        let back = touching.filter(|one| !one.answer.is_empty());
        back.fold(answer, |answer, one| one.changed(answer))
    }

    fn changed(&self, answer: Answer) -> Answer {
        match self.changes(&answer) {
            true => change::answer(&answer, &self.answer),
            false => answer,
        }
    }
}

/// Sends a request to the server and returns its response, altered on the way. The original request
/// decides which alterations match; on the way back, each changes the result of the one before.
pub(crate) async fn carry<'a>(
    alterations: impl IntoIterator<Item = &'a Alteration>,
    context: RequestContext<'_>,
    wire: &Wire,
) -> Result<Answer, NoAnswer> {
    let touching: Vec<&Alteration> = {
        let seen = ObservedRequest::of(wire, context.who);
        let touches = |one: &&Alteration| one.touches(context.recipient, &seen);
        alterations.into_iter().filter(touches).collect()
    };
    let delay: Duration = touching.iter().map(|one| one.delay).sum();
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    if let Some(reply) = touching.iter().find_map(|one| one.reply.as_ref()) {
        return Ok(reply.answer());
    }
    let changes = touching.iter().flat_map(|one| &one.request);
    let answer = match wire {
        wire if changes.clone().next().is_none() => {
            context.client.carry(context.base, wire).await?
        }
        Wire::Http(request) => {
            let sent = change::request(request, changes, context.administrator);
            context
                .client
                .carry(context.base, &Wire::Http(sent))
                .await?
        }
        Wire::Raw(bytes) => {
            let sent = change::raw_request(bytes, changes);
            context.client.carry(context.base, &Wire::Raw(sent)).await?
        }
    };
    Ok(Alteration::answer(touching.into_iter(), answer))
}

/// Glob over strings: `*` matches anything.
#[derive(Debug, Clone)]
pub(super) struct Glob(GlobMatcher);

impl Glob {
    /// # Errors
    /// The string is not a valid glob.
    pub(super) fn parse(text: &str, across: bool) -> Result<Self, String> {
        let glob = GlobBuilder::new(text).literal_separator(!across).build();
        glob.map(|glob| Self(glob.compile_matcher()))
            .map_err(|error| format!("invalid glob `{text}`: {}", error.kind()))
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.0.glob() == other.0.glob()
    }
}

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text, true).map_err(serde::de::Error::custom)
    }
}

/// Values by JSON pointer.
pub(super) type Places = BTreeMap<String, Value>;

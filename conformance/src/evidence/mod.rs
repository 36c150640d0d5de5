//! Evidence: the events of a run. Reports read only events, so that stored runs can be reported
//! again without traffic.

mod base64_text;
pub(crate) mod curl;
mod merged;
mod payload;
pub(crate) mod recording;
mod redact;
pub(crate) mod request_match;
pub(crate) mod sequence;
mod texts;
mod title;

use std::borrow::Cow;

pub use base64_text::Base64Text;
use chrono::{SecondsFormat, Utc};
pub use merged::MergedRun;
pub(crate) use merged::merge;
pub use payload::{Payload, TruncatedBody};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

use crate::catalogue::{Catalogue, Level, Profile};
use crate::http_client::curl::RAW;
use crate::http_client::wire::{Outgoing, Wire};
use crate::judge::verdict::Verdict;
use crate::scenario::default_vendor;
use crate::scenario::resource_names::run_in;
use crate::visible;

/// One event of a run; one line of the evidence file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", try_from = "Value")]
#[non_exhaustive]
pub enum Event {
    /// First event: the chosen rules and the target.
    RunStarted(Box<RunStarted>),
    /// A request and its response.
    Exchange(Box<Exchange>),
    /// The verdict on one clause.
    Judged(Box<ClauseVerdict>),
    /// Resources of the run that were still there after it.
    Leaked(Leaked),
    /// Changes of the target's content between the start and the end of the run.
    Changed(SideEffect),
    /// Defect of the suite itself.
    Defect(Defect),
    /// Last event.
    RunFinished(RunFinished),
}

/// Chosen rules and target of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Short random name of the run; the prefix of every resource it creates.
    pub run: String,
    /// Version of the suite.
    pub suite: String,
    /// Start time in UTC as in RFC 3339; missing in older evidence.
    #[serde(
        default,
        deserialize_with = "texts::time",
        skip_serializing_if = "Option::is_none"
    )]
    pub at: Option<String>,
    /// The target.
    pub target: TargetSummary,
    /// Seed of the order of rules; the same seed results in the same order.
    pub seed: u64,
    /// The profile that the target is judged by, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileRef>,
    /// Every clause of the choice, in the order of the documents.
    pub chosen: Vec<ChosenRule>,
    /// The runs that this run is merged from; empty for evidence of one run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<MergedRun>,
}

/// Current time in the format of evidence, to the second.
pub(crate) fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Reference to a profile in evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRef {
    /// Name of the profile.
    pub name: String,
    /// Edition of the profile.
    pub edition: String,
    /// SHA-256 of all profiles of the edition, in hexadecimal.
    pub frozen: String,
}

impl ProfileRef {
    /// Looks up the profile; `None` if this program lacks it or has another version of it.
    pub fn known(&self) -> Option<&'static Profile> {
        let mut known = Catalogue::embedded().ok()?.profiles().iter();
        known.find(|known| Self::from(*known) == *self)
    }
}

impl From<&Profile> for ProfileRef {
    fn from(profile: &Profile) -> Self {
        Self {
            name: profile.name.clone(),
            edition: profile.edition.clone(),
            frozen: profile.frozen.clone(),
        }
    }
}

/// The target as named in reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetSummary {
    /// Name of the target: `reference`, `opa`, or `custom` if only addresses are given.
    pub name: String,
    /// Vendor part of the target's media types.
    #[serde(default = "default_vendor")]
    pub vendor: String,
    /// Address of the control plane, if known before the start.
    pub control: Option<String>,
    /// Address of the engine, if known before the start.
    pub engine: Option<String>,
    /// Capabilities that the target claims.
    pub capabilities: Vec<String>,
    /// Capabilities that the target does not claim because no probe of it showed them. Their rules
    /// are not tested, so that the run cannot conclude that the target conforms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undetected: Vec<String>,
    /// Version of the target, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Product name that a target of plain addresses reports, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Whether the target is only reached by address, so that rules that need a setup or a token of
    /// their own cannot be judged.
    #[serde(
        default,
        rename = "by-address",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub by_address: bool,
}

/// A clause of the choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChosenRule {
    /// Rule id.
    #[serde(deserialize_with = "texts::rule")]
    pub rule: String,
    /// Level of the clause: how binding it is.
    pub level: Level,
    /// Name of the setup that the rule's scenario needs; none without a scenario.
    pub setup: Option<String>,
}

/// A request and its response. Tokens are redacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// Rule id.
    pub rule: String,
    /// Number of the scenario's step, from 1; 0 for cleanup.
    pub step: usize,
    /// Identity: `administrator`, `viewer`, `anonymous`, …; `suite` for the fixture server.
    pub identity: String,
    /// The request as sent.
    pub request: SentRequest,
    /// The response; none if nothing was received.
    pub response: Option<ReceivedResponse>,
    /// Why no response was received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Duration of the exchange in milliseconds.
    #[serde(deserialize_with = "duration")]
    pub milliseconds: f64,
}

/// The request as sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentRequest {
    /// The HTTP method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// Headers in order.
    pub headers: Vec<(String, String)>,
    /// The body, or for a raw request all bytes sent to the socket.
    pub body: Payload,
}

/// The response as received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceivedResponse {
    /// Status code.
    pub status: u16,
    /// Headers in order.
    pub headers: Vec<(String, String)>,
    /// The body as received (still encoded, if it was).
    pub body: Payload,
}

impl SentRequest {
    /// The request as it goes on the wire.
    pub(crate) fn to_wire(&self) -> Wire {
        let body = self.body.bytes();
        if self.method == RAW {
            return Wire::Raw(body);
        }
        // Scheme and authority precede the path.
        let path = self.url.splitn(4, '/').nth(3).unwrap_or_default();
        Wire::Http(Outgoing {
            method: known_method(&self.method),
            path: format!("/{path}"),
            headers: self.headers.clone(),
            body: body.into(),
        })
    }
}

/// Returns a method's name as a constant; empty for methods that no scenario sends.
fn known_method(name: &str) -> &'static str {
    let known = [
        "GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PURGE",
    ];
    known.into_iter().find(|known| *known == name).unwrap_or("")
}

/// The verdict on one clause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClauseVerdict {
    /// Rule id.
    #[serde(deserialize_with = "texts::rule")]
    pub rule: String,
    /// Level of the clause: how binding it is.
    pub level: Level,
    /// Section of the document that states the clause.
    pub section: String,
    /// Statement of the clause.
    pub states: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Duration of the rule's scenario in milliseconds.
    #[serde(deserialize_with = "duration")]
    pub milliseconds: f64,
    /// Transcript of the scenario; empty when nothing was run.
    pub transcript: String,
}

/// Resources of the run that were still there after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaked {
    /// Paths of the resources.
    pub names: Vec<String>,
}

/// Changes of the target's content between the start and the end of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideEffect {
    /// Sentences, each with the path of a removed, added or changed resource.
    pub what: Vec<String>,
}

/// Defect of the suite: a scenario that breaks the suite's rules, or a request that breaks the
/// documented contract without declaring it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defect {
    /// Rule id.
    pub rule: String,
    /// Description of the defect.
    pub what: String,
}

/// End of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFinished {
    /// The run's name.
    pub run: String,
    /// Duration of the run in milliseconds.
    #[serde(deserialize_with = "duration")]
    pub milliseconds: f64,
    /// Number of requests sent by scenarios.
    pub requests: u64,
    /// Whether the user stopped the run.
    pub interrupted: bool,
    /// Why judging the target was aborted; none if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
    /// Sentences on content of the target that was not compared before and after the run: lists
    /// that do not end.
    #[serde(
        default,
        rename = "not-compared",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub not_compared: Vec<String>,
}

/// Returns the name of the run that sent these requests for a rule, as found in the resource names
/// of the requests; merged evidence has several runs.
pub(crate) fn run_of<'a>(
    exchanges: impl IntoIterator<Item = &'a Exchange>,
    rule: &str,
) -> Option<&'a str> {
    exchanges.into_iter().find_map(|exchange| {
        let SentRequest { url, body, .. } = &exchange.request;
        run_in(url, rule).or_else(|| match body {
            Payload::Text(text) => run_in(text, rule),
            Payload::Empty | Payload::Base64(_) | Payload::Cut(_) => None,
        })
    })
}

/// Deserializes a duration that JSON can represent: an infinite one would be written as null.
fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if number.is_finite() && number >= 0.0 {
        return Ok(number);
    }
    Err(D::Error::custom(
        "invalid time: expected milliseconds, 0 or more",
    ))
}

/// By hand, because an internally tagged enum cannot read numbers that preserve their source text.
impl Event {
    /// Serializes the event as a line of evidence, without line end.
    ///
    /// # Errors
    /// The event cannot be serialized.
    pub fn line(&self) -> serde_json::Result<String> {
        Ok(visible::json(&serde_json::to_string(self)?))
    }

    /// Parses an event from a line of evidence. Unknown members are ignored.
    ///
    /// # Errors
    /// The line is not an event.
    pub fn read(line: &str) -> serde_json::Result<Self> {
        // The tag is parsed to the end of the line, so that nothing follows the event.
        let tag: Tag<'_> = serde_json::from_str(line)?;
        Self::tagged(&tag.event, &mut serde_json::Deserializer::from_str(line))
    }

    /// Deserializes the event that this tag names.
    fn tagged<'de, D: Deserializer<'de>>(tag: &str, reader: D) -> Result<Self, D::Error> {
        Ok(match tag {
            "run-started" => Self::RunStarted(Deserialize::deserialize(reader)?),
            "exchange" => Self::Exchange(Deserialize::deserialize(reader)?),
            "judged" => Self::Judged(Deserialize::deserialize(reader)?),
            "leaked" => Self::Leaked(Deserialize::deserialize(reader)?),
            "changed" => Self::Changed(Deserialize::deserialize(reader)?),
            "defect" => Self::Defect(Deserialize::deserialize(reader)?),
            "run-finished" => Self::RunFinished(Deserialize::deserialize(reader)?),
            other => return Err(D::Error::custom(format!("unknown event `{other}`"))),
        })
    }

    /// Number of items in the lists of the event.
    pub(crate) fn items(&self) -> usize {
        match self {
            Self::RunStarted(started) => {
                let parts: usize = started.parts.iter().map(|part| 1 + part.rules.len()).sum();
                started.chosen.len() + started.target.capabilities.len() + parts
            }
            Self::Exchange(exchange) => {
                let answered = exchange.response.as_ref();
                exchange.request.headers.len() + answered.map_or(0, |one| one.headers.len())
            }
            Self::Judged(judged) => match &judged.verdict {
                Verdict::Fail(failure) => {
                    failure.differences.len() + failure.curl.len() + failure.notes.len()
                }
                _ => 0,
            },
            Self::Leaked(leaked) => leaked.names.len(),
            Self::Changed(changed) => changed.what.len(),
            Self::RunFinished(finished) => finished.not_compared.len(),
            Self::Defect(_) => 0,
        }
    }
}

/// The member `event` of an event, which names the variant.
#[derive(Deserialize)]
struct Tag<'t> {
    #[serde(borrow)]
    event: Cow<'t, str>,
}

impl TryFrom<Value> for Event {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let tag = value
            .get("event")
            .and_then(Value::as_str)
            .ok_or_else(|| serde_json::Error::missing_field("event"))?
            .to_owned();
        Self::tagged(&tag, value)
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::judge::verdict::{Difference, Failure, Reason};

    #[rstest]
    #[case::fraction("1.5", true)]
    #[case::zero("0", true)]
    #[case::large("1e308", true)]
    #[case::too_large("1e309", false)]
    #[case::negative("-1", false)]
    fn a_time_that_none_can_take_is_not_read(#[case] milliseconds: &str, #[case] reads: bool) {
        let line = format!(
            r#"{{"event":"run-finished","run":"a","requests":1,"interrupted":false,"milliseconds":{milliseconds}}}"#
        );
        let read = serde_json::from_str::<Event>(&line);
        assert_eq!(read.is_ok(), reads, "{milliseconds}: {read:?}");
    }

    #[test]
    fn events_are_read_back_as_written() {
        let judged = |verdict| {
            Event::Judged(Box::new(ClauseVerdict {
                rule: "engine/v1/data/put/creates".into(),
                level: Level::Rule,
                section: "Endpoints / Data API".into(),
                states: "PUT creates.".into(),
                verdict,
                milliseconds: 1.5,
                transcript: "PUT /v1/data/<ns>\n  status = 204\n".into(),
            }))
        };
        let failure = Failure {
            step: 1,
            request: "PUT /v1/data/<ns>".into(),
            answered: None,
            blocked: false,
            differences: vec![Difference {
                path: "status".into(),
                expected: "204".into(),
                got: "200".into(),
            }],
            curl: vec!["curl".into()],
            notes: vec!["note".into()],
        };
        let exchange = Event::Exchange(Box::new(Exchange {
            rule: "engine/v1/data/put/creates".into(),
            step: 1,
            identity: "administrator".into(),
            request: SentRequest {
                method: "PUT".into(),
                url: "http://127.0.0.1:1/v1/data/x".into(),
                headers: vec![("content-type".into(), "application/json".into())],
                body: Payload::of(b"1"),
            },
            response: Some(ReceivedResponse {
                status: 204,
                headers: Vec::new(),
                body: Payload::of(b"\xff"),
            }),
            error: None,
            milliseconds: 0.25,
        }));
        let events = [
            Event::RunStarted(Box::new(RunStarted {
                run: "r1".into(),
                suite: "0.1.0".into(),
                at: Some("2026-12-01T10:00:00Z".into()),
                target: TargetSummary {
                    name: "reference".into(),
                    vendor: "engine".into(),
                    control: None,
                    engine: Some("http://127.0.0.1:1".into()),
                    capabilities: vec!["documents".into()],
                    undetected: Vec::new(),
                    version: Some("1.18.2".into()),
                    product: None,
                    by_address: true,
                },
                seed: u64::MAX,
                profile: None,
                chosen: vec![ChosenRule {
                    rule: "engine/v1/data/put/creates".into(),
                    level: Level::Open,
                    setup: Some("default".into()),
                }],
                parts: vec![MergedRun {
                    run: "r2".into(),
                    control: None,
                    engine: Some("http://127.0.0.1:2".into()),
                    rules: vec!["engine/v1/data/put/creates".into()],
                }],
            })),
            exchange,
            judged(Verdict::Pass),
            judged(Verdict::Recorded),
            judged(Verdict::Fail(failure)),
            judged(Verdict::NotRun(Reason::NoSetup("token-auth".into()))),
            judged(Verdict::NotRun(Reason::NoScenario)),
            Event::Leaked(Leaked {
                names: vec!["/v1/bundles/x".into()],
            }),
            Event::Changed(SideEffect {
                what: vec!["/v1/data/x is gone".into()],
            }),
            Event::Defect(Defect {
                rule: "a".into(),
                what: "b".into(),
            }),
            Event::RunFinished(RunFinished {
                run: "r1".into(),
                milliseconds: 12.0,
                requests: 3,
                interrupted: false,
                unreachable: None,
                not_compared: Vec::new(),
            }),
        ];
        for event in events {
            let line = event.line().expect("an event is JSON");
            let read: Event = serde_json::from_str(&line).expect(&line);
            assert_eq!(read, event, "{line}");
            let read = Event::read(&line).expect(&line);
            assert_eq!(read, event, "{line}");
        }
    }
}

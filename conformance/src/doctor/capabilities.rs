//! Detection of an engine's capabilities from its responses to probes.

use serde_json::Value;

use super::api::{self, is_object};
use super::{Diagnosis, Doctor, Question, modules};
use crate::http_client::answer::Answer;

/// Evidence of a capability in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// The capability is present.
    There,
    /// The capability is missing.
    Absent,
    /// Unknown: the response may be an error, or from another server.
    Unclear,
}

/// A capability, and the function that looks for it in a response.
type CapabilityProbe = (&'static str, fn(&Answer) -> Sign);

/// Content type of a probe's body.
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// Probes of an engine's capabilities, each with the functions that read the response. A capability
/// is missing only if none of its probes shows it: one defective response is a failure to report,
/// not a missing capability.
const QUESTIONS: &[(Question<'static>, &[CapabilityProbe])] = &[
    (
        Question::get("/v1/data/conformance_doctor?metrics=true&provenance=true&explain=full"),
        &[
            ("documents", |answer| present_if(is_object(answer))),
            ("metrics", metrics),
            ("provenance", provenance),
            ("explain", explanation),
        ],
    ),
    (
        Question::get("/v1/policies/conformance_doctor"),
        &[("policies", endpoint), ("evaluation", endpoint)],
    ),
    (
        Question::get("/v1/query?q=x%3D1&metrics=true&explain=full"),
        &[
            ("query", query),
            ("metrics", metrics),
            ("explain", explanation),
        ],
    ),
    (
        Question::get("/v1/config"),
        &[("config", |answer| {
            match answer.is_success() && answer.at("/result").is_some_and(Value::is_object) {
                true => Sign::There,
                false => missing(answer),
            }
        })],
    ),
    (Question::get("/v1/status"), &[("status", endpoint)]),
    (
        Question::post(
            "/v1/data/conformance_doctor?metrics=true&provenance=true&explain=full",
            &[JSON],
            br#"{"input": {}}"#,
        ),
        &[
            ("documents", |answer| present_if(is_object(answer))),
            ("metrics", metrics),
            ("provenance", provenance),
            ("explain", explanation),
        ],
    ),
    (
        Question::post("/v1/query", &[JSON], br#"{"query": "x = 1"}"#),
        &[("query", query)],
    ),
    (
        Question::post(
            "/v1/compile?metrics=true&explain=full",
            &[JSON],
            br#"{"query": "input.x == 1", "unknowns": ["input"]}"#,
        ),
        &[
            ("compile", endpoint),
            ("metrics", metrics),
            ("explain", explanation),
        ],
    ),
    (
        // Invalid JSON is rejected even if the document is undefined.
        Question::post("/v0/data/conformance_doctor", &[JSON], b"{"),
        &[("v0", v0)],
    ),
    (
        Question::post("/v0/data/conformance_doctor", &[JSON], b"{}"),
        &[("v0", v0)],
    ),
    (Question::post(DATA, &[YAML], YAML_INPUT), &[("yaml", body)]),
    (
        Question::post("/v1/query", &[YAML], b"query: x = 1\n"),
        &[("yaml", body)],
    ),
    (
        Question::post("/v1/compile", &[YAML], b"query: input.x == 1\n"),
        &[("yaml", body)],
    ),
    (
        Question::post(DATA, &[JSON, GZIP], PACKED),
        &[("gzip", body)],
    ),
    (
        Question::post("/v1/compile", &[JSON, GZIP], PACKED_QUERY),
        &[("gzip", body)],
    ),
    (
        // The whole of `data` is the only document that every server defines. It may be large, so
        // it is requested only for what the other probes do not show.
        Question::get("/v1/data?metrics=true&provenance=true&explain=full"),
        &[
            ("metrics", metrics),
            ("provenance", provenance),
            ("explain", explanation),
        ],
    ),
];

const YAML: (&str, &str) = ("Content-Type", "application/yaml");
const GZIP: (&str, &str) = ("Content-Encoding", "gzip");
const YAML_INPUT: &[u8] = b"input: {a: 1}\n";

/// The probed document; no server is expected to have one of this name.
const DATA: &str = "/v1/data/conformance_doctor";
/// The JSON `{"input": {}}`, gzip-encoded.
const PACKED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xca\xcc\x2b\x28\x2d\x51\xb2\x52\xa8\xae\xad\x05\x00\x0a\xd2\x86\xa3\x0d\x00\x00\x00";

/// The JSON `{"query": "input.x == 1"}`, gzip-encoded.
const PACKED_QUERY: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x00\xab\x56\x2a\x2c\x4d\x2d\xaa\x54\xb2\x52\x50\xca\xcc\x2b\x28\x2d\xd1\xab\x50\xb0\xb5\x55\x30\x54\xaa\x05\x00\x78\x26\x1a\x05\x19\x00\x00\x00";

/// The path of filters, whose media type names the vendor.
const FILTERS: &str = "/v1/compile/conformance_doctor/filter";
const FILTERS_BODY: &[u8] = br#"{"unknowns": ["input.x"]}"#;

impl Doctor<'_> {
    /// Detects the capabilities of an engine. Nothing is detected if the server answers an unknown
    /// path like any other.
    pub(super) async fn probe_capabilities(
        &self,
        diagnosis: &mut Diagnosis,
        unknown: Option<&Answer>,
    ) {
        let takes_everything = unknown.is_some_and(Answer::is_success);
        for (question, probes) in QUESTIONS {
            let is_known = |(name, _): &CapabilityProbe| diagnosis.capabilities.contains(name);
            if probes.iter().all(is_known) {
                continue;
            }
            if question.method == "POST" && (!self.posts || takes_everything) {
                continue;
            }
            let Ok(answer) = self.send_question(*question).await else {
                continue;
            };
            if diagnosis.version.is_none() {
                let version = answer.at("/provenance/version").and_then(Value::as_str);
                diagnosis.version = version.map(str::to_owned);
            }
            let same_as_unknown = unknown.is_some_and(|unknown| api::same_error(unknown, &answer));
            for (name, probe) in *probes {
                if diagnosis.capabilities.contains(name) {
                    continue;
                }
                let sign = match same_as_unknown {
                    true if takes_everything => Sign::Unclear,
                    true => missing(&answer),
                    false => probe(&answer),
                };
                match sign {
                    Sign::There => diagnosis.capabilities.push(name),
                    Sign::Absent if diagnosis.absent.contains(name) => {}
                    Sign::Absent => diagnosis.absent.push(name),
                    Sign::Unclear => {}
                }
            }
        }
        let present = &diagnosis.capabilities;
        diagnosis.absent.retain(|name| !present.contains(name));
        if let Ok(list) = self.request("/v1/policies", true).await {
            diagnosis.modules = modules::of(&list);
            // A server that denies a missing policy may have others.
            if list.at("/result").is_some_and(Value::is_array) {
                let listed = ["policies", "evaluation"];
                diagnosis.absent.retain(|name| !listed.contains(name));
                if !diagnosis.capabilities.contains(&"policies") {
                    diagnosis.capabilities.push("policies");
                }
            }
        }
    }

    /// Detects the vendor of the filter media types: the documents' own, OPA's, or the one that the
    /// server names when it rejects both.
    pub(super) async fn probe_vendor(&self, diagnosis: &mut Diagnosis, unknown: &Answer) {
        if !self.posts {
            diagnosis.vendor = diagnosis.product.map(str::to_owned);
            return;
        }
        let mut named = None;
        for vendor in ["engine", "opa"] {
            let accept = format!("application/vnd.{vendor}.ucast.all+json");
            let headers = [JSON, ("Accept", accept.as_str())];
            let question = Question::post(FILTERS, &headers, FILTERS_BODY);
            let Ok(answer) = self.send_question(question).await else {
                return;
            };
            match answer.status {
                404 | 405 | 501
                    if answer.at("/code").is_none() || api::same_error(unknown, &answer) =>
                {
                    diagnosis.absent.push("filters");
                    return;
                }
                400 | 406 | 415 => named = named.or_else(|| other_vendor(&answer, vendor)),
                401 | 403 | 500.. => return,
                _ => {
                    diagnosis.capabilities.push("filters");
                    diagnosis.vendor = Some(vendor.to_owned());
                    return;
                }
            }
        }
        if named.is_some() {
            diagnosis.capabilities.push("filters");
            diagnosis.vendor = named;
        }
    }
}

/// Returns a vendor that a response names other than the requested one.
fn other_vendor(answer: &Answer, requested: &str) -> Option<String> {
    let text = answer.text();
    let vendors = text.split("application/vnd.").skip(1);
    let mut vendors = vendors.filter_map(|rest| rest.split_once('.'));
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric());
    let other =
        vendors.find(|(name, _)| is_name(name) && !["engine", "opa", requested].contains(name));
    other.map(|(name, _)| name.to_owned())
}

fn present_if(present: bool) -> Sign {
    match present {
        true => Sign::There,
        false => Sign::Unclear,
    }
}

fn metrics(answer: &Answer) -> Sign {
    member(answer, "/metrics")
}

fn provenance(answer: &Answer) -> Sign {
    member(answer, "/provenance")
}

fn explanation(answer: &Answer) -> Sign {
    member(answer, "/explanation")
}

/// Detects the Query API by the binding of `x`.
fn query(answer: &Answer) -> Sign {
    match answer.at("/result/0/x").and_then(Value::as_u64) {
        Some(1) => Sign::There,
        _ => missing(answer),
    }
}

/// Detects the data endpoint for webhooks by a document, or an error object.
fn v0(answer: &Answer) -> Sign {
    match answer.is_success() || answer.at("/code").is_some() {
        true => Sign::There,
        false => missing(answer),
    }
}

/// Detects a capability by the response member that its parameter adds.
fn member(answer: &Answer, pointer: &str) -> Sign {
    match answer.at(pointer) {
        Some(_) if answer.is_success() => Sign::There,
        None if is_object(answer) => Sign::Absent,
        _ => Sign::Unclear,
    }
}

/// Detects a capability by a response of its path: a result, or an error object.
fn endpoint(answer: &Answer) -> Sign {
    let member = match answer.is_success() {
        true => "/result",
        false => "/code",
    };
    match answer.at(member) {
        Some(_) => Sign::There,
        None => missing(answer),
    }
}

/// Detects support of a type of body: it is accepted, or rejected.
fn body(answer: &Answer) -> Sign {
    match answer.status {
        400 | 415 => Sign::Absent,
        _ if is_object(answer) => Sign::There,
        _ => missing(answer),
    }
}

/// Detects a missing capability by the error for an unknown path or method.
fn missing(answer: &Answer) -> Sign {
    match answer.status {
        404 | 405 | 501 => Sign::Absent,
        _ => Sign::Unclear,
    }
}

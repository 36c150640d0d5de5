//! Which of the two APIs a server has, and what an engine seems to be able to do.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Diagnosis, Finding, Mark};
use crate::catalogue::{Catalogue, Document};
use crate::client::answer::Answer;

/// The place that tells each API from everything else. No document has this name, so the
/// answer is short.
pub(super) const PLACES: [(Document, &str); 2] = [
    (Document::Engine, "/v1/data/conformance_doctor"),
    (Document::Control, "/v1/bundles?limit=1"),
];

/// A path that no document knows.
pub(super) const UNKNOWN: &str = "/v1/conformance_doctor/conformance_doctor";

type Sign = (&'static str, fn(&Answer) -> bool);

/// What shows an engine's capabilities: a path, and what its answer shows.
pub(super) const SIGNS: &[(&str, &[Sign])] = &[
    (
        "/v1/data/conformance_doctor?metrics=true&provenance=true&explain=full",
        &[
            ("documents", is_object),
            ("metrics", |answer| object_at(answer, "/metrics")),
            ("provenance", |answer| object_at(answer, "/provenance")),
            ("explain", |answer| answer.at("/explanation").is_some()),
        ],
    ),
    (
        "/v1/policies/conformance_doctor",
        &[
            ("policies", is_result_or_error),
            ("evaluation", is_result_or_error),
        ],
    ),
    (
        "/v1/query?q=x%3D1",
        &[("query", |answer| {
            answer.at("/result/0/x").and_then(Value::as_u64) == Some(1)
        })],
    ),
    (
        "/v1/config",
        &[("config", |answer| object_at(answer, "/result"))],
    ),
    ("/v1/status", &[("status", is_result_or_error)]),
    (
        "/v1/compile/conformance_doctor",
        // Filters are asked for with POST, so a GET is refused in one way or another.
        &[("filters", |answer| {
            answer.status == 405 || is_result_or_error(answer)
        })],
    ),
];

/// What an answer says about an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// It is the API's.
    Api,
    /// A token is asked for, or not taken.
    Locked,
    /// Another address is named.
    Elsewhere,
    /// A gateway's, whose server does not answer.
    Gateway,
    /// A page for people.
    Page,
    /// An error of the server.
    Broken,
    /// Nothing is there.
    Missing,
    /// Something else.
    Other,
}

impl Sight {
    pub(super) fn of(document: Document, answer: &Answer) -> Self {
        let page = answer
            .header("Content-Type")
            .is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
        match answer.status {
            401 | 403 => Self::Locked,
            300..=399 => Self::Elsewhere,
            502..=504 => Self::Gateway,
            500..=599 => Self::Broken,
            404 | 405 => Self::Missing,
            _ if page => Self::Page,
            200 if is_api(document, answer) => Self::Api,
            _ => Self::Other,
        }
    }
}

fn is_api(document: Document, answer: &Answer) -> bool {
    match document {
        // Nothing is defined there, so that `result` is missing unless a policy gives one.
        Document::Engine => is_object(answer),
        Document::Control => answer.at("/result").is_some_and(Value::is_array),
    }
}

fn is_object(answer: &Answer) -> bool {
    answer.is_success() && answer.json().is_some_and(Value::is_object)
}

fn object_at(answer: &Answer, pointer: &str) -> bool {
    answer.is_success() && answer.at(pointer).is_some_and(Value::is_object)
}

/// The API's own answer: a result, or an error object.
fn is_result_or_error(answer: &Answer) -> bool {
    let member = if answer.is_success() {
        "/result"
    } else {
        "/code"
    };
    answer.at(member).is_some()
}

/// Whether an answer is what the server says to a path that it does not know.
pub(super) fn alike(unknown: &Answer, answer: &Answer) -> bool {
    unknown.status == answer.status && unknown.at("/code") == answer.at("/code")
}

/// A document's API, in words.
pub(super) fn title(document: Document) -> &'static str {
    match document {
        Document::Engine => "an engine",
        Document::Control => "a control plane",
    }
}

/// What to think of a place that is not the API's.
pub(super) fn stranger(path: &str, sight: Sight, told: &str) -> Finding {
    let advice = match sight {
        Sight::Elsewhere => "it sends you elsewhere: give the address that it names",
        Sight::Gateway => {
            "a proxy answers for a server that does not: start the server, or give its own address"
        }
        Sight::Page => {
            "this is a page for people, of a proxy, a login or another program: check host, port and path"
        }
        Sight::Broken => "the server fails: look into its log",
        Sight::Missing => {
            "nothing is there: check host, port and path, and whether the server has this API"
        }
        Sight::Api | Sight::Locked | Sight::Other => {
            "this is another API: check host, port and path"
        }
    };
    Finding::new(Mark::Problem, "api", format!("GET {path} answers {told}")).advice(advice)
}

pub(super) fn health(answer: &Answer) -> Finding {
    if answer.is_success() {
        return Finding::new(Mark::Ok, "health", "GET /health says that it is ready");
    }
    let what = format!("GET /health answers {}", answer.status);
    Finding::new(Mark::Problem, "health", what)
        .advice("a run waits until /health answers 200: let the server answer it, or wait until it is ready")
}

/// What the server showed, and what GET requests cannot show.
pub(super) fn summary(seen: &Diagnosis) -> Vec<Finding> {
    let mut findings = Vec::new();
    let shown = seen.capabilities.join(", ");
    findings.push(Finding::new(
        Mark::Ok,
        "abilities",
        format!("seems to have {shown}"),
    ));
    if seen.product.is_some() {
        let what = "calls itself Open Policy Agent";
        findings.push(
            Finding::new(Mark::Note, "product", what).advice(
                "`conformance run --target opa` starts one itself, in every setup that rules need, and knows its deviations",
            ),
        );
    }
    let clauses = Catalogue::embedded().map_or(&[][..], Catalogue::clauses);
    let all: BTreeSet<&str> = clauses
        .iter()
        .filter(|clause| seen.apis.contains(&clause.document))
        .map(|clause| clause.capability.as_str())
        .collect();
    let hidden: Vec<&str> = all
        .into_iter()
        .filter(|name| !seen.capabilities.contains(name))
        .collect();
    findings.push(
        Finding::new(Mark::Note, "abilities", format!("nothing shows of {}", hidden.join(", ")))
            .advice("add to --capabilities what the server has: not everything shows in GET requests; --probe finds out more"),
    );
    if seen.product.is_none() && seen.capabilities.contains(&"filters") {
        findings.push(
            Finding::new(Mark::Note, "vendor", "the media types of filters do not show in GET requests")
                .advice("application/vnd.engine.… is assumed; pass --vendor NAME for application/vnd.NAME.…"),
        );
    }
    findings
}

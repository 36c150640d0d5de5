//! Detection of the API of a server.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Diagnosis, Finding, Severity};
use crate::catalogue::{Catalogue, Document};
use crate::http_client::answer::Answer;

/// For each API, a path whose response identifies it. It is short, as no document has this name.
pub(super) const PLACES: [(Document, &str); 2] = [
    (Document::Engine, "/v1/data/conformance_doctor"),
    (Document::Control, "/v1/bundles?limit=1"),
];

/// A path that is not in any document.
pub(super) const UNKNOWN: &str = "/v1/conformance_doctor/conformance_doctor";

/// Evidence in a response of whether an API is at this path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApiEvidence {
    /// A response that only the API gives.
    Api,
    /// An empty object, as some control planes represent an empty list.
    Bare,
    /// A token is required, or was rejected.
    Locked,
    /// A redirect to another address.
    Elsewhere,
    /// A response of a gateway whose upstream server does not answer.
    Gateway,
    /// An HTML page for people.
    Page,
    /// An error of the server.
    Broken,
    /// Not found.
    Missing,
    /// Rate limit.
    Limited,
    /// Declared as JSON, but invalid.
    Garbled,
    /// Something else.
    Other,
}

impl ApiEvidence {
    pub(super) fn of(document: Document, answer: &Answer) -> Self {
        let kind = answer.header("Content-Type").unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        let page = kind.contains("html");
        let garbled = kind.contains("json") && answer.json().is_none();
        match answer.status {
            401 | 403 => Self::Locked,
            300..=399 => Self::Elsewhere,
            502..=504 => Self::Gateway,
            500..=599 => Self::Broken,
            404 | 405 => Self::Missing,
            429 => Self::Limited,
            200 if garbled => Self::Garbled,
            _ if page => Self::Page,
            200 if is_api(document, answer) => Self::Api,
            200 if is_bare(document, answer) => Self::Bare,
            _ => Self::Other,
        }
    }
}

fn is_api(document: Document, answer: &Answer) -> bool {
    match document {
        // The document is undefined there, so `result` is missing unless a policy defines one.
        Document::Engine => is_object(answer),
        Document::Control => answer.at("/result").is_some_and(Value::is_array),
    }
}

/// Whether a list response is an object without `result`: Go omits empty lists.
fn is_bare(document: Document, answer: &Answer) -> bool {
    let object = answer.json().and_then(Value::as_object);
    document == Document::Control && object.is_some_and(serde_json::Map::is_empty)
}

pub(super) fn is_object(answer: &Answer) -> bool {
    answer.is_success() && answer.json().is_some_and(Value::is_object)
}

/// Whether a response equals the server's response to an unknown path.
pub(super) fn alike(unknown: &Answer, answer: &Answer) -> bool {
    unknown.status == answer.status && unknown.at("/code") == answer.at("/code")
}

/// Whether a response reports a missing document rather than an unknown path.
pub(super) fn denies_document(unknown: &Answer, answer: &Answer) -> bool {
    answer.at("/code").is_some() && !alike(unknown, answer)
}

/// Returns the name of a document's API for people.
pub(super) fn title(document: Document) -> &'static str {
    match document {
        Document::Engine => "an engine",
        Document::Control => "a control plane",
    }
}

/// Creates a finding about a path that does not have the API.
pub(super) fn stranger(path: &str, sight: ApiEvidence, told: &str) -> Finding {
    let advice = match sight {
        ApiEvidence::Elsewhere => "it sends you elsewhere: give the address that it names",
        ApiEvidence::Gateway => {
            "a proxy answers for a server that does not: start the server, or give its own address"
        }
        ApiEvidence::Page => {
            "this is a page for people, of a proxy, a login or another program: check host, port and path"
        }
        ApiEvidence::Broken => "the server fails: look into its log",
        ApiEvidence::Missing => {
            "nothing is there: check host, port and path, and whether the server has this API"
        }
        ApiEvidence::Limited => "it asks for fewer requests: lift its limit for the time of a run",
        ApiEvidence::Garbled => {
            "the body is not JSON, though it is called so: let the server send nothing else"
        }
        ApiEvidence::Api | ApiEvidence::Bare | ApiEvidence::Locked | ApiEvidence::Other => {
            "this is another API: check host, port and path"
        }
    };
    Finding::new(
        Severity::Problem,
        "api",
        format!("GET {path} answers {told}"),
    )
    .advice(advice)
}

pub(super) fn health(answer: &Answer) -> Finding {
    if answer.is_success() {
        return Finding::new(Severity::Ok, "health", "GET /health says that it is ready");
    }
    let what = format!("GET /health answers {}", answer.status);
    Finding::new(Severity::Problem, "health", what)
        .advice("a run waits until /health answers 200: let the server answer it, or wait until it is ready")
}

/// Summarizes the detected capabilities, and those that GET requests cannot show.
pub(super) fn summary(seen: &Diagnosis) -> Vec<Finding> {
    let mut findings = Vec::new();
    let shown = seen.capabilities.join(", ");
    findings.push(Finding::new(
        Severity::Ok,
        "abilities",
        format!("seems to have {shown}"),
    ));
    if seen.product.is_some() {
        let what = "calls itself Open Policy Agent";
        findings.push(
            Finding::new(Severity::Note, "product", what).advice(
                "`--target opa` with an address applies the known deviations of OPA; without an address it starts OPA itself, in every setup that rules need",
            ),
        );
    }
    if let Some(vendor) = &seen.vendor {
        let what = format!("filters are asked for as application/vnd.{vendor}.…");
        findings.push(Finding::new(Severity::Ok, "vendor", what));
    }
    if !seen.absent.is_empty() {
        let what = format!("nothing shows of {}", seen.absent.join(", "));
        findings
            .push(Finding::new(Severity::Note, "abilities", what).advice(
                "a run by this address does not ask for it unless --capabilities names it",
            ));
    }
    if let Some(module) = seen.modules.iter().find(|module| module.decides()) {
        let what = format!("its policy `{}` defines `system.main`", module.id);
        findings.push(Finding::new(Severity::Note, "policy", what).advice(
            "rules about POST / define the same and are not run; remove the policy to judge them",
        ));
    }
    let unsure: Vec<&str> = unseen(seen);
    if !unsure.is_empty() {
        let what = format!("whether it has {} does not show", unsure.join(", "));
        let advice = match seen.absent.is_empty() {
            true => "a run asks for it; leave out of --capabilities what the server does not have",
            false => "add to --capabilities what the server has",
        };
        findings.push(Finding::new(Severity::Note, "abilities", what).advice(advice));
    }
    findings
}

/// Capabilities required by clauses of the server's APIs that are neither detected nor missing, in
/// the order of the edition.
pub(super) fn unseen(seen: &Diagnosis) -> Vec<&'static str> {
    let Ok(catalogue) = Catalogue::embedded() else {
        return Vec::new();
    };
    let asked: BTreeSet<&str> = catalogue
        .clauses()
        .iter()
        .filter(|clause| seen.apis.contains(&clause.document))
        .map(|clause| clause.capability.as_str())
        .collect();
    let names = catalogue.capabilities().iter().map(|one| one.name.as_str());
    names
        .filter(|name| asked.contains(name))
        .filter(|name| !seen.capabilities.contains(name) && !seen.absent.contains(name))
        .collect()
}

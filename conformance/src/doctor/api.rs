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
            200 if is_empty_object(document, answer) => Self::Bare,
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
fn is_empty_object(document: Document, answer: &Answer) -> bool {
    let object = answer.json().and_then(Value::as_object);
    document == Document::Control && object.is_some_and(serde_json::Map::is_empty)
}

pub(super) fn is_object(answer: &Answer) -> bool {
    answer.is_success() && answer.json().is_some_and(Value::is_object)
}

/// Whether a response equals the server's response to an unknown path.
pub(super) fn same_error(unknown: &Answer, answer: &Answer) -> bool {
    unknown.status == answer.status && unknown.at("/code") == answer.at("/code")
}

/// Whether a response reports a missing document rather than an unknown path.
pub(super) fn denies_document(unknown: &Answer, answer: &Answer) -> bool {
    answer.at("/code").is_some() && !same_error(unknown, answer)
}

/// Returns the name of a document's API for people.
pub(super) fn title(document: Document) -> &'static str {
    match document {
        Document::Engine => "an engine",
        Document::Control => "a control plane",
    }
}

/// Creates a finding about a path that does not have the API.
pub(super) fn unrecognized_api(path: &str, kind: ApiEvidence, response: &str) -> Finding {
    let advice = match kind {
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
        format!("GET {path} answers {response}"),
    )
    .advice(advice)
}

pub(super) fn health(answer: &Answer) -> Finding {
    if answer.is_success() {
        return Finding::new(Severity::Ok, "health", "GET /health says that it is ready");
    }
    let message = format!("GET /health answers {}", answer.status);
    Finding::new(Severity::Problem, "health", message)
        .advice("a run waits until /health answers 200: let the server answer it, or wait until it is ready")
}

/// Summarizes the detected capabilities, and those that GET requests cannot show.
pub(super) fn summary(diagnosis: &Diagnosis) -> Vec<Finding> {
    let mut findings = Vec::new();
    let capabilities = diagnosis.capabilities.join(", ");
    findings.push(Finding::new(
        Severity::Ok,
        "abilities",
        format!("seems to have {capabilities}"),
    ));
    if diagnosis.product.is_some() {
        let message = "calls itself Open Policy Agent";
        findings.push(
            Finding::new(Severity::Note, "product", message).advice(
                "`--target opa` with an address applies the known deviations of OPA; without an address it starts OPA itself, in every setup that rules need",
            ),
        );
    }
    if let Some(vendor) = &diagnosis.vendor {
        let message = format!("filters are asked for as application/vnd.{vendor}.…");
        findings.push(Finding::new(Severity::Ok, "vendor", message));
    }
    if !diagnosis.absent.is_empty() {
        let message = format!("nothing shows of {}", diagnosis.absent.join(", "));
        findings
            .push(Finding::new(Severity::Note, "abilities", message).advice(
                "a run by this address does not test it, and ends with 6, unless --capabilities names what the server has",
            ));
    }
    if let Some(module) = diagnosis.modules.iter().find(|module| module.decides()) {
        let message = format!("its policy `{}` defines `system.main`", module.id);
        findings.push(Finding::new(Severity::Note, "policy", message).advice(
            "rules about POST / define the same and are not run; remove the policy to judge them",
        ));
    }
    let unknown: Vec<&str> = undetermined(diagnosis);
    if !unknown.is_empty() {
        let message = format!("whether it has {} does not show", unknown.join(", "));
        let advice = "a run tests it; to leave it out, name the others with --capabilities";
        findings.push(Finding::new(Severity::Note, "abilities", message).advice(advice));
    }
    findings
}

/// Capabilities required by clauses of the server's APIs that are neither detected nor missing, in
/// the order of the edition.
pub(super) fn undetermined(diagnosis: &Diagnosis) -> Vec<&'static str> {
    let Ok(catalogue) = Catalogue::embedded() else {
        return Vec::new();
    };
    let relevant: BTreeSet<&str> = catalogue
        .clauses()
        .iter()
        .filter(|clause| diagnosis.apis.contains(&clause.document))
        .map(|clause| clause.capability.as_str())
        .collect();
    let names = catalogue.capabilities().iter().map(|one| one.name.as_str());
    names
        .filter(|name| relevant.contains(name))
        .filter(|name| !diagnosis.capabilities.contains(name) && !diagnosis.absent.contains(name))
        .collect()
}

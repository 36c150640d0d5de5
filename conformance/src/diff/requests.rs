//! Requests that several runs have in common.

use std::collections::BTreeMap;

use super::answers::{AnswerDifference, DifferenceKind, NormalizedResponse, compare_answers};
use super::covered::covers;
use super::normalize::Normalizer;
use crate::catalogue::{Catalogue, Document};
use crate::evidence::{Exchange, curl, run_of};
use crate::judge::openapi::Contract;
use crate::judge::transcript::Transcript;
use crate::judge::verdict::Verdict;
use crate::report::{Digest, Row};

/// Identity in the evidence of requests to the fixture server.
const MOCK: &str = "suite";
/// Prefix of locations in messages that a server sent to the fixture server.
pub(super) const SENT: &str = "sent ";

/// A location at which the responses to one request differ.
#[derive(Debug)]
pub(super) struct Instance {
    /// The path of the clause file that the request belongs to.
    pub(super) file: String,
    pub(super) rule: String,
    pub(super) step: usize,
    /// The request without run-dependent parts.
    request: String,
    pub(super) difference: AnswerDifference,
    /// A command that sends the request.
    pub(super) example: String,
}

impl Instance {
    /// Whether, if this difference is noise, another one is, too. A value that varies does not make
    /// other responses or a missing member noise; a member that is only sometimes present varies in
    /// every response of the endpoint.
    pub(super) fn is_noise_for(&self, other: &Self) -> bool {
        if self.difference.kind == DifferenceKind::Shape {
            return (&self.file, &self.difference.place) == (&other.file, &other.difference.place);
        }
        let answer = |one: &Self| (one.rule.clone(), one.step, one.request.clone());
        self.difference.kind == other.difference.kind
            && self.difference.place == other.difference.place
            && answer(self) == answer(other)
    }
}

/// Returns the differences between responses to the same request, in rules that pass or clauses
/// that are recorded in every run, unless a recorded fact covers the location.
pub(super) fn instances(runs: &[&Digest]) -> Vec<Instance> {
    let mut found = Vec::new();
    let Some((first, others)) = runs.split_first() else {
        return found;
    };
    for row in &first.rows {
        let rows = others.iter().map(|run| self::row(run, &row.judged.rule));
        let rows: Option<Vec<&Row>> = std::iter::once(Some(row)).chain(rows).collect();
        if let Some(rows) = rows.filter(|rows| comparable(rows)) {
            found.extend(of_rule(runs, &rows));
        }
    }
    found
}

/// Returns the result of a rule in a run.
pub(super) fn row<'a>(run: &'a Digest, rule: &str) -> Option<&'a Row> {
    run.rows.iter().find(|row| row.judged.rule == rule)
}

/// Name of the run that judged a rule; this name is the prefix of the rule's resource names.
pub(super) fn run_name<'a>(run: &'a Digest, rule: &str) -> &'a str {
    let started = run.started.as_ref().map_or("", |started| &started.run);
    let exchanges = run.exchanges.get(rule).into_iter().flatten();
    run_of(exchanges, rule).unwrap_or(started)
}

fn comparable(rows: &[&Row]) -> bool {
    [Verdict::Pass, Verdict::Recorded]
        .iter()
        .any(|verdict| rows.iter().all(|row| row.judged.verdict == *verdict))
}

fn of_rule(runs: &[&Digest], rows: &[&Row]) -> Vec<Instance> {
    let mut found = Vec::new();
    let Some(row) = rows.first() else {
        return found;
    };
    let rule = &row.judged.rule;
    let steps = Transcript::parse(&row.judged.transcript).steps;
    let by_run: Vec<_> = runs.iter().map(|run| responses(run, rule)).collect();
    let Some((first, others)) = by_run.split_first() else {
        return found;
    };
    for (key, (exchange, response)) in first {
        let others = others
            .iter()
            .map(|responses| Some(responses.get(key)?.1.clone()));
        let all: Option<Vec<NormalizedResponse>> = std::iter::once(Some(response.clone()))
            .chain(others)
            .collect();
        let (step, request) = key;
        let facts = step.checked_sub(1).and_then(|index| steps.get(index));
        let facts = facts.map_or(&[][..], |entry| &entry.facts);
        let places = all.map(|all| compare_answers(&all)).unwrap_or_default();
        let uncovered = places
            .into_iter()
            .filter(|difference| !covers(facts, &difference.place));
        found.extend(uncovered.map(|mut difference| {
            if exchange.identity == MOCK {
                difference.place = format!("{SENT}{}", difference.place);
            }
            Instance {
                file: file(exchange).unwrap_or_else(|| folder(rule).to_owned()),
                rule: rule.clone(),
                step: *step,
                request: request.clone(),
                difference,
                example: curl::command(&exchange.request),
            }
        }));
    }
    found
}

/// Returns the exchanges of a rule in a run, by step and request. If a step repeats a request, the
/// last response counts.
fn responses<'a>(
    run: &'a Digest,
    rule: &str,
) -> BTreeMap<(usize, String), (&'a Exchange, NormalizedResponse)> {
    let normalizer = Normalizer::new(run_name(run, rule), rule);
    let vendor = run
        .started
        .as_ref()
        .map_or("", |started| &started.target.vendor);
    let exchanges = run.exchanges.get(rule).into_iter().flatten();
    exchanges
        .filter(|exchange| exchange.step > 0)
        .filter_map(|exchange| {
            let response = NormalizedResponse::of(exchange.response.as_ref()?, vendor, &normalizer)
                .of_messages(exchange.identity == MOCK);
            Some((
                (exchange.step, request(exchange, &normalizer)),
                (exchange, response),
            ))
        })
        .collect()
}

/// Formats the request without run-dependent parts.
fn request(exchange: &Exchange, normalizer: &Normalizer<'_>) -> String {
    let sent = &exchange.request;
    let body = sent.body.as_text();
    let text = format!("{} {} {body}", sent.method, target(&sent.url));
    normalizer.text(&text)
}

/// Returns path and query of an address.
fn target(url: &str) -> String {
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    format!("/{path}")
}

/// Returns the clause file of the endpoint that a request is sent to.
fn file(exchange: &Exchange) -> Option<String> {
    let document = match exchange.identity.as_str() {
        MOCK => return None,
        "engine" => Document::Engine,
        _ => Document::of(&exchange.rule)?,
    };
    let status = exchange.response.as_ref()?.status;
    let (method, target) = (&exchange.request.method, target(&exchange.request.url));
    let contract = Contract::embedded().ok()?;
    let name = contract
        .documented(document, method, &target, status)?
        .operation;
    let clauses = Catalogue::embedded().ok()?.clauses().iter();
    let mut clauses = clauses.filter(|clause| clause.document == document);
    let clause = clauses.find(|clause| clause.endpoint.as_deref() == Some(&name))?;
    Some(folder(&clause.id).to_owned())
}

/// Returns the path of the clause file of a rule.
pub(super) fn folder(rule: &str) -> &str {
    rule.rsplit_once('/').map_or(rule, |(folder, _)| folder)
}

//! Requests that several runs sent alike, and where their answers differ.

use std::collections::BTreeMap;

use super::answers::{Apart, Sort, Told, apart};
use super::covered::covers;
use super::steady::Steady;
use crate::catalogue::{Catalogue, Document};
use crate::curl;
use crate::evidence::{Exchange, run_of};
use crate::openapi::Contract;
use crate::report::{Digest, Row};
use crate::transcript::Transcript;
use crate::verdict::Verdict;

/// Who asks the depot.
const DEPOT: &str = "suite";
/// Before the places of messages that a server sent to the depot.
pub(super) const SENT: &str = "sent ";

/// A place at which the answers to one request differ.
#[derive(Debug)]
pub(super) struct Instance {
    /// The path of the clause file that the request belongs to.
    pub(super) file: String,
    pub(super) rule: String,
    pub(super) step: usize,
    /// The request without what depends on the run.
    request: String,
    pub(super) apart: Apart,
    /// A command that sends the request.
    pub(super) example: String,
}

impl Instance {
    /// Whether another difference is no news where this one is chance. A value that changes says
    /// nothing of other answers, nor of a member that is not there; what is there at one time and
    /// not at another, is so in every answer of the endpoint.
    pub(super) fn drowns(&self, other: &Self) -> bool {
        if self.apart.sort == Sort::Shape {
            return (&self.file, &self.apart.place) == (&other.file, &other.apart.place);
        }
        let answer = |one: &Self| (one.rule.clone(), one.step, one.request.clone());
        self.apart.sort == other.apart.sort
            && self.apart.place == other.apart.place
            && answer(self) == answer(other)
    }
}

/// Where answers to the same request differ, in rules that hold, or clauses that are recorded, in
/// every run, and no kept fact speaks of the place.
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

/// What became of a rule in a run.
pub(super) fn row<'a>(run: &'a Digest, rule: &str) -> Option<&'a Row> {
    run.rows.iter().find(|row| row.judged.rule == rule)
}

/// The name of the run that judged a rule, which its own names start with.
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
    let kept = Transcript::parse(&row.judged.transcript).steps;
    let asked: Vec<_> = runs.iter().map(|run| asked(run, rule)).collect();
    let Some((first, others)) = asked.split_first() else {
        return found;
    };
    for (key, (exchange, told)) in first {
        let others = others.iter().map(|asked| Some(asked.get(key)?.1.clone()));
        let all: Option<Vec<Told>> = std::iter::once(Some(told.clone())).chain(others).collect();
        let (step, request) = key;
        let facts = step.checked_sub(1).and_then(|index| kept.get(index));
        let facts = facts.map_or(&[][..], |entry| &entry.facts);
        let places = all.map(|all| apart(&all)).unwrap_or_default();
        let free = places
            .into_iter()
            .filter(|apart| !covers(facts, &apart.place));
        found.extend(free.map(|mut apart| {
            if exchange.identity == DEPOT {
                apart.place = format!("{SENT}{}", apart.place);
            }
            Instance {
                file: file(exchange).unwrap_or_else(|| folder(rule).to_owned()),
                rule: rule.clone(),
                step: *step,
                request: request.clone(),
                apart,
                example: curl::repeated(&exchange.request),
            }
        }));
    }
    found
}

/// What a run asked and was told, by step and request: of a request that a step repeats, the last
/// answer counts.
fn asked<'a>(run: &'a Digest, rule: &str) -> BTreeMap<(usize, String), (&'a Exchange, Told)> {
    let steady = Steady::new(run_name(run, rule), rule);
    let vendor = run
        .started
        .as_ref()
        .map_or("", |started| &started.target.vendor);
    let exchanges = run.exchanges.get(rule).into_iter().flatten();
    exchanges
        .filter(|exchange| exchange.step > 0)
        .filter_map(|exchange| {
            let told = Told::of(exchange.response.as_ref()?, vendor, &steady)
                .of_messages(exchange.identity == DEPOT);
            Some((
                (exchange.step, request(exchange, &steady)),
                (exchange, told),
            ))
        })
        .collect()
}

/// The request without what depends on the run.
fn request(exchange: &Exchange, steady: &Steady<'_>) -> String {
    let sent = &exchange.request;
    let body = sent.body.shown();
    let text = format!("{} {} {body}", sent.method, target(&sent.url));
    steady.text(&text)
}

/// Path and query of an address.
fn target(url: &str) -> String {
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    format!("/{path}")
}

/// The clause file of the endpoint that a request goes to.
fn file(exchange: &Exchange) -> Option<String> {
    let document = match exchange.identity.as_str() {
        DEPOT => return None,
        "engine" => Document::Engine,
        _ => Document::of(&exchange.rule)?,
    };
    let status = exchange.response.as_ref()?.status;
    let (method, target) = (&exchange.request.method, target(&exchange.request.url));
    let contract = Contract::embedded().ok()?;
    let (name, _) = contract.documented(document, method, &target, status)?;
    let clauses = Catalogue::embedded().ok()?.clauses().iter();
    let mut clauses = clauses.filter(|clause| clause.document == document);
    let clause = clauses.find(|clause| clause.endpoint.as_deref() == Some(&name))?;
    Some(folder(&clause.id).to_owned())
}

/// The clause file of a rule.
pub(super) fn folder(rule: &str) -> &str {
    rule.rsplit_once('/').map_or(rule, |(folder, _)| folder)
}

//! JSON report: the summary and every verdict.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Conclusion, Digest, Outcome, ProfileResult, Row};
use crate::catalogue::{Binding, Document, Level};
use crate::evidence::{Defect, TargetSummary};
use crate::judge::verdict::{Failure, Verdict};
use crate::report::capability::{self, Capability, Score};
use crate::report::failure_groups::{Cause, causes};
use crate::report::stability::Stability;

/// The JSON Schema of the report.
pub const SCHEMA: &str = include_str!("../../schemas/report.schema.json");

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report<'a> {
    suite: &'a str,
    run: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<&'a str>,
    target: Option<&'a TargetSummary>,
    seed: u64,
    milliseconds: f64,
    requests: u64,
    conclusion: Conclusion,
    exit_code: u8,
    score: Score,
    claimed: Score,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileResult>,
    documents: BTreeMap<&'static str, Summary>,
    /// Rules that should have been tested and were not, a sentence for each cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untested: Vec<String>,
    leaked: &'a [String],
    changed: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    not_compared: &'a [String],
    stale: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stability: Option<&'a Stability>,
    defects: &'a [Defect],
    causes: Vec<Cause<'a>>,
    rules: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Summary {
    score: Score,
    claimed: Score,
    capabilities: Vec<Capability>,
    outcomes: BTreeMap<&'static str, usize>,
    not_run: BTreeMap<String, usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Entry<'a> {
    rule: &'a str,
    level: Level,
    section: &'a str,
    states: &'a str,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<Binding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a Failure>,
    milliseconds: f64,
    #[serde(skip_serializing_if = "str::is_empty")]
    transcript: &'a str,
}

pub(super) fn render(digest: &Digest) -> serde_json::Result<String> {
    let started = digest.started.as_ref();
    let finished = digest.finished.as_ref();
    let conclusion = digest.conclusion();
    let report = Report {
        suite: started.map_or("", |started| &started.suite),
        run: started.map_or("", |started| &started.run),
        at: started.and_then(|started| started.at.as_deref()),
        target: started.map(|started| &started.target),
        seed: started.map_or(0, |started| started.seed),
        milliseconds: finished.map_or(0.0, |finished| finished.milliseconds),
        requests: finished.map_or(0, |finished| finished.requests),
        conclusion,
        exit_code: conclusion.exit_code(),
        score: capability::score(digest.rows.iter()),
        claimed: capability::claimed(digest, digest.rows.iter()),
        profile: digest.standing(),
        documents: Document::ALL
            .into_iter()
            .map(|document| (document.name(), summary(digest, document)))
            .collect(),
        untested: digest.untested(),
        leaked: &digest.leaked,
        changed: &digest.changed,
        not_compared: &digest.not_compared,
        stale: &digest.stale,
        stability: digest.stability.as_ref(),
        defects: &digest.defects,
        causes: causes(digest),
        rules: digest.rows.iter().map(entry).collect(),
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn summary(digest: &Digest, document: Document) -> Summary {
    let outcomes = digest.outcomes(document).into_iter();
    let reasons = digest.reasons(document).into_iter();
    let rows = || {
        let rows = digest.rows.iter();
        rows.filter(|row| row.document == Some(document))
    };
    Summary {
        score: capability::score(rows()),
        claimed: capability::claimed(digest, rows()),
        capabilities: capability::capabilities(digest, document),
        outcomes: outcomes
            .map(|(outcome, count)| (outcome.name(), count))
            .collect(),
        not_run: reasons.collect(),
    }
}

fn entry(row: &Row) -> Entry<'_> {
    let judged = &row.judged;
    let failure = match &judged.verdict {
        Verdict::Fail(failure) => Some(failure),
        Verdict::Pass | Verdict::Recorded | Verdict::NotRun(_) => None,
    };
    Entry {
        rule: &judged.rule,
        level: judged.level,
        section: &judged.section,
        states: &judged.states,
        outcome: row.outcome,
        binding: row.binding,
        reason: row.reason(),
        known: row.known.as_deref(),
        failure,
        milliseconds: judged.milliseconds,
        transcript: &judged.transcript,
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::report::digest::samples;

    #[test]
    fn every_report_fits_the_published_schema() {
        let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
        let schema = jsonschema::draft202012::new(&schema).expect("a schema");
        let mut reports = Vec::new();
        for digest in samples::all() {
            let text = render(&digest).expect("a report");
            let report: Value = serde_json::from_str(&text).expect("JSON");
            let errors: Vec<_> = schema.iter_errors(&report).map(|e| e.to_string()).collect();
            assert_eq!(errors, Vec::<String>::new(), "{text}");
            reports.push(report);
        }
        // The schema rejects invalid reports, so the check can fail.
        let report = reports.last().expect("a report");
        for (pointer, wrong) in [
            ("/conclusion", json!("good")),
            ("/exit-code", json!(7)),
            ("/score/proven", json!(-1)),
            ("/target/name", Value::Null),
            ("/rules/0/outcome", json!("passed")),
            ("/rules/0/more", json!(1)),
        ] {
            let mut broken = report.clone();
            let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
            let parent = broken.pointer_mut(parent).and_then(Value::as_object_mut);
            parent.expect(pointer).insert(key.to_owned(), wrong);
            assert!(!schema.is_valid(&broken), "{pointer}");
        }
    }
}

//! The JSON report: the summary and every verdict, for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Conclusion, Digest, Outcome, Row};
use crate::catalogue::{Document, Level};
use crate::evidence::{Defect, TargetSummary};
use crate::verdict::{Failure, Verdict};

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report<'a> {
    suite: &'a str,
    run: &'a str,
    target: Option<&'a TargetSummary>,
    seed: u64,
    milliseconds: f64,
    requests: u64,
    conclusion: Conclusion,
    exit_code: u8,
    score: Score,
    documents: BTreeMap<&'static str, Summary>,
    leaked: &'a [String],
    defects: &'a [Defect],
    rules: Vec<Entry<'a>>,
}

/// Only what passes is proven; every rule of the choice counts.
#[derive(Serialize)]
struct Score {
    proven: usize,
    rules: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Summary {
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
    let (proven, rules) = digest.score();
    let conclusion = digest.conclusion();
    let report = Report {
        suite: started.map_or("", |started| &started.suite),
        run: started.map_or("", |started| &started.run),
        target: started.map(|started| &started.target),
        seed: started.map_or(0, |started| started.seed),
        milliseconds: finished.map_or(0.0, |finished| finished.milliseconds),
        requests: finished.map_or(0, |finished| finished.requests),
        conclusion,
        exit_code: conclusion.exit_code(),
        score: Score { proven, rules },
        documents: Document::ALL
            .into_iter()
            .map(|document| (document.name(), summary(digest, document)))
            .collect(),
        leaked: &digest.leaked,
        defects: &digest.defects,
        rules: digest.rows.iter().map(entry).collect(),
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn summary(digest: &Digest, document: Document) -> Summary {
    let outcomes = digest.outcomes(document).into_iter();
    let reasons = digest.reasons(document).into_iter();
    Summary {
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
        reason: row.reason(),
        known: row.known.as_deref(),
        failure,
        milliseconds: judged.milliseconds,
        transcript: &judged.transcript,
    }
}

//! Submissions: what an implementer publishes of a run by a profile, in a folder of its own.
//!
//! The folder is `PROFILE/NAME/VERSION`. Nobody has to believe what stands in it: the evidence holds
//! every request and every answer, and is judged again by the rules.

mod check;
mod folder;
mod write;

use serde_json::Value;

use crate::evidence::{Event, TargetSummary};
use crate::known_deviations::KnownList;
use crate::report::{self, Digest};

pub use check::{Accepted, Refused, check};
pub use write::{Submission, is_plain};

/// Every event of the run, one JSON document a line, packed by gzip.
const EVIDENCE: &str = "evidence.ndjson.gz";
/// The report on it, for programs.
const REPORT: &str = "report.json";
/// What it is, and how to repeat it.
const README: &str = "README.md";
/// The description by which the suite starts the target, where that is the implementer's own.
const TARGET: &str = "target.toml";
/// What a folder may hold.
const FILES: [&str; 4] = [EVIDENCE, REPORT, README, TARGET];
/// What one must hold.
const NEEDED: [&str; 3] = [EVIDENCE, REPORT, README];

/// What evidence says by itself: no deviation of it is known to anybody.
fn digest(events: Vec<Event>) -> Digest {
    Digest::of(events, &KnownList::default(), &[])
}

/// The JSON report on a run.
fn report(digest: &Digest) -> Result<Value, String> {
    let text = report::json(digest).map_err(|why| why.to_string())?;
    serde_json::from_str(&text).map_err(|why| why.to_string())
}

/// What a report says that has to follow from the evidence: who was judged, by what, and what each
/// rule came to. Everything else of it may be said otherwise by another version of the program.
fn gist(report: &Value) -> Vec<(&str, &Value)> {
    let mut gist: Vec<(&str, &Value)> = ["run", "target", "score", "profile", "conclusion"]
        .into_iter()
        .map(|key| (key, report.get(key).unwrap_or(&Value::Null)))
        .collect();
    let rules = report.get("rules").and_then(Value::as_array);
    for rule in rules.into_iter().flatten() {
        let id = rule.get("rule").and_then(Value::as_str);
        let outcome = rule.get("outcome").unwrap_or(&Value::Null);
        gist.push((id.unwrap_or_default(), outcome));
    }
    gist
}

/// The name and the version that a submission is of.
fn names(target: &TargetSummary) -> (&str, &str) {
    (&target.name, target.version.as_deref().unwrap_or_default())
}

//! Submissions: published results of a run by a profile, each in a separate folder.
//!
//! The folder is `PROFILE/NAME/VERSION`. Its results can be verified: the evidence contains every
//! request and every response, and is judged again by the rules.

mod check;
mod folder;
mod refused;
mod write;

use serde_json::Value;

use crate::evidence::{Event, TargetSummary};
use crate::known_deviations::KnownList;
use crate::report::{self, Digest};

pub use check::{Accepted, check};
pub use refused::Refused;
pub use write::{Submission, is_plain};

/// File with every event of the run, one JSON document per line, compressed with gzip.
const EVIDENCE: &str = "evidence.ndjson.gz";
/// File with the JSON report of the evidence.
const REPORT: &str = "report.json";
/// File that describes the submission, and how to repeat it.
const README: &str = "README.md";
/// Target file for starting the target, if it is not a built-in one.
const TARGET: &str = "target.toml";
/// Permitted files of a folder.
const FILES: [&str; 4] = [EVIDENCE, REPORT, README, TARGET];
/// Required files of a folder.
const NEEDED: [&str; 3] = [EVIDENCE, REPORT, README];

/// Creates the digest of evidence, without any known deviations.
fn digest(events: Vec<Event>) -> Digest {
    Digest::of(events, &KnownList::default(), &[])
}

/// Creates the JSON report of a run.
fn report(digest: &Digest) -> Result<Value, String> {
    let text = report::json(digest).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Returns the parts of a report that must match the evidence: target, profile, and the result of
/// each rule. Other versions of the program may format everything else differently.
fn comparable_parts(report: &Value) -> Vec<(&str, &Value)> {
    let mut parts: Vec<(&str, &Value)> = ["run", "target", "score", "profile", "conclusion"]
        .into_iter()
        .map(|key| (key, report.get(key).unwrap_or(&Value::Null)))
        .collect();
    let rules = report.get("rules").and_then(Value::as_array);
    for rule in rules.into_iter().flatten() {
        let id = rule.get("rule").and_then(Value::as_str);
        let outcome = rule.get("outcome").unwrap_or(&Value::Null);
        parts.push((id.unwrap_or_default(), outcome));
    }
    parts
}

/// Returns the names of the submission's folders: name and version of the target.
fn names(target: &TargetSummary) -> (&str, &str) {
    (&target.name, target.version.as_deref().unwrap_or_default())
}

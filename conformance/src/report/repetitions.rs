//! Repetitions: results of several runs on a target, to find rules that vary.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::evidence::ClauseVerdict;
use crate::judge::verdict::{Difference, Verdict};
use crate::report::Digest;
use crate::report::failure::headline;
use crate::report::stability::{Flaky, Stability};

/// Matches a local address, whose port varies between runs.
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:127\.0\.0\.1|localhost|\[::1\]):\d+").ok());

/// The results of the runs so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repetitions {
    count: usize,
    rules: BTreeMap<String, Vec<RuleRun>>,
}

/// Result of a rule in a run: the outcome, and the shown text without times, random names and free
/// ports.
#[derive(Debug, Clone)]
struct RuleRun {
    outcome: &'static str,
    text: String,
}

impl Repetitions {
    /// Adds the results of a run.
    pub(crate) fn add(&mut self, digest: &Digest) {
        let run = digest.started.as_ref().map_or("", |started| &started.run);
        self.count += 1;
        for row in &digest.rows {
            let rule_run = RuleRun {
                outcome: row.outcome.name(),
                text: text(&row.judged, run),
            };
            let rule = self.rules.entry(row.judged.rule.clone());
            rule.or_default().push(rule_run);
        }
    }

    /// Summarizes the results of the runs.
    pub(crate) fn stability(&self) -> Stability {
        let unstable = |(rule, runs): (&String, &Vec<RuleRun>)| {
            let first = runs.first()?;
            let other = runs.iter().find(|other| other.text != first.text)?;
            let (one, another) = difference(&first.text, &other.text);
            Some(Flaky {
                rule: rule.clone(),
                outcomes: runs.iter().map(|run| run.outcome).collect(),
                first: one.to_owned(),
                other: another.to_owned(),
            })
        };
        Stability {
            rounds: self.count,
            moved: self.rules.iter().filter_map(unstable).collect(),
        }
    }
}

/// Formats all results of a rule in a run, line by line: verdict, differences, transcript. The
/// target's address and the commands that repeat a failure, which contain ports, are omitted, as
/// they vary by run.
fn text(judged: &ClauseVerdict, run: &str) -> String {
    let mut lines = Vec::new();
    match &judged.verdict {
        Verdict::Pass => lines.push("pass".to_owned()),
        Verdict::Recorded => lines.push("recorded".to_owned()),
        Verdict::NotRun(reason) => lines.push(format!("not run: {reason}")),
        Verdict::Fail(failure) => {
            lines.push(format!("fail: {}", headline(failure).replace('\n', " ")));
            lines.extend(failure.differences.iter().map(|one| {
                let Difference {
                    path,
                    expected,
                    got,
                } = one;
                format!("{path}: expected {expected} | got {got}").replace('\n', " ")
            }));
            lines.extend(failure.notes.iter().map(|note| note.replace('\n', " ")));
        }
    }
    lines.push(judged.transcript.clone());
    let text = lines.join("\n");
    let text = match &*ADDRESS {
        Some(address) => address.replace_all(&text, "<address>").into_owned(),
        None => text,
    };
    match run {
        "" => text,
        run => text.replace(run, "<run>"),
    }
}

/// Returns the first lines in which two strings differ.
fn difference<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let (mut one, mut other) = (one.lines(), other.lines());
    loop {
        match (one.next(), other.next()) {
            (Some(one), Some(other)) if one == other => {}
            // Also at the end of both, for strings that differ only in line ends.
            (one, other) => {
                return (
                    one.unwrap_or_default().trim(),
                    other.unwrap_or_default().trim(),
                );
            }
        }
    }
}

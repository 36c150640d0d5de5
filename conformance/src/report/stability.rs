//! Stability: the verdicts of repeated runs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use crate::evidence::Judged;
use crate::judge::verdict::{Difference, Verdict};
use crate::report::Digest;
use crate::report::failure::headline;

/// An address on this machine, whose port is another each time.
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:127\.0\.0\.1|localhost|\[::1\]):\d+").ok());

/// What several runs on a target show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stability {
    /// How many runs there were.
    pub rounds: usize,
    /// Rules that did not show the same every time.
    pub moved: Vec<Flaky>,
}

/// A rule that did not show the same every time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flaky {
    /// Rule id.
    pub rule: String,
    /// What each run came to, in order.
    pub outcomes: Vec<&'static str>,
    /// The first line that differs, as the first run and as another showed it.
    pub first: String,
    /// See `first`.
    pub other: String,
}

/// The runs so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repetitions {
    count: usize,
    rules: BTreeMap<String, Vec<RuleRun>>,
}

/// What a run showed of a rule: how it ended, and all that it showed, without times, random
/// names and free ports.
#[derive(Debug, Clone)]
struct RuleRun {
    outcome: &'static str,
    text: String,
}

impl Repetitions {
    /// Adds a run.
    pub(crate) fn add(&mut self, digest: &Digest) {
        let run = digest.started.as_ref().map_or("", |started| &started.run);
        self.count += 1;
        for row in &digest.rows {
            let shown = RuleRun {
                outcome: row.outcome.name(),
                text: text(&row.judged, run),
            };
            let rule = self.rules.entry(row.judged.rule.clone());
            rule.or_default().push(shown);
        }
    }

    /// What they come to.
    pub(crate) fn stability(&self) -> Stability {
        let moved = |(rule, shown): (&String, &Vec<RuleRun>)| {
            let first = shown.first()?;
            let other = shown.iter().find(|other| other.text != first.text)?;
            let (one, another) = difference(&first.text, &other.text);
            Some(Flaky {
                rule: rule.clone(),
                outcomes: shown.iter().map(|shown| shown.outcome).collect(),
                first: one.to_owned(),
                other: another.to_owned(),
            })
        };
        Stability {
            rounds: self.count,
            moved: self.rules.iter().filter_map(moved).collect(),
        }
    }
}

impl Stability {
    /// What a person reads of it.
    pub(crate) fn lines(&self) -> Vec<String> {
        if self.moved.is_empty() {
            return vec![format!("{} runs show the same", self.rounds)];
        }
        let moved = self.moved.iter().flat_map(|moved| {
            [
                format!("VERDICT {}: {}", moved.rule, moved.outcomes.join(", ")),
                format!("  {}", moved.first),
                format!("  {}", moved.other),
            ]
        });
        moved.collect()
    }
}

/// All that a run showed of a rule, a line for each thing: the verdict, what differs, what the
/// transcript says. The commands that repeat a failure name ports that are free at the time, so
/// they are left out, and so is the target's own address.
fn text(judged: &Judged, run: &str) -> String {
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

/// The first lines that differ.
fn difference<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let (mut one, mut other) = (one.lines(), other.lines());
    loop {
        match (one.next(), other.next()) {
            (Some(one), Some(other)) if one == other => {}
            // Also where both end, as texts that differ only at line ends do.
            (one, other) => {
                return (
                    one.unwrap_or_default().trim(),
                    other.unwrap_or_default().trim(),
                );
            }
        }
    }
}

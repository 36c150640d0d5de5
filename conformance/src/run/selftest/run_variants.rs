//! Runs each variant on the rules that it affects.
//!
//! A rule that fails by its recorded exchanges also runs on the server before it counts as failing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::stream;

use super::recorded_rule::{JudgeMode, RecordedRule};
use crate::http_client::pagination::Listings;
use crate::judge::verdict::{Failure, Reason, Verdict};
use crate::run::interrupt::Interrupt;
use crate::run::rule::RunContext;
use crate::run::runner::Transport;
use crate::run::{Chosen, Inner, Suite};
use crate::scenario::resource_names::run_name;
use crate::variants::{OverStrict, Row, Tolerance, Variant};

impl Suite {
    /// Runs every chosen rule on every variant that affects it.
    ///
    /// # Errors
    /// The rules that fail without any variant: tests on such a server prove nothing.
    pub fn tolerance(
        &self,
        variants: Vec<Variant>,
        known: OverStrict,
    ) -> Result<Tolerance, Vec<String>> {
        let rules: Vec<Arc<RecordedRule>> = self.recorded_rules()?;
        let variants: Vec<Arc<Variant>> = variants.into_iter().map(Arc::new).collect();
        let mut pending = Vec::new();
        for (place, variant) in variants.iter().enumerate() {
            for rule in &rules {
                let mode = rule.judge_mode(&variant.changes);
                pending
                    .extend(mode.map(|mode| (place, Arc::clone(variant), Arc::clone(rule), mode)));
            }
        }
        let inner = &self.inner;
        let verdicts = self.runtime.block_on(async {
            let tasks = pending.into_iter().zip(1_u64..);
            let tasks = tasks.map(|((place, variant, rule, mode), number)| {
                let (inner, name) = (Arc::clone(inner), rule.rule.clone());
                let task =
                    tokio::spawn(
                        async move { inner.tolerates(&variant, &rule, mode, number).await },
                    );
                async move {
                    // A panic of the task has been printed.
                    let failed = |_| Some(Verdict::NotRun(Reason::Defect));
                    (place, name, task.await.unwrap_or_else(failed))
                }
            });
            let done: Vec<_> = stream::iter(tasks)
                .buffer_unordered(inner.jobs)
                .collect()
                .await;
            inner.stop().await;
            done
        });
        let mut by_variant: BTreeMap<usize, Vec<(String, Verdict)>> = BTreeMap::new();
        for (place, rule, verdict) in verdicts {
            let verdicts = by_variant.entry(place).or_default();
            verdicts.extend(verdict.map(|verdict| (rule, verdict)));
        }
        let variants = variants.into_iter().enumerate();
        let rows = variants.map(|(place, variant)| {
            let verdicts = by_variant.remove(&place).unwrap_or_default();
            row(variant, verdicts)
        });
        Ok(Tolerance::new(rows.collect(), rules.len(), known))
    }
}

fn row(variant: Arc<Variant>, verdicts: Vec<(String, Verdict)>) -> Row {
    let mut row = Row::new(variant);
    for (rule, verdict) in verdicts {
        match verdict {
            Verdict::Pass | Verdict::Recorded => row.judged += 1,
            // A failed prerequisite depends on what the document leaves open.
            Verdict::Fail(failure) if failure.blocked && row.variant.silence(&rule).is_some() => {
                row.stopped.push((rule, format_failure(&failure)));
            }
            Verdict::Fail(failure) => {
                row.judged += 1;
                row.failed.push((rule, format_failure(&failure)));
            }
            Verdict::NotRun(reason) => row.stopped.push((rule, reason.to_string())),
        }
    }
    row.failed.sort();
    row.stopped.sort();
    row
}

/// Formats a failure without the commands that repeat it, as they would not run on the variant.
fn format_failure(failure: &Failure) -> String {
    Failure {
        curl: Vec::new(),
        ..failure.clone()
    }
    .to_string()
}

impl Inner {
    /// Judges a rule on a variant; none if the variant does not affect it. `number` distinguishes
    /// the runs of a rule.
    async fn tolerates(
        &self,
        variant: &Variant,
        rule: &RecordedRule,
        mode: JudgeMode,
        number: u64,
    ) -> Option<Verdict> {
        let mut chosen = self.chosen.iter();
        let chosen = chosen.find(|one| one.clause.id == rule.rule)?;
        if let JudgeMode::Recorded = mode {
            let exchanges = rule.altered(&variant.changes)?;
            let verdict = self.judge_recorded(chosen, exchanges).await;
            if verdict == Some(Verdict::Pass) {
                return verdict;
            }
        }
        let mut verdict = self.on_variant(chosen, variant, 2 * number).await;
        // A busy machine is not a defect of the rule.
        if matches!(verdict, Verdict::Fail(_)) {
            verdict = self.on_variant(chosen, variant, 2 * number + 1).await;
        }
        Some(verdict)
    }

    /// Runs a rule on the server, through the variant.
    async fn on_variant(&self, chosen: &Chosen, variant: &Variant, number: u64) -> Verdict {
        let run = run_name("c", self.seed.wrapping_add(number));
        let context = RunContext {
            run: &run,
            transport: Transport::Altered(&variant.changes),
            events: &Mutex::default(),
            interrupt: &Interrupt::never(),
            eventual_timeout: self.eventual_timeout,
            listings: &Listings::default(),
        };
        self.judge(chosen, &context).await.verdict
    }
}

#[cfg(test)]
#[expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
mod tests {
    use super::*;
    use crate::evidence::{Exchange, Payload, ReceivedResponse, SentRequest};
    use crate::scenario::{Expectation, at, get, scenario, text};
    use crate::target::Target;

    /// Judges the response `{"result": 1}`, in which a variant has inserted the space, by a
    /// snapshot without it.
    fn verdict(fact: Expectation, snapshot: &str) -> Option<Verdict> {
        let target = Target::at(None, None, None, Default::default());
        let rule = "engine/common/documents/base-document-is-written-data".to_owned();
        let suite = Suite::builder(target).rules([rule.clone()]).build();
        let suite = suite.expect("a suite");
        let clause = suite.inner.chosen.first().expect("a clause").clause;
        let chosen = Chosen {
            clause,
            scenario: Some(scenario().when(get("/v1/data/a").expect(fact))),
            snapshot: Some(format!("GET /v1/data/a\n  {snapshot}\n")),
        };
        let exchange = Exchange {
            rule: rule.clone(),
            step: 1,
            identity: "administrator".to_owned(),
            request: SentRequest {
                method: "GET".to_owned(),
                url: "http://127.0.0.1:1/v1/data/a".to_owned(),
                headers: Vec::new(),
                body: Payload::Empty,
            },
            response: Some(ReceivedResponse {
                status: 200,
                headers: vec![("content-type".to_owned(), "application/json".to_owned())],
                body: Payload::Text(r#"{"result":1}"#.to_owned()),
            }),
            error: None,
            milliseconds: 1.0,
        };
        let variants = "- {variant: v, does: It does., allowed-by: Silence., on: GET /v1/data/**, answer: [spell: {layout: spaced}]}";
        let variants = Variant::parse("engine/v1/data/get", variants);
        let variant = variants.unwrap_or_else(|error| panic!("{error}")).remove(0);
        let recorded_rule = RecordedRule::of(rule, vec![exchange]);
        assert_eq!(
            recorded_rule.judge_mode(&variant.changes),
            Some(JudgeMode::Recorded)
        );
        let exchanges = recorded_rule
            .altered(&variant.changes)
            .expect("another answer");
        let judged = suite.inner.judge_recorded(&chosen, exchanges);
        suite.runtime.block_on(judged)
    }

    #[test]
    fn a_rule_that_demands_more_than_its_document_fails_on_a_variant() {
        assert_eq!(verdict(at("/result"), "/result = 1"), Some(Verdict::Pass));
        let over_strict = verdict(text(), r#"text = "{\"result\":1}""#);
        let Some(Verdict::Fail(failure)) = over_strict else {
            panic!("{over_strict:?}");
        };
        assert!(
            format_failure(&failure).contains(r#"{ \"result\" : 1 }"#),
            "{failure}"
        );
    }

    #[test]
    fn a_silence_excuses_a_rule_that_is_blocked_and_none_that_fails() {
        let variants = "- {variant: v, does: It does., allowed-by: Silence., on: GET /**, delay: 1, stops: {engine/quiet: Silence.}}";
        let variants = Variant::parse("engine/v1/data/get", variants);
        let variant = variants.unwrap_or_else(|error| panic!("{error}")).remove(0);
        let fails = |rule: &str, blocked| {
            let failure = Failure {
                blocked,
                ..Failure::default()
            };
            (rule.to_owned(), Verdict::Fail(failure))
        };
        let row = row(
            Arc::new(variant),
            vec![
                fails("engine/other", true),
                fails("engine/quiet/a", true),
                fails("engine/quiet/b", false),
                ("engine/quiet/c".to_owned(), Verdict::Pass),
            ],
        );
        let names = |of: &[(String, String)]| -> Vec<String> {
            of.iter().map(|(rule, _)| rule.clone()).collect()
        };
        assert_eq!(row.judged, 3);
        assert_eq!(names(&row.failed), ["engine/other", "engine/quiet/b"]);
        assert_eq!(names(&row.stopped), ["engine/quiet/a"]);
    }
}

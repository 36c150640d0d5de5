//! Runs each fault on the rules that it affects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::recorded_rule::{JudgeMode, RecordedRule};
use crate::catalogue::{Level, Pack};
use crate::faults::{Alteration, Fault, Matrix};
use crate::http_client::pagination::Listings;
use crate::judge::verdict::Verdict;
use crate::run::interrupt::Interrupt;
use crate::run::rule::RunContext;
use crate::run::runner::Transport;
use crate::run::{Chosen, Inner, Suite};
use crate::scenario::resource_names::run_name;

/// Timeout of eventual effects on a broken server: faults prevent many of them.
const BROKEN_TIMEOUT: Duration = Duration::from_secs(4);

/// Ids of rules, by the id of a fault.
type RulesByFault = BTreeMap<String, BTreeSet<String>>;

impl Suite {
    /// Runs every fault on every chosen rule whose exchanges it alters. A fault of a pack runs only
    /// on rules of that pack.
    ///
    /// # Errors
    /// The rules that fail without any fault: tests on such a server prove nothing.
    pub fn kill_matrix(&self, faults: Vec<Fault>) -> Result<Matrix, Vec<String>> {
        let rules = self.recorded_rules()?;
        let faults: Vec<Arc<Fault>> = faults.into_iter().map(Arc::new).collect();
        let mut pending = Vec::new();
        for fault in &faults {
            let pack = Pack::of(&fault.id);
            for rule in rules.iter().filter(|rule| Pack::of(&rule.rule) == pack) {
                let mode = rule.judge_mode(std::slice::from_ref(&fault.alteration));
                pending.extend(mode.map(|mode| (Arc::clone(fault), Arc::clone(rule), mode)));
            }
        }
        let inner = &self.inner;
        let noticed = self.runtime.block_on(async {
            let tasks = pending.into_iter().zip(1_u64..);
            let tasks = tasks.map(|((fault, rule, mode), number)| {
                let inner = Arc::clone(inner);
                tokio::spawn(async move {
                    let noticed = inner.notices(&fault, &rule, mode, number).await;
                    noticed.map(|noticed| (fault.id.clone(), rule.rule.clone(), noticed))
                })
            });
            let done: Vec<_> = stream::iter(tasks)
                .buffer_unordered(inner.jobs)
                .collect()
                .await;
            inner.stop().await;
            done
        });
        let (mut touched, mut killed) = (RulesByFault::new(), RulesByFault::new());
        for (fault, rule, notices) in noticed.into_iter().flatten().flatten() {
            if notices {
                killed
                    .entry(fault.clone())
                    .or_default()
                    .insert(rule.clone());
            }
            touched.entry(fault).or_default().insert(rule);
        }
        let rules = inner.chosen.iter().map(|one| one.clause);
        let rules = rules.filter(|clause| clause.level == Level::Rule);
        let rules = rules.map(|clause| clause.id.clone()).collect();
        Ok(Matrix::new(faults, rules, touched, killed))
    }
}

impl Inner {
    /// Whether a rule fails on the server with this fault; none if the fault does not alter the
    /// rule's exchanges. `number` distinguishes the runs of a rule.
    async fn notices(
        &self,
        fault: &Fault,
        rule: &RecordedRule,
        mode: JudgeMode,
        number: u64,
    ) -> Option<bool> {
        let chosen = self.chosen.iter().find(|one| one.clause.id == rule.rule)?;
        let alterations = std::slice::from_ref(&fault.alteration);
        if mode == JudgeMode::Recorded {
            let exchanges = rule.altered(alterations)?;
            let alters_wait = rule.alters_wait(chosen, &exchanges);
            let verdict = self.judge_recorded(chosen, exchanges).await;
            let noticed = verdict.as_ref().map(is_noticed);
            // A step that waits may end earlier, and later steps find another state of the server.
            let is_certain = noticed == Some(true) || !alters_wait;
            if let Some(noticed) = noticed.filter(|_| is_certain) {
                return Some(noticed);
            }
        }
        let verdict = self.on_broken_server(chosen, alterations, number).await;
        Some(is_noticed(&verdict))
    }

    async fn on_broken_server(
        &self,
        chosen: &Chosen,
        alterations: &[Alteration],
        number: u64,
    ) -> Verdict {
        let run = run_name("c", self.seed.wrapping_add(number));
        let context = RunContext {
            run: &run,
            transport: Transport::Altered(alterations),
            events: &Mutex::default(),
            interrupt: &Interrupt::never(),
            eventual_timeout: BROKEN_TIMEOUT,
            listings: &Listings::default(),
        };
        self.judge(chosen, &context).await.verdict
    }
}

/// Whether a verdict is a failure by the rule's own checks, not by a precondition.
fn is_noticed(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Fail(failure) if !failure.blocked)
}

//! Kill matrix of clients: the rules that notice each fault of the reference client.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;

use super::fault::Fault;
use super::rules::{Rule, Rules};
use super::run_rule::run_rule;
use super::{Model, Subject};
use crate::judge::verdict::Verdict;

/// Timeout of one operation of the reference client. It is long, so that only a hang reaches it:
/// the runs are concurrent, maybe on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Number of concurrent runs.
const JOBS: usize = 8;

/// Matrix of the rules that notice each fault of the reference client.
#[derive(Debug)]
pub struct Matrix {
    /// Each fault with the rules that fail, with a star at the rule that must notice it.
    pub text: String,
    /// Problems with faults and rules, one sentence each.
    pub findings: Vec<String>,
}

/// Runs rules on the reference client without faults, and with each fault of their API; unless
/// `every_fault`, only with the faults that they must notice.
///
/// # Errors
/// A message if a rule's server does not start.
pub fn kill_matrix(rules: Rules, every_fault: bool) -> Result<Matrix, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(filled(rules, every_fault))
}

/// Returns the API that a rule tests.
fn api(rule: &str) -> Option<&str> {
    rule.split('/').nth(1)
}

async fn filled(rules: Rules, every_fault: bool) -> Result<Matrix, String> {
    let (rules, faults) = rules.into_parts();
    let faults: Vec<Arc<Fault>> = faults.into_iter().map(Arc::new).collect();
    let mut pairs: Vec<(Option<Arc<Fault>>, &Rule)> = Vec::new();
    for rule in &rules {
        pairs.push((None, rule));
        let concerned = faults.iter().filter(|fault| {
            fault.rule == rule.id || (every_fault && api(&fault.rule) == api(&rule.id))
        });
        pairs.extend(concerned.map(|fault| (Some(Arc::clone(fault)), rule)));
    }
    let runs = pairs.into_iter().map(|(fault, rule)| async move {
        let mut subject = Subject::Model(Box::new(Model::new(fault.clone())));
        let rule_run = run_rule(rule, &mut subject, LIMIT).await;
        let passed = rule_run.map(|rule_run| rule_run.verdict == Verdict::Pass);
        (fault, rule, passed)
    });
    let mut noticed: Vec<(Option<Arc<Fault>>, &Rule)> = Vec::new();
    let mut runs = futures_util::stream::iter(runs).buffered(JOBS);
    while let Some((fault, rule, passed)) = runs.next().await {
        match passed {
            Ok(true) => {}
            Ok(false) => noticed.push((fault, rule)),
            Err(reason) => return Err(format!("{}: {reason}", rule.id)),
        }
    }
    let (mut text, mut findings) = (String::new(), Vec::new());
    for (_, rule) in noticed.iter().filter(|(fault, _)| fault.is_none()) {
        findings.push(format!("{} fails without a fault", rule.id));
    }
    for fault in &faults {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", fault.id, fault.breaks);
        let fails = |(other, _): &&(Option<Arc<Fault>>, &Rule)| {
            other.as_ref().is_some_and(|other| other.id == fault.id)
        };
        let mut noticed_by_target = false;
        for (_, rule) in noticed.iter().filter(fails) {
            let star = if rule.id == fault.rule { '*' } else { ' ' };
            noticed_by_target |= rule.id == fault.rule;
            let _ = writeln!(text, "{star} {}", rule.id);
        }
        if !noticed_by_target {
            findings.push(format!("{}: {} does not notice", fault.id, fault.rule));
        }
    }
    Ok(Matrix { text, findings })
}

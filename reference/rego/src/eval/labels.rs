//! The labels that METADATA blocks give rules.

use std::collections::BTreeSet;

use super::machine::{Frame, Machine};
use super::rules::Candidate;
use super::trace::Subject;
use crate::Value;
use crate::compile::ModuleSet;
use crate::compile::rule_tree::ground_steps;
use crate::hash::HashSet;
use crate::syntax::Annotations;
use crate::trace::Op;
use crate::value::Object;

/// Labels of rules that have had an answer.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// Rules, each with the index of its `else` branch.
    rules: HashSet<(usize, usize)>,
    known: BTreeSet<Value>,
    /// Labels in the order of the first answers.
    found: Vec<Value>,
}

impl Labels {
    /// Records that a rule has an answer. Returns the labels of the rule if they are new.
    fn note(&mut self, module_set: &ModuleSet, candidate: Candidate<'_>) -> Option<&Value> {
        if !self.rules.insert((candidate.address(), candidate.branch)) {
            return None;
        }
        let labels = labels(module_set, candidate);
        if labels.is_empty() {
            return None;
        }
        let labels = Value::from(labels);
        if !self.known.insert(labels.clone()) {
            return None;
        }
        self.found.push(labels);
        self.found.last()
    }

    /// Returns the distinct labels.
    pub(super) fn found(self) -> Vec<Value> {
        self.found
    }
}

impl<'p> Machine<'p> {
    /// Reports to the tracer and the label collector that a rule has an answer.
    pub(super) fn note_exit(&mut self, child: &Frame<'_>, candidate: Candidate<'p>) {
        if self.watched() {
            self.report(child, Op::Exit, Subject::Rule(candidate));
        }
        if let Some(labels) = &mut self.labels
            && let Some(new) = labels.note(self.policy.module_set(), candidate)
        {
            self.meter.unfolds(new);
        }
    }
}

/// Returns the labels of a rule: those of the enclosing packages, its package, its document and its
/// own, of which the innermost take precedence. An `else` has no labels.
fn labels(module_set: &ModuleSet, candidate: Candidate<'_>) -> Object {
    let rule = candidate.rule;
    let package = rule.reference.get(..rule.package).unwrap_or_default();
    let around = (1..=package.len()).filter_map(|end| {
        let outer = package.get(..end)?;
        module_set.block_of_package(outer, "subpackages")
    });
    let rule_blocks = rule.ast().annotations.iter().map(AsRef::as_ref);
    let rule_blocks =
        rule_blocks.filter(|block: &&Annotations| &*block.scope == "rule" && candidate.branch == 0);
    let document = rule.reference.get(..ground_steps(&rule.reference));
    let blocks = around
        .chain(module_set.block_of_package(package, "package"))
        .chain(document.and_then(|document| module_set.block_of_document(document)))
        .chain(rule_blocks);
    let mut labels = Object::new();
    for (name, value) in blocks.filter_map(Annotations::labels).flatten() {
        labels.insert(name.clone(), value.clone());
    }
    labels
}

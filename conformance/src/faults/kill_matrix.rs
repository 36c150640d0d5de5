//! Kill matrix: the rules that notice each fault.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::Fault;

/// Matrix of the rules that notice each fault.
#[derive(Debug)]
pub struct Matrix {
    faults: Vec<Arc<Fault>>,
    /// Every tested rule.
    rules: BTreeSet<String>,
    /// By fault: the rules whose exchanges the fault changes.
    touched: BTreeMap<String, BTreeSet<String>>,
    /// By fault: the rules that fail with the fault.
    killed: BTreeMap<String, BTreeSet<String>>,
}

impl Matrix {
    pub(crate) fn new(
        faults: Vec<Arc<Fault>>,
        rules: BTreeSet<String>,
        touched: BTreeMap<String, BTreeSet<String>>,
        killed: BTreeMap<String, BTreeSet<String>>,
    ) -> Self {
        Self {
            faults,
            rules,
            touched,
            killed,
        }
    }

    fn killed(&self, fault: &Fault) -> BTreeSet<String> {
        self.killed.get(&fault.id).cloned().unwrap_or_default()
    }

    /// Rules that notice a fault that is aimed at them.
    pub fn detecting(&self) -> BTreeSet<String> {
        let kills = |fault: &Arc<Fault>| {
            let killed = self.killed(fault);
            let aimed = fault
                .kills
                .iter()
                .filter(move |rule| killed.contains(*rule));
            aimed.cloned().collect::<Vec<_>>()
        };
        let detecting = self.faults.iter().flat_map(kills);
        detecting.filter(|rule| self.rules.contains(rule)).collect()
    }

    /// Number of tested rules.
    pub fn rules(&self) -> usize {
        self.rules.len()
    }

    /// Number of tested faults.
    pub fn faults(&self) -> usize {
        self.faults.len()
    }

    /// Defects of the faults or rules, one sentence each.
    pub fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for fault in &self.faults {
            let id = &fault.id;
            let killed = self.killed(fault);
            let touched = self.touched.get(id).cloned().unwrap_or_default();
            for aimed in &fault.kills {
                if !self.rules.contains(aimed) {
                    findings.push(format!(
                        "{id}: unknown rule `{aimed}` in `kills`: expected one of this run"
                    ));
                } else if !touched.contains(aimed) {
                    findings.push(format!("{id}: changes no request or response of {aimed}"));
                } else if !killed.contains(aimed) {
                    findings.push(format!("{id}: {aimed} does not notice"));
                }
            }
            for rule in killed.iter().filter(|rule| !fault.concerns(rule)) {
                findings.push(format!(
                    "{id}: {rule} fails too, but is not listed in `kills`, `also` or `sometimes`"
                ));
            }
            for pattern in fault.also() {
                if !killed.iter().any(|rule| pattern.matches(rule)) {
                    findings.push(format!(
                        "{id}: no rule that matches `{}` in `also` fails",
                        pattern.text()
                    ));
                }
            }
        }
        let detecting = self.detecting();
        let ineffective = self.rules.difference(&detecting);
        findings.extend(
            ineffective.map(|rule| format!("{rule}: notices no fault that is aimed at it")),
        );
        findings
    }
}

/// Formats one paragraph per fault: the server's behaviour and the rules that notice the fault,
/// marked with `*` if the fault is aimed at them.
impl fmt::Display for Matrix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(out, "{}: {}", fault.id, fault.breaks)?;
            for rule in self.killed(fault) {
                let mark = match fault.kills.contains(&rule) {
                    true => '*',
                    false => ' ',
                };
                writeln!(out, "{mark} {rule}")?;
            }
        }
        Ok(())
    }
}

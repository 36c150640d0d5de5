//! Results of the rules on variants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::over_strict::Entry;
use super::{OverStrict, Variant};

/// Results of every rule on every variant that affects it.
#[derive(Debug)]
pub struct Tolerance {
    rows: Vec<Row>,
    /// Number of tested rules.
    rules: usize,
    known: OverStrict,
}

/// Results of one variant.
#[derive(Debug)]
pub struct Row {
    /// The variant.
    pub variant: Arc<Variant>,
    /// Number of rules judged on the variant.
    pub judged: usize,
    /// Rules that failed or were blocked on the variant, with the failure.
    pub failed: Vec<(String, String)>,
    /// Rules that did not run on the variant, or were blocked where the documents are silent, with
    /// the reason.
    pub stopped: Vec<(String, String)>,
}

impl Row {
    /// Creates the results of a variant on which no rule has run yet.
    pub(crate) fn new(variant: Arc<Variant>) -> Self {
        Self {
            variant,
            judged: 0,
            failed: Vec::new(),
            stopped: Vec::new(),
        }
    }
}

impl Tolerance {
    /// Creates the results of all variants for this number of rules.
    pub(crate) fn new(rows: Vec<Row>, rules: usize, known: OverStrict) -> Self {
        Self { rows, rules, known }
    }

    /// Number of tested rules.
    pub fn rules(&self) -> usize {
        self.rules
    }

    /// Results of each variant, in the given order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Ids of the variants that affect no rule.
    pub fn idle(&self) -> Vec<&str> {
        let idle = self
            .rows
            .iter()
            .filter(|row| row.judged == 0 && row.stopped.is_empty());
        idle.map(|row| row.variant.id.as_str()).collect()
    }

    /// Failed rules that are known to be over-strict: one line per variant and reason.
    pub fn known(&self) -> Vec<String> {
        let mut known = Vec::new();
        for row in &self.rows {
            let id = &row.variant.id;
            let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for (rule, _) in &row.failed {
                if let Some(reason) = self.known.reason(id, rule) {
                    reasons.entry(reason).or_default().push(rule);
                }
            }
            for (reason, rules) in reasons {
                let rules = match rules.as_slice() {
                    [one] => (*one).to_owned(),
                    several => format!("{} rules", several.len()),
                };
                known.push(format!("{rules} on {id}: {reason}"));
            }
        }
        known
    }

    /// Number of tested rules that failed on no variant.
    pub fn tolerant(&self) -> usize {
        let failed = self.rows.iter().flat_map(|row| &row.failed);
        let failed: BTreeSet<&str> = failed.map(|(rule, _)| rule.as_str()).collect();
        self.rules.saturating_sub(failed.len())
    }

    /// Rules that fail without a known reason, or do not run although no silence of the documents
    /// allows it. One sentence each.
    pub fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for row in &self.rows {
            let id = &row.variant.id;
            for (rule, failure) in &row.failed {
                if self.known.reason(id, rule).is_none() {
                    findings.push(format!("{id}: {rule} fails: {failure}"));
                }
            }
            for (rule, reason) in &row.stopped {
                if row.variant.silence(rule).is_none() {
                    findings.push(format!("{id}: {rule} does not run: {reason}"));
                }
            }
        }
        findings
    }

    /// Entries of the list of over-strict rules for which no rule fails any more.
    pub fn left_over(&self) -> Vec<String> {
        let fails = |entry: &Entry| {
            self.rows.iter().any(|row| {
                let mut failed = row.failed.iter();
                failed.any(|(rule, _)| entry.concerns(&row.variant.id, rule))
            })
        };
        let entries = self.known.entries.iter().filter(|entry| !fails(entry));
        entries
            .map(|entry| {
                format!(
                    "{} passes, but is listed as over-strict ({})",
                    entry.name(),
                    entry.reason
                )
            })
            .collect()
    }
}

/// Formats a table of the variants, with the numbers of judged and of failed rules.
impl fmt::Display for Tolerance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.rows.iter().map(|row| row.variant.id.len());
        let width = ids.max().unwrap_or_default().max("variant".len());
        writeln!(out, "{:width$}  judged  failed", "variant")?;
        for row in &self.rows {
            let (judged, failed) = (row.judged, row.failed.len());
            writeln!(out, "{:width$}  {judged:6}  {failed:6}", row.variant.id)?;
        }
        Ok(())
    }
}

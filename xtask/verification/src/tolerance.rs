//! `cargo xtask tolerance`: runs the suite on servers that differ from the reference as the
//! documents permit, and fails if a rule fails.

use std::error::Error;

use conformance::Suite;
use conformance::target::Target;
use conformance::variants::{OverStrict, Variant};

use crate::report;

/// Runs every rule on every variant of the reference that affects it.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let suite = Suite::builder(Target::embedded()?).for_selftest().build()?;
    let tolerance = suite
        .tolerance(Variant::embedded()?, OverStrict::embedded()?)
        .map_err(|broken| format!("does not hold on the reference: {}", broken.join(", ")))?;
    for row in tolerance.rows() {
        let (judged, failed) = (row.judged, row.failed.len());
        report(
            &row.variant.id,
            &format!("{judged} rules judged, {failed} failed"),
        );
    }
    for known in tolerance.known() {
        report("known to be over-strict", &known);
    }
    let mut findings = tolerance.findings();
    let idle = tolerance.idle().into_iter();
    findings.extend(idle.map(|id| format!("{id}: no rule sees that it is another server")));
    findings.extend(tolerance.left_over());
    for finding in &findings {
        report("finding", finding);
    }
    let (holding, rules) = (tolerance.tolerant(), tolerance.rules());
    let variants = tolerance.rows().len();
    report(
        "tolerance",
        &format!("{holding} of {rules} rules hold on every one of {variants} variants"),
    );
    match findings.is_empty() {
        true => Ok(()),
        false => Err("rules fail on servers that the documents allow".into()),
    }
}

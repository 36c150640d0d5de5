//! Every check of a commit beside the two commands of the README.

use std::time::Instant;

use crate::{Failure, compiled_once, deny, format, lint, proofs, report};

/// What a step does.
enum Step {
    /// A task of this program.
    Task(fn() -> Result<(), Failure>),
    /// Proofs, each with its arguments.
    Proofs(&'static [&'static [&'static str]]),
}

/// In order: what is quick to fail first.
const STEPS: &[(&str, Step)] = &[
    ("format", Step::Task(|| format(true))),
    ("crates compiled once", Step::Task(compiled_once::run)),
    ("what dependencies may be", Step::Task(deny::run)),
    ("lints", Step::Task(lint)),
    ("store suite on PostgreSQL", Step::Proofs(&[&["store"]])),
    (
        "the HTML report in a browser",
        Step::Proofs(&[&["report-page"]]),
    ),
    ("language cases", Step::Proofs(&[&["rego-cases"]])),
    (
        "what residuals mean",
        Step::Proofs(&[&["residuals", "--cases", "500"]]),
    ),
    (
        "rows that filters select",
        Step::Proofs(&[&["filters", "--cases", "1000"]]),
    ),
    (
        "faults and the rules that notice them",
        Step::Proofs(&[&["kill-matrix"]]),
    ),
    (
        "servers that the documents allow",
        Step::Proofs(&[&["tolerance"]]),
    ),
    ("evidence of other servers", Step::Proofs(&[&["results"]])),
    ("submissions", Step::Proofs(&[&["submissions"]])),
    ("real peers", Step::Proofs(&[&["peers"]])),
    ("findings", Step::Proofs(&[&["findings"]])),
    (
        "what the engine and the real OPA log",
        Step::Proofs(&[&["opa-logs"]]),
    ),
    (
        "what callers of client libraries see",
        Step::Proofs(&[&["clients"]]),
    ),
    (
        "clients that are tested with the mock",
        Step::Proofs(&[&["mock-examples"]]),
    ),
    (
        "clients behind their adapters",
        Step::Proofs(&[&["client-examples"]]),
    ),
    (
        "libraries behind the shim",
        Step::Proofs(&[&["shim-examples"]]),
    ),
    (
        "released versions of the real OPA",
        Step::Proofs(&[&["matrix"]]),
    ),
    // Of what the steps before it left evidence of.
    (
        "pages about every implementation",
        Step::Proofs(&[&["site", "--look"]]),
    ),
    (
        "bundles from definition to decision",
        Step::Proofs(&[&["bundles", "--seconds", "30", "--kills", "100"]]),
    ),
    ("attacks", Step::Proofs(&[&["attack"]])),
    (
        "use for a while",
        Step::Proofs(&[&["soak", "--seconds", "60"]]),
    ),
    (
        "generated policies beside the real OPA",
        Step::Proofs(&[&["fuzz-opa", "--cases", "500"]]),
    ),
    (
        "cost of growth and of the suite",
        Step::Proofs(&[&["bench", "control"], &["bench", "suite"]]),
    ),
];

impl Step {
    fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Task(task) => task(),
            Self::Proofs(all) => all.iter().try_for_each(|proof| proofs::run(proof)),
        }
    }
}

/// Runs every step, and says at the end what ran and how long it took.
///
/// # Errors
/// With the first step that fails; what could not run has failed.
pub(crate) fn run() -> Result<(), Failure> {
    let mut finished = Vec::new();
    for (name, step) in STEPS {
        report("checking", name);
        let start = Instant::now();
        step.run().map_err(|why| format!("{name}: {why}"))?;
        let took = start.elapsed().as_secs();
        report("held", &format!("{name}, after {took} s"));
        finished.push((name, took));
    }
    for (name, seconds) in finished {
        report("passed", &format!("{name} ({seconds} s)"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{STEPS, Step};
    use crate::proof_names::PROOFS;

    #[test]
    fn steps_name_proofs() {
        for (step, what) in STEPS {
            let Step::Proofs(all) = what else { continue };
            for proof in *all {
                let is_known = PROOFS.iter().any(|(name, _)| proof.first() == Some(name));
                assert!(is_known, "{step}: {proof:?}");
            }
        }
    }
}

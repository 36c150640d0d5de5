//! Table of the CI steps.

use super::Stage;
use crate::{Failure, build_cost, compiled_once, deny, features, format, lint};

/// Step of `cargo xtask ci`.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) stage: Stage,
    /// Files and folders whose change adds the step to the stage `commit`, if `--since` names the
    /// revision to compare with.
    pub(super) paths: &'static [&'static str],
    pub(super) run: Run,
}

/// Action of a step.
pub(super) enum Run {
    /// Task of this program.
    Task(fn() -> Result<(), Failure>),
    /// Checks of the package `verification`, each with its arguments.
    Checks(&'static [&'static [&'static str]]),
}

const fn task(
    name: &'static str,
    stage: Stage,
    paths: &'static [&'static str],
    task: fn() -> Result<(), Failure>,
) -> Step {
    Step {
        name,
        stage,
        paths,
        run: Run::Task(task),
    }
}

const fn at_commit(name: &'static str, checks: &'static [&'static [&'static str]]) -> Step {
    Step {
        name,
        stage: Stage::Commit,
        paths: &[],
        run: Run::Checks(checks),
    }
}

const fn nightly(
    name: &'static str,
    paths: &'static [&'static str],
    checks: &'static [&'static [&'static str]],
) -> Step {
    Step {
        name,
        stage: Stage::Nightly,
        paths,
        run: Run::Checks(checks),
    }
}

const fn weekly(name: &'static str, checks: &'static [&'static [&'static str]]) -> Step {
    Step {
        name,
        stage: Stage::Weekly,
        paths: &[],
        run: Run::Checks(checks),
    }
}

/// Every step. Within a stage, steps that fail quickly come first.
pub(super) const STEPS: &[Step] = &[
    task("format", Stage::Commit, &[], || format(true)),
    task(
        "crates compiled once",
        Stage::Commit,
        &[],
        compiled_once::run,
    ),
    task("lints", Stage::Commit, &[], lint),
    at_commit("language cases of OPA", &[&["rego-cases"]]),
    at_commit(
        "residuals of some policies",
        &[&["residuals", "--cases", "100"]],
    ),
    at_commit(
        "rows that some filters select in SQLite",
        &[&["filters", "--cases", "200", "--sqlite-only"]],
    ),
    at_commit("submissions", &[&["submissions"]]),
    at_commit("evidence of other servers", &[&["results"]]),
    task(
        "dependencies allowed",
        Stage::Nightly,
        &["Cargo.lock", "deny.toml"],
        deny::run,
    ),
    task(
        "builds with fewer features",
        Stage::Nightly,
        &["reference"],
        features,
    ),
    nightly(
        "store suite on PostgreSQL",
        &["reference/control/src/store"],
        &[&["store"]],
    ),
    nightly(
        "HTML report in a browser",
        &["conformance/src/report", "xtask/verification/browser"],
        &[&["report-page"]],
    ),
    nightly(
        "kill matrix",
        &[
            "conformance/clients",
            "conformance/src/client_conformance",
            "conformance/src/faults",
            "conformance/src/judge",
            "conformance/src/rules",
            "conformance/src/run",
            "faults",
            "snapshots",
        ],
        &[&["kill-matrix"]],
    ),
    nightly(
        "servers that the documents allow",
        &["variants", "conformance/src/variants"],
        &[&["tolerance"]],
    ),
    nightly(
        "residuals of many policies",
        &["reference/rego/src/partial_eval"],
        &[&["residuals", "--cases", "3000"]],
    ),
    nightly(
        "rows that filters select in three databases",
        &["reference/rego/src/filter"],
        &[&["filters", "--cases", "1000"]],
    ),
    nightly("real peers", &[], &[&["peers"]]),
    nightly("findings", &["FINDINGS.md", "findings"], &[&["findings"]]),
    nightly(
        "logs of the engine and of the real OPA",
        &["reference/http-server/src/log"],
        &[&["opa-logs"]],
    ),
    nightly(
        "client libraries",
        &["xtask/verification/clients"],
        &[&["clients"]],
    ),
    nightly(
        "built-in functions compared with the real OPA",
        &["reference/rego/src/builtins"],
        &[
            &["builtins", "--calls", "3000"],
            &["builtins", "--calls", "500", "--seed", "1"],
        ],
    ),
    nightly(
        "paths in every spelling compared with the real OPA",
        &[
            "reference/http-server/src",
            "reference/engine/src/routes.rs",
        ],
        &[&["path-spellings"]],
    ),
    nightly(
        "clients tested with the mock",
        &["examples/mock", "conformance/src/mock"],
        &[&["mock-examples"]],
    ),
    nightly(
        "clients behind their adapters",
        &["examples/client"],
        &[&["client-examples"]],
    ),
    nightly(
        "libraries behind the shim",
        &["examples/shim", "conformance/src/shim"],
        &[&["shim-examples"]],
    ),
    nightly("released versions of the real OPA", &[], &[&["matrix"]]),
    // Shows the evidence produced by the previous steps.
    nightly(
        "pages about every implementation",
        &[
            "conformance/src/report/html/site",
            "xtask/verification/src/site",
        ],
        &[&["site", "--look"]],
    ),
    nightly(
        "bundles from definition to decision",
        &[
            "reference/control/src/builder",
            "reference/control/src/worker",
        ],
        &[&["bundles", "--seconds", "30", "--kills", "100"]],
    ),
    nightly(
        "attacks",
        &["xtask/verification/src/attack"],
        &[&["attack"]],
    ),
    nightly("soak for a minute", &[], &[&["soak", "--seconds", "60"]]),
    nightly(
        "generated policies compared with the real OPA",
        &[],
        &[&["fuzz-opa", "--cases", "500"]],
    ),
    nightly(
        "cost of growth and of the suite",
        &[],
        &[&["bench", "control"], &["bench", "suite"]],
    ),
    weekly("every release of the real OPA", &[&["matrix", "--all"]]),
    weekly(
        "speed of the engine",
        &[
            &["bench", "engine"],
            &["bench", "engine", "--rvm"],
            &["bench", "compile"],
        ],
    ),
    task("cost of building", Stage::Weekly, &[], build_cost::run),
    weekly("soak for an hour", &[&["soak"]]),
    weekly(
        "a thousand kills of control planes",
        &[&["bundles", "--kills", "1000"]],
    ),
    weekly(
        "generated policies of many seeds",
        &[&["fuzz-opa", "--cases", "20000", "--seed", "7"]],
    ),
];

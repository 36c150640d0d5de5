//! Names and descriptions of the checks of the package `verification`.

/// Every check, with its description for `cargo xtask --help`. A test of the package `verification`
/// reads this file and compares the list with the commands of its program.
pub(crate) const CHECKS: &[(&str, &str)] = &[
    (
        "peers",
        "Build the real OPA at its pinned version and run the suite on it, and on the other servers of `results/` that are on the search path",
    ),
    (
        "results",
        "Judge the evidence in `results/` again by the rules of today",
    ),
    (
        "findings",
        "Play the reproducers of FINDINGS.md on the real servers, and compare what they show",
    ),
    (
        "ocp-examples",
        "Play the end-to-end examples of OPA Control Plane, and compare the files of their bundles with those that it makes",
    ),
    (
        "opa-logs",
        "Compare the keys and types of what the engine and the real OPA write to their logs",
    ),
    (
        "path-spellings",
        "Compare what the authorization policy is shown of each spelling of a path with the real OPA",
    ),
    (
        "clients",
        "Compare what callers of client libraries see of the engine and of the real OPA",
    ),
    (
        "mock-examples",
        "Test a client with `conformance mock` in each language of `examples/mock/`",
    ),
    (
        "client-examples",
        "Judge the clients of `examples/client/` behind their adapters",
    ),
    (
        "shim-examples",
        "Judge the libraries of `examples/shim/` behind `conformance shim`",
    ),
    (
        "rego-cases",
        "Run the language cases of the pinned OPA module through the crate `rego`",
    ),
    (
        "builtins",
        "Compare generated calls of every built-in function with the real OPA",
    ),
    (
        "fuzz-opa",
        "Compare generated policies and queries with the real OPA",
    ),
    (
        "residuals",
        "Compare what partial evaluation leaves of generated policies with what they mean",
    ),
    (
        "filters",
        "Compare the rows that filters select in databases with those for which the rule is true",
    ),
    (
        "bundles",
        "End-to-end tests of bundles: real storage, git servers, engines, replicas, kills",
    ),
    (
        "store",
        "Run the store suite of the control plane on a real PostgreSQL",
    ),
    (
        "kill-matrix",
        "Inject every fault into the reference, and compare which rules notice with `faults/kill-matrix.txt`; the same with the faults of clients; then the general mutants, and trivial servers",
    ),
    (
        "tolerance",
        "Vary the reference as the documents allow, and check that no rule fails but those that `variants/known.toml` lists",
    ),
    (
        "attack",
        "Run attacks on live servers, and check that other clients are unaffected",
    ),
    (
        "soak",
        "Soak test: compare every answer of both servers with a model, and memory with that at the start",
    ),
    (
        "report-page",
        "Test the HTML report in Chromium; pictures are left in `target/report-page`",
    ),
    (
        "site",
        "Make static pages about every implementation with stored evidence",
    ),
    (
        "submissions",
        "Judge the submissions in `results/` again: whether each says what its evidence shows",
    ),
    (
        "matrix",
        "Run the suite on released versions of the real OPA, and compare the result with COMPATIBILITY.md",
    ),
    (
        "coverage",
        "Show how much of each document the scenarios cover; fail on an uncovered clause",
    ),
    ("bench", "Measure, as ratios taken in one run"),
];

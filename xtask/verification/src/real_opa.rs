//! Builds OPA and other peers at pinned versions, and runs the suite on them.

use std::{error::Error, path::PathBuf, process::Command};

use crate::{cargo::cargo, command::complete, report, root, stored_evidence};

/// Folder of the Go module that pins OPA and its checksums, and the package of its program.
const MODULE: &str = "xtask/verification/opa";
const PROGRAM: &str = "github.com/open-policy-agent/opa";

/// Arguments that start OPA as a server, in addition to its address.
pub(crate) const SERVE: &[&str] = &["run", "--server", "--skip-version-check"];

/// Runs the whole suite on the real OPA, and on those servers of `results/` that are on the search
/// path. The suite compares the result with the list below `conformance/known/`: an unlisted
/// failure is an error, and so is a listed rule that passes. With `keep`, the new evidence of the
/// other servers replaces that in `results/`.
///
/// # Errors
/// When OPA cannot be built, or a run of the suite fails.
pub(crate) fn run(keep: bool) -> Result<(), Box<dyn Error>> {
    let program = build()?;
    report("judging", "the real OPA by the whole suite");
    let folder = root().join("target/peers");
    let json = format!("json={}", folder.join("opa.json").display());
    let evidence = format!("ndjson={}", folder.join("opa.ndjson").display());
    complete(
        cargo()
            .current_dir(root())
            .args(["conformance", "run", "--target", "opa", "--program"])
            .arg(program)
            .args(["--report", &json, "--report", &evidence]),
    )?;
    stored_evidence::servers()?
        .iter()
        .try_for_each(|server| server.run(keep))
}

/// Builds the real OPA; returns its path.
///
/// # Errors
/// When Go is not installed, or the module is not available.
pub(crate) fn build() -> Result<PathBuf, Box<dyn Error>> {
    report("building", "the real OPA at its pinned version");
    go_program("opa", MODULE, PROGRAM)
}

/// Builds a program of a pinned Go module in a folder of the repository; returns its path.
///
/// # Errors
/// When Go is not installed, or the module is not available.
pub(crate) fn go_program(
    name: &str,
    module: &str,
    package: &str,
) -> Result<PathBuf, Box<dyn Error>> {
    let program = root().join("target/peers").join(name);
    complete(
        Command::new("go")
            .current_dir(root().join(module))
            .env("CGO_ENABLED", "0")
            .args(["build", "-o"])
            .arg(&program)
            .arg(package),
    )?;
    Ok(program)
}

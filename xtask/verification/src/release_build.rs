//! Release build of the reference, for benchmarks and attacks.

use std::error::Error;
use std::path::PathBuf;

use crate::cargo::cargo;
use crate::command::complete;
use crate::root;

/// Packages of the build: the program, and the suite only so that their dependencies have the same
/// features as in other builds.
pub(crate) const PACKAGES: &[&str] = &[
    "--package",
    "opa-reference",
    "--bin",
    "reference",
    "--package",
    "opa-conformance",
    "--features",
    "opa-conformance/embedded",
];

/// Builds the program with the release profile; returns its path.
///
/// # Errors
/// When the program does not build.
pub(crate) fn reference() -> Result<PathBuf, Box<dyn Error>> {
    complete(
        cargo()
            .current_dir(root())
            .args(["build", "--profile", "dist"])
            .args(PACKAGES),
    )?;
    Ok(root().join("target/dist/reference"))
}

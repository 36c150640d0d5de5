//! Release build of the reference, for benchmarks and attacks.

use std::error::Error;
use std::path::PathBuf;

use crate::cargo::cargo;
use crate::postgres::done;
use crate::root;

/// What is built of the workspace: the program, and the suite only so that the dependencies of
/// both have the same features as everywhere.
pub(crate) const PACKAGES: &[&str] = &[
    "--package",
    "reference",
    "--bin",
    "reference",
    "--package",
    "conformance",
    "--features",
    "conformance/embedded",
];

/// Builds the program with the profile of released programs; where it is.
///
/// # Errors
/// When it does not build.
pub(crate) fn reference() -> Result<PathBuf, Box<dyn Error>> {
    done(
        cargo()
            .current_dir(root())
            .args(["build", "--profile", "dist"])
            .args(PACKAGES),
    )?;
    Ok(root().join("target/dist/reference"))
}

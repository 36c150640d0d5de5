//! Build of the program under attack.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use crate::cargo::cargo;
use crate::command::complete;
use crate::{release_build, report, root};

/// Packages of this project, which the test profile does not optimise.
const OURS: &[&str] = &[
    "opa-bundle",
    "opa-control",
    "opa-engine",
    "opa-http-server",
    "opa-reference",
    "opa-rego",
];

/// Builds the program: the release build, or a test build with our own packages optimised. The test
/// build reuses the dependencies that every test has already compiled.
///
/// # Errors
/// When it does not build.
pub(crate) fn program(released: bool) -> Result<PathBuf, Box<dyn Error>> {
    report("building", "the program under attack");
    if released {
        return release_build::reference();
    }
    let mut command = cargo();
    command
        .current_dir(root())
        .arg("build")
        .args(release_build::PACKAGES);
    for package in OURS {
        command.args([
            "--config",
            &format!("profile.dev.package.{package}.opt-level=2"),
        ]);
    }
    complete(&mut command)?;
    // Copies the program, because the next test build overwrites it.
    let folder = root().join("target/attack");
    fs::create_dir_all(&folder)?;
    let program = folder.join("reference");
    let built = root().join("target/debug/reference");
    if program.exists() {
        fs::remove_file(&program)?;
    }
    fs::copy(built, &program)?;
    Ok(program)
}

//! The program under attack.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::postgres::done;
use crate::{report, root};

/// Our own crates, which the profile of tests does not optimise.
const OURS: &[&str] = &["reference", "rego"];

/// Builds the program: for release, or as tests have it, but with our own crates optimised, too.
/// The dependencies of the latter are those that every test has compiled already.
///
/// # Errors
/// When it does not build.
pub(crate) fn program(release: bool) -> Result<PathBuf, Box<dyn Error>> {
    report("building", "the program under attack");
    let mut command = Command::new("cargo");
    command
        .current_dir(root())
        .args(["build", "--package", "reference", "--bin", "reference"])
        // Only for the features of dependencies, which are then the same as everywhere.
        .args([
            "--package",
            "conformance",
            "--features",
            "conformance/embedded",
        ]);
    if release {
        done(command.arg("--release"))?;
        return Ok(root().join("target/release/reference"));
    }
    for package in OURS {
        command.args([
            "--config",
            &format!("profile.dev.package.{package}.opt-level=2"),
        ]);
    }
    done(&mut command)?;
    // The next build of the tests takes the place of this one.
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

//! Builds the program under attack.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use crate::cargo::cargo;
use crate::postgres::done;
use crate::{release_build, report, root};

/// Our own crates, which the profile of tests does not optimise.
const OURS: &[&str] = &["reference", "rego"];

/// Builds the program: as it is given out, or as tests have it, but with our own crates optimised.
/// The dependencies of the latter are those that every test has compiled already.
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

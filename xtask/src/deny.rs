//! Checks the licences, bans and sources of dependencies by `deny.toml`. Advisories are checked by
//! the workflows, since not every machine reaches GitHub.

use std::process::{Command, Stdio};

use crate::cargo::cargo;
use crate::commands::done;
use crate::{Failure, report, root};

/// Version of cargo-deny to install.
const VERSION: &str = "0.20.2";
/// Options that make the installation of cargo-deny fast; the program itself runs only for seconds.
const COMPILED: [&str; 3] = ["--debug", "--config", "profile.dev.debug=false"];

/// Runs `cargo deny`, which is first compiled below `target/` if it is not installed.
///
/// # Errors
/// Reports the violations, and a failed installation.
pub(crate) fn run() -> Result<(), Failure> {
    let mut deny = if is_installed() {
        let mut deny = cargo();
        deny.arg("deny");
        deny
    } else {
        own()?
    };
    // Duplicate versions of a crate are allowed, and their warnings fill pages.
    deny.args(["--workspace", "--log-level", "error", "check"]);
    done(
        deny.args(["bans", "licenses", "sources"])
            .current_dir(root()),
    )
}

fn is_installed() -> bool {
    let mut command = cargo();
    command.args(["deny", "--version"]).stdout(Stdio::null());
    let status = command.stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Returns the cargo-deny below `target/`, installed if necessary.
fn own() -> Result<Command, Failure> {
    let folder = root().join("target/cargo-deny");
    let program = folder.join("bin/cargo-deny");
    if !program.exists() {
        report("installing", "cargo-deny");
        let mut install = cargo();
        install.args(["install", "cargo-deny", "--version", VERSION, "--locked"]);
        done(install.args(COMPILED).arg("--root").arg(&folder))?;
    }
    Ok(Command::new(program))
}

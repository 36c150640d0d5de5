//! Invokes cargo from a program that cargo runs.

use std::process::Command;

/// Returns a cargo command without the package variables set by the cargo that started this
/// program. Build scripts read some of them, so their crates, and all dependents, would be compiled
/// again whenever another program starts cargo.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_package) {
            command.env_remove(&name);
        }
    }
    command
}

/// Whether an environment variable describes the package that cargo runs.
fn is_of_package(name: &str) -> bool {
    ["CARGO_MANIFEST_", "CARGO_PKG_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

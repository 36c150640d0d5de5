//! Invocation of cargo.

use std::process::Command;

/// A run of cargo that does not see what the cargo that started this program says of its package.
/// Build scripts ask for some of that, so their crates, and all that depend on them, would be
/// compiled again whenever another program starts cargo.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_package) {
            command.env_remove(&name);
        }
    }
    command
}

/// Whether a variable of the environment tells of the package that cargo runs.
fn is_of_package(name: &str) -> bool {
    ["CARGO_MANIFEST_", "CARGO_PKG_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

//! End-to-end checks of bundles, from a definition to a decision, with real servers and databases.

pub(crate) mod archive;
mod control_plane;
mod crashes;
mod engines;
mod replicas;
mod repositories;
mod storage;
mod uploads;

use std::error::Error;
use std::path::PathBuf;

use serde_json::Value;

/// Runs all checks: uploads to each kind of storage, Git over HTTPS and SSH, replicas of which one
/// is killed, a control plane that is killed `kills` times, and engines that load changes for
/// `seconds`.
///
/// # Errors
/// When a check fails; the following ones are not run.
pub(crate) fn run(seconds: u64, kills: u64) -> Result<(), Box<dyn Error>> {
    control_plane::build()?;
    let folder = tempfile::Builder::new().prefix("bundles-").tempdir()?;
    let folder = folder.path().canonicalize()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        uploads::run(&folder).await?;
        repositories::run(&folder).await?;
        replicas::run(&folder).await?;
        crashes::run(&folder, kills).await?;
        engines::run(&folder, seconds).await
    })
}

/// Builds the program under test, with the same command as the tests; returns its path.
///
/// # Errors
/// When it does not build.
pub(crate) fn program() -> Result<PathBuf, Box<dyn Error>> {
    control_plane::build()?;
    Ok(control_plane::program())
}

/// Returns the value at a JSON pointer in a response; null if there is no value.
fn value_at<'v>(answer: &'v Value, pointer: &str) -> &'v Value {
    answer.pointer(pointer).unwrap_or(&Value::Null)
}

//! End-to-end checks of bundles, from a definition to a decision, with real servers on every side.

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

/// Proves uploads to every kind of storage, git over https and ssh, engines that follow for so
/// many seconds, replicas of which one is killed, and a control plane that is killed so many
/// times.
///
/// # Errors
/// With the first check that fails.
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

/// The program under test, built as the tests do.
///
/// # Errors
/// When it does not build.
pub(crate) fn program() -> Result<PathBuf, Box<dyn Error>> {
    control_plane::build()?;
    Ok(control_plane::program())
}

/// What an answer holds at this place; null where it holds nothing.
fn at<'v>(answer: &'v Value, pointer: &str) -> &'v Value {
    answer.pointer(pointer).unwrap_or(&Value::Null)
}

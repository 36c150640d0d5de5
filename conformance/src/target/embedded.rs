//! The reference server embedded as a target. The only place of the suite that knows it.

use std::net::SocketAddr;

use crate::target::{Target, TargetFileError};

impl Target {
    /// The reference server, started in this process.
    ///
    /// # Errors
    /// The embedded target file has a defect.
    pub fn embedded() -> Result<Self, TargetFileError> {
        let mut target = Self::parse(
            include_str!("../../targets/reference.toml"),
            "targets/reference.toml",
        )?;
        target.in_process = true;
        Ok(target)
    }
}

/// A reference server that runs in this process.
#[derive(Debug)]
pub(crate) struct Running(reference::Running);

impl Running {
    pub(crate) async fn stop(self) {
        self.0.shutdown().await;
    }
}

/// Starts the reference with the arguments of its program; returns the address of the one API that
/// they start.
pub(crate) async fn start(args: Vec<String>) -> Result<(Running, SocketAddr), String> {
    let running = reference::start(args)
        .await
        .map_err(|error| format!("the reference does not start: {error}"))?;
    let address = running
        .control
        .or(running.engine)
        .ok_or_else(|| "the reference started no server".to_owned())?;
    Ok((Running(running), address))
}

//! Command line of the control plane, and the control plane that it starts.

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use control::{Control, Workers};
use http_server::log::LogOptions;
use http_server::server::listen;
use http_server::{ServeOptions, StartError};
use tracing::{error, info};

use super::{Running, network_address};

/// Maximum time for running builds to finish at shutdown.
pub(super) const MAX_BUILD_SHUTDOWN: Duration = Duration::from_secs(15);

/// Timeout for the control plane to apply its configuration while it runs.
const RELOAD: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ControlCommand {
    #[command(subcommand)]
    task: Option<ControlTask>,
    /// Address to listen on, [http://|https://]HOST:PORT; may be repeated
    #[arg(
        short,
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8282",
        value_delimiter = ','
    )]
    pub(super) addr: Vec<String>,
    #[command(flatten)]
    pub(super) control: control::Options,
    #[command(flatten)]
    pub(super) serve: ServeOptions,
    #[command(flatten)]
    pub(super) log: LogOptions,
}

/// Tasks that run once, without a server.
#[derive(Debug, Subcommand)]
pub(super) enum ControlTask {
    RotateKey(control::RotateKey),
}

#[derive(Debug, Args)]
pub(super) struct AllCommand {
    /// Address of the engine, HOST:PORT; may be repeated
    #[arg(
        short,
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8181",
        default_value_if("v0_compatible", "true", ":8181"),
        value_delimiter = ','
    )]
    pub(super) addr: Vec<String>,
    /// Address of the control plane, HOST:PORT; may be repeated
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8282",
        value_delimiter = ','
    )]
    pub(super) control_addr: Vec<String>,
    #[command(flatten)]
    pub(super) engine: engine::Options,
    #[command(flatten)]
    pub(super) control: control::Options,
    #[command(flatten)]
    pub(super) serve: ServeOptions,
    #[command(flatten)]
    pub(super) log: LogOptions,
}

impl ControlCommand {
    /// Runs the task of the command line, if it names one, and returns its message.
    pub(super) async fn run_task(&self) -> Option<Result<String, StartError>> {
        match &self.task {
            Some(ControlTask::RotateKey(rotate)) => Some(rotate.run().await),
            None => None,
        }
    }
}

/// Running control plane, with its workers.
#[derive(Debug)]
pub(super) struct ControlPlane {
    control: Arc<Control>,
    workers: Workers,
}

impl ControlPlane {
    /// Waits for the running builds, or abandons them.
    pub(super) async fn shutdown(self) {
        self.workers.shutdown().await;
    }

    /// Reloads the configuration. If it is invalid, the present one stays, and the log reports why.
    pub(super) async fn reload(&self) {
        let stays = "the control plane's configuration cannot be reloaded and stays unchanged";
        match tokio::time::timeout(RELOAD, self.control.reload()).await {
            Ok(Ok(())) => info!("the control plane's configuration was read again"),
            Ok(Err(reason)) => error!(why = %reason, "{stays}"),
            Err(_) => error!(why = "the database does not answer", "{stays}"),
        }
    }
}

impl Running {
    pub(super) async fn start_control(
        &mut self,
        addresses: &[String],
        options: &control::Options,
        serve: &ServeOptions,
    ) -> Result<(), StartError> {
        let control = control::open(options).await?;
        for address in addresses {
            let listening = listen(address, serve, Arc::clone(&control)).await?;
            self.control = self.control.or(network_address(&listening));
            self.places.push(("control plane", listening.place.clone()));
            self.listening.push(listening);
        }
        let workers = control.start_workers().await?;
        self.plane = Some(ControlPlane { control, workers });
        Ok(())
    }
}

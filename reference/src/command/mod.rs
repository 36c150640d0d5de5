//! Command line, and the servers it starts.

#[cfg(feature = "control")]
mod control_plane;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use rego::Value;
use tracing::{error, info};

use crate::flag_forms::of_opa;
use http_server::ServeOptions;
use http_server::StartError;
use http_server::log::{Json, LogLevel, LogOptions, STRUCTURED};
use http_server::server::{ListenAddress, Listening, listen};

#[cfg(feature = "control")]
use self::control_plane::{AllCommand, ControlCommand, ControlPlane};

/// Maximum bytes of addresses in a log line.
const MAX_ADDRESSES: usize = 64 << 10;

/// A policy engine and its control plane, over HTTP
#[derive(Debug, Parser)]
#[command(name = "reference", version)]
pub struct CommandLine {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Serve the engine's API
    Engine(EngineCommand),
    /// Serve the control plane's API
    #[cfg(feature = "control")]
    Control(ControlCommand),
    /// Serve both APIs
    #[cfg(feature = "control")]
    All(Box<AllCommand>),
}

#[derive(Debug, Args)]
#[command(mut_args(of_opa), args_override_self = true)]
struct EngineCommand {
    /// Address to listen on, [http://|https://]HOST:PORT; may be repeated
    #[arg(
        short,
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8181",
        default_value_if("v0_compatible", "true", ":8181"),
        value_delimiter = ','
    )]
    addr: Vec<String>,
    #[command(flatten)]
    engine: engine::Options,
    #[command(flatten)]
    serve: ServeOptions,
    #[command(flatten)]
    log: LogOptions,
}

impl CommandLine {
    /// Options of the log.
    pub fn log(&self) -> &LogOptions {
        match &self.role {
            Role::Engine(command) => &command.log,
            #[cfg(feature = "control")]
            Role::Control(command) => &command.log,
            #[cfg(feature = "control")]
            Role::All(command) => &command.log,
        }
    }

    /// Maximum duration of a shutdown: the wait period, then twice the grace period (once for open
    /// requests, once for the last reports), or the time limit of running builds if that is longer.
    pub fn longest_stop(&self) -> Duration {
        let serve = match &self.role {
            Role::Engine(command) => &command.serve,
            #[cfg(feature = "control")]
            Role::Control(command) => &command.serve,
            #[cfg(feature = "control")]
            Role::All(command) => &command.serve,
        };
        let grace = serve.shutdown_grace_period.saturating_mul(2);
        let ends = match &self.role {
            Role::Engine(_) => grace,
            #[cfg(feature = "control")]
            Role::Control(_) | Role::All(_) => grace.max(control_plane::MAX_BUILD_SHUTDOWN),
        };
        serve.shutdown_wait_period.saturating_add(ends)
    }

    /// Runs a task of the command line that needs no server, and returns its message.
    ///
    /// # Errors
    /// When the task fails; then nothing has changed.
    pub async fn run_task(&self) -> Option<Result<String, StartError>> {
        match &self.role {
            #[cfg(feature = "control")]
            Role::Control(command) => command.run_task().await,
            _ => None,
        }
    }

    /// Starts the servers.
    ///
    /// # Errors
    /// When something that the command line names cannot be used; then no server is left running.
    pub async fn start(&self) -> Result<Running, StartError> {
        let mut running = Running::default();
        match &self.role {
            Role::Engine(command) => {
                running
                    .start_engine(&command.addr, &command.engine, &command.serve)
                    .await?;
            }
            #[cfg(feature = "control")]
            Role::Control(command) => {
                running
                    .start_control(&command.addr, &command.control, &command.serve)
                    .await?;
            }
            #[cfg(feature = "control")]
            Role::All(command) => {
                let (engine, serve) = (&command.engine, &command.serve);
                running.start_engine(&command.addr, engine, serve).await?;
                running
                    .start_control(&command.control_addr, &command.control, serve)
                    .await?;
            }
        }
        Ok(running)
    }
}

/// Starts the servers that a command line asks for; the arguments exclude the program's name.
/// Setting up the log is left to the caller.
///
/// # Errors
/// When the command line is invalid or names something that cannot be used.
pub async fn start(args: impl IntoIterator<Item = String>) -> Result<Running, StartError> {
    let name = std::iter::once("reference".to_owned());
    CommandLine::try_parse_from(name.chain(args))?.start().await
}

/// Running servers; dropping them stops them without waiting for open requests.
#[derive(Debug, Default)]
pub struct Running {
    /// First network address that the engine listens on, if any.
    pub engine: Option<SocketAddr>,
    /// First network address that the control plane listens on, if any.
    pub control: Option<SocketAddr>,
    listening: Vec<Listening>,
    #[cfg(feature = "control")]
    plane: Option<ControlPlane>,
    /// Listening addresses, with the names of their servers.
    places: Vec<(&'static str, ListenAddress)>,
    /// Watchers of the engine's files and configuration.
    watchers: Vec<engine::Watcher>,
    /// Background plugins of the engine, and their grace period at shutdown.
    plugins: Option<(engine::Running, Duration)>,
}

impl Running {
    /// Stops accepting connections and starting builds. Returns when the open requests have ended
    /// or the grace period is over, and the running builds have ended or are abandoned.
    pub async fn shutdown(self) {
        let listening = self.listening.into_iter().map(Listening::shutdown);
        let workers = async {
            #[cfg(feature = "control")]
            if let Some(plane) = self.plane {
                plane.shutdown().await;
            }
        };
        tokio::join!(futures_util::future::join_all(listening), workers);
        // Decisions are complete now, so the last ones are reported, too.
        if let Some((plugins, grace)) = self.plugins {
            plugins.shutdown(grace).await;
        }
    }

    /// Logs the addresses that the servers listen on.
    pub fn log_start(&self) {
        for (server, address) in &self.places {
            let verb = match server.ends_with('s') {
                true => "are",
                false => "is",
            };
            info!(%address, "the {server} {verb} listening");
        }
    }

    /// Makes the engine and the control plane reload their configurations. If one is invalid, its
    /// server keeps the present configuration, and the log reports why.
    pub async fn reload(&self) {
        if let Some((plugins, _)) = &self.plugins {
            match plugins.reload().await {
                Ok(()) => info!("the configuration was read again"),
                Err(error) => error!(
                    why = error,
                    "the configuration cannot be reloaded and stays unchanged"
                ),
            }
        }
        #[cfg(feature = "control")]
        if let Some(plane) = &self.plane {
            plane.reload().await;
        }
    }

    async fn start_engine(
        &mut self,
        addresses: &[String],
        options: &engine::Options,
        serve: &ServeOptions,
    ) -> Result<(), StartError> {
        let [addrs, diagnostic] = [addresses, &options.diagnostic_addr].map(|addresses| {
            let texts = addresses
                .iter()
                .map(|address| Value::from(address.as_str()));
            let texts = Value::from(texts.collect::<Vec<_>>());
            Json::new(&texts, MAX_ADDRESSES).unwrap_or_default()
        });
        info!(
            target: STRUCTURED,
            addrs = %addrs,
            "diagnostic-addrs" = %diagnostic,
            "Initializing server."
        );
        let before = engine::InitialSnapshot::of(options)?;
        let engine = Arc::new(engine::Engine::open(options)?);
        let grace = serve.shutdown_grace_period;
        let watcher = before.map(|before| engine.watch(options, before));
        self.watchers.extend(watcher);
        let plugins = engine.start_plugins(options)?;
        self.watchers.extend(plugins.watch_config());
        self.plugins = Some((plugins, grace));
        engine.wait_until_ready(options).await?;
        let mut serve = serve.clone();
        if options.authentication != "tls" {
            serve.tls_ca_cert_file = None;
        }
        for address in addresses {
            let listening = listen(address, &serve, Arc::clone(&engine)).await?;
            self.engine = self.engine.or(network_address(&listening));
            self.places.push(("engine", listening.place.clone()));
            self.listening.push(listening);
        }
        serve.log_level_request = LogLevel::Debug;
        for address in &options.diagnostic_addr {
            let diagnostics = Arc::new(engine::Diagnostics::of(&engine));
            let listening = listen(address, &serve, diagnostics).await?;
            self.places
                .push(("engine's diagnostics", listening.place.clone()));
            self.listening.push(listening);
        }
        Ok(())
    }
}

/// Network address that a server listens on, if it has one.
fn network_address(listening: &Listening) -> Option<SocketAddr> {
    match listening.place {
        ListenAddress::Tcp(address) => Some(address),
        ListenAddress::Unix(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[rstest]
    #[case::default("engine", "127.0.0.1:8181")]
    #[case::v0("engine --v0-compatible", ":8181")]
    #[case::v0_is_true("engine --v0-compatible=true", ":8181")]
    #[case::v0_is_false("engine --v0-compatible=false", "127.0.0.1:8181")]
    #[case::own_address("engine --v0-compatible --addr localhost:1", "localhost:1")]
    #[case::both_servers("all --v0-compatible", ":8181")]
    fn rego_v0_comes_with_its_address(#[case] args: &str, #[case] address: &str) {
        let parsed = CommandLine::try_parse_from(["reference"].into_iter().chain(args.split(' ')));
        let addresses = parsed.map(|line| match line.role {
            Role::Engine(command) => command.addr,
            #[cfg(feature = "control")]
            Role::All(command) => command.addr,
            #[cfg(feature = "control")]
            Role::Control(command) => command.addr,
        });
        assert!(addresses.is_ok_and(|found| found == [address]));
    }

    #[rstest]
    #[case::short_and_long("-s --skip-version-check --disable-telemetry --h2c")]
    #[case::more_of_version_1(
        "--v1-compatible --skip-known-schema-check --optimize-store-for-read-speed"
    )]
    #[case::values("--max-errors 5 --format json --history FILE")]
    #[case::short_values("-m 5 -f json -H FILE")]
    #[case::values_of_switches(
        "--server=true --bundle=false -b=1 --v0-compatible=f --skip-version-check=T --watch=F"
    )]
    fn flags_of_opa_without_a_meaning_are_taken(#[case] flags: &str) {
        let args = ["reference", "engine"].into_iter().chain(flags.split(' '));
        assert!(CommandLine::try_parse_from(args).is_ok());
    }

    #[rstest]
    #[case::http("http://127.0.0.1:0", None)]
    #[case::https_without_a_certificate("https://127.0.0.1:0", Some("there is no certificate"))]
    #[case::unknown("ftp://127.0.0.1:0", Some("expected http, https or unix"))]
    #[tokio::test]
    async fn schemes_of_addresses_say_whether_tls_is_spoken(
        #[case] address: &str,
        #[case] refused: Option<&str>,
    ) {
        let args = ["engine", "--addr", address].map(str::to_owned);
        match (start(args).await, refused) {
            (Ok(running), None) => running.shutdown().await,
            (Err(failure), Some(reason)) => {
                assert!(failure.to_string().contains(reason), "{failure}");
            }
            (started, _) => assert_eq!(started.is_ok(), refused.is_none(), "{address}"),
        }
    }

    #[rstest]
    #[case::zero("0", false)]
    #[case::no_number("x", false)]
    #[case::one("1", true)]
    fn a_server_without_connections_is_refused(#[case] count: &str, #[case] is_accepted: bool) {
        let args = ["reference", "engine", "--max-connections", count];
        assert_eq!(CommandLine::try_parse_from(args).is_ok(), is_accepted);
    }

    #[tokio::test]
    async fn both_servers_start_and_stop() -> Result<(), StartError> {
        let args = "all --addr 127.0.0.1:0 --control-addr 127.0.0.1:0 --database sqlite::memory:";
        let running = start(args.split(' ').map(str::to_owned)).await?;
        let addresses = [running.engine, running.control];
        assert!(
            addresses
                .iter()
                .flatten()
                .all(|address| address.port() != 0)
        );
        assert_eq!(addresses.iter().flatten().count(), 2);
        running.shutdown().await;
        Ok(())
    }
}

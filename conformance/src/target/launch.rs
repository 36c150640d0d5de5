//! Starts or reaches a target in a setup, and stops started processes.

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::process::Command;

use crate::fixture_server::FixtureServer;
use crate::http_client::answer::NoAnswer;
use crate::http_client::wire::Outgoing;
use crate::http_client::{Base, Client};
use crate::process_group::ProcessGroup;
use crate::sync::lock;
use crate::target::free_port::{self, Port};
use crate::target::server::Server;
use crate::target::{Launch, Target};

/// Timeout for a started server to become ready.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// Timeout for a server to stop by itself; its content is no longer needed.
const STOP_WITHIN: Duration = Duration::from_millis(500);
/// Maximum number of starts of a server whose port is in use, each time on another port.
const STARTS: u32 = 3;
/// Message of a server in that case, compared case-insensitively: the name of the system error.
const TAKEN: &str = "address already in use";
/// Number of bytes shown of a server's log in an error.
const LOG_SHOWN: usize = 2000;

/// A server that responds, with the handles that keep it and its engine running.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) server: Server,
    #[expect(dead_code, reason = "ends when dropped")]
    mock: Option<FixtureServer>,
    /// Empty if the suite started no process.
    handles: Mutex<Vec<ServerHandle>>,
}

/// Handle that keeps a server running.
#[derive(Debug)]
enum ServerHandle {
    /// A started process, with its folder and its port.
    Process(
        ProcessGroup,
        #[expect(dead_code, reason = "removed when dropped")] TempDir,
        #[expect(dead_code, reason = "given back when dropped")] Option<Port>,
    ),
    /// The reference in this process, with its folder.
    #[cfg(feature = "embedded")]
    Embedded(
        crate::target::embedded::Running,
        #[expect(dead_code, reason = "removed when dropped")] TempDir,
    ),
}

impl Started {
    /// Stops the started servers, gently first.
    pub(crate) async fn stop(&self) {
        let handles = std::mem::take(&mut *lock(&self.handles));
        stop(handles).await;
    }
}

async fn stop(handles: Vec<ServerHandle>) {
    for handle in handles {
        match handle {
            ServerHandle::Process(process, ..) => stop_program(process).await,
            #[cfg(feature = "embedded")]
            ServerHandle::Embedded(running, _) => running.stop().await,
        }
    }
}

/// Starts the server of one API, or connects to a running one. With an address for it, a fixture
/// server is started first; with a launch of an engine, that engine as well.
///
/// # Errors
/// A message why there is no server.
pub(crate) async fn start(
    target: &Target,
    launch: &Launch,
    engine: Option<&Launch>,
    mock: Option<SocketAddr>,
    client: &Client,
) -> Result<Started, String> {
    let mock = match mock {
        Some(address) => Some(FixtureServer::start(address).await?),
        None => None,
    };
    let (server, handle) = open(target, launch, client, mock.as_ref()).await?;
    let mut handles = Vec::from_iter(handle);
    let engine_server = match engine {
        None => None,
        Some(engine) => match open(target, engine, client, mock.as_ref()).await {
            Ok((engine, handle)) => {
                handles.extend(handle);
                Some(engine)
            }
            Err(error) => {
                stop(handles).await;
                return Err(error);
            }
        },
    };
    Ok(Started {
        server: server
            .with_mock(mock.as_ref().map(|mock| mock.base.clone()))
            .with_engine(engine_server),
        mock,
        handles: Mutex::new(handles),
    })
}

/// Starts or reaches a server that is configured with this fixture server.
async fn open(
    target: &Target,
    launch: &Launch,
    client: &Client,
    mock: Option<&FixtureServer>,
) -> Result<(Server, Option<ServerHandle>), String> {
    let server = |base| {
        Server::new(base, launch.tokens.clone(), &client.headers)
            .with_builtin(launch.builtin.clone())
    };
    if let Some(url) = &launch.url {
        let base = Base::parse(url)?;
        let mut answer = probe(client, &base, launch).await;
        // A server may close one connection, and answer the next.
        if answer.as_ref().is_err_and(|error| !error.slow) {
            answer = probe(client, &base, launch).await;
        }
        answer.map_err(|error| format!("cannot reach {url}: {error}"))?;
        return Ok((server(base), None));
    }
    #[cfg(feature = "embedded")]
    if target.in_process && launch.program.is_none() {
        let dir = folder()?;
        let fill = |text: &str| fill_placeholders(text, dir.path(), 0, mock);
        write_files(launch, dir.path(), &fill)?;
        let args = launch.args.iter().map(|text| fill(text)).collect();
        let (running, address) = crate::target::embedded::start(args).await?;
        let base = Base::parse(&format!("http://{address}"))?;
        return Ok((server(base), Some(ServerHandle::Embedded(running, dir))));
    }
    let program = target
        .program(launch)
        .ok_or_else(|| format!("the target `{}` names no program", target.name))?;
    let mut retries = 1..STARTS;
    let (base, handle) = loop {
        let started = open_program(program, launch, client, mock).await;
        let is_taken = |why: &String| why.to_ascii_lowercase().contains(TAKEN);
        if launch.port.is_some()
            || !started.as_ref().is_err_and(is_taken)
            || retries.next().is_none()
        {
            break started?;
        }
    };
    let elsewhere = launch.port.and_then(|port| {
        let address = SocketAddr::from((free_port::own_address()?, port));
        Base::parse(&format!("http://{address}")).ok()
    });
    Ok((server(base).with_elsewhere(elsewhere), Some(handle)))
}

/// Starts a program on its port, or on one that is free, and waits until it is ready.
async fn open_program(
    program: &str,
    launch: &Launch,
    client: &Client,
    mock: Option<&FixtureServer>,
) -> Result<(Base, ServerHandle), String> {
    let dir = folder()?;
    let (port, reserved) = match launch.port {
        Some(port) => (port, None),
        None => {
            let reserved = Port::free().map_err(|error| format!("no free port: {error}"))?;
            (reserved.number, Some(reserved))
        }
    };
    let fill = |text: &str| fill_placeholders(text, dir.path(), port, mock);
    write_files(launch, dir.path(), &fill)?;
    let mut process = start_program(program, launch, dir.path(), &fill)?;
    let base = Base::parse(&format!("http://127.0.0.1:{port}"))?;
    wait_until_ready(&mut process, program, client, &base, launch, dir.path()).await?;
    Ok((base, ServerHandle::Process(process, dir, reserved)))
}

fn folder() -> Result<TempDir, String> {
    tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))
}

fn fill_placeholders(text: &str, dir: &Path, port: u16, mock: Option<&FixtureServer>) -> String {
    let mock = mock.map_or("", |mock| &mock.base.url);
    text.replace("{dir}", &dir.to_string_lossy())
        .replace("{port}", &port.to_string())
        .replace("{mock}", mock)
        .replace("{depot}", mock)
}

fn write_files(launch: &Launch, dir: &Path, fill: &dyn Fn(&str) -> String) -> Result<(), String> {
    for (name, text) in &launch.files {
        let path = dir.join(name);
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, fill(text)));
        written.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

async fn probe(client: &Client, base: &Base, launch: &Launch) -> Result<u16, NoAnswer> {
    let mut request = Outgoing {
        method: "GET",
        path: launch.ready.clone(),
        ..Outgoing::default()
    };
    client.complete(&mut request.headers);
    let answer = client.send(base, &request).await?;
    Ok(answer.status)
}

async fn wait_until_ready(
    process: &mut ProcessGroup,
    program: &str,
    client: &Client,
    base: &Base,
    launch: &Launch,
    dir: &Path,
) -> Result<(), String> {
    let start = Instant::now();
    loop {
        if let Ok(Some(status)) = process.child.try_wait() {
            return Err(format!(
                "`{program}` ended at start ({status}): {}",
                log(dir)
            ));
        }
        if let Ok(200..300) = probe(client, base, launch).await {
            return Ok(());
        }
        if start.elapsed() > READY_WITHIN {
            return Err(format!(
                "`{program}` was not ready within {} s: {}",
                READY_WITHIN.as_secs(),
                log(dir)
            ));
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// The end of the server's log.
fn log(dir: &Path) -> String {
    let bytes = std::fs::read(dir.join("log.txt")).unwrap_or_default();
    let start = bytes.len().saturating_sub(LOG_SHOWN);
    let end = bytes.get(start..).unwrap_or_default();
    String::from_utf8_lossy(end).trim().to_owned()
}

/// Starts a program as the target file says, with its log in the folder.
fn start_program(
    program: &str,
    launch: &Launch,
    dir: &Path,
    fill: &dyn Fn(&str) -> String,
) -> Result<ProcessGroup, String> {
    let environment = launch.environment.iter();
    let mut command = Command::new(program);
    command
        .args(launch.args.iter().map(|text| fill(text)))
        .envs(environment.map(|(name, text)| (name, fill(text))))
        .current_dir(dir)
        .stdin(Stdio::null());
    let log = File::create(dir.join("log.txt"))
        .and_then(|log| Ok((log.try_clone()?, log)))
        .map_err(|error| format!("no log file: {error}"))?;
    command.stdout(log.0).stderr(log.1);
    ProcessGroup::start(&mut command).map_err(|error| format!("cannot start `{program}`: {error}"))
}

/// Stops a program, gently first.
async fn stop_program(mut process: ProcessGroup) {
    process.signal(true);
    let _ = tokio::time::timeout(STOP_WITHIN, process.child.wait()).await;
}

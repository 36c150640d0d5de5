//! Servers and clients for checks.

mod client;
mod external_process;
mod message;
mod peer;
mod process;
mod proxy;
mod restarting;
mod sink;
mod wire;

use std::error::Error;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io};

pub(crate) use client::Client;
pub(crate) use external_process::{ExternalProcess, free_address};
pub(crate) use message::{Message, Reader};
pub(crate) use peer::{Peer, PeerScript};
pub(crate) use process::Process;
pub(crate) use proxy::{Proxy, ProxyMode};
pub(crate) use restarting::RestartingOpa;
pub(crate) use sink::{FailureMode, Sink};
pub(crate) use wire::{Failure, Wire, exchange, exchange_ok, request, request_with, within};

/// Timeout of waits for expected events, which only ends hangs. It is not a performance
/// requirement.
pub(crate) const HANG_LIMIT: Duration = Duration::from_secs(120);

/// Running server, killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    /// Address of the server.
    pub(crate) address: SocketAddr,
    process: Child,
    /// Time between the start and the first successful response.
    pub(crate) startup: Duration,
}

impl Server {
    /// Starts a program and waits until it responds. The program logs only errors, unless the
    /// arguments contain a log level.
    pub(crate) fn start(
        program: &Path,
        arguments: &[&str],
        folder: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let started = Instant::now();
        let mut server = Self::spawn(program, arguments, folder)?;
        while !server.answers() {
            if started.elapsed() > HANG_LIMIT {
                return Err(format!("{} does not answer", program.display()).into());
            }
            std::thread::yield_now();
        }
        server.startup = started.elapsed();
        Ok(server)
    }

    /// Starts a program like [`Server::start`], without waiting until it responds.
    pub(crate) fn spawn(
        program: &Path,
        arguments: &[&str],
        folder: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = fs::File::create(folder.join(format!("{}.log", address.port())))?;
        let quiet: &[&str] = match arguments.contains(&"--log-level") {
            true => &[],
            false => &["--log-level", "error"],
        };
        let process = Command::new(program)
            .args(arguments)
            .args(["--addr", &address.to_string()])
            .args(quiet)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(Self {
            address,
            process,
            startup: Duration::ZERO,
        })
    }

    fn answers(&self) -> bool {
        let client = Client::connect(self.address);
        client.is_ok_and(|mut client| client.ok("GET", "/health", "").is_ok())
    }

    /// Opens a new connection to the server.
    pub(crate) fn client(&self) -> Result<Client, Box<dyn Error>> {
        Client::connect(self.address)
    }

    /// Returns the resident memory of the server in KiB.
    pub(crate) fn memory(&self) -> Result<f64, Box<dyn Error>> {
        self.of_status("VmRSS:")
    }

    /// Returns the peak resident memory of the server in KiB.
    pub(crate) fn peak_memory(&self) -> Result<f64, Box<dyn Error>> {
        self.of_status("VmHWM:")
    }

    /// Returns the user CPU time of the server.
    pub(crate) fn own_time(&self) -> io::Result<Duration> {
        Ok(process::taken_by(self.process.id())?.own)
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    fn of_status(&self, name: &str) -> Result<f64, Box<dyn Error>> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let size = line.and_then(|line| line.split_whitespace().next());
        Ok(size.ok_or("no resident size")?.parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ended = self.process.kill();
        let _waited = self.process.wait();
    }
}

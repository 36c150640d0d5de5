//! External programs as child processes.

use std::error::Error;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::HANG_LIMIT;

/// Running program, killed when dropped.
#[derive(Debug)]
pub(crate) struct ExternalProcess(Child);

impl ExternalProcess {
    /// Starts a program that logs to `NAME.log` in a folder, and waits until it accepts
    /// connections.
    ///
    /// # Errors
    /// When the program cannot be started, ends, or does not accept connections; the error contains
    /// its log.
    pub(crate) fn start(
        name: &str,
        command: &mut Command,
        address: SocketAddr,
        folder: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let path = folder.join(format!("{name}.log"));
        let log = fs::File::create(&path)?;
        let command = command.stdin(Stdio::null()).stdout(log.try_clone()?);
        let process = command.stderr(log).spawn();
        let mut started = Self(process.map_err(|error| format!("{name}: {error}"))?);
        let start_time = Instant::now();
        while TcpStream::connect(address).is_err() {
            if start_time.elapsed() > HANG_LIMIT || started.0.try_wait()?.is_some() {
                let log_text = fs::read_to_string(&path).unwrap_or_default();
                return Err(format!("{name} takes no connection: {log_text}").into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(started)
    }
}

impl Drop for ExternalProcess {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ended = self.0.kill();
        let _waited = self.0.wait();
    }
}

/// Returns a loopback address with a free port.
pub(crate) fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

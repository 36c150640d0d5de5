//! Server process, with its log, memory and CPU time.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use tokio::time::sleep;

use super::wire::{Failure, exchange, request_with};
use super::{HANG_LIMIT, free_address};

/// Unit of the CPU times that Linux reports.
const TICK: Duration = Duration::from_millis(10);

/// Number of samples in a check that a process is idle. In at least `IDLE` samples, no thread may
/// be runnable.
const LOOKS: u32 = 20;
const LOOK: Duration = Duration::from_millis(10);
const IDLE: u32 = 8;

/// Source address of requests that check if the process responds.
const HERE: [u8; 4] = [127, 0, 0, 1];

/// Running server, killed when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    /// Address of the server.
    pub(crate) address: SocketAddr,
    child: Child,
    log: PathBuf,
}

/// CPU time of a process.
pub(super) struct CpuTime {
    /// User CPU time.
    pub(super) own: Duration,
    pub(super) kernel: Duration,
}

/// Reads the CPU time of a process.
pub(super) fn taken_by(process: u32) -> io::Result<CpuTime> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The program's name, in parentheses, may contain spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |index| -> u32 {
        let field = fields.split_whitespace().nth(index);
        field.and_then(|text| text.parse().ok()).unwrap_or_default()
    };
    Ok(CpuTime {
        own: TICK * ticks(11),
        kernel: TICK * ticks(12),
    })
}

impl Process {
    /// Starts a server on a free address, with its log in a file of the folder, and waits until it
    /// responds.
    ///
    /// When the command cannot be started, ends, or does not respond; the error contains the log.
    pub(crate) async fn start(command: &mut Command, folder: &Path) -> Result<Self, Failure> {
        Self::start_with_token(None, command, folder).await
    }

    /// Starts a server like [`Process::start`]; it requires a bearer token in requests.
    ///
    /// # Errors
    /// When the server does not start, as for [`Process::start`].
    pub(crate) async fn start_with_token(
        token: Option<&str>,
        command: &mut Command,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let mut process = Self::spawn(command, folder)?;
        let start = Instant::now();
        let authorization = token.map_or_else(String::new, |token| {
            format!("Authorization: Bearer {token}\r\n")
        });
        let health = request_with("GET", "/health", &authorization, b"");
        loop {
            match exchange(process.address, HERE, &health).await {
                Ok(answer) if answer.status() == 200 => return Ok(process),
                _ if start.elapsed() > HANG_LIMIT || process.child.try_wait()?.is_some() => {
                    return Err(format!("the server does not start: {}", process.output()).into());
                }
                _ => sleep(Duration::from_millis(10)).await,
            }
        }
    }

    /// Starts a server on a free address, without waiting until it responds.
    ///
    /// # Errors
    /// When the command cannot be started.
    pub(crate) fn spawn(command: &mut Command, folder: &Path) -> Result<Self, Failure> {
        let address = free_address()?;
        let path = folder.join(format!("{}.log", address.port()));
        let log = fs::File::create(&path)?;
        let child = command
            .args(["--addr", &address.to_string()])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(Self {
            address,
            child,
            log: path,
        })
    }

    /// Returns the log of the process.
    pub(crate) fn output(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Returns the size of the log in bytes.
    pub(crate) fn logged(&self) -> io::Result<u64> {
        Ok(fs::metadata(&self.log)?.len())
    }

    /// Limits the size of files that the process writes, which simulates a full disk; `None`
    /// removes the limit.
    pub(crate) fn limit_files(&self, bytes: Option<u64>) -> io::Result<()> {
        self.limit(Resource::Fsize, bytes)
    }

    /// Limits the address space of the process: unlimited use of memory then ends the process, and
    /// does not affect the machine.
    pub(crate) fn limit_space(&self, bytes: u64) -> io::Result<()> {
        self.limit(Resource::As, Some(bytes))
    }

    fn limit(&self, resource: Resource, bytes: Option<u64>) -> io::Result<()> {
        let limit = Rlimit {
            current: bytes,
            maximum: None,
        };
        prlimit(Some(Pid::from_child(&self.child)), resource, limit)?;
        Ok(())
    }

    /// Returns the peak resident memory in KiB.
    pub(crate) fn peak(&self) -> io::Result<u64> {
        self.status("VmHWM:")
    }

    /// Returns the resident memory in KiB.
    pub(crate) fn resident(&self) -> io::Result<u64> {
        self.status("VmRSS:")
    }

    fn status(&self, name: &str) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let size = line.and_then(|line| line.split_whitespace().next());
        let size = size.and_then(|size| size.parse().ok());
        size.ok_or_else(|| io::Error::other("the process has no memory"))
    }

    /// Returns the user and system CPU time.
    pub(crate) fn cpu(&self) -> io::Result<Duration> {
        let taken = taken_by(self.child.id())?;
        Ok(taken.own + taken.kernel)
    }

    /// Waits until the process is idle, and returns false after a timeout. It is idle if it uses
    /// less than `share` of a processor, and in some samples none of its threads is runnable: on a
    /// busy machine, a process may use little CPU time and still be runnable.
    pub(crate) async fn rests(&self, time: Duration, share: f64) -> io::Result<bool> {
        let start = Instant::now();
        while start.elapsed() < time {
            let (sampled_at, before) = (Instant::now(), self.cpu()?);
            let mut idle = 0;
            for _ in 0..LOOKS {
                sleep(LOOK).await;
                idle += u32::from(!self.wants()?);
            }
            let taken = self.cpu()?.saturating_sub(before);
            let is_calm = taken.as_secs_f64() < share * sampled_at.elapsed().as_secs_f64();
            if is_calm && idle * IDLE >= LOOKS {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if a thread of the process is running or runnable.
    fn wants(&self) -> io::Result<bool> {
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            // The thread may have ended in the meantime.
            let stat = fs::read_to_string(thread?.path().join("stat")).unwrap_or_default();
            let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
            if state.starts_with('R') {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sends a signal to the process.
    ///
    /// # Errors
    /// When the process has ended.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Waits for the end of the process; returns `None` after a timeout.
    pub(crate) async fn wait_for_exit(&mut self, time: Duration) -> io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        loop {
            let ended = self.child.try_wait()?;
            if ended.is_some() || start.elapsed() > time {
                return Ok(ended);
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Kills the process.
    pub(crate) fn kill(&mut self) {
        // The process may have ended already.
        let _killed = self.child.kill();
        let _waited = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

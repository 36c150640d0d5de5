//! One of our programs as a process, observed from outside.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use tokio::time::sleep;

use super::wire::{Failure, ask, request_with};
use super::{HANG_LIMIT, free_address};

/// Linux counts the time of processes in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// To tell whether a process rests, it is looked at so often, with pauses, and in one of so many
/// looks it must be idle.
const LOOKS: u32 = 20;
const LOOK: Duration = Duration::from_millis(10);
const IDLE: u32 = 8;

/// Whose address asks whether a server is up.
const HERE: [u8; 4] = [127, 0, 0, 1];

/// A running server; killed when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    child: Child,
    log: PathBuf,
}

/// The time of processors that a process has taken.
pub(super) struct Taken {
    /// Outside of the kernel.
    pub(super) own: Duration,
    pub(super) kernel: Duration,
}

/// What a process has taken of the processors.
pub(super) fn taken_by(process: u32) -> io::Result<Taken> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The program's name, in parentheses, may hold spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |place| -> u32 {
        let field = fields.split_whitespace().nth(place);
        field.and_then(|text| text.parse().ok()).unwrap_or_default()
    };
    Ok(Taken {
        own: TICK * ticks(11),
        kernel: TICK * ticks(12),
    })
}

impl Process {
    /// Starts a command on an address, with its log in a file of the folder, and waits until it
    /// answers.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not answer; with what it logged.
    pub(crate) async fn start(command: &mut Command, folder: &Path) -> Result<Self, Failure> {
        Self::start_behind(None, command, folder).await
    }

    /// Starts a command that answers only who shows a token.
    ///
    /// # Errors
    /// As [`Process::start`].
    pub(crate) async fn start_behind(
        token: Option<&str>,
        command: &mut Command,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let mut process = Self::spawn(command, folder)?;
        let begun = Instant::now();
        let shown = token.map_or_else(String::new, |token| {
            format!("Authorization: Bearer {token}\r\n")
        });
        let health = request_with("GET", "/health", &shown, b"");
        loop {
            match ask(process.address, HERE, &health).await {
                Ok(answer) if answer.status() == 200 => return Ok(process),
                _ if begun.elapsed() > HANG_LIMIT || process.child.try_wait()?.is_some() => {
                    return Err(format!("the server does not start: {}", process.said()).into());
                }
                _ => sleep(Duration::from_millis(10)).await,
            }
        }
    }

    /// Starts a command on an address, and waits for nothing.
    ///
    /// # Errors
    /// When it cannot be started.
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

    /// What it has logged.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The bytes that it has logged.
    pub(crate) fn logged(&self) -> io::Result<u64> {
        Ok(fs::metadata(&self.log)?.len())
    }

    /// Lets files of the process grow to so many bytes and no further, as a full disk does, or
    /// without a limit.
    pub(crate) fn limit_files(&self, bytes: Option<u64>) -> io::Result<()> {
        self.limit(Resource::Fsize, bytes)
    }

    /// Lets the process have so many bytes of addresses, so that one whose memory grows without
    /// bounds ends before the machine suffers.
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

    /// Resident memory in KiB, at its highest.
    pub(crate) fn peak(&self) -> io::Result<u64> {
        self.status("VmHWM:")
    }

    /// Resident memory in KiB.
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

    /// The time of processors that it has taken.
    pub(crate) fn cpu(&self) -> io::Result<Duration> {
        let taken = taken_by(self.child.id())?;
        Ok(taken.own + taken.kernel)
    }

    /// Whether it comes to rest within a time: it takes less than so much of one processor. On a
    /// machine that others use it may take little and still want all, so that at times no thread
    /// of it must want a processor.
    pub(crate) async fn rests(&self, time: Duration, share: f64) -> io::Result<bool> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            let (looked, before) = (Instant::now(), self.cpu()?);
            let mut idle = 0;
            for _ in 0..LOOKS {
                sleep(LOOK).await;
                idle += u32::from(!self.wants()?);
            }
            let taken = self.cpu()?.saturating_sub(before);
            let is_calm = taken.as_secs_f64() < share * looked.elapsed().as_secs_f64();
            if is_calm && idle * IDLE >= LOOKS {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether one of its threads has a processor or waits for one.
    fn wants(&self) -> io::Result<bool> {
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            // A thread may have ended meanwhile.
            let stat = fs::read_to_string(thread?.path().join("stat")).unwrap_or_default();
            let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
            if state.starts_with('R') {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// When the process is gone.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// How it ended, if it ends within a time.
    pub(crate) async fn ends(&mut self, time: Duration) -> io::Result<Option<ExitStatus>> {
        let begun = Instant::now();
        loop {
            let ended = self.child.try_wait()?;
            if ended.is_some() || begun.elapsed() > time {
                return Ok(ended);
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends it at once, without a word.
    pub(crate) fn kill(&mut self) {
        // A process that has ended already cannot be killed.
        let _killed = self.child.kill();
        let _waited = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

//! Child processes that end when their result is no longer needed.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::watch::with_watchdog;

/// Maximum number of bytes read of the output of a program.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;

/// OpenSSH programs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Programs<'p> {
    /// Folder of the programs; if empty, they are found on the `PATH`.
    pub(super) folder: &'p Path,
    /// Cancellation flag.
    pub(super) cancelled: &'p AtomicBool,
}

impl Programs<'_> {
    /// Creates a command for a program.
    pub(super) fn command(&self, name: &str) -> Command {
        Command::new(self.folder.join(name))
    }

    /// Runs a program to completion. Returns its output and whether it succeeded.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn run(&self, command: &mut Command) -> io::Result<(Vec<u8>, bool)> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut running = Running::start(command.stderr(Stdio::null()))?;
        let stdout = running.0.stdout.take();
        let work = || {
            let mut bytes = Vec::new();
            if let Some(stdout) = stdout {
                stdout.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes)?;
            }
            Ok((bytes, running.succeeds()?))
        };
        with_watchdog(self.cancelled, || {}, || running.kill(), work)
    }
}

/// Running program. Dropping it kills the program and its descendants.
// INVARIANT: only `drop` reaps the program, so that no other process can reuse its id before.
#[derive(Debug)]
pub(super) struct Running(Child);

impl Running {
    /// Starts a program in a separate process group.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        command.process_group(0).spawn().map(Self)
    }

    /// Takes the program's stdout and stdin, if these are pipes that have not been taken yet.
    pub(super) fn pipes(&mut self) -> Option<(ChildStdout, ChildStdin)> {
        self.0.stdout.take().zip(self.0.stdin.take())
    }

    /// Kills the process group.
    pub(super) fn kill(&self) {
        // The program may have ended already.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
    }

    /// Waits for the program's end without reaping it, and returns whether it succeeded.
    fn succeeds(&self) -> io::Result<bool> {
        let pid = WaitId::Pid(Pid::from_child(&self.0));
        let status = waitid(pid, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        Ok(status.and_then(|status| status.exit_status()) == Some(0))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        // The program has been killed.
        let _ = self.0.wait();
    }
}

//! Child processes that end when their result is no longer needed.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::watch::watched;

/// As many bytes are read of what a program says.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;

/// The programs of OpenSSH.
#[derive(Debug, Clone, Copy)]
pub(super) struct Programs<'p> {
    /// Their folder; where it is empty, the `PATH` leads to them.
    pub(super) folder: &'p Path,
    /// Whether nobody waits for them any more.
    pub(super) cancelled: &'p AtomicBool,
}

impl Programs<'_> {
    /// A call of a program.
    pub(super) fn call(&self, name: &str) -> Command {
        Command::new(self.folder.join(name))
    }

    /// Runs a program to its end. Gives what it says and whether it succeeded.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn run(&self, command: &mut Command) -> io::Result<(Vec<u8>, bool)> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut running = Running::start(command.stderr(Stdio::null()))?;
        let said = running.0.stdout.take();
        let work = || {
            let mut bytes = Vec::new();
            if let Some(said) = said {
                said.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes)?;
            }
            Ok((bytes, running.succeeds()?))
        };
        watched(self.cancelled, || {}, || running.end(), work)
    }
}

/// A program that was started. It ends with this, and so does what it has started.
// INVARIANT: nothing but the end of this takes note of the end of the program, so that no other
// process can get its number before.
#[derive(Debug)]
pub(super) struct Running(Child);

impl Running {
    /// Starts a program in a group of processes of its own.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        command.process_group(0).spawn().map(Self)
    }

    /// What it says and what it is told, if these are pipes that nobody has taken yet.
    pub(super) fn pipes(&mut self) -> Option<(ChildStdout, ChildStdin)> {
        self.0.stdout.take().zip(self.0.stdin.take())
    }

    /// Ends it at once.
    pub(super) fn end(&self) {
        // It may have ended by itself.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
    }

    /// Waits for its end, and gives whether that was a success.
    fn succeeds(&self) -> io::Result<bool> {
        let pid = WaitId::Pid(Pid::from_child(&self.0));
        let status = waitid(pid, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        Ok(status.and_then(|status| status.exit_status()) == Some(0))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
        // It has no way to go on.
        let _ = self.0.wait();
    }
}

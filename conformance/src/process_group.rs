//! Process groups: a program with all processes that it started, killed when dropped.

use std::io;

use tokio::process::{Child, Command};

/// A running program with its process group.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    /// The program itself.
    pub(crate) child: Child,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
}

impl ProcessGroup {
    /// Starts a command in its own process group, so that a key that interrupts the suite does not
    /// reach the command: the suite forwards interrupts.
    ///
    /// # Errors
    /// The command cannot be started.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        command.process_group(0);
        let child = command.kill_on_drop(true).spawn()?;
        Ok(Self {
            #[cfg(unix)]
            group: child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(rustix::process::Pid::from_raw),
            child,
        })
    }

    /// Sends SIGTERM (`gently`) or SIGKILL to the whole group.
    #[cfg(unix)]
    pub(crate) fn signal(&mut self, gently: bool) {
        use rustix::process::{Signal, kill_process_group};
        if let Some(group) = self.group {
            // It is fine if the group no longer exists.
            let _ = kill_process_group(group, if gently { Signal::TERM } else { Signal::KILL });
        }
    }

    /// Stops the program; this system has no process groups.
    #[cfg(not(unix))]
    pub(crate) fn signal(&mut self, _gently: bool) {
        let _ = self.child.start_kill();
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(false);
    }
}

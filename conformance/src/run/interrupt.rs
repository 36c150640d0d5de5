//! Interrupts: Ctrl-C and SIGTERM.

use std::time::Duration;

use tokio::sync::watch;

/// Timeout of the cleanup once the user has interrupted the run: a target that does not answer
/// removals may not keep the program alive.
const CLEAN_WITHIN: Duration = Duration::from_secs(5);

/// Receives the number of interrupts: one stops scenarios, which then clean up; two also stop the
/// cleanup. A timeout after the first counts as the second.
#[derive(Debug, Clone)]
pub(super) struct Interrupt(watch::Receiver<u8>);

impl Interrupt {
    /// Creates an interrupt that never occurs.
    pub(super) fn never() -> Self {
        Self(watch::channel(0).1)
    }

    pub(super) fn is_requested(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Waits until the user has interrupted at least this many times.
    pub(super) async fn wait(&self, times: u8) {
        let waited = self
            .0
            .clone()
            .wait_for(|requests| *requests >= times)
            .await
            .is_ok();
        if !waited {
            // No further interrupt can arrive.
            std::future::pending::<()>().await;
        }
    }
}

/// Starts to listen for both signals.
pub(super) fn listen() -> Interrupt {
    let (sender, receiver) = watch::channel(0);
    tokio::spawn(async move {
        if shutdown_requested().await.is_ok() {
            sender.send_replace(1);
            let _ = tokio::time::timeout(CLEAN_WITHIN, shutdown_requested()).await;
            sender.send_replace(2);
        }
    });
    Interrupt(receiver)
}

/// Waits until the user interrupts the program.
#[cfg(unix)]
pub(crate) async fn shutdown_requested() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut end = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = end.recv() => Ok(()),
    }
}

/// Waits until the user interrupts the program.
#[cfg(not(unix))]
pub(crate) async fn shutdown_requested() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

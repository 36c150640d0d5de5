//! Shared parts of commands that serve until they are interrupted.

use std::fmt::Display;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{Console, Failed};
use crate::run::interrupt::shutdown_requested;

/// Time for which running tasks may delay the shutdown.
const ENDS_WITHIN: Duration = Duration::from_millis(200);

/// Starts a server, prints one line about it, formatted by `line`, and waits until a signal or,
/// with `exit_on_stdin_close`, the end of standard input requests shutdown.
///
/// # Errors
/// The server cannot be started.
pub(super) fn serve<S, L: Display>(
    start: impl Future<Output = Result<S, String>>,
    line: impl Fn(&S) -> L,
    exit_on_stdin_close: bool,
    console: &mut Console<'_>,
) -> Result<u8, Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(serve_until_shutdown(
        start,
        line,
        exit_on_stdin_close,
        console,
    ));
    runtime.shutdown_timeout(ENDS_WITHIN);
    served.map(|()| 0)
}

async fn serve_until_shutdown<S, L: Display>(
    start: impl Future<Output = Result<S, String>>,
    line: impl Fn(&S) -> L,
    exit_on_stdin_close: bool,
    console: &mut Console<'_>,
) -> Result<(), Failed> {
    let mut shutdown = pin!(shutdown_requested());
    // Signal handlers are installed before the server is announced.
    let first_poll = poll_fn(|context| Poll::Ready(shutdown.as_mut().poll(context))).await;
    if let Poll::Ready(ended) = first_poll {
        return Ok(ended?);
    }
    let ended = async {
        match exit_on_stdin_close {
            // At the end of input, the sender has sent or is dropped.
            true => drop(end_of_input().await),
            false => std::future::pending().await,
        }
    };
    let running = tokio::select! {
        started = start => started.map_err(Failed::Usage)?,
        shutdown = &mut shutdown => return Ok(shutdown?),
    };
    writeln!(console.out, "{}", line(&running))?;
    console.out.flush()?;
    tokio::select! {
        shutdown = shutdown => Ok(shutdown?),
        () = ended => Ok(()),
    }
}

/// Sends a signal at the end of standard input, from a separate thread, which may outlive all
/// others.
fn end_of_input() -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        // However the copy ends, there is no more input.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = sender.send(());
    });
    receiver
}

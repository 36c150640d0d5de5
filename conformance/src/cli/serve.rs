//! Shared parts of commands that serve until they are interrupted.

use std::fmt::Display;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{Console, Failed};
use crate::run::interrupt::asked_to_end;

/// How long what is still at work may hold up the end.
const ENDS_WITHIN: Duration = Duration::from_millis(200);

/// Starts a server, prints one line with its address, and waits for a signal or, with
/// `exit_on_stdin_close`, for the end of standard input. `line` makes the line.
///
/// # Errors
/// Those of the start.
pub(super) fn serve<S, L: Display>(
    start: impl Future<Output = Result<S, String>>,
    line: impl Fn(&S) -> L,
    exit_on_stdin_close: bool,
    console: &mut Console<'_>,
) -> Result<u8, Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(until_asked(start, line, exit_on_stdin_close, console));
    runtime.shutdown_timeout(ENDS_WITHIN);
    served.map(|()| 0)
}

async fn until_asked<S, L: Display>(
    start: impl Future<Output = Result<S, String>>,
    line: impl Fn(&S) -> L,
    exit_on_stdin_close: bool,
    console: &mut Console<'_>,
) -> Result<(), Failed> {
    let mut asked = pin!(asked_to_end());
    // Signals are listened to before anybody knows that there is something to end.
    let begun = poll_fn(|context| Poll::Ready(asked.as_mut().poll(context))).await;
    if let Poll::Ready(ended) = begun {
        return Ok(ended?);
    }
    let ended = async {
        match exit_on_stdin_close {
            // The sender is dropped, if nothing else, when there is no more input.
            true => drop(end_of_input().await),
            false => std::future::pending().await,
        }
    };
    let running = tokio::select! {
        started = start => started.map_err(Failed::Usage)?,
        asked = &mut asked => return Ok(asked?),
    };
    writeln!(console.out, "{}", line(&running))?;
    console.out.flush()?;
    tokio::select! {
        asked = asked => Ok(asked?),
        () = ended => Ok(()),
    }
}

/// Ends when standard input does. A thread of its own waits for that, which may outlast all else.
fn end_of_input() -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        // Whatever ends it, there is nobody who writes any more.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = sender.send(());
    });
    receiver
}

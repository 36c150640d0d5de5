//! The `reference` program.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use reference::{CommandLine, StartError};
use rustix::process::Signal;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tracing::{error, info};

/// Time that the whole shutdown may take beyond the limits of its parts, and timeout for threads
/// whose work is abandoned.
const MARGIN: Duration = Duration::from_secs(1);

/// Runs the command line. A dedicated thread waits for signals, so that the program can be stopped
/// whatever the servers do.
fn main() -> ExitCode {
    let command = CommandLine::parse();
    // Dropped at the end of the process, when the last lines are written.
    let _log = match command.log().install() {
        Ok(log) => log,
        Err(failure) => {
            // No log is available yet to report it.
            drop(writeln!(std::io::stderr(), "error: {failure}"));
            return ExitCode::FAILURE;
        }
    };
    let runtimes = (
        Runtime::new(),
        Builder::new_current_thread().enable_all().build(),
    );
    let (Ok(servers), Ok(control)) = runtimes else {
        error!("cannot start the runtime");
        return ExitCode::FAILURE;
    };
    let code = control.block_on(run(command, &servers));
    let started = Instant::now();
    servers.shutdown_timeout(MARGIN);
    if started.elapsed() >= MARGIN {
        error!("unfinished work was aborted");
        return ExitCode::FAILURE;
    }
    code
}

async fn run(command: CommandLine, servers: &Runtime) -> ExitCode {
    let signals = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
        // Never awaited: handling the signal makes a write beyond the file size limit fail like one
        // to a full disk, instead of terminating the process.
        signal(SignalKind::from_raw(Signal::XFSZ.as_raw())),
    );
    let (Ok(mut interrupted), Ok(mut terminated), Ok(mut hung_up), Ok(_)) = signals else {
        error!("signals cannot be received");
        return ExitCode::FAILURE;
    };
    // An unresponsive database delays a task or a start, so signals end both.
    let task = tokio::select! {
        task = command.run_task() => task,
        _ = interrupted.recv() => return ExitCode::FAILURE,
        _ = terminated.recv() => return ExitCode::FAILURE,
    };
    match task {
        None => {}
        Some(Ok(done)) => {
            // The task is complete, even if its message cannot be written.
            drop(writeln!(std::io::stdout(), "{done}"));
            return ExitCode::SUCCESS;
        }
        Some(Err(failure)) => {
            error!("{failure}");
            return ExitCode::FAILURE;
        }
    }
    let longest = command.longest_stop() + MARGIN;
    let (reload, reloads) = mpsc::channel(1);
    let (stop, stopped) = oneshot::channel();
    let (started, start) = oneshot::channel();
    let mut serving = servers.spawn(serve(command, started, reloads, stopped));
    let started = tokio::select! {
        started = start => started,
        _ = interrupted.recv() => return ExitCode::FAILURE,
        _ = terminated.recv() => return ExitCode::FAILURE,
    };
    if started.is_err() {
        return ExitCode::FAILURE;
    }
    loop {
        tokio::select! {
            _ = interrupted.recv() => break,
            _ = terminated.recv() => break,
            _ = &mut serving => break,
            // If a reload is in progress, the files are reread by it or by the next one.
            _ = hung_up.recv() => {
                reload.try_send(()).ok();
            }
        }
    }
    drop(stop);
    if serving.is_finished() {
        return ExitCode::FAILURE;
    }
    info!("Shutting down...");
    match tokio::time::timeout(longest, serving).await {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(_) => {
            error!("the grace period is over, but some work has not ended");
            ExitCode::FAILURE
        }
    }
}

/// Starts the servers, reloads the configuration on request, and stops the servers when the sender
/// of requests is dropped.
async fn serve(
    command: CommandLine,
    started: oneshot::Sender<()>,
    mut reloads: mpsc::Receiver<()>,
    stopped: oneshot::Receiver<()>,
) -> Result<(), StartError> {
    let running = command
        .start()
        .await
        .inspect_err(|failure| error!("{failure}"))?;
    running.log_start();
    started.send(()).ok();
    let reloading = async {
        while reloads.recv().await.is_some() {
            running.reload().await;
        }
    };
    // A pending reload does not delay the shutdown.
    tokio::select! {
        _ = stopped => {}
        () = reloading => {}
    }
    running.shutdown().await;
    Ok(())
}

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

/// How much longer than its parts the whole stop may take, and how long threads may take to end
/// whose work nobody waits for any more.
const MARGIN: Duration = Duration::from_secs(1);

/// Signals are waited for by a thread that does nothing else, so that the program can be stopped
/// whatever the servers do.
fn main() -> ExitCode {
    let command = CommandLine::parse();
    // Dropped at the end of the process, when the last lines are written.
    let _log = match command.log().install() {
        Ok(log) => log,
        Err(failure) => {
            // There is no log yet that could say it.
            drop(writeln!(std::io::stderr(), "error: {failure}"));
            return ExitCode::FAILURE;
        }
    };
    let runtimes = (
        Runtime::new(),
        Builder::new_current_thread().enable_all().build(),
    );
    let (Ok(servers), Ok(control)) = runtimes else {
        error!("threads cannot be started");
        return ExitCode::FAILURE;
    };
    let code = control.block_on(run(command, &servers));
    let begun = Instant::now();
    servers.shutdown_timeout(MARGIN);
    if begun.elapsed() >= MARGIN {
        error!("work that does not end was cut off");
        return ExitCode::FAILURE;
    }
    code
}

async fn run(command: CommandLine, servers: &Runtime) -> ExitCode {
    let signals = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
        // Nobody waits for it: a write beyond the limit of the size of files fails as one to a
        // full disk does, where otherwise the process would end.
        signal(SignalKind::from_raw(Signal::XFSZ.as_raw())),
    );
    let (Ok(mut interrupted), Ok(mut terminated), Ok(mut hung_up), Ok(_)) = signals else {
        error!("signals cannot be received");
        return ExitCode::FAILURE;
    };
    // A database that does not answer makes a start long, and a task, too.
    let task = tokio::select! {
        task = command.run_task() => task,
        _ = interrupted.recv() => return ExitCode::FAILURE,
        _ = terminated.recv() => return ExitCode::FAILURE,
    };
    match task {
        None => {}
        Some(Ok(done)) => {
            // What was done is done, whoever hears of it.
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
            // If one is under way, the files are read again in it or right behind it.
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
            error!("the grace period is over, and not everything has ended");
            ExitCode::FAILURE
        }
    }
}

/// Starts the servers, reads the configuration again whenever that is asked for, and stops the
/// servers when nobody can ask any more.
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
    running.tell();
    started.send(()).ok();
    let reloading = async {
        while reloads.recv().await.is_some() {
            running.reload().await;
        }
    };
    // Nothing that a reload waits for holds up the end.
    tokio::select! {
        _ = stopped => {}
        () = reloading => {}
    }
    running.shutdown().await;
    Ok(())
}

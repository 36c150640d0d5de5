//! The `reference` program.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use reference::CommandLine;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};

#[tokio::main]
async fn main() -> ExitCode {
    let command = CommandLine::parse();
    command.log().install();
    let signals = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
    );
    let (Ok(mut interrupted), Ok(mut terminated), Ok(mut hung_up)) = signals else {
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
    let started = tokio::select! {
        started = command.start() => started,
        _ = interrupted.recv() => return ExitCode::FAILURE,
        _ = terminated.recv() => return ExitCode::FAILURE,
    };
    let running = match started {
        Ok(running) => running,
        Err(failure) => {
            error!("{failure}");
            return ExitCode::FAILURE;
        }
    };
    if let Some(address) = running.engine {
        info!(%address, "the engine is listening");
    }
    if let Some(address) = running.control {
        info!(%address, "the control plane is listening");
    }
    let reloading = async {
        while hung_up.recv().await.is_some() {
            running.reload().await;
        }
        std::future::pending::<()>().await;
    };
    // Nothing that a reload waits for holds up the end.
    tokio::select! {
        _ = interrupted.recv() => {}
        _ = terminated.recv() => {}
        () = reloading => {}
    }
    info!("stopping");
    running.shutdown().await;
    ExitCode::SUCCESS
}

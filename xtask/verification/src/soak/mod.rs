//! Soak test of both servers: every response must match a model, every decision must be logged
//! once, and memory must not grow.

mod clients;
mod environment;
mod memory;
mod model;
mod tally;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::attack::build;
use crate::report;
use crate::servers::Failure;
use environment::Environment;
use memory::Memory;
use tally::ClientResults;

/// Share of the duration in which memory may grow.
const WARM_UP: f64 = 0.35;

/// Interval between two samples of memory.
const LOOK: Duration = Duration::from_millis(500);

/// Runs the soak test of both servers for a number of seconds.
///
/// # Errors
/// When a response is wrong or missing, a decision is lost or logged twice, or memory grows.
pub(crate) fn run(seconds: u64, program: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let program = match program {
        Some(program) => program.canonicalize()?,
        None => build::program(false)?,
    };
    let folder = tempfile::Builder::new().prefix("soak-").tempdir()?;
    let folder = folder.path().canonicalize()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // An interrupt drops the futures, which stops the servers.
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            soaked = soak(&program, &folder, Duration::from_secs(seconds)) => soaked.map_err(|error| error as Box<dyn Error>),
            _ = tokio::signal::ctrl_c() => Err("interrupted".into()),
            _ = terminated.recv() => Err("interrupted".into()),
        }
    })
}

async fn soak(program: &Path, folder: &Path, time: Duration) -> Result<(), Failure> {
    let mut environment = Environment::start(program, folder).await?;
    let until = Instant::now() + time;
    let mut clients: JoinSet<Result<ClientResults, Failure>> = JoinSet::new();
    for number in 0..clients::EACH {
        clients.spawn(clients::documents(
            environment.engine.address,
            number,
            until,
        ));
        clients.spawn(clients::policies(environment.engine.address, number, until));
        clients.spawn(clients::decisions(
            environment.engine.address,
            number,
            until,
        ));
    }
    clients.spawn(clients::definitions(environment.definition_server(), until));
    let mut memory = [Memory::new("engine"), Memory::new("control plane")];
    let start = Instant::now();
    let mut tallies: Vec<ClientResults> = Vec::new();
    while !clients.is_empty() {
        tokio::select! {
            // The first failure of a client ends the test.
            Some(ended) = clients.join_next() => tallies.push(ended??),
            () = sleep(LOOK) => {
                let warm = start.elapsed() > time.mul_f64(WARM_UP);
                for (memory, server) in memory.iter_mut().zip([&environment.engine, &environment.control]) {
                    memory.sample(server.resident()?, warm);
                }
            }
        }
    }
    let mut broken = Vec::new();
    for tally in ClientResults::by_name(tallies) {
        report("clients", &tally.to_string());
        environment.remember(&tally);
    }
    for memory in &memory {
        report("memory", &memory.to_string());
        broken.extend(memory.broken());
    }
    broken.extend(environment.end().await?);
    match broken.is_empty() {
        true => Ok(()),
        false => Err(broken.join("; ").into()),
    }
}

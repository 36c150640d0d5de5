//! Attacks on running servers over the network, while a health monitor checks that other clients
//! are unaffected.

pub(crate) mod build;
mod findings;
mod frames;
mod harness;
mod health_monitor;
mod repository;
mod scenarios;
mod small_disk;
mod storage;
mod tenancy;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use futures_util::StreamExt as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::report;
use crate::servers::Failure;
use findings::Findings;
use harness::Harness;
use scenarios::{Attack, SCENARIOS, Scheduling};

/// Time limit of one attack.
const ATTACK_TIMEOUT: Duration = Duration::from_secs(1_800);

/// Command-line options of `attack`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Options {
    /// Play longer, more of each, and what takes long
    #[arg(long)]
    long: bool,
    /// Only the attacks whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// The program under attack, instead of one that is built
    #[arg(long)]
    program: Option<PathBuf>,
}

/// Number of attacks that run at the same time.
const BESIDE: usize = 4;

/// Maximum number of failed checks shown for one attack.
const SHOWN: usize = 40;

/// Runs attacks and prints a table of the results.
///
/// # Errors
/// When a check failed.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let program = match &options.program {
        Some(program) => program.canonicalize()?,
        None => build::program(options.long)?,
    };
    let folder = tempfile::Builder::new().prefix("attack-").tempdir()?;
    let folder = folder.path().canonicalize()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let is_selected = |attack: &&Attack| match &options.only {
        Some(only) => attack.name.contains(only.as_str()),
        None => options.long || attack.when != Scheduling::Long,
    };
    let chosen: Vec<&Attack> = SCENARIOS.iter().filter(is_selected).collect();
    if chosen.is_empty() {
        return Err("no attack has such a name".into());
    }
    runtime.block_on(async {
        // Futures are dropped on an interrupt, which ends the servers.
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            result = run_all(&program, &folder, options.long, &chosen) => result.map_err(|error| error as Box<dyn Error>),
            _ = tokio::signal::ctrl_c() => Err("interrupted".into()),
            _ = terminated.recv() => Err("interrupted".into()),
        }
    })
}

/// Runs the attacks that must run alone one by one, and then the others concurrently.
async fn run_all(
    program: &Path,
    folder: &Path,
    long: bool,
    chosen: &[&Attack],
) -> Result<(), Failure> {
    report(
        "bounds",
        "p99 of /health and /metrics: 10 times that of the calm moment before, or 125 ms if more; \
         500 ms while other attacks run",
    );
    row(
        "attack",
        &[
            "tried", "held", "calm ms", "p99 ms", "max ms", "decides", "peak", "MiB", "s",
        ]
        .map(str::to_owned),
    );
    let is_alone = |attack: &&&Attack| attack.when == Scheduling::Alone;
    let mut broken = Vec::new();
    for attack in chosen.iter().filter(is_alone) {
        broken.push(run_attack(program, folder, long, attack).await?);
    }
    let others = chosen.iter().filter(|attack| !is_alone(attack));
    let mut others = futures_util::stream::iter(others)
        .map(|attack| run_attack(program, folder, long, attack))
        .buffer_unordered(BESIDE);
    while let Some(ended) = others.next().await {
        broken.push(ended?);
    }
    for (name, found) in &broken {
        for what in found.iter().take(SHOWN) {
            report("did not hold", &format!("{name}: {what}"));
        }
        if found.len() > SHOWN {
            report(
                "did not hold",
                &format!("{name}: {} more", found.len() - SHOWN),
            );
        }
    }
    match broken.iter().map(|(_, found)| found.len()).sum() {
        0_usize => Ok(()),
        number => Err(format!("{number} things did not hold").into()),
    }
}

/// Runs one attack and prints its results; returns its name and failed checks.
async fn run_attack(
    program: &Path,
    folder: &Path,
    long: bool,
    attack: &Attack,
) -> Result<(&'static str, Vec<String>), Failure> {
    let harness = Harness::new(program, long, folder, attack.name)?;
    let start = Instant::now();
    let outcome = tokio::time::timeout(ATTACK_TIMEOUT, (attack.run)(&harness)).await;
    let findings = match outcome {
        Ok(Ok(findings)) => findings,
        Ok(Err(error)) => stopped(&error.to_string()),
        Err(_) => stopped("it does not end"),
    };
    print_findings(attack.name, &findings, start.elapsed());
    Ok((attack.name, findings.broken))
}

/// Returns the findings of an attack that could not be completed, which counts as a failed check.
fn stopped(reason: &str) -> Findings {
    let mut findings = Findings::default();
    findings.check(format!("stopped: {reason}"), false);
    findings
}

fn print_findings(name: &str, findings: &Findings, elapsed: Duration) {
    let passed = findings.tried - findings.broken.len();
    let watched = findings.watched.as_ref();
    let time = |pick: fn(&health_monitor::HealthSamples) -> f64| {
        watched.map_or_else(|| "-".to_owned(), |watched| format!("{:.1}", pick(watched)))
    };
    let size = |kibibytes: u64| match kibibytes {
        0 => "-".to_owned(),
        known => (known >> 10).to_string(),
    };
    row(
        name,
        &[
            findings.tried.to_string(),
            passed.to_string(),
            time(|watched| watched.calm),
            time(|watched| watched.tail),
            time(|watched| watched.longest),
            time(|watched| watched.decision),
            size(findings.peak),
            size(findings.after),
            format!("{:.0}", elapsed.as_secs_f64()),
        ],
    );
}

fn row(name: &str, cells: &[String; 9]) {
    let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>7}")).collect();
    report(&format!("{name:<22}"), &cells.join(" "));
}

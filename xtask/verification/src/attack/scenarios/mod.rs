//! Attack scenarios, one per file.

use std::pin::Pin;

use super::findings::Findings;
use super::harness::Harness;
use crate::servers::Failure;
use Scheduling::{Alone, Long, Together};

mod builders;
mod clock_jumps;
mod connections;
mod decisions;
mod discovery;
mod documents;
mod encryption_keys;
mod frames;
mod full_disk;
mod full_disk_control;
mod gzip;
mod hostile;
mod hostile_folders;
mod information_leaks;
mod large_response;
mod lying_storages;
mod malformed;
mod memory_exhaustion;
mod postgres;
mod printing;
mod recursion;
mod references;
mod replica_cuts;
mod replicas;
mod requests;
mod runaway_authorization;
mod runaway_evaluation;
mod secrets;
mod shutdown;
mod slow_reader;
mod smuggling;
mod sqlite;
mod storage_locations;
mod storages;

type AttackFuture<'s> = Pin<Box<dyn Future<Output = Result<Findings, Failure>> + 's>>;

/// One attack.
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) when: Scheduling,
    pub(super) run: for<'s> fn(&'s Harness) -> AttackFuture<'s>,
}

/// Whether an attack runs alone, and at which length of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheduling {
    /// Runs alone, because its health monitor measures the effect on other clients.
    Alone,
    /// Runs concurrently with others, as it mostly waits.
    Together,
    /// Runs concurrently with others, but not for every commit.
    Long,
}

/// Creates an attack.
const fn attack(
    name: &'static str,
    when: Scheduling,
    run: for<'s> fn(&'s Harness) -> AttackFuture<'s>,
) -> Attack {
    Attack { name, when, run }
}

/// All attacks, in order of execution.
pub(super) const SCENARIOS: &[Attack] = &[
    attack("endless", Alone, |harness| {
        Box::pin(runaway_evaluation::run(harness))
    }),
    attack("authority", Alone, |harness| {
        Box::pin(runaway_authorization::run(harness))
    }),
    attack("evaluations", Alone, |harness| {
        Box::pin(memory_exhaustion::run(harness))
    }),
    attack("hostile", Alone, |harness| Box::pin(hostile::run(harness))),
    attack("recursion", Alone, |harness| {
        Box::pin(recursion::run(harness))
    }),
    attack("printing", Alone, |harness| {
        Box::pin(printing::run(harness))
    }),
    attack("rendering", Alone, |harness| {
        Box::pin(large_response::run(harness))
    }),
    attack("connections", Alone, |harness| {
        Box::pin(connections::run(harness))
    }),
    attack("unread", Alone, |harness| {
        Box::pin(slow_reader::run(harness))
    }),
    attack("smuggling", Alone, |harness| {
        Box::pin(smuggling::run(harness))
    }),
    attack("frames", Alone, |harness| Box::pin(frames::run(harness))),
    attack("gzip", Alone, |harness| Box::pin(gzip::run(harness))),
    attack("documents", Alone, |harness| {
        Box::pin(documents::run(harness))
    }),
    attack("leaks", Together, |harness| {
        Box::pin(information_leaks::run(harness))
    }),
    attack("decisions", Together, |harness| {
        Box::pin(decisions::run(harness))
    }),
    attack("discovery", Together, |harness| {
        Box::pin(discovery::run(harness))
    }),
    attack("full-disk", Together, |harness| {
        Box::pin(full_disk::run(harness))
    }),
    attack("full-disk-control", Together, |harness| {
        Box::pin(full_disk_control::run(harness))
    }),
    attack("hostile-folders", Together, |harness| {
        Box::pin(hostile_folders::run(harness))
    }),
    attack("shutdown", Together, |harness| {
        Box::pin(shutdown::run(harness))
    }),
    attack("storage-locations", Together, |harness| {
        Box::pin(storage_locations::run(harness))
    }),
    attack("references", Together, |harness| {
        Box::pin(references::run(harness))
    }),
    attack("builders", Together, |harness| {
        Box::pin(builders::run(harness))
    }),
    attack("secrets", Together, |harness| {
        Box::pin(secrets::run(harness))
    }),
    attack("storages", Together, |harness| {
        Box::pin(storages::run(harness))
    }),
    attack("lying-storages", Together, |harness| {
        Box::pin(lying_storages::run(harness))
    }),
    attack("keys", Together, |harness| {
        Box::pin(encryption_keys::run(harness))
    }),
    attack("sqlite", Together, |harness| Box::pin(sqlite::run(harness))),
    attack("postgres", Together, |harness| {
        Box::pin(postgres::run(harness))
    }),
    attack("replicas", Together, |harness| {
        Box::pin(replicas::run(harness))
    }),
    attack("replica-cuts", Together, |harness| {
        Box::pin(replica_cuts::run(harness))
    }),
    attack("clocks", Long, |harness| {
        Box::pin(clock_jumps::run(harness))
    }),
];

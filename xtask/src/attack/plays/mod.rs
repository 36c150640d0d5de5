//! The attacks, one in each file.

use std::pin::Pin;

use super::findings::Findings;
use super::stage::Stage;
use crate::servers::Failure;
use When::{Alone, Long, Together};

mod authority;
mod clocks;
mod connections;
mod decisions;
mod documents;
mod endless;
mod evaluations;
mod frames;
mod gzip;
mod keys;
mod leaks;
mod malformed;
mod places;
mod postgres;
mod references;
mod rendering;
mod replicas;
mod requests;
mod secrets;
mod shutdown;
mod smuggling;
mod sqlite;
mod storages;
mod unread;

type Played<'s> = Pin<Box<dyn Future<Output = Result<Findings, Failure>> + 's>>;

/// One attack.
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) when: When,
    pub(super) play: for<'s> fn(&'s Stage) -> Played<'s>,
}

/// When an attack is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// For itself, as its bystander measures what it does to others.
    Alone,
    /// Beside others: it mostly waits.
    Together,
    /// The same, but not for every commit.
    Long,
}

/// An attack at its time.
const fn attack(
    name: &'static str,
    when: When,
    play: for<'s> fn(&'s Stage) -> Played<'s>,
) -> Attack {
    Attack { name, when, play }
}

/// All attacks, in the order in which they are played.
pub(super) const PLAYS: &[Attack] = &[
    attack("endless", Alone, |stage| Box::pin(endless::play(stage))),
    attack("authority", Alone, |stage| Box::pin(authority::play(stage))),
    attack("evaluations", Alone, |stage| {
        Box::pin(evaluations::play(stage))
    }),
    attack("rendering", Alone, |stage| Box::pin(rendering::play(stage))),
    attack("connections", Alone, |stage| {
        Box::pin(connections::play(stage))
    }),
    attack("unread", Alone, |stage| Box::pin(unread::play(stage))),
    attack("smuggling", Alone, |stage| Box::pin(smuggling::play(stage))),
    attack("frames", Alone, |stage| Box::pin(frames::play(stage))),
    attack("gzip", Alone, |stage| Box::pin(gzip::play(stage))),
    attack("documents", Alone, |stage| Box::pin(documents::play(stage))),
    attack("leaks", Together, |stage| Box::pin(leaks::play(stage))),
    attack("decisions", Together, |stage| {
        Box::pin(decisions::play(stage))
    }),
    attack("shutdown", Together, |stage| {
        Box::pin(shutdown::play(stage))
    }),
    attack("places", Together, |stage| Box::pin(places::play(stage))),
    attack("references", Together, |stage| {
        Box::pin(references::play(stage))
    }),
    attack("secrets", Together, |stage| Box::pin(secrets::play(stage))),
    attack("storages", Together, |stage| {
        Box::pin(storages::play(stage))
    }),
    attack("keys", Together, |stage| Box::pin(keys::play(stage))),
    attack("sqlite", Together, |stage| Box::pin(sqlite::play(stage))),
    attack("postgres", Together, |stage| {
        Box::pin(postgres::play(stage))
    }),
    attack("replicas", Together, |stage| {
        Box::pin(replicas::play(stage))
    }),
    attack("clocks", Long, |stage| Box::pin(clocks::play(stage))),
];

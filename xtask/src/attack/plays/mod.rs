//! The attacks, one in each file.

use std::pin::Pin;

use super::findings::Findings;
use super::stage::Stage;
use crate::servers::Failure;

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
    /// Whether it takes too long for every commit.
    pub(super) long: bool,
    pub(super) play: for<'s> fn(&'s Stage) -> Played<'s>,
}

/// An attack that every commit must stand.
const fn attack(name: &'static str, play: for<'s> fn(&'s Stage) -> Played<'s>) -> Attack {
    let long = false;
    Attack { name, long, play }
}

/// All attacks, in the order in which they are played.
pub(super) const PLAYS: &[Attack] = &[
    attack("endless", |stage| Box::pin(endless::play(stage))),
    attack("authority", |stage| Box::pin(authority::play(stage))),
    attack("evaluations", |stage| Box::pin(evaluations::play(stage))),
    attack("rendering", |stage| Box::pin(rendering::play(stage))),
    attack("connections", |stage| Box::pin(connections::play(stage))),
    attack("unread", |stage| Box::pin(unread::play(stage))),
    attack("smuggling", |stage| Box::pin(smuggling::play(stage))),
    attack("frames", |stage| Box::pin(frames::play(stage))),
    attack("gzip", |stage| Box::pin(gzip::play(stage))),
    attack("documents", |stage| Box::pin(documents::play(stage))),
    attack("leaks", |stage| Box::pin(leaks::play(stage))),
    attack("decisions", |stage| Box::pin(decisions::play(stage))),
    attack("shutdown", |stage| Box::pin(shutdown::play(stage))),
    attack("places", |stage| Box::pin(places::play(stage))),
    attack("references", |stage| Box::pin(references::play(stage))),
    attack("secrets", |stage| Box::pin(secrets::play(stage))),
    attack("storages", |stage| Box::pin(storages::play(stage))),
    attack("keys", |stage| Box::pin(keys::play(stage))),
    attack("sqlite", |stage| Box::pin(sqlite::play(stage))),
    attack("postgres", |stage| Box::pin(postgres::play(stage))),
    attack("replicas", |stage| Box::pin(replicas::play(stage))),
    Attack {
        name: "clocks",
        long: true,
        play: |stage| Box::pin(clocks::play(stage)),
    },
];

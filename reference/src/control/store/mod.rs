//! The store: one set of statements over SQLite and PostgreSQL.
//!
//! A write is one transaction. On SQLite it is immediate and goes through the one connection
//! that writes, so writers queue instead of failing. On PostgreSQL it locks the rows it depends
//! on: whoever names a thing that must exist holds it until the end of the transaction, and
//! whoever deletes one takes it for itself before it looks for users. A delete waits for nothing
//! after that and a write takes only locks that writes share, so they cannot wait for each other
//! in a circle.
//!
//! A write that may concern bundles notes so in its own transaction, and nothing more. Which
//! bundles it concerns is worked out afterwards, and the note goes in the transaction that says
//! so; whoever builds one claims it for a while. Those transactions, too, take a bundle before
//! what belongs to it.

mod builds;
mod changes;
mod claims;
mod data;
mod database;
mod error;
mod failure;
mod files;
mod inputs;
mod inspect;
mod keyring;
mod probe;
mod references;
mod resources;
mod schema;
mod statuses;
mod storage_locations;
#[cfg(test)]
mod tests;
mod write_entry;

pub(crate) use builds::Finish;
pub(crate) use claims::{Claim, MOST_DEATHS, Queue, Waiting};
pub(crate) use database::{Database, DatabaseUrl, Store};
pub(crate) use error::StoreError;
pub(crate) use failure::DatabaseFailure;
pub(crate) use files::tighten;
pub(crate) use inputs::Inputs;
pub(crate) use inspect::{Contents, Unusable, inspect};
pub(crate) use probe::Probe;
pub(crate) use resources::Row;
pub(crate) use statuses::{MAX_STATUSES, Status};
pub(crate) use storage_locations::Taken;

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

mod build_inputs;
mod builds;
mod change_log;
mod claims;
mod data;
mod database;
mod database_error;
mod error;
mod files;
mod health;
mod keyring;
mod references;
mod resources;
mod schema;
mod schema_check;
mod statuses;
mod storage_locations;
#[cfg(test)]
mod tests;
mod upsert;

pub(crate) use build_inputs::BuildInputs;
pub(crate) use builds::Finish;
pub(crate) use claims::{Claim, MOST_DEATHS, Queue, Waiting};
pub(crate) use database::{Database, DatabaseUrl, Store};
pub(crate) use database_error::DatabaseError;
pub(crate) use error::StoreError;
pub(crate) use files::tighten;
pub(crate) use health::Probe;
pub(crate) use resources::Row;
pub(crate) use schema_check::{Contents, Unusable, inspect};
pub(crate) use statuses::{MAX_STATUSES, Status};
pub(crate) use storage_locations::ClaimOutcome;

//! Store: one set of statements over SQLite and PostgreSQL.
//!
//! A write is one transaction. On SQLite it is immediate and uses the single write connection, so
//! writers queue instead of failing. On PostgreSQL it locks the rows it depends on: a write that
//! names a required resource locks it in shared mode until the end of the transaction, and a delete
//! locks it exclusively before it searches for users. A delete waits for nothing after that and a
//! write takes only locks that writes share, so they cannot deadlock.
//!
//! A write that may affect bundles records that in its own transaction, and nothing more. The
//! affected bundles are determined afterwards, and the record is deleted in the transaction that
//! makes them due; a builder claims a bundle for a limited time. Those transactions, too, lock a
//! bundle before its dependent rows.

mod build_inputs;
mod builds;
mod change_log;
mod claims;
mod data;
mod database;
mod database_error;
mod database_url;
mod error;
mod files;
mod health;
mod keyring;
mod migrations;
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
pub(crate) use builds::BuildOutcome;
pub(crate) use claims::{Claim, MAX_DEATHS, Queue, Waiting};
pub(crate) use database::Store;
pub(crate) use database_error::DatabaseError;
pub(crate) use database_url::{Database, DatabaseUrl};
pub(crate) use error::StoreError;
pub(crate) use files::tighten;
pub(crate) use health::Probe;
pub(crate) use resources::Row;
pub(crate) use schema_check::{Contents, UnusableDatabase, inspect};
pub(crate) use statuses::{MAX_STATUSES, Status};
pub(crate) use storage_locations::ClaimOutcome;

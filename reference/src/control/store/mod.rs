//! The store: one set of statements over SQLite and PostgreSQL.
//!
//! A write is one transaction. On SQLite it is immediate and goes through the one connection
//! that writes, so writers queue instead of failing. On PostgreSQL it locks the rows it depends
//! on: whoever names a thing holds it until the end of the transaction, and whoever deletes one
//! takes it for itself before it looks for users. A delete waits for nothing after that and a
//! write takes only locks that writes share, so they cannot wait for each other in a circle.

mod data;
mod database;
mod error;
mod resources;
mod schema;

pub(crate) use database::{Database, DatabaseUrl, Store};
pub(crate) use error::StoreError;
pub(crate) use resources::Row;

//! Shared parts of the targets: servers, and requests and archives made from bytes.

mod answers;
mod archive;
mod mutation;
mod script;
mod server;

pub use answers::{Answer, answers};
pub use archive::{KEY, archive, packed};
pub use mutation::{Table, mutate};
pub use script::{Connection, connections};
pub use server::Served;

//! What the targets for HTTP share: a server, and requests made of bytes.

mod archive;
mod request;
mod server;

pub use archive::archive;
pub use request::{Table, connection};
pub use server::Served;

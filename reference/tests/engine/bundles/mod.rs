//! Bundles: what is read, what is refused, and what active ones mean to clients.

mod active;
mod archives;
mod command_line;
mod read;
mod refused;
mod signed;
mod versions;

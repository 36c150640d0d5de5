//! Bundles: accepted and refused archives, and the effect of active bundles on clients.

mod active;
mod archives;
mod command_line;
mod read;
mod refused;
mod signed;
mod versions;

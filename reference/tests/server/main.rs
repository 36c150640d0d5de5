//! Tests of both servers over sockets.

#![expect(clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod bundles;
mod client_disconnects;
mod connection_limits;
mod control;
mod descriptors;
mod errors;
mod evaluations;
mod frames;
mod limits;
mod service;
mod slow_readers;
mod stop;
mod targets;
mod tls;
mod wire;

//! Both servers over real sockets.

#![expect(clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod bundles;
mod control;
mod crowds;
mod descriptors;
mod errors;
mod evaluations;
mod frames;
mod gone;
mod limits;
mod service;
mod stop;
mod tls;
mod unread;
mod wire;

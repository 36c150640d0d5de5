//! Both servers over real sockets.

#![expect(clippy::panic, reason = "a test fails by panicking")]

mod bundles;
mod control;
mod limits;
mod stop;
mod tls;
mod wire;

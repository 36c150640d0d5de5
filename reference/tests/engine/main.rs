//! Tests of the engine from request to response, without a socket.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod authorization;
mod batch;
mod bundles;
mod config;
mod data;
mod exchange;
mod files;
mod filters;
mod gzip;
mod hostile;
mod one_reading;
mod patch;
mod residuals;
mod routing;
mod runtime;

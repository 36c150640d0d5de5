//! Tests of the engine's plugins over HTTP, with mock servers as remote services.

#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod bundles;
mod caching;
mod certificates;
mod clouds;
mod collector;
mod console;
mod discovery;
mod disk;
mod environment;
mod flags;
mod images;
mod logs;
mod mock_services;
mod oauth2;
mod program;
mod rule_labels;
mod services;
mod started;
mod status;
mod tracing;
mod tracing_collectors;
mod watching;

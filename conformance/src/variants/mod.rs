//! Variants: servers that differ from the reference as the documents permit. A rule that fails on
//! one demands more than its document.
//!
//! They are the dual of the faults, use the same syntax, and are applied at the same place between
//! suite and server.

mod over_strict;
mod tolerance;
mod variant;

pub use over_strict::OverStrict;
pub use tolerance::{Row, Tolerance};
pub use variant::Variant;

#[cfg(test)]
#[expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]
mod tests;

//! Variants: servers that differ from the reference as the documents permit. A rule that fails on a
//! variant demands more than its document.
//!
//! Variants are the counterpart of faults. They use the same syntax, and are also applied between
//! suite and server.

mod over_strict;
mod tolerance;
mod variant;

pub use over_strict::OverStrict;
pub use tolerance::{Row, Tolerance};
pub use variant::Variant;

/// The folder of the variants.
const FOLDER: &str = "variants";

/// Name of the list, below the folder of the variants and without extension.
const LIST: &str = "known";

#[cfg(test)]
#[expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]
mod tests;

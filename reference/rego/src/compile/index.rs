//! Which rules of a place can matter, found from what they compare.

/// Chooses rules.
#[derive(Debug)]
pub(crate) struct Index;

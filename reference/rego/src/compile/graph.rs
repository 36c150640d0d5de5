//! What rules read.

use super::terms::{Path, data_prefix};
use crate::syntax::Ref;

/// What a rule reads.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// The references that it stands for: itself, or one for each value that its variables can
    /// have.
    pub(crate) targets: Vec<Ref>,
}

impl Dependency {
    /// The constant beginnings of what is read.
    pub(crate) fn paths(&self) -> impl Iterator<Item = Path> {
        self.targets.iter().filter_map(|target| data_prefix(target))
    }
}

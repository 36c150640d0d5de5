//! Where a node of the syntax tree stands in its text.

use std::fmt;
use std::sync::Arc;

/// A place in a module or query, and how much of its text the node there takes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The id of the module; empty for queries.
    pub file: Arc<str>,
    /// The line, from 1.
    pub row: u32,
    /// The column in characters, from 1.
    pub col: u32,
    /// The first byte of the node's text.
    pub offset: u32,
    /// The number of bytes of the node's text.
    pub length: u32,
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.row, self.col)
    }
}

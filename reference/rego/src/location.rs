//! Source locations.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The id of a module. All places in the module share it, and as every node of a tree has one, it
/// takes the room of one pointer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(Arc<Box<str>>);

/// A place in a module or query, and how much of its text the node there takes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The id of the module; empty for queries.
    pub file: FileId,
    /// The line, from 1.
    pub row: u32,
    /// The column in characters, from 1.
    pub col: u32,
    /// The first byte of the node's text.
    pub offset: u32,
    /// The number of bytes of the node's text.
    pub length: u32,
}

impl From<&str> for FileId {
    fn from(id: &str) -> Self {
        Self(Arc::new(id.into()))
    }
}

impl Deref for FileId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.row, self.col)
    }
}

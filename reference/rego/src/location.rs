//! Source locations.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Id of a module. It is shared by all locations in the module, and only as large as a pointer,
/// because every node of a syntax tree has a location.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(Arc<Box<str>>);

/// Location in a module or query, and the length of the node's source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Id of the module; empty for queries.
    pub file: FileId,
    /// Line, from 1.
    pub row: u32,
    /// Column in characters, from 1.
    pub col: u32,
    /// Byte offset of the node's source.
    pub offset: u32,
    /// Length of the node's source in bytes.
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

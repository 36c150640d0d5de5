//! Translation of conditions to SQLite: what all of its parts share.

use super::{FilterError, Language, Table, wrong};

/// Maximum nesting depth of a condition.
const DEEPEST: u32 = 200;

/// Translates the conditions of a database to SQLite.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer<'t> {
    pub(super) language: Language,
    pub(super) table: &'t Table,
    depth: u32,
}

impl<'t> Writer<'t> {
    pub(super) fn new(language: Language, table: &'t Table) -> Self {
        Self {
            language,
            table,
            depth: 0,
        }
    }

    /// Returns the writer for subexpressions, one level deeper.
    pub(super) fn inner(self) -> Result<Self, FilterError> {
        let depth = self.depth + 1;
        if depth > DEEPEST {
            return Err(wrong(format!("nested deeper than {DEEPEST}")));
        }
        Ok(Self { depth, ..self })
    }
}

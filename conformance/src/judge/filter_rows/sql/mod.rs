//! Conditions for PostgreSQL, MySQL and SQL Server, translated to SQLite.
//!
//! Strings are compared by default collations: PostgreSQL is case-sensitive, the usual collations
//! of MySQL and SQL Server are not.

mod call;
mod condition;
pub(super) mod functions;
mod parse;
mod value;
mod writer;

use super::{FilterError, Language, Table, Unless, sqlite};
use writer::Writer;

/// Size of the stack on which a clause is parsed and translated, in bytes. Both recurse once per
/// level of nesting, and a thread's stack is too small for the deepest allowed clause. Untouched
/// pages use no memory.
const STACK: usize = 64 << 20;

/// Returns the names of the rows that a clause, with or without the word WHERE, selects.
///
/// # Errors
/// The clause is not one condition on the table, or only its database can evaluate it.
pub(super) fn select(
    clause: &str,
    language: Language,
    table: &Table,
) -> Result<Vec<String>, FilterError> {
    sqlite::check_length(clause).map_err(FilterError::Wrong)?;
    let written = stacker::grow(STACK, || {
        let parsed = parse::condition(clause, language).map_err(FilterError::Wrong)?;
        Writer::new(language, table).condition(&parsed)
    })?;
    sqlite::select(&written, table).map_err(FilterError::Wrong)
}

fn wrong(reason: impl Into<String>) -> FilterError {
    FilterError::Wrong(reason.into())
}

/// Error for a clause that parses, but whose meaning only its database knows.
const NOT_PLAIN: FilterError = FilterError::Instead(Unless::NotPlain);

#[cfg(test)]
mod tests;

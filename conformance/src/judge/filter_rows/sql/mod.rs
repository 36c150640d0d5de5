//! Conditions for PostgreSQL, MySQL and SQL Server, translated to SQLite.
//!
//! Texts are compared as databases do unless told otherwise: PostgreSQL knows large letters from
//! small ones, the usual collations of MySQL and SQL Server do not.

mod call;
mod condition;
pub(super) mod functions;
mod parse;
mod value;

use super::{FilterError, Language, Table, Unless, sqlite};
use condition::Writer;

/// The stack, in bytes, on which a clause is parsed and written: the parser and what reads its tree
/// call themselves once for each level of nesting, and the stack of a thread is too small for the
/// deepest clause that is allowed. Pages of it that nothing touches take no memory.
const STACK: usize = 64 << 20;

/// The names of the rows of a table that a clause, with or without the word WHERE, selects.
///
/// # Errors
/// That the clause is not one condition on the table, or that only its database can evaluate it.
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

fn wrong(why: impl Into<String>) -> FilterError {
    FilterError::Wrong(why.into())
}

/// What parses, but means what only its database knows.
const NOT_PLAIN: FilterError = FilterError::Instead(Unless::NotPlain);

#[cfg(test)]
mod tests;

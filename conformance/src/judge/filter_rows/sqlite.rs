//! Evaluation of a server's WHERE clause by SQLite.

use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::Value as Cell;
use serde_json::Value;

use super::Table;
use super::sql::functions;

/// Maximum length of a clause, in bytes. `rusqlite` parses all statements after the first
/// recursively before it rejects them.
const LONGEST: usize = 16 * 1024;

/// Maximum length of a string or blob that a clause may create, in bytes.
const LONGEST_VALUE: i32 = 1_000_000;

/// Interval between checks of a running clause, in instructions of SQLite, and number of checks
/// before it is aborted.
const INSTRUCTIONS: i32 = 1_000;
const MAX_CALLBACKS: u32 = 1_000;

/// Checks the length of a clause.
///
/// # Errors
/// The clause is too long.
pub(super) fn check_length(clause: &str) -> Result<(), String> {
    if clause.len() > LONGEST {
        return Err(format!("longer than {LONGEST} bytes"));
    }
    Ok(())
}

/// Returns the names of the rows that a clause, with or without the word WHERE, selects.
///
/// # Errors
/// The clause is not exactly one condition on the table, does more than read, or runs too long.
pub(super) fn select(clause: &str, table: &Table) -> Result<Vec<String>, String> {
    let connection = create_table(table).map_err(|error| error.to_string())?;
    let ids = set_limits(&connection).and_then(|()| ids(&connection, condition(clause), table));
    let ids = ids.map_err(|error| error.to_string())?;
    let names = ids.into_iter().map(|id| {
        let name = usize::try_from(id)
            .ok()
            .and_then(|index| table.rows.keys().nth(index));
        name.cloned()
            .ok_or_else(|| format!("selects row {id}, which the table does not have"))
    });
    let mut names = names.collect::<Result<Vec<_>, _>>()?;
    names.sort();
    Ok(names)
}

/// Returns the clause without the word WHERE.
fn condition(clause: &str) -> &str {
    let clause = clause.trim_start();
    match clause.split_at_checked("WHERE".len()) {
        Some((word, rest))
            if word.eq_ignore_ascii_case("WHERE")
                && !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_') =>
        {
            rest
        }
        _ => clause,
    }
}

/// Returns the numbers of the selected rows. The string must be valid both after WHERE and after
/// CASE WHEN. The first excludes a further WHEN, and the second a further clause, so it is exactly
/// one condition.
fn ids(connection: &Connection, condition: &str, table: &Table) -> rusqlite::Result<Vec<i64>> {
    let select = format!("SELECT rowid FROM {} WHERE", identifier(table.name));
    drop(connection.prepare(&format!("{select} {condition}"))?);
    let query = format!("{select} CASE WHEN {condition}\nTHEN 1 END");
    let mut statement = connection.prepare(&query)?;
    let rows = statement.query_map((), |row| row.get(0))?;
    rows.collect()
}

/// Creates a database with the table; rows are numbered from zero.
fn create_table(table: &Table) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    functions::add(&connection)?;
    let columns: Vec<&str> = table.columns().into_iter().collect();
    let declared = columns
        .iter()
        .map(|column| format!("{} {}", identifier(column), kind(table, column)));
    let declared = declared.collect::<Vec<_>>().join(", ");
    let name = identifier(table.name);
    connection.execute(&format!("CREATE TABLE {name} ({declared})"), ())?;
    let placeholders = vec!["?"; columns.len() + 1].join(", ");
    let listed = columns.iter().map(|column| identifier(column));
    let listed = listed.collect::<Vec<_>>().join(", ");
    let insert = format!("INSERT INTO {name} (rowid, {listed}) VALUES ({placeholders})");
    let mut insert = connection.prepare(&insert)?;
    for (number, row) in (0_i64..).zip(table.rows.values()) {
        let cells = columns.iter().map(|column| cell(row.get(column)));
        let cells = std::iter::once(Cell::Integer(number)).chain(cells);
        insert.execute(rusqlite::params_from_iter(cells))?;
    }
    drop(insert);
    Ok(connection)
}

/// Restricts statements to reading, and limits their run time.
fn set_limits(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        _ => Authorization::Deny,
    }))?;
    let callbacks = AtomicU32::new(0);
    let ends = move || callbacks.fetch_add(1, Ordering::Relaxed) > MAX_CALLBACKS;
    connection.progress_handler(INSTRUCTIONS, Some(ends))
}

/// Quotes an identifier.
pub(super) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the type of a column, by its values.
pub(super) fn kind(table: &Table, column: &str) -> &'static str {
    let values = table.rows.values().filter_map(|row| row.get(column));
    let values: Vec<&Value> = values.filter(|value| !value.is_null()).collect();
    if values.iter().all(|value| value.is_i64()) {
        "INTEGER"
    } else if values.iter().all(|value| value.is_number()) {
        "REAL"
    } else if values.iter().all(|value| value.is_boolean()) {
        "BOOLEAN"
    } else {
        "TEXT"
    }
}

fn cell(value: Option<&Value>) -> Cell {
    match value {
        None | Some(Value::Null) => Cell::Null,
        Some(Value::Bool(value)) => Cell::Integer((*value).into()),
        Some(Value::String(text)) => Cell::Text(text.clone()),
        Some(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Cell::Integer(number),
            (None, Some(number)) => Cell::Real(number),
            (None, None) => Cell::Text(number.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn table() -> Table {
        Table::new(
            "t",
            json!({
                "a": {"s": "a", "n": 1, "b": true},
                "b": {"s": "O'Brien", "n": 20, "b": false},
                "c": {"s": null, "n": null, "b": null},
            }),
        )
    }

    #[rstest]
    #[case("WHERE t.n > 3", &["b"])]
    #[case("where \"t\".\"n\" < '3'", &["a"])]
    #[case("s = 'O''Brien'", &["b"])]
    #[case("WHERE (t.n > 1) IS NOT TRUE", &["a", "c"])]
    #[case("WHERE NOT t.n > 1", &["a"])]
    #[case("WHERE s LIKE 'A%'", &["a"])]
    #[case("WHERE b = TRUE OR s IS NULL", &["a", "c"])]
    #[case("WHERE n IN (1, 20) -- both", &["a", "b"])]
    #[case("WHERE 1 = 1", &["a", "b", "c"])]
    #[case("WHERE(n)=1", &["a"])]
    fn clauses_select_rows(#[case] clause: &str, #[case] rows: &[&str]) {
        let expected = rows.iter().map(|row| (*row).to_owned()).collect();
        let found = select(clause, &table());
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn hostile_clauses_are_refused() {
        let endless = "WHERE EXISTS (WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) \
                       SELECT 1 FROM r WHERE i < 0)";
        let many = format!("WHERE 1 = 1{}", ";SELECT 1".repeat(1_800));
        let deep = format!("WHERE {}1", "NOT ".repeat(3_000));
        for (clause, reason) in [
            ("WHERE t.x = 1", "no such column: t.x"),
            ("WHERE other.n = 1", "no such column: other.n"),
            ("WHEREn = 1", "no such column: WHEREn"),
            ("WHERE", "incomplete input"),
            ("WHERE 'open", "unrecognized token"),
            ("WHERE \0", "incomplete input"),
            ("WHERE n = 1;", "syntax error"),
            ("WHERE n = 1; SELECT 1", "Multiple statements"),
            ("WHERE n = 1; DROP TABLE t", "not authorized"),
            (
                "WHERE n = 1; ATTACH '/tmp/leak.db' AS leak",
                "not authorized",
            ),
            ("WHERE n = 1; PRAGMA user_version = 3", "not authorized"),
            ("WHERE n = 1 LIMIT 1", "syntax error"),
            ("WHERE n = 1 ORDER BY n", "syntax error"),
            ("WHERE n = 1 GROUP BY n", "syntax error"),
            ("WHERE n = 1 UNION SELECT 1", "syntax error"),
            ("WHERE n = 1 /* open", "incomplete input"),
            ("WHERE n = 1) OR (n = 20", "syntax error"),
            ("WHERE (n = 1", "incomplete input"),
            ("WHERE n = 1 THEN 1 WHEN n = 20", "syntax error"),
            ("WHERE WHERE n = 1", "syntax error"),
            ("WHERE load_extension('x') = 1", "not authorized"),
            ("WHERE length(zeroblob(2000000)) > 1", "too big"),
            (endless, "interrupted"),
            (&many, "Multiple statements"),
            (&deep, "Expression tree is too large"),
        ] {
            let excerpt: String = clause.chars().take(80).collect();
            let error = select(clause, &table()).err();
            let is_reported = error.as_deref().is_some_and(|error| error.contains(reason));
            assert!(is_reported, "{excerpt}: {error:?}");
        }
    }
}

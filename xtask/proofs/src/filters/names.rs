//! The names that databases have for tables and columns: those of the policies, or others, which
//! mappings tell.

use rego::Value;
use rego::filter::{Dialect, Mappings, Target};

use super::rows::{Row, STEP};

/// A name of the policies, and another one.
type Names = (&'static str, &'static str);

/// The other names: of tables, and of those of their columns that have one.
const OTHER: &[(&str, &str, &[Names])] = &[
    (
        "t",
        "rows_t",
        &[("s", "group"), ("s2", "two words"), ("b", "flag")],
    ),
    ("u", "select", &[("n", "number of")]),
];

/// The columns that stand without their table in policies.
pub(super) const SHORT: &[&str] = &["s", "n"];

/// The mappings that a request gives.
fn mappings() -> Value {
    let text = |name: &str| Value::from(name);
    let tables = OTHER.iter().map(|(table, other, columns)| {
        let columns = columns.iter().map(|(name, other)| (*name, text(other)));
        let own = [("$self", text(other))];
        (*table, Value::object(own.into_iter().chain(columns)))
    });
    let short = SHORT.iter();
    let short = short.map(|name| (*name, Value::object([("$table", text("t"))])));
    let all = Value::object(tables.chain(short).collect::<Vec<_>>());
    Value::object([("sql", all.clone()), ("ucast", all)])
}

/// The names for a target.
///
/// # Errors
/// When the mappings are none.
pub(super) fn of(target: Target, is_mapped: bool) -> Result<Mappings, String> {
    match is_mapped {
        true => Mappings::select(&mappings(), target),
        false => Ok(Mappings::default()),
    }
}

/// The names that stand for columns without a table.
pub(super) fn short(is_mapped: bool) -> std::collections::BTreeSet<std::sync::Arc<str>> {
    match is_mapped {
        true => Mappings::short_names(&mappings()),
        false => Default::default(),
    }
}

/// The name of a table.
pub(super) fn table(own: &'static str, is_mapped: bool) -> &'static str {
    let found = OTHER.iter().find(|(table, ..)| *table == own);
    let other = found.filter(|_| is_mapped).map(|(_, other, _)| *other);
    other.unwrap_or(own)
}

/// The name of a column.
pub(super) fn column(table: &str, own: &'static str, is_mapped: bool) -> &'static str {
    let found = OTHER
        .iter()
        .filter(|_| is_mapped)
        .find(|(name, ..)| *name == table);
    let mut columns = found.into_iter().flat_map(|(.., columns)| columns.iter());
    let found = columns.find(|(name, _)| *name == own);
    found.map_or(own, |(_, other)| *other)
}

/// A name in quotes.
pub(super) fn quoted(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::MySql => format!("`{name}`"),
        _ => format!("\"{name}\""),
    }
}

/// The columns of a row by the fields of UCAST.
pub(super) fn fields(row: &Row, is_mapped: bool) -> Vec<(String, &Value)> {
    let tables = row.tables.iter();
    let fields = tables.flat_map(|(own, columns)| {
        columns.iter().map(move |(name, value)| {
            let (table, name) = (table(own, is_mapped), column(own, name, is_mapped));
            (format!("{table}.{name}"), value)
        })
    });
    fields.collect()
}

/// The query for the rows that a clause selects.
pub(super) fn query(dialect: Dialect, is_joined: bool, is_mapped: bool, clause: &str) -> String {
    let name = |own| quoted(dialect, table(own, is_mapped));
    let (first, second) = (name("t"), name("u"));
    match is_joined {
        true => format!("SELECT {first}.id * {STEP} + {second}.id FROM {first}, {second} {clause}"),
        false => format!("SELECT id FROM {first} {clause}"),
    }
}

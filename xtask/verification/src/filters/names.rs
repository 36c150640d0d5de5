//! Names of tables and columns: tables named as in the policies, tables with mapped names, and
//! column types.

use rego::Value;
use rego::filter::{ColumnTypes, Dialect, Mappings, Target};

use super::rows::{COLUMNS, JOINED, Row, STEP};

/// Tables that a filter is translated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Schema {
    /// Tables with the names in the policies.
    Plain,
    /// Tables with other names.
    Renamed,
    /// Tables with other names, exact string collations, and declared column types.
    Typed,
}

impl Schema {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Renamed, Self::Typed];
}

/// Name in the policies, and the name that it is mapped to.
type Names = (&'static str, &'static str);

/// Mapped names of the tables with declared types.
const TYPED: &[(&str, &str)] = &[("t", "typed_t"), ("u", "typed_u")];

/// Mapped names of tables, and of some of their columns.
const OTHER: &[(&str, &str, &[Names])] = &[
    (
        "t",
        "rows_t",
        &[("s", "group"), ("s2", "two words"), ("b", "flag")],
    ),
    ("u", "select", &[("n", "number of")]),
];

/// Columns that policies use without their table.
pub(super) const SHORT: &[&str] = &["s", "n"];

/// Returns the mappings as a request contains them.
fn mappings(schema: Schema) -> Value {
    let text = |name: &str| Value::from(name);
    let tables = OTHER.iter().map(|(own, _, columns)| {
        let columns = columns.iter().map(|(name, _)| *name);
        let columns = columns.map(|name| (name, text(column(own, name, schema))));
        let table = [("$self", text(table(own, schema)))];
        (*own, Value::object(table.into_iter().chain(columns)))
    });
    let short = SHORT.iter();
    let short = short.map(|name| (*name, Value::object([("$table", text("t"))])));
    let all = Value::object(tables.chain(short).collect::<Vec<_>>());
    Value::object([("sql", all.clone()), ("ucast", all)])
}

/// Returns the mappings for a target.
///
/// # Errors
/// When the mappings are invalid.
pub(super) fn of(target: Target, schema: Schema) -> Result<Mappings, String> {
    match schema {
        Schema::Plain => Ok(Mappings::default()),
        schema => Mappings::select(&mappings(schema), target),
    }
}

/// Returns the column types for a target.
///
/// # Errors
/// When a type is invalid.
pub(super) fn types(target: Target, schema: Schema) -> Result<ColumnTypes, String> {
    if schema != Schema::Typed {
        return Ok(ColumnTypes::default());
    }
    let of_column = |(name, [_, postgresql, _]): &(&'static str, [&str; 3])| {
        let type_name = match *postgresql {
            "text" => "string",
            "boolean" => "boolean",
            _ => "number",
        };
        (*name, Value::from(type_name))
    };
    let tables = [("t", COLUMNS), ("u", JOINED)];
    let tables =
        tables.map(|(table, columns)| (table, Value::object(columns.iter().map(of_column))));
    let short = COLUMNS.iter().filter(|(name, _)| SHORT.contains(name));
    let all = Value::object(tables.into_iter().chain(short.map(of_column)));
    ColumnTypes::select(&Value::object([("sql", all)]), target)
}

/// Returns the column names that policies may use without a table.
pub(super) fn short(schema: Schema) -> std::collections::BTreeSet<std::sync::Arc<str>> {
    match schema {
        Schema::Plain => Default::default(),
        schema => Mappings::short_names(&mappings(schema)),
    }
}

/// Returns the name in a schema of the table that policies call `own`.
pub(super) fn table(own: &'static str, schema: Schema) -> &'static str {
    let renamed = || OTHER.iter().map(|(table, other, _)| (*table, *other));
    let found = match schema {
        Schema::Plain => None,
        Schema::Renamed => renamed().find(|(table, _)| *table == own),
        Schema::Typed => TYPED.iter().copied().find(|(table, _)| *table == own),
    };
    found.map_or(own, |(_, other)| other)
}

/// Returns the name in a schema of the column that policies call `own`.
pub(super) fn column(table: &str, own: &'static str, schema: Schema) -> &'static str {
    let found = OTHER
        .iter()
        .filter(|_| schema != Schema::Plain)
        .find(|(name, ..)| *name == table);
    let mut columns = found.into_iter().flat_map(|(.., columns)| columns.iter());
    let found = columns.find(|(name, _)| *name == own);
    found.map_or(own, |(_, other)| *other)
}

/// Quotes a name as an identifier.
pub(super) fn quoted(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::MySql => format!("`{name}`"),
        _ => format!("\"{name}\""),
    }
}

/// Returns the columns of a row, by their field names in UCAST.
pub(super) fn fields(row: &Row, schema: Schema) -> Vec<(String, &Value)> {
    let tables = row.tables.iter();
    let fields = tables.flat_map(|(own, columns)| {
        columns.iter().map(move |(name, value)| {
            let (table, name) = (table(own, schema), column(own, name, schema));
            (format!("{table}.{name}"), value)
        })
    });
    fields.collect()
}

/// Returns the query for the rows that a clause selects.
pub(super) fn query(dialect: Dialect, is_joined: bool, schema: Schema, clause: &str) -> String {
    let name = |own| quoted(dialect, table(own, schema));
    let (first, second) = (name("t"), name("u"));
    match is_joined {
        true => format!("SELECT {first}.id * {STEP} + {second}.id FROM {first}, {second} {clause}"),
        false => format!("SELECT id FROM {first} {clause}"),
    }
}

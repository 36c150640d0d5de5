//! Tables with the names of the policies, with mapped names, and with column types.

use rego::Value;
use rego::filter::{ColumnTypes, Dialect, Mappings, Target};

use super::rows::{COLUMNS, JOINED, Row, STEP};

/// Which of the tables a filter is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Schema {
    /// Those with the names of the policies.
    Plain,
    /// Those with other names.
    Renamed,
    /// Those with other names whose columns of strings compare exactly; the types are told.
    Typed,
}

impl Schema {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Renamed, Self::Typed];
}

/// A name of the policies, and another one.
type Names = (&'static str, &'static str);

/// The tables whose types are told.
const TYPED: &[(&str, &str)] = &[("t", "typed_t"), ("u", "typed_u")];

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

/// The names for a target.
///
/// # Errors
/// When the mappings are none.
pub(super) fn of(target: Target, schema: Schema) -> Result<Mappings, String> {
    match schema {
        Schema::Plain => Ok(Mappings::default()),
        schema => Mappings::select(&mappings(schema), target),
    }
}

/// The types of columns for a target.
///
/// # Errors
/// When one is no type.
pub(super) fn types(target: Target, schema: Schema) -> Result<ColumnTypes, String> {
    if schema != Schema::Typed {
        return Ok(ColumnTypes::default());
    }
    let of_column = |(name, [_, postgresql, _]): &(&'static str, [&str; 3])| {
        let told = match *postgresql {
            "text" => "string",
            "boolean" => "boolean",
            _ => "number",
        };
        (*name, Value::from(told))
    };
    let tables = [("t", COLUMNS), ("u", JOINED)];
    let tables =
        tables.map(|(table, columns)| (table, Value::object(columns.iter().map(of_column))));
    let short = COLUMNS.iter().filter(|(name, _)| SHORT.contains(name));
    let all = Value::object(tables.into_iter().chain(short.map(of_column)));
    ColumnTypes::select(&Value::object([("sql", all)]), target)
}

/// The names that stand for columns without a table.
pub(super) fn short(schema: Schema) -> std::collections::BTreeSet<std::sync::Arc<str>> {
    match schema {
        Schema::Plain => Default::default(),
        schema => Mappings::short_names(&mappings(schema)),
    }
}

/// The name of a table.
pub(super) fn table(own: &'static str, schema: Schema) -> &'static str {
    let renamed = || OTHER.iter().map(|(table, other, _)| (*table, *other));
    let found = match schema {
        Schema::Plain => None,
        Schema::Renamed => renamed().find(|(table, _)| *table == own),
        Schema::Typed => TYPED.iter().copied().find(|(table, _)| *table == own),
    };
    found.map_or(own, |(_, other)| other)
}

/// The name of a column.
pub(super) fn column(table: &str, own: &'static str, schema: Schema) -> &'static str {
    let found = OTHER
        .iter()
        .filter(|_| schema != Schema::Plain)
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

/// The query for the rows that a clause selects.
pub(super) fn query(dialect: Dialect, is_joined: bool, schema: Schema, clause: &str) -> String {
    let name = |own| quoted(dialect, table(own, schema));
    let (first, second) = (name("t"), name("u"));
    match is_joined {
        true => format!("SELECT {first}.id * {STEP} + {second}.id FROM {first}, {second} {clause}"),
        false => format!("SELECT id FROM {first} {clause}"),
    }
}

//! SQL WHERE clauses.
//!
//! Negations are moved to the tests first, which Rego's total order allows: a value that is not
//! less is greater or equal. So a test only has to be true for exactly the right rows; elsewhere,
//! SQL may evaluate it to false or NULL.

mod literal;
mod mysql;
mod names;
mod number;
mod pattern;
mod postgresql;
mod sqlite;
mod sqlserver;
mod type_guards;
mod typed;

use std::collections::BTreeMap;

use super::Unsupported;
use super::column_types::{ColumnType, ColumnTypes};
use super::condition::{Column, Comparison, Condition, MatchPosition, Predicate, Test};
use super::mappings::Mappings;
use super::target::Dialect;
use crate::Value;
use crate::value::Number;

/// Generator of SQL tests for one database. Columns are passed as their SQL text. A result that is
/// not a single comparison or call is in parentheses.
trait Writer {
    /// Returns an SQL condition that is true for every row, or for none.
    fn constant(&self, holds: bool) -> &'static str {
        if holds { "1 = 1" } else { "1 = 0" }
    }

    /// Quotes a name.
    fn quoted(&self, name: &str) -> String {
        names::doubled(name, '"')
    }

    /// Compares a column with a boolean, a number or a string.
    fn compare(&self, column: &ColumnOperand, comparison: Comparison, value: &Scalar) -> Rendered;

    /// Compares two columns, where two without values are equal.
    fn columns(&self, left: &str, comparison: Comparison, right: &str) -> String;

    /// Returns the test whether a column is one of these values, of which there is at least one;
    /// all are booleans, all numbers or all strings.
    fn among(&self, column: &ColumnOperand, values: &[&Scalar]) -> Rendered;

    /// Returns the test whether a column is a string that contains a string at a position.
    fn text(&self, column: &ColumnOperand, place: MatchPosition, text: &str) -> Rendered;

    /// Returns the SQL constant for a comparison with a column of its type; `None` if the database
    /// cannot represent exactly this value, or cannot distinguish it from all others.
    fn exact(&self, value: &Scalar) -> Option<String>;

    /// Returns the test whether a column of strings contains a string, which is not empty, at a
    /// position; `None` as in [`Writer::exact`].
    fn search(&self, column: &str, place: MatchPosition, text: &str) -> Option<String>;
}

/// A test, or the reason why the database cannot express it.
type Rendered = Result<String, String>;

/// Column and what is known about it.
struct ColumnOperand {
    /// SQL text of the column.
    name: String,
    /// Whether the column is compared to values of several types, so that its type is unknown.
    mixed: bool,
    /// Type of the column according to the request.
    of: Option<ColumnType>,
}

/// Constant that is compared with columns.
#[derive(Debug, Clone, PartialEq)]
enum Scalar {
    Bool(bool),
    Number(Number),
    Text(String),
}

impl Scalar {
    fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(text.to_string()),
            _ => return None,
        })
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 4,
        }
    }

    fn column_type(&self) -> ColumnType {
        match self {
            Self::Bool(_) => ColumnType::Boolean,
            Self::Number(_) => ColumnType::Number,
            Self::Text(_) => ColumnType::String,
        }
    }
}

/// Returns the WHERE clause; empty if the condition is true for every row, `None` if for no row.
pub(super) fn write(
    condition: &Condition,
    dialect: Dialect,
    mappings: &Mappings,
    types: &ColumnTypes,
) -> Result<Option<String>, Unsupported> {
    let writer: &dyn Writer = match dialect {
        Dialect::SqlServer => &type_guards::ByKinds(sqlserver::SqlServer),
        Dialect::MySql => &type_guards::ByKinds(mysql::MySql),
        Dialect::PostgreSql => &postgresql::PostgreSql,
        Dialect::Sqlite => &sqlite::Sqlite,
    };
    let condition = condition.map(&nulls);
    let text = match &condition {
        Condition::Constant(true) => String::new(),
        Condition::Constant(false) => return Ok(None),
        condition => {
            let clause = Clause {
                writer,
                dialect,
                mappings,
                types,
                kinds: kinds_of_columns(condition),
            };
            format!("WHERE {}", clause.condition(condition, false)?)
        }
    };
    Ok(Some(text))
}

/// Generator of a WHERE clause.
struct Clause<'c> {
    writer: &'c dyn Writer,
    dialect: Dialect,
    mappings: &'c Mappings,
    types: &'c ColumnTypes,
    /// Types of the values that each column is compared with, as a set of [`Scalar::kind`].
    kinds: BTreeMap<&'c Column, u8>,
}

impl Clause<'_> {
    fn condition(&self, condition: &Condition, negated: bool) -> Result<String, Unsupported> {
        let joined = |parts: &[Condition], word: &str| {
            let parts = parts.iter().map(|part| self.condition(part, negated));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            Ok(format!("({})", parts.join(word)))
        };
        match condition {
            Condition::Constant(holds) => Ok(self.writer.constant(*holds != negated).to_owned()),
            Condition::All(parts) if !negated => joined(parts, " AND "),
            Condition::Any(parts) if negated => joined(parts, " AND "),
            Condition::All(parts) | Condition::Any(parts) => joined(parts, " OR "),
            Condition::Not(inner, _) => self.condition(inner, !negated),
            Condition::Test(test) => self
                .test(test, negated)
                .map_err(|message| Unsupported::at(&test.location, message)),
        }
    }

    fn test(&self, test: &Test, negated: bool) -> Rendered {
        let column = self.subject(&test.column)?;
        let effective = |comparison: Comparison| match negated {
            true => comparison.opposite(),
            false => comparison,
        };
        match &test.predicate {
            Predicate::Compare(comparison, value) => {
                let comparison = effective(*comparison);
                match Scalar::of(value) {
                    Some(value) => typed::compare(self.writer, &column, comparison, &value)
                        .map_or_else(|| self.writer.compare(&column, comparison, &value), Ok),
                    None => Ok(null_test(self.writer, &column.name, comparison)),
                }
            }
            Predicate::CompareColumn(comparison, other) => {
                let (comparison, other) = (effective(*comparison), self.subject(other)?);
                let typed_condition = typed::columns(&column, comparison, &other);
                Ok(typed_condition
                    .unwrap_or_else(|| self.writer.columns(&column.name, comparison, &other.name)))
            }
            Predicate::Among(values) if values.is_empty() => {
                Ok(self.writer.constant(negated).to_owned())
            }
            Predicate::Among(values) => {
                let holds = self.among(&column, values)?;
                let has_null = values.contains(&Value::Null);
                Ok(match (negated, has_null) {
                    (false, false) => holds,
                    (false, true) if holds.is_empty() => format!("{} IS NULL", column.name),
                    (false, true) => format!("({} IS NULL OR {holds})", column.name),
                    (true, false) => otherwise(&column.name, &holds),
                    (true, true) if holds.is_empty() => format!("{} IS NOT NULL", column.name),
                    (true, true) => format!("({} IS NOT NULL AND {})", column.name, not(&holds)),
                })
            }
            Predicate::Text(place, text) => {
                let holds = match typed::text(self.writer, &column, *place, text) {
                    Some(holds) => holds,
                    None => self.writer.text(&column, *place, text)?,
                };
                Ok(if negated {
                    otherwise(&column.name, &holds)
                } else {
                    holds
                })
            }
            Predicate::Exists => Ok(self.writer.constant(!negated).to_owned()),
        }
    }

    /// Returns the test whether a column with a value is one of these; empty if they are all null.
    fn among(&self, column: &ColumnOperand, values: &[Value]) -> Rendered {
        let scalars: Vec<Scalar> = values.iter().filter_map(Scalar::of).collect();
        let mut tests = Vec::new();
        for kind in [1, 2, 4] {
            let of_kind: Vec<&Scalar> = scalars
                .iter()
                .filter(|value| value.kind() == kind)
                .collect();
            if !of_kind.is_empty() {
                tests.push(match typed::among(self.writer, column, &of_kind) {
                    Some(test) => test,
                    None => self.writer.among(column, &of_kind)?,
                });
            }
        }
        Ok(match tests.len() {
            0 | 1 => tests.pop().unwrap_or_default(),
            _ => format!("({})", tests.join(" OR ")),
        })
    }

    fn subject(&self, column: &Column) -> Result<ColumnOperand, String> {
        let kinds = self.kinds.get(column);
        Ok(ColumnOperand {
            name: self.name(column)?,
            mixed: kinds.is_some_and(|kinds| kinds.count_ones() > 1),
            of: self.types.get(column),
        })
    }

    fn name(&self, column: &Column) -> Rendered {
        let place = self.mappings.place(column);
        let mut names = Vec::new();
        for name in place.table.iter().chain([&place.column]) {
            if name.contains('\0') {
                return Err(format!(
                    "invalid name of a column: {:?}",
                    column.qualified_name()
                ));
            }
            names.push(if names::is_plain(name) {
                name.clone()
            } else if place.table.is_empty() && self.dialect == Dialect::Sqlite {
                // SQLite reads an unknown unqualified name between double quotes as a string.
                names::doubled(name, '`')
            } else {
                self.writer.quoted(name)
            });
        }
        Ok(names.join("."))
    }
}

/// Negates a test that is NULL only if the column has no value; then the result is true.
fn otherwise(column: &str, holds: &str) -> String {
    format!("({column} IS NULL OR {})", not(holds))
}

fn not(test: &str) -> String {
    if is_group(test) {
        format!("NOT {test}")
    } else {
        format!("NOT ({test})")
    }
}

/// Whether one pair of parentheses encloses a whole test.
fn is_group(test: &str) -> bool {
    let mut quote = None;
    let mut open = 0_usize;
    for (at, c) in test.char_indices() {
        match (quote, c) {
            // A quote inside quotes is doubled, which closes and reopens the string.
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => open += 1,
            (None, ')') => open = open.saturating_sub(1),
            (None, _) => {}
        }
        if open == 0 {
            return at > 0 && at + 1 == test.len();
        }
    }
    false
}

/// Compares a column to null, the least of all values.
fn null_test(writer: &dyn Writer, column: &str, comparison: Comparison) -> String {
    match comparison {
        Comparison::Equal | Comparison::LessOrEqual => format!("{column} IS NULL"),
        Comparison::NotEqual | Comparison::Greater => format!("{column} IS NOT NULL"),
        Comparison::Less => writer.constant(false).to_owned(),
        Comparison::GreaterOrEqual => writer.constant(true).to_owned(),
    }
}

/// Simplifies a test: comparisons with null that are always or never true become constants.
fn nulls(test: &Test) -> Condition {
    match &test.predicate {
        Predicate::Compare(Comparison::Less, Value::Null) => Condition::Constant(false),
        Predicate::Compare(Comparison::GreaterOrEqual, Value::Null) => Condition::Constant(true),
        _ => Condition::Test(test.clone()),
    }
}

/// Returns the types of the values that each column is compared with.
fn kinds_of_columns(condition: &Condition) -> BTreeMap<&Column, u8> {
    let mut kinds: BTreeMap<&Column, u8> = BTreeMap::new();
    condition.visit(&mut |part| {
        let Condition::Test(test) = part else {
            return;
        };
        let kind = |value: &Value| Scalar::of(value).map_or(0, |scalar| scalar.kind());
        let found = match &test.predicate {
            Predicate::Compare(_, value) => kind(value),
            Predicate::Among(values) => values.iter().map(kind).fold(0, |all, kind| all | kind),
            Predicate::Text(..) => 4,
            Predicate::CompareColumn(..) | Predicate::Exists => 0,
        };
        *kinds.entry(&test.column).or_default() |= found;
    });
    kinds
}

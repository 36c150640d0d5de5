//! Tests of columns with known types, in plain SQL.

use super::super::column_types::ColumnType;
use super::{ColumnOperand, Comparison, MatchPosition, Scalar, Writer};

/// Compares a column with a boolean, a number or a string; `None` if the column's type is not
/// known, or the database cannot represent the value exactly.
pub(super) fn compare(
    writer: &dyn Writer,
    column: &ColumnOperand,
    comparison: Comparison,
    value: &Scalar,
) -> Option<String> {
    let (name, column_type, other) = (&column.name, column.of?, value.column_type());
    if column_type != other {
        return Some(compare_types(writer, name, comparison, column_type < other));
    }
    let value = writer.exact(value)?;
    let compared = format!("{name} {} {value}", comparison.sql());
    Some(match comparison {
        Comparison::Equal | Comparison::Greater | Comparison::GreaterOrEqual => compared,
        Comparison::NotEqual | Comparison::Less | Comparison::LessOrEqual => {
            format!("({compared} OR {name} IS NULL)")
        }
    })
}

/// Compares a column with a value of another type: the order of types determines the result.
fn compare_types(
    writer: &dyn Writer,
    name: &str,
    comparison: Comparison,
    is_below: bool,
) -> String {
    match (comparison, is_below) {
        (Comparison::Equal, _) => writer.constant(false).to_owned(),
        (Comparison::NotEqual, _) => writer.constant(true).to_owned(),
        (Comparison::Less | Comparison::LessOrEqual, true) => writer.constant(true).to_owned(),
        (Comparison::Less | Comparison::LessOrEqual, false) => format!("{name} IS NULL"),
        (Comparison::Greater | Comparison::GreaterOrEqual, true) => {
            writer.constant(false).to_owned()
        }
        (Comparison::Greater | Comparison::GreaterOrEqual, false) => format!("{name} IS NOT NULL"),
    }
}

/// Compares two columns, where two without values are equal; `None` unless both are known to have
/// the same type.
pub(super) fn columns(
    left: &ColumnOperand,
    comparison: Comparison,
    right: &ColumnOperand,
) -> Option<String> {
    if left.of? != right.of? {
        return None;
    }
    let (left, right) = (&left.name, &right.name);
    let compared = format!("{left} {} {right}", comparison.sql());
    Some(match comparison {
        Comparison::Equal => format!("({compared} OR ({left} IS NULL AND {right} IS NULL))"),
        Comparison::NotEqual => format!(
            "({compared} OR ({left} IS NULL AND {right} IS NOT NULL) \
             OR ({left} IS NOT NULL AND {right} IS NULL))"
        ),
        Comparison::Less => format!("({compared} OR ({left} IS NULL AND {right} IS NOT NULL))"),
        Comparison::LessOrEqual => format!("({compared} OR {left} IS NULL)"),
        Comparison::Greater => format!("({compared} OR ({left} IS NOT NULL AND {right} IS NULL))"),
        Comparison::GreaterOrEqual => format!("({compared} OR {right} IS NULL)"),
    })
}

/// Tests whether a column is one of these values, of which there is at least one and all have one
/// type; `None` as in [`compare`].
pub(super) fn among(
    writer: &dyn Writer,
    column: &ColumnOperand,
    values: &[&Scalar],
) -> Option<String> {
    let column_type = column.of?;
    if values
        .iter()
        .any(|value| value.column_type() != column_type)
    {
        return Some(writer.constant(false).to_owned());
    }
    let values = values.iter().map(|value| writer.exact(value));
    let values = values.collect::<Option<Vec<_>>>()?.join(", ");
    Some(format!("{} IN ({values})", column.name))
}

/// Tests whether a column contains a string at a position; `None` as in [`compare`].
pub(super) fn text(
    writer: &dyn Writer,
    column: &ColumnOperand,
    place: MatchPosition,
    text: &str,
) -> Option<String> {
    let name = &column.name;
    match column.of? {
        ColumnType::String if text.is_empty() => Some(format!("{name} IS NOT NULL")),
        ColumnType::String => writer.search(name, place, text),
        ColumnType::Boolean | ColumnType::Number => Some(writer.constant(false).to_owned()),
    }
}

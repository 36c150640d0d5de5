//! Evaluation of UCAST conditions.
//!
//! The document says only that the condition is an object. Implementations of UCAST agree on its
//! members `type`, `operator`, `field` and `value`. A column without a value is null: equal to
//! null, and neither less nor greater than anything.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value;

use super::Table;

/// Returns the names of the rows that meet a condition.
///
/// # Errors
/// An unsupported part of the condition, even if no row needs it.
pub(super) fn select(query: &Value, table: &Table) -> Result<Vec<String>, String> {
    let columns = table.columns();
    let mut names = Vec::new();
    for (name, values) in &table.rows {
        let row = Row {
            table: table.name,
            columns: &columns,
            values,
        };
        if row.meets(query)? {
            names.push(name.clone());
        }
    }
    Ok(names)
}

struct Row<'t> {
    table: &'t str,
    columns: &'t BTreeSet<&'t str>,
    values: &'t Value,
}

impl Row<'_> {
    /// Whether the row meets a condition. The JSON parser limits how deep conditions nest.
    fn meets(&self, condition: &Value) -> Result<bool, String> {
        let text = |name: &str| condition.get(name).and_then(Value::as_str);
        let operator = text("operator").ok_or("no `operator`")?;
        let value = condition.get("value").ok_or("no `value`")?;
        match text("type").ok_or("no `type`")? {
            "compound" => self.meets_compound(operator, value),
            "field" => {
                let field = text("field").ok_or("no `field`")?;
                let left = self.column(field)?;
                match value.as_object() {
                    None => compare(left, operator, value),
                    Some(other) => {
                        let other = other.get("field").and_then(Value::as_str);
                        let other = other.ok_or(
                            r#"invalid `value`: expected a scalar, a list or `{"field": …}`"#,
                        )?;
                        compare(left, operator, self.column(other)?)
                    }
                }
            }
            other => Err(format!("unknown type {other}")),
        }
    }

    fn meets_compound(&self, operator: &str, value: &Value) -> Result<bool, String> {
        let parts = match value {
            Value::Array(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut met = Vec::new();
        for part in parts {
            met.push(self.meets(part)?);
        }
        match (operator, met.as_slice()) {
            ("and", met) => Ok(met.iter().all(|met| *met)),
            ("or", met) => Ok(met.iter().any(|met| *met)),
            ("nor", met) => Ok(!met.iter().any(|met| *met)),
            ("not", [met]) => Ok(!met),
            ("not", _) => Err(format!("`not` of {} conditions", met.len())),
            _ => Err(format!("unknown compound operator {operator}")),
        }
    }

    fn column(&self, field: &str) -> Result<&Value, String> {
        // A field is a column, optionally after the name of the table, such as `t.n` or
        // `input.t.n`.
        let (table, column) = field.rsplit_once('.').unwrap_or((self.table, field));
        let is_of_table = table.rsplit('.').next() == Some(self.table);
        match self.columns.get(column).filter(|_| is_of_table) {
            Some(name) => Ok(self.values.get(name).unwrap_or(&Value::Null)),
            None => Err(format!("no such column: {field}")),
        }
    }
}

fn compare(left: &Value, operator: &str, right: &Value) -> Result<bool, String> {
    let ordered = |meets: fn(Ordering) -> bool| order(left, right).is_some_and(meets);
    let in_list = || {
        let items = right.as_array().ok_or("`value` is not a list")?;
        Ok::<bool, String>(items.iter().any(|item| equal(left, item)))
    };
    let texts = |meets: fn(&str, &str) -> bool| {
        let part = right.as_str().ok_or("`value` is not a string")?;
        Ok::<bool, String>(left.as_str().is_some_and(|text| meets(text, part)))
    };
    match operator {
        "eq" => Ok(equal(left, right)),
        "ne" => Ok(!equal(left, right)),
        "lt" => Ok(ordered(Ordering::is_lt)),
        "lte" => Ok(ordered(Ordering::is_le)),
        "gt" => Ok(ordered(Ordering::is_gt)),
        "gte" => Ok(ordered(Ordering::is_ge)),
        "in" => in_list(),
        "nin" => in_list().map(|found| !found),
        "startswith" => texts(|text, part| text.starts_with(part)),
        "endswith" => texts(|text, part| text.ends_with(part)),
        "contains" => texts(|text, part| text.contains(part)),
        _ => Err(format!("unknown operator {operator}")),
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    order(left, right).map_or(left == right, Ordering::is_eq)
}

/// Compares two numbers or two strings.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn found(query: &Value) -> Result<String, String> {
        let rows = json!({
            "a": {"s": "apple", "n": 1, "m": 1.0},
            "b": {"s": "100%", "n": 20, "m": 3},
            "c": {"s": null, "n": null},
        });
        select(query, &Table::new("t", rows)).map(|names| names.join(""))
    }

    fn field(operator: &str, column: &str, value: Value) -> Value {
        json!({"type": "field", "operator": operator, "field": column, "value": value})
    }

    fn compound(operator: &str, parts: Value) -> Value {
        json!({"type": "compound", "operator": operator, "value": parts})
    }

    #[test]
    fn conditions_select_rows() {
        let (small, empty) = (
            field("lt", "t.n", json!(9.5)),
            field("eq", "t.s", json!(null)),
        );
        for (query, rows) in [
            (small.clone(), "a"),
            (empty.clone(), "c"),
            (field("ne", "t.s", json!("apple")), "bc"),
            (field("gte", "t.n", json!(1)), "ab"),
            (field("gte", "n", json!(1)), "ab"),
            (field("gte", "input.t.n", json!(1)), "ab"),
            (field("gt", "t.n", json!("1")), ""),
            (field("eq", "t.n", json!("1")), ""),
            (field("eq", "t.n", json!({"field": "t.m"})), "ac"),
            (field("in", "t.n", json!([20.0, null])), "bc"),
            (field("nin", "t.n", json!([20])), "ac"),
            (field("startswith", "t.s", json!("100%")), "b"),
            (field("endswith", "t.s", json!("%")), "b"),
            (field("contains", "t.s", json!("pp")), "a"),
            (compound("not", json!([small])), "bc"),
            (compound("not", small.clone()), "bc"),
            (compound("or", json!([small, empty])), "ac"),
            (compound("nor", json!([small, empty])), "b"),
            (
                compound("and", json!([compound("or", json!([small, empty])), empty])),
                "c",
            ),
            (compound("and", json!([])), "abc"),
            (compound("or", json!([])), ""),
        ] {
            assert_eq!(found(&query).as_deref(), Ok(rows), "{query}");
        }
    }

    #[rstest]
    #[case::null(json!(null), "no `operator`")]
    #[case::list(json!([1]), "no `operator`")]
    #[case::no_value(json!({"operator": "eq"}), "no `value`")]
    #[case::no_type(json!({"operator": "eq", "value": 1}), "no `type`")]
    #[case::unknown_type(json!({"type": "x", "operator": "eq", "value": 1}), "unknown type x")]
    #[case::column(field("eq", "t.x", json!(1)), "no such column: t.x")]
    #[case::table(field("eq", "other.n", json!(1)), "no such column: other.n")]
    #[case::no_column_name(field("eq", "t.", json!(1)), "no such column: t.")]
    #[case::no_separator(field("eq", "tn", json!(1)), "no such column: tn")]
    #[case::operator(field("like", "t.n", json!(1)), "unknown operator like")]
    #[case::in_without_a_list(field("in", "t.n", json!(1)), "`value` is not a list")]
    #[case::contains_without_a_string(
        field("contains", "t.n", json!(1)),
        "`value` is not a string"
    )]
    #[case::object(
        field("eq", "t.n", json!({"x": 1})),
        r#"invalid `value`: expected a scalar, a list or `{"field": …}`"#
    )]
    #[case::compound_operator(
        compound("xor", json!([field("eq", "t.n", json!(1))])),
        "unknown compound operator xor"
    )]
    #[case::not_of_none(compound("not", json!([])), "`not` of 0 conditions")]
    #[case::or_of_a_number(
        compound("or", json!([field("eq", "t.n", json!(1)), 1])),
        "no `operator`"
    )]
    fn hostile_conditions_are_refused(#[case] query: Value, #[case] reason: &str) {
        assert_eq!(found(&query), Err(reason.to_owned()));
    }
}

//! UCAST conditions: objects with `type`, `operator`, `field` and `value`.

use super::condition::{Condition, Predicate, Test};
use super::mappings::Mappings;
use crate::Value;

/// Returns the condition as UCAST: empty if it is true for every row, `None` if for no row.
pub(super) fn write(condition: &Condition, mappings: &Mappings) -> Option<Value> {
    match condition {
        Condition::Constant(false) => None,
        Condition::Constant(true) => Some(Value::object::<&str>([])),
        condition => Some(node(condition, mappings)),
    }
}

fn node(condition: &Condition, mappings: &Mappings) -> Value {
    let compound = |operator: &str, parts: &[Condition]| {
        let parts = parts.iter().map(|part| node(part, mappings));
        Value::object([
            ("type", Value::from("compound")),
            ("operator", Value::from(operator)),
            ("value", Value::from(parts.collect::<Vec<_>>())),
        ])
    };
    match condition {
        Condition::All(parts) => compound("and", parts),
        Condition::Any(parts) => compound("or", parts),
        Condition::Not(inner, _) => compound("not", std::slice::from_ref(inner)),
        Condition::Test(test) => field(test, mappings),
        // Constants are folded into the surrounding condition; alone, the only way to express
        // "none" in UCAST is an empty disjunction.
        Condition::Constant(true) => compound("and", &[]),
        Condition::Constant(false) => compound("or", &[]),
    }
}

fn field(test: &Test, mappings: &Mappings) -> Value {
    let (operator, value) = match &test.predicate {
        Predicate::Compare(comparison, value) => (comparison.ucast(), value.clone()),
        Predicate::CompareColumn(comparison, other) => {
            let other = mappings.place(other).field();
            let value = Value::object([("field", Value::from(other))]);
            (comparison.ucast(), value)
        }
        Predicate::Among(values) => ("in", Value::from(values.clone())),
        Predicate::Text(place, text) => (place.name(), Value::from(text.clone())),
        Predicate::Exists => return node(&Condition::Constant(true), mappings),
    };
    Value::object([
        ("type", Value::from("field")),
        ("operator", Value::from(operator)),
        ("field", Value::from(mappings.place(&test.column).field())),
        ("value", value),
    ])
}

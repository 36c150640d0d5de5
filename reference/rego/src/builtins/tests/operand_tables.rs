//! Calls and their results, as tables in `tests/builtins/`.
//!
//! An entry has a `call`, its `operands` (`{"$set": […]}` is a set) and either the `result`, in
//! which a set is the array of its members, or the `error`'s message, or neither when the call is
//! undefined.

use std::path::Path;
use std::sync::Arc;

use crate::Value;
use crate::builtins::{Call, Failure, Session, function};
use crate::meter::Meter;
use crate::syntax::Location;
use crate::value::from_json;

/// Decodes an operand of a table.
fn operand(written: &Value) -> Value {
    match written {
        Value::Array(items) => Value::from(items.iter().map(operand).collect::<Vec<_>>()),
        Value::Object(members) => match members.get("$set").and_then(Value::as_array) {
            Some(items) => Value::Set(Arc::new(items.iter().map(operand).collect())),
            None => Value::object(
                members
                    .iter()
                    .map(|(name, member)| (name.clone(), operand(member))),
            ),
        },
        other => other.clone(),
    }
}

/// Describes how the result of a table entry differs from the expected one, if it does.
fn check(entry: &Value) -> Option<String> {
    let name = entry.get("call")?.as_str()?;
    let Some((_, function)) = function(name) else {
        return Some(format!("{name} is missing"));
    };
    let operands: Vec<Value> = entry
        .get("operands")?
        .as_array()?
        .iter()
        .map(operand)
        .collect();
    let mut session = Session::default();
    let location = Location {
        file: "".into(),
        row: 1,
        col: 1,
        offset: 0,
        length: 0,
    };
    let mut call = Call {
        location: &location,
        session: &mut session,
        meter: &Meter::default(),
        outside: Default::default(),
    };
    let got = match function(&mut call, &operands) {
        Ok(Some(value)) => ("result", from_json(value.to_string().as_bytes()).ok()),
        Ok(None) => ("result", None),
        Err(Failure::Type(message) | Failure::Value(message)) => {
            ("error", Some(Value::from(format!("{name}: {message}"))))
        }
        Err(other) => ("error", Some(Value::from(format!("{other:?}")))),
    };
    let expected = match (entry.get("result"), entry.get("error")) {
        (_, Some(error)) => ("error", Some(error.clone())),
        (Some(result), None) => ("result", Some(result.clone())),
        (None, None) => ("result", None),
    };
    let describe = |(kind, value): (&str, Option<Value>)| match value {
        Some(value) => format!("{kind} {value}"),
        None => "undefined".to_owned(),
    };
    (got != expected).then(|| {
        let operand_texts: Vec<String> = operands.iter().map(ToString::to_string).collect();
        let (got, expected) = (describe(got), describe(expected));
        format!(
            "{name}({})\n  wanted {expected}\n  got    {got}",
            operand_texts.join(", ")
        )
    })
}

#[test]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
fn calls_answer_as_in_the_tables() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/builtins");
    let mut failures = Vec::new();
    let mut checked = 0;
    for file in std::fs::read_dir(folder).expect("the tables' folder") {
        let path = file.expect("a table").path();
        let table = std::fs::read(&path).expect("a table");
        let table = from_json(&table).expect("a table is JSON");
        for entry in table.as_array().expect("a table is an array") {
            checked += 1;
            failures.extend(check(entry));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {checked}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

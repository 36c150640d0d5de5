//! Calls with constant operands and their results, as tables in `tests/calls/`.
//!
//! Each line is an expression; the next is `= ` and its JSON value, `! ` and the first line of its
//! failure, or `undefined`. Lines that begin with `#` are comments.

#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a broken table ends the test"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::Value;
use crate::builtins::{Call, Failure, Session, function};
use crate::meter::Meter;
use crate::syntax::{ExprTerms, Location, Term, TermValue, parse_query};
use crate::value::{Object, Set};

/// Name of the function whose call failed, and the failure.
type Failed = (String, Failure);

pub(in crate::builtins) fn session() -> Session {
    Session {
        now: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).into(),
        ..Session::default()
    }
}

/// Evaluates a term without variables; `None` when a call in it is undefined.
fn value(term: &Term, session: &mut Session) -> Result<Option<Value>, Failed> {
    let all = |terms: &[Term], session: &mut Session| -> Result<Option<Vec<Value>>, Failed> {
        terms.iter().map(|term| value(term, session)).collect()
    };
    Ok(Some(match &term.value {
        TermValue::Null => Value::Null,
        TermValue::Bool(value) => Value::Bool(*value),
        TermValue::Number(number) => Value::Number(number.clone()),
        TermValue::String(text) => Value::from(Arc::clone(text)),
        TermValue::Array(items) => match all(items, session)? {
            Some(items) => Value::from(items),
            None => return Ok(None),
        },
        TermValue::Set(members) => match all(members, session)? {
            Some(members) => Value::from(members.into_iter().collect::<Set>()),
            None => return Ok(None),
        },
        TermValue::Object(members) => {
            let mut object = Object::new();
            for (key, member) in members {
                let Some(key) = value(key, session)? else {
                    return Ok(None);
                };
                let Some(member) = value(member, session)? else {
                    return Ok(None);
                };
                object.insert(key, member);
            }
            Value::from(object)
        }
        TermValue::Call(parts) => return call(parts, &term.location, session),
        other => panic!("not constant: {other:?}"),
    }))
}

fn call(
    parts: &[Term],
    location: &Location,
    session: &mut Session,
) -> Result<Option<Value>, Failed> {
    let (operator, operands) = parts.split_first().expect("a call has an operator");
    let name = match &operator.value {
        TermValue::Ref(steps) => steps.iter().map(|step| match &step.value {
            TermValue::Var(name) => name.0.to_string(),
            TermValue::String(name) => name.to_string(),
            other => panic!("no name: {other:?}"),
        }),
        other => panic!("no operator: {other:?}"),
    };
    let name = name.collect::<Vec<_>>().join(".");
    let operands: Result<Option<Vec<Value>>, Failed> =
        operands.iter().map(|term| value(term, session)).collect();
    let Some(operands) = operands? else {
        return Ok(None);
    };
    let Some((_, function)) = function(&name) else {
        let missing = Failure::Halt("missing".to_owned());
        return Err((name, missing));
    };
    let mut call = Call {
        location,
        session,
        meter: &Meter::default(),
        outside: Default::default(),
    };
    function(&mut call, &operands).map_err(|failure| (name, failure))
}

/// Evaluates an expression and formats its result as in the tables.
fn evaluate(text: &str) -> String {
    let query = match parse_query(text) {
        Ok(query) => query,
        Err(errors) => return format!("? {errors}"),
    };
    let mut session = session();
    let result = match query.as_slice() {
        [only] => match &only.terms {
            ExprTerms::Term(term) => value(term, &mut session),
            ExprTerms::Call(parts) => call(parts, &only.location, &mut session),
            _ => panic!("no call: {text}"),
        },
        _ => panic!("more than one expression: {text}"),
    };
    match result {
        Ok(Some(value)) => format!("= {value}"),
        Ok(None) => "undefined".to_owned(),
        Err((name, Failure::Type(message))) => format!("! type: {name}: {message}"),
        Err((name, Failure::Value(message))) => {
            let first = message.lines().next().unwrap_or_default();
            format!("! {name}: {first}")
        }
        Err((name, other)) => format!("! {name} {other:?}"),
    }
}

#[test]
fn calls_come_to_what_their_tables_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/calls");
    let mut failures = Vec::new();
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("the tables are there") {
        let path = file.expect("a table").path();
        let text = std::fs::read_to_string(&path).expect("a table of text");
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines: Vec<&str> = lines.collect();
        for pair in lines.chunks(2) {
            let [expression, expected] = pair else {
                panic!("{} ends without a result", path.display());
            };
            count += 1;
            let got = evaluate(expression);
            if got != *expected {
                failures.push(format!("{expression}\n  wanted {expected}\n  got    {got}"));
            }
        }
    }
    assert!(count > 0);
    assert!(
        failures.is_empty(),
        "{} of {count}\n{}",
        failures.len(),
        failures.join("\n")
    );
}

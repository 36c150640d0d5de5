//! Modules that fail to parse, in a table: after `===` the source, after `>>>` each error with its
//! location, as clients of OPA see them.

#![expect(clippy::unwrap_used, reason = "a broken table ends the test")]

use rego::Errors;
use rego::syntax::parse_module;

#[test]
fn every_mistake_is_told_where_it_is() {
    let table = include_str!("syntax/mistakes.txt");
    let mut wrong = Vec::new();
    for case in table.trim_end().split("\n=== ") {
        let case = case.strip_prefix("=== ").unwrap_or(case);
        let (text, expected) = case.split_once("\n>>>\n").unwrap();
        let found = match parse_module("m.rego", text) {
            Ok(_) => "ok".to_owned(),
            Err(errors) => mistakes(&errors),
        };
        if found != expected {
            wrong.push(format!("{text}\n  wanted\n{expected}\n  found\n{found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}{} differ", wrong.concat(), wrong.len());
}

fn mistakes(errors: &Errors) -> String {
    let lines = errors.0.iter().map(|error| match &error.location {
        Some(at) if at.row > 0 => {
            let message = error.message.replace('\n', "\\n");
            format!("{}:{} {} {message}", at.row, at.col, error.code.as_str())
        }
        _ => error.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

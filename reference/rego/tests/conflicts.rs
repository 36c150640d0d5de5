//! Conflicts between writes of base documents and rules, in a table.

#![expect(clippy::unwrap_used, reason = "a failing test panics")]

use rego::value::from_json;
use rego::{Compiler, Module, Policy, Value};

const MODULES: &[&str] = &[
    "package a\np := 1\nq.r.s := 2\nt[x] := 1 if some x in [1]",
    "package a.b.c\nf(x) := x",
    "package d\ne[\"x/y\"] := 1",
];

/// Paths, the values written there, and the paths of the rules that conflict with them.
const TABLE: &[(&str, &str, &[&str])] = &[
    ("", "{}", &[]),
    ("", r#"{"a": {}}"#, &[]),
    ("", r#"{"a": {"p": 1}}"#, &["a/p"]),
    ("", r#"{"a": {"p": 1, "z": 2, "t": 3}}"#, &["a/p", "a/t"]),
    ("a", r#"{"q": {"r": {}}}"#, &[]),
    ("a", r#"{"q": {"r": {"s": null}}}"#, &["a/q/r/s"]),
    ("a/p", "1", &["a/p"]),
    ("a/p/x", "1", &["a/p"]),
    ("a/p2", "1", &[]),
    ("a/t/x", "1", &["a/t"]),
    ("a/q", "1", &["a/q/r/s"]),
    ("a/q", "[]", &["a/q/r/s"]),
    ("a/q/z", "1", &[]),
    ("a/b", r#"{"c": {"g": 1}}"#, &[]),
    ("a/b", r#"{"c": {"f": 1}}"#, &["a/b/c/f"]),
    ("a/b/c/f/g", "1", &["a/b/c/f"]),
    ("z", r#"{"a": {"p": 1}}"#, &[]),
];

#[test]
fn documents_in_the_way_of_rules_are_refused() {
    let modules = MODULES.iter().enumerate();
    let compiler = modules.fold(Compiler::new(&Policy::default()), |all, (number, text)| {
        let id = format!("m{number}");
        all.put(&id, Module::parse(&id, text).unwrap())
    });
    let policy = compiler.compile().unwrap();
    for (path, document, expected) in TABLE {
        let steps = path.split('/').filter(|step| !step.is_empty());
        let steps: Vec<Value> = steps.map(Value::from).collect();
        let document = from_json(document.as_bytes()).unwrap();
        let mut found = match policy.conflicts(&steps, &document) {
            Ok(()) => Vec::new(),
            Err(errors) => errors.0.iter().map(|error| error.message.clone()).collect(),
        };
        // The order of the rules is unspecified.
        found.sort();
        let expected: Vec<_> = expected
            .iter()
            .map(|place| format!("conflicting rule for data path {place} found"))
            .collect();
        assert_eq!(found, expected, "{path}: {document}");
    }
}

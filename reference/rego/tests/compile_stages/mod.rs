//! Compiler errors of name resolution, local variable declarations and body ordering: the code, the
//! location and the message of each error.

#![expect(clippy::panic, reason = "a broken table ends the test")]

mod declarations;
mod functions;
mod logic;
mod queries;
mod safety;
mod scopes;

use rego::{Compiler, Module, Policy};

/// Formats the errors of a compilation, one per line: `row:col code message`.
fn mistakes(errors: &rego::Errors) -> Vec<String> {
    let lines = errors.0.iter().map(|error| {
        let place = error.location.as_ref();
        let place = place.map_or_else(|| "-".to_owned(), |at| format!("{}:{}", at.row, at.col));
        format!("{place} {} {}", error.code.as_str(), error.message)
    });
    lines.collect()
}

/// Compiles each module, prefixed with `package m` and an empty line.
fn check(cases: &[(&str, &[&str])]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let module = Module::parse("m", &format!("package m\n\n{text}\n"));
        let module = module.unwrap_or_else(|errors| panic!("{text}: {errors}"));
        let found = match Compiler::new(&Policy::default()).put("m", module).compile() {
            Ok(_) => Vec::new(),
            Err(errors) => mistakes(&errors),
        };
        if found != *expected {
            wrong.push(format!(
                "{text}\n  expected {expected:?}\n  found    {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Modules.

use super::Choices;
use super::body::body;
use super::term::{Scope, term};

/// How deep terms nest.
const DEPTH: usize = 2;

/// A module of the package `m` with rules `r0` to `r4` and functions `f0` and `f1` between them.
pub fn module(choices: &mut Choices<'_>) -> String {
    let mut text = "package m\n".to_owned();
    let mut scope = Scope {
        variables: Vec::new(),
        rules: 0,
        functions: 0,
        depth: DEPTH,
        next: 0,
    };
    for at in 0..5 {
        if at == 1 || at == 3 {
            text.push_str(&function(choices, &mut scope));
            scope.functions += 1;
        }
        text.push_str(&rule(choices, &mut scope, at));
        scope.rules += 1;
    }
    text
}

fn rule(choices: &mut Choices<'_>, scope: &mut Scope, at: usize) -> String {
    match choices.below(7) {
        0 => definitions(choices, scope, &format!("r{at} if")),
        1 => format!(
            "\ndefault r{at} := false\n{}",
            definitions(choices, scope, &format!("r{at} if"))
        ),
        2 => valued(choices, scope, |value| format!("r{at} := {value}")),
        3 => valued(choices, scope, |value| format!("r{at} contains {value}")),
        4 => keyed(choices, scope, &format!("r{at}")),
        5 => {
            let first = valued(choices, scope, |value| format!("r{at} := {value}"));
            let other = own(scope, |scope| term(choices, scope));
            format!("{} else := {other}\n", first.trim_end())
        }
        // A rule that may need itself, or another kind of the same rule.
        _ => match choices.below(6) {
            5 => format!("\nr{at} contains 1\n\nr{at} := 2\n"),
            4 => format!("\nr{at} if r{at}\n"),
            _ => format!(
                "\nr{at}.inner.deep := {}\n",
                own(scope, |scope| term(choices, scope))
            ),
        },
    }
}

/// Runs in a scope whose variables end with the rule.
fn own(scope: &mut Scope, make: impl FnOnce(&mut Scope) -> String) -> String {
    let made = make(scope);
    scope.variables.clear();
    made
}

fn definitions(choices: &mut Choices<'_>, scope: &mut Scope, head: &str) -> String {
    let count = 1 + choices.below(2);
    (0..count)
        .map(|_| {
            let body = own(scope, |scope| body(choices, scope, "\n\t"));
            format!("\n{head} {{\n\t{body}\n}}\n")
        })
        .collect()
}

fn valued(choices: &mut Choices<'_>, scope: &mut Scope, head: impl Fn(&str) -> String) -> String {
    let count = 1 + choices.below(2);
    (0..count)
        .map(|_| {
            own(scope, |scope| {
                let body = body(choices, scope, "\n\t");
                let head = head(&term(choices, scope));
                format!("\n{head} if {{\n\t{body}\n}}\n")
            })
        })
        .collect()
}

fn keyed(choices: &mut Choices<'_>, scope: &mut Scope, name: &str) -> String {
    own(scope, |scope| {
        let body = body(choices, scope, "\n\t");
        let (key, value) = (term(choices, scope), term(choices, scope));
        format!("\n{name}[key] := {value} if {{\n\t{body}\n\tkey := {key}\n}}\n")
    })
}

fn function(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let name = format!("f{}", scope.functions);
    own(scope, |scope| {
        scope.variables.push("given".to_owned());
        let body = body(choices, scope, "\n\t");
        let value = term(choices, scope);
        format!("\n{name}(given) := {value} if {{\n\t{body}\n}}\n")
    })
}

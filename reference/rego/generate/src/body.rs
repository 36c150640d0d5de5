//! Bodies.

use super::Choices;
use super::term::{Scope, term};

/// One to four expressions; variables that they bind are in scope behind them.
pub(crate) fn body(choices: &mut Choices<'_>, scope: &mut Scope, between: &str) -> String {
    let count = 1 + choices.below(if scope.depth == 0 { 2 } else { 4 });
    let expressions: Vec<String> = (0..count).map(|_| expression(choices, scope)).collect();
    expressions.join(between)
}

fn expression(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    match choices.below(11) {
        0 => {
            let operator = choices.of(&["==", "!=", "<", "<=", ">", ">="]);
            format!(
                "{} {operator} {}",
                term(choices, scope),
                term(choices, scope)
            )
        }
        1 => bind(choices, scope),
        2 => {
            let from = term(choices, scope);
            let item = scope.fresh();
            scope.variables.push(item.clone());
            format!("some {item} in {from}")
        }
        3 => {
            let from = term(choices, scope);
            let (key, item) = (scope.fresh(), scope.fresh());
            scope.variables.extend([key.clone(), item.clone()]);
            format!("some {key}, {item} in {from}")
        }
        4 => term(choices, scope),
        5 => format!("not {}", closed(choices, scope)),
        6 => every(choices, scope),
        7 => format!("{} in {}", term(choices, scope), term(choices, scope)),
        8 => with(choices, scope),
        9 => unify(choices, scope),
        // An expression that is written before what it needs.
        _ => {
            let later = scope.fresh();
            let value = term(choices, scope);
            scope.variables.push(later.clone());
            format!("{later} > 0; {later} = {value}")
        }
    }
}

fn bind(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let value = term(choices, scope);
    let name = scope.fresh();
    scope.variables.push(name.clone());
    format!("{name} := {value}")
}

/// What is negated. References in collections and calls are looked up before the negation there,
/// which engines see differently, so they stand alone.
fn closed(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let depth = std::mem::take(&mut scope.depth);
    let one = term(choices, scope);
    let text = match choices.below(2) {
        0 => one,
        _ => format!("{one} == {}", term(choices, scope)),
    };
    scope.depth = depth;
    text
}

fn every(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let domain = term(choices, scope);
    let (known, depth) = (scope.variables.len(), scope.depth);
    let item = scope.fresh();
    scope.variables.push(item.clone());
    scope.depth = depth.saturating_sub(1);
    let body = body(choices, scope, "; ");
    scope.variables.truncate(known);
    scope.depth = depth;
    format!("every {item} in {domain} {{ {body} }}")
}

fn with(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let tested = term(choices, scope);
    let target = choices.of(&[
        "input",
        "input.x",
        "data.base.flag",
        "data.base.map.a",
        "data.m.r0",
        "count",
    ]);
    let value = match target {
        "count" => "sum".to_owned(),
        _ => term(choices, scope),
    };
    format!("{tested} with {target} as {value}")
}

fn unify(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let value = term(choices, scope);
    let (first, second) = (scope.fresh(), scope.fresh());
    scope.variables.extend([first.clone(), second.clone()]);
    match choices.below(3) {
        0 => format!("[{first}, {second}] = {value}"),
        1 => format!("{{\"a\": {first}, \"b\": {second}}} = {value}"),
        _ => format!("{value} = [{first}, [{second}]]"),
    }
}

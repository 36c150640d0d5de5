//! Generated modules and queries.

use super::Choices;
use super::body::body;
use super::mistakes;
use super::template::expand;
use super::terms::{KINDS, Kind, Scope, literal, term};

/// Generates a module of the package `m` with rules `r0` to `r5` and functions `f0` to `f2` between
/// them. Most are valid; a quarter may contain errors.
pub fn module(choices: &mut Choices<'_>) -> String {
    let faulty = choices.rarely(4);
    let mut scope = Scope::new(faulty);
    let mut text = "package m\n".to_owned();
    if choices.rarely(5) {
        text.push_str("\nimport rego.v2\n");
        scope.logic = true;
    }
    if faulty && choices.rarely(10) {
        text.push_str(&format!("\n{}\n", choices.of(mistakes::IMPORTS)));
    } else if choices.rarely(6) {
        text.push_str("\nimport data.base as known\nimport input.who\n");
        scope.variables.push(("known".to_owned(), 'd'));
        scope.variables.push(("who".to_owned(), 'O'));
    }
    let imported = scope.variables.len();
    for at in 0..6 {
        if at % 2 == 1 && choices.below(6) > 0 {
            text.push_str(&function(choices, &mut scope));
            scope.variables.truncate(imported);
        }
        text.push_str(&rule(choices, &mut scope, at));
        scope.variables.truncate(imported);
    }
    if faulty && choices.rarely(8) {
        return mistakes::mutate(choices, &text);
    }
    text
}

/// Generates a query about a generated policy: one of the rules, or a body.
pub fn query(choices: &mut Choices<'_>) -> String {
    let mut scope = Scope::new(choices.rarely(6));
    (scope.depth, scope.query) = (2, true);
    for at in 0..6 {
        scope.rules.push((format!("data.m.r{at}"), 'd'));
    }
    body(choices, &mut scope, "; ")
}

fn rule(choices: &mut Choices<'_>, scope: &mut Scope, at: usize) -> String {
    let name = format!("r{at}");
    if scope.faulty && choices.rarely(8) {
        let rule = choices.of(mistakes::RULES).replace('R', &name);
        scope.rules.push((name, 'x'));
        return format!("\n{rule}\n");
    }
    let (text, kind) = match choices.below(10) {
        0 => {
            let kind = choices.of(KINDS);
            (format!("\n{name} := {}\n", literal(choices, kind)), kind)
        }
        7 | 8 => (tested(choices, scope, &name), 'b'),
        1 | 2 => valued(choices, scope, &name),
        3 | 4 => set(choices, scope, &name),
        5 => (keyed(choices, scope, &name), 'O'),
        6 => {
            let kind = choices.of(KINDS);
            (
                format!("\n{name} := {}\n", term(choices, scope, kind)),
                kind,
            )
        }
        _ => (deep(choices, scope, &name), 'x'),
    };
    scope.rules.push((name, kind));
    text
}

/// Generates a body in a new scope and passes it to `make`, which may use the scope for the head.
fn within(
    choices: &mut Choices<'_>,
    scope: &mut Scope,
    make: impl FnOnce(&mut Choices<'_>, &mut Scope, &str) -> String,
) -> String {
    let known = scope.variables.len();
    scope.begins = false;
    let body = body(choices, scope, "\n\t");
    let text = make(choices, scope, &format!("{{\n\t{body}\n}}"));
    scope.variables.truncate(known);
    text
}

fn tested(choices: &mut Choices<'_>, scope: &mut Scope, name: &str) -> String {
    let mut text = match choices.below(3) {
        0 => format!("\ndefault {name} := false\n"),
        _ => String::new(),
    };
    for _ in 0..1 + choices.below(2) {
        text.push_str(&within(choices, scope, |_, _, body| {
            format!("\n{name} if {body}\n")
        }));
    }
    text
}

fn valued(choices: &mut Choices<'_>, scope: &mut Scope, name: &str) -> (String, Kind) {
    let kind = choices.of(KINDS);
    let mut text = match choices.below(3) {
        0 => format!("\ndefault {name} := {}\n", literal(choices, kind)),
        _ => String::new(),
    };
    for _ in 0..1 + choices.below(2) {
        text.push_str(&definition(choices, scope, name, kind));
    }
    (text, kind)
}

/// Generates a definition of a value, and possibly `else` definitions for when its body is not
/// satisfied.
fn definition(choices: &mut Choices<'_>, scope: &mut Scope, head: &str, kind: Kind) -> String {
    let mut text = within(choices, scope, |choices, scope, body| {
        let value = term(choices, scope, kind);
        format!("\n{head} := {value} if {body}")
    });
    while choices.rarely(3) {
        text.push_str(&within(choices, scope, |choices, scope, body| {
            let value = term(choices, scope, kind);
            format!(" else := {value} if {body}")
        }));
    }
    if choices.rarely(6) {
        text.push_str(&format!(" else := {}", literal(choices, kind)));
    }
    text.push('\n');
    text
}

fn set(choices: &mut Choices<'_>, scope: &mut Scope, name: &str) -> (String, Kind) {
    let (of, kind) = choices.of(&[('n', 'M'), ('s', 'T'), ('x', 'x')]);
    let mut text = String::new();
    for _ in 0..1 + choices.below(2) {
        text.push_str(&within(choices, scope, |choices, scope, body| {
            let member = term(choices, scope, of);
            format!("\n{name} contains {member} if {body}\n")
        }));
    }
    (text, kind)
}

fn keyed(choices: &mut Choices<'_>, scope: &mut Scope, name: &str) -> String {
    let mut text = String::new();
    for _ in 0..1 + choices.below(2) {
        text.push_str(&within(choices, scope, |choices, scope, body| {
            let (key, value) = (term(choices, scope, 's'), term(choices, scope, 'n'));
            match choices.below(2) {
                0 => format!("\n{name}[{key}] := {value} if {body}\n"),
                _ => {
                    let body = body.trim_end_matches('}');
                    format!("\n{name}[key] := {value} if {body}\tkey := {key}\n}}\n")
                }
            }
        }));
    }
    text
}

/// Generates rules whose references have several parts.
fn deep(choices: &mut Choices<'_>, scope: &mut Scope, name: &str) -> String {
    let heads: &[&[&str]] = &[
        &["R.inner.deep := #x"],
        &["R.inner[#s] := #n", "R.other := #x"],
        &["R[#s].y := #x", "R[#s].z := #n"],
        &["R.a.b contains #x", "R.a.c contains #n"],
        &["R[#s] contains #s", "R[#s] contains #n"],
        &["R[#s][#n] := #x"],
        &["R.a[\"b c\"] if true", "R.a.d := #N"],
        &["default R.a := ~n", "R.a := #n", "R.b[#s] := #S"],
    ];
    let mut text = String::new();
    for head in choices.of(heads) {
        let head = head.replace('R', name);
        if head.starts_with("default") || head.ends_with(" if true") {
            text.push_str(&format!("\n{}\n", expand(choices, scope, &head)));
            continue;
        }
        text.push_str(&within(choices, scope, |choices, scope, body| {
            format!("\n{} if {body}\n", expand(choices, scope, &head))
        }));
    }
    text
}

/// Generates a function of one or two operands, with up to three definitions.
fn function(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let name = format!("f{}", scope.functions.len());
    let kinds: Vec<Kind> = (0..1 + choices.below(2))
        .map(|_| choices.of(KINDS))
        .collect();
    let kind = choices.of(KINDS);
    let mut text = String::new();
    if choices.rarely(5) {
        let wild = vec!["_"; kinds.len()].join(", ");
        text.push_str(&format!(
            "\ndefault {name}({wild}) := {}\n",
            literal(choices, kind)
        ));
    }
    for _ in 0..1 + choices.below(3) {
        let known = scope.variables.len();
        let parameters: Vec<_> = kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| parameter(choices, scope, at, *kind))
            .collect();
        let head = format!("{name}({})", parameters.join(", "));
        text.push_str(&definition(choices, scope, &head, kind));
        scope.variables.truncate(known);
    }
    scope.functions.push((name, kinds, kind));
    text
}

fn parameter(choices: &mut Choices<'_>, scope: &mut Scope, at: usize, kind: Kind) -> String {
    let name = format!("p{at}");
    match choices.below(6) {
        5 => literal(choices, kind),
        4 => {
            let of = match kind {
                'N' => 'n',
                'S' => 's',
                _ => return "_".to_owned(),
            };
            scope.variables.push((name.clone(), of));
            format!("[{name}, _]")
        }
        _ => {
            scope.variables.push((name.clone(), kind));
            name
        }
    }
}

//! Rule and query bodies.

use super::Choices;
use super::mistakes;
use super::template::expand;
use super::terms::{KINDS, Scope, term};

/// Generates one to four expressions; the variables that they bind are in scope after them.
pub(crate) fn body(choices: &mut Choices<'_>, scope: &mut Scope, between: &str) -> String {
    let count = 1 + choices.below(if scope.depth == 0 { 2 } else { 4 });
    let expressions: Vec<String> = (0..count)
        .map(|_| {
            let text = expression(choices, scope);
            scope.begins = false;
            text
        })
        .collect();
    expressions.join(between)
}

fn expression(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    if scope.faulty && choices.rarely(12) {
        let template = choices.of(mistakes::EXPRESSIONS);
        if !(scope.unmodified && template.contains(" with ")) {
            return expand(choices, scope, template);
        }
    }
    if scope.logic && choices.rarely(4) {
        let template = choices.of(LOGIC);
        return closed(scope, |scope| {
            scope.deeper(|scope| expand(choices, scope, template))
        });
    }
    let ways = if scope.depth == 0 { 8 } else { 12 };
    match choices.below(ways) {
        // Bindings of a variable of any kind.
        0 | 1 => {
            let kind = choices.of(KINDS);
            expand(choices, scope, &format!("!{kind} := #{kind}"))
        }
        2 => {
            let kind = choices.of(KINDS);
            expand(choices, scope, &format!("!{kind} = #{kind}"))
        }
        3 => {
            let template = choices.of(ITERATIONS);
            expand(choices, scope, template)
        }
        4 | 5 => {
            let template = choices.of(TESTS);
            // OPA does not look for `print` everywhere in queries.
            if scope.query && template.starts_with("print") {
                return "true".to_owned();
            }
            expand(choices, scope, template)
        }
        6 if !scope.unmodified => with(choices, scope),
        6 | 7 => {
            let template = choices.of(NEGATIONS);
            closed(scope, |scope| expand(choices, scope, template))
        }
        8 => {
            let template = choices.of(PATTERNS);
            expand(choices, scope, template)
        }
        9 => {
            let template = choices.of(EVERY);
            let (known, unmodified) = (scope.variables.len(), scope.unmodified);
            scope.unmodified |= scope.query;
            let text = scope.deeper(|scope| expand(choices, scope, template));
            scope.variables.truncate(known);
            scope.unmodified = unmodified;
            text
        }
        10 => term(choices, scope, 'b'),
        _ => term(choices, scope, 'x'),
    }
}

const ITERATIONS: &[&str] = &[
    "some !n in #N",
    "some !s in #S",
    "some !n in #M",
    "some !s in #T",
    "some !s, !n in #O",
    "some !n, !s in #S",
    "some !n, !n in #N",
    "some !x in #d",
    "some !x, !x in #d",
    "some \"k\", !n in data.base.sizes",
    "some !n; ^1 = #N[_]",
    "some !n, !s; ^2 = #S[^1]",
    "some !s; #O[^1] > #n",
    "some {\"name\": !s} in data.base.people",
    "some [!x, !x] in [[#n, #s], [#s, #n]]",
    "!n = #N[_]",
    "!n := #M[_]",
    "!n := #N[!n]",
    "#T[!s]",
    "#O[!s] = !n",
    "walk(#x, [!x, !x])",
    "data.base.people[!n].tags[!n] = !s",
    "data.base[!s][!x]",
];

const TESTS: &[&str] = &[
    "#n > #n",
    "#n <= #n",
    "#s == #s",
    "#s != #s",
    "#d == #x",
    "#x < #x",
    "#n in #N",
    "#s in #S",
    "#n, #n in #N",
    "#n in #M",
    "startswith(#s, #s)",
    "count(#N) > 0",
    "#n == #N[_]",
    "#N[_] >= #n",
    "print(\"seen\", |#x|)",
    "is_number(#x)",
    "true",
    "#d",
    "#x",
];

/// Negations. If a part of the operand is undefined, some engines return undefined for the negation
/// and others true; these negations are evaluated as by OPA.
const NEGATIONS: &[&str] = &[
    "not #b",
    "not #n == #n",
    "not #d",
    "not #s in #T",
    "not #n < #n",
    "not startswith(#s, #s)",
    "not #x",
    "not #d == #x",
    "not data.base.missing",
    "not count(#N) == #n",
];

/// Logical operators between conditions.
const LOGIC: &[&str] = &[
    "#b and #b",
    "#b or #b",
    "#b and #n == #n or #b",
    "#b and (#b or #b)",
    "not #b and #b",
    "not (#b or #b)",
    "not {\n%\n}",
    "not { #b; % }",
    "{ % } and #b",
    "{ % } or #b",
    "{ % } or { #b }",
    "not ({ % } and #b)",
    "#b or not { % }",
    "#b and #x or #d",
];

const PATTERNS: &[&str] = &[
    "[!n, !n] = [#n, #n]",
    "[!n, !s] := [#n, #s]",
    "{\"a\": !n, \"b\": !s} := {\"a\": #n, \"b\": #s}",
    "{\"a\": !x} = #d",
    "[!x, !x] = #d",
    "#d = [!x, [!x]]",
    "[!n, 1] = [#n, #n]",
    "[#n, !s] = [!n, #s]",
    // Expressions that precede the bindings that they need.
    "!n > #n; ^1 = #n",
    "!s != #s; ^1 = #S[_]",
    "!n + 1 == !n; ^1 = #n; ^2 = #n",
];

const EVERY: &[&str] = &[
    "every !n in #N { ^1 >= @n }",
    "every !n in #M { ^1 > @n; % }",
    "every !s in #S { ^1 != @s }",
    "every !s, !n in #O { ^2 > 0; ^1 != \"b\" }",
    "every !n, !s in #S { ^1 < 5; ^2 in @S }",
    "every !x in #d { ^1 != @x }",
    "every !n in #N { some !n in #N; ^2 > ^1 }",
    "every !n in [] { ^1 > 1 }",
    "every !n in #N { every !s in #S { ^2 != \"zz\"; ^1 < 100; % } }",
];

fn with(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let tested = choices.of(&[
        "#x",
        "#b",
        "#n == #n",
        "!x := #x",
        "!x = #x",
        "!n = #n",
        "some !n in #N",
    ]);
    let known = scope.variables.len();
    let mut text = expand(choices, scope, tested);
    // Variables that the expression binds are not in scope in its modifiers.
    let bound = scope.variables.split_off(known);
    let templates = [
        "input as #x",
        "input.x as #n",
        "input.y as #s",
        "input.list as #N",
        "input.who.name as #s",
        "input.deep.a as #x",
        "data.base.flag as #b",
        "data.base.numbers as #N",
        "data.base.map.a as #n",
        "data.base.sizes as #O",
        "data.base as #d",
        "data.base.extra.deep as #x",
        "data.m.r0 as #x",
        "data.m.r1 as #n",
        "count as #n",
        "count as sum",
        "upper as lower",
        "startswith as true",
        "data.m.f0 as #x",
        "to_number as 7",
    ];
    for _ in 0..1 + choices.below(2) {
        let template = choices.of(&templates);
        // Modifiers only name functions and rules that the module has.
        if template.contains("f0") && scope.functions.is_empty()
            || template.contains("r0") && scope.rules.is_empty()
            || template.contains("r1") && scope.rules.len() < 2
        {
            continue;
        }
        text.push_str(" with ");
        text.push_str(&expand(choices, scope, template));
    }
    scope.variables.extend(bound);
    text
}

/// Calls `make` with a scope that must not bind variables, so without wildcards.
pub(crate) fn closed(scope: &mut Scope, make: impl FnOnce(&mut Scope) -> String) -> String {
    let before = std::mem::replace(&mut scope.closed, true);
    let text = make(scope);
    scope.closed = before;
    text
}

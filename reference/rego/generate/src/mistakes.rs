//! Errors that compilers have to report.

use super::Choices;
use super::template::expand;
use super::terms::Scope;

/// Generates a term of the wrong kind or with an error in it.
pub(crate) fn term(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let template = choices.of(TERMS);
    let depth = std::mem::take(&mut scope.depth);
    let text = expand(choices, scope, template);
    scope.depth = depth;
    text
}

const TERMS: &[&str] = &[
    "1",
    "\"a\"",
    "null",
    "true",
    "[]",
    "{\"a\": 1}",
    "{2}",
    "unbound",
    "_",
    "count(#x, #n, 1, 2)",
    "count()",
    "upper(1)",
    "sum(#s)",
    "no_such_function(#x)",
    "data.m.f9(#x)",
    "f0(#x, #x, #x)",
    "f0",
    "r0(#x)",
    "r0.nosuch",
    "[1, 2].a",
    "{\"a\": 1}.b",
    "{\"a\": 1}[\"b\"]",
    "{unbound | true}",
    "[y | y := 1; y := 2]",
    "{x: y | x := unbound; y := lost}",
    "[x | some x, y in #N]",
    "[1 | some y]",
    "[1 | not lost]",
    "[1 | every y in #N { true }]",
    "concat(\",\", [1, \"a\"])",
    "concat(#s, {#n})",
    "array.concat(#N, #M)",
    "re_match(\"a\", #s)",
    "any([true])",
    "print(#x)",
    "object.get(1, #s, #n)",
    "(#s + #n)",
    "(#M - #n)",
    "(#N | #M)",
    "input.x(#n)",
    "data.m.r9",
    "data.m.r0.a.b.c",
    "$$\"{unbound}\"",
    "data.base.numbers[upper(1)]",
    "count(upper(1))",
    "[upper(unbound), lower(2)]",
];

/// Expressions with errors.
pub(crate) const EXPRESSIONS: &[&str] = &[
    "some !n",
    "some !n, !s",
    "some !n; ^1 = 1; some ^1; ^1 = 2",
    "every !n in #N { true }",
    "every !n, !s in #S { ^1 < 2 }",
    "every !n in #N { some !n; true }",
    "every !n in #N { ^1 > unbound }",
    "every !n in #N { ^1 := 2; ^1 > 1 }",
    "every !n in unbound { ^1 > 0 }",
    "every !n in #N { ^1 > 0; not lost; also }",
    "some !n in #N; some ^1 in #N",
    "some !n in ^1",
    "some !n in unbound",
    "some unbound.x in #N",
    "not !n == 1",
    "not unbound",
    "not !n := 1",
    "!n := ^1",
    "!n := #n; ^1 := #n",
    "!n == 1; ^1 := 2",
    "!n > 1",
    "!n + !n == 3",
    "#n := 1",
    "input := 1",
    "data.m := 1",
    "count := 1; count([1]) == 1",
    "r0 := 1; r0 == 1",
    "#n = #s",
    "#N = #s",
    "[!n, !n] = [1, 2, 3]",
    "{\"a\": !n} = {\"b\": 1}",
    "[!n, !n] = #s",
    "upper(#s, !n, !n)",
    "upper(#s, 1)",
    "count(#N, \"a\")",
    "plus(#n, #n, #s)",
    "#x with nosuch as 1",
    "#x with nosuch.a as 1",
    "#x with data.m.nosuch as 1",
    "input.y with input[unbound] as 1",
    "input.y with input.x as unbound",
    "#x with count as f0",
    "#x with count as concat",
    "#x with f0 as count",
    "#x with data.m.f0 as r0",
    "#x with count as {1 | unbound}",
    "#x with print as 1",
    "#x with walk as 1",
    "print(unbound)",
    "print(!n); print(lost)",
    "x := print(1)",
    "lost; also; lost + also > 1",
    "contains",
    "if",
    "in",
    "[unbound, lost]",
    "{\"a\": unbound}",
    "unbound[lost]",
    "data.base[unbound + 1]",
    "f0(unbound)",
    "f0(#x) = lost; lost.x.y",
    "walk(unbound, [!x, !x])",
    "1 = 2; \"a\" = 2",
    "#b = 1; null = 1; upper(7) = 8",
];

/// Rules with errors; `R` is replaced by the name of the rule.
pub(crate) const RULES: &[&str] = &[
    "R if R",
    "R contains x if { x := 1; R[x] }",
    "R[x] := 1 if { some x in data.base.names; not data.m.R[x] }",
    "R contains 1\n\nR := 2",
    "R := 1\n\nR(x) := x",
    "R(x) := x\n\nR(x, y) := x + y",
    "R contains 1\n\nR[x] := 1 if x := \"a\"",
    "default R := 1\n\ndefault R := 2",
    "R := 1\n\nR.a := 2",
    "R.a.b := 1\n\nR.a := 2",
    "R[x] := 1 if true",
    "R contains x if true",
    "R := x if true",
    "R := x if not x",
    "R(x) := y if true",
    "R(x, x) := x",
    "R([x, upper(\"a\")]) := x",
    "R(x) := y if y := data.m.R(x)",
    "R(input) := 1",
    "R(x) if { x := 1 }",
    "R(x) if { some x; x = 1 }",
    "R(count) := count([1])",
    "R := count(1) if { upper(2) } else := lower(3) if { lost }",
    "R if { some x; true } else := 2 if { some y; true }",
    "R := [x | some x, y; x = 1] if { some z; true }",
    "R := [x | x := 1; x := 2] if { some z; true }",
    "R := [a | some a, b in [1]; some c]",
    "default R(_) := 1\n\nR(x, y) := 2",
    "default R(x) := 1",
    "R := data.m.R.x",
    "R.x := 1 if data.m.R[input.x]",
    "R contains print(1)",
    "R := 1 if { 1 = \"a\" }\n\nR := 2 if { upper(1) }",
    "R := data.m.R2 + \"a\"\n\nR2 := upper(1)",
    "R := R2.a\n\nR2 := {\"b\": R3.c}\n\nR3 := {\"d\": 1}",
    "R := 1 if data.m.R3.z.y\n\nR3 := {\"y\": upper(1)}",
    "R if { x == 1; y == 2; z == 3 }\n\nR if { a == 1; b == 2; c == 3; d == 4; e == 5; f == 6; g == 7; h == 8 }",
];

/// Imports with errors.
pub(crate) const IMPORTS: &[&str] = &[
    "import data.a\nimport data.b as a",
    "import data.base.x\nimport data.base.x",
    "import input.x as data",
    "import rego.v1\nimport data.v1",
    "import future.keywords.nosuch",
    "import foo.bar",
];

/// Changes one character of a source, so that a parser may find an error.
pub(crate) fn mutate(choices: &mut Choices<'_>, text: &str) -> String {
    let signs: Vec<char> = text.chars().collect();
    let far = choices.below(256) * 256 + choices.below(256);
    let at = far.checked_rem(signs.len()).unwrap_or(0);
    let (before, after) = signs.split_at(at);
    let mut damaged: String = before.iter().collect();
    let rest: String = after.iter().skip(1).collect();
    match choices.below(3) {
        0 => {}
        1 => damaged.push_str(choices.of(&[
            "\"", "(", "]", "}", ",", " ", "\n", ".", ":=", "1", "=", "|",
        ])),
        _ => {
            damaged
                .push_str(choices.of(&["{", ")", "[", " not ", " some ", "x", ";", ":", "#", "`"]));
            damaged.extend(after.first());
        }
    }
    damaged + &rest
}

//! Names: rules, imports, parameters, local variables.

use super::check;

#[test]
fn references_and_imports() {
    check(&[
        (
            "p if { input := 1; input }",
            &[
                "3:8 rego_compile_error variables must not shadow input (use a different variable name)",
            ],
        ),
        (
            "p if { data := 1 }",
            &[
                "3:8 rego_compile_error variables must not shadow data (use a different variable name)",
            ],
        ),
        (
            "input := 1",
            &["3:1 rego_compile_error rules must not shadow input (use a different rule name)"],
        ),
        (
            "data if { true }",
            &["3:1 rego_compile_error rules must not shadow data (use a different rule name)"],
        ),
        (
            "f(input) := 1",
            &["3:1 rego_compile_error args must not shadow input (use a different variable name)"],
        ),
        (
            "f(data) := 1",
            &["3:1 rego_compile_error args must not shadow data (use a different variable name)"],
        ),
        (
            "import data.a\nimport data.b as a\np := a",
            &["4:1 rego_compile_error import must not shadow import data.a"],
        ),
        (
            "import data.a\nimport data.a\np := a",
            &["4:1 rego_compile_error import must not shadow import data.a"],
        ),
        (
            "import rego.v1\nimport data.v1\np := v1",
            &["4:1 rego_compile_error import must not shadow import rego.v1"],
        ),
    ]);
}

#[test]
fn declarations() {
    check(&[
        (
            "p if { x := 1; x := 2 }",
            &["3:16 rego_compile_error var x assigned above"],
        ),
        (
            "p if { x == 1; x := 2 }",
            &["3:16 rego_compile_error var x referenced above"],
        ),
        (
            "p if { x = 1; some x; x = 2 }",
            &["3:15 rego_compile_error var x referenced above"],
        ),
        (
            "p if { some x; some x; x = 1 }",
            &["3:16 rego_compile_error var x declared above"],
        ),
        (
            "p if { some x; x := 1 }",
            &["3:16 rego_compile_error var x declared above"],
        ),
        (
            "p if { x := 1; some x; x = 2 }",
            &["3:16 rego_compile_error var x assigned above"],
        ),
        (
            "f(x) if { x := 1 }",
            &["3:11 rego_compile_error arg x redeclared"],
        ),
        (
            "f(x) if { some x; x = 1 }",
            &["3:11 rego_compile_error arg x redeclared"],
        ),
        ("f(x) if { every x in [1] { x } }", &[]),
        (
            "p if { some x }",
            &["3:8 rego_compile_error declared var x unused"],
        ),
        (
            "p if { some x, y; x = 1 }",
            &["3:8 rego_compile_error declared var y unused"],
        ),
        (
            "p if { some x in x }",
            &["3:8 rego_compile_error var x assigned before"],
        ),
        (
            "p if { some x, y in y; x }",
            &["3:8 rego_compile_error var y assigned before"],
        ),
        (
            "p if { 1 := 2 }",
            &["3:8 rego_compile_error cannot assign to number"],
        ),
        (
            "p if { input.x := 2 }",
            &["3:8 rego_compile_error cannot assign to ref"],
        ),
        (
            "p if { f(1) := 2 }",
            &["3:8 rego_compile_error cannot assign to call"],
        ),
        (
            "p if { \"a\" := 2 }",
            &["3:8 rego_compile_error cannot assign to string"],
        ),
        (
            "p if { {x} := 2 }",
            &["3:8 rego_compile_error cannot assign to set"],
        ),
        (
            "p if { [1, x] := input.y; x }",
            &["3:9 rego_compile_error cannot assign to number"],
        ),
        (
            "p if { [x | x := 1] := 2 }",
            &["3:8 rego_compile_error cannot assign to arraycomprehension"],
        ),
        (
            "p if { not x := 1 }",
            &["3:8 rego_compile_error cannot assign vars inside negated expression"],
        ),
        (
            "f(count(x)) := 1",
            &["3:3 rego_compile_error rule arguments cannot contain calls"],
        ),
        (
            "f(1 + 2) := 1",
            &["3:3 rego_compile_error rule arguments cannot contain calls"],
        ),
        (
            "p if { count([1]) == 1; count := 2; count }",
            &["3:25 rego_compile_error var count referenced above"],
        ),
        (
            "p if { print(x); x := 1 }",
            &["3:18 rego_compile_error var x referenced above"],
        ),
        (
            "p if { x := y; y := x }",
            &["3:16 rego_compile_error var y referenced above"],
        ),
        (
            "p if { a := b; b := c; c := d }",
            &[
                "3:16 rego_compile_error var b referenced above",
                "3:24 rego_compile_error var c referenced above",
            ],
        ),
        (
            "p if { x := input[y]; y := z }",
            &["3:23 rego_compile_error var y referenced above"],
        ),
        (
            "p if { x := f(x) }",
            &["3:8 rego_compile_error var x referenced above"],
        ),
        (
            "p := [x | x := 1; x := 2]",
            &["3:19 rego_compile_error var x assigned above"],
        ),
        (
            "p := {x: y | some x, y in input.z; some x}",
            &["3:36 rego_compile_error var x declared above"],
        ),
        (
            "p if { some x in input; x := 2 }",
            &["3:25 rego_compile_error var x declared above"],
        ),
        (
            "p if { some x in input; some x in input }",
            &["3:25 rego_compile_error var x declared above"],
        ),
        (
            "p if { some k, v in input; k := v }",
            &["3:28 rego_compile_error var k declared above"],
        ),
        ("p if { x := 1; every x in [1] { x } ; [x | x := 1] }", &[]),
        (
            "p if { [x, x] := [1, 2] }",
            &["3:12 rego_compile_error var x assigned above"],
        ),
        (
            "p if { {\"a\": x, \"b\": x} := input }",
            &["3:22 rego_compile_error var x assigned above"],
        ),
        (
            "p if { p := p }",
            &["3:8 rego_compile_error var p referenced above"],
        ),
        (
            "p if { some x; true }\nq if { y := 1; y := 2 }",
            &[
                "3:8 rego_compile_error declared var x unused",
                "4:16 rego_compile_error var y assigned above",
            ],
        ),
    ]);
}

//! Queries, without any module.

use rego::{Policy, Query, QueryOptions};

use super::mistakes;

#[test]
fn queries() {
    let mut wrong = Vec::new();
    for (text, expected) in QUERIES {
        let found = match Query::parse(&Policy::default(), text, &QueryOptions::default()) {
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

const QUERIES: &[(&str, &[&str])] = &[
    (
        "x := 1; x := 2",
        &["1:9 rego_compile_error var x assigned above"],
    ),
    (
        "x = 1; x := 2",
        &["1:8 rego_compile_error var x referenced above"],
    ),
    (
        "[x | x := y]",
        &["1:6 rego_unsafe_var_error var y is unsafe"],
    ),
    ("some x", &["1:1 rego_compile_error declared var x unused"]),
    (
        "some x; true",
        &["1:1 rego_compile_error declared var x unused"],
    ),
    (
        "every x in y { x > 0 }",
        &["1:12 rego_unsafe_var_error var y is unsafe"],
    ),
    ("print(x)", &["1:7 rego_compile_error var x is undeclared"]),
    (
        "x := print(1)",
        &["1:6 rego_type_error print(1) used as value"],
    ),
    (
        "print(1) + 1",
        &["1:1 rego_type_error print(1) used as value"],
    ),
    ("not x", &["1:1 rego_unsafe_var_error var x is unsafe"]),
    ("not x = 1", &["1:1 rego_unsafe_var_error var x is unsafe"]),
    (
        "true with foo as 1",
        &[
            "1:11 rego_type_error with keyword target must reference existing input, data, or a function",
        ],
    ),
    (
        "1 with walk as 2",
        &[
            "1:8 rego_compile_error with keyword replacing built-in function: target must not be a relation",
        ],
    ),
    (
        "count([1]) with print as 3",
        &[
            "1:17 rego_compile_error with keyword replacing built-in function: target must not be a void function",
        ],
    ),
    ("concat(\",\", [\"a\"], x)", &[]),
    (
        "data[x]; not y",
        &["1:10 rego_unsafe_var_error var y is unsafe"],
    ),
    (
        "some x in [1]; some x in [2]",
        &["1:16 rego_compile_error var x declared above"],
    ),
    (
        "x := 1; some x; x = 2",
        &["1:9 rego_compile_error var x assigned above"],
    ),
    (
        "y := x; x := y",
        &["1:9 rego_compile_error var x referenced above"],
    ),
    (
        "every x in [1] { y := x; y > z }",
        &["1:26 rego_unsafe_var_error var z is unsafe"],
    ),
    (
        "x = {y: z | y = 1}",
        &["1:1 rego_unsafe_var_error var z is unsafe"],
    ),
    (
        "not input[x]",
        &["1:1 rego_unsafe_var_error var x is unsafe"],
    ),
    (
        "1 := 2",
        &["1:1 rego_compile_error cannot assign to number"],
    ),
    (
        "input.x := 1",
        &["1:1 rego_compile_error cannot assign to ref"],
    ),
    (
        "x := 1; [y | y := x; y := 2]",
        &["1:22 rego_compile_error var y assigned above"],
    ),
    ("[x] := [1]; x", &[]),
    ("[_, x] = [1, 2]", &[]),
    ("x = [1]; y = x[i]", &[]),
];

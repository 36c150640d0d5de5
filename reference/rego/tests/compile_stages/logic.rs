//! Variables in the operands of `not`, `and` and `or`.

use super::check;

#[test]
fn logic() {
    const CASES: &[(&str, &[&str])] = &[
        ("p if { { x := 1; x == 1 } and { x := 2; x == 2 } }", &[]),
        ("p if { x := 1; x == 1 and not { x := 2; x == 2 } }", &[]),
        ("p if { not input.x + input.y > 2 }", &[]),
        (
            "p if { input.a with input as 1; (input.a and input.b) }",
            &[],
        ),
        (
            "p if { not x := 1 }",
            &["4:8 rego_compile_error cannot assign vars inside negated expression"],
        ),
        (
            "p if { x := 1 and true }",
            &["4:8 rego_compile_error cannot assign vars inside implicit and operand"],
        ),
        (
            "p if { true or x := 1 }",
            &["4:16 rego_compile_error cannot assign vars inside implicit or operand"],
        ),
        (
            "p if { x := [y | y := 1 and true] }",
            &["4:18 rego_compile_error cannot assign vars inside implicit and operand"],
        ),
        (
            "p if { not { x := 1 } with input as x }",
            &["4:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { { x == 1 } and true; x := 1 }",
            &["4:29 rego_compile_error var x referenced above"],
        ),
        (
            "p if { not { x == 1 }; x := 1 }",
            &["4:14 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { not { some x } }",
            &["4:14 rego_compile_error declared var x unused"],
        ),
        // Declarations in the braces shadow outer variables of that name.
        (
            "p if { v = 1; not { v := v } }",
            &["4:21 rego_unsafe_var_error var v is unsafe"],
        ),
        (
            "p if { v = 1; not { not { v := [v] } } }",
            &["4:27 rego_unsafe_var_error var v is unsafe"],
        ),
        (
            "p if { v = 1; not { w := v; v := w } }",
            &[
                "4:21 rego_unsafe_var_error var v is unsafe",
                "4:21 rego_unsafe_var_error var w is unsafe",
            ],
        ),
        (
            "p if { v = 1; every a in [1] { a; not { v := v } } }",
            &["4:41 rego_unsafe_var_error var v is unsafe"],
        ),
        ("p if { v = 1; not { [v, w] := [1, v] } }", &[]),
        ("p if { v = 1; not { x := [1 | v := v] } }", &[]),
        (
            "p if { v = 1; not { input.x == v; { v := v } and true } }",
            &[],
        ),
        (
            "p if { x > 1 and true }",
            &["4:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { not x > 1 }",
            &["4:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { not { x > 1 } }",
            &["4:14 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { {x = 1} and x == 1 }",
            &["4:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p := x if { input.y and x = 1 }",
            &["4:6 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { count(n) + 1 > 2 and n == 1 }",
            &["4:8 rego_unsafe_var_error var n is unsafe"],
        ),
        (
            "p if { not input.x + n > 2 }",
            &["4:8 rego_unsafe_var_error var n is unsafe"],
        ),
        (
            "p if { {f(1)} and count(1) == 2 }",
            &["4:9 rego_type_error undefined function f"],
        ),
        (
            "p if { not { count(1, 2, 3) } }",
            &["4:14 rego_type_error count: arity mismatch"],
        ),
        (
            "p if { data.m.p and true }",
            &["4:1 rego_recursion_error rule data.m.p is recursive: data.m.p -> data.m.p"],
        ),
        (
            "p if $\"{not 1}\" == \"a\"",
            &["4:9 rego_compile_error unexpected template-string expression type: *ast.Not"],
        ),
    ];
    let texts = CASES
        .iter()
        .map(|(text, _)| format!("import rego.v2\n{text}"));
    let texts: Vec<String> = texts.collect();
    let expected = CASES.iter().map(|(_, expected)| *expected);
    let cases: Vec<_> = texts.iter().map(String::as_str).zip(expected).collect();
    check(&cases);
}

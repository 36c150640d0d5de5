//! Calls, `print`, template strings and `with`.

use super::check;

#[test]
fn functions_and_modifiers() {
    check(&[
        (
            "p if { count := 1; x := count([1]); x > count }",
            &["3:25 rego_compile_error called function count shadowed"],
        ),
        (
            "p if { print(x) }",
            &["3:14 rego_compile_error var x is undeclared"],
        ),
        (
            "p if { x := print(1) }",
            &["3:13 rego_type_error print(1) used as value"],
        ),
        (
            "p if { count(print(1)) }",
            &["3:14 rego_type_error print(1) used as value"],
        ),
        (
            "p if { y := [print(1)] }",
            &["3:14 rego_type_error print(1) used as value"],
        ),
        (
            "p := print(1)",
            &["3:6 rego_type_error print(1) used as value"],
        ),
        (
            "p := $\"{x + 1}\"",
            &["- rego_compile_error var x is undeclared"],
        ),
        (
            "p := $\"{f(z)}\"",
            &["- rego_compile_error var z is undeclared"],
        ),
        (
            "p := $\"{walk(input)}\"",
            &[
                "- rego_compile_error illegal call to relation built-in 'walk' that may cause multiple outputs",
            ],
        ),
        (
            "p if { x := $\"{y.z}\" }",
            &["3:16 rego_compile_error var y is undeclared"],
        ),
        (
            "p if { true with x as 1 }",
            &[
                "3:18 rego_type_error with keyword target must reference existing input, data, or a function",
            ],
        ),
        (
            "p if { true with foo.bar as 1 }",
            &[
                "3:18 rego_type_error with keyword target must reference existing input, data, or a function",
            ],
        ),
        (
            "p if { true with data.m.p.x as 1 }",
            &["3:18 rego_compile_error with keyword cannot partially replace virtual document(s)"],
        ),
        (
            "p if { true with walk as 1 }",
            &[
                "3:18 rego_compile_error with keyword replacing built-in function: target must not be a relation",
            ],
        ),
        (
            "p if { true with print as 1 }",
            &[
                "3:18 rego_compile_error with keyword replacing built-in function: target must not be a void function",
            ],
        ),
        (
            "p if { true with eq as 1 }",
            &[
                "3:18 rego_compile_error with keyword replacing built-in function: replacement of \"eq\" invalid",
            ],
        ),
        (
            "p if { true with internal.print as 1 }",
            &[
                "3:18 rego_compile_error with keyword replacing built-in function: replacement of internal function \"internal.print\" invalid",
            ],
        ),
        (
            "p if { true with internal.member_2 as 1 }",
            &[
                "3:18 rego_compile_error with keyword replacing built-in function: replacement of internal function \"internal.member_2\" invalid",
            ],
        ),
        (
            "p if { true with rego.metadata.chain as 1 }",
            &[
                "3:18 rego_compile_error with keyword replacing built-in function: replacement of \"rego.metadata.chain\" invalid",
            ],
        ),
        (
            "p if { true with nosuch as 1 }",
            &[
                "3:18 rego_type_error with keyword target must reference existing input, data, or a function",
            ],
        ),
        (
            "p if { x := 1 with data.m.q as 2 with data.m.f as 3 with data.m.q.z as 1 }\nq := 1\nf(x) := 1",
            &["3:58 rego_compile_error with keyword cannot partially replace virtual document(s)"],
        ),
    ]);
}

//! Declarations in nested bodies: which errors are reported, how often and in what order.

use super::check;

#[test]
fn bodies_of_every_are_gone_through_twice() {
    check(&[
        (
            "p if { every x in {x} { x } }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        ("p if { every x in data.base[x] { x } }", &[]),
        (
            "p if { every x in [y | y := x] { x } }",
            &["3:24 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { every x in [1] { [y | not z := 1; y := 1; x] } }",
            &[
                "3:30 rego_compile_error cannot assign vars inside negated expression",
                "3:30 rego_compile_error cannot assign vars inside negated expression",
            ],
        ),
        (
            "p if { every x in [1] { [y | x; y := 1; y := 2; y := 3] } }",
            &[
                "3:41 rego_compile_error var y assigned above",
                "3:49 rego_compile_error var y assigned above",
                "3:49 rego_compile_error var y assigned above",
            ],
        ),
        (
            "p if { every x in [1] { x; every z in [1] { z; [y | not z := 1; y := 1; x] } } }",
            &[
                "3:53 rego_compile_error cannot assign vars inside negated expression",
                "3:53 rego_compile_error cannot assign vars inside negated expression",
                "3:53 rego_compile_error cannot assign vars inside negated expression",
            ],
        ),
        (
            "p if { every x in [1] { some y; true; lost; [1 | lost2] } }",
            &[
                "3:25 rego_compile_error declared var x unused",
                "3:25 rego_compile_error declared var y unused",
                "3:39 rego_unsafe_var_error var lost is unsafe",
                "3:50 rego_unsafe_var_error var lost2 is unsafe",
            ],
        ),
        (
            "p if { every x in [1] { some y in [1]; every z in [1] { some q; true; x } }; lost }",
            &[
                "3:57 rego_compile_error declared var q unused",
                "3:57 rego_compile_error declared var z unused",
                "3:78 rego_unsafe_var_error var lost is unsafe",
            ],
        ),
        (
            "p if { some y; every x in [1] { x; every z in [1] { some q; true }; some w; true; [1 | some e] } }",
            &[
                "3:53 rego_compile_error declared var q unused",
                "3:53 rego_compile_error declared var z unused",
            ],
        ),
        (
            "p if { [1 | some e]; [n | n := 1; some y]; z := 1; z := 2 }",
            &[
                "3:13 rego_compile_error declared var e unused",
                "3:52 rego_compile_error var z assigned above",
            ],
        ),
    ]);
}

#[test]
fn comprehensions_and_branches() {
    check(&[
        (
            "p if { [[1 | some z] | some x] }",
            &["3:24 rego_compile_error declared var x unused"],
        ),
        (
            "p if { [x | some x, y; x = 1; [1 | some z]] }",
            &["3:36 rego_compile_error declared var z unused"],
        ),
        (
            "p if { some x; y := [1 | x == 1; some z] }",
            &[
                "3:26 rego_unsafe_var_error var x is unsafe",
                "3:34 rego_compile_error declared var z unused",
            ],
        ),
        (
            "p := {[1 | some z] | some x}",
            &["3:22 rego_compile_error declared var x unused"],
        ),
        (
            "p := [1 | some a; true] if { x := 1; x := 2 } else := [2 | some b; true]",
            &[
                "3:11 rego_compile_error declared var a unused",
                "3:38 rego_compile_error var x assigned above",
                "3:60 rego_compile_error declared var b unused",
            ],
        ),
        (
            "p if { some y; true } else := 2 if { some z; true }",
            &[
                "3:8 rego_compile_error declared var y unused",
                "3:38 rego_compile_error declared var z unused",
            ],
        ),
        (
            "p if { a := 1; some y; [b | not c := 1; b := 2]; d := 1; d := 2; some y }",
            &[
                "3:29 rego_compile_error cannot assign vars inside negated expression",
                "3:58 rego_compile_error var d assigned above",
                "3:66 rego_compile_error var y declared above",
            ],
        ),
    ]);
}

#[test]
fn the_limit_counts_in_the_order_of_discovery() {
    check(&[
        (
            "p if { some a; true }\np if { some a; true }\np if { some a; true }\np if { some a; true }\np if { some a; true }\np if { some a; true }\np if { some a; true }\np if { some a; true }\np if { some a; true }\np if { x := 1; x := 2 }\np if { some a; true }",
            &[
                "3:8 rego_compile_error declared var a unused",
                "4:8 rego_compile_error declared var a unused",
                "5:8 rego_compile_error declared var a unused",
                "6:8 rego_compile_error declared var a unused",
                "7:8 rego_compile_error declared var a unused",
                "8:8 rego_compile_error declared var a unused",
                "9:8 rego_compile_error declared var a unused",
                "10:8 rego_compile_error declared var a unused",
                "11:8 rego_compile_error declared var a unused",
                "12:16 rego_compile_error var x assigned above",
                "- rego_compile_error error limit reached",
            ],
        ),
        (
            "p if { x := 1; x := 2; x := 3; x := 4; x := 5; x := 6; x := 7; some a }\np if { some a; true }\np if { some a; true }\np if { x := 1; x := 2; x := 3; x := 4; x := 5; x := 6; x := 7; some a }",
            &[
                "3:16 rego_compile_error var x assigned above",
                "3:24 rego_compile_error var x assigned above",
                "3:32 rego_compile_error var x assigned above",
                "3:40 rego_compile_error var x assigned above",
                "3:48 rego_compile_error var x assigned above",
                "3:56 rego_compile_error var x assigned above",
                "4:8 rego_compile_error declared var a unused",
                "5:8 rego_compile_error declared var a unused",
                "6:16 rego_compile_error var x assigned above",
                "6:24 rego_compile_error var x assigned above",
                "- rego_compile_error error limit reached",
            ],
        ),
    ]);
}

#[test]
fn modifiers_of_declarations() {
    check(&[
        (
            "f(q) if { some x in data.a with input as data.b[q] }",
            &["3:11 rego_compile_error arg q redeclared"],
        ),
        ("f(q) if { some x in [1] with input as data.b[q] }", &[]),
        (
            "r := 1\n\nf(q) if { some x in r with input as [q, 2] }",
            &["5:21 rego_type_error undefined ref: data.m.r[__local1__]"],
        ),
        (
            "r := 1\n\nf(q) if { some x in r with input as q }",
            &["5:21 rego_type_error undefined ref: data.m.r[__local1__]"],
        ),
    ]);
}

#[test]
fn the_second_pass_sees_later_declarations() {
    check(&[
        (
            "p if { v17 = 1; every v in {v17} { v > 1; v17 := true; v17 } }",
            &["3:17 rego_unsafe_var_error var v17 is unsafe"],
        ),
        (
            "p if { v1 = 1; every v in [1] { v > 0; v1 := v1 } }",
            &["3:40 rego_unsafe_var_error var v1 is unsafe"],
        ),
        (
            "p if { every v in [1] { v > count([x | x := v16]); [v16, v17] := [1, 2]; v17 } }",
            &[],
        ),
        (
            "p if { every v in [\"a\" | w == 1; w := 2] { v != \"a\" } }",
            &[
                "3:34 rego_compile_error var w referenced above",
                "3:34 rego_compile_error var w referenced above",
            ],
        ),
    ]);
}

#[test]
fn definitions_with_mistakes_have_any_type() {
    check(&[
        (
            "f(x) := 1 if upper(1)\n\nf(x) := 2 if x\n\np if f(1)",
            &[
                "3:14 rego_type_error upper: invalid argument(s)",
                "7:6 rego_type_error undefined function data.m.f",
            ],
        ),
        (
            "f(x) := 2 if x\n\nf(x) := 1 if upper(1)\n\np if f(1)",
            &["5:14 rego_type_error upper: invalid argument(s)"],
        ),
        (
            "f(x) := 1 if upper(1)\n\nf(x) := 2 if x\n\nf(x) := 3 if x\n\np if f(1)",
            &["3:14 rego_type_error upper: invalid argument(s)"],
        ),
        (
            "f(x) := 2 if upper(1)\nelse := 1\n\np if f(1)",
            &[
                "3:14 rego_type_error upper: invalid argument(s)",
                "6:6 rego_type_error undefined function data.m.f",
            ],
        ),
        (
            "r[x] := 2 if { x := input.y; upper(1) }\n\nr[x] := 2 if { x := 1 }\n\np if r.x.y",
            &[
                "3:30 rego_type_error upper: invalid argument(s)",
                "7:6 rego_type_error undefined ref: data.m.r.x.y",
            ],
        ),
        (
            "r := 1 if upper(1)\n\nr := 2\n\np if r.x",
            &["3:11 rego_type_error upper: invalid argument(s)"],
        ),
    ]);
}

//! Unbound variables.

use super::check;

#[test]
fn safety() {
    check(&[
        ("p if { x }", &["3:8 rego_unsafe_var_error var x is unsafe"]),
        (
            "p if { not x }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { x == 1 }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { x > 1; y < x }",
            &[
                "3:8 rego_unsafe_var_error var x is unsafe",
                "3:15 rego_unsafe_var_error var y is unsafe",
            ],
        ),
        ("p[x] := 1", &["3:3 rego_unsafe_var_error var x is unsafe"]),
        (
            "p contains x",
            &["3:12 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p contains x if { y := 1 }",
            &["3:12 rego_unsafe_var_error var x is unsafe"],
        ),
        ("p := x", &["3:6 rego_unsafe_var_error var x is unsafe"]),
        (
            "p := [x, y] if { x := 1 }",
            &["3:10 rego_unsafe_var_error var y is unsafe"],
        ),
        ("f(x) := y", &["3:9 rego_unsafe_var_error var y is unsafe"]),
        (
            "f(x) := x + y",
            &["3:9 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p if { every x in x { x } }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { every v in y { v } }",
            &["3:19 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p if { some {\"a\": x} in input.z; x == y }",
            &["3:34 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "f(input.x) := 1",
            &["3:3 rego_unsafe_var_error var input is unsafe"],
        ),
        (
            "f(data.foo) := 1",
            &["3:3 rego_unsafe_var_error var data is unsafe"],
        ),
        (
            "p if { print([y | y := z]) }",
            &["3:19 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "p := $\"{x}\" if { true }",
            &["3:6 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { true with input.x as y }",
            &["3:8 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p if { true with count as x }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { true with input[x] as 1 }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { true with data.foo[x] as 1 }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { input.x[y]; not z[y] }",
            &["3:20 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "p if { {x: 1} = {\"a\": 1} }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { {x} = {1} }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { walk(input, [x, y]); y == z }",
            &["3:29 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "p if { z = concat(x, [\"a\"]) }",
            &[
                "3:8 rego_unsafe_var_error var z is unsafe",
                "3:12 rego_unsafe_var_error var x is unsafe",
            ],
        ),
        (
            "p if { x = [x | x = 1] }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { x = [z | y = 1] }",
            &["3:8 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "p if { x := [z | y := 1] }",
            &["3:8 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "p if { x := {k: v | k := 1} }",
            &["3:8 rego_unsafe_var_error var v is unsafe"],
        ),
        (
            "p if { x := {v | not v} }",
            &["3:18 rego_unsafe_var_error var v is unsafe"],
        ),
        (
            "p if { x := 1; y := [z | z := x + w] }",
            &["3:31 rego_unsafe_var_error var w is unsafe"],
        ),
        (
            "p if { [x | x = y]; y = z }",
            &[
                "3:8 rego_unsafe_var_error var y is unsafe",
                "3:21 rego_unsafe_var_error var z is unsafe",
            ],
        ),
        (
            "p if { not [x | x = y]; y = z }",
            &[
                "3:8 rego_unsafe_var_error var y is unsafe",
                "3:25 rego_unsafe_var_error var z is unsafe",
            ],
        ),
        (
            "p if { x := y + 1 }",
            &["3:13 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p if { and }",
            &[
                "3:8 rego_unsafe_var_error var and is unsafe (hint: `import future.keywords.and` to import a future keyword)",
            ],
        ),
        (
            "p if { or }",
            &[
                "3:8 rego_unsafe_var_error var or is unsafe (hint: `import future.keywords.or` to import a future keyword)",
            ],
        ),
        (
            "p if { and == 1 }",
            &[
                "3:8 rego_unsafe_var_error var and is unsafe (hint: `import future.keywords.and` to import a future keyword)",
            ],
        ),
        (
            "p if { x; y; z }",
            &[
                "3:8 rego_unsafe_var_error var x is unsafe",
                "3:11 rego_unsafe_var_error var y is unsafe",
                "3:14 rego_unsafe_var_error var z is unsafe",
            ],
        ),
        (
            "p := {x: y} if { x := 1 }",
            &["3:10 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p := y if { true } else := z if { true }",
            &[
                "3:6 rego_unsafe_var_error var y is unsafe",
                "3:28 rego_unsafe_var_error var z is unsafe",
            ],
        ),
        (
            "p if { true } else := x if { x == 2 }",
            &["3:30 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { x == 1 } else if { y == 2 }",
            &[
                "3:8 rego_unsafe_var_error var x is unsafe",
                "3:27 rego_unsafe_var_error var y is unsafe",
            ],
        ),
        (
            "p if { x }  q := y",
            &["3:18 rego_unsafe_var_error var y is unsafe in rule q"],
        ),
        (
            "p := 1 if { x }  p := 2 if { z }",
            &[
                "3:13 rego_unsafe_var_error var x is unsafe",
                "3:30 rego_unsafe_var_error var z is unsafe",
            ],
        ),
        (
            "p[x].q := 1",
            &["3:3 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p[x].q[y] := z if { x := 1 }",
            &[
                "3:8 rego_unsafe_var_error var y is unsafe",
                "3:14 rego_unsafe_var_error var z is unsafe",
            ],
        ),
        (
            "p[input.x] := y",
            &["3:15 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p[[y|y:=z][0]] := 1",
            &["3:6 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "p.q[x] contains y if { x := 1 }",
            &["3:17 rego_unsafe_var_error var y is unsafe"],
        ),
        ("p if { _ }", &["3:8 rego_unsafe_var_error var _ is unsafe"]),
        (
            "p if { _ == 1 }",
            &["3:8 rego_unsafe_var_error var _ is unsafe"],
        ),
        (
            "p if { x := _ }",
            &["3:8 rego_unsafe_var_error var _ is unsafe"],
        ),
        (
            "p if { x := [1, _] }",
            &["3:8 rego_unsafe_var_error var _ is unsafe"],
        ),
        (
            "p if { __local0__ := x }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { x := {\"a\": y}; y = x.a }",
            &["3:8 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p if { x[1] }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { x.y.z == 1 }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { plus(1, 2, y); y == z }",
            &["3:23 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "p if { time.now_ns(x); x == y }",
            &["3:24 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p if { not foo.bar with input as {} }",
            &["3:8 rego_unsafe_var_error var foo is unsafe"],
        ),
        (
            "p if { every x in [1] { every y in [x] { z > y } } }",
            &["3:42 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "p if { every x in [1] { some y in [2]; true; not w } }",
            &[
                "3:25 rego_compile_error declared var x unused",
                "3:46 rego_unsafe_var_error var w is unsafe",
            ],
        ),
        (
            "p if { some i; input[i]; every j in input[i] { j == k } }",
            &["3:48 rego_unsafe_var_error var k is unsafe"],
        ),
        (
            "p := [x | some x]",
            &["3:6 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p contains [x | some y] if { true }",
            &[
                "3:12 rego_unsafe_var_error var x is unsafe",
                "3:17 rego_compile_error declared var y unused",
            ],
        ),
        (
            "p if { x := y; x }",
            &["3:8 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "q(x, x, y) := z",
            &["3:15 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "q([x, {\"a\": y}]) := x + y + z",
            &["3:21 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "q([y | y := 1]) := y",
            &["3:20 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p if { x := 1 } else := y",
            &["3:25 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p if { true; not { \"a\": x } }",
            &["3:14 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { -x }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { \"a\" in x }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { {\"a\": {\"b\": x}} := input; x.y; z }",
            &["3:39 rego_unsafe_var_error var z is unsafe"],
        ),
        (
            "p if { y := x; x = y }",
            &["3:8 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "p if { some x; true }\nq if { y }",
            &[
                "3:8 rego_compile_error declared var x unused",
                "4:8 rego_unsafe_var_error var y is unsafe",
            ],
        ),
        (
            "import data.z\nimport data.z\nq if { some y }\nr if { x }",
            &[
                "4:1 rego_compile_error import must not shadow import data.z",
                "5:8 rego_compile_error declared var y unused",
                "6:8 rego_unsafe_var_error var x is unsafe",
            ],
        ),
        (
            "p if {\n  x := y\n  z\n  not w\n  x > w\n}",
            &[
                "4:3 rego_unsafe_var_error var y is unsafe",
                "5:3 rego_unsafe_var_error var z is unsafe",
                "6:3 rego_unsafe_var_error var w is unsafe",
            ],
        ),
        (
            "p contains x if { x := 1 } { y }",
            &["3:28 rego_unsafe_var_error var x is unsafe"],
        ),
        (
            "f(x) := 1 if { x } else := y if { not z } else := 3",
            &["3:28 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "f(x) := x\np if { f(y, z); y = 1; z > w }",
            &["4:24 rego_unsafe_var_error var w is unsafe"],
        ),
        (
            "f(x) := x\np if { f(1, z); z > w }",
            &["4:17 rego_unsafe_var_error var w is unsafe"],
        ),
        (
            "f(x) := x\np if { g(f(y)) }\ng(x) := x",
            &["4:10 rego_unsafe_var_error var y is unsafe"],
        ),
        (
            "p if { f(1) with f as y }\nf(x) := 1",
            &["3:8 rego_unsafe_var_error var y is unsafe"],
        ),
    ]);
}

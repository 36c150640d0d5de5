//! Modules and queries that parse, and their formatted output.

#![expect(clippy::panic, reason = "a broken table ends the test")]

use rego::syntax::{format::Conjunction, parse_module, parse_query};

#[test]
fn queries_are_shown_as_traces_show_them() {
    for (query, expected) in [
        ("x := 1 + 2 * 3", "assign(x, plus(1, mul(2, 3)))"),
        ("1 - 2 - 3 == -4", "equal(minus(minus(1, 2), 3), -4)"),
        ("x = {3, 1, 2, 1}", "x = {1, 2, 3}"),
        ("{\"b\": 1, \"a\": 2}", "{\"a\": 2, \"b\": 1}"),
        ("[x | x = data.foo[_]]", "[x | x = data.foo[_]]"),
        ("{a | b, c}", "{c, or(a, b)}"),
        ("[a | b, [c | d, e]]", "[or(a, b), [or(c, d), e]]"),
        ("{(a | b) | c}", "{(a | b) | c}"),
        ("{a: b | c}", "{a: b | c}"),
        ("some k, v in xs; k > v", "some k, v in xs; gt(k, v)"),
        ("some x, y", "some x, y"),
        (
            "every k, v in xs { k > v }",
            "every k, v in xs { gt(k, v) }",
        ),
        ("1, 2 in xs", "internal.member_3(1, 2, xs)"),
        (
            "1 in xs in ys",
            "internal.member_2(internal.member_2(1, xs), ys)",
        ),
        (
            "not f(x) with input.a as 1 with g as h",
            "not f(x) with input.a as 1 with g as h",
        ),
        (
            "a[\"b c\"].if[x.y][0].d(1).e",
            "a[\"b c\"][\"if\"][x.y][0].d(1).e",
        ),
        ("set()", "set()"),
        ("-x.y", "minus(0, x.y)"),
        ("$\"a{x}b\\{{1}\"", "$\"a{x}b\\{1\""),
        ("\"\\u00e9\\n\"", "\"é\\n\""),
        ("`a\\n`", "\"a\\\\n\""),
    ] {
        let body = parse_query(query).unwrap_or_else(|errors| panic!("{query}: {errors}"));
        assert_eq!(Conjunction(&body).to_string(), expected, "{query}");
    }
}

#[test]
fn rules_are_shown_on_one_line() {
    for (rule, expected) in [
        ("p := 1", "p := 1 if { true }"),
        ("p if x\n", "p = true if { x }"),
        ("p if { x; y }", "p = true if { x; y }"),
        ("p contains x if x := 1", "p contains x if { assign(x, 1) }"),
        ("p[x] := 1 if x = 2", "p[x] := 1 if { x = 2 }"),
        ("f(x, y) := x", "f(x, y) := x if { true }"),
        ("f(x)", "f(x) = true if { true }"),
        ("default p := 1", "default p := 1"),
        ("p.if := 1", "p[\"if\"] := 1 if { true }"),
        (
            "p if x else := 2 if y",
            "p = true if { x } else = 2 if { y }",
        ),
        ("p if {x} {y}", "p = true if { x }\np = true if { y }"),
    ] {
        let text = format!("package a\n{rule}");
        let module = parse_module("m", &text).unwrap_or_else(|errors| panic!("{rule}: {errors}"));
        let rules: Vec<String> = module.rules.iter().map(ToString::to_string).collect();
        assert_eq!(rules.join("\n"), expected, "{rule}");
    }
}

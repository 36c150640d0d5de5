//! Modules and queries that parse, and their formatted output.

#![expect(clippy::panic, reason = "a broken table ends the test")]

use rego::syntax::{format::Conjunction, parse_module, parse_query};
use rstest::rstest;

#[rstest]
#[case::assignment("x := 1 + 2 * 3", "assign(x, plus(1, mul(2, 3)))")]
#[case::subtraction("1 - 2 - 3 == -4", "equal(minus(minus(1, 2), 3), -4)")]
#[case::set("x = {3, 1, 2, 1}", "x = {1, 2, 3}")]
#[case::object("{\"b\": 1, \"a\": 2}", "{\"a\": 2, \"b\": 1}")]
#[case::comprehension("[x | x = data.foo[_]]", "[x | x = data.foo[_]]")]
#[case::two_items("{a | b, c}", "{c, or(a, b)}")]
#[case::union_in_lists("[a | b, [c | d, e]]", "[or(a, b), [or(c, d), e]]")]
#[case::union_of_unions("{(a | b) | c}", "{(a | b) | c}")]
#[case::comprehension_of_pairs("{a: b | c}", "{a: b | c}")]
#[case::some_in("some k, v in xs; k > v", "some k, v in xs; gt(k, v)")]
#[case::some_variables("some x, y", "some x, y")]
#[case::every("every k, v in xs { k > v }", "every k, v in xs { gt(k, v) }")]
#[case::pair_in("1, 2 in xs", "internal.member_3(1, 2, xs)")]
#[case::in_of_in("1 in xs in ys", "internal.member_2(internal.member_2(1, xs), ys)")]
#[case::with(
    "not f(x) with input.a as 1 with g as h",
    "not f(x) with input.a as 1 with g as h"
)]
#[case::reference("a[\"b c\"].if[x.y][0].d(1).e", "a[\"b c\"][\"if\"][x.y][0].d(1).e")]
#[case::empty_set("set()", "set()")]
#[case::minus("-x.y", "minus(0, x.y)")]
#[case::template("$\"a{x}b\\{{1}\"", "$\"a{x}b\\{1\"")]
#[case::escapes("\"\\u00e9\\n\"", "\"é\\n\"")]
#[case::raw_string("`a\\n`", "\"a\\\\n\"")]
fn queries_are_shown_as_traces_show_them(#[case] query: &str, #[case] expected: &str) {
    let body = parse_query(query).unwrap_or_else(|errors| panic!("{query}: {errors}"));
    assert_eq!(Conjunction(&body).to_string(), expected);
}

#[rstest]
#[case::constant("p := 1", "p := 1 if { true }")]
#[case::condition("p if x\n", "p = true if { x }")]
#[case::conditions("p if { x; y }", "p = true if { x; y }")]
#[case::set("p contains x if x := 1", "p contains x if { assign(x, 1) }")]
#[case::object("p[x] := 1 if x = 2", "p[x] := 1 if { x = 2 }")]
#[case::function("f(x, y) := x", "f(x, y) := x if { true }")]
#[case::function_without_a_value("f(x)", "f(x) = true if { true }")]
#[case::default("default p := 1", "default p := 1")]
#[case::keyword_as_a_name("p.if := 1", "p[\"if\"] := 1 if { true }")]
#[case::branches("p if x else := 2 if y", "p = true if { x } else = 2 if { y }")]
#[case::bodies("p if {x} {y}", "p = true if { x }\np = true if { y }")]
fn rules_are_shown_on_one_line(#[case] rule: &str, #[case] expected: &str) {
    let text = format!("package a\n{rule}");
    let module = parse_module("m", &text).unwrap_or_else(|errors| panic!("{rule}: {errors}"));
    let rules: Vec<String> = module.rules.iter().map(ToString::to_string).collect();
    assert_eq!(rules.join("\n"), expected);
}

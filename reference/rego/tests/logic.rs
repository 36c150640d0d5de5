//! The keywords `and`, `or` and `not { … }`: parsing, formatting, JSON, errors and evaluation.

#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a broken table ends the test"
)]

use rego::syntax::format::Conjunction;
use rego::syntax::{Body, parse_module};
use rego::value::from_json;
use rego::{Compiler, Errors, Evaluation, Module, Policy, Query, QueryOptions, Value};
use rstest::rstest;

/// Parses the body of a rule in a module that imports the keywords.
fn body(text: &str) -> Result<Body, Errors> {
    let text = format!("package a\nimport rego.v2\np if {{ {text} }}");
    let mut module = parse_module("m", &text)?;
    Ok(module.rules.pop().expect("there is a rule").body)
}

#[rstest]
#[case("a.b and c.d or e.f", "a.b and c.d or e.f")]
#[case("a.b and (c.d or e.f)", "a.b and (c.d or e.f)")]
#[case("a.b or c.d or e.f", "a.b or c.d or e.f")]
#[case("a.b or (c.d or e.f)", "a.b or (c.d or e.f)")]
#[case("a.b and (c.d and e.f)", "a.b and (c.d and e.f)")]
#[case("(a.b or c.d) and e.f", "(a.b or c.d) and e.f")]
#[case("not a.b", "not a.b")]
#[case("not { a.b; c.d }", "not {a.b; c.d}")]
#[case("not (a.b and c.d)", "not (a.b and c.d)")]
#[case("not (not a.b)", "not (not a.b)")]
#[case("not a.b and c.d", "not a.b and c.d")]
#[case(
    "not (a.b with input.x as 1) and c.d",
    "not (a.b with input.x as 1) and c.d"
)]
#[case("{ a.b } and c.d", "{ a.b } and c.d")]
#[case("({1, 2}) and a.b", "({1, 2}) and a.b")]
#[case("not ({1: 2})", "not ({1: 2})")]
#[case("(set()) and true", "set() and true")]
#[case("((a.b and c.d))", "a.b and c.d")]
#[case("a.b and c.d with input as 1", "a.b and c.d with input as 1")]
#[case("not { a.b } with input as 1", "not {a.b} with input as 1")]
#[case("and({1}, {2}) and true", "and({1}, {2}) and true")]
#[case("or.x", "or.x")]
#[case("(a.b == 1) and ((c.d))", "equal(a.b, 1) and c.d")]
#[case("{ {1 | true} }", "{{1 | true}}")]
fn operands_are_shown_with_the_brackets_they_need(#[case] text: &str, #[case] expected: &str) {
    let body = body(text).unwrap_or_else(|errors| panic!("{text}: {errors}"));
    assert_eq!(Conjunction(&body).to_string(), expected);
}

#[rstest]
#[case::and_with_braces(
    "{x} and y",
    r#"{"explicit_lhs":true,"lhs":[{"index":0,"terms":{"type":"var","value":"x"}}],"rhs":[{"index":0,"terms":{"type":"var","value":"y"}}],"type":"and"}"#
)]
#[case::negated_braces(
    "not { x; y }",
    r#"{"body":[{"index":0,"terms":{"type":"var","value":"x"}},{"index":1,"terms":{"type":"var","value":"y"}}],"explicit_body":true,"type":"not"}"#
)]
#[case::negation(
    "not x",
    r#"{"body":[{"index":0,"terms":{"type":"var","value":"x"}}],"explicit_body":false,"type":"not"}"#
)]
#[case::or(
    "x or y",
    r#"{"lhs":[{"index":0,"terms":{"type":"var","value":"x"}}],"rhs":[{"index":0,"terms":{"type":"var","value":"y"}}],"type":"or"}"#
)]
fn operands_are_bodies_in_json(#[case] text: &str, #[case] expected: &str) {
    let body = body(text).unwrap_or_else(|errors| panic!("{text}: {errors}"));
    let [only] = body.as_slice() else {
        panic!("{text}: {body:?}");
    };
    let json = only.to_json();
    let expected = from_json(expected.as_bytes()).expect("the tree is read");
    assert_eq!(json.get("terms"), Some(&expected));
}

#[rstest]
#[case(
    "a.b with input as 1 and true",
    "`with` modifier is not allowed on operand of `and` (hint: Wrap the operand in `(...)` or `{...}` to scope, or move `with` after the `and` expression to apply it to the whole expression)"
)]
#[case(
    "{1, 2} and true",
    "operand of `and` cannot begin with `{` unless the braces hold a body (hint: wrap the operand to keep the value: `({1, 2}) and ...`)"
)]
#[case(
    "true or {1, 2}",
    "operand of `or` cannot begin with `{` unless the braces hold a body (hint: wrap the operand to keep the value: `({1, 2}) or ...`)"
)]
#[case("x == {1 | not { a.b and {} or true }}", "found empty body")]
#[case(
    "x == {1 | not { a.b and {1, 2} or true }}",
    "operand of `and` cannot begin with `{` unless the braces hold a body (hint: wrap the operand to keep the value: `({1, 2}) and ...`)"
)]
#[case(
    "not {1, 2}",
    "`{...}` in an operand position must contain expression(s), got: set (hint: write `not ({1, 2})` to negate the value, or `not {{1, 2}}` for a body holding it)"
)]
#[case("{} and true", "found empty body")]
#[case("true and {}", "found empty body")]
#[case("not {}", "found empty body")]
#[case("() and true", "unexpected ) token")]
#[case("true and ()", "empty parenthesized group")]
#[case(
    "true and ({ x := 1; x == 1 })",
    "`(...)` in an operand position cannot contain a body (hint: drop the parens to keep the body: `{ x := 1; x == 1 }`)"
)]
#[case(
    "print(1) and true",
    "operand of `and` cannot consist only of calls to `print` (hint: `print` produces no value and always succeeds, so the operand can never fail; move it out of the operand, or add an expression that can fail)"
)]
#[case("(true and false", "expected ) to close parenthesized group")]
#[case(
    "some x in [1] and true",
    "unexpected and keyword: expected \\n or ; or }"
)]
#[case(
    "{1 | true} and true",
    "ambiguous `{ ... | ... }` operand: read as a body holding a set-union expression, not as a comprehension (hint: write `({1 | true})` for the comprehension, or `{(1 | true)}` for the set union)"
)]
#[case(
    "not {1 | true}",
    "ambiguous `{ ... | ... }` operand: read as a body holding a set-union expression, not as a comprehension (hint: write `not ({1 | true})` for the comprehension, or `not {(1 | true)}` for the set union)"
)]
#[case("not not x", "unexpected not keyword")]
#[case("a.b or or c.d", "unexpected or keyword")]
#[case("and := 1", "unexpected and keyword")]
fn what_is_no_operand_is_refused(#[case] text: &str, #[case] expected: &str) {
    let found = match body(text) {
        Ok(body) => panic!("{text}: {body:?}"),
        Err(Errors(errors)) => errors.into_iter().map(|error| error.message),
    };
    assert_eq!(found.collect::<Vec<_>>(), [expected]);
}

#[test]
fn the_words_are_names_where_nobody_imports_them() {
    let text = "package a\np := and if { and := input.or }\nq if not { false }";
    let module = parse_module("m", text).unwrap_or_else(|errors| panic!("{errors}"));
    let rules: Vec<String> = module.rules.iter().map(ToString::to_string).collect();
    assert_eq!(
        rules,
        [
            "p := and if { assign(and, input.or) }",
            "q = true if { not {false} }"
        ]
    );
}

#[test]
fn brackets_in_brackets_take_no_time() {
    for (open, close) in [
        ("{", "}"),
        ("(", ")"),
        ("({", "})"),
        ("not {", "}"),
        ("{a|{", "}}"),
    ] {
        let text = format!("{}true{}", open.repeat(120), close.repeat(120));
        for text in [text.clone(), format!("{text} and true"), open.repeat(5_000)] {
            let _ = body(&text);
        }
    }
    let chain = vec!["input.a"; 5_000].join(" and ");
    assert!(body(&chain).is_err());
}

#[rstest]
#[case::long(format!("{} or input.a", vec!["input.a"; 400].join(" and ")))]
#[case::negated_brackets(format!("{}input.a{}", "not (".repeat(200), ")".repeat(200)))]
#[case::negated_braces(format!("{}input.a{}", "not { ".repeat(200), " }".repeat(200)))]
#[case::braces(format!("{}input.a{}", "{ ".repeat(200), " } or input.b".repeat(200)))]
#[case::brackets(format!("{}input.a{}", "(".repeat(200), " and input.a)".repeat(200)))]
fn what_is_nested_is_compiled_and_evaluated(#[case] text: String) {
    let text =
        format!("package a\nimport rego.v2\np if {{ {text} }}\nq if false else if {{ {text} }}");
    let module = Module::parse("m", &text).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(module.to_json().to_string().len() > text.len());
    assert!(module.rules.iter().all(|rule| rule.to_string().len() > 400));
    let policy = Compiler::new(&Policy::default()).put("m", module).compile();
    let policy = policy.unwrap_or_else(|errors| panic!("{errors}"));
    let documents = from_json(b"{}").expect("the documents are read");
    let query = Query::parse(&policy, "data.a.p; data.a.q", &QueryOptions::default());
    let mut evaluation = Evaluation::new(&documents);
    evaluation.input = from_json(br#"{"a": 1}"#).ok();
    let answers = query.expect("the query compiles").evaluate(&mut evaluation);
    assert_eq!(answers.expect("it is evaluated").len(), 1);
}

const POLICY: &str = "package a
import rego.v2

neither if not (input.a or input.b)
both if input.a and input.b
scopes := [x, y] if {
    x = 1
    y := 2
    { y := input.n; y > 2 } and not { x == 2 }
}
once := [1 | true or true]
undefined_operand if not input.missing + 1 > 2
replaced if (input.a and input.b with input as {\"a\": 1, \"b\": 2}) and input.n == 3
every_one if every x in [1, 2] { x == 1 or x == 2 }
nested[x] := y if {
    some x in [1, 2, 3]
    x > 1 and (x < 3 or input.never)
    y := {z | some z in [x]; not { z > 2 }}
}
short if true or 1 / input.zero == 1
";

#[rstest]
#[case::no_operand(
    r#"{"n": 3, "zero": 0}"#,
    r#"{"every_one":true,"neither":true,"nested":{"2":[2]},"once":[1],"replaced":true,"scopes":[1,2],"short":true,"undefined_operand":true}"#
)]
#[case::first_operand(
    r#"{"a": 1, "b": false, "n": 1, "missing": 2}"#,
    r#"{"every_one":true,"nested":{"2":[2]},"once":[1],"short":true}"#
)]
#[case::both_operands(
    r#"{"a": 1, "b": 2}"#,
    r#"{"both":true,"every_one":true,"nested":{"2":[2]},"once":[1],"short":true,"undefined_operand":true}"#
)]
fn operands_hold_once_and_keep_what_they_bind(#[case] input: &str, #[case] expected: &str) {
    let module = Module::parse("m", POLICY).unwrap_or_else(|errors| panic!("{errors}"));
    let policy = Compiler::new(&Policy::default()).put("m", module).compile();
    let policy = policy.unwrap_or_else(|errors| panic!("{errors}"));
    let documents = from_json(b"{}").expect("the documents are read");
    let query = Query::parse(&policy, "x := data.a", &QueryOptions::default());
    let query = query.unwrap_or_else(|errors| panic!("{errors}"));
    let mut evaluation = Evaluation::new(&documents);
    evaluation.strict = true;
    evaluation.input = Some(from_json(input.as_bytes()).expect("the input is read"));
    let answers = query.evaluate(&mut evaluation);
    let answers = answers.unwrap_or_else(|error| panic!("{input}: {error}"));
    let answers: Vec<_> = answers.iter().map(|answer| answer.to_value()).collect();
    let found = Value::from(answers).to_string();
    assert_eq!(found, format!(r#"[{{"x":{expected}}}]"#));
}

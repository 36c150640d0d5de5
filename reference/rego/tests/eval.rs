//! Query results: tables of policies, queries and results.

#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a broken table ends the test"
)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions, Value};
use rstest::rstest;

fn policy(texts: &[&str]) -> Policy {
    let mut compiler = Compiler::new(&Policy::default());
    for (index, text) in texts.iter().enumerate() {
        let id = format!("m{index}.rego");
        compiler = compiler.put(&id, Module::parse(&id, text).expect("the module is read"));
    }
    compiler.compile().expect("the modules compile")
}

const DOCUMENTS: &str = r#"{"list": [3, 1, 2], "pairs": {"b": 2, "a": 1}, "1": "one",
    "test": {"base": {"x": 1}}, "system": {"secret": true}}"#;

const POLICY: &str = r#"package test
import rego.v1

members contains x if some x in data.list
names[k] := v if some k, v in data.pairs
deep.a[i].value := i if some i in [1, 2]
deep.b := 7
double(x) := y if { y := x * 2 }
sign(x) := "positive" if { x > 0 } else := "zero" if { x == 0 } else := "negative"
default allowed := false
allowed if input.user == "ann"
total := sum([double(x) | some x in data.list])
all_small if every x in data.list { x < 4 }
all_tiny if every x in data.list { x < 3 }
clash := 1 if input.one
clash := 2 if input.two
stable(x) := 1 if x
stable(x) := 2 if x
keys := {k: 1 | some k in ["a", "a"]}
bad_keys := {k: v | k := "a"; some v in [1, 2]}
fails := to_number("x")
paths := {p: v | walk({"a": [1]}, [p, v])}
first_only := [x | [x, _] := [[1, 2], [3, 4]][_]]
begins(x) if strings.any_prefix_match(x, ["a", "b"])
ends(x) if strings.any_suffix_match(x, "z")
"#;

/// Queries and their results; bindings as objects, in the order of the results.
const ANSWERS: &[(&str, &str)] = &[
    ("x := data.list[_]", r#"[{"x":3},{"x":1},{"x":2}]"#),
    ("data.list[i] > 1", r#"[{"i":0},{"i":2}]"#),
    ("x := data.pairs[k]", r#"[{"k":"a","x":1},{"k":"b","x":2}]"#),
    ("x := data.test.members", r#"[{"x":[1,2,3]}]"#),
    (
        r#"some x in ["ac", ["xa", "bc"], {"b"}, ["xa"], []]; data.test.begins(x)"#,
        r#"[{"x":"ac"},{"x":["xa","bc"]},{"x":["b"]}]"#,
    ),
    (
        r#"some x in ["az", "za", ["a", "z"], {"za"}]; data.test.ends(x)"#,
        r#"[{"x":"az"},{"x":["a","z"]}]"#,
    ),
    ("data.test.members[2]", "[{}]"),
    ("data.test.members[9]", "[]"),
    ("x := data.test.names.b", r#"[{"x":2}]"#),
    ("data.test.names[k] == 1", r#"[{"k":"a"}]"#),
    (
        "x := data.test.deep",
        r#"[{"x":{"a":{"1":{"value":1},"2":{"value":2}},"b":7}}]"#,
    ),
    ("x := data.test.deep.a[2].value", r#"[{"x":2}]"#),
    ("x := data.test.base", r#"[{"x":{"x":1}}]"#),
    ("x := data.test.total", r#"[{"x":12}]"#),
    (
        "[x, y] := [data.test.sign(1), data.test.sign(-1)]",
        r#"[{"x":"positive","y":"negative"}]"#,
    ),
    ("x = data.test.sign(0)", r#"[{"x":"zero"}]"#),
    ("data.test.all_small", "[{}]"),
    ("data.test.all_tiny", "[]"),
    ("x := data.test.allowed", r#"[{"x":false}]"#),
    (
        r#"x := data.test.allowed with input.user as "ann""#,
        r#"[{"x":true}]"#,
    ),
    (
        "xs := data.list; some x in xs; y := data.list with data.list as [x]",
        r#"[{"x":3,"xs":[3,1,2],"y":[3]},{"x":1,"xs":[3,1,2],"y":[1]},{"x":2,"xs":[3,1,2],"y":[2]}]"#,
    ),
    (
        r#"p := data.pairs; every k, v in p { not data.pairs[k]; p[k] == v } with data.pairs as {}"#,
        r#"[{"p":{"a":1,"b":2}}]"#,
    ),
    (
        r#"some k in ["base", "none", "total", "base", "names"]; x := data.test[k]"#,
        r#"[{"k":"base","x":{"x":1}},{"k":"total","x":12},{"k":"base","x":{"x":1}},{"k":"names","x":{"a":1,"b":2}}]"#,
    ),
    (
        r#"x := data.test.total with data.list as [5]"#,
        r#"[{"x":10}]"#,
    ),
    (
        r#"x := data.test.total with data.test.double as 1"#,
        r#"[{"x":3}]"#,
    ),
    (r#"x := data.test.total with sum as count"#, r#"[{"x":3}]"#),
    (
        r#"x := data.test.names with data.pairs.c as 3"#,
        r#"[{"x":{"a":1,"b":2,"c":3}}]"#,
    ),
    ("not data.test.all_tiny", "[{}]"),
    ("x := data.test.keys", r#"[{"x":{"a":1}}]"#),
    ("x := data.test.first_only", r#"[{"x":[1,3]}]"#),
    ("x := count(data.test.paths)", r#"[{"x":3}]"#),
    (r#"x := data["1"]"#, r#"[{"x":"one"}]"#),
    ("x := data.test.fails", "[]"),
    ("false", "[{}]"),
    ("1 == 2; true", "[]"),
    ("[x, y] = [y, 1]", r#"[{"x":1,"y":1}]"#),
    (r#"{"a": x} = {"a": 2}"#, r#"[{"x":2}]"#),
    ("x = {1, 2}; x[y]; y > 1", r#"[{"x":[1,2],"y":2}]"#),
    (
        "v = [1.0, 1e0, 2][_]; x = [1, 2, 3][v]",
        r#"[{"v":1.0,"x":2},{"v":2,"x":3}]"#,
    ),
];

#[test]
fn queries_have_their_answers_in_order() {
    let policy = policy(&[POLICY]);
    let documents = from_json(DOCUMENTS.as_bytes()).expect("the documents are read");
    for (text, expected) in ANSWERS {
        let query = Query::parse(&policy, text, &QueryOptions::default());
        let query = query.unwrap_or_else(|errors| panic!("{text}: {errors}"));
        let answers = query.evaluate(&mut Evaluation::new(&documents));
        let answers = answers.unwrap_or_else(|error| panic!("{text}: {error}"));
        let answers: Vec<_> = answers.iter().map(|answer| answer.to_value()).collect();
        assert_eq!(Value::from(answers).to_string(), *expected, "{text}");
    }
}

/// Queries, whether failures of built-in functions are errors, and the expected errors.
const ERRORS: &[(&str, bool, &str)] = &[
    (
        "data.test.clash",
        false,
        "m0.rego:16: eval_conflict_error: rule data.test.clash produced conflicting values:\n  \
         1 at m0.rego:15\n  2 at m0.rego:16",
    ),
    (
        "data.test.stable(true)",
        false,
        "m0.rego:18: eval_conflict_error: function data.test.stable produced conflicting values \
         for the same inputs:\n  1 at m0.rego:17\n  2 at m0.rego:18",
    ),
    (
        "data.test.bad_keys",
        false,
        "m0.rego:20: eval_conflict_error: object keys must be unique",
    ),
    (
        "data.test.fails",
        true,
        "m0.rego:21: eval_builtin_error: to_number: strconv.ParseFloat: parsing \"x\": invalid \
         syntax",
    ),
];

#[test]
fn errors_say_what_and_where() {
    let policy = policy(&[POLICY]);
    let documents = from_json(DOCUMENTS.as_bytes()).expect("the documents are read");
    for (text, strict, expected) in ERRORS {
        let query = Query::parse(&policy, text, &QueryOptions::default());
        let query = query.unwrap_or_else(|errors| panic!("{text}: {errors}"));
        let mut evaluation = Evaluation::new(&documents);
        evaluation.strict = *strict;
        evaluation.input = Some(from_json(br#"{"one": 1, "two": 2}"#).expect("the input is read"));
        let error = query.evaluate(&mut evaluation).expect_err(text);
        assert_eq!(error.to_string(), *expected, "{text}");
        assert_eq!(error.stack.last().map(|(id, _)| *id), Some(0), "{text}");
    }
}

#[rstest]
#[case::rule(&["test", "deep", "b"], Some("7"))]
#[case::document(&["list"], Some("[3,1,2]"))]
#[case::nothing(&["nothing"], None)]
#[case::package_without_rules(&["other"], Some(r#"{"empty":{}}"#))]
#[case::package_above(&["system"], Some(r#"{"secret":true}"#))]
#[case::object(&["test", "names"], Some(r#"{"a":1,"b":2}"#))]
fn documents_are_found_at_their_paths(#[case] path: &[&str], #[case] expected: Option<&str>) {
    let policy = policy(&[POLICY, "package other.empty"]);
    let documents = from_json(DOCUMENTS.as_bytes()).expect("the documents are read");
    let steps: Vec<_> = path.iter().map(|step| Value::from(*step)).collect();
    let query = Query::document(&policy, &steps).expect("the path is a query");
    let mut answers = query
        .evaluate(&mut Evaluation::new(&documents))
        .expect("the document is evaluated");
    let document = answers.pop().and_then(rego::Solution::into_document);
    assert_eq!(document.map(|found| found.to_string()).as_deref(), expected);
}

#[test]
fn a_cancelled_evaluation_ends() {
    let text = "count([1 | data.list[_]; data.list[_]]) > 0";
    let query = Query::parse(&Policy::default(), text, &QueryOptions::default());
    let documents = from_json(DOCUMENTS.as_bytes()).expect("the documents are read");
    let mut evaluation = Evaluation::new(&documents);
    evaluation.cancelled = Some(Arc::new(AtomicBool::new(true)));
    let error = query.expect("the query compiles").evaluate(&mut evaluation);
    let error = error.expect_err("nobody waits");
    assert_eq!(error.code.as_str(), "eval_cancel_error");
}

#[test]
fn long_bodies_and_deep_rules_do_not_exhaust_the_stack() {
    let mut text = String::from("package deep\nimport rego.v1\nr0 := 1\n");
    for index in 1..500 {
        text.push_str(&format!("r{index} := x if {{ x := r{} }}\n", index - 1));
    }
    text.push_str("long if {\n");
    for _ in 0..2_000 {
        text.push_str("\tinput.x == 1\n");
    }
    text.push_str("}\n");
    let policy = policy(&[&text]);
    let documents = from_json(b"{}").expect("the documents are read");
    for query in ["data.deep.r499 == 1", "data.deep.long"] {
        let query = Query::parse(&policy, query, &QueryOptions::default());
        let mut evaluation = Evaluation::new(&documents);
        evaluation.input = Some(from_json(br#"{"x": 1}"#).expect("the input is read"));
        let answers = query.expect("the query compiles").evaluate(&mut evaluation);
        assert_eq!(answers.expect("it is evaluated").len(), 1);
    }
}

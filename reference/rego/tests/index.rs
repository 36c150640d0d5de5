//! Rule indexing: for each body, whether OPA 1.22 retains its rule for each input.

#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a broken table ends the test"
)]

use rego::trace::{Filter, Form, Recorder};
use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions, Value};
use rstest::rstest;

/// Inputs, a blank line, then the bodies: a digit for each input, 1 if the rule is retained.
const TABLE: &str = include_str!("index.txt");

const DOCUMENTS: &str = r#"{"roles": {"admin": ["ann"], "user": ["bob", "cy"]}, "names": ["ann", "bob"],
    "flags": {"on": true, "off": false}, "empty": {}, "numbered": {"1": true}}"#;

/// Compiles a policy with one rule that has a value if a body is satisfied.
fn policy(value: &str, body: &str) -> Policy {
    policy_of(&format!(
        "p := {value} if {{ some w in [7]; w > 0; {body} }}"
    ))
}

fn policy_of(rule: &str) -> Policy {
    let text = format!("package t\n\nimport rego.v2\n\n{rule}\n");
    let module = Module::parse("t.rego", &text).expect("the module is read");
    let policy = Compiler::new(&Policy::default()).put("t.rego", module);
    policy.compile().expect("the module compiles")
}

/// Returns whether the index retains the rule `p`, and whether it is satisfied.
fn evaluate(policy: &Policy, documents: &Value, input: &str) -> (bool, bool) {
    let query = Query::parse(policy, "data.t.p", &QueryOptions::default());
    let query = query.unwrap_or_else(|errors| panic!("{errors}"));
    let mut recorder = Recorder::new(Filter::Full, Form::Pretty);
    let mut evaluation = Evaluation::new(documents);
    evaluation.input = from_json(input.as_bytes()).ok();
    evaluation.tracer = Some(&mut recorder);
    let answers = query.evaluate(&mut evaluation);
    drop(evaluation);
    let answers = answers.unwrap_or_else(|error| panic!("{error}"));
    let lines = recorder.finish().to_string();
    let is_kept = lines.contains("Index data.t.p (matched 1 rule");
    assert!(is_kept || lines.contains("Index data.t.p (matched 0 rules"));
    (is_kept, !answers.is_empty())
}

#[test]
fn rules_are_kept_that_can_matter() {
    let documents = from_json(DOCUMENTS.as_bytes()).expect("documents");
    let (inputs, bodies) = TABLE.split_once("\n\n").expect("a blank line");
    assert!(bodies.lines().count() >= 70, "bodies are missing");
    let policy_of_numbers = policy("w", "data.numbered[input.x]");
    assert_eq!(
        evaluate(&policy_of_numbers, &documents, r#"{"x": 1}"#),
        (true, true)
    );
    // Where one rule suffices, keys are not looked up.
    for (value, is_exact) in [("w", true), ("1", false)] {
        for row in bodies.lines() {
            let (decisions, body) = row.split_once(' ').expect("digits");
            let policy = policy(value, body);
            for (input, expected) in inputs.lines().zip(decisions.chars()) {
                let (is_kept, holds) = evaluate(&policy, &documents, input);
                assert!(is_kept || !holds, "{body} holds for {input}");
                assert!(
                    !is_exact || is_kept == (expected == '1'),
                    "{body} for {input}"
                );
            }
        }
    }
}

#[test]
fn what_is_known_to_hold_is_not_taken_for_more() {
    let documents = from_json(DOCUMENTS.as_bytes()).expect("documents");
    let (inputs, bodies) = TABLE.split_once("\n\n").expect("a blank line");
    let bodies = bodies
        .lines()
        .filter_map(|row| Some(row.split_once(' ')?.1));
    let twice = [
        "input.x == 1; input.x == 2",
        "input.x == 1; input.x == 1",
        "input.x == 1; input.y == 2; input.y > 2",
        "input.x == 1; input.x == 2 with input.x as 2",
        "not input.x == 1; input.x == 2",
    ];
    let query = |policy: &Policy| {
        let path = ["t", "p"].map(Value::from);
        Query::document(policy, &path).expect("a query")
    };
    let mut satisfied = 0;
    for body in bodies.chain(twice) {
        for rule in [
            format!("p := 1 if {{ {body} }}"),
            format!("default p := 2\n\np := 1 if {{ {body} }}"),
            format!("p := 1 if {{ input.y == 9 }} else := 3 if {{ {body} }}"),
            format!("p contains 1 if {{ {body} }}"),
        ] {
            let policy = policy_of(&rule);
            let query = query(&policy);
            for input in inputs.lines() {
                let decide = |recorder: Option<&mut Recorder>| {
                    let mut evaluation = Evaluation::new(&documents);
                    evaluation.input = from_json(input.as_bytes()).ok();
                    evaluation.tracer = recorder.map(|recorder| recorder as _);
                    let decided = query.decide(&mut evaluation);
                    decided.unwrap_or_else(|error| panic!("{error}"))
                };
                let decided = decide(None);
                satisfied += usize::from(decided == Some(Value::from(1)));
                let mut recorder = Recorder::new(Filter::Full, Form::Pretty);
                assert_eq!(decided, decide(Some(&mut recorder)), "{rule} for {input}");
            }
        }
    }
    assert!(satisfied > 100, "only {satisfied} hold");
}

/// The index retains rules that may match a string that is not UTF-8. The results are OPA's.
#[rstest]
#[case::begins(r#"startswith(x, "a")"#, true)]
#[case::does_not_begin(r#"startswith(x, "b")"#, false)]
#[case::ends(r#"endswith(x, "c")"#, true)]
#[case::glob_matches(r#"glob.match("a*", [], x)"#, true)]
#[case::glob_does_not_match(r#"glob.match("b*", [], x)"#, false)]
#[case::equals_replacement(r#"x == "a\ufffdc""#, false)]
#[case::in_replacements(r#"x in ["a\ufffdc"]"#, false)]
#[case::differs("x != \"abc\"", true)]
fn rules_are_kept_for_strings_that_are_not_utf8(#[case] body: &str, #[case] expected: bool) {
    let documents = Value::Null;
    let rule = format!("f(x) := 1 if {{ {body} }}\n\np := f(hex.decode(\"61ff63\"))");
    let query = Query::parse(&policy_of(&rule), "data.t.p", &QueryOptions::default());
    let query = query.unwrap_or_else(|errors| panic!("{errors}"));
    let answers = query.evaluate(&mut Evaluation::new(&documents));
    let answers = answers.unwrap_or_else(|error| panic!("{body}: {error}"));
    assert_eq!(!answers.is_empty(), expected);
}

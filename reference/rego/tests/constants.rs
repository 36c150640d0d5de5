//! Rules with constant values: results that are cached from the first evaluation on do not affect
//! later ones.

#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a broken table ends the test"
)]

use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions, Value};

const POLICY: &str = r#"package t

import rego.v1

# METADATA
# labels: {of: constant}
labelled := [1, 2]

alone := {"a": [1, 2], "b": {3}}

chosen := 1 if true else := 2

default spare := 1
spare := 2

two := 1
two := 2

same := 1
same := 1

through_labelled if 2 in data.t.labelled
through_alone := x if { x := data.t.alone.a[1]; x < 9 }
through_set if 3 in data.t.alone.b
through_chosen := x if { x := data.t.chosen; x < 9 }
through_spare := x if { x := data.t.spare; x < 9 }
through_same := x if { x := data.t.same; x < 9 }
through_two := x if { x := data.t.two; x < 9 }
replaced := x if x := data.t.alone with data.t.alone as 7
"#;

/// Rules, their results, and the labels that are reported for them.
const EXPECTED: &[(&str, &str, &str)] = &[
    ("through_labelled", "true", r#"[{"of":"constant"}]"#),
    ("through_alone", "2", "[]"),
    ("through_set", "true", "[]"),
    ("through_chosen", "1", "[]"),
    ("through_spare", "2", "[]"),
    ("through_same", "1", "[]"),
    ("through_two", "eval_conflict_error", "[]"),
    ("replaced", "7", "[]"),
];

#[test]
fn later_evaluations_give_the_same() {
    let module = Module::parse("t.rego", POLICY).expect("the module is read");
    let policy = Compiler::new(&Policy::default()).put("t.rego", module);
    let policy = policy.compile().expect("the module compiles");
    let documents = Value::Null;
    for round in 0..4 {
        for (rule, expected, labels) in EXPECTED {
            let query = Query::parse(&policy, &format!("data.t.{rule}"), &QueryOptions::default());
            let query = query.unwrap_or_else(|errors| panic!("{errors}"));
            let mut evaluation = Evaluation::new(&documents);
            // With labels, no rule is skipped.
            evaluation.rule_labels = (round % 2 == 1).then(Vec::new);
            let found = query.decide(&mut evaluation);
            let found =
                found.map(|value| value.map_or("undefined".into(), |value| value.to_string()));
            let found = found.unwrap_or_else(|error| error.code.as_str().to_owned());
            assert_eq!(found, *expected, "{rule}, round {round}");
            if let Some(reported) = evaluation.rule_labels {
                assert_eq!(
                    Value::from(reported).to_string(),
                    *labels,
                    "{rule}, round {round}"
                );
            }
        }
    }
}

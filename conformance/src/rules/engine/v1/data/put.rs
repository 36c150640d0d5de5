//! PUT /v1/data/{path}

use super::done_with_metrics;
use crate::rules::engine::mock::loaded;
use crate::rules::engine::policy;
use crate::rules::falsy_documents;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("create-answers-no-content", || {
        scenario().when(put("/v1/data/{ns}").json(json!({"a": 1})).expect(status()))
    }),
    Rule::new("create-stores-document", || {
        scenario()
            .when(
                put("/v1/data/{ns}")
                    .json(json!({"a": {"b": [1, "two", null]}}))
                    .expect(success()),
            )
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("overwrite-answers-no-content", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(put("/v1/data/{ns}/a").json(json!(2)).expect(status()))
    }),
    Rule::new("overwrite-replaces-document", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"former": 1})))
            .when(
                put("/v1/data/{ns}/a")
                    .json(json!({"present": 2}))
                    .expect(success()),
            )
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
    }),
    Rule::new("stores-any-json", || {
        scenario().each(
            [
                ("object", json!({"b": 1})),
                ("array", json!([1, "two", null])),
                ("string", json!("text")),
                ("number", json!(1.5)),
                ("boolean", json!(false)),
                ("null", json!(null)),
                ("negative", json!(-41.125)),
                ("names", json!({"": 1, "__proto__": "日本 😀"})),
            ]
            .into_iter()
            .chain(falsy_documents()),
            |scenario, (name, value)| {
                let path = format!("/v1/data/{{ns}}/{name}");
                scenario
                    .when(put(path.as_str()).json(value).expect(status()))
                    .when(get(path).expect(at("/result")))
            },
        )
    }),
    Rule::new("creates-containing-documents", || {
        scenario()
            .when(
                put("/v1/data/{ns}/a/b/c")
                    .json(json!("deep"))
                    .expect(status()),
            )
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("keeps-siblings", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1, "b": {"c": 2}})))
            .when(put("/v1/data/{ns}/b/d").json(json!(3)).expect(success()))
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("if-none-match-existing-answers-not-modified", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(put_if_absent("a", 2).expect(status()))
            .given(put("/v1/data/{ns}/empty").json(empty_values()))
            .each(EMPTY, |scenario, name| {
                scenario.when(put_if_absent(&format!("empty/{name}"), 2).expect(status()))
            })
    }),
    Rule::new("if-none-match-keeps-existing", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(put_if_absent("a", 2).expect(status()))
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
            .given(put("/v1/data/{ns}/empty").json(empty_values()))
            .each(EMPTY, |scenario, name| {
                scenario.when(put_if_absent(&format!("empty/{name}"), 2).expect(status()))
            })
            .when(get("/v1/data/{ns}/empty").expect(at("/result")))
    }),
    Rule::new("if-none-match-absent-answers-no-content", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(put_if_absent("b", 2).expect(status()))
    }),
    Rule::new("if-none-match-absent-creates", || {
        scenario()
            .when(put_if_absent("a", 1).expect(success()))
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
    }),
    Rule::new("virtual-document-answers-not-found", || {
        scenario()
            .given(policy("answer := 42"))
            .when(put("/v1/data/{ns}/answer").json(json!(1)).expect(status()))
    }),
    Rule::new("parent-not-object-answers-not-found", || {
        below_scalars_and_array(|scenario, put| {
            scenario
                .when(put.clone().expect(status()))
                .when(put.header("If-None-Match", "*").expect(status()))
        })
    }),
    Rule::new("parent-not-object-changes-nothing", || {
        below_scalars_and_array(|scenario, put| {
            scenario
                .when(put.expect(error()))
                .when(get("/v1/data/{ns}").expect(at("/result")))
        })
    }),
    Rule::new("malformed-json-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                put("/v1/data/{ns}/a")
                    .text("application/json", r#"{"b": "#)
                    .off_contract("the body is cut off")
                    .expect(status()),
            )
            .when(
                put("/v1/data/{ns}/nothing")
                    .text("application/json", "")
                    .off_contract("there is no body")
                    .expect(status()),
            )
    }),
    Rule::new("text-after-json-answers-bad-request", || {
        let scenario = scenario().given(put("/v1/data/{ns}/a").json(json!(1)));
        scenario.each(["2 x", "{} {}", "[2]]"], |scenario, text| {
            scenario.when(
                put("/v1/data/{ns}/a")
                    .text("application/json", text)
                    .off_contract("something follows the JSON document")
                    .expect(status()),
            )
        })
    }),
    Rule::new("malformed-json-changes-nothing", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                put("/v1/data/{ns}/a")
                    .text("application/json", r#"{"b": "#)
                    .off_contract("the body is cut off")
                    .expect(error()),
            )
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
            .when(
                put("/v1/data/{ns}/nothing")
                    .header("If-None-Match", "*")
                    .text("application/json", r#"{"b": "#)
                    .off_contract("the body is cut off")
                    .expect(error()),
            )
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("metrics-accepted", || {
        let with_metrics = |name: &str, value: u8| {
            put(format!("/v1/data/{{ns}}/{name}?metrics=true")).json(json!(value))
        };
        let written = |step: Step| step.expect(done_with_metrics());
        scenario()
            .when(written(with_metrics("a", 1)))
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
            .when(
                with_metrics("a", 2)
                    .header("If-None-Match", "*")
                    .expect(status()),
            )
            .when(written(with_metrics("b", 3).header("If-None-Match", "*")))
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("bundle-owned-data", || {
        loaded()
            .when(
                put("/v1/data/rules/{ns}")
                    .json(json!(1))
                    .expect(status())
                    .expect(at("/code")),
            )
            .when(get("/v1/data/rules").expect(at("/result")))
    }),
    Rule::new("if-none-match-other-value", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                put("/v1/data/{ns}/a")
                    .header("If-None-Match", r#""tag""#)
                    .off_contract("only * is described")
                    .json(json!(2))
                    .expect(status()),
            )
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
    }),
    Rule::new("encoded-slash-in-segment", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({})))
            .when(put("/v1/data/{ns}/a%2Fb").json(json!(1)).expect(status()))
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .when(get("/v1/data/{ns}/a%2Fb").expect(at("/result")))
    }),
];

/// Names of documents that are defined, but that programs may confuse with undefined ones.
pub(crate) const EMPTY: [&str; 6] = ["array", "false", "null", "object", "text", "zero"];

/// An object with the documents of [`EMPTY`].
pub(crate) fn empty_values() -> Value {
    json!({"array": [], "false": false, "null": null, "object": {}, "text": "", "zero": 0})
}

/// The documents of [`EMPTY`], in the same order.
pub(crate) fn each_empty_value() -> [Value; 6] {
    EMPTY.map(|name| empty_values().get(name).cloned().unwrap_or_default())
}

/// Writes a member below each kind of document that is not an object, and judges the responses.
fn below_scalars_and_array(judge: impl Fn(Scenario, Step) -> Scenario) -> Scenario {
    scenario()
        .given(put("/v1/data/{ns}").json(
            json!({"string": "text", "number": 1, "array": [1], "false": false, "null": null}),
        ))
        .each(
            ["string", "number", "array", "false", "null"],
            |scenario, parent| {
                let path = format!("/v1/data/{{ns}}/{parent}/member");
                judge(scenario, put(path).json(json!(1)))
            },
        )
}

/// Writes a number, unless a document exists.
fn put_if_absent(member: &str, number: u8) -> Step {
    put(format!("/v1/data/{{ns}}/{member}"))
        .header("If-None-Match", "*")
        .json(json!(number))
}

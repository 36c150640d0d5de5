//! POST /v0/data/{path}

use serde_json::Map;

use crate::rules::engine::common::documents::{QUOTED, UNQUOTED};
use crate::rules::engine::policy;
use crate::rules::engine::v1::data::put::{EMPTY, empty_values};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("answers-bare-value", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, "two", null]})))
            .when(
                post("/v0/data/{ns}/a")
                    .json(json!({"who": "alice"}))
                    .expect(status())
                    .expect(body()),
            )
            .given(put("/v1/data/{ns}/empty").json(empty_values()))
            .each(EMPTY, |scenario, name| {
                let path = format!("/v0/data/{{ns}}/empty/{name}");
                scenario.when(
                    post(path)
                        .json(json!({"who": "alice"}))
                        .expect(status())
                        .expect(body()),
                )
            })
    }),
    Rule::new("body-is-input-document", || {
        scenario().given(policy("seen := {\"input\": input}")).each(
            [
                json!({"who": "alice", "input": {"who": "bob"}}),
                json!(["alice", 41]),
                json!("alice"),
                json!(41),
                json!(false),
                json!(null),
            ],
            |scenario, input| scenario.when(post("/v0/data/{ns}/seen").json(input).expect(body())),
        )
    }),
    Rule::new("empty-body-accepted", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(post("/v0/data/{ns}/a").expect(status()).expect(body()))
    }),
    Rule::new("yaml-body-accepted", || {
        scenario().given(policy("seen := {\"seen\": input}")).when(
            post("/v0/data/{ns}/seen")
                .text("application/yaml", "who: alice\nroles:\n  - admin\n")
                .expect(status())
                .expect(body()),
        )
    }),
    Rule::new("gzip-body-accepted", || {
        scenario().given(policy("seen := {\"seen\": input}")).when(
            post("/v0/data/{ns}/seen")
                .json(json!({"who": "alice"}))
                .gzip()
                .expect(status())
                .expect(body()),
        )
    }),
    Rule::new("malformed-json-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v0/data/{ns}/a")
                    .text("application/json", r#"{"who": "#)
                    .off_contract("the body is cut off")
                    .expect(status()),
            )
    }),
    Rule::new("malformed-input-before-undefined", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v0/data/{ns}/b")
                    .text("application/json", r#"{"who": "#)
                    .off_contract("the body is cut off")
                    .expect(status()),
            )
    }),
    Rule::new("undefined-answers-not-found", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v0/data/{ns}/b")
                    .json(json!({"who": "alice"}))
                    .expect(status()),
            )
    }),
    Rule::new("undefined-carries-error-object", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v0/data/{ns}/b")
                    .json(json!({"who": "alice"}))
                    .expect(kind("/code", Kind::String))
                    .expect(kind("/message", Kind::String)),
            )
    }),
    Rule::new("pretty-keeps-value", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(
                post("/v0/data/{ns}/a?pretty=true")
                    .json(json!({"who": "alice"}))
                    .expect(body()),
            )
    }),
    Rule::new("numeric-segment-is-array-index", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(["first", {"b": ["inner"]}])))
            .when(read("a/0").expect(body()))
            .when(read("a/1/b/0").expect(body()))
    }),
    Rule::new("segment-is-plain-text", || segments(&UNQUOTED)),
    Rule::new("quoted-segment-is-plain-text", || segments(&QUOTED)),
    Rule::new("names-and-texts-kept", || {
        let names = json!({"Name": 1, "name": "ß", "é": "É", "日本": {"Ü": "日本 😀"}});
        scenario()
            .given(put("/v1/data/{ns}/kept").json(names.clone()))
            .given(policy("seen := input"))
            .when(read("kept").expect(body()))
            .when(read("kept/Name").expect(body()))
            .when(read("kept/name").expect(body()))
            .when(read("kept/%C3%A9").expect(body()))
            .when(read("kept/%E6%97%A5%E6%9C%AC/%C3%9C").expect(body()))
            .when(read("kept/NAME").expect(error()))
            .when(post("/v0/data/{ns}/seen").json(names).expect(body()))
    }),
    Rule::new("integers-kept", || {
        let numbers = json!({"n": [9_007_199_254_740_993_u64, -9_007_199_254_740_993_i64]});
        scenario()
            .given(put("/v1/data/{ns}/kept").json(numbers.clone()))
            .given(policy("seen := input"))
            .when(read("kept").expect(body()))
            .when(post("/v0/data/{ns}/seen").json(numbers).expect(body()))
    }),
];

/// Reads a document, with an input on which nothing depends.
fn read(path: &str) -> Step {
    post(format!("/v0/data/{{ns}}/{path}")).json(json!(1))
}

/// Expects that members of these names are read, and nothing else.
fn segments(names: &[(&str, &str)]) -> Scenario {
    let member = |(name, _): &(&str, &str)| ((*name).to_owned(), json!({"was": name}));
    let mut members: Map<String, Value> = names.iter().map(member).collect();
    members.insert("a".to_owned(), json!({"b": "beside"}));
    let start = scenario().given(put("/v1/data/{ns}").json(Value::Object(members)));
    names.iter().fold(start, |scenario, (_, segment)| {
        scenario.when(read(segment).expect(body()))
    })
}

//! POST /v0/data/{path}

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
];

//! Documents

use super::super::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("base-document-is-written-data", || {
        scenario()
            .given(put("/v1/data/{ns}/a/b").json(json!(1)))
            .when(get("/v1/data/{ns}/a/b").keep(at("/result")))
            .when(get("/v1/data/{ns}/a").keep(at("/result")))
            .when(get("/v1/data/{ns}").keep(at("/result")))
    }),
    Rule::new("virtual-document-is-rule-value", || {
        scenario()
            .given(policy(
                "sum := 40 + 2\n\nwords := [\"one\", input.word]\n\nnames contains \"bob\"\n\nnames contains \"alice\"\n\nages[\"bob\"] := 17",
            ))
            .when(get("/v1/data/{ns}/sum").keep(at("/result")))
            .when(
                post("/v1/data/{ns}/words")
                    .json(json!({"input": {"word": "two"}}))
                    .keep(at("/result")),
            )
            .when(get("/v1/data/{ns}/names").keep(sorted("/result")))
            .when(get("/v1/data/{ns}/ages").keep(at("/result")))
    }),
    Rule::new("numeric-segment-is-array-index", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(["first", {"b": ["inner"]}])))
            .when(get("/v1/data/{ns}/a/0").keep(at("/result")))
            .when(get("/v1/data/{ns}/a/1/b/0").keep(at("/result")))
    }),
    Rule::new("other-segment-is-member-name", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": {"name": 1, "1st": 2, "two words": 3}})))
            .when(get("/v1/data/{ns}/a/name").keep(at("/result")))
            .when(get("/v1/data/{ns}/a/1st").keep(at("/result")))
            .when(get("/v1/data/{ns}/a/two%20words").keep(at("/result")))
    }),
    Rule::new("input-document-is-supplied-value", || {
        scenario()
            .given(policy("seen := input"))
            .each(
                [json!({"who": "alice", "age": 41}), json!({"who": "bob"})],
                |scenario, input| {
                    scenario.when(
                        post("/v1/data/{ns}/seen")
                            .json(json!({"input": input}))
                            .keep(at("/result")),
                    )
                },
            )
            .when(get("/v1/data/{ns}/seen").keep(lacks("/result")))
    }),
    Rule::new("numeric-member-name", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"1": "one"})))
            .when(get("/v1/data/{ns}/1").keep(status()).keep(at("/result")))
    }),
];

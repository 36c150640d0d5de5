//! The pretty parameter

use super::super::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("data-get", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(get("/v1/data/{ns}/a?pretty=true").keep(pretty()))
    }),
    Rule::new("data-post", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(
                post("/v1/data/{ns}/a?pretty=true")
                    .json(json!({"input": {"who": "alice"}}))
                    .keep(pretty()),
            )
    }),
    Rule::new("webhook-data-post", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(
                post("/v0/data/{ns}/a?pretty=true")
                    .json(json!({"who": "alice"}))
                    .keep(pretty()),
            )
    }),
    Rule::new("data-get-false", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(
                get("/v1/data/{ns}/a?pretty=false")
                    .keep(at("/result"))
                    .keep(pretty()),
            )
    }),
    Rule::new("policy-get", || {
        scenario()
            .given(policy("answer := 42"))
            .when(get("/v1/policies/{ns}?pretty=true").keep(pretty()))
    }),
    Rule::new("config-get", || {
        scenario().when(get("/v1/config?pretty=true").keep(pretty()))
    }),
];

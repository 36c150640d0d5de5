//! Scope and paths

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("path-of-one-segment", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!("shallow")))
            .when(get("/v1/data/{ns}").keep(at("/result")))
    }),
    Rule::new("path-of-several-segments", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": {"b": {"c": "deep"}}})))
            .when(get("/v1/data/{ns}/a/b/c").keep(at("/result")))
    }),
    Rule::new("webhook-path-of-several-segments", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": {"b": {"c": "deep"}}})))
            .when(
                post("/v0/data/{ns}/a/b/c")
                    .json(json!({"who": "alice"}))
                    .keep(body()),
            )
    }),
];

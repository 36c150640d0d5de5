//! GET /v1/policies

use crate::rules::engine::{module, policy};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("status", || {
        scenario()
            .given(policy("answer := 42"))
            .when(get("/v1/policies").keep(status()))
    }),
    Rule::new("result-is-array", || {
        scenario()
            .given(policy("answer := 42"))
            .when(get("/v1/policies").keep(kind("/result", Kind::Array)))
    }),
    Rule::new("items-are-modules", || {
        scenario()
            .given(policy("answer := 42"))
            .given(
                put("/v1/policies/{ns}.second")
                    .text("text/plain", module("{ns}.second", "answer := 43")),
            )
            .when(
                get("/v1/policies")
                    .keep(names("/result"))
                    .keep(each("/result/*/id", Kind::String))
                    .keep(each("/result/*/raw", Kind::String))
                    .keep(each("/result/*/ast", Kind::Object)),
            )
    }),
];

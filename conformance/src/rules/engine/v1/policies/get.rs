//! GET /v1/policies/{id}

use crate::rules::engine::{module, policy};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("result-is-module", || {
        scenario()
            .given(policy("answer := 42"))
            .given(
                put("/v1/policies/{ns}.second")
                    .text("text/plain", module("{ns}.second", "answer := 43")),
            )
            .each(["{ns}", "{ns}.second"], |scenario, id| {
                scenario.when(
                    get(format!("/v1/policies/{id}"))
                        .expect(status())
                        .expect(at("/result/id"))
                        .expect(at("/result/raw"))
                        .expect(kind("/result/ast", Kind::Object)),
                )
            })
    }),
    Rule::new("missing-is-404", || {
        scenario()
            .given(policy("answer := 42"))
            .when(get("/v1/policies/{ns}.missing").expect(status()))
    }),
];

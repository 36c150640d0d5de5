//! Versioning

use crate::rules::engine::health::get::not_everything_is_healthy;
use crate::rules::engine::root::post::main_decision;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("main-prefix", || {
        scenario()
            .when(put("/v1/data/{ns}/a").json(json!(1)).expect(success()))
            .when(get("/v1/data/{ns}/a").expect(success()))
    }),
    Rule::new("webhook-prefix", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v0/data/{ns}/a")
                    .json(json!({"who": "alice"}))
                    .expect(success())
                    .expect(body()),
            )
    }),
    Rule::new("health-without-prefix", || {
        scenario()
            .given(not_everything_is_healthy())
            .when(get("/health").expect(success()))
    }),
    Rule::new("root-without-prefix", || {
        main_decision("main := input.who").when(
            post("/")
                .json(json!({"who": "alice"}))
                .expect(success())
                .expect(body()),
        )
    }),
];

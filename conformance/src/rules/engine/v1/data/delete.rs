//! DELETE /v1/data/{path}

use super::done_with_metrics;
use super::put::{EMPTY, empty_values};
use crate::rules::engine::mock::loaded_alone;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("answers-no-content", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(delete("/v1/data/{ns}/a").expect(status()))
            .given(put("/v1/data/{ns}").json(empty_values()))
            .each(EMPTY, |scenario, name| {
                scenario.when(delete(format!("/v1/data/{{ns}}/{name}")).expect(status()))
            })
    }),
    Rule::new("removes-document", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": 1})))
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
            .when(delete("/v1/data/{ns}/a").expect(success()))
            .when(get("/v1/data/{ns}/a").expect(lacks("/result")))
    }),
    Rule::new("keeps-siblings", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1, "b": {"c": 2, "d": 3}})))
            .when(delete("/v1/data/{ns}/b/c").expect(success()))
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .when(delete("/v1/data/{ns}/b/d").expect(success()))
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("removes-array-element", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(["first", "second", "third"])))
            // Elements in the middle and at the end, and the last one left.
            .each([1, 1, 0], |scenario, position| {
                scenario
                    .when(delete(format!("/v1/data/{{ns}}/a/{position}")).expect(success()))
                    .when(get("/v1/data/{ns}/a").expect(at("/result")))
            })
    }),
    Rule::new("missing-answers-not-found", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(delete("/v1/data/{ns}/b").expect(status()))
            .when(delete("/v1/data/{ns}/b/c").expect(status()))
    }),
    Rule::new("metrics-accepted", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(delete("/v1/data/{ns}/a?metrics=true").expect(done_with_metrics()))
            .when(get("/v1/data/{ns}/a").expect(lacks("/result")))
    }),
    Rule::new("bundle-owned-data", || {
        loaded_alone()
            .changes_global()
            .when(
                delete("/v1/data/rules/most")
                    .expect(status())
                    .expect(at("/code")),
            )
            .when(get("/v1/data/rules").expect(at("/result")))
    }),
];

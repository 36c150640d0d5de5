//! DELETE /v1/data/{path}

use crate::rules::engine::depot::loaded_alone;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("answers-no-content", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(delete("/v1/data/{ns}/a").keep(status()))
    }),
    Rule::new("removes-document", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": 1})))
            .when(get("/v1/data/{ns}/a").keep(at("/result")))
            .when(delete("/v1/data/{ns}/a").keep(success()))
            .when(get("/v1/data/{ns}/a").keep(lacks("/result")))
    }),
    Rule::new("keeps-siblings", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1, "b": {"c": 2, "d": 3}})))
            .when(delete("/v1/data/{ns}/b/c").keep(success()))
            .when(get("/v1/data/{ns}").keep(at("/result")))
    }),
    Rule::new("removes-array-element", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(["first", "second", "third"])))
            .when(delete("/v1/data/{ns}/a/1").keep(success()))
            .when(get("/v1/data/{ns}/a").keep(at("/result")))
    }),
    Rule::new("missing-answers-not-found", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(delete("/v1/data/{ns}/b").keep(status()))
            .when(delete("/v1/data/{ns}/b/c").keep(status()))
    }),
    Rule::new("metrics-accepted", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(delete("/v1/data/{ns}/a?metrics=true").keep(either([
                alternative(
                    "metrics",
                    [
                        Check::Status(200),
                        Check::Type(
                            "/metrics/timer_server_handler_ns".into(),
                            vec![Kind::Amount],
                        ),
                    ],
                ),
                alternative("no content", [Check::Status(204), Check::NoBody]),
            ])))
            .when(get("/v1/data/{ns}/a").keep(lacks("/result")))
    }),
    Rule::new("bundle-owned-data", || {
        loaded_alone()
            .changes_global()
            .when(
                delete("/v1/data/rules/most")
                    .keep(status())
                    .keep(at("/code")),
            )
            .when(get("/v1/data/rules").keep(at("/result")))
    }),
];

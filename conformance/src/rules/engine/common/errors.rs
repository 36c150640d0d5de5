//! Errors

use crate::rules::engine::policy;
use crate::rules::engine::root::post::main_decision;
use crate::rules::engine::v1::compile::filters::tables::{ALL, RED, filter};
use crate::rules::engine::v1::query::get::query_path;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("status-tells-success-from-failure", || {
        scenario()
            .when(put("/v1/data/{ns}/a").json(json!(1)).expect(success()))
            .when(get("/v1/data/{ns}/a").expect(success()))
            .when(put("/v1/data/{ns}/a/b").json(json!(1)).expect(error()))
            .when(delete("/v1/data/{ns}/missing").expect(error()))
    }),
    Rule::new("data-get-failure", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(error_object(
                get("/v1/data/{ns}/a?input=%7B%22who%22%3A").off_contract("the input is cut off"),
            ))
    }),
    Rule::new("data-post-failure", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(error_object(
                post("/v1/data/{ns}/a")
                    .text("application/json", r#"{"input": "#)
                    .off_contract("the body is cut off"),
            ))
    }),
    Rule::new("webhook-data-post-failure", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(error_object(
                post("/v0/data/{ns}/a")
                    .text("application/json", r#"{"who": "#)
                    .off_contract("the body is cut off"),
            ))
    }),
    Rule::new("data-put-failure", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(error_object(put("/v1/data/{ns}/a/b").json(json!(2))))
            .when(error_object(
                put("/v1/data/{ns}/c")
                    .text("application/json", r#"{"d": "#)
                    .off_contract("the body is cut off"),
            ))
    }),
    Rule::new("data-patch-failure", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(error_object(patch("/v1/data/{ns}").text(
                "application/json-patch+json",
                r#"[{"op": "remove", "path": "/missing"}]"#,
            )))
            .when(error_object(
                patch("/v1/data/{ns}")
                    .text(
                        "application/json-patch+json",
                        r#"[{"op": "remove", "path": "#,
                    )
                    .off_contract("the body is cut off"),
            ))
    }),
    Rule::new("data-delete-failure", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(error_object(delete("/v1/data/{ns}/missing")))
    }),
    Rule::new("policy-get-failure", || {
        scenario()
            .given(policy("answer := 42"))
            .given(get("/v1/policies/{ns}"))
            .when(error_object(get("/v1/policies/{ns}-missing")))
    }),
    Rule::new("policy-put-failure", || {
        scenario()
            .given(policy("answer := 42"))
            .when(error_object(policy("allow if {")))
            .when(error_object(policy("allow if missing > 1")))
    }),
    Rule::new("policy-delete-failure", || {
        scenario()
            .given(policy("answer := 42"))
            .given(delete("/v1/policies/{ns}"))
            .when(error_object(delete("/v1/policies/{ns}")))
    }),
    Rule::new("root-post-failure", || {
        main_decision(r#"main if input.who != "bob""#)
            .when(error_object(post("/").json(json!({"who": "bob"}))))
            .when(error_object(
                post("/")
                    .text("application/json", r#"{"who": "#)
                    .off_contract("the body is cut off"),
            ))
    }),
    Rule::new("query-get-failure", || {
        scenario()
            .given(get(query_path("x = 1")))
            .when(error_object(get(query_path("x ="))))
    }),
    Rule::new("query-post-failure", || {
        scenario()
            .given(post("/v1/query").json(json!({"query": "x = 1"})))
            .when(error_object(
                post("/v1/query").json(json!({"query": "x ="})),
            ))
            .when(error_object(
                post("/v1/query")
                    .text("application/json", r#"{"query": "x = 1""#)
                    .off_contract("the body is cut off"),
            ))
    }),
    Rule::new("compile-post-failure", || {
        scenario()
            .given(post("/v1/compile").json(json!({"query": "input.a == 1"})))
            .when(error_object(
                post("/v1/compile").json(json!({"query": "input.a =="})),
            ))
            .when(error_object(
                post("/v1/compile").json(json!({"query": "missing > 1"})),
            ))
    }),
    Rule::new("filter-compile-post-failure", || {
        scenario()
            .given(policy(RED))
            .given(filter("include", ALL))
            .when(error_object(
                post("/v1/compile/{ns}/include")
                    .header("Accept", ALL.accept)
                    .text("application/json", r#"{"unknowns": ["#)
                    .off_contract("the body is cut off"),
            ))
    }),
    Rule::new("failed-compilation-is-invalid-parameter", || {
        scenario()
            .when(policy("allow if missing > 1").expect(at("/code")))
            .when(policy("odd if not even\n\neven if not odd").expect(at("/code")))
    }),
    Rule::new("unsafe-variable-code", || {
        scenario()
            .when(policy("allow if missing > 1").expect(at("/errors/0/code")))
            .when(policy("allow if not data.{ns}.names[missing]").expect(at("/errors/0/code")))
    }),
    // No health rule has this name, which the endpoint reports as a failure.
    Rule::new("health-failure-has-only-error", || {
        scenario().given(get("/health")).when(
            get("/health/{ns}")
                .expect(error())
                .expect(kind("/error", Kind::Text))
                .expect(lacks("/code"))
                .expect(lacks("/message"))
                .expect(lacks("/errors")),
        )
    }),
    Rule::new("statuses-as-listed", || {
        let absent = json!([{"op": "remove", "path": "/absent"}]).to_string();
        let input = json!({"input": 1});
        let query = json!({"query": "1 = 2"});
        let steps: [(Step, &[u16]); 12] = [
            (get("/v1/data/{ns}/absent"), &[200, 400, 500]),
            (post("/v1/data/{ns}/absent").json(input), &[200, 400, 500]),
            (
                post("/v0/data/{ns}/absent").json(json!(1)),
                &[200, 400, 404, 500],
            ),
            (
                put("/v1/data/{ns}/a/b").json(json!(2)),
                &[204, 304, 400, 404, 500],
            ),
            (
                patch("/v1/data/{ns}").text("application/json-patch+json", absent),
                &[204, 400, 404, 500],
            ),
            (delete("/v1/data/{ns}/absent"), &[204, 404, 500]),
            (get("/v1/policies/{ns}"), &[200, 404, 500]),
            (policy("allow if {"), &[200, 400, 500]),
            (delete("/v1/policies/{ns}"), &[200, 400, 404, 500]),
            (get(query_path("1 = 2")), &[200, 400, 500, 501]),
            (post("/v1/query").json(query.clone()), &[200, 400, 500, 501]),
            (post("/v1/compile").json(query), &[200, 400, 500]),
        ];
        let start = scenario().given(put("/v1/data/{ns}/a").json(json!(1)));
        start.each(steps, |scenario, (step, listed)| {
            scenario.when(step.expect(status_among(listed)))
        })
    }),
    Rule::new("all-codes", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/a?input=%7B%22who%22%3A")
                    .off_contract("the input is cut off")
                    .expect(at("/code")),
            )
            .when(
                post("/v0/data/{ns}/missing")
                    .json(json!({"who": "alice"}))
                    .expect(at("/code")),
            )
            .when(put("/v1/data/{ns}/a/b").json(json!(2)).expect(at("/code")))
            .when(delete("/v1/data/{ns}/missing").expect(at("/code")))
    }),
];

/// Expects that the call fails, with the members of every error object.
fn error_object(call: Step) -> Step {
    call.expect(error())
        .expect(kind("/code", Kind::Text))
        .expect(kind("/message", Kind::Text))
        .expect(kind_among("/errors", &[Kind::Array, Kind::Absent]))
}

//! Performance metrics

use crate::rules::engine::root::post::main_decision;
use crate::rules::engine::{module, policy};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("input-parse-timer", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a?metrics=true")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(kind("/metrics/timer_rego_input_parse_ns", Kind::Amount)),
            )
    }),
    Rule::new("query-parse-timer", || {
        fresh_query("/metrics/timer_rego_query_parse_ns")
    }),
    Rule::new("query-compile-timer", || {
        fresh_query("/metrics/timer_rego_query_compile_ns")
    }),
    Rule::new("query-eval-timer", || {
        documents_timed("/metrics/timer_rego_query_eval_ns")
    }),
    Rule::new("module-parse-timer", || {
        written_policy("/metrics/timer_rego_module_parse_ns")
    }),
    Rule::new("module-compile-timer", || {
        written_policy("/metrics/timer_rego_module_compile_ns")
    }),
    Rule::new("server-handler-timer", || {
        documents_timed("/metrics/timer_server_handler_ns")
    }),
    Rule::new("query-cache-hit-counter", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/a?metrics=true").expect(kind(CACHE_HIT, Kind::Amount)))
    }),
    Rule::new("instrument-compile-stages", || {
        instrumented("/metrics/timer_compile_stage_*_ns")
    }),
    Rule::new("instrument-query-compile-stages", || {
        instrumented("/metrics/timer_query_compile_stage_*_ns")
    }),
    Rule::new("cache-hit-omits-query-parse", || {
        cached_without("/metrics/timer_rego_query_parse_ns")
    }),
    Rule::new("cache-hit-omits-query-compile", || {
        cached_without("/metrics/timer_rego_query_compile_ns")
    }),
    Rule::new("only-when-asked", || {
        let documents = scenario().given(put("/v1/data/{ns}/a").json(json!(1)));
        documents.each(["", "metrics=false"], |scenario, parameter| {
            let with_parameter = |path: &str| match parameter {
                "" => path.to_owned(),
                _ if path.contains('?') => format!("{path}&{parameter}"),
                _ => format!("{path}?{parameter}"),
            };
            let text = module("{ns}", "answer := 42");
            let query = json!({"query": "x = 1"});
            let partial = json!({"query": "input.a == 1"});
            let input = json!({"input": {"who": "alice"}});
            let steps = [
                get(with_parameter("/v1/data/{ns}/a")),
                post(with_parameter("/v1/data/{ns}/a")).json(input),
                put(with_parameter("/v1/data/{ns}/b")).json(json!(2)),
                delete(with_parameter("/v1/data/{ns}/b")),
                put(with_parameter("/v1/policies/{ns}")).text("text/plain", text),
                delete(with_parameter("/v1/policies/{ns}")),
                get(with_parameter("/v1/query?q=x%20%3D%201")),
                post(with_parameter("/v1/query")).json(query),
                post(with_parameter("/v1/compile")).json(partial),
            ];
            scenario.each(steps, |scenario, step| {
                scenario.when(step.expect(success()).expect(lacks("/metrics")))
            })
        })
    }),
    Rule::new("undefined-document", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/b?metrics=true")
                    .expect(kind("/metrics", Kind::Object))
                    .expect(kind("/metrics/timer_server_handler_ns", Kind::Amount))
                    .expect(lacks("/result")),
            )
    }),
    Rule::new("data-patch", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"a": 1})))
            .when(
                patch("/v1/data/{ns}?metrics=true")
                    .text(
                        "application/json-patch+json",
                        r#"[{"op": "remove", "path": "/a"}]"#,
                    )
                    .off_contract("the parameter is not listed for PATCH")
                    .expect(status()),
            )
    }),
    Rule::new("root-post", || {
        main_decision(r#"main := {"decided": true}"#).when(
            post("/?metrics=true")
                .json(json!({"who": "alice"}))
                .off_contract("the parameter is not listed for POST /")
                .expect(status())
                .expect(body()),
        )
    }),
    Rule::new("filter-compile-post", || {
        let rule = "include if input.fruits.colour == \"red\"";
        scenario().given(policy(rule)).when(
            post("/v1/compile/{ns}/include?metrics=true")
                .header("Accept", "application/vnd.engine.ucast.all+json")
                .json(json!({"unknowns": ["input.fruits"]}))
                .off_contract("the parameter is not listed for POST /v1/compile/{path}")
                .expect(status())
                .expect(kind_among("/metrics", &[Kind::Object, Kind::Absent])),
        )
    }),
];

const CACHE_HIT: &str = "/metrics/counter_server_query_cache_hit";

/// Expects that a read and a decision report this time.
fn documents_timed(timer: &'static str) -> Scenario {
    let read = get("/v1/data/{ns}/a?metrics=true");
    let decision = post("/v1/data/{ns}/a?metrics=true").json(json!({"input": {"who": "alice"}}));
    scenario()
        .given(put("/v1/data/{ns}/a").json(json!(1)))
        .when(read.expect(kind(timer, Kind::Amount)))
        .when(decision.expect(kind(timer, Kind::Amount)))
}

/// Expects that the write of a new policy reports this time.
fn written_policy(timer: &str) -> Scenario {
    scenario().when(
        put("/v1/policies/{ns}?metrics=true")
            .text("text/plain", module("{ns}", "answer := 42"))
            .expect(kind(timer, Kind::Amount)),
    )
}

/// Expects that a query reports this time. The query contains the scenario's own name, so that no
/// earlier one equals it.
fn fresh_query(timer: &str) -> Scenario {
    scenario().when(
        get("/v1/query?q=x%20%3D%20%22{ns}%22&metrics=true").expect(kind(timer, Kind::Amount)),
    )
}

/// Expects that the first read of a new rule reports these times.
fn instrumented(timers: &str) -> Scenario {
    scenario().given(policy("p := input.who")).when(
        post("/v1/data/{ns}/p?instrument=true")
            .json(json!({"input": {"who": "alice"}}))
            .expect(each(timers, Kind::Amount)),
    )
}

/// Repeats the same read until it is a cache hit, which must not report this time.
fn cached_without(timer: &str) -> Scenario {
    // Requests of other scenarios would evict entries from the cache of a shared server.
    scenario()
        .fresh()
        .given(put("/v1/data/{ns}/a").json(json!(1)))
        .when(
            get("/v1/data/{ns}/a?metrics=true")
                .until([Check::Type(CACHE_HIT.into(), vec![Kind::Positive])])
                .or_not_run("no query came from a cache")
                .expect(lacks(timer)),
        )
}

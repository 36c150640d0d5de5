//! DELETE /v1/policies/{id}

use crate::rules::engine::mock::loaded_alone;
use crate::rules::engine::module;
use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("answers-empty-object", || {
        scenario()
            .given(policy("answer := 42"))
            .when(delete("/v1/policies/{ns}").expect(status()).expect(body()))
            .given(get("/v1/policies/{ns}").shows([Check::StatusFrom(400, 499)]))
    }),
    Rule::new("removes-module", || {
        scenario()
            .given(policy("answer := 42"))
            .given(second("other := 43"))
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .when(delete("/v1/policies/{ns}").expect(success()))
            .when(get("/v1/policies/{ns}").expect(error()))
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("missing-is-404", || {
        scenario()
            .given(policy("answer := 42"))
            .when(delete("/v1/policies/{ns}.missing").expect(status()))
    }),
    Rule::new("dependants-refuse", || {
        dependent()
            .when(delete("/v1/policies/{ns}").expect(status()))
            .when(get("/v1/policies/{ns}").expect(at("/result/id")))
            .when(get("/v1/data/{ns}/answer").expect(at("/result")))
    }),
    Rule::new("delete-after-dependant-gone", || {
        dependent()
            .when(delete("/v1/policies/{ns}").expect(error()))
            .given(delete("/v1/policies/{ns}.second"))
            .when(delete("/v1/policies/{ns}").expect(success()))
            .when(get("/v1/policies/{ns}").expect(error()))
    }),
    Rule::new("metrics", || {
        scenario().given(policy("answer := 42")).when(
            delete("/v1/policies/{ns}?metrics=true")
                .expect(kind("/metrics", Kind::Object))
                .expect(kind("/metrics/timer_rego_module_compile_ns", Kind::Amount)),
        )
    }),
    Rule::new("pretty", || {
        scenario()
            .given(policy("answer := 42"))
            .when(
                delete("/v1/policies/{ns}?pretty=true&metrics=true")
                    .expect(kind("/metrics", Kind::Object))
                    .expect(pretty()),
            )
            .when(get("/v1/policies/{ns}").expect(error()))
            .when(get("/v1/data/{ns}/answer").expect(lacks("/result")))
    }),
    Rule::new("bundle-owned-module", || {
        loaded_alone()
            .changes_global()
            .given(get("/v1/policies").capture("module", "/result/0/id"))
            .when(
                delete("/v1/policies/{module}")
                    .expect(status())
                    .expect(at("/code")),
            )
            .when(get("/v1/data/rules/answer").expect(at("/result")))
            .when(get("/v1/data/limits/answer").expect(at("/result")))
    }),
];

/// Writes a second module of the scenario's package.
fn second(rules: &str) -> Step {
    put("/v1/policies/{ns}.second").text("text/plain", module("{ns}", rules))
}

/// A module, and a second one that cannot be compiled without it.
fn dependent() -> Scenario {
    scenario()
        .given(policy("double(n) := n * 2"))
        .given(second("answer := double(21)"))
}

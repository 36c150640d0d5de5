//! DELETE /v1/policies/{id}

use crate::rules::engine::depot::loaded_alone;
use crate::rules::engine::module;
use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("answers-empty-object", || {
        scenario()
            .given(policy("answer := 42"))
            .when(delete("/v1/policies/{ns}").keep(status()).keep(body()))
            .given(get("/v1/policies/{ns}").shows([Check::StatusFrom(400, 499)]))
    }),
    Rule::new("removes-module", || {
        scenario()
            .given(policy("answer := 42"))
            .given(second("other := 43"))
            .when(get("/v1/data/{ns}").keep(at("/result")))
            .when(delete("/v1/policies/{ns}").keep(success()))
            .when(get("/v1/policies/{ns}").keep(error()))
            .when(get("/v1/data/{ns}").keep(at("/result")))
    }),
    Rule::new("missing-is-404", || {
        scenario()
            .given(policy("answer := 42"))
            .when(delete("/v1/policies/{ns}.missing").keep(status()))
    }),
    Rule::new("dependants-refuse", || {
        dependent()
            .when(delete("/v1/policies/{ns}").keep(status()))
            .when(get("/v1/policies/{ns}").keep(at("/result/id")))
            .when(get("/v1/data/{ns}/answer").keep(at("/result")))
    }),
    Rule::new("delete-after-dependant-gone", || {
        dependent()
            .when(delete("/v1/policies/{ns}").keep(error()))
            .given(delete("/v1/policies/{ns}.second"))
            .when(delete("/v1/policies/{ns}").keep(success()))
            .when(get("/v1/policies/{ns}").keep(error()))
    }),
    Rule::new("metrics", || {
        scenario().given(policy("answer := 42")).when(
            delete("/v1/policies/{ns}?metrics=true")
                .keep(kind("/metrics", Kind::Object))
                .keep(kind("/metrics/timer_rego_module_compile_ns", Kind::Amount)),
        )
    }),
    Rule::new("pretty", || {
        scenario()
            .given(policy("answer := 42"))
            .when(delete("/v1/policies/{ns}?pretty=true").keep(success()))
            .when(get("/v1/policies/{ns}").keep(error()))
            .when(get("/v1/data/{ns}/answer").keep(lacks("/result")))
    }),
    Rule::new("bundle-owned-module", || {
        loaded_alone()
            .changes_global()
            .given(get("/v1/policies").capture("module", "/result/0/id"))
            .when(
                delete("/v1/policies/{module}")
                    .keep(status())
                    .keep(at("/code")),
            )
            .when(get("/v1/data/rules/answer").keep(at("/result")))
            .when(get("/v1/data/limits/answer").keep(at("/result")))
    }),
];

/// Puts a second module of the same package.
fn second(rules: &str) -> Step {
    put("/v1/policies/{ns}.second").text("text/plain", module("{ns}", rules))
}

/// A module, and a second one that cannot be compiled without it.
fn dependent() -> Scenario {
    scenario()
        .given(policy("double(n) := n * 2"))
        .given(second("answer := double(21)"))
}

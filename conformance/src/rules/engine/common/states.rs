//! States

use crate::rules::engine::depot::{
    activated, bundle, discovered, loaded_alone, pending, rules_bundle, shelve, shelved, taken,
};
use crate::rules::engine::module;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // A server that answers `GET /health?plugins=true` with 200 has all its plugins in OK.
    Rule::new("plugins-ready-after-start", || {
        scenario()
            .setup("decision-logs")
            .given(get("/health?plugins=true"))
            .given(put("/v1/policies/{ns}").text(
                "text/plain",
                module(
                    "system.health",
                    "{ns}_ready if input.plugins_ready == true\n\n{ns}_not_ready if input.plugins_ready == false",
                ),
            ))
            .when(get("/health/{ns}_ready").keep(status()))
            .when(get("/health/{ns}_not_ready").keep(status()))
    }),
    Rule::new("activation-makes-healthy", || {
        pending()
            .given(shelve("rules", json!("held")))
            .given(taken("held", 1))
            .when(get("/health?bundles=true").keep(status()))
            .given(shelve("rules", bundle("rules", "r1")))
            .given(answer("rules"))
            .when(get("/health?bundles=true").keep(status()))
            .given(shelve("limits", bundle("limits", "l1")))
            .when(activated().keep(status()).keep(body()))
            .when(get("/v1/data/limits").keep(at("/result")))
    }),
    Rule::new("other-plugin-states", || {
        pending().when(
            get("/v1/status")
                .until([Check::Status(200)])
                .keep(at("/result/plugins/bundle/state")),
        )
    }),
    Rule::new("plugin-state-transitions", || {
        let state = || get("/v1/status").keep(at("/result/plugins/bundle/state"));
        shelved(pending().when(state().until([Check::Status(200)])))
            .given(activated())
            .when(state())
            .given(shelve("rules", json!({"status": 503})))
            .given(taken("status", 2))
            .when(state())
    }),
    Rule::new("plugins-ready-false-before-start", || {
        let pending = pending().given(readiness());
        shelved(
            pending
                .when(get("/health/{ns}_not_ready").keep(status()))
                .when(get("/health/{ns}_ready").keep(status())),
        )
        .when(
            get("/health/{ns}_ready")
                .until([Check::Status(200)])
                .keep(status()),
        )
    }),
    Rule::new("plugins-ready-needs-every-plugin", || {
        pending()
            .given(readiness())
            .given(get("/health/{ns}_status_ok").until([Check::Status(200)]))
            .when(get("/health/{ns}_not_ready").keep(status()))
            .when(get("/health/{ns}_ready").keep(status()))
    }),
    // The bundle plugin leaves OK when another bundle is discovered.
    Rule::new("plugins-ready-stays", || {
        scenario()
            .setup("discovery")
            .fresh()
            .given(discovered(json!({"labels": {"region": "west"}})))
            .given(get("/health?plugins=true").until([Check::Status(200)]))
            .given(readiness())
            .given(get("/health/{ns}_ready").until([Check::Status(200)]))
            .given(discovered(json!({"bundles": rules_bundle()})))
            .when(
                get("/health?plugins=true")
                    .until([Check::Status(500)])
                    .keep(status()),
            )
            .when(get("/health/{ns}_ready").keep(status()))
            .when(get("/health/{ns}_not_ready").keep(status()))
    }),
    // The second request after a failure tells that the engine has noticed the first.
    Rule::new("later-downloads-do-not-count", || {
        let failures = [
            ("status", json!({"status": 503})),
            ("text", json!({"text": "no bundle"})),
        ];
        loaded_alone().each(failures, |scenario, (answer, item)| {
            scenario
                .given(shelve("rules", item))
                .given(taken(answer, 2))
                .when(get("/health?bundles=true").keep(status()).keep(body()))
                .when(get("/v1/data/rules/answer").keep(at("/result")))
        })
    }),
];

/// Puts health rules that tell whether the plugins are ready, and whether the one for status is.
fn readiness() -> Step {
    put("/v1/policies/{ns}").text(
        "text/plain",
        module(
            "system.health",
            "{ns}_ready if input.plugins_ready == true\n\n\
             {ns}_not_ready if input.plugins_ready == false\n\n\
             {ns}_status_ok if input.plugin_state.status == \"OK\"",
        ),
    )
}

/// Waits for a bundle's policy.
fn answer(root: &str) -> Step {
    let there = Check::Equals("/result".to_owned(), json!(42));
    get(format!("/v1/data/{root}/answer")).until([there])
}

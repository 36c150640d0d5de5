//! States

use crate::rules::engine::mock::{
    activated, bundle, loaded_alone, not_ok, pending, plugin_not_ok, put_discovery_bundle,
    put_fixture, requests_answered, rules_bundle, with_bundles,
};
use crate::rules::engine::module;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // If `GET /health?plugins=true` responds with 200, all plugins are in the state OK.
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
            .when(get("/health/{ns}_ready").expect(status()))
            .when(get("/health/{ns}_not_ready").expect(status()))
    }),
    Rule::new("activation-makes-healthy", || {
        pending()
            .given(put_fixture("rules", json!("held")))
            .given(requests_answered("held", 1))
            .when(get("/health?bundles=true").expect(status()))
            .given(put_fixture("rules", bundle("rules", "r1")))
            .given(answer("rules"))
            .when(get("/health?bundles=true").expect(status()))
            .given(put_fixture("limits", bundle("limits", "l1")))
            .when(activated().expect(status()).expect(body()))
            .when(get("/v1/data/limits").expect(at("/result")))
    }),
    Rule::new("other-plugin-states", || {
        pending().when(
            get("/v1/status")
                .until([Check::Status(200)])
                .expect(at("/result/plugins/bundle/state")),
        )
    }),
    Rule::new("plugin-state-transitions", || {
        let state = || get("/v1/status").expect(at("/result/plugins/bundle/state"));
        with_bundles(pending().when(state().until([Check::Status(200)])))
            .given(activated())
            .when(state())
            .given(put_fixture("rules", json!({"status": 503})))
            .given(requests_answered("status", 2))
            .when(state())
    }),
    Rule::new("plugins-ready-false-before-start", || {
        let waiting = plugin_not_ok().given(readiness());
        with_bundles(
            waiting
                .when(get("/health/{ns}_not_ready").expect(status()))
                .when(get("/health/{ns}_ready").expect(status())),
        )
        .when(
            get("/health/{ns}_ready")
                .until([Check::Status(200)])
                .expect(status()),
        )
    }),
    Rule::new("plugins-ready-needs-every-plugin", || {
        plugin_not_ok()
            .given(readiness())
            .given(
                get("/health/{ns}_status_ok")
                    .until([Check::Status(200)])
                    .or_not_run("no plugin is OK while another is not"),
            )
            .when(get("/health/{ns}_not_ready").expect(status()))
            .when(get("/health/{ns}_ready").expect(status()))
    }),
    // The bundle plugin leaves the state OK when another bundle is discovered.
    Rule::new("plugins-ready-stays", || {
        scenario()
            .setup("discovery")
            .fresh()
            .given(put_discovery_bundle(json!({"labels": {"region": "west"}})))
            .given(get("/health?plugins=true").until([Check::Status(200)]))
            .given(readiness())
            .given(get("/health/{ns}_ready").until([Check::Status(200)]))
            .given(put_discovery_bundle(json!({"bundles": rules_bundle()})))
            .given(not_ok(
                "no plugin leaves the state OK while it waits for a bundle",
            ))
            .when(get("/health/{ns}_ready").expect(status()))
            .when(get("/health/{ns}_not_ready").expect(status()))
    }),
    // The second request after a failure shows that the engine has processed the first response.
    Rule::new("later-downloads-do-not-count", || {
        let failures = [
            ("status", json!({"status": 503})),
            ("text", json!({"text": "no bundle"})),
        ];
        loaded_alone().each(failures, |scenario, (answer, item)| {
            scenario
                .given(put_fixture("rules", item))
                .given(requests_answered(answer, 2))
                .when(get("/health?bundles=true").expect(status()).expect(body()))
                .when(get("/v1/data/rules/answer").expect(at("/result")))
        })
    }),
];

/// Writes health rules: all plugins are ready, not all are, the status plugin is OK.
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

/// Waits until the policy of the bundle with this root is active.
fn answer(root: &str) -> Step {
    let is_active = Check::Equals("/result".to_owned(), json!(42));
    get(format!("/v1/data/{root}/answer")).until([is_active])
}

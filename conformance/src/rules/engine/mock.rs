//! Fixtures of scenarios, and steps that wait for their effects.
//!
//! `docs/guide/setups.md` describes a target's configuration in the setups of the fixture server.
//! Scenarios that share a server of the setup `bundles` set the same bundles, so they do not affect
//! each other.

use crate::scenario::*;

/// Sets the bundle of this name.
pub(in crate::rules) fn put_fixture(name: &str, item: Value) -> Step {
    mock(put(format!("/shelf/bundles/{name}.tar.gz")).json(item))
}

/// A bundle with this revision, which owns this root and has a policy and data there.
pub(in crate::rules) fn bundle(root: &str, revision: &str) -> Value {
    let policy = format!("{root}/policy.rego");
    let data = format!("{root}/data.json");
    json!({"bundle": {
        ".manifest": {"revision": revision, "roots": [root]},
        policy: format!("package {root}\n\nanswer := 42\n"),
        data: {"most": 7},
    }})
}

/// Sets the discovery bundle, which contains this configuration.
pub(in crate::rules) fn put_discovery_bundle(configuration: Value) -> Step {
    let bundle = json!({"bundle": {"data.json": configuration}});
    put_fixture("discovery", bundle)
}

/// Configuration of the bundle `rules`, for the discovery bundle.
pub(in crate::rules) fn rules_bundle() -> Value {
    json!({"rules": {
        "service": "depot",
        "resource": "bundles/rules.tar.gz",
        "polling": {"min_delay_seconds": 0, "max_delay_seconds": 1},
    }})
}

/// Requests the health check of the bundles until it responds with 200.
pub(in crate::rules) fn activated() -> Step {
    get("/health?bundles=true").until([Check::Status(200)])
}

/// A server with the bundles `rules` and `limits`, shared with other scenarios.
pub(in crate::rules) fn loaded() -> Scenario {
    with_bundles(scenario().setup("bundles")).given(activated())
}

/// A separate server with the bundles `rules` and `limits`.
pub(in crate::rules) fn loaded_alone() -> Scenario {
    with_bundles(pending()).given(activated())
}

/// A separate server that waits for its bundles.
pub(in crate::rules) fn pending() -> Scenario {
    scenario().setup("bundles").fresh()
}

/// A separate server that waits for a bundle, with its bundle plugin in a state other than OK. No
/// document requires such a state, so rules about it run only if it occurs.
pub(in crate::rules) fn plugin_not_ok() -> Scenario {
    pending()
        .given(put_fixture("rules", json!("held")))
        .given(requests_answered("held", 1))
        .given(not_ok(
            "the bundle plugin of the server is always in the state OK",
        ))
}

/// Waits until the status shows the bundle plugin in a state other than OK. Without such a state,
/// the rule does not run; `else_not_run` is the reason.
pub(in crate::rules) fn not_ok(else_not_run: &'static str) -> Step {
    let state = "/result/plugins/bundle/state".to_owned();
    get("/v1/status")
        .until([Check::Differs(state, json!("OK"))])
        .or_not_run(else_not_run)
}

/// Sets the bundles `rules` and `limits`.
pub(in crate::rules) fn with_bundles(scenario: Scenario) -> Scenario {
    scenario
        .given(put_fixture("rules", bundle("rules", "r1")))
        .given(put_fixture("limits", bundle("limits", "l1")))
}

/// Waits until this number of requests for the bundle `rules` have had this response.
pub(in crate::rules) fn requests_answered(answer: &str, times: usize) -> Step {
    mock(get(format!("/taken/bundles/rules.tar.gz?answer={answer}")))
        .until([Check::AtLeast(String::new(), times)])
}

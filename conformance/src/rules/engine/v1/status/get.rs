//! GET /v1/status

use crate::rules::engine::mock::{
    activated, bundle, loaded, loaded_alone, put_discovery_bundle, put_fixture,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("labels", || status_field("/result/labels", Kind::Object)),
    Rule::new("label-id", || status_field("/result/labels/id", Kind::Text)),
    Rule::new("label-version", || {
        status_field("/result/labels/version", Kind::Text)
    }),
    Rule::new("bundles", || {
        loaded().when(
            reported()
                .expect(status())
                .expect(kind("/result/bundles/rules", Kind::Object))
                .expect(kind("/result/bundles/limits", Kind::Object)),
        )
    }),
    Rule::new("bundle-name", || {
        loaded().when(
            reported()
                .expect(at("/result/bundles/rules/name"))
                .expect(at("/result/bundles/limits/name")),
        )
    }),
    Rule::new("bundle-active-revision", || {
        loaded_alone()
            .when(revision("r1"))
            .given(put_fixture("rules", bundle("rules", "r2")))
            .when(revision("r2"))
    }),
    Rule::new("bundle-last-successful-activation", || {
        of_bundle("last_successful_activation", Kind::Time)
    }),
    Rule::new("bundle-last-successful-download", || {
        of_bundle("last_successful_download", Kind::Time)
    }),
    Rule::new("bundle-last-successful-request", || {
        of_bundle("last_successful_request", Kind::Time)
    }),
    Rule::new("bundle-last-request", || {
        of_bundle("last_request", Kind::Time)
    }),
    Rule::new("bundle-metrics", || of_bundle("metrics", Kind::Object)),
    Rule::new("metrics", || {
        on_status(|step| {
            step.expect(kind("/result/metrics", Kind::Object))
                .expect(each("/result/metrics/*", Kind::Object))
        })
    }),
    Rule::new("plugins", || {
        on_status(|step| {
            step.expect(kind("/result/plugins", Kind::Object))
                .expect(each("/result/plugins/*", Kind::Object))
        })
    }),
    Rule::new("plugin-state", || {
        on_status(|step| step.expect(each("/result/plugins/*/state", Kind::String)))
    }),
    Rule::new("plugin-state-ok", || works("status", "status")),
    Rule::new("plugin-bundle", || {
        loaded().when(
            get("/v1/status")
                .until([ok("bundle")])
                .expect(at("/result/plugins/bundle/state")),
        )
    }),
    Rule::new("plugin-decision-logs", || {
        works("decision-logs", "decision_logs")
    }),
    Rule::new("plugin-discovery", || {
        scenario()
            .setup("discovery")
            .fresh()
            .given(put_discovery_bundle(json!({"labels": {"region": "west"}})))
            .given(activated())
            .when(
                get("/v1/status")
                    .until([ok("discovery")])
                    .expect(at("/result/plugins/discovery/state")),
            )
    }),
    Rule::new("plugin-status", || {
        on_status(|step| step.expect(kind("/result/plugins/status", Kind::Object)))
    }),
    Rule::new("result-is-status", || {
        on_status(|step| step.expect(status()).expect(kind("/result", Kind::Object)))
    }),
];

/// Judges the status in the setup `status`, which configures nothing but status reports.
fn on_status(judge: impl Fn(Step) -> Step) -> Scenario {
    let report = get("/v1/status").until([Check::Status(200)]);
    scenario().setup("status").when(judge(report))
}

fn status_field(pointer: &'static str, expected: Kind) -> Scenario {
    on_status(|step| step.expect(kind(pointer, expected)))
}

/// Waits until the status has the revisions of both bundles. The other details of the bundles are
/// set by then.
fn reported() -> Step {
    get("/v1/status").until(["rules", "limits"].map(|name| {
        let pointer = format!("/result/bundles/{name}/active_revision");
        Check::Type(pointer, vec![Kind::String])
    }))
}

/// Returns a step that polls the status until the bundle `rules` has this revision.
fn revision(revision: &str) -> Step {
    let pointer = "/result/bundles/rules/active_revision";
    get("/v1/status")
        .until([Check::Equals(pointer.to_owned(), json!(revision))])
        .expect(at(pointer))
}

/// Expects this type of a field of the status of an active bundle.
fn of_bundle(field: &str, expected: Kind) -> Scenario {
    loaded().when(reported().expect(kind(format!("/result/bundles/rules/{field}"), expected)))
}

/// Checks that a plugin is OK.
fn ok(plugin: &str) -> Check {
    Check::Equals(format!("/result/plugins/{plugin}/state"), json!("OK"))
}

/// Expects that the plugin becomes OK in this setup.
fn works(setup: &'static str, plugin: &str) -> Scenario {
    scenario().setup(setup).when(
        get("/v1/status")
            .until([ok(plugin)])
            .expect(at(format!("/result/plugins/{plugin}/state"))),
    )
}

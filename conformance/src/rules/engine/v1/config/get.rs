//! GET /v1/config

use crate::rules::engine::mock::put_discovery_bundle;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("services", || has_values(&["/result/services/depot/url"])),
    Rule::new("labels", || has_values(&["/result/labels/region"])),
    Rule::new("keys", || {
        has_values(&[
            "/result/keys/signing/algorithm",
            "/result/keys/signing/scope",
        ])
    }),
    Rule::new("decision-logs", || {
        has_values(&["/result/decision_logs/service"])
    }),
    Rule::new("status-section", || has_values(&["/result/status/service"])),
    Rule::new("bundles", || {
        has_values(&[
            "/result/bundles/rules/service",
            "/result/bundles/rules/resource",
        ])
    }),
    Rule::new("default-authorization-decision", || {
        has_values(&["/result/default_authorization_decision"])
    }),
    Rule::new("default-decision", || {
        has_values(&["/result/default_decision"])
    }),
    Rule::new("service-credentials-hidden", || {
        hidden("/result/services/depot", "credentials", "hidden-token")
    }),
    Rule::new("private-key-hidden", || {
        hidden("/result/keys/signing", "private_key", "hidden-private-key")
    }),
    Rule::new("key-hidden", || {
        hidden("/result/keys/signing", "key", "hidden-key")
    }),
    Rule::new("result-is-active-configuration", || {
        scenario().when(
            get("/v1/config")
                .expect(status())
                .expect(kind("/result", Kind::Object)),
        )
    }),
    Rule::new("discovered-configuration", || {
        let scenario = scenario().setup("discovery").fresh();
        ["west", "east"]
            .into_iter()
            .fold(scenario, |scenario, region| {
                let decision = format!("/checks/{region}");
                let pointer = "/result/default_decision";
                scenario
                    .given(put_discovery_bundle(json!({
                        "default_decision": decision,
                        "labels": {"region": region},
                    })))
                    .when(
                        get("/v1/config")
                            .until([Check::Equals(pointer.to_owned(), json!(decision))])
                            .expect(at(pointer))
                            .expect(at("/result/labels/region")),
                    )
            })
    }),
];

/// Expects values at these pointers in the configuration of the setup `config`.
fn has_values(pointers: &[&'static str]) -> Scenario {
    scenario().setup("config").when(
        pointers
            .iter()
            .fold(get("/v1/config"), |step, pointer| step.expect(at(*pointer))),
    )
}

/// Expects that the response has the object, but neither the field nor the value that the setup
/// `config` sets.
fn hidden(object: &'static str, field: &'static str, value: &'static str) -> Scenario {
    scenario().setup("config").when(
        get("/v1/config")
            .expect(status())
            .expect(kind(object, Kind::Object))
            .expect(lacks(format!("{object}/{field}")))
            .expect(without(value)),
    )
}

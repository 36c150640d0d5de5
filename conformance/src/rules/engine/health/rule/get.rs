//! GET /health/{rule-name}

use crate::rules::engine::mock::{activated, pending, with_bundles};
use crate::rules::engine::module;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("true-is-empty-object", || {
        scenario()
            .given(health("{ns} := true\n\n{ns}_false := false"))
            .given(get("/health/{ns}_false").shows([Check::StatusFrom(400, 599)]))
            .when(get("/health/{ns}").expect(status()).expect(body()))
    }),
    Rule::new("false-is-500", || {
        let values = ["false", "1", "\"true\"", "[true]", "null"];
        let rules: Vec<String> = values
            .iter()
            .enumerate()
            .map(|(index, value)| format!("{{ns}}_{index} := {value}"))
            .collect();
        scenario()
            .given(health(&rules.join("\n\n")))
            .each(0..values.len(), |scenario, index| {
                scenario.when(get(format!("/health/{{ns}}_{index}")).expect(status()))
            })
    }),
    Rule::new("missing-is-500", || {
        scenario()
            .given(health("{ns}_present := true"))
            .given(get("/health/{ns}_present"))
            .when(get("/health/{ns}_missing").expect(status()))
    }),
    Rule::new("error-is-string", || {
        not_healthy(|step| step.expect(status()).expect(kind("/error", Kind::String)))
    }),
    Rule::new("not-true-message", || {
        scenario()
            .given(health("{ns} := false"))
            .when(get("/health/{ns}").expect(at("/error")))
    }),
    Rule::new("undefined-message", || {
        scenario()
            .given(health("{ns} if input.plugins_ready == \"never\""))
            .when(get("/health/{ns}").expect(at("/error")))
    }),
    Rule::new("live", || check("live")),
    Rule::new("ready", || check("ready")),
    Rule::new("any-rule-exposed", || {
        scenario()
            .given(health("{ns}_warm := true\n\n{ns}_fed := false"))
            .when(get("/health/{ns}_warm").expect(status()))
            .when(get("/health/{ns}_fed").expect(status()))
    }),
    Rule::new("input-plugins-ready", || {
        scenario()
            .given(health(
                "{ns}_boolean if is_boolean(input.plugins_ready)\n\n{ns}_string if is_string(input.plugins_ready)",
            ))
            .when(get("/health/{ns}_boolean").expect(status()))
            .when(get("/health/{ns}_string").expect(status()))
    }),
    Rule::new("name-is-plain-text", || {
        scenario()
            .given(health("{ns} := true"))
            .given(get("/health/{ns}"))
            .each(
                [
                    "{ns}%3B%20true",
                    "{ns}%0Atrue",
                    "{ns}%20%23",
                    "{ns}%5B0%5D",
                    "no%3B%20data.system.health.{ns}",
                    "{ns}%25",
                ],
                |scenario, name| scenario.when(get(format!("/health/{name}")).expect(status())),
            )
    }),
    Rule::new("quoted-name-is-plain-text", || {
        scenario()
            .given(health("{ns} := true"))
            .given(get("/health/{ns}"))
            .each(
                [
                    "{ns}%22",
                    "{ns}%22%5D",
                    "no%22%5D%3B%20data.system.health%5B%22{ns}",
                ],
                |scenario, name| scenario.when(get(format!("/health/{name}")).expect(status())),
            )
    }),
    // The setup has the plugin `decision_logs`, whose name and state are documented.
    Rule::new("input-plugin-state", || {
        scenario()
            .setup("decision-logs")
            .given(get("/health?plugins=true"))
            .given(health(
                "{ns}_ok if input.plugin_state.decision_logs == \"OK\"\n\n{ns}_other if input.plugin_state.decision_logs != \"OK\"",
            ))
            .when(get("/health/{ns}_ok").expect(status()))
            .when(get("/health/{ns}_other").expect(status()))
    }),
    Rule::new("plugin-state-changes", || {
        let check_health = || get("/health/{ns}_ok").expect(status());
        let scenario = pending().given(health("{ns}_ok if input.plugin_state.bundle == \"OK\""));
        with_bundles(scenario.when(check_health()))
            .given(activated())
            .when(check_health())
    }),
];

/// Writes health rules. Those of other scenarios are in the same package, under other names.
pub(crate) fn health(rules: &str) -> Step {
    put("/v1/policies/{ns}").text("text/plain", module("system.health", rules))
}

/// Requests a false, an undefined and a missing rule with these expectations.
fn not_healthy(judge: impl Fn(Step) -> Step) -> Scenario {
    scenario()
        .given(health("{ns}_false := false\n\n{ns}_undefined if not input"))
        .each(["false", "undefined", "missing"], |scenario, name| {
            scenario.when(judge(get(format!("/health/{{ns}}_{name}"))))
        })
}

/// Expects that a conventional check, such as `live`, follows its rule. The name is global to the
/// server.
fn check(name: &str) -> Scenario {
    let path = format!("/health/{name}");
    scenario()
        .changes_global()
        .given(health(&format!("{name} := true")))
        .when(get(path.as_str()).expect(status()))
        .given(health(&format!("{name} := false")))
        .when(get(path).expect(status()))
}

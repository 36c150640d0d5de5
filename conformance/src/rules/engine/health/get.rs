//! GET /health

use crate::rules::engine::mock::{
    activated, bundle, pending, plugin_not_ok, put_discovery_bundle, put_fixture,
    requests_answered, with_bundles,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("healthy-is-empty-object", || healthy("/health")),
    Rule::new("bundles-healthy", || healthy("/health?bundles=true")),
    // At first no bundle exists, then one is invalid.
    Rule::new("bundles-not-activated-is-500", || {
        // If both checks are requested, the failure of one makes the server unhealthy.
        let both = [
            "/health?bundles=true&plugins=true&exclude-plugin=bundle",
            "/health?plugins=true&exclude-plugin=bundle&bundles=true",
        ];
        pending()
            .when(get("/health?bundles=true").expect(status()))
            .each(both, |scenario, path| {
                scenario.when(get(path).expect(status()))
            })
            .given(put_fixture("rules", json!({"text": "no bundle"})))
            .given(put_fixture("limits", bundle("limits", "l1")))
            .given(requests_answered("text", 2))
            .when(get("/health?bundles=true").expect(status()))
            .when(get("/health").expect(status()))
            .given(put_fixture("rules", bundle("rules", "r1")))
            .when(activated().expect(status()))
    }),
    Rule::new("bundles-include-discovery", || {
        scenario()
            .setup("discovery")
            .fresh()
            .given(mock(
                put("/shelf/bundles/discovery.tar.gz").json(json!("held")),
            ))
            .when(get("/health?bundles=true").expect(status()))
            .given(put_discovery_bundle(json!({"labels": {"region": "west"}})))
            .when(activated().expect(status()))
    }),
    Rule::new("plugins-healthy", || healthy("/health?plugins=true")),
    Rule::new("plugins-not-ok-is-500", || {
        with_bundles(plugin_not_ok().when(get("/health?plugins=true").expect(status()))).when(
            get("/health?plugins=true")
                .until([Check::Status(200)])
                .expect(status()),
        )
    }),
    Rule::new("exclude-plugin-accepted", || {
        healthy("/health?plugins=true&exclude-plugin=bundle")
    }),
    Rule::new("exclude-plugin-leaves-out", || {
        plugin_not_ok()
            .when(
                get("/health?plugins=true&exclude-plugin=bundle")
                    .until([Check::Status(200)])
                    .expect(status())
                    .expect(body()),
            )
            .when(get("/health?plugins=true").expect(status()))
            .when(get("/health?plugins=true&exclude-plugin=status").expect(status()))
    }),
    Rule::new("exclude-plugin-repeatable", || {
        plugin_not_ok()
            .when(get("/health?plugins=true&exclude-plugin=status").expect(status()))
            .each(
                [["bundle", "status"], ["status", "bundle"]],
                |scenario, [first, second]| {
                    let path = format!(
                        "/health?plugins=true&exclude-plugin={first}&exclude-plugin={second}"
                    );
                    scenario.when(get(path).expect(status()).expect(body()))
                },
            )
    }),
    Rule::new("exclude-plugin-ignored-without-plugins", || {
        plugin_not_ok().each(
            [
                "/health?exclude-plugin=status",
                "/health?plugins=false&exclude-plugin=status",
            ],
            |scenario, path| scenario.when(get(path).expect(status()).expect(body())),
        )
    }),
    Rule::new("unhealthy-has-error-string", || {
        let error = Check::Type("/error".to_owned(), vec![Kind::String]);
        unhealthy(vec![alternative("a string", [Check::Status(500), error])])
    }),
    Rule::new("unhealthy-message", || {
        let messages = [
            "not all plugins in OK state",
            "unable to perform evaluation",
            "not all configured bundles have been activated",
        ];
        let alternatives = messages
            .map(|text| alternative(text, [Check::Equals("/error".to_owned(), json!(text))]));
        unhealthy(alternatives.to_vec())
    }),
];

/// Expects one of these responses to the bundle check of a server whose bundles never arrive. The
/// plugin check may also succeed, because no document says that the plugins are not OK.
fn unhealthy(alternatives: Vec<Alternative>) -> Scenario {
    let healthy = alternative("healthy", [Check::Status(200)]);
    let with_healthy: Vec<_> = alternatives.iter().cloned().chain([healthy]).collect();
    pending()
        .when(
            get("/health?bundles=true")
                .expect(status())
                .expect(either(alternatives)),
        )
        .when(get("/health?plugins=true").expect(either(with_healthy)))
}

/// Requests a health rule that does not exist. A server that does not reject the request reports
/// everything as healthy.
pub(crate) fn not_everything_is_healthy() -> Step {
    get("/health/{ns}").shows([Check::StatusFrom(400, 599)])
}

/// Expects that a server without bundles is healthy by this check.
fn healthy(path: &'static str) -> Scenario {
    scenario()
        .given(not_everything_is_healthy())
        .when(get(path).expect(status()).expect(body()))
}

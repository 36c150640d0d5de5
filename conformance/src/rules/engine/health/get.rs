//! GET /health

use crate::rules::engine::depot::{activated, bundle, discovered, pending, shelve, shelved, taken};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("healthy-is-empty-object", || healthy("/health")),
    Rule::new("bundles-healthy", || healthy("/health?bundles=true")),
    // One bundle is there, the other is not, or is none.
    Rule::new("bundles-not-activated-is-500", || {
        pending()
            .when(get("/health?bundles=true").keep(status()))
            .given(shelve("rules", json!({"text": "no bundle"})))
            .given(shelve("limits", bundle("limits", "l1")))
            .given(taken("text", 2))
            .when(get("/health?bundles=true").keep(status()))
            .when(get("/health").keep(status()))
            .given(shelve("rules", bundle("rules", "r1")))
            .when(activated().keep(status()))
    }),
    Rule::new("bundles-include-discovery", || {
        scenario()
            .setup("discovery")
            .fresh()
            .given(depot(
                put("/shelf/bundles/discovery.tar.gz").json(json!("held")),
            ))
            .when(get("/health?bundles=true").keep(status()))
            .given(discovered(json!({"labels": {"region": "west"}})))
            .when(activated().keep(status()))
    }),
    Rule::new("plugins-healthy", || healthy("/health?plugins=true")),
    Rule::new("plugins-not-ok-is-500", || {
        shelved(pending().when(get("/health?plugins=true").keep(status()))).when(
            get("/health?plugins=true")
                .until([Check::Status(200)])
                .keep(status()),
        )
    }),
    Rule::new("exclude-plugin-accepted", || {
        healthy("/health?plugins=true&exclude-plugin=bundle")
    }),
    Rule::new("exclude-plugin-leaves-out", || {
        pending()
            .when(
                get("/health?plugins=true&exclude-plugin=bundle")
                    .until([Check::Status(200)])
                    .keep(status())
                    .keep(body()),
            )
            .when(get("/health?plugins=true").keep(status()))
            .when(get("/health?plugins=true&exclude-plugin=status").keep(status()))
    }),
    Rule::new("exclude-plugin-repeatable", || {
        healthy("/health?plugins=true&exclude-plugin=bundle&exclude-plugin=status")
    }),
    Rule::new("exclude-plugin-ignored-without-plugins", || {
        healthy("/health?exclude-plugin=bundle")
    }),
    Rule::new("unhealthy-has-error-string", || {
        unhealthy(|step| step.keep(status()).keep(kind("/error", Kind::String)))
    }),
    Rule::new("unhealthy-message", || {
        let messages = [
            "not all plugins in OK state",
            "unable to perform evaluation",
            "not all configured bundles have been activated",
        ];
        let said = messages
            .map(|text| alternative(text, [Check::Equals("/error".to_owned(), json!(text))]));
        unhealthy(|step| step.keep(either(said.clone())))
    }),
];

/// A server with a bundle that never comes, asked for both checks.
fn unhealthy(judge: impl Fn(Step) -> Step) -> Scenario {
    pending()
        .when(judge(get("/health?bundles=true")))
        .when(judge(get("/health?plugins=true")))
}

/// What a server that calls everything healthy does not answer: there is no rule of this name.
pub(crate) fn not_everything_is_healthy() -> Step {
    get("/health/{ns}").shows([Check::StatusFrom(400, 599)])
}

/// A server that was started without bundles is healthy by every check.
fn healthy(path: &'static str) -> Scenario {
    scenario()
        .given(not_everything_is_healthy())
        .when(get(path).keep(status()).keep(body()))
}

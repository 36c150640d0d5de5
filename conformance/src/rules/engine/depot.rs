//! What scenarios shelve in the depot, and what they wait for.
//!
//! How a target is configured in the setups of the depot stands in the README. Scenarios that share
//! a server of the setup `bundles` shelve the same bundles.

use crate::scenario::*;

/// Shelves the bundle of this name.
pub(super) fn shelve(name: &str, item: Value) -> Step {
    depot(put(format!("/shelf/bundles/{name}.tar.gz")).json(item))
}

/// A bundle of a revision that owns what its root names: a policy, and data beside it.
pub(super) fn bundle(root: &str, revision: &str) -> Value {
    let policy = format!("{root}/policy.rego");
    let data = format!("{root}/data.json");
    json!({"bundle": {
        ".manifest": {"revision": revision, "roots": [root]},
        policy: format!("package {root}\n\nanswer := 42\n"),
        data: {"most": 7},
    }})
}

/// A bundle that holds a discovered configuration.
pub(super) fn discovered(configuration: Value) -> Step {
    let bundle = json!({"bundle": {"data.json": configuration}});
    shelve("discovery", bundle)
}

/// What the discovered configuration calls the bundle `rules`.
pub(super) fn rules_bundle() -> Value {
    json!({"rules": {
        "service": "depot",
        "resource": "bundles/rules.tar.gz",
        "polling": {"min_delay_seconds": 0, "max_delay_seconds": 1},
    }})
}

/// Asks for the bundles check until it answers 200.
pub(super) fn activated() -> Step {
    get("/health?bundles=true").until([Check::Status(200)])
}

/// A server with both bundles, which other scenarios use as well.
pub(super) fn loaded() -> Scenario {
    shelved(scenario().setup("bundles")).given(activated())
}

/// A server of its own with both bundles.
pub(super) fn loaded_alone() -> Scenario {
    shelved(pending()).given(activated())
}

/// A server of its own that has a bundle to wait for.
pub(super) fn pending() -> Scenario {
    scenario().setup("bundles").fresh()
}

/// Both bundles come to be there.
pub(super) fn shelved(scenario: Scenario) -> Scenario {
    scenario
        .given(shelve("rules", bundle("rules", "r1")))
        .given(shelve("limits", bundle("limits", "l1")))
}

/// Waits until so many requests for the bundle `rules` have been answered like this.
pub(super) fn taken(answer: &str, times: usize) -> Step {
    depot(get(format!("/taken/bundles/rules.tar.gz?answer={answer}")))
        .until([Check::AtLeast(String::new(), times)])
}

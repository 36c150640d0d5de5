//! GET /health

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("healthy-is-empty-object", || healthy("/health")),
    Rule::new("bundles-healthy", || healthy("/health?bundles=true")),
    Rule::new("plugins-healthy", || healthy("/health?plugins=true")),
    Rule::new("exclude-plugin-accepted", || {
        healthy("/health?plugins=true&exclude-plugin=bundle")
    }),
    Rule::new("exclude-plugin-repeatable", || {
        healthy("/health?plugins=true&exclude-plugin=bundle&exclude-plugin=status")
    }),
    Rule::new("exclude-plugin-ignored-without-plugins", || {
        healthy("/health?exclude-plugin=bundle")
    }),
];

/// A server that was started without bundles is healthy by every check.
fn healthy(path: &'static str) -> Scenario {
    scenario().when(get(path).keep(status()).keep(body()))
}

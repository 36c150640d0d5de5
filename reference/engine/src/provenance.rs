//! Provenance of decisions.

use rego::Value;

use super::Bundles;

/// Provenance: build and bundles of the engine.
pub(super) fn provenance(bundles: &Bundles) -> Value {
    let host = option_env!("BUILD_HOST").unwrap_or_default();
    let build = [
        ("version", env!("CARGO_PKG_VERSION")),
        (
            "build_commit",
            option_env!("BUILD_COMMIT").unwrap_or_default(),
        ),
        (
            "build_timestamp",
            option_env!("BUILD_TIMESTAMP").unwrap_or_default(),
        ),
        ("build_host", host),
        // Name that clients of other engines expect.
        ("build_hostname", host),
    ];
    let build = build.map(|(name, text)| (name, Value::from(text)));
    let bundles = (!bundles.is_empty()).then(|| ("bundles", bundles.revisions()));
    Value::object(build.into_iter().chain(bundles))
}

//! PUT /v1/bundles/{bundle}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("takes-bundle-without-name", || {
    scenario()
        .when(
            put("/v1/bundles/{ns}")
                .json(json!({
                    "labels": {"env": "prod"},
                    "excluded_files": ["*_test.rego"],
                }))
                .keep(status())
                .keep(body()),
        )
        .when(get("/v1/bundles/{ns}").keep(at("/result/name")))
})];

//! PUT /v1/bundles/{bundle}

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("takes-bundle-without-name", || {
    scenario()
        .when(
            put("/v1/bundles/{ns}")
                .json(definitions::bundle(
                    "",
                    json!({"labels": {"env": "prod"}, "excluded_files": ["*_test.rego"]}),
                ))
                .expect(status())
                .expect(body()),
        )
        .when(get("/v1/bundles/{ns}").expect(at("/result/name")))
})];

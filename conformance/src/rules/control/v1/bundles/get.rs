//! GET /v1/bundles/{bundle}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("result-is-the-bundle", || {
    scenario()
        .given(put("/v1/bundles/{ns}").json(json!({"labels": {"env": "prod"}})))
        .when(
            get("/v1/bundles/{ns}")
                .keep(status())
                .keep(at("/result/name"))
                .keep(at("/result/labels/env")),
        )
})];

//! GET /v1/bundles/{bundle}

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("result-is-the-bundle", || {
    scenario()
        .given(
            put("/v1/bundles/{ns}")
                .json(definitions::bundle("", json!({"labels": {"env": "prod"}}))),
        )
        .when(
            get("/v1/bundles/{ns}")
                .expect(status())
                .expect(at("/result/name"))
                .expect(at("/result/labels/env")),
        )
})];

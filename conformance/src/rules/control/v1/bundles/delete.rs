//! DELETE /v1/bundles/{bundle}

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-empty-object", || {
    scenario()
        .given(
            put("/v1/bundles/{ns}")
                .json(definitions::bundle("", json!({"labels": {"env": "prod"}}))),
        )
        .when(delete("/v1/bundles/{ns}").expect(status()).expect(body()))
        .when(get("/v1/bundles/{ns}").expect(status()))
        .when(walk("/v1/bundles").expect(names("/result")))
})];

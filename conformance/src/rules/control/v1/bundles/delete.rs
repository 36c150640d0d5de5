//! DELETE /v1/bundles/{bundle}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-empty-object", || {
    scenario()
        .given(put("/v1/bundles/{ns}").json(json!({"labels": {"env": "prod"}})))
        .when(delete("/v1/bundles/{ns}").keep(status()).keep(body()))
        .when(get("/v1/bundles/{ns}").keep(status()))
})];

//! DELETE /v1/stacks/{stack}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-empty-object", || {
    scenario()
        .given(put("/v1/stacks/{ns}").json(json!({"selector": {"env": ["prod"]}})))
        .when(delete("/v1/stacks/{ns}").keep(status()).keep(body()))
        .when(get("/v1/stacks/{ns}").keep(status()))
})];

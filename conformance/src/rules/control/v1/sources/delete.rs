//! DELETE /v1/sources/{source}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("answers-empty-object", || {
    scenario()
        .given(
            put("/v1/sources/{ns}")
                .json(json!({"git": {"repo": "https://git.example.com/policies.git", "reference": "refs/heads/main"}})),
        )
        .when(delete("/v1/sources/{ns}").keep(status()).keep(body()))
        .when(get("/v1/sources/{ns}").keep(status()))
})];

//! GET /v1/sources/{source}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("result-is-the-source", || {
    scenario()
        .given(
            put("/v1/sources/{ns}")
                .json(json!({"git": {"repo": "https://git.example.com/policies.git", "reference": "refs/heads/main"}})),
        )
        .when(
            get("/v1/sources/{ns}")
                .keep(status())
                .keep(at("/result/name"))
                .keep(at("/result/git/repo")),
        )
})];

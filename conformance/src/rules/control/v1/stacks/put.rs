//! PUT /v1/stacks/{stack}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("takes-stack", || {
    scenario()
        .given(put("/v1/sources/{ns}").json(json!({"git": {"repo": "https://git.example.com/policies.git", "reference": "refs/heads/main"}})))
        .when(
            put("/v1/stacks/{ns}")
                .json(json!({
                    "selector": {"env": ["prod"]},
                    "exclude_selector": {"team": ["legacy"]},
                    "requirements": [{"source": "{ns}"}],
                }))
                .keep(status())
                .keep(body()),
        )
        .when(
            get("/v1/stacks/{ns}")
                .keep(at("/result/selector"))
                .keep(at("/result/exclude_selector"))
                .keep(at("/result/requirements/0/source")),
        )
})];

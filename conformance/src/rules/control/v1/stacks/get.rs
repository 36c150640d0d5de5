//! GET /v1/stacks/{stack}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("result-is-the-stack", || {
    scenario()
        .given(put("/v1/stacks/{ns}").json(json!({"selector": {"env": ["prod"]}})))
        .when(
            get("/v1/stacks/{ns}")
                .keep(status())
                .keep(at("/result/name"))
                .keep(at("/result/selector/env")),
        )
})];

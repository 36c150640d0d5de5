//! PUT /v1/stacks/{stack}

use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("takes-stack", || {
    scenario()
        .given(put("/v1/sources/{ns}").json(definitions::source(json!({}))))
        .when(
            put("/v1/stacks/{ns}")
                .json(json!({
                    "selector": {"env": ["prod"]},
                    "exclude_selector": {"team": ["legacy"]},
                    "requirements": [{"source": "{ns}"}],
                }))
                .expect(status())
                .expect(body()),
        )
        .when(
            get("/v1/stacks/{ns}")
                .expect(at("/result/selector"))
                .expect(at("/result/exclude_selector"))
                .expect(at("/result/requirements/0/source")),
        )
})];
